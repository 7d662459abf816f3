"""The mirrors for other processes: the same events over a Unix socket, one JSON object a line.

The server writes `{"event": NAME, "data": {…}}`: first `questionnaire:hello`, whose data names the open
requests, then those requests, then whatever happens. A client writes

    {"id": 1, "requestId": "…", "questionIndex": 0, "response": {"source": "remote", …}}

and gets `{"reply": 1, "accepted": true}`, or false with a reason. `id` may be left out, and so may
`questionIndex`: then the question that is asked now is meant. A line that is no such object gets
`{"error": SENTENCE}`; one that is too long also ends the connection.

The socket's file is for the user alone (0600). Clients can hang, die and send what they like: the session
goes on.
"""

import json
import logging
import os
import stat
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Self

import anyio
from anyio.abc import ByteReceiveStream, SocketListener, SocketStream, TaskStatus
from anyio.streams.buffered import BufferedByteReceiveStream

from questionnaire.errors import SocketUnusable
from questionnaire.mirrors import Event, Mirrors

_log = logging.getLogger(__name__)

HELLO = "questionnaire:hello"
LONGEST_LINE = 1 << 20
"""Bytes. An answer of many pages fits; what is longer is no answer."""

LONGEST_EVENT = 1 << 26
"""Bytes. What is asked may be as long as a model wrote it; only what cannot be a question is longer."""

_LAST_WORDS_S = 1.0
"""How long a client may take to read a line before it is let go."""

_LONGEST_PATH = 103
"""Bytes: what `sun_path` holds on macOS; Linux holds four more."""

_BEHIND = 256
"""How many lines a client may leave unread before it is let go."""
_GONE = (
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
    anyio.IncompleteRead,
    OSError,
)


async def serve_mirrors(
    mirrors: Mirrors, path: Path, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Serve `mirrors` at `path` until cancelled; started once clients can connect.

    A folder that is missing is made for the user alone, and a socket that a dead process left is replaced.
    Raises `SocketUnusable` where the path is taken or cannot be used.
    """
    listener = await _listen(path)
    ours = _inode(path)
    try:
        # Whoever serves waits for clients: a question is worth asking though none is there yet.
        with mirrors.listen(lambda _: None):
            async with listener:
                task_status.started()
                await listener.serve(_Client.serve_with(mirrors))
    finally:
        _remove(path, ours)


async def _listen(path: Path) -> SocketListener:
    if len(os.fsencode(path)) > _LONGEST_PATH:
        raise SocketUnusable(f"{path} is too long for the name of a socket")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        await _make_way(path)
        # Born in a folder of its own that nobody else can enter, so that it never is open to others.
        with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as folder:
            listener = await anyio.create_unix_listener(Path(folder) / "s", mode=0o600)
            (Path(folder) / "s").replace(path)
    except (OSError, ValueError) as error:
        raise SocketUnusable(f"{path} cannot be made into a socket: {error}") from error
    return listener


async def _make_way(path: Path) -> None:
    """Raise `SocketUnusable` unless the path is free, or held by a socket that nobody serves any more."""
    if (mode := _mode(path)) is None:
        return
    if not stat.S_ISSOCK(mode):
        raise SocketUnusable(f"{path} is there already, and is no socket")
    try:
        stream = await anyio.connect_unix(path)
    except ConnectionRefusedError:
        return
    await stream.aclose()
    raise SocketUnusable(f"{path} is served by another process")


def _mode(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return None


def _inode(path: Path) -> int:
    return path.stat().st_ino


def _remove(path: Path, inode: int) -> None:
    """Remove the socket, unless another process has put its own there."""
    with suppress(OSError):
        if _inode(path) == inode:
            path.unlink()


class _Client:
    """One client: what it is told, and what it answers."""

    _count = 0

    def __init__(self, mirrors: Mirrors, stream: SocketStream) -> None:
        _Client._count += 1
        self._name = f"socket-{_Client._count}"
        self._mirrors = mirrors
        self._stream = stream
        self._send, self._unsent = anyio.create_memory_object_stream[Mapping[str, Any]](_BEHIND)
        self._life = anyio.CancelScope()

    @classmethod
    def serve_with(cls, mirrors: Mirrors) -> "Any":
        async def serve(stream: SocketStream) -> None:
            client = cls(mirrors, stream)
            try:
                async with stream:
                    await client._serve()
            except Exception:
                _log.exception("a client of the mirrors was let go")

        return serve

    async def _serve(self) -> None:
        with self._send, self._unsent, self._mirrors.listen(self._tell), self._life:
            requests = self._mirrors.open
            ids = list(dict.fromkeys(event.data["requestId"] for event in requests))
            self._tell(Event(HELLO, {"version": 1, "open": ids}))
            for event in requests:
                self._tell(event)
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._write)
                    await self._read()
                    tasks.cancel_scope.cancel()
            finally:
                await self._flush()

    def _tell(self, event: Event) -> None:
        self._put({"event": event.name, "data": event.data})

    def _put(self, line: Mapping[str, Any]) -> None:
        try:
            self._send.send_nowait(line)
        except anyio.WouldBlock:
            self._life.cancel()  # it does not read; nobody waits for it

    async def _write(self) -> None:
        with suppress(*_GONE):
            async for line in self._unsent:
                await self._write_line(line)
            return
        self._life.cancel()

    async def _write_line(self, line: Mapping[str, Any]) -> bool:
        with anyio.move_on_after(_LAST_WORDS_S, shield=True):  # half a line would spoil the next one
            await self._stream.send(json.dumps(line).encode() + b"\n")
            return True
        self._life.cancel()
        return False

    async def _flush(self) -> None:
        """Write what is left: the one whose answer ended the session is to hear that it was accepted."""
        with suppress(*_GONE, anyio.WouldBlock):
            while await self._write_line(self._unsent.receive_nowait()):
                pass

    async def _read(self) -> None:
        try:
            async for line in Lines(self._stream):
                self._put(self._answer(line))
        except anyio.DelimiterNotFound:
            last = {"error": f"A line may have {LONGEST_LINE} bytes; this one is longer."}
            with suppress(*_GONE):
                await self._write_line(last)

    def _answer(self, line: bytes) -> Mapping[str, Any]:
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            return {"error": "A line has to be a JSON object, and this one is no JSON."}
        if not isinstance(said, dict) or "requestId" not in said or "response" not in said:
            return {"error": 'A line has to be an object with "requestId" and "response".'}
        accepted = self._mirrors.respond(
            said["requestId"], said.get("questionIndex"), said["response"], remote_id=self._name
        )
        return {"reply": said.get("id"), **accepted}


class Lines:
    """The lines of a stream until it ends, one that is cut short by the end left out.

    Iterating raises `anyio.DelimiterNotFound` at a line longer than `longest` bytes.
    """

    def __init__(self, stream: ByteReceiveStream, longest: int = LONGEST_LINE) -> None:
        self._buffered = BufferedByteReceiveStream(stream)
        self._longest = longest

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        try:
            return await self._buffered.receive_until(b"\n", self._longest)
        except _GONE:
            raise StopAsyncIteration from None


@asynccontextmanager
async def mirrored_at(path: Path) -> AsyncIterator[SocketStream]:
    """Connect to the mirrors that are served at `path`. Raises `SocketUnusable` where nobody serves them."""
    try:
        stream = await anyio.connect_unix(path)
    except (OSError, ValueError) as error:
        raise SocketUnusable(f"nobody can be answered at {os.fspath(path)}: {error}") from error
    async with stream:
        yield stream
