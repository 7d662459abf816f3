"""Pi as a host: a child process that speaks RPC, with the bridge extension in it.

What Pi writes and does comes over its standard output, in order; the tools, and what has to expand no
command, go over the bridge.
"""

from __future__ import annotations

import logging
import os
import signal
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread
from anyio.abc import Process, TaskGroup

from questionnaire import AdjustableToolset, Mirrors
from voice.errors import HostDied, HostError
from voice.events import Emit, Event, Notice
from voice.hosts.catalog import Ask
from voice.hosts.pi.arguments import read_arguments
from voice.hosts.pi.bridge import EXTENSION, Bridge
from voice.hosts.pi.meeting import ENVIRONMENT
from voice.hosts.pi.program import Pi, find_pi
from voice.hosts.pi.requests import DIALOGS, QUIET, Request, read_request
from voice.hosts.pi.rpc import LastWords, Rpc
from voice.hosts.pi.turns import Turns
from voice.ports import Delivery, Unconfirmed
from voice.tasks import lone_errors, send_signal

_log = logging.getLogger(__name__)

_STARTS_WITHIN_S = 60.0
_BRIDGE_WITHIN_S = 10.0
_STOPS_WITHIN_S = 10.0
_ENDS_WITHIN_S = 3.0
_LOOK_AGAIN_S = 0.02

_BEHAVIOURS: Mapping[Delivery, Any] = {
    Delivery.FOLLOW_UP: "followUp",
    Delivery.STEER: "steer",
    Delivery.INTERRUPT: "steer",  # of whatever goes on after the interruption
}


class PiHost:
    """A `voice.ports.Host` for `pi --mode rpc`.

    ``arguments`` are Pi's own: a model, a session to go on with. Messages among them, which Pi does not read
    when it is run so, are its `first_messages`, for whoever opens it to send. ``mirrors`` are for Pi's other
    extensions. ``environment`` is what Pi runs in, by default ours. A Pi that gives no sign of life for
    ``patience_s`` when asked is taken for hung. Raises `SettingsError` for arguments with which Pi would not
    talk.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        tools: AdjustableToolset,
        ask: Ask,
        emit: Emit,
        mirrors: Mirrors | None = None,
        environment: Mapping[str, str] | None = None,
        patience_s: float = 30.0,
    ) -> None:
        self._arguments, self.first_messages = read_arguments(arguments)
        self._tools = tools
        self.mirrors = mirrors
        self._ask = ask
        self._emit = emit
        self._environment = environment
        self._patience_s = patience_s
        self._run: _Run | None = None
        self._unread: list[str] = []
        """What Pi was given and has not told that its agent reads."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        return "Pi"

    @property
    def busy(self) -> bool:
        """Whether Pi is at work on a turn."""
        return self._run is not None and self._run.turns.busy

    @property
    def unconfirmed(self) -> tuple[Unconfirmed, ...]:
        """What Pi was given, in whatever queue of its own, and has not told that its agent reads."""
        return tuple(Unconfirmed(text) for text in self._unread)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Start Pi, and end it on leaving.

        Raises `HostMissing` where there is no Pi that can be used, `HostError` where it does not start.
        """
        self._unread.clear()
        environment = dict(os.environ if self._environment is None else self._environment)
        pi = await to_thread.run_sync(find_pi, environment)
        bridge = Bridge(self._tools, refused=self._refused, mirrors=self.mirrors)
        with lone_errors(), tempfile.TemporaryDirectory(prefix="viva-voce-") as folder:
            async with bridge.serve(Path(folder)):
                environment[ENVIRONMENT] = folder
                command = [pi.path, "--mode", "rpc", "-e", str(EXTENSION), *self._arguments]
                try:
                    # A group of its own: Ctrl-C at the terminal is for us, who interrupt what it is at.
                    process = await anyio.open_process(command, env=environment, start_new_session=True)
                except OSError as error:
                    raise HostError(f"{pi.path} cannot be started: {error.strerror or error}.") from error
                async with _ended(process), anyio.create_task_group() as tasks:
                    self._run = run = _Run(
                        pi, process, bridge, self._ask, self._emit, tasks, self._patience_s, self._unread
                    )
                    try:
                        await run.start()
                        yield
                    finally:
                        self._run = None
                        run.leave()
                        tasks.cancel_scope.cancel()

    async def send(self, text: str, delivery: Delivery = Delivery.FOLLOW_UP) -> None:
        """Hand over one user message; Pi has accepted it when this returns. Raises `HostError` where not."""
        run = self._alive()
        if delivery is Delivery.INTERRUPT:
            await run.interrupt()
        await run.send(text, _BEHAVIOURS[delivery])

    async def interrupt(self) -> None:
        """Have Pi stop what it is at. Raises `HostError` where it does not."""
        if self._run is not None and not self._run.lost:
            await self._run.interrupt()

    async def command(self, kind: str, **fields: Any) -> Any:
        """Give Pi a command of its RPC, and return the data of the response. Raises `HostError`."""
        return await self._alive().rpc.command(kind, **fields)

    def _refused(self, key: str, text: str | None) -> None:
        if self._run is not None:
            self._run.refused(key, text)

    def _alive(self) -> _Run:
        if self._run is None:
            raise HostError("Pi has not been started.")
        if self._run.lost:
            raise HostDied("Pi has ended.")
        return self._run


class _Run:
    """One process of Pi's, from its start to its end."""

    def __init__(
        self,
        pi: Pi,
        process: Process,
        bridge: Bridge,
        ask: Ask,
        emit: Emit,
        tasks: TaskGroup,
        patience_s: float,
        unread: list[str],
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._pi = pi
        self._process = process
        self._bridge = bridge
        self._ask = ask
        self._emit = emit
        self._tasks = tasks
        self._patience_s = patience_s
        self._unread = unread
        self._in_flight: list[str] = []
        """Those that Pi has not answered yet: what it tells is of those before them."""
        self._last_words = LastWords()
        self._left = False
        self._running_tools: set[str] = set()
        self._dialogs: dict[str, anyio.CancelScope] = {}
        self._retrying = self._queued = False
        self._runs = 0
        self._starting = False
        self.turns = Turns(bridge.ours)
        self.rpc = Rpc(process.stdout, process.stdin, self._hear, lambda fault: self._tell(Notice(fault)))
        self.lost = False

    async def start(self) -> None:
        """Return when Pi takes commands and its bridge has been met. Raises `HostError` where it does not."""
        assert self._process.stderr is not None
        self._tasks.start_soon(self._listen)
        self._tasks.start_soon(self._last_words.listen, self._process.stderr)
        self._starting = True
        try:
            with anyio.fail_after(_STARTS_WITHIN_S):
                await self.rpc.command("get_state")
        except TimeoutError:
            raise HostError(f"Pi did not start within {_STARTS_WITHIN_S:.0f} s.") from None
        except HostDied:
            await self._process.wait()
            await anyio.sleep(0.05)  # for its last words
            raise HostError(f"Pi does not start: {self._last_words or 'it does not say why'}") from None
        with anyio.move_on_after(_BRIDGE_WITHIN_S):
            while not self._bridge.connected:
                await self._bridge.changed()
        if not self._bridge.connected:
            raise HostError(f"Pi did not load the bridge {EXTENSION}. {self._last_words}".strip())
        await self._bridge.settled()
        self._tell(*self._bridge.faults())
        self._starting = False
        self._tasks.start_soon(self._watch)

    def leave(self) -> None:
        """End the turn, and tell nothing any more: Pi is being ended."""
        self._tell(*self.turns.settled())
        self._left = True

    async def send(self, text: str, behaviour: Any) -> None:
        """Have Pi take a message."""
        await self._bridge.settled()  # so that it meets the tools that are to be there
        idle, begun = not self.turns.busy, self.turns.count
        spoken = text.startswith("/")  # as a prompt it would be expanded
        if self.rpc.gone or (spoken and not self._bridge.connected):
            raise HostDied("Pi is not there to take a message.")
        self._unread.append(text)
        self._in_flight.append(text)
        try:
            if spoken:
                await self._bridge.say(text, behaviour)
                data = None
            else:
                data = await self.rpc.command(
                    "prompt",
                    on_answer=partial(self._in_flight.remove, text),
                    message=text,
                    streamingBehavior=behaviour,
                )
        except HostDied:
            raise
        except HostError:
            if self._bridge.connected:  # else Pi may have ended, which is seen there first
                self._read(text)
            raise
        finally:
            with suppress(ValueError):  # it was answered
                self._in_flight.remove(text)
        handled = isinstance(data, Mapping) and data.get("disposition") == "handled"
        if handled:
            self._read(text)
        if idle and not handled and self.turns.count == begun:  # it may be over by now
            self._tell(*self.turns.started())
            if data is None and not spoken:  # an old Pi does not tell whether a run begins with it
                self._tasks.start_soon(self._look)

    def _read(self, text: str) -> None:
        """A message that was given to Pi is no agent's to read."""
        with suppress(ValueError):  # Pi may have settled meanwhile
            self._unread.remove(text)

    async def interrupt(self) -> None:
        """Have Pi stop; it waits for its dialogs, so those are dismissed first."""
        if not self.turns.busy:
            return
        self._dismiss()
        with anyio.move_on_after(_STOPS_WITHIN_S) as waiting:
            await self.rpc.command("abort")
        if waiting.cancelled_caught:
            raise HostError("Pi does not stop what it is at.")

    def refused(self, key: str, text: str | None) -> None:
        """The model reads this of a call that Pi itself refuses."""
        self._tell(*self.turns.refused(key, text))

    # --- What Pi says -------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        await self.rpc.listen()
        if not self._starting:
            await self._lose()

    def _hear(self, line: Mapping[str, Any]) -> None:
        kind = line["type"]
        if kind == "extension_ui_request":
            self._requested(line)
            return
        if kind == "extension_error":
            self._tell(Notice(f"An extension of Pi failed: {line.get('error')}"))
        elif kind == "tool_execution_start":
            self._running_tools.add(str(line.get("toolCallId")))
        elif kind == "tool_execution_end":
            self._running_tools.discard(str(line.get("toolCallId")))
            if not self._running_tools:
                self._withdraw()
        elif kind == "queue_update":
            self._queued = bool(line.get("steering") or line.get("followUp"))
        elif kind == "agent_settled":
            if self._queued and self._go_on():
                return
            self._unread[:] = self._in_flight
        elif kind == "message_end" and self._unread and _is_of_user(line):
            del self._unread[0]
        elif kind == "agent_end":
            self._running_tools.clear()
            self._withdraw()
        if not self._pi.tells_settled:
            self._follow_old(kind, line)
        self._tell(*self.turns.take(line))

    def _follow_old(self, kind: str, line: Mapping[str, Any]) -> None:
        """Work out when a Pi has settled that does not tell."""
        if kind == "agent_start":
            self._runs += 1
        if kind == "auto_retry_start":
            self._retrying = True
        elif kind == "agent_start" or (kind == "auto_retry_end" and line.get("success") is not True):
            self._retrying = False
        if kind in ("agent_end", "auto_retry_end"):
            self._tasks.start_soon(self._look)

    async def _look(self) -> None:
        """Look until Pi is idle; what was queued at the last moment makes it go on."""
        while self.turns.busy and not self._retrying:
            runs = self._runs
            with suppress(HostError):
                state = await self.rpc.command("get_state")
                if self._runs != runs:  # what it told of itself was true before this run
                    continue
                if not (state.get("isStreaming") or state.get("isCompacting") or self._retrying):
                    if not state.get("pendingMessageCount"):
                        self._unread[:] = self._in_flight
                        self._tell(*self.turns.settled())
                        return
                    self._go_on()
            if self.lost:
                return
            await anyio.sleep(_LOOK_AGAIN_S)

    def _go_on(self) -> bool:
        """Have Pi read what was queued, and not only with the next message; false where that cannot be."""
        return self._bridge.put({"type": "go_on"})

    # --- Dialogs ------------------------------------------------------------------------------------------

    def _requested(self, line: Mapping[str, Any]) -> None:
        method = line.get("method")
        if method == "notify":
            self._tell(Notice(str(line.get("message"))))
        elif method in QUIET:
            return
        elif (request := read_request(line)) is not None:
            if request.id not in self._dialogs:
                self._tasks.start_soon(self._answer, request)
        elif isinstance(line.get("id"), str):
            if method not in DIALOGS:
                self._tell(Notice(f"An extension of Pi asked for {method}, which is not known here."))
            self._tasks.start_soon(
                self._respond, {"type": "extension_ui_response", "id": line["id"], "cancelled": True}
            )

    async def _answer(self, request: Request) -> None:
        with anyio.CancelScope() as scope:
            self._dialogs[request.id] = scope
            outcome = None
            try:
                with anyio.move_on_after(request.within_s):
                    outcome = await self._ask(request.questionnaire)
            finally:
                del self._dialogs[request.id]
            await self._respond(request.response(outcome))
        if scope.cancelled_caught:
            # Where Pi still waits, it is told; where its tool has ended, it knows no such dialog any more.
            await self._respond(request.response(None))

    async def _respond(self, response: Mapping[str, Any]) -> None:
        with suppress(HostDied):
            await self.rpc.write(response)

    def _dismiss(self) -> None:
        for scope in tuple(self._dialogs.values()):
            scope.cancel()

    _withdraw = _dismiss
    """Pi closes a dialog without a word when its tool ends: then nobody waits for an answer."""

    # --- Its end ------------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        """See that a Pi that is at work, or was asked something, lives."""
        while not self.lost:
            heard = self.rpc.heard
            await anyio.sleep(self._patience_s)
            if self.lost or self.rpc.heard != heard or not (self.turns.busy or self.rpc.waiting):
                continue
            with anyio.move_on_after(self._patience_s) as waiting, suppress(HostError):
                await self.rpc.command("get_state")
            if waiting.cancelled_caught and not self.lost:
                _kill(self._process)
                await self._lose("Pi gives no sign of life any more.")

    async def _lose(self, sentence: str = "") -> None:
        if self.lost or self._left:
            return
        self.lost = True
        self._dismiss()
        with anyio.move_on_after(_ENDS_WITHIN_S):
            await self._process.wait()
            await anyio.sleep(0.02)  # for its last words
        if not sentence:
            said = str(self._last_words)
            sentence = "Pi has ended" + (f": {said}" if said else f" (exit code {self._process.returncode}).")
        self._tell(*self.turns.lost(sentence))

    def _tell(self, *events: Event) -> None:
        if not self._left:
            for event in events:
                self._emit(event)


def _is_of_user(line: Mapping[str, Any]) -> bool:
    """Whether Pi tells of a message that its agent reads now: it was the user's, and may have waited."""
    message = line.get("message")
    return isinstance(message, Mapping) and message.get("role") == "user"


@asynccontextmanager
async def _ended(process: Process) -> AsyncGenerator[None]:
    """End the process, in order if it does as it is told, and at once if not."""
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                assert process.stdin is not None
                await process.stdin.aclose()
            send_signal(process, signal.SIGTERM)
            with anyio.move_on_after(_ENDS_WITHIN_S):
                await process.wait()
            if process.returncode is None:
                _kill(process)
                await process.wait()
            await process.aclose()


def _kill(process: Process) -> None:
    """End it and what it has started in its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
