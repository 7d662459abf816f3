"""An agent of the caller's own, as it is written: an async function, a pydantic-ai `Agent`, or a host."""

from __future__ import annotations

import inspect
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, nullcontext
from typing import Any, cast

import anyio
import anyio.lowlevel

from voice.errors import HostDied, SettingsError
from voice.events import Emit
from voice.hosts.catalog import MakeHost
from voice.hosts.turns import Turns
from voice.ports import Delivery

Reply = Callable[[str], Awaitable[str | None] | AsyncIterator[str]]
"""An agent as a function: the user's message → what it writes, whole, or part by part."""


class FunctionHost:
    """A `voice.ports.Host` of an agent that is an async function, or an async generator of parts.

    It uses no tools. What is to steer it comes as its next message; what interrupts it cancels it. An
    exception of it ends the turn with a sentence; ``failed`` is told of each.
    """

    def __init__(
        self, reply: Reply, *, emit: Emit, failed: Callable[[Exception], None] = lambda _error: None
    ) -> None:
        self._reply = reply
        self._failed = failed
        self._turns = Turns(emit)
        self._open = False
        self._stopping: anyio.CancelScope | None = None

    @property
    def name(self) -> str:
        """The function's name."""
        return str(getattr(self._reply, "__name__", "the agent"))

    @property
    def busy(self) -> bool:
        """Whether it is called, or about to be."""
        return self._open and self._turns.busy

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Begin to take messages; at the end a call that goes on is cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._turns.run, self._turn)
            self._open = True
            try:
                yield
            finally:
                self._open = False
                tasks.cancel_scope.cancel()

    async def send(self, text: str, delivery: Delivery = Delivery.FOLLOW_UP) -> None:
        """Take a message. Raises `HostDied` where it is not open."""
        if not self._open:
            raise HostDied(f"{self.name} does not run, so the message was not sent.")
        if not self._turns.open or delivery is Delivery.FOLLOW_UP:
            self._turns.put(text)
        else:
            self._turns.put_first(text)
            if delivery is Delivery.INTERRUPT:
                self._stop()
        await anyio.lowlevel.checkpoint()

    async def interrupt(self) -> None:
        """Cancel the call that goes on."""
        await anyio.lowlevel.checkpoint()
        if self.busy:
            await self._turns.begun()
            self._stop()

    def _stop(self) -> None:
        if self._stopping is not None:
            self._stopping.cancel()

    async def _turn(self, text: str) -> str:
        __tracebackhide__ = True  # where a test fails by an error of its agent, that is what matters
        with anyio.CancelScope() as self._stopping:
            try:
                await self._write(self._reply(text))
            except Exception as error:
                self._failed(error)
                told = " ".join(str(error).split()) or type(error).__name__
                return f"The agent could not finish its turn: {told}"
        return ""

    async def _write(self, reply: Awaitable[str | None] | AsyncIterator[str]) -> None:
        __tracebackhide__ = True
        if isinstance(reply, AsyncIterator):
            async with aclosing(reply) if isinstance(reply, AsyncGenerator) else nullcontext():
                async for part in reply:
                    self._turns.write(_text(part))
        else:
            self._turns.write(_text(await reply or ""))


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise TypeError(f"It wrote no text but {type(given).__name__}.")
    return given


def host_maker_of(agent: Any, failed: Callable[[Exception], None] = lambda _error: None) -> MakeHost:
    """What makes the host of an agent.

    That is a pydantic-ai `Agent`; an async function from a message to a reply, or to its parts; or what makes
    a host of a session's tools, of what asks for it, and of what hears its events (`MakeHost`). ``failed`` is
    told of exceptions of such a function. Raises `SettingsError` for anything else.
    """
    library = sys.modules.get("pydantic_ai.agent")  # who has such an agent has loaded it
    if library is not None and isinstance(agent, library.AbstractAgent):
        from voice.hosts.pydantic_ai import PydanticAiHost

        return lambda tools, ask, emit: PydanticAiHost(agent, tools=tools, ask=ask, emit=emit)
    if _is_async(agent) or _is_async(getattr(agent, "__call__", None)):  # noqa: B004 - an object that is called
        return lambda _tools, _ask, emit: FunctionHost(cast("Reply", agent), emit=emit, failed=failed)
    if not callable(agent) or not _takes_three(agent):
        raise SettingsError(
            f"{agent!r} is no agent.",
            mend="give an async function (text -> reply), a pydantic-ai Agent, "
            "or a function (tools, ask, emit) -> Host",
        )
    return cast("MakeHost", agent)


def _is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def _takes_three(function: Callable[..., object]) -> bool:
    try:
        inspect.signature(function).bind(None, None, None)
    except (TypeError, ValueError):
        return False
    return True
