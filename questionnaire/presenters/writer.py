"""Writing to a terminal that may stop taking anything, without stopping oneself.

After Ctrl-S, on a connection that hangs or behind a multiplexer that was stopped, a write comes back when the
terminal goes on, or never. A thread of its own bears that.
"""

import os
import select
import threading
from collections import deque
from typing import Self

import anyio

MOMENT_S = 0.05
"""So long a write waits until it is taken, so that things are in order wherever the terminal takes them."""

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
    where the terminal takes nothing. What is still held then, and what comes later, is given up.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._changed = threading.Condition()
        self._waiting: deque[bytes] = deque()
        self._held = 0
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
            self._waiting += (data[at : at + _PIECE_BYTES] for at in range(0, len(data), _PIECE_BYTES))
            self._held += len(data)
            self._work()
            if self._over:
                self._wait_at_the_end()
            elif not behind:
                self._changed.wait_for(lambda: not self._held, MOMENT_S)
            self._raise()

    async def taken(self) -> None:
        """Wait until nothing is held."""
        while self._held:  # noqa: ASYNC110 - no thread sets an event of the loop
            await anyio.sleep(LOOK_S)

    def _wait_at_the_end(self) -> None:
        for _ in range(TIMES):
            held = self._held
            if self._changed.wait_for(lambda: not self._held, STALLED_S):
                return
            if self._held == held:
                break
        self._given_up = True
        self._forget()

    def _raise(self) -> None:
        if self._error is not None:
            raise OSError(*self._error.args)

    def _forget(self) -> None:
        self._waiting.clear()
        self._held = 0

    def _work(self) -> None:
        """Have the thread go on; it holds no process from ending."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._write_all, name="terminal writer", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _write_all(self) -> None:
        while (piece := self._next()) is not None:
            try:
                self._write_piece(piece)
            except OSError as error:
                with self._changed:
                    self._error = error
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

    def _write_piece(self, piece: bytes) -> None:
        while piece:
            try:
                piece = piece[os.write(self._fd, piece) :]
            except BlockingIOError:  # another program that has this terminal too has made it so
                select.select([], [self._fd], [])
