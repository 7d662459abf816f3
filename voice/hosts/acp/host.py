"""An agent that speaks the Agent Client Protocol, as the session's host."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from questionnaire import AdjustableToolset, FormReply, answer_form
from voice.errors import HostDied, HostError, SettingsError
from voice.events import Emit, HostLost, Notice, ToolCalled
from voice.hosts.acp.connection import Connection
from voice.hosts.acp.offered import SERVER, offered
from voice.hosts.acp.program import Program, running
from voice.hosts.acp.requests import Permission
from voice.hosts.catalog import Ask
from voice.hosts.turns import Turns
from voice.ports import Delivery, Unconfirmed
from voice.tasks import lone_errors

STARTS_WITHIN_S = 60.0
"""How long an agent may take to start: some are fetched from a registry first."""

_TOLD_AFTER_S = 5.0
"""When a person is told that it still starts."""

STOPS_WITHIN_S = 10.0
"""How long an agent may take to stop when it is told to; then it hangs, and is ended."""

_ENDS_WITHIN_S = 3.0
"""How long a program that takes nothing any more has to end, which says more of it."""

_TOLD_AGAIN_S = 1.0
"""Agents that are told to stop before they have begun forget it; so they are told again."""

_FETCHERS = {"npx", "bunx", "pnpx", "uvx"}
_INTERPRETERS = ("node", "bun", "deno", "python")

_PLAIN = "\u200b"
"""A zero-width space: adapters take what begins with a slash for a command of theirs, and strip blanks."""


class AcpHost:
    """A conversation with any agent that speaks the protocol, through the program that ``command`` starts.

    One prompt at a time: what steers cancels the agent's turn and is the next prompt. The session's tools are
    offered as an MCP server; what the agent asks by itself (permissions, forms) goes through ``ask``.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        tools: AdjustableToolset,
        ask: Ask,
        emit: Emit,
        env: Mapping[str, str] | None = None,
        starts_within_s: float = STARTS_WITHIN_S,
        stops_within_s: float = STOPS_WITHIN_S,
    ) -> None:
        self._command = tuple(command)
        self._tools = tools
        self._ask = ask
        self._emit = emit
        self._env = env
        self._starts_within_s = starts_within_s
        self._stops_within_s = stops_within_s
        self._turns = Turns(emit)
        self._connection: Connection | None = None
        self._name = _name_of(self._command)
        self._stop = anyio.Event()
        self._lost = anyio.Event()
        self._loss = ""

    @property
    def name(self) -> str:
        """What the agent calls itself; before it was opened, its program."""
        return self._name

    @property
    def busy(self) -> bool:
        """Whether a turn goes on, or waits to begin."""
        return self._connection is not None and self._turns.busy

    @property
    def unconfirmed(self) -> tuple[Unconfirmed, ...]:
        """The message that the agent has answered in no way yet, and those that it is to get after that."""
        return self._turns.unconfirmed

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Start the program and a session in the working folder; at the end the program is ended.

        Raises `HostError` where that cannot be done. Messages that were accepted and not read when an earlier
        program ended are the first of this one.
        """
        self._lost, self._loss = anyio.Event(), ""
        self._turns.confirm()  # what an earlier program died with was told
        with lone_errors():
            async with (
                offered(self._tools, self._emit) as server,
                running(self._command, self._complain, self._env) as program,
                self._session(program, server),
            ):
                yield

    @asynccontextmanager
    async def _session(self, program: Program, server: Sequence[str]) -> AsyncGenerator[None]:
        connection = Connection(program, self)
        try:
            async with anyio.create_task_group() as starting:
                starting.start_soon(self._tell_that_it_starts)
                await connection.start(str(Path.cwd()), [(SERVER, server)], self._starts_within_s)
                starting.cancel_scope.cancel()
            self._name = connection.agent_name
            async with anyio.create_task_group() as tasks:
                self._connection = connection
                tasks.start_soon(self._live, connection)
                try:
                    yield
                finally:
                    self._connection = None
                    tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await connection.close()

    async def _tell_that_it_starts(self) -> None:
        await anyio.sleep(_TOLD_AFTER_S)
        self._emit(Notice(f"Waiting for {self.name} to start, for {self._starts_within_s:.0f} s at most."))

    async def send(self, text: str, delivery: Delivery = Delivery.FOLLOW_UP) -> None:
        """Take a message; both what steers and what interrupts cancels the present turn.

        Raises `HostError` where the program does not run.
        """
        await anyio.lowlevel.checkpoint()
        if self._connection is None:
            raise HostDied(f"{self.name} is not running, so the message was not sent.")
        if delivery is Delivery.FOLLOW_UP or not self._turns.open:
            self._turns.put(text)
        else:
            self._turns.put_first(text)
            self._stop.set()

    async def interrupt(self) -> None:
        """Cancel the present turn, and take back what the agent asks in it."""
        await anyio.lowlevel.checkpoint()
        if self.busy:
            await self._turns.begun()
            self._stop.set()

    async def _live(self, connection: Connection) -> None:
        """Take turns until the program ends or is given up."""
        async with anyio.create_task_group() as watching:
            watching.start_soon(self._watch, connection)
            async with anyio.create_task_group() as turning:
                turning.start_soon(self._turns.run, self._turn)
                await self._lost.wait()
                if not connection.closed:
                    await connection.close()  # what waits for an answer gets none, and the turn ends
            watching.cancel_scope.cancel()
        self._emit(HostLost(self._loss))

    async def _watch(self, connection: Connection) -> None:
        self._lose(await connection.ended())

    def _lose(self, sentence: str) -> None:
        if not self._lost.is_set():
            self._loss = sentence
            self._connection = None
            self._turns.close()
            self._lost.set()

    async def _turn(self, text: str) -> str:
        connection = self._connection
        if (
            connection is None or connection.closed
        ):  # it was accepted, and is the first that the next one gets
            self._turns.put_back(text)
            await self._lost.wait()
            return ""
        self._stop = anyio.Event()
        plain = f"{_PLAIN}{text}" if text.lstrip().startswith("/") else text
        error = ""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._stop_when_told, connection)
            try:
                error = await connection.prompt(plain)
                self._turns.confirm()
            except HostDied as died:  # what is told of that is how it ended, once
                with anyio.move_on_after(_ENDS_WITHIN_S):
                    await self._lost.wait()
                self._lose(died.sentence)
            tasks.cancel_scope.cancel()
        return "" if self._lost.is_set() else error  # why it was given up is told by itself

    async def _stop_when_told(self, connection: Connection) -> None:
        await self._stop.wait()
        with anyio.move_on_after(self._stops_within_s):
            while True:
                try:
                    await connection.cancel()
                except HostError:
                    return
                await anyio.sleep(_TOLD_AGAIN_S)
        self._lose(f"{self.name} did not stop within {self._stops_within_s:.0f} s, so it was ended.")

    def _complain(self, sentence: str) -> None:
        self._emit(Notice(sentence))

    # What the connection hears and asks.

    def works(self) -> None:
        """The agent is at work on what it was given."""
        self._turns.confirm()

    def wrote(self, text: str) -> None:
        """A further part; what comes outside of a turn is no answer to anybody."""
        self._turns.write(text)

    def paused(self) -> None:
        """A message is whole."""
        self._turns.written()

    def remarked(self, text: str) -> None:
        """An adapter's own words are shown, and not spoken."""
        self._emit(Notice(" ".join(text.split())))

    def called(self, name: str, text: str, is_error: bool) -> None:
        """A tool of the agent's; those of the session tell of themselves."""
        if not (SERVER in name and any(tool.name in name for tool in self._tools.inner.tools())):
            self._emit(ToolCalled(name, text, is_error))

    async def allow(self, permission: Permission) -> str | None:
        """Put a request for permission to the person."""
        return permission.chosen(await self._ask(permission.questionnaire(self.name)))

    async def fill_in(self, message: str, schema: Mapping[str, Any]) -> FormReply:
        """Put a form to the person."""
        return await answer_form(message, schema, self._ask)


def _name_of(command: Sequence[str]) -> str:
    """What to call an agent that has not told its name yet: its program, or the package that is fetched."""
    program = Path(command[0]).name
    if program in _FETCHERS:
        packages = [part for part in command[1:] if not part.startswith("-")]
        return packages[0].rpartition("/")[2].partition("@")[0] if packages else "the ACP agent"
    return "the ACP agent" if program.startswith(_INTERPRETERS) else program


def make_host(arguments: Sequence[str], *, tools: AdjustableToolset, ask: Ask, emit: Emit) -> AcpHost:
    """The host of ``voice chat --agent acp -- COMMAND …``.

    Raises `SettingsError` where there is no command.
    """
    if not arguments:
        raise SettingsError(
            "Which ACP agent is it?", mend="-- and the command that starts it, such as -- pi-acp"
        )
    return AcpHost(arguments, tools=tools, ask=ask, emit=emit)
