r"""Dialogs over the lines of Pi's RPC: the side that asks, which in Pi is the agent's.

    → {"type": "extension_ui_request", "id": "…", "method": "select", "title": "…", "options": ["…"]}
    ← {"type": "extension_ui_response", "id": "…", "value": "…"}        or {…, "cancelled": true}
    → {"type": "extension_ui_cancel", "id": "…"}                        where nobody waits any more

One JSON object a line, in UTF-8, ended by `\n` and by nothing else: U+2028 and U+2029 may stand raw in a
text. Pi itself closes a dialog without a word; the last line is what other hosts of its protocol know for
that, and one that does not know it ignores it.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from uuid import uuid4

from anyio import BrokenResourceError, ClosedResourceError, EndOfStream, Event, Lock, fail_after
from anyio.abc import AnyByteReceiveStream, AnyByteSendStream

from questionnaire.errors import ClientLost, MalformedAnswers, NoInterface

LONGEST_LINE_BYTES = 64 * 2**20
"""Longer lines are passed over, so that a stream without an end of line cannot fill the memory."""

_GONE = (EndOfStream, BrokenResourceError, ClosedResourceError, OSError)
_WRITE_WITHIN_S = 2.0


class LineSplitter:
    """Cuts a stream of bytes into lines, at line feeds only, in time linear in the bytes."""

    def __init__(self, longest_bytes: int = LONGEST_LINE_BYTES) -> None:
        self._longest = longest_bytes
        self._pieces: list[bytes] = []
        self._held = 0
        self.skipped = 0
        """How many lines were too long."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Give the lines that `data` completes, without their ends; those that are too long are left out."""
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._hold(piece)
            if self._held <= self._longest:
                yield b"".join(self._pieces)
            else:
                self.skipped += 1
            self._pieces, self._held = [], 0
        self._hold(rest)

    def _hold(self, piece: bytes) -> None:
        self._held += len(piece)
        if self._held > self._longest:
            self._pieces.clear()
        elif piece:
            self._pieces.append(piece)


class RpcDialogs:
    """A `DialogClient` at the other end of two streams of bytes, which it does not close.

    It hears its client only while `listen` runs, for which its owner has a task.
    """

    def __init__(
        self,
        receive: AnyByteReceiveStream,
        send: AnyByteSendStream,
        make_id: Callable[[], str] = lambda: str(uuid4()),
    ) -> None:
        self._receive = receive
        self._send = send
        self._make_id = make_id
        self._sending = Lock()
        self._open: dict[str, _Dialog] = {}
        self._gone = False

    async def listen(self) -> None:
        """Hear the client until it closes its side; then no open dialog will be answered.

        What answers no open dialog is passed over: other traffic, garbage, late answers.
        """
        splitter = LineSplitter()
        try:
            while True:
                for line in splitter.feed(await self._receive.receive()):
                    self._hear(line)
        except _GONE:
            pass
        finally:
            self._lose()

    async def select(self, title: str, options: list[str], /) -> str | None:
        """Ask for one of `options`."""
        return await self._ask(method="select", title=title, options=options)

    async def input(self, title: str, placeholder: str, /) -> str | None:
        """Ask for a text."""
        return await self._ask(method="input", title=title, placeholder=placeholder)

    async def _ask(self, **request: Any) -> str | None:
        key, dialog = self._make_id(), _Dialog()
        self._open[key] = dialog
        try:
            await self._write({"type": "extension_ui_request", "id": key, **request})
            await dialog.closed.wait()
        finally:
            del self._open[key]
            if not dialog.closed.is_set() and not self._gone:
                with suppress(NoInterface):
                    await self._write({"type": "extension_ui_cancel", "id": key})
        return dialog.value()

    async def _write(self, line: dict[str, Any]) -> None:
        """Write one line, whole: half of one, left by a cancelled call, would garble the next."""
        try:
            if self._gone:
                raise BrokenResourceError
            with fail_after(_WRITE_WITHIN_S, shield=True):
                async with self._sending:
                    await self._send.send(json.dumps(line).encode() + b"\n")
        except _GONE as error:
            self._lose()
            raise NoInterface("the session client is gone") from error

    def _hear(self, line: bytes) -> None:
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(said, dict) or said.get("type") != "extension_ui_response":
            return
        key = said.get("id")
        if isinstance(key, str) and key in self._open:
            self._open[key].close(said)

    def _lose(self) -> None:
        self._gone = True
        for dialog in self._open.values():
            dialog.close(None)


class _Dialog:
    """One request that waits for its response; the first one counts."""

    def __init__(self) -> None:
        self.closed = Event()
        self._response: dict[str, Any] | None = None

    def close(self, response: dict[str, Any] | None) -> None:
        if not self.closed.is_set():
            self._response = response
            self.closed.set()

    def value(self) -> str | None:
        """Return what was taken or typed, None where the dialog was dismissed."""
        if self._response is None:
            raise ClientLost("the session client went away before it had answered")
        if self._response.get("cancelled") is True:
            return None
        value = self._response.get("value")
        if not isinstance(value, str):
            raise MalformedAnswers("the session client answered a dialog with something that is no text")
        return value
