"""The tools of a session, offered to an agent as an MCP server.

Every ACP agent starts MCP servers that speak on standard input and output. The one it starts here is a relay
to this process, so the tools are the session's own, and withholding them holds there too.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteStream

from questionnaire import AdjustableToolset, LineSplitter, Tool, ToolResult
from questionnaire.server import ToolServer
from voice.errors import HostError
from voice.events import Emit, ToolCalled
from voice.hosts.acp import relay

SERVER = "viva-voce"
"""The name under which the agent knows the server."""

_LONGEST_LINE_BYTES = 2**20

_LONGEST_PATH = 103
"""Bytes: what the name of a socket may have on macOS; Linux allows four more."""

_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


@asynccontextmanager
async def offered(tools: AdjustableToolset, emit: Emit) -> AsyncGenerator[tuple[str, ...]]:
    """Serve the tools meanwhile; gives the command by which an agent gets at them.

    The socket lies in a folder that nobody else may enter. Raises `HostError` where its path is too long.
    """
    folder = Path(tempfile.mkdtemp(prefix="viva-voce-"))
    try:
        path = folder / "tools"
        if len(os.fsencode(path)) > _LONGEST_PATH:
            raise HostError(
                f"{path} is too long for the name of a socket.", mend="a shorter folder in TMPDIR"
            )
        told = _Told(tools, emit)

        async def serve(stream: ByteStream) -> None:
            async with stream:
                with suppress(*_GONE):
                    await ToolServer(SERVER, told).serve_lines(_Lines(stream), _Sink(stream))

        listener = await anyio.create_unix_listener(path)
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, serve)
            try:
                yield (sys.executable, str(Path(relay.__file__)), str(path))
            finally:
                tasks.cancel_scope.cancel()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Told(AdjustableToolset):
    """The session's tools; what comes of a call is told as an event, too."""

    def __init__(self, tools: AdjustableToolset, emit: Emit) -> None:
        super().__init__(tools)
        self._session = tools
        self._emit = emit

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        result = await self._session.call(name, arguments)
        self._emit(ToolCalled(name, result.text, result.is_error))
        return result

    def on_change(self, callback: Callable[[tuple[Tool, ...]], object]) -> Callable[[], None]:
        return self._session.on_change(callback)


class _Lines:
    """The lines of a stream, as text."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[str]:
        splitter = LineSplitter(_LONGEST_LINE_BYTES)
        with suppress(*_GONE):
            while True:
                for line in splitter.feed(await self._stream.receive()):
                    yield line.decode(errors="replace")


class _Sink:
    """Where text goes to the stream."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    async def write(self, text: str) -> None:
        with suppress(*_GONE):
            await self._stream.send(text.encode())

    async def flush(self) -> None:
        """Nothing is held back."""
