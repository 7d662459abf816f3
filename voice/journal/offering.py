"""What a conversation tells about what was not delivered, and does about it when it is asked, never else."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import anyio

from voice.errors import JournalError
from voice.events import UserMessage
from voice.journal.dates import when
from voice.journal.entries import Entry
from voice.journal.requests import USAGE, left_alone, named, not_whole, offered, read_request, told_all
from voice.journal.store import Store
from voice.tasks import begin_in_thread

LOOKS_EVERY_S = 1.0
"""How soon a conversation sees that it is to send something."""

MOST_ASKED = 16
"""So many lines wait for a disk that does not answer."""

ANSWERS_WITHIN_S = 5.0
"""A disk that takes longer is taken for one that hangs."""

NO_ANSWER = "The journal does not answer: its disk may hang."

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
        self._disk = _Disk(folder)
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
            self._notice(NO_ANSWER)
            return
        self._asked.append(words)
        self._stir.set()

    async def run(self) -> None:
        """Tell what is left of earlier sessions; do what is asked here and elsewhere, until cancelled."""
        told = False
        try:
            while True:
                told = told or await self._offer()
                await self._send_asked()
                with anyio.move_on_after(LOOKS_EVERY_S):
                    await self._stir.wait()
                self._stir = anyio.Event()
                while self._asked:
                    await self._do(self._asked.popleft())
        finally:
            self._runs = False

    async def _offer(self) -> bool:
        try:
            found, asked = await self._disk.does(lambda store: (store.found(), store.asked()))
        except JournalError as error:
            self._tell_once(error.sentence)
            return False
        pending = found.pending_beside(self._journal.session)
        self._listed = tuple(entry for entry in pending if entry.id not in asked)  # those are sent now
        if self._listed:
            self._notice(offered(self._listed, _when, lines=True))
        if found.skipped:
            self._notice(left_alone(found.skipped))
        return True

    async def _do(self, words: str) -> None:
        request = read_request(words)
        if request is None:
            self._say(USAGE)
            return
        try:
            found = await self._disk.does(Store.found)
            pending = found.pending_beside(self._journal.session)
            if request.act == "list":
                self._listed = pending
                self._say(*told_all(pending, _when))
                return
            still = {entry.id for entry in pending}
            meant, unknown = named(request.names, self._listed or pending)
            for name in unknown:
                self._say(f"There is no {name} in the journal.")
            for entry in meant:
                if entry.id not in still or not await self._done(request.act, entry.id):
                    self._say(f"{entry.id} is not there any more, or on its way.")
        except JournalError as error:
            self._notice(error.sentence)  # each time: they have asked

    async def _done(self, act: str, name: str) -> bool:
        if act == "send":
            return await self._sent(name)
        await self._disk.does(partial(Store.forget, name=name))
        self._say(f"{name} is forgotten.")
        return True

    async def _send_asked(self) -> None:
        try:
            for name in await self._disk.does(Store.asked):
                await self._sent(name)
        except JournalError as error:
            self._tell_once(error.sentence)

    async def _sent(self, name: str) -> bool:
        """Send an entry that is whole; False where it is not to be had any more."""
        entry = await self._disk.does(partial(Store.take, name=name, session=self._journal.session))
        if entry is None:
            return False
        if entry.whole:
            source: Literal["voice", "keyboard"] = "voice" if entry.kind == "spoken" else "keyboard"
            self._send(UserMessage(entry.text, source, 0.0, utterances=(name,)))
        else:
            self._say(not_whole(entry))
        return True

    def _tell_once(self, sentence: str) -> None:
        if sentence not in self._told:
            self._told.add(sentence)
            self._notice(sentence)


async def left_over(folder: Path, notice: Callable[[str], None]) -> None:
    """Tell what earlier sessions have left, where nothing can be typed."""
    try:
        found = await _Disk(folder).does(Store.found)
    except JournalError as error:
        notice(error.sentence)
        return
    if found.pending:
        notice(offered(found.pending, _when, lines=False))


class _Disk:
    """A folder on a disk that may hang: then it is left at that, and tried again when it goes on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._doing: Future[Any] | None = None

    async def does(self, act: Callable[[Store], _T]) -> _T:
        """Do it in a thread that nothing waits for; raises `JournalError` where it cannot be done."""

        def do() -> _T:
            with Store(self._folder) as store:
                return act(store)

        if self._doing is not None and not self._doing.done():
            raise JournalError(NO_ANSWER)
        self._doing = doing = begin_in_thread(do)
        try:
            with anyio.fail_after(ANSWERS_WITHIN_S):
                return await asyncio.wrap_future(doing)
        except TimeoutError:
            raise JournalError(NO_ANSWER) from None
        except OSError as error:
            raise JournalError(f"The journal cannot be used: {error.strerror or error}.") from None


def _when(entry: Entry) -> str:
    return when(entry.began_at, Store.now())
