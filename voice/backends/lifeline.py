"""A pipe that nobody writes to: when the process at one end is gone, the kernel kills the one at the other.

A child that only reads until its parent's pipe ends does not notice while it is stopped, nor in native code
that keeps the interpreter's lock. Here the end of the pipe is a signal, and the signal is SIGKILL: whatever
becomes of the parent, whatever the child is at. That the kernel does so is Linux's (``F_SETSIG``, fcntl(2));
elsewhere there is no such line.

Not ``PR_SET_PDEATHSIG``, which comes when the thread ends that started the child, and some event loops start
theirs in a thread that does not live long.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress
from typing import Any

_VARIABLE = "VIVA_VOICE_LIFELINE"
"""The environment variable that tells a child the number of its end."""

_SET_SIGNAL = 10
"""``F_SETSIG``, which Python has no name for."""


class Lifeline:
    """The parent's side of one: a child that is started with `options` lives no longer than it is held."""

    def __init__(self) -> None:
        self._far: int | None = None
        self._near: int | None = None
        if sys.platform == "linux":
            self._far, self._near = os.pipe()

    @property
    def options(self) -> dict[str, Any]:
        """What to start the child with, for `anyio.open_process`."""
        if self._far is None:
            return {}
        return {"pass_fds": (self._far,), "env": {**os.environ, _VARIABLE: str(self._far)}}

    def started(self) -> None:
        """The child has its end now: give ours of that up."""
        if self._far is not None:
            os.close(self._far)
        self._far = None

    def let_go(self) -> None:
        """Give all of it up, which ends the child; harmless a second time."""
        self.started()
        if self._near is not None:
            os.close(self._near)
        self._near = None


def hold_on() -> None:
    """For a child: from now on die with the parent. Nothing where there is no lifeline."""
    told = os.environ.pop(_VARIABLE, None)
    if sys.platform != "linux" or told is None:
        return
    import fcntl

    with suppress(OSError, ValueError):
        end = int(told)
        os.set_inheritable(end, False)
        fcntl.fcntl(end, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(end, _SET_SIGNAL, signal.SIGKILL)
        fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_ASYNC)
        if select.select([end], [], [], 0)[0]:
            os._exit(0)  # it has ended before we were listening
