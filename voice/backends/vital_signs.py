"""Whether a child process that owes an answer still works on it, or hangs.

Seen from outside, since what hangs cannot tell: a stopped process, or a native call that never gives the
interpreter's lock back, runs no thread that could send a heartbeat. And it costs nothing while nothing is
asked. Whoever waits looks every `TICK_S` and counts looks, not seconds on a clock: after a suspend, or when
both processes were stopped, one look has been missed and nobody is blamed.

Linux tells this in ``/proc``; elsewhere nothing is known, and only the time limit holds.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TICK_S = 0.25
"""Time between two looks."""

STILL_S = 1.75
"""Who has done nothing for so long hangs. With the look in which it ceased, that is within 2 s."""

LOADING_STILL_S = 20.0
"""The same while it loads libraries and weights: from a disk that is slow, or reached by a network or through
FUSE, where a wait is not told from any other. Who was stopped (SIGSTOP) waits for no disk, and gets no more
than at any other time."""

_STARVED = 0.5
"""Of a look's time: a thread that could run and had less of a processor was kept from it by others."""

_RUNS, _WAITS_FOR_DISK, _STOPPED = "R", "D", "T"
_STATE, _USER, _SYSTEM = 0, 11, 12
"""Fields of ``/proc/PID/stat`` behind the name, which is in parentheses and may hold anything (proc(5))."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What a process is seen to do at one moment."""

    processor_s: float
    """Processor time of all its threads since it began, in seconds."""
    runnable: bool
    """Whether one of them runs, or would if it had a processor."""
    on_disk: bool
    """Whether one of them waits where nothing can interrupt it, as for a disk or for swapped memory."""
    stopped: bool = False
    """Whether it was stopped by a signal, and waits for another to go on."""


def signs_of(pid: int) -> Signs | None:
    """How a process is, None where the system does not tell; one that has ended does nothing."""
    if sys.platform != "linux":
        return None
    try:
        fields = _fields(Path(f"/proc/{pid}/stat"))
        spent_s = (int(fields[_USER]) + int(fields[_SYSTEM])) / os.sysconf("SC_CLK_TCK")
        states = set(_states(pid))
    except (OSError, ValueError, IndexError):
        return None
    return Signs(spent_s, _RUNS in states, _WAITS_FOR_DISK in states, _STOPPED in states)


def _states(pid: int) -> Iterator[str]:
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            yield _fields(thread / "stat")[_STATE]
        except OSError:  # it has ended meanwhile
            continue


def _fields(stat: Path) -> list[str]:
    return stat.read_bytes().rpartition(b")")[2].decode().split()


class Vigil:
    """Judges, look by look, whether a process that owes an answer should be waited for: pure.

    It is given up when it does nothing (no processor time, none wanted, no disk) for ``still_s``, or when it
    has had ``within_s``: seconds in which it could have worked. Those in which others kept it from a
    processor do not count, however long that lasts.
    """

    def __init__(self, within_s: float, still_s: float, before: Signs | None = None) -> None:
        self._within_s = within_s
        self._still_s = still_s
        self._last_s = before.processor_s if before is not None else 0.0
        self._still = self._stopped = 0
        self._had_s = 0.0

    def begin(self, within_s: float, still_s: float) -> None:
        """It begins with something else: other limits, counted from now on."""
        self._within_s, self._still_s = within_s, still_s
        self._still, self._stopped, self._had_s = 0, 0, 0.0

    def look(self, signs: Signs | None) -> str | None:
        """What was seen `TICK_S` after the last look: why to give it up, or None to wait on."""
        if signs is None:
            self._had_s += TICK_S
        else:
            worked_s, self._last_s = signs.processor_s - self._last_s, signs.processor_s
            starved = signs.runnable and worked_s < _STARVED * TICK_S
            self._had_s += worked_s if starved else TICK_S
            alive = worked_s > 0 or signs.runnable or signs.on_disk
            self._still = 0 if alive else self._still + 1
            self._stopped = self._stopped + 1 if signs.stopped and not alive else 0
        for looks, limit_s in ((self._still, self._still_s), (self._stopped, STILL_S)):
            if looks * TICK_S >= limit_s:
                return f"no sign of life for {limit_s:g} s"
        if self._had_s > self._within_s:
            return f"no answer within {self._within_s:g} s"
        return None
