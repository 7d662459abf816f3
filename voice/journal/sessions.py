"""Which sessions are alive: each holds a lock on ``SESSION.lock``, for as long as it lives."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
from contextlib import suppress

from voice.errors import JournalError
from voice.journal.entries import LETTERS, SESSION_LENGTH
from voice.journal.folder import Folder, write_whole

LOCK = re.compile(rf"([{LETTERS}]{{{SESSION_LENGTH}}})\.lock")
"""What the file of a session looks like."""


def new_session() -> str:
    """A name for a session, which nobody is likely to have."""
    return "".join(secrets.choice(LETTERS) for _ in range(SESSION_LENGTH))


def process_of(folder: Folder, session: str) -> int | None:
    """The process of a session that is alive and takes messages, 0 where it takes none.

    None where it is dead: then its lock goes.
    """
    try:
        with folder.read_only(f"{session}.lock") as lock:
            content = os.pread(lock, 1_000, 0)
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _talking(content)
            folder.remove(f"{session}.lock")
    except (OSError, JournalError):
        pass
    return None


class SessionLock:
    """The lock of one session, held from `take` until `free`."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._lock: int | None = None
        self._file = ""

    @property
    def current(self) -> bool:
        """Whether others see it: its file may have been deleted."""
        found = self._folder.found(self._file) if self._lock is not None else None
        return found is not None and self._lock is not None and os.path.samestat(found, os.fstat(self._lock))

    def take(self, name: str, *, talks: bool) -> bool:
        """Take the lock of this name; False where there is one, or it was deleted before it was taken."""
        file = f"{name}.lock"
        try:
            lock = self._folder.opened(file, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # somebody may be looking whether it is held
        except OSError:
            os.close(lock)
            raise
        with suppress(OSError):  # a full disk takes no word of who holds it: that it is held is what counts
            write_whole(lock, json.dumps({"process": os.getpid(), "talks": talks}).encode())
        self._lock, self._file = lock, file
        if not self.current:
            os.close(lock)
            self._lock = None
            return False
        return True

    def free(self) -> None:
        """The session is over."""
        if self._lock is not None:
            with suppress(OSError):
                self._folder.remove(self._file)
            os.close(self._lock)
            self._lock = None


def _talking(content: bytes) -> int:
    try:
        told = json.loads(content)
        return int(told["process"]) if told["talks"] else 0
    except (ValueError, TypeError, LookupError, RecursionError):
        return 0
