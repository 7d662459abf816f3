"""A folder that nobody but the user can read, and the files in it, by its descriptor.

Nothing is followed that is a link. All methods block, and raise `OSError` where the disk does.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from voice.errors import JournalError

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class Folder:
    """One folder, open until it is closed."""

    def __init__(self, path: Path, *, create: bool) -> None:
        """Open it, and with ``create`` make it where it is not there.

        Raises `JournalError` where it cannot be trusted: it is a link, or somebody else's;
        `FileNotFoundError` where it is not there.
        """
        if create:
            try:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            except FileExistsError:
                raise JournalError(f"{path.parent} is no folder.", mend="move it away") from None
            with suppress(FileExistsError):
                path.mkdir(mode=0o700)
        self._path = path
        try:
            self._folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except NotADirectoryError:
            raise JournalError(
                f"The journal's folder {path} is a link, or no folder.", mend="move it away"
            ) from None
        found = os.fstat(self._folder)
        if found.st_uid != os.getuid():
            os.close(self._folder)
            raise JournalError(f"The journal's folder {path} belongs to somebody else.", mend="move it away")
        if stat.S_IMODE(found.st_mode) != 0o700:
            os.fchmod(self._folder, 0o700)

    def close(self) -> None:
        """Give it back; a second time is none."""
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    @property
    def current(self) -> bool:
        """Whether it is still what its path names: it may have been deleted, or moved away."""
        try:
            return os.path.samestat(self._path.lstat(), os.fstat(self._folder))
        except FileNotFoundError:
            return False

    def names(self) -> list[str]:
        """What is in it."""
        return os.listdir(self._folder)  # noqa: PTH208 — by its descriptor: the path may be another's by now

    def found(self, file: str) -> os.stat_result | None:
        """What is known of a file, None where it is not there."""
        try:
            return os.stat(file, dir_fd=self._folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    @contextmanager
    def appended(self, file: str, *, create: bool) -> Iterator[int]:
        """A file to be added to; raises `FileNotFoundError` without ``create`` where it is not there."""
        there = self.opened(file, os.O_RDWR | os.O_APPEND | (os.O_CREAT if create else 0))
        try:
            yield there
        finally:
            os.close(there)

    @contextmanager
    def read_only(self, file: str) -> Iterator[int]:
        """A file to be read; raises `FileNotFoundError` where it is not there."""
        there = self.opened(file, os.O_RDONLY)
        try:
            yield there
        finally:
            os.close(there)

    def opened(self, file: str, flags: int) -> int:
        """Open a file that is one, and that nobody else can read, whatever the process denies or allows.

        Raises `JournalError` for what is no file.
        """
        there = os.open(file, flags | _FLAGS, 0o600, dir_fd=self._folder)
        found = os.fstat(there)
        if not stat.S_ISREG(found.st_mode):
            os.close(there)
            raise JournalError(f"{file} in the journal is no file.", mend="move it away")
        if stat.S_IMODE(found.st_mode) != 0o600:
            with suppress(OSError):
                os.fchmod(there, 0o600)
        return there

    def remove(self, file: str) -> None:
        """Delete a file; nothing where it is not there."""
        with suppress(FileNotFoundError):
            os.unlink(file, dir_fd=self._folder)

    def settle(self, *files: str) -> None:
        """See to it that a crash of the machine does not take what is in them; those not there are none."""
        for file in files:
            with suppress(FileNotFoundError), self.read_only(file) as there:
                os.fsync(there)
        os.fsync(self._folder)


def write_whole(file: int, data: bytes, at: int | None = None) -> None:
    """Write all of it, at a place or at the end."""
    left = memoryview(data)
    while left:
        count = os.write(file, left) if at is None else os.pwrite(file, left, at)
        left = left[count:]
        at = None if at is None else at + count


def add_lines(file: int, lines: bytes) -> None:
    """Add lines at the end of a file, whose last one may not have been written whole."""
    size = os.fstat(file).st_size
    if lines and size and os.pread(file, 1, size - 1) != b"\n":
        lines = b"\n" + lines
    write_whole(file, lines)
