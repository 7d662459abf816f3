"""What a conversation tells about what was not delivered, and does about it when it is asked, never else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import anyio
import anyio.to_thread

from voice.errors import JournalError
from voice.events import UserMessage
from voice.journal.dates import when
from voice.journal.entries import Entry
from voice.journal.requests import USAGE, left_alone, named, not_whole, offered, read_request, told_all
from voice.journal.store import Found, Store

LOOKS_EVERY_S = 1.0
"""How soon a conversation sees that it is to send something."""

MOST_ASKED = 16
"""So many lines wait for a disk that does not answer."""

_T = TypeVar("_T")


class _Session(Protocol):
    @property
    def session(self) -> str: ...


class Offering:
    """The journal's folder, beside the conversation that has ``journal`` for its own entries.

    ``send`` takes a message that is to be sent, ``say`` lines for the person, ``notice`` a sentence.
    """

    def __init__(
        self,
        folder: Path,
        journal: _Session,
        *,
        send: Callable[[UserMessage], None],
        say: Callable[..., None],
        notice: Callable[[str], None],
    ) -> None:
        self._folder = folder
        self._journal = journal
        self._send = send
        self._say = say
        self._notice = notice
        self._told: set[str] = set()
        self._listed: tuple[Entry, ...] = ()
        """What the numbers mean that a person types."""
        self._asked: deque[str] = deque()
        self._stir = anyio.Event()
        self._runs = True

    def heed(self, words: str) -> None:
        """Do what was typed after ``/journal``; returns at once."""
        if not self._runs or len(self._asked) >= MOST_ASKED:
            self._notice("The journal does not answer.")
            return
        self._asked.append(words)
        self._stir.set()

    async def run(self) -> None:
        """Tell what is left of earlier sessions; do what is asked here and elsewhere, until cancelled."""
        try:
            await self._offer()
            while True:
                await self._send_asked()
                with anyio.move_on_after(LOOKS_EVERY_S):
                    await self._stir.wait()
                self._stir = anyio.Event()
                while self._asked:
                    await self._do(self._asked.popleft())
        finally:
            self._runs = False

    async def _offer(self) -> None:
        found = await self._tried(Store.found)
        if found is None:
            return
        self._listed = found.pending
        if found.pending:
            self._notice(offered(found.pending, _when, lines=True))
        if found.skipped:
            self._notice(left_alone(found.skipped))

    async def _do(self, words: str) -> None:
        request = read_request(words)
        if request is None:
            self._say(USAGE)
            return
        found = await self._tried(Store.found)
        if found is None:
            return
        if request.act == "list":
            self._listed = found.pending
            self._say(*told_all(found.pending, _when))
            return
        still = {entry.id for entry in found.pending}
        meant, unknown = named(request.names, self._listed or found.pending)
        for name in unknown:
            self._say(f"There is no {name} in the journal.")
        for entry in meant:
            if entry.id not in still:
                self._say(f"{entry.id} is not there any more, or on its way.")
            elif request.act == "forget":
                await self._tried(partial(_forget, name=entry.id))
                self._say(f"{entry.id} is forgotten.")
            else:
                await self._send_kept(found, entry.id)

    async def _send_asked(self) -> None:
        asked = await self._tried(Store.asked)
        if not asked:
            return
        found = await self._tried(Store.found)
        for name in sorted(asked) if found is not None else ():
            await self._send_kept(found, name)

    async def _send_kept(self, found: Found | None, name: str) -> None:
        entry = next((one for one in found.pending if one.id == name), None) if found is not None else None
        if entry is not None and not entry.whole:
            self._say(not_whole(entry))
            return
        taken = await self._tried(partial(_take, name=name, session=self._journal.session))
        if taken is not None:
            spoken = taken.kind == "spoken"
            self._send(UserMessage(taken.text, "voice" if spoken else "keyboard", 0.0, utterances=(name,)))

    def _tell_once(self, sentence: str) -> None:
        if sentence not in self._told:
            self._told.add(sentence)
            self._notice(sentence)

    async def _tried(self, act: Callable[[Store], _T]) -> _T | None:
        """Do it in a thread, since a disk may hang; None where it cannot be done, which is told."""

        def do() -> _T:
            with Store(self._folder) as store:
                return act(store)

        try:
            return await anyio.to_thread.run_sync(do, abandon_on_cancel=True)
        except JournalError as error:
            self._tell_once(error.sentence)
        except OSError as error:
            self._tell_once(f"The journal cannot be read: {error.strerror or error}.")
        return None


async def left_over(folder: Path, notice: Callable[[str], None]) -> None:
    """Tell what earlier sessions have left, where nothing can be typed."""

    def look() -> Found:
        with Store(folder) as store:
            return store.found()

    with suppress(JournalError, OSError):  # whoever writes there tells
        found = await anyio.to_thread.run_sync(look, abandon_on_cancel=True)
        if found.pending:
            notice(offered(found.pending, _when, lines=False))


def _when(entry: Entry) -> str:
    return when(entry.began_at, Store.now())


def _forget(store: Store, *, name: str) -> None:
    store.forget(name)


def _take(store: Store, *, name: str, session: str) -> Entry | None:
    return store.take(name, session)
