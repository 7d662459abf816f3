"""The files of a journal: one folder that nobody but the user can read.

An entry is ``ID.jsonl``, and ``ID.wav`` where it was spoken: 16 kHz mono 16 bit, readable at any moment,
since its header is written again after each flush. ``ID.send`` asks the next conversation to send it. A
session holds a lock on ``SESSION.lock`` for as long as it lives: its entries are in nobody else's hands.

All methods block, and raise `OSError` where the disk does; they may be called in any one thread at a time.
Nothing is followed that is a link, and nothing is deleted that is not ours.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from voice.audio import SAMPLE_RATE, Samples
from voice.errors import JournalError
from voice.journal import entries
from voice.journal.entries import ID, LETTERS, SESSION_LENGTH, Bounds, Entry, State

_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")
"""A WAV file's, up to the samples (``mmreg.h``)."""

_FILE = re.compile(rf"({ID.pattern})\.(wav|jsonl|send)")
_LOCK = re.compile(rf"([{LETTERS}]{{{SESSION_LENGTH}}})\.lock")

_LONGEST_LINES = 4_000_000
"""Bytes of an entry's lines that are read: no session writes so many."""


@dataclass(frozen=True)
class Found:
    """What is in the folder."""

    entries: tuple[Entry, ...]
    """The oldest first."""
    running: frozenset[str]
    """The sessions that are alive."""
    talking: tuple[int, ...]
    """The processes of those that take messages."""
    skipped: tuple[str, ...]
    """What is none of ours, or broken, by name."""

    @property
    def pending(self) -> tuple[Entry, ...]:
        """What was not delivered, and nobody is about to."""
        return tuple(entry for entry in self.entries if entry.pending(self.running))


class Store:
    """One folder, open. As a context manager it closes itself, and what it holds is free again."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
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
        self._lock: int | None = None
        self._session = ""
        self._sounds: dict[str, _Wav] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every file; a session that was begun is over."""
        for sound in self._sounds.values():
            sound.close()
        self._sounds.clear()
        if self._lock is not None:
            with suppress(OSError):
                os.unlink(f"{self._session}.lock", dir_fd=self._folder)
            os.close(self._lock)
            self._lock = None
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    # --- Sessions -----------------------------------------------------------------------------------------

    def begin_session(self, *, talks: bool, name: str = "") -> str:
        """Begin a session, of this name where nobody has it; returns its name.

        ``talks`` says whether it takes messages that others ask it to send.
        """
        while True:
            name = name or new_session()
            if any(file.startswith(f"{name}-") for file in self._files()):
                name = ""
                continue
            if self._locked(name, json.dumps({"process": os.getpid(), "talks": talks}).encode()):
                self._session = name
                return name
            name = ""

    def _locked(self, name: str, content: bytes) -> bool:
        """Take a lock of this name that is still in the folder when it is taken."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            lock = os.open(f"{name}.lock", flags, 0o600, dir_fd=self._folder)
        except FileExistsError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # somebody may be looking whether it is held
            os.fchmod(lock, 0o600)
            os.write(lock, content)
            ours = os.fstat(lock).st_ino == os.stat(f"{name}.lock", dir_fd=self._folder).st_ino
        except OSError:
            ours = False
        if not ours:
            os.close(lock)
            return False
        self._lock = lock
        return True

    # --- Writing ------------------------------------------------------------------------------------------

    @staticmethod
    def now() -> float:
        """Seconds since 1970."""
        return time.time()

    def write(self, name: str, lines: bytes) -> None:
        """Add lines to an entry, which begins with them where it is not there."""
        if not lines:
            return
        with self._appended(f"{name}.jsonl") as file:
            size = os.fstat(file).st_size
            if size and os.pread(file, 1, size - 1) != b"\n":
                lines = b"\n" + lines  # the last one was not written whole
            _write_whole(file, lines)

    def write_sound(self, name: str, samples: Samples) -> None:
        """Add sound to an entry. Where it fails nothing of it is there, as far as the header says."""
        sound = self._sounds.get(name)
        if sound is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
            sound = self._sounds[name] = _Wav(self._regular(f"{name}.wav", flags))
        sound.write(samples)

    def end_sound(self, name: str) -> None:
        """Nothing more is heard of an entry."""
        if (sound := self._sounds.pop(name, None)) is not None:
            sound.close()

    def settle(self, name: str) -> None:
        """See to it that a crash of the machine does not take what there is of an entry either."""
        for file in (f"{name}.jsonl", f"{name}.wav"):
            with suppress(FileNotFoundError):
                there = self._regular(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
                try:
                    os.fsync(there)
                finally:
                    os.close(there)
        os.fsync(self._folder)

    def forget(self, name: str) -> None:
        """Delete what there is of an entry; nothing where there is nothing."""
        self.end_sound(name)
        with suppress(OSError):  # a full disk takes no line, and deletes all the same
            if self._is_there(f"{name}.jsonl"):
                self.write(name, entries.FORGOTTEN)
        for ending in ("send", "wav", "jsonl"):
            with suppress(FileNotFoundError):
                os.unlink(f"{name}.{ending}", dir_fd=self._folder)

    # --- Reading ------------------------------------------------------------------------------------------

    def found(self) -> Found:
        """Look what is there. What sessions left behind that is not wanted any more is deleted."""
        files: dict[str, set[str]] = {}
        skipped, running, talking = [], set(), []
        for name in sorted(self._files()):
            if (lock := _LOCK.fullmatch(name)) is not None:
                if (process := self._process_of(lock[1])) is not None:
                    running.add(lock[1])
                    talking += [process] if process else []
            elif (file := _FILE.fullmatch(name)) is not None:
                files.setdefault(file[1], set()).add(file[4])
            else:
                skipped.append(name)
        kept = []
        for name, endings in files.items():
            try:
                entry = self._read(name, endings)
            except FileNotFoundError:
                continue  # somebody else has just deleted it
            except (OSError, JournalError):
                entry = None
            if entry is None:
                skipped += [f"{name}.{ending}" for ending in sorted(endings)]
            elif entry.state is State.FORGOTTEN:
                if entry.session not in running:
                    self.forget(name)
            else:
                kept.append(entry)
        kept.sort(key=lambda entry: entry.order)
        return Found(tuple(kept), frozenset(running), tuple(talking), tuple(skipped))

    def asked(self) -> frozenset[str]:
        """The entries that somebody asked to be sent."""
        files = (_FILE.fullmatch(name) for name in self._files())
        return frozenset(file[1] for file in files if file is not None and file[4] == "send")

    def samples(self, name: str) -> Samples:
        """The sound of an entry; raises `JournalError` where there is none that can be read."""
        try:
            with self._read_only(f"{name}.wav") as file:
                size = _Wav.size_of(file)
                return np.frombuffer(os.pread(file, size, _HEADER.size), "<i2").astype(np.int16)
        except FileNotFoundError:
            raise JournalError(f"Of {name} there is no sound.") from None

    def prune(self, bounds: Bounds) -> list[Entry]:
        """Delete what is beyond the bounds; returns what was still pending of it."""
        found = self.found()
        going = bounds.beyond(found.entries, self.now(), found.running)
        for entry in going:
            self.forget(entry.id)
        return [entry for entry in going if not entry.over]

    # --- Handing over -------------------------------------------------------------------------------------

    def ask_to_send(self, name: str) -> None:
        """Have a conversation send an entry."""
        with self._appended(f"{name}.send"):
            pass

    def take(self, name: str, session: str) -> Entry | None:
        """Take a pending entry into the hands of a session; None where somebody else was quicker."""
        try:
            with self._appended(f"{name}.jsonl", create=self._is_there(f"{name}.wav")) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                entry = entries.find(self.found().pending, name)
                if entry is not None:
                    _write_whole(file, entries.taken(session))
        except FileNotFoundError:
            return None
        finally:
            with suppress(OSError):
                os.unlink(f"{name}.send", dir_fd=self._folder)
        return entry

    # --- Files --------------------------------------------------------------------------------------------

    def _read(self, name: str, endings: set[str]) -> Entry | None:
        size, lines = 0, b""
        if "wav" in endings:
            with self._read_only(f"{name}.wav") as file:
                size = _Wav.size_of(file)
        if "jsonl" in endings:
            with self._read_only(f"{name}.jsonl") as file:
                lines = os.pread(file, _LONGEST_LINES, 0)
        return entries.read(name, lines, size)

    def _process_of(self, session: str) -> int | None:
        """The process of a session that is alive and takes messages, 0 where it takes none.

        None where it is dead: then its lock goes.
        """
        try:
            with self._read_only(f"{session}.lock") as lock:
                content = os.pread(lock, 1_000, 0)
                try:
                    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return _talking(content)
                os.unlink(f"{session}.lock", dir_fd=self._folder)
        except (OSError, JournalError):
            pass
        return None

    def _files(self) -> list[str]:
        return os.listdir(self._folder)  # noqa: PTH208 — by its descriptor: the path may be another's by now

    def _is_there(self, file: str) -> bool:
        try:
            os.stat(file, dir_fd=self._folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    @contextmanager
    def _appended(self, file: str, *, create: bool = True) -> Iterator[int]:
        flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        there = self._regular(file, flags | (os.O_CREAT if create else 0))
        try:
            yield there
        finally:
            os.close(there)

    @contextmanager
    def _read_only(self, file: str) -> Iterator[int]:
        there = self._regular(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            yield there
        finally:
            os.close(there)

    def _regular(self, file: str, flags: int) -> int:
        """Open a file that is one, and that nobody else can read, whatever the process denies or allows.

        Raises `JournalError` for what is no file.
        """
        there = os.open(file, flags, 0o600, dir_fd=self._folder)
        found = os.fstat(there)
        if not stat.S_ISREG(found.st_mode):
            os.close(there)
            raise JournalError(f"{file} in the journal is no file.", mend="move it away")
        if stat.S_IMODE(found.st_mode) != 0o600:
            with suppress(OSError):
                os.fchmod(there, 0o600)
        return there


def new_session() -> str:
    """A name for a session, which nobody is likely to have."""
    return "".join(secrets.choice(LETTERS) for _ in range(SESSION_LENGTH))


class _Wav:
    """A WAV file that grows."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._size = self.size_of(file) if os.fstat(file).st_size else 0

    def write(self, samples: Samples) -> None:
        data = samples.astype("<i2").tobytes()
        _write_whole(self._file, data, _HEADER.size + self._size)
        _write_whole(self._file, _header(self._size + len(data)), 0)
        self._size += len(data)

    def close(self) -> None:
        os.close(self._file)

    @staticmethod
    def size_of(file: int) -> int:
        """Bytes of sound in a file of ours, which may have been left at any moment.

        What its header does not know of yet is sound all the same. Raises `JournalError` for any other file.
        """
        there = os.fstat(file).st_size
        start = os.pread(file, _HEADER.size, 0)
        if there <= _HEADER.size:
            return 0
        if not any(start):
            return (there - _HEADER.size) // 2 * 2  # the header comes after the first sound
        shape, ours = bytearray(start), bytearray(_header(0))
        for size_at in (4, 40):
            shape[size_at : size_at + 4] = ours[size_at : size_at + 4] = bytes(4)
        if shape != ours:
            raise JournalError("That is no sound of the journal.")
        return (there - _HEADER.size) // 2 * 2


def _header(size: int) -> bytes:
    rate, block = SAMPLE_RATE, 2
    return _HEADER.pack(
        *(b"RIFF", _HEADER.size - 8 + size, b"WAVE", b"fmt ", 16, 1, 1, rate, rate * block, block, 16),
        *(b"data", size),
    )


def _write_whole(file: int, data: bytes, at: int | None = None) -> None:
    """Write all of it, at a place or at the end."""
    left = memoryview(data)
    while left:
        count = os.write(file, left) if at is None else os.pwrite(file, left, at)
        left = left[count:]
        at = None if at is None else at + count


def _talking(content: bytes) -> int:
    try:
        told = json.loads(content)
        return int(told["process"]) if told["talks"] else 0
    except (ValueError, TypeError, LookupError, RecursionError):
        return 0
