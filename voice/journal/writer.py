"""The journal of a session that runs: what it is told is written by a thread of its own.

What is not on disk yet is in memory, by entry, and is tried again with whatever comes next and every
`RETRY_S`: a full disk, or one that hangs, is told once, and the session goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
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
from voice.journal.store import Store, new_session
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


@dataclass
class _Unwritten:
    """What of one entry is not on disk yet."""

    lines: bytes = b""
    sound: list[Samples] = field(default_factory=list)
    ends: bool = False
    """Whether no more sound comes: then it is to outlive a crash of the machine too."""
    forgotten: bool = False

    def before(self, later: _Unwritten) -> _Unwritten:
        """What is to be written when this could not be, and that came since."""
        if later.forgotten:
            return later
        ends = self.ends or later.ends
        return _Unwritten(self.lines + later.lines, [*self.sound, *later.sound], ends, self.forgotten)

    @property
    def seconds(self) -> float:
        return sum(map(len, self.sound)) / SAMPLE_RATE


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
        self._session = ""
        self._count = 0
        self._unwritten: dict[str, _Unwritten] = {}
        self._over: set[str] = set()
        """The utterances of which no more sound is kept."""
        self._gone: set[str] = set()
        """Those that are forgotten."""
        self._unwritten_s = 0.0
        self._given = self._done = 0
        """How often something was given, and how many of these times are dealt with."""
        self._waiters: list[tuple[int, anyio.Event]] = []
        self._failed = self._slow = self._closing = False
        self._told: set[str] = set()

    async def __aenter__(self) -> Self:
        self._token, self._loop_thread = anyio.lowlevel.current_token(), threading.current_thread()
        self._opened, self._closed = anyio.Event(), anyio.Event()
        threading.Thread(target=self._work, name="journal", daemon=True).start()
        with anyio.move_on_after(PATIENCE_S):
            await self._opened.wait()
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
            self._session = self._session or new_session()  # the folder does not answer yet
            return self._session

    # --- What a session tells -----------------------------------------------------------------------------

    def begin(self, samples: Samples) -> str:
        """Begin an utterance with what was heard of it so far; returns its id."""
        return self._begin(entries.began("spoken", Store.now()), samples)

    def typed(self, text: str) -> str:
        """Keep a typed message; returns its id."""
        return self._begin(entries.began("typed", Store.now()) + entries.decided(text))

    def _begin(self, lines: bytes, samples: Samples | None = None) -> str:
        session = self.session
        with self._wake:
            self._count += 1
            name = f"{session}-{self._count}"
        with self._changed(name) as unwritten:
            unwritten.lines, unwritten.ends = lines, samples is None
        if samples is not None:
            self.append(name, samples)
        return name

    def append(self, utterance: str, samples: Samples) -> None:
        """Keep what was heard next of it."""
        seconds = len(samples) / SAMPLE_RATE
        with self._wake:
            if utterance in self._over:
                return
            full = self._unwritten_s + seconds > LONGEST_UNWRITTEN_S
            if full:
                self._over.add(utterance)  # a hole in it would make other words of what is said
        if full:
            self._tell_once(_FULL)
            return
        with self._changed(utterance) as unwritten:
            unwritten.sound.append(samples)
            self._unwritten_s += seconds

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
            with self._wake:
                self._slow = True
            self._tell_once(_SLOW)

    def decided(self, utterances: Sequence[str], text: str, reason: DiscardReason | None = None) -> None:
        """Take note of a message on its way, or of what is none."""
        if reason is not None and reason not in KEPT_REASONS:
            self._forget(utterances)
            return
        for name in utterances:
            with self._changed(name, ends=True) as unwritten:
                unwritten.lines += entries.decided(text, reason)

    def accepted(self, utterances: Sequence[str]) -> None:
        """Forget what the host has, or keep it as delivered where the user wants that."""
        if not self._keep_delivered:
            self._forget(utterances)
            return
        for name in utterances:
            with self._changed(name, ends=True) as unwritten:
                unwritten.lines += entries.ACCEPTED

    def _forget(self, utterances: Sequence[str]) -> None:
        for name in utterances:
            with self._changed(name, ends=True) as unwritten:
                self._unwritten_s -= unwritten.seconds
                unwritten.sound, unwritten.lines, unwritten.forgotten = [], b"", True
                self._gone.add(name)

    @contextmanager
    def _changed(self, name: str, *, ends: bool = False) -> Iterator[_Unwritten]:
        with self._wake:
            if name in self._gone:
                yield _Unwritten()
                return
            self._given += 1
            unwritten = self._unwritten.setdefault(name, _Unwritten())
            yield unwritten
            if ends:
                unwritten.ends = True
                self._over.add(name)
            self._wake.notify()

    # --- The thread ---------------------------------------------------------------------------------------

    def _work(self) -> None:
        store: Store | None = None
        try:
            while True:
                with self._wake:
                    upto, last = self._given, self._closing
                try:
                    store = store or self._open()
                    self._write_all(store)
                except (OSError, VoiceError) as error:
                    self._has_failed(error)
                else:
                    self._is_done(upto)
                if not self._opened.is_set():
                    self._in_loop(self._opened.set)
                with self._wake:
                    if last and (self._failed or self._given == upto):
                        return
                    if not self._closing and self._given == upto:
                        self._wake.wait(RETRY_S if self._failed else None)
        finally:
            if store is not None:
                with suppress(OSError):
                    store.close()
            self._in_loop(self._closed.set)

    def _open(self) -> Store:
        store = Store(self._folder)
        try:
            with self._wake:
                name = self._session
            name = store.begin_session(talks=self._talks, name=name)
            with self._wake:
                self._session = name
            if not self._keep_delivered:
                for entry in store.found().entries:
                    if entry.state is State.ACCEPTED:
                        store.forget(entry.id)
            self._prune(store)
        except BaseException:
            store.close()
            raise
        return store

    def _prune(self, store: Store) -> None:
        if dropped := store.prune(self._bounds):
            bounds = f"{self._bounds.longest_days:g} days, {self._bounds.largest_mb:g} MB"
            self._tell(_DROPPED.format(count=len(dropped), bounds=bounds))

    def _write_all(self, store: Store) -> None:
        """Write what there is, and go on where it fails: what is to be deleted makes room.

        Raises `OSError` and `VoiceError`, at the end.
        """
        failure: OSError | VoiceError | None = None
        with self._wake:
            batch, self._unwritten = self._unwritten, {}
        for name, unwritten in batch.items():
            seconds = unwritten.seconds
            try:
                self._write(store, name, unwritten)
            except (OSError, VoiceError) as error:
                failure = error
                with self._wake:
                    later = self._unwritten.get(name, _Unwritten())
                    self._unwritten[name] = unwritten.before(later)
                    if later.forgotten:
                        self._unwritten_s -= unwritten.seconds
            finally:
                with self._wake:
                    self._unwritten_s -= seconds - unwritten.seconds
        if failure is not None:
            raise failure

    def _write(self, store: Store, name: str, unwritten: _Unwritten) -> None:
        if unwritten.forgotten:
            store.forget(name)
            return
        store.write(name, unwritten.lines)
        unwritten.lines = b""
        if unwritten.sound:
            store.write_sound(name, np.concatenate(unwritten.sound))
            unwritten.sound = []
        if unwritten.ends:
            store.end_sound(name)
            store.settle(name)
            self._prune(store)

    def _is_done(self, upto: int) -> None:
        with self._wake:
            self._done, self._failed, self._slow = upto, False, False
            woken = [waiter for given, waiter in self._waiters if given <= upto]
            self._waiters = [(given, waiter) for given, waiter in self._waiters if given > upto]
        self._set(woken)

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
