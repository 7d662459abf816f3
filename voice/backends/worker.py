"""A child process that does one thing and can be killed in the middle of it.

Speech engines and Whisper are libraries whose calls cannot be interrupted, that print where they like and
that can take a whole process down. So each runs in a child, with its own session (the terminal's Ctrl-C is
ours alone), its own standard output (nothing it prints can reach ours), and the pipe as its lifeline: when
the parent is gone, by whatever way, the child ends.

On the wire, both ways: one line of JSON, whose ``bytes`` says how many bytes of payload
follow it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from typing import IO, Any, BinaryIO

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

Message = tuple[dict[str, Any], bytes]
"""A header (JSON) and its payload."""

Handler = Callable[[dict[str, Any], bytes], Message]
"""What a child does with one request; an exception becomes an ``error`` header."""

_MAX_HEADER = 1 << 20
_LAST_WORDS = 2_000


class WorkerDied(Exception):
    """The child process ended, or was too slow and was ended; ``last_words`` is what it wrote to stderr."""

    def __init__(self, what: str, last_words: str = "") -> None:
        super().__init__(what)
        self.last_words = last_words


class WorkerFailed(Exception):
    """The child lives, and its handler raised: ``kind`` is the exception's class name."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.sentence = sentence


class Worker:
    """One child process at a time, started when it is needed and again after it has died.

    ``module`` is run as ``python -m module`` and must call `serve`. Requests are answered one at a time; a
    caller that is cancelled in the middle of one kills the child, and the next request has a new one.
    """

    def __init__(self, module: str, *arguments: str) -> None:
        self._command = [sys.executable, "-m", module, *arguments]
        self._turn = anyio.Lock()
        self._process: anyio.abc.Process | None = None
        self._replies: BufferedByteReceiveStream | None = None
        self._stderr: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id, None while there is none."""
        return self._process.pid if self._process is not None else None

    async def request(
        self, header: Mapping[str, Any], payload: bytes = b"", *, within_s: float | None = None
    ) -> Message:
        """Send a request and wait for the answer, at most ``within_s`` seconds (then the child is killed).

        Raises `WorkerDied` or `WorkerFailed`.
        """
        async with self._turn:
            answered = False
            try:
                with anyio.fail_after(within_s):
                    await self._start()
                    await self._send(header, payload)
                    reply = await self._receive()
                answered = True
            except TimeoutError:
                raise WorkerDied(f"no answer within {within_s:g} s") from None
            except (
                anyio.BrokenResourceError,
                anyio.ClosedResourceError,
                anyio.EndOfStream,
                anyio.IncompleteRead,
                anyio.DelimiterNotFound,
                ValueError,  # no JSON; or `kill` closed a file while the child was being started
            ):
                raise WorkerDied("the child process ended", await self._last_words()) from None
            finally:
                if not answered:
                    await self.kill()
        if "error" in reply[0]:
            raise WorkerFailed(reply[0]["error"], reply[0].get("sentence", ""))
        return reply

    async def kill(self) -> None:
        """End the child at once; harmless where there is none. Never waits longer than it takes to die."""
        process, self._process, self._replies = self._process, None, None
        stderr, self._stderr = self._stderr, None
        if process is not None:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    process.kill()
                await process.aclose()
        if stderr is not None:
            stderr.close()

    async def _start(self) -> None:
        if self._process is not None and self._process.returncode is None:
            return
        await self.kill()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 — lives as long as the child
        self._process = await anyio.open_process(self._command, stderr=self._stderr, start_new_session=True)
        assert self._process.stdout is not None
        self._replies = BufferedByteReceiveStream(self._process.stdout)
        if self._stderr is None:
            raise anyio.ClosedResourceError  # `kill` came before there was anything to end

    async def _send(self, header: Mapping[str, Any], payload: bytes) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        await self._process.stdin.send(_encoded(header, payload))

    async def _receive(self) -> Message:
        assert self._replies is not None
        header = json.loads(await self._replies.receive_until(b"\n", _MAX_HEADER))
        size = header.pop("bytes")
        return header, await self._replies.receive_exactly(size) if size else b""

    async def _last_words(self) -> str:
        if self._process is not None:
            with anyio.move_on_after(1):
                await self._process.wait()
        if self._stderr is None:
            return ""
        self._stderr.seek(0)
        return self._stderr.read().decode(errors="replace")[-_LAST_WORDS:].strip()


def serve(prepare: Callable[[], Handler]) -> None:
    """Be a child: answer requests until the parent is gone. Runs the handler on the main thread.

    ``prepare`` is called once, on the first request's behalf, after standard output has been moved out of
    reach: what it raises is the answer to that request and to every later one.
    """
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(sys.stdin.buffer, requests), daemon=True).start()

    handler: Handler | None = None
    while True:
        header, payload = requests.get()
        try:
            if handler is None:
                handler = _prepared(prepare)
            answer = handler(header, payload)
        except Exception as error:
            answer = {"error": type(error).__name__, "sentence": str(error)}, b""
        replies.write(_encoded(*answer))
        replies.flush()


def _prepared(prepare: Callable[[], Handler]) -> Handler:
    """What it makes; where it fails, a handler that fails in the same way."""
    try:
        return prepare()
    except Exception as error:
        failure = error

    def fail(header: dict[str, Any], payload: bytes) -> Message:  # noqa: ARG001
        raise failure

    return fail


def _read_requests(stdin: BinaryIO, requests: queue.SimpleQueue[Message]) -> None:
    """Pass requests on; when the parent is gone, end the process even in the middle of a computation."""
    try:
        while line := stdin.readline():
            header = json.loads(line)
            size = header.pop("bytes")
            requests.put((header, stdin.read(size)))
    finally:
        os._exit(0)


def _encoded(header: Mapping[str, Any], payload: bytes) -> bytes:
    return json.dumps({**header, "bytes": len(payload)}).encode() + b"\n" + payload


def installed(module: str) -> bool:
    """Whether a library could be imported, without importing it."""
    return importlib.util.find_spec(module) is not None
