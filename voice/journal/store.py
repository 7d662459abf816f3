"""The files of a journal: one folder that nobody but the user can read.

An entry is ``ID.jsonl``, and ``ID.wav`` where it was spoken. ``ID.send`` asks the next conversation to send
it. A session holds a lock for as long as it lives: its entries are in nobody else's hands.

All methods block, and raise `OSError` where the disk does; they may be called in any one thread at a time.
Nothing is followed that is a link, and nothing is deleted that is not ours.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from voice.audio import Samples
from voice.errors import JournalError
from voice.journal import entries
from voice.journal.entries import ID, Bounds, Entry, State
from voice.journal.folder import Folder, add_lines
from voice.journal.sessions import LOCK, SessionLock, new_session, process_of
from voice.journal.wav import Wav, samples_of, size_of

_FILE = re.compile(rf"({ID.pattern})\.(wav|jsonl|send)")

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

    def pending_beside(self, session: str) -> tuple[Entry, ...]:
        """The same for a session that runs: it has its own in its hands, also where the disk took no lock."""
        return tuple(entry for entry in self.entries if entry.pending(self.running | {session}))


class Store:
    """One folder, open. As a context manager it closes itself, and what it holds is free again."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        """Open it, and with ``create`` make it where it is not there.

        Raises `JournalError` where it cannot be trusted: it is a link, or somebody else's;
        `FileNotFoundError` where it is not there.
        """
        self._folder = Folder(path, create=create)
        self._lock = SessionLock(self._folder)
        self._sounds: dict[str, Wav] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every file; a session that was begun is over."""
        for sound in self._sounds.values():
            sound.close()
        self._sounds.clear()
        self._lock.free()
        self._folder.close()

    # --- Sessions -----------------------------------------------------------------------------------------

    def begin_session(self, *, talks: bool) -> str:
        """Begin a session by a name that nobody has; returns it.

        ``talks`` says whether it takes messages that others ask it to send.
        """
        while not self.claim(name := new_session(), talks=talks):
            pass
        return name

    def claim(self, name: str, *, talks: bool, again: bool = False) -> bool:
        """Begin a session by this name; False where there are entries of one, or it is alive.

        With ``again`` the entries are its own: it has this name to the person, and can have no other. Raises
        `JournalError` where it is alive all the same.
        """
        if again:
            process_of(self._folder, name)  # what is left of its lock goes
        elif any(file.startswith(f"{name}-") for file in self._folder.names()):
            return False
        if self._lock.take(name, talks=talks):
            return True
        if again:
            raise JournalError(f"Another session is called {name}.", mend="begin a new one")
        return False

    @property
    def current(self) -> bool:
        """Whether what a session writes here is where others look, and seen to be in its hands."""
        return self._folder.current and self._lock.current

    # --- Writing ------------------------------------------------------------------------------------------

    @staticmethod
    def now() -> float:
        """Seconds since 1970."""
        return time.time()

    def begin(self, name: str, lines: bytes) -> None:
        """Begin an entry with these lines. Nothing else makes one: what is gone stays so."""
        with self._folder.appended(f"{name}.jsonl", create=True) as file:
            add_lines(file, lines)

    def write(self, name: str, lines: bytes) -> bool:
        """Add lines to an entry; False where it is not there any more."""
        try:
            with self._folder.appended(f"{name}.jsonl", create=False) as file:
                add_lines(file, lines)
        except FileNotFoundError:
            return False
        return True

    def write_sound(self, name: str, samples: Samples) -> None:
        """Add sound to an entry that was begun. Where it fails nothing of it is there."""
        sound = self._sounds.get(name)
        if sound is None:
            sound = Wav(self._folder.opened(f"{name}.wav", os.O_RDWR | os.O_CREAT))
            self._sounds[name] = sound
        sound.write(samples)

    def end_sound(self, name: str) -> None:
        """Nothing more is heard of an entry."""
        if (sound := self._sounds.pop(name, None)) is not None:
            sound.close()

    def settle(self, name: str) -> None:
        """See to it that a crash of the machine does not take what there is of an entry either."""
        self._folder.settle(f"{name}.jsonl", f"{name}.wav")

    def forget(self, name: str) -> None:
        """Delete what there is of an entry; nothing where there is nothing."""
        self.end_sound(name)
        with suppress(OSError):  # a full disk takes no line, and deletes all the same
            self.write(name, entries.FORGOTTEN)
        for ending in ("send", "wav", "jsonl"):
            self._folder.remove(f"{name}.{ending}")

    # --- Reading ------------------------------------------------------------------------------------------

    def found(self) -> Found:
        """Look what is there. What sessions left behind that is not wanted any more is deleted."""
        files: dict[str, set[str]] = {}
        skipped, running, talking = [], set(), []
        for name in sorted(self._folder.names()):
            if (lock := LOCK.fullmatch(name)) is not None:
                if (process := process_of(self._folder, lock[1])) is not None:
                    running.add(lock[1])
                    talking += [process] if process else []
            elif (file := _FILE.fullmatch(name)) is not None:
                files.setdefault(file[1], set()).add(file[4])
            else:
                skipped.append(name)
        kept = []
        for name, endings in files.items():
            try:
                entry = self._read(name)
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

    def asked(self) -> list[str]:
        """The entries that somebody asked to be sent, the oldest first."""
        files = (_FILE.fullmatch(name) for name in self._folder.names())
        names = [file[1] for file in files if file is not None and file[4] == "send"]
        if not names:  # as nearly each time that this is called
            return []
        order = {entry.id: place for place, entry in enumerate(self.found().entries)}
        return sorted(names, key=lambda name: order.get(name, len(order)))

    def samples(self, name: str) -> Samples:
        """The sound of an entry; raises `JournalError` where there is none that can be read."""
        try:
            with self._folder.read_only(f"{name}.wav") as file:
                return samples_of(file)
        except FileNotFoundError:
            raise JournalError(f"Of {name} there is no sound.") from None

    def prune(self, bounds: Bounds) -> list[Entry]:
        """Delete what is beyond the bounds; returns what was still pending of it."""
        found = self.found()
        going = bounds.beyond(found.entries, self.now(), found.running)
        for entry in going:
            self.forget(entry.id)
        return [entry for entry in going if not entry.over]

    # --- Pending entries, which others may be about to take as well ---------------------------------------

    def ask_to_send(self, name: str) -> None:
        """Have a conversation send an entry."""
        with self._folder.appended(f"{name}.send", create=True):
            pass

    def take(self, name: str, session: str) -> Entry | None:
        """Take a pending entry into the hands of a session, if it is whole; returns it as it was.

        None where it is not there any more, or somebody else was quicker.
        """
        try:
            return self._told(name, lambda entry: entries.taken(session) if entry.whole else b"", session)
        finally:
            with suppress(OSError):
                self._folder.remove(f"{name}.send")

    def tell(self, name: str, text: str) -> bool:
        """Keep what a pending entry says, found out anew; False where it is not pending any more."""
        return self._told(name, lambda _: entries.told(text)) is not None

    def _told(self, name: str, lines: Callable[[Entry], bytes], session: str = "") -> Entry | None:
        """Add lines to an entry, if it is pending; returns it as it was. One does so at a time.

        What this ``session`` has taken before is not.
        """
        sound = f"{name}.wav"
        create = self._folder.found(sound) is not None  # its lines may have been lost
        try:
            with self._folder.appended(f"{name}.jsonl", create=create) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                entry = self._read(name)
                if entry is not None and entry.pending(self._alive(entry.session) | {session}):
                    add_lines(file, lines(entry))
                    return entry
                if entry is None and not os.fstat(file).st_size:  # it was forgotten while we made it
                    self._folder.remove(f"{name}.jsonl")
        except FileNotFoundError:
            pass
        return None

    def _alive(self, session: str) -> frozenset[str]:
        return frozenset() if process_of(self._folder, session) is None else frozenset({session})

    def _read(self, name: str) -> Entry | None:
        """An entry; None where there is nothing of ours in its files.

        Raises `FileNotFoundError` where there are none, `JournalError` where they are none of ours.
        """
        size, lines, changed_at = 0, b"", []
        with suppress(FileNotFoundError), self._folder.read_only(f"{name}.wav") as file:
            size = size_of(file)
            changed_at.append(os.fstat(file).st_mtime)
        with suppress(FileNotFoundError), self._folder.read_only(f"{name}.jsonl") as file:
            lines = os.pread(file, _LONGEST_LINES, 0)
            changed_at.append(os.fstat(file).st_mtime)
        if not changed_at:
            raise FileNotFoundError(name)
        return entries.read(name, lines, size, max(changed_at))
