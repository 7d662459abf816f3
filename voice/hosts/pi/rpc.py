"""The lines of `pi --mode rpc`: commands in, responses and events out.

One JSON object a line, ended by a line feed and by nothing else. Lines of any size come (a picture that the
agent has read is one line), so what is only passed over is not even decoded.
"""

from __future__ import annotations

import json
import logging
import re
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from questionnaire import LineSplitter
from voice.errors import HostDied, HostError

_log = logging.getLogger(__name__)

LONGEST_LINE_BYTES = 64 * 2**20
"""Longer lines are passed over, so that a stream without an end of line cannot fill the memory."""

_BROKEN_BYTES = 2_000
_LARGE_BYTES = 2**18
_TYPE = re.compile(rb'\s*\{\s*"type"\s*:\s*"(\w+)"')
_NEEDLESS = frozenset(
    {b"agent_end", b"turn_end", b"message_start", b"tool_execution_update", b"entry_appended"}
)
"""Events of which no more than their type is of use; some hold the whole conversation."""

_WRITE_WITHIN_S = 10.0
_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


class Rpc:
    """The two streams of one Pi.

    ``hear`` gets each object that is no response, in the order of the lines; ``complain`` a sentence for
    each kind of fault in the lines, once.
    """

    def __init__(
        self,
        receive: ByteReceiveStream,
        send: ByteSendStream,
        hear: Callable[[Mapping[str, Any]], None],
        complain: Callable[[str], None],
    ) -> None:
        self._receive = receive
        self._send = send
        self._hear = hear
        self._complain = complain
        self._complained: set[str] = set()
        self._writing = anyio.Lock()
        self._count = 0
        self._waiting: dict[str, _Command] = {}
        self.gone = False
        """Whether Pi has closed its side."""
        self.heard = 0
        """How many lines have come: a sign of life."""

    @property
    def waiting(self) -> bool:
        """Whether a command has no response yet."""
        return bool(self._waiting)

    async def listen(self) -> None:
        """Hear Pi until it closes its side; then no command is answered any more."""
        splitter = LineSplitter(LONGEST_LINE_BYTES)
        try:
            while True:
                for line in splitter.feed(await self._receive.receive(2**16)):
                    self._take(line)
                if splitter.skipped:
                    self._once("sent a line that is too long; it was passed over.")
        except _GONE:
            pass
        finally:
            self.gone = True
            for command in self._waiting.values():
                command.answered.set()

    async def command(self, kind: str, *, on_answer: Callable[[], None] | None = None, **fields: Any) -> Any:
        """Give a command and return the data of its response.

        ``on_answer`` is called as that comes, before what Pi tells after it is heard. Raises `HostError`
        where Pi refuses it, `HostDied` where Pi ends before it has answered.
        """
        self._count += 1
        key = f"viva-{self._count}"
        self._waiting[key] = command = _Command(on_answer)
        try:
            await self.write({"id": key, "type": kind, **fields})
            await command.answered.wait()
        finally:
            del self._waiting[key]
        response = command.response
        if response is None:
            raise HostDied("Pi ended before it had answered.")
        if response.get("success") is not True:
            raise HostError(f"Pi refused it: {response.get('error') or 'it does not say why'}.")
        return response.get("data")

    async def write(self, line: Mapping[str, Any]) -> None:
        """Write one line, whole: half of one, left by a cancelled call, would garble the next."""
        try:
            if self.gone:
                raise anyio.BrokenResourceError
            with anyio.fail_after(_WRITE_WITHIN_S, shield=True):
                async with self._writing:
                    await self._send.send(json.dumps(line).encode() + b"\n")
        except (*_GONE, TimeoutError) as error:
            raise HostDied("Pi takes no commands any more.") from error

    def _take(self, line: bytes) -> None:
        self.heard += 1
        if len(line) > _LARGE_BYTES and (found := _TYPE.match(line)) and found[1] in _NEEDLESS:
            self._hear({"type": found[1].decode()})
            return
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict) or not isinstance(said.get("type"), str):
            if line.strip():
                self._once("wrote what is no line of its protocol; it was passed over.")
        elif said["type"] != "response":
            self._hear(said)
        elif command := self._waiting.get(str(said.get("id"))):
            command.answer(said)
        elif said.get("id") is None and said.get("success") is False:
            _log.warning("Pi could not read a command: %s", said.get("error"))

    def _once(self, what: str) -> None:
        if what not in self._complained:
            self._complained.add(what)
            self._complain(f"Pi {what}")


class _Command:
    """A command that waits for its response; the first one counts."""

    def __init__(self, on_answer: Callable[[], None] | None) -> None:
        self.answered = anyio.Event()
        self.response: Mapping[str, Any] | None = None
        self._on_answer = on_answer

    def answer(self, response: Mapping[str, Any]) -> None:
        if not self.answered.is_set():
            self.response = response
            self.answered.set()
            if self._on_answer is not None:
                self._on_answer()


class LastWords:
    """What a program wrote on its standard error, as much as explains its end."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque(maxlen=20)

    async def listen(self, stream: ByteReceiveStream) -> None:
        """Read to the end, so that the program never waits for somebody who does."""
        with suppress(*_GONE):
            while True:
                self._lines.extend((await stream.receive())[-_BROKEN_BYTES:].splitlines())

    def __str__(self) -> str:
        said = b"\n".join(self._lines).decode(errors="replace")
        lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in said.splitlines()]
        return " ".join(line for line in lines if line)[-400:]
