"""What the hosts share whose agents are acted here: neither a program nor a model stands behind them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel

from questionnaire import ToolResult, Toolset
from voice.errors import HostDied
from voice.events import Emit, HostLost, ToolCalled
from voice.hosts.turns import Turns
from voice.ports import Delivery


class ActedHost(ABC):
    """A `voice.ports.Host` that runs while it is open, or until it dies; a subclass says what a turn does."""

    name: str

    def __init__(self, tools: Toolset, emit: Emit) -> None:
        self._tools, self._emit = tools, emit
        self._turns: Turns | None = None
        """None where it does not run."""
        self._stopping = anyio.CancelScope()

    @property
    def busy(self) -> bool:
        """Whether a turn goes on, or is about to begin."""
        return self._turns is not None and self._turns.busy

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Begin to take messages."""
        self._turns = Turns(self._emit)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._turns.run, self._take)
                yield
                tasks.cancel_scope.cancel()
        finally:
            self._turns = None

    async def send(self, text: str, delivery: Delivery = Delivery.FOLLOW_UP) -> None:
        """Take a message. Raises `HostDied` where it is not open, or has died."""
        if self._turns is None:
            raise HostDied(f"{self.name.capitalize()} does not run.")
        if not self._turns.open or delivery is Delivery.FOLLOW_UP:
            self._turns.put(text)
        elif delivery is Delivery.STEER:
            self._steer(text)
        else:
            self._turns.put_first(text)
            self._stopping.cancel()

    async def interrupt(self) -> None:
        """Stop what it is at."""
        if self._turns is not None:
            await self._turns.begun()
            if self._turns.open:
                self._stopping.cancel()

    async def _take(self, text: str) -> str:
        with anyio.CancelScope() as self._stopping:
            return await self._turn(text)
        return ""

    @abstractmethod
    async def _turn(self, text: str) -> str:
        """What it does when a message comes; returns a sentence where that ends by an error, else ""."""

    @abstractmethod
    def _steer(self, text: str) -> None:
        """Take a message that belongs to the present turn."""

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool of the session's."""
        self._finish_text()
        await anyio.lowlevel.checkpoint()  # whoever speaks what was written begins with it before this
        result = await self._tools.call(name, arguments)
        self._emit(ToolCalled(name, result.text, result.is_error))
        return result

    def _write(self, text: str) -> None:
        """Write a part of a text for the user."""
        if self._turns is not None:
            self._turns.write(text)

    def _finish_text(self) -> None:
        """What was written up to here is a whole."""
        if self._turns is not None:
            self._turns.written()

    def _die(self, sentence: str) -> None:
        """End as a program ends, with a sentence for the user."""
        self._turns, turns = None, self._turns
        if turns is not None:
            turns.close()
        self._emit(HostLost(sentence))
