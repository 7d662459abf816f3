"""Turns, for hosts whose agents take one message at a time: what waits, what is written, when it ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

import anyio

from voice.events import AgentEnded, AgentStarted, AssistantDelta, AssistantText, Emit
from voice.ports import Unconfirmed


class Turns:
    """The messages of one agent, and the turns that they begin, one after another.

    What the agent writes in a turn goes through `write` and `written`, so that the parts always make up the
    whole, and a blank beginning is no text.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._waiting: deque[str] = deque()
        self._urgent = 0
        """How many of those that wait go before all others."""
        self._came = anyio.Event()
        self._begun = anyio.Event()
        self._text = ""
        self._unread: str | None = None
        """The last message that has had its turn, as long as there was no sign that the agent has it."""
        self._closing = False
        self.open = False
        """Whether a turn goes on."""

    @property
    def busy(self) -> bool:
        """Whether a turn goes on, or waits to begin."""
        return self.open or bool(self._waiting)

    @property
    def unconfirmed(self) -> tuple[Unconfirmed, ...]:
        """The messages that have no turn yet, after one whose turn has begun and showed nothing of it yet."""
        waiting = tuple(Unconfirmed(text, written=False) for text in self._waiting)
        return waiting if self._unread is None else (Unconfirmed(self._unread), *waiting)

    def confirm(self) -> None:
        """The agent has the message of this turn; or its program was lost, and the message told."""
        self._unread = None

    def put(self, text: str) -> None:
        """Take a message; it begins a turn when all before it have had theirs."""
        self._waiting.append(text)
        self._came.set()

    def put_first(self, text: str) -> None:
        """Take a message that goes before those that wait, behind others of this kind."""
        self._waiting.insert(self._urgent, text)
        self._urgent += 1
        self._came.set()

    def put_back(self, *texts: str) -> None:
        """Take messages that had been taken and were not read, before all others that wait."""
        self._unread = None
        self._waiting.extendleft(reversed(texts))
        self._urgent += len(texts)
        self._came.set()

    async def begun(self) -> None:
        """Wait for the turn of a message that has come, so that it can be stopped; or until it is closed."""
        if self._waiting and not self.open:
            await self._begun.wait()

    def close(self) -> None:
        """Have `run` return when the present turn has ended; what waits is kept for the next one."""
        self._closing = True
        self._came.set()
        self._wake()

    def _wake(self) -> None:
        """Go on with those that wait for the turn to begin."""
        self._begun.set()
        self._begun = anyio.Event()

    def write(self, text: str) -> None:
        """The agent wrote a further part; nothing where no turn goes on."""
        if not self._text:
            text = text.lstrip()
        if text and self.open:
            self._text += text
            self._emit(AssistantDelta(text))

    def written(self) -> None:
        """What it wrote up to here is a whole."""
        text, self._text = self._text, ""
        if text:
            self._emit(AssistantText(text))

    async def run(self, turn: Callable[[str], Awaitable[str]]) -> None:
        """Take one turn after another until it is closed or cancelled.

        ``turn`` takes the message and returns a sentence where the turn ended by an error, else "".
        """
        try:
            while (text := await self._next()) is not None:
                await self._take(text, turn)
        finally:
            self._closing = False

    async def _next(self) -> str | None:
        """Wait for a message; None where it was closed."""
        while not self._waiting and not self._closing:
            self._came = anyio.Event()
            await self._came.wait()
        if self._closing:
            return None
        self._urgent = max(0, self._urgent - 1)
        return self._waiting.popleft()

    async def _take(self, text: str, turn: Callable[[str], Awaitable[str]]) -> None:
        error = ""
        self.open, self._unread = True, text
        self._wake()
        self._emit(AgentStarted())
        try:
            error = await turn(text)
        finally:
            self.written()
            self.open = False
            self._emit(AgentEnded(error))
