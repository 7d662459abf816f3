"""The journal of a session that runs: what it is told is written by a thread of its own.

What is not on disk yet is in memory, by entry, and is tried again every `RETRY_S`: a full disk, or one that
hangs, is told once, and the session goes on. A folder that is replaced while it runs is begun anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
import anyio.from_thread
import anyio.lowlevel
import numpy as np

from voice.audio import SAMPLE_RATE, Samples
from voice.errors import VoiceError
from voice.events import DiscardReason
from voice.journal import entries
from voice.journal.entries import Bounds, State
from voice.journal.sessions import new_session
from voice.journal.store import Store
from voice.ports import KEPT_REASONS

WRITTEN_WITHIN_S = 0.5
"""So long a piece of speech waits for the disk before it is transcribed."""

PATIENCE_S = 3.0
"""So long a session waits for the folder at its beginning, and for what is left to be written at its end."""

RETRY_S = 2.0
"""So soon what could not be written is tried again."""

LONGEST_UNWRITTEN_S = 300.0
"""So much sound waits in memory for a disk that does not take it (10 MB); of what comes then nothing is
kept."""


PRUNED_EVERY = 0.05
"""Of the largest size: so much is written before it is looked again whether there is too much."""

PRUNED_EVERY_S = 3_600.0
"""So soon it is looked again whether something is too old."""


@dataclass
class _Record:
    """One entry, for as long as it is in the hands of this session, and until that is on disk."""

    ours: bool = True
    """Whether it was begun here: then its lines may make it."""
    lines: bytes = b""
    written: int = 0
    """So many bytes of its lines are on disk."""
    sound: list[Samples] = field(default_factory=list)
    """What of it is not on disk yet."""
    sound_s: float = 0.0
    hears: bool = False
    """Whether more sound may come."""
    settles: bool = False
    """Whether what there is of it is to outlive a crash of the machine, once it is on disk."""
    over: bool = False
    """Whether it is out of our hands when all that is on disk."""
    forgotten: bool = False

    @property
    def dirty(self) -> bool:
        return self.written < len(self.lines) or bool(self.sound) or self.settles

    def forget(self) -> None:
        self.forgotten = self.over = self.settles = True
        self.lines, self.written, self.sound, self.sound_s, self.hears = b"", 0, [], 0.0, False


class DiskJournal:
    """The `voice.ports.Journal` of one session, in a folder; to be held open as a context manager.

    ``talks`` says that the session takes messages that others ask it to send. ``on_notice`` is told, in the
    event loop's thread, what a person should know. With ``keep_delivered`` what the host has is kept too,
    within the bounds.
    """

    def __init__(
        self,
        folder: Path,
        on_notice: Callable[[str], None],
        *,
        bounds: Bounds,
        keep_delivered: bool = False,
        talks: bool = True,
    ) -> None:
        self._folder = folder
        self._on_notice = on_notice
        self._bounds = bounds
        self._keep_delivered = keep_delivered
        self._talks = talks
        self._token: anyio.lowlevel.EventLoopToken | None = None
        self._loop_thread = threading.current_thread()
        self._opened, self._closed = anyio.Event(), anyio.Event()
        self._wake = threading.Condition()
        """Guards what both threads use, which is all that follows."""
        self._session = new_session()
        self._named = False
        """Whether somebody knows the session by its name: then it can have no other."""
        self._count = 0
        self._records: dict[str, _Record] = {}
        self._given = self._done = 0
        """How often something was given, and how many of these times are dealt with."""
        self._waiters: list[tuple[int, anyio.Event]] = []
        self._failed = self._slow = self._closing = False
        self._told: set[str] = set()
        self._unpruned, self._pruned_at = 0, 0.0
        """What was written since it was looked last whether there is too much, and when that was."""

    async def __aenter__(self) -> Self:
        self._token, self._loop_thread = anyio.lowlevel.current_token(), threading.current_thread()
        self._opened, self._closed = anyio.Event(), anyio.Event()
        threading.Thread(target=self._work, name="journal", daemon=True).start()
        with anyio.move_on_after(PATIENCE_S) as waiting:
            await self._opened.wait()
        if waiting.cancelled_caught:
            self._is_slow()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._wake:
            self._closing = True
            self._wake.notify()
        with anyio.move_on_after(PATIENCE_S, shield=True):
            await self._closed.wait()

    @property
    def session(self) -> str:
        """The name of the session, with which the ids of its entries begin."""
        with self._wake:
            self._named = True
            return self._session

    @property
    def fails(self) -> bool:
        """Whether the disk did not take what it was given last, or does not answer."""
        with self._wake:
            return self._failed or self._slow

    # --- What a session tells -----------------------------------------------------------------------------

    def begin(self, samples: Samples) -> str:
        """Begin an utterance with what was heard of it so far; returns its id."""
        name = self._begin(_Record(lines=entries.began("spoken", Store.now()), hears=True))
        self.append(name, samples)
        return name

    def typed(self, text: str) -> str:
        """Keep a typed message; returns its id."""
        return self._begin(_Record(lines=entries.began("typed", Store.now()) + entries.decided(text)))

    def _begin(self, record: _Record) -> str:
        session = self.session
        with self._wake:
            self._count += 1
            name = f"{session}-{self._count}"
            record.settles = True
            self._records[name] = record
            self._has_changed()
        return name

    def append(self, utterance: str, samples: Samples) -> None:
        """Keep what was heard next of it."""
        seconds = len(samples) / SAMPLE_RATE
        with self._wake:
            record = self._records.get(utterance)
            if record is None or not record.hears:
                return
            waiting_s = sum(one.sound_s for one in self._records.values())
            if waiting_s + seconds <= LONGEST_UNWRITTEN_S:
                record.sound.append(samples)
                record.sound_s += seconds
                self._has_changed()
                return
            record.hears = False  # a hole in it would make other words of what is said
        self._tell_once(_FULL)

    async def written(self) -> None:
        """Wait until all that was given is on disk; not where the disk fails, or did not answer last time."""
        with self._wake:
            if self._done >= self._given or self._failed or self._slow:
                return
            done = anyio.Event()
            self._waiters.append((self._given, done))
        with anyio.move_on_after(WRITTEN_WITHIN_S) as waiting:
            await done.wait()
        if waiting.cancelled_caught:
            self._is_slow()

    def decided(self, utterances: Sequence[str], text: str, reason: DiscardReason | None = None) -> None:
        """Take note of a message on its way, or of what is none."""
        if reason is not None and reason not in KEPT_REASONS:
            self._forget(utterances)
            return
        own = text if len(utterances) == 1 else None  # the text of all of them is in each, in part
        for name in utterances:
            self._add(name, entries.decided(own, reason), over=reason is not None)

    def accepted(self, utterances: Sequence[str]) -> None:
        """Forget what the host has, or keep it as delivered where the user wants that."""
        if not self._keep_delivered:
            self._forget(utterances)
            return
        for name in utterances:
            self._add(name, entries.ACCEPTED, over=True)

    def _add(self, name: str, lines: bytes, *, over: bool) -> None:
        with self._wake:
            record = self._records.setdefault(name, _Record(ours=False))
            if not record.forgotten:
                record.lines += lines
                record.hears, record.settles, record.over = False, True, over
                self._has_changed()

    def _forget(self, utterances: Sequence[str]) -> None:
        with self._wake:
            for name in utterances:
                self._records.setdefault(name, _Record(ours=False)).forget()
            self._has_changed()

    def _has_changed(self) -> None:
        self._given += 1
        self._wake.notify()

    # --- The thread ---------------------------------------------------------------------------------------

    def _work(self) -> None:
        store: Store | None = None
        try:
            while True:
                with self._wake:
                    upto, last = self._given, self._closing
                try:
                    if store is not None and not store.current:
                        lost, store = store, None
                        lost.close()
                    store = store or self._open()
                    self._write_all(store)
                    self._prune(store)
                except (OSError, VoiceError) as error:
                    self._has_failed(error)
                else:
                    self._is_done(upto)
                if not self._opened.is_set():
                    self._in_loop(self._opened.set)
                with self._wake:
                    if last and (self._failed or self._given == upto):
                        return
                    if self._failed:  # whatever comes meanwhile: all of it is tried each time
                        self._wake.wait_for(lambda: self._closing, RETRY_S)
                    elif not self._closing and self._given == upto:
                        self._wake.wait()
        finally:
            if store is not None:
                with suppress(OSError):
                    store.close()
            self._in_loop(self._closed.set)

    def _open(self) -> Store:
        """Open the folder, for the first time or since it was replaced by another one."""
        store = Store(self._folder)
        try:
            self._begin_session(store)
            if not self._keep_delivered:
                for entry in store.found().entries:
                    if entry.state is State.ACCEPTED:
                        store.forget(entry.id)
        except BaseException:
            store.close()
            raise
        self._pruned_at = 0.0
        with self._wake:
            for record in self._records.values():
                record.written = 0  # what the other one had of it is out of reach
        return store

    def _begin_session(self, store: Store) -> None:
        while True:
            with self._wake:
                name, named = self._session, self._named
            if store.claim(name, talks=self._talks, again=named):
                return
            with self._wake:
                if not self._named:
                    self._session = new_session()

    def _prune(self, store: Store) -> None:
        now = store.now()
        enough = self._unpruned > PRUNED_EVERY * self._bounds.largest_mb * 1e6
        if not enough and 0 <= now - self._pruned_at < PRUNED_EVERY_S:
            return
        dropped = store.prune(self._bounds)
        self._unpruned, self._pruned_at = 0, now
        if dropped:
            bounds = f"{self._bounds.longest_days:g} days, {self._bounds.largest_mb:g} MB"
            self._tell(_DROPPED.format(count=len(dropped), bounds=bounds))

    def _write_all(self, store: Store) -> None:
        """Write what there is, and go on where it fails: what is to be deleted makes room.

        Raises `OSError` and `VoiceError`, at the end.
        """
        failure: OSError | VoiceError | None = None
        with self._wake:
            batch = [(name, record) for name, record in self._records.items() if record.dirty]
        for name, record in batch:
            try:
                self._write(store, name, record)
            except (OSError, VoiceError) as error:
                failure = error
        if failure is not None:
            raise failure

    def _write(self, store: Store, name: str, record: _Record) -> None:
        with self._wake:
            lines, sound, seconds = record.lines[record.written :], list(record.sound), record.sound_s
            begins, settles = record.ours and not record.written, record.settles
            hears, forgotten = record.hears, record.forgotten
        there = not forgotten
        if forgotten:
            store.forget(name)
        else:
            if begins:
                store.begin(name, lines)
            elif lines:
                there = store.write(name, lines)
            with self._wake:
                if not record.forgotten:
                    record.written += len(lines)
            if sound and there:
                together = np.concatenate(sound)
                store.write_sound(name, together)
                self._unpruned += together.nbytes
            with self._wake:
                if not record.forgotten:
                    del record.sound[: len(sound)]
                    record.sound_s -= seconds
            if not hears:
                store.end_sound(name)
            if settles and there:
                store.settle(name)
        with self._wake:
            if record.forgotten != forgotten:
                return
            record.settles = record.settles and (record.written < len(record.lines) or bool(record.sound))
            if not record.dirty and (record.over or not there):
                del self._records[name]

    def _is_done(self, upto: int) -> None:
        with self._wake:
            self._done, self._failed, self._slow = upto, False, False
            woken = [waiter for given, waiter in self._waiters if given <= upto]
            self._waiters = [(given, waiter) for given, waiter in self._waiters if given > upto]
        self._set(woken)

    def _is_slow(self) -> None:
        with self._wake:
            self._slow = True
        self._tell_once(_SLOW)

    def _has_failed(self, error: OSError | VoiceError) -> None:
        with self._wake:
            self._failed = True
            woken, self._waiters = [waiter for _, waiter in self._waiters], []
        self._set(woken)
        why = error.sentence if isinstance(error, VoiceError) else f"{error.strerror or error}."
        self._tell_once(_FAILS.format(why=why))

    def _set(self, waiters: list[anyio.Event]) -> None:
        for waiter in waiters:
            self._in_loop(waiter.set)

    # --- Between the threads --------------------------------------------------------------------------------

    def _tell_once(self, sentence: str) -> None:
        with self._wake:
            if sentence in self._told:
                return
            self._told.add(sentence)
        self._tell(sentence)

    def _tell(self, sentence: str) -> None:
        self._in_loop(partial(self._on_notice, sentence))

    def _in_loop(self, act: Callable[[], object]) -> None:
        """Do it in the event loop's thread, if that is still there."""
        if threading.current_thread() is self._loop_thread:
            act()
            return
        with suppress(RuntimeError):
            anyio.from_thread.run_sync(act, token=self._token)


_FAILS = (
    "What you say and type cannot be kept until the agent has it: {why} The conversation goes on, and it is"
    " tried again."
)
_SLOW = "The disk does not answer, so what you say is not waited for until it is kept."
_FULL = "The disk has taken nothing for minutes: what you say now is not kept until the agent has it."
_DROPPED = "{count} of the oldest things that were kept and never sent are gone ([journal] keeps {bounds})."
