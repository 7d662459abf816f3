"""Writing to a terminal that may stop taking anything, without stopping oneself.

After Ctrl-S, on a connection that hangs or behind a multiplexer that was stopped, a write comes back when the
terminal goes on, or never. A thread of its own bears that.
"""

import errno
import os
import select
import threading
from collections import deque
from typing import Self

import anyio

MOMENT_S = 0.05
"""So long a write waits until it is taken, so that things are in order wherever the terminal takes them."""

HASTY_WRITES = 10
"""So many writes do not wait after one that was not taken within a moment: the terminal is a slow one, and a
screen that moves is drawn so often in a second."""

LOOK_S = 0.02
"""How often is looked whether a terminal goes on."""

STALLED_S = 2.0
"""A terminal that has taken nothing for so long at the end takes nothing more."""

TIMES = 5
"""So often as long is waited at the end at most for one that takes something, and is slow."""

_PIECE_BYTES = 1024
"""Written at a time: what a slow terminal takes is seen to get less."""


class BackgroundWriter:
    """Writes to a file descriptor, which it does not close, and never waits for that longer than a moment.

    Nothing is left out and the order is kept; who writes looks at `held`, and holds back what can wait. At
    the end of the context that it is, it waits until all is taken, and does so from then on; not for long
    where the terminal takes nothing. What is still held then, and what comes later, is given up, but for what
    was written last: it brings the terminal's modes back, should that go on before the process has ended.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._changed = threading.Condition()
        self._waiting: deque[bytes] = deque()
        self._held = 0
        self._last_pieces = 0
        self._hasty_writes = 0
        self._error: OSError | None = None
        self._thread: threading.Thread | None = None
        self._over = self._given_up = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._over = True
            self._wait_at_the_end()
            self._changed.notify_all()

    @property
    def held(self) -> int:
        """How many bytes are not taken yet: 0, as a rule."""
        return self._held

    def write(self, data: bytes) -> None:
        """Have this written. Raises `OSError` where it cannot be, or what was written before could not."""
        with self._changed:
            if self._given_up or not data:
                return
            self._raise()
            behind = self._held > 0
            pieces = [data[at : at + _PIECE_BYTES] for at in range(0, len(data), _PIECE_BYTES)]
            self._waiting += pieces
            self._last_pieces = len(pieces)
            self._held += len(data)
            self._work()
            if self._over:
                self._wait_at_the_end()
            elif not behind:
                self._wait_a_moment()
            self._raise()

    async def taken(self) -> None:
        """Wait until nothing is held."""
        while self._held:  # noqa: ASYNC110 - no thread sets an event of the loop
            await anyio.sleep(LOOK_S)

    def _wait_a_moment(self) -> None:
        if self._hasty_writes:
            self._hasty_writes -= 1
        elif not self._changed.wait_for(lambda: not self._held, MOMENT_S):
            self._hasty_writes = HASTY_WRITES

    def _wait_at_the_end(self) -> None:
        for _ in range(TIMES):
            held = self._held
            if self._changed.wait_for(lambda: not self._held, STALLED_S):
                return
            if self._held == held:
                break
        self._given_up = True
        try:
            self._fd = os.dup(self._fd)  # the other may be closed, and its number be another file's
        except OSError:
            self._forget()
        else:
            self._forget(but=self._last_pieces)

    def _raise(self) -> None:
        if self._error is not None:
            raise OSError(*self._error.args) from self._error

    def _forget(self, but: int = 0) -> None:
        """Hold nothing any more; so many of the last pieces are written all the same, as far as they wait."""
        while len(self._waiting) > but:
            self._waiting.popleft()
        self._held = 0

    def _work(self) -> None:
        """Have the thread go on; it holds no process from ending."""
        if self._thread is None:
            thread = threading.Thread(target=self._write_all, name="terminal writer", daemon=True)
            thread.start()
            self._thread = thread
        self._changed.notify_all()

    def _write_all(self) -> None:
        while (piece := self._next()) is not None:
            try:
                write_whole(self._fd, piece)
            except Exception as error:  # whatever it is, who writes hears of it
                with self._changed:
                    self._error = error if isinstance(error, OSError) else OSError(errno.EIO, str(error))
                    self._forget()
                    self._changed.notify_all()
                return
            with self._changed:
                self._held = max(0, self._held - len(piece))
                self._changed.notify_all()

    def _next(self) -> bytes | None:
        """The next piece; None where there will be none."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._over)
            if not self._waiting:
                self._thread = None
                return None
            return self._waiting.popleft()


def write_whole(fd: int, data: bytes) -> None:
    """Write all of this, waiting for as long as that takes. Raises `OSError` where it cannot be written."""
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:  # another program that has this file too has made it so
            writable = select.poll()
            writable.register(fd, select.POLLOUT)
            writable.poll()
