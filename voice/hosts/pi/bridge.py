"""The Python side of the bridge extension: the tools of a session, for one Pi at a time.

One JSON object a line. The bridge says

    hello {version, token, pid, mode, busy}       first of all; without the right token nothing more is read
    active {names, hidden, n?}                    which tools are active now; n is that of a line obeyed
    call {id, name, arguments}, abort {id}        of a tool of ours
    refusal {n, id?, name, arguments}             what does a call of this tool get that is withheld? With its
                                                  id, Pi itself will say no more than that there is none
    settled? {n}                                  has all been said of the active set?
    said {n, error?}                              what became of a message
    event {event}                                 of the session, where it was asked to relay them
    respond {requestId, questionIndex, response}  another extension answers a question
    canvas.… {id}, dialog {id}                    of Pi's own screen

and hears

    welcome {tools, withheld, relay}
    set {n, base, names, hidden}, withheld {n, names}
    result {id, text, details, isError}, reply {n, text?}
    say {n, text, deliverAs}, stop, go_on
    emit {name, data, answerable}
    canvas.open {id}, canvas.draw {id, n, columns, lines}, canvas.close {id}
    dialog.open {id, method, title, …}, dialog.close {id}
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from socket import SHUT_RDWR
from typing import Any, Literal

import anyio
from anyio.abc import SocketAttribute, SocketStream, TaskGroup

from questionnaire import (
    AdjustableToolset,
    Event,
    LineSplitter,
    Mirrors,
    ToolResult,
    ToolSurface,
    tool_call_id,
)
from voice.errors import HostDied, HostError
from voice.events import Notice
from voice.hosts.pi.meeting import MeetingPlace
from voice.hosts.pi.schemas import described

_log = logging.getLogger(__name__)

EXTENSION = Path(__file__).with_name("bridge.ts")
"""The extension of Pi's: `pi -e` takes it."""

VERSION = 1
"""Of these lines; a Pi that has run since before an upgrade may have another."""

_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)
_HELLO_WITHIN_S = 5.0
_SAID_WITHIN_S = 10.0
_SET_WITHIN_S = 2.0
_LEAVES_WITHIN_S = 1.0
"""So long a Pi that reloads its extensions may take to hang up on the old connection."""

_COMES_BACK_WITHIN_S = 1.0
"""So long its place is kept for a Pi that hung up: it may only have begun another session."""

_LONGEST_BYTES = 2**26
_BEHIND = 10_000
"""How many lines a Pi may leave unread before it is let go."""

Hear = Callable[[Mapping[str, Any] | None], None]
"""Takes what comes for one canvas or dialog; None says that Pi is gone."""


class Bridge:
    """The tools of a session, for the Pi at the other end, if there is one.

    ``relay`` gets the events of Pi's session, where they are not heard in another way. ``refused`` gets the
    id of a call that Pi itself refuses, and what the model reads of it, None where that is what Pi says.
    ``mirrors`` are told to Pi's other extensions, which may answer.
    """

    _surface: ToolSurface

    def __init__(
        self,
        tools: AdjustableToolset,
        *,
        relay: Callable[[Mapping[str, Any]], None] | None = None,
        refused: Callable[[str, str | None], None] | None = None,
        mirrors: Mirrors | None = None,
    ) -> None:
        self._tools = tools
        self._relay = relay
        self._refused = refused
        self.mirrors = mirrors
        self._link: _Link | None = None
        self._pid: object = None
        self._kept_until_s = 0.0
        self._told_of_version = False
        self._changed = anyio.Event()
        self._base: tuple[str, ...] = ()
        self._active: frozenset[str] | None = None
        """What Pi said last is active, or was taken out by us; None where it has said nothing yet."""
        self._count = self._obeyed = 0
        self._saying: dict[int, _Saying] = {}
        self._numbers = count(1)
        self._channels: dict[str, Hear] = {}

    @property
    def connected(self) -> bool:
        """Whether a Pi is there."""
        return self._link is not None

    @property
    def working(self) -> bool:
        """Whether the Pi that is there was at work when it came."""
        return self._link is not None and self._link.working

    @property
    def ours(self) -> frozenset[str]:
        """The names of our tools, those that are withheld as well."""
        return frozenset(tool.name for tool in self._tools.inner.tools())

    def faults(self) -> list[Notice]:
        """What the user is to know of the set that is active: that none of our tools is in it."""
        if self._active is None or self.ours & self._active:
            return []
        names = ", ".join(sorted(self.ours))
        return [Notice(f"Pi has none of the tools {names}: --tools or --no-tools may leave them out.")]

    @property
    def mode(self) -> str:
        """Of the Pi that is there: "tui" where it has a terminal of its own, "rpc" where it has none."""
        return self._link.mode if self._link else ""

    async def changed(self) -> None:
        """Return when a Pi has come, has gone, or has done what it was told."""
        await self._changed.wait()

    @asynccontextmanager
    async def serve(self, folder: Path) -> AsyncGenerator[None]:
        """Let Pi find us in this folder.

        Raises `HostError` where that cannot be. When it is left, what was withheld is active again.
        """
        place = MeetingPlace(folder)
        async with place.open() as listener:
            with ExitStack() as life:
                # First what is to be refused, then what is to be hidden: a call in between is ours to refuse.
                life.callback(self._tools.on_change(lambda _: self._tell_withheld()))
                self._surface = life.enter_context(ToolSurface(self._tools, self._set))
                if self.mirrors is not None:
                    # Whether any extension there would answer is not known: nothing is asked for its sake.
                    life.enter_context(self.mirrors.listen(self._emit, answers=False))
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(listener.serve, lambda stream: self._meet(place, stream))
                    try:
                        yield
                    finally:
                        await self._hang_up()
                        tasks.cancel_scope.cancel()

    async def settled(self) -> None:
        """Wait until Pi has the active set that it is to have; not for long."""
        with anyio.move_on_after(_SET_WITHIN_S):
            while self._link is not None and self._obeyed < self._count:
                await self._changed.wait()

    async def answers(self, within_s: float) -> bool:
        """Whether the Pi that is there does within this time what it was told.

        One that has done all of it is told once more what is withheld.
        """
        if self._obeyed >= self._count:
            self._tell_withheld()
        number = self._count
        with anyio.move_on_after(within_s):
            while self._link is not None and self._obeyed < number:
                await self._changed.wait()
            return True
        return False

    async def say(self, text: str, deliver_as: Literal["steer", "followUp"]) -> None:
        """Have Pi take a message, in which no command is expanded; raises `HostError` where it does not."""
        saying, number = _Saying(), next(self._numbers)
        self._saying[number] = saying
        try:
            if not self.put({"type": "say", "n": number, "text": text, "deliverAs": deliver_as}):
                raise HostDied("Pi is not there to take a message.")
            with anyio.move_on_after(_SAID_WITHIN_S):
                await saying.done.wait()
        finally:
            del self._saying[number]
        if saying.error is not None:
            raise HostError(saying.error)

    def put(self, message: Mapping[str, Any]) -> bool:
        """Send a line to Pi, and return whether there is one."""
        return self._link is not None and self._link.put(message)

    def hear_with(self, key: str, hear: Hear | None) -> None:
        """Have ``hear`` called with what comes for the canvas or the dialog of this name; None ends that."""
        if hear is None:
            self._channels.pop(key, None)
        else:
            self._channels[key] = hear

    # --- The active set -----------------------------------------------------------------------------------

    def _set(self, names: tuple[str, ...]) -> None:
        self._count += 1
        hidden = list(self._surface.hidden)
        told = {"type": "set", "n": self._count, "base": self._base, "names": names, "hidden": hidden}
        self._base = names
        self.put(told)

    def _tell_withheld(self) -> None:
        self._count += 1
        self.put({"type": "withheld", "n": self._count, "names": self._surface.withheld})

    def _is_active(self, said: Mapping[str, Any]) -> None:
        names, hidden = (tuple(map(str, said.get(field) or ())) for field in ("names", "hidden"))
        self._active = frozenset((*names, *hidden))
        number = said.get("n")
        if isinstance(number, int):
            self._obeyed = max(self._obeyed, number)
        if self._obeyed >= self._count:  # what it says before that is about to be another set
            self._base = names
            self._surface.seen(names, hidden)

    # --- What Pi says -------------------------------------------------------------------------------------

    async def _meet(self, place: MeetingPlace, stream: SocketStream) -> None:
        async with stream:
            link = _Link(stream)
            try:
                await self._admit(place, link)
            finally:
                link.close()

    async def _admit(self, place: MeetingPlace, link: _Link) -> None:
        hello = None
        with anyio.move_on_after(_HELLO_WITHIN_S):
            hello = await link.next()
        if hello is None or hello.get("type") != "hello" or not place.admits(hello.get("token")):
            return
        if hello.get("version") != VERSION:
            if not self._told_of_version:  # it comes again every second
                _log.warning("the bridge in Pi is of another version of Viva Voce: start Pi anew")
            self._told_of_version = True
            return
        with anyio.move_on_after(_LEAVES_WITHIN_S):
            while self._link is not None:
                await self._changed.wait()
        pid = hello.get("pid")
        if self._link is not None or (pid != self._pid and anyio.current_time() < self._kept_until_s):
            return  # one Pi at a time
        self._pid = pid
        link.mode, link.working = str(hello.get("mode")), hello.get("busy") is True
        self._link = link
        self._obeyed = self._count
        try:
            async with anyio.create_task_group() as link.tasks:
                link.tasks.start_soon(link.write_all)
                await self._serve(link)
                link.tasks.cancel_scope.cancel()
        except Exception:
            _log.exception("the bridge to Pi was closed")
        finally:
            self._part()

    async def _serve(self, link: _Link) -> None:
        tools, withheld = described(self._tools.inner.tools()), self._surface.withheld
        link.put({"type": "welcome", "tools": tools, "withheld": withheld, "relay": self._relay is not None})
        while (said := await link.next()) is not None:
            self._take(link, said)
            self._wake()

    async def _hang_up(self) -> None:
        """End the connection at both ends, so that nobody is cancelled in the middle of reading it."""
        with anyio.move_on_after(_LEAVES_WITHIN_S, shield=True):
            if self._link is not None:
                self._link.hang_up()
            while self._link is not None:
                await self._changed.wait()

    def _part(self) -> None:
        self._link = None
        self._kept_until_s = anyio.current_time() + _COMES_BACK_WITHIN_S
        self._surface.lost()
        self._base = ()
        self._active = None
        self._obeyed = self._count
        for saying in self._saying.values():
            saying.end("Pi went away before it had taken the message.")
        for hear in tuple(self._channels.values()):
            hear(None)
        self._wake()

    def _take(self, link: _Link, said: Mapping[str, Any]) -> None:
        match said:
            case {"type": "active"}:
                self._is_active(said)
            case {"type": "call", "id": str(key), "name": str(name)} if key not in link.calls:
                link.calls[key] = anyio.CancelScope()  # now: an abort may stand in the next line
                link.tasks.start_soon(self._call, link, key, name, said.get("arguments"))
            case {"type": "abort", "id": str(key)}:
                if key in link.calls:
                    link.calls[key].cancel()
            case {"type": "refusal", "n": number, "name": str(name)}:
                link.tasks.start_soon(self._refuse, link, number, said.get("id"), name, said.get("arguments"))
            case {"type": "settled?", "n": number}:
                link.put({"type": "reply", "n": number})  # behind all that was told before
            case {"type": "said", "n": int(number)}:
                if number in self._saying:
                    self._saying[number].end(said.get("error"))
            case {"type": "event", "event": {"type": str()} as event}:
                if self._relay is not None:
                    self._relay(event)
            case {"type": "respond", "requestId": request, "response": response}:
                if self.mirrors is not None:
                    self.mirrors.respond(request, said.get("questionIndex"), response, remote_id="pi")
            case {"id": str(key)} if key in self._channels:
                self._channels[key](said)

    async def _call(self, link: _Link, key: str, name: str, arguments: Any) -> None:
        with link.calls[key]:
            tool_call_id.set(key)
            try:
                result = await self._tools.call(name, arguments)
            except Exception:
                _log.exception("the tool %s failed", name)
                result = ToolResult(f"{name} failed. That is no answer of the user's.", is_error=True)
            answer = {"text": result.text, "details": dict(result.details), "isError": result.is_error}
            link.put({"type": "result", "id": key, **answer})
        del link.calls[key]

    async def _refuse(self, link: _Link, number: object, key: object, name: str, arguments: Any) -> None:
        listed = any(tool.name == name for tool in self._tools.tools())
        # What is not listed is refused when it is called, and so it is not run.
        text = None if listed else (await self._tools.call(name, arguments or {})).text
        link.put({"type": "reply", "n": number, "text": text})
        if self._refused is not None and isinstance(key, str):
            self._refused(key, text)

    def _emit(self, event: Event) -> None:
        answerable = event.respond is not None
        self.put({"type": "emit", "name": event.name, "data": event.data, "answerable": answerable})

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class _Saying:
    """A message that Pi has not taken yet."""

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.error: str | None = "Pi did not take the message."

    def end(self, error: object) -> None:
        if not self.done.is_set():
            self.error = str(error) if error else None
            self.done.set()


class _Link:
    """One connection: lines in, lines out, and the calls that came by it."""

    tasks: TaskGroup

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._splitter = LineSplitter(_LONGEST_BYTES)
        self._lines: list[bytes] = []
        self._send, self._unsent = anyio.create_memory_object_stream[bytes](_BEHIND)
        self.calls: dict[str, anyio.CancelScope] = {}
        self.mode = ""
        self.working = False

    async def next(self) -> Mapping[str, Any] | None:
        """The next object that Pi sends, None at the end; what is no object is passed over."""
        while True:
            while self._lines:
                try:
                    said = json.loads(self._lines.pop(0))
                except (ValueError, RecursionError):
                    continue
                if isinstance(said, dict):
                    return said
            try:
                self._lines = list(self._splitter.feed(await self._stream.receive()))
            except _GONE:
                return None

    def put(self, message: Mapping[str, Any]) -> bool:
        """Send a line, soon; false where there is nobody to read it any more."""
        try:
            self._send.send_nowait(json.dumps(message, default=str).encode() + b"\n")
        except anyio.WouldBlock:
            self.tasks.cancel_scope.cancel()  # it does not read; nobody waits for it
            return False
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return False
        return True

    def hang_up(self) -> None:
        """Have both ends read the end of the stream."""
        with suppress(OSError):
            self._stream.extra(SocketAttribute.raw_socket).shutdown(SHUT_RDWR)  # noqa: S610

    def close(self) -> None:
        """Send nothing any more."""
        self._send.close()
        self._unsent.close()

    async def write_all(self) -> None:
        """Write what was put."""
        with suppress(*_GONE):
            async for line in self._unsent:
                await self._stream.send(line)
        self.tasks.cancel_scope.cancel()
