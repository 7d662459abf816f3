"""The port of a line-based terminal, and the POSIX one behind it.

The terminal stays in the mode in which it was found: the kernel edits the line, Ctrl-C is a signal, and
there is nothing to restore, whatever happens to the process. It is left for one moment only, in which what
stands on a line that is dropped is read.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol, runtime_checkable

from anyio import current_time, get_cancelled_exc_class, wait_readable
from anyio.lowlevel import checkpoint

from questionnaire.errors import NoInterface, TerminalLost
from questionnaire.presenters.writer import BackgroundWriter, write_whole

_CHUNK_BYTES = 4096
_FALLBACK_WIDTH = 80

GUARD_S = 0.3
"""Lines that come sooner after a question was written were meant for what stood there before; so are those
that follow them sooner than this."""

MOST_HELD_BYTES = 1_000_000
"""Of lines that a terminal does not take; it gets no more of them then, and is told how many it missed."""

_TOO_SOON = "That came too soon to be meant for this. Please type it again."


class LineTerminal(Protocol):
    """A terminal that is written and read by the line; one before which a person sits is `TypesAhead` too."""

    @property
    def width(self) -> int:
        """The width of the terminal in cells, now."""
        ...

    def write_line(self, line: str) -> None:
        """Write one line of printable text. Raises `TerminalLost` where the terminal fails."""
        ...

    async def read_line(self, prompt: str) -> str | None:
        """Write `prompt`, then return the next line without its end, or None at the end of input.

        May be cancelled at any moment. Then a line that was being typed is dropped, as Ctrl-C drops it,
        lest it become the start of the next one. Raises `TerminalLost` where the terminal fails.
        """
        ...


@runtime_checkable
class TypesAhead(Protocol):
    """A terminal that keeps what a person types before they are asked, and can forget it."""

    def discard(self) -> str:
        """Drop what was typed and has not been read, and what comes in the next moment.

        Returns what has been dropped since the last time, as far as that is known. Nothing is raised where
        the terminal is gone.
        """
        ...


class FileLines:
    """A `LineTerminal` over two open file descriptors, which it does not close.

    It waits for input on the event loop, not in a thread, so that a cancelled read leaves nothing behind
    that would eat the next line or keep the process from ending. With a ``writer`` it goes on where the
    terminal takes nothing; a line that is typed meanwhile answers no prompt.
    """

    def __init__(self, read_fd: int, write_fd: int, writer: BackgroundWriter | None = None) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._writer = writer
        self._missed = 0
        self._unread = b""
        self._is_terminal = os.isatty(read_fd)
        self._dropped = b""
        self._lines_from_s = float("-inf")

    @property
    def width(self) -> int:
        """The width of the terminal in cells; 80 where it is unknown."""
        try:
            return os.get_terminal_size(self._write_fd).columns or _FALLBACK_WIDTH
        except OSError:
            return _FALLBACK_WIDTH

    def write_line(self, line: str) -> None:
        """Write one line."""
        if self._writer and self._writer.held > MOST_HELD_BYTES:
            self._missed += 1
            return
        self._write(self._told_missed() + line + "\n")

    def tell_missed(self) -> None:
        """Write how many lines were left out, if any were: at the end no line follows that does."""
        if told := self._told_missed():
            self._write(told)

    async def read_line(self, prompt: str) -> str | None:
        """Return the next line; a last one that the end of input cuts short counts as a line.

        What comes on a terminal sooner than `GUARD_S` after `discard` is dropped, and that is said.
        """
        self._write(self._told_missed() + prompt)
        while True:
            line = await self._next()
            unseen = bool(prompt) and self._is_terminal and self._writer is not None and self._writer.held > 0
            if current_time() >= self._lines_from_s and not unseen:
                return None if line is None else _text(line)
            self._lines_from_s = current_time() + GUARD_S
            self._forget()
            self._dropped = b""  # the user hears of it here
            self._write(("" if line is not None else "\n") + _TOO_SOON + "\n" + prompt)

    def discard(self) -> str:
        """Drop what was typed on a terminal and not read; a file or a pipe holds replies, which stay."""
        if self._is_terminal:
            self._forget()
            self._lines_from_s = current_time() + GUARD_S
        dropped, self._dropped = self._dropped, b""
        return _text(dropped.translate(None, b"\0\x04"))  # as which a kernel keeps a Ctrl-D

    async def _next(self) -> bytes | None:
        """Return the next line as it came, None at the end of input."""
        while b"\n" not in self._unread:
            try:
                chunk = await self._read()
            except get_cancelled_exc_class():
                if self._is_terminal:
                    self._forget()
                raise
            if not chunk:
                rest, self._unread = self._unread, b""
                return rest or None
            self._unread += chunk
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _forget(self) -> None:
        """Drop what the terminal holds, the line that is being typed too, which the kernel shows nobody."""
        import termios  # where there is a terminal to read there is this module

        self._dropped += self._unread
        self._unread = b""
        with suppress(termios.error, OSError):
            mode = termios.tcgetattr(self._read_fd)
            by_key = [*mode[:6], [*mode[6]]]
            by_key[3] &= ~termios.ICANON
            by_key[6][termios.VMIN] = by_key[6][termios.VTIME] = 0
            try:
                termios.tcsetattr(self._read_fd, termios.TCSANOW, by_key)
                with suppress(BlockingIOError):
                    self._dropped += os.read(self._read_fd, _CHUNK_BYTES)
                termios.tcflush(self._read_fd, termios.TCIFLUSH)
            finally:
                termios.tcsetattr(self._read_fd, termios.TCSANOW, mode)

    async def _read(self) -> bytes:
        """Return what is there to read, waiting for something; nothing at the end of input."""
        while True:
            try:
                await wait_readable(self._read_fd)
            except PermissionError:
                await checkpoint()  # a regular file cannot be waited for, and need not be
            try:
                chunk = os.read(self._read_fd, _CHUNK_BYTES)
            except BlockingIOError:
                continue  # another process read the line first
            except OSError as error:
                raise TerminalLost(f"the terminal could not be read: {error.strerror}") from error
            if not chunk and self._is_terminal and not os.isatty(self._read_fd):
                raise TerminalLost("the terminal hung up")  # which is not the user's Ctrl-D
            return chunk

    def _told_missed(self) -> str:
        missed, self._missed = self._missed, 0
        return f"({missed} lines are missing here: the terminal took nothing.)\n" if missed else ""

    def _write(self, text: str) -> None:
        data = text.encode(errors="replace")
        try:
            if self._writer is not None:
                self._writer.write(data)
            else:
                write_whole(self._write_fd, data)
        except OSError as error:
            raise TerminalLost(f"the terminal could not be written: {error.strerror}") from error


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode(errors="replace")


@contextmanager
def controlling_terminal() -> Iterator[FileLines]:
    """Open the controlling terminal of the process, whatever its standard streams are.

    Raises `NoInterface` where the process has none.
    """
    try:
        # Opened apart, so that reading without blocking does not make writing so.
        read_fd = os.open("/dev/tty", os.O_RDONLY | os.O_NONBLOCK)
        write_fd = os.open("/dev/tty", os.O_WRONLY)
    except OSError as error:
        raise NoInterface(f"there is no terminal to ask on: {error.strerror}") from error
    try:
        yield FileLines(read_fd, write_fd)
    finally:
        os.close(read_fd)
        os.close(write_fd)
