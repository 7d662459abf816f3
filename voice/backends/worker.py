"""A child process that does one thing and can be killed in the middle of it.

Speech engines and Whisper are libraries whose calls cannot be interrupted, that print where they like and
that can take a whole process down. So each runs in a child, with its own session (the terminal's Ctrl-C is
ours alone), its own standard output (nothing it prints can reach ours), and a lifeline: when the parent is
gone, by whatever way, the pipe that requests come by ends, and so does the child
(`voice.backends.lifeline`: even if it cannot notice).

While an answer is owed, the parent looks how the child does (`voice.backends.vital_signs`): one that hangs is
a dead one. While none is, nobody wakes.

On the wire, both ways: one line of JSON, whose ``bytes`` says how many bytes of payload
follow it. A request has an ``id``; ``unwanted`` instead, with an id, says that its answer is not wanted any
more. The child says ``prepared`` once, and then answers.
"""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, BinaryIO

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from voice.backends.lifeline import Lifeline, hold_on
from voice.backends.vital_signs import LOADING_STILL_S, STILL_S, TICK_S, Vigil, signs_of
from voice.tasks import KILL, send_signal

Message = tuple[dict[str, Any], bytes]
"""A header (JSON) and its payload."""

Handler = Callable[[dict[str, Any], bytes], Message]
"""What a child does with one request; an exception becomes an ``error`` header."""

Wanted = Callable[[], bool]
"""Whether the request that is being answered is still wanted; a handler may ask in the middle of its work."""

_LOADING_WITHIN_S = 120.0
"""Until a child is prepared, at most."""

_DIES_WITHIN_S = 2.0
"""A killed child is gone at once. One that is not by then waits for a disk, maybe for ever, or the machine is
very busy: it ends without us."""

_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 4.0
"""Before a child is started that died twice before it was prepared; each time twice as long."""

_MAX_HEADER = 1 << 20
_MAX_PAYLOAD = 1 << 28
_LAST_WORDS = 2_000
_MAX_WORDS = 1 << 20
"""What a child wrote to standard error is forgotten when it is more than so many bytes."""


class WorkerDied(Exception):
    """The child process ended, or hung or was too slow and was ended.

    ``last_words`` is what it wrote to stderr; ``loading`` is whether it had not yet been prepared.
    """

    def __init__(self, what: str, last_words: str = "", *, loading: bool = False) -> None:
        super().__init__(what)
        self.last_words = last_words
        self.loading = loading


class WorkerFailed(Exception):
    """The child lives, and its handler raised: ``kind`` is the exception's class name.

    ``loading`` is whether it was not the handler, but what prepares it.
    """

    def __init__(self, kind: str, sentence: str, *, loading: bool = False) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.sentence = sentence
        self.loading = loading


class Unwanted(Exception):
    """For a handler to raise when it has found that nobody wants its answer."""


class _Garbled(Exception):
    """What came is no message."""


_ENDED = "the child process ended"


_BROKEN = (
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
    anyio.IncompleteRead,
    anyio.DelimiterNotFound,
    OSError,  # asyncio's own, of a pipe whose other end has just gone
    _Garbled,
)


class Worker:
    """One child process at a time, started when it is needed and again after it has died.

    ``module`` is run as ``python -m module`` and must call `serve`. Requests are answered one at a time; a
    caller that is cancelled in the middle of one kills the child, and the next request has a new one.
    """

    def __init__(self, module: str, *arguments: str) -> None:
        self._command = [sys.executable, "-m", module]
        self.arguments = arguments
        """For the next child that is started."""
        self._turn = anyio.Lock()
        self._pause = anyio.sleep
        self._child: _Child | None = None
        self._kills = 0
        self._closed = False
        self._id = 0
        self._stillborn = 0
        """How many died, one after the other, before they were prepared."""

    @property
    def pid(self) -> int | None:
        """The child's process id, None while there is none."""
        return self._child.process.pid if self._child is not None else None

    async def request(
        self,
        header: Mapping[str, Any],
        payload: bytes = b"",
        *,
        within_s: float,
        unwanted: anyio.Event | None = None,
    ) -> Message:
        """Send a request and wait for the answer.

        A child that hangs is killed, and so is one that has no answer when it has had ``within_s`` seconds
        for it, loading and times without a processor not counted. When ``unwanted`` is set the child is told;
        a handler that takes notice fails with the kind `Unwanted`.

        Raises `WorkerDied` or `WorkerFailed`.
        """
        async with self._turn:
            self._id += 1
            try:
                child = await self._living()
            except (OSError, anyio.ClosedResourceError) as error:
                self._stillborn += 1
                told = f"it cannot be started: {error.strerror}" if isinstance(error, OSError) else _ENDED
                raise WorkerDied(told, loading=True) from None
            header, payload = await self._answer(
                child, {**header, "id": self._id}, payload, within_s, unwanted or anyio.Event()
            )
        if "error" in header:
            raise WorkerFailed(
                header["error"], header.get("sentence", ""), loading=header.get("loading", False)
            )
        return header, payload

    async def kill(self) -> None:
        """End the child at once; harmless where there is none. Never waits long for it to die."""
        self._kills += 1
        child, self._child = self._child, None
        if child is not None:
            await child.end()

    async def close(self) -> None:
        """`kill`, for good: a request that waits, or that comes, starts no other child and fails."""
        self._closed = True
        await self.kill()

    async def _living(self) -> _Child:
        """The child that there is, or a new one; raises `OSError`, and `ClosedResourceError` after `kill`."""
        if self._child is not None and self._child.process.returncode is None:
            self._child.forget_words()
            return self._child
        await self.kill()
        kills = self._kills
        if self._stillborn > 1:
            await self._pause(min(_PAUSE_S * 2 ** (self._stillborn - 2), _LONGEST_PAUSE_S))
        if self._closed or self._kills != kills:
            raise anyio.ClosedResourceError
        child = await _Child.started([*self._command, *self.arguments])
        if self._kills != kills:  # `kill` came before there was anything to end
            await child.end()
            raise anyio.ClosedResourceError
        self._child = child
        return child

    async def _answer(
        self,
        child: _Child,
        header: Mapping[str, Any],
        payload: bytes,
        within_s: float,
        unwanted: anyio.Event,
    ) -> Message:
        reply: Message | None = None
        why = _ENDED
        limits = (within_s, STILL_S) if child.prepared else (_LOADING_WITHIN_S, LOADING_STILL_S)
        vigil = Vigil(*limits, signs_of(child.process.pid))
        try:
            async with anyio.create_task_group() as tasks:

                async def watch() -> None:
                    nonlocal why
                    while (finding := await child.look(vigil)) is None:
                        pass
                    why = finding
                    tasks.cancel_scope.cancel()

                async def say_unwanted() -> None:
                    await unwanted.wait()
                    with suppress(*_BROKEN):
                        await child.send({"unwanted": header["id"]}, b"")

                tasks.start_soon(watch)
                with suppress(*_BROKEN):
                    await child.send(header, payload)
                    tasks.start_soon(say_unwanted)
                    if not child.prepared:
                        await child.until_prepared()
                        self._stillborn = 0
                        vigil.begin(within_s, STILL_S)
                    reply = await child.receive()
                tasks.cancel_scope.cancel()
        finally:
            if reply is None:
                last_words = await child.end()
                if self._child is child:
                    self._child = None
        if reply is None:
            self._stillborn += not child.prepared
            raise WorkerDied(why, last_words, loading=not child.prepared)
        return reply


class _Child:
    """One process, and what belongs to it."""

    def __init__(self, process: anyio.abc.Process, stderr: IO[bytes] | None, lifeline: Lifeline) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.prepared = False
        self._requests = process.stdin
        self._replies = BufferedByteReceiveStream(process.stdout)
        self._stderr = stderr
        self._lifeline = lifeline
        self._ending = anyio.Lock()
        self._seen_dead = False
        self._ended = False
        self._last_words = ""

    @classmethod
    async def started(cls, command: Sequence[str]) -> _Child:
        """Start one. Raises `OSError` where the program cannot be."""
        lifeline = Lifeline()
        stderr = None
        with suppress(OSError):  # a full disk takes the last words, and nothing else
            # It lives as long as the child. A file, since a pipe would have to be read all the time.
            stderr = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            process = await anyio.open_process(
                command, stderr=stderr or subprocess.DEVNULL, start_new_session=True, **lifeline.options
            )
        except BaseException:
            lifeline.let_go()
            if stderr is not None:
                stderr.close()
            raise
        lifeline.started()
        return cls(process, stderr, lifeline)

    async def send(self, header: Mapping[str, Any], payload: bytes) -> None:
        await self._requests.send(_encoded(header, payload))

    async def receive(self) -> Message:
        line = await self._replies.receive_until(b"\n", _MAX_HEADER)
        try:
            header = json.loads(line)
            size = header.pop("bytes")
        except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
            raise _Garbled from None
        if not isinstance(size, int) or not 0 <= size <= _MAX_PAYLOAD:
            raise _Garbled
        return header, await self._replies.receive_exactly(size) if size else b""

    async def until_prepared(self) -> None:
        """Wait for its first word."""
        said, _ = await self.receive()
        if "prepared" not in said:
            raise _Garbled
        self.prepared = True

    async def look(self, vigil: Vigil) -> str | None:
        """Wait until it is time, and see how it does: why it should be ended, or None."""
        await anyio.sleep(TICK_S)
        if self.process.returncode is not None:
            # What it said at last is still being read; at the second look something else holds its end.
            seen, self._seen_dead = self._seen_dead, True
            return _ENDED if seen else None
        return vigil.look(signs_of(self.process.pid))

    def forget_words(self) -> None:
        """Let the file not grow with a library that complains at each request."""
        if self._stderr is not None and os.fstat(self._stderr.fileno()).st_size > _MAX_WORDS:
            os.ftruncate(self._stderr.fileno(), 0)

    async def end(self) -> str:
        """Kill it, and give back all that belongs to it; its last words. Harmless a second time."""
        with anyio.CancelScope(shield=True):
            async with self._ending:
                if not self._ended:
                    self._ended = True
                    send_signal(self.process, KILL)  # whatever it had to say it has said
                    with anyio.move_on_after(_DIES_WITHIN_S):
                        await self.process.wait()
                    self._lifeline.let_go()
                    if self.process.returncode is not None:
                        await self.process.aclose()
                    for stream in (self.process.stdin, self.process.stdout):
                        if stream is not None:
                            await stream.aclose()
                    self._last_words = self._words()
        return self._last_words

    def _words(self) -> str:
        if self._stderr is None:
            return ""
        with self._stderr, suppress(OSError):
            self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - _LAST_WORDS))
            return self._stderr.read().decode(errors="replace").strip("\0\n\r\t ")
        return ""


def serve(prepare: Callable[[Wanted], Handler]) -> None:
    """Be a child: answer requests until the parent is gone. Runs the handler on the main thread.

    ``prepare`` is called once, on the first request's behalf, after standard output has been moved out of
    reach: what it raises is the answer to that request and to every later one.
    """
    hold_on()
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = _Requests()
    threading.Thread(target=requests.read, args=(sys.stdin.buffer,), daemon=True).start()

    header, payload = requests.next()
    handler = _prepared(prepare, requests.wanted)
    replies.write(_encoded({"prepared": True}, b""))
    replies.flush()
    while True:
        try:
            answer = handler(header, payload)
        except Exception as error:
            answer = _told(error), b""
        replies.write(_encoded(*answer))
        replies.flush()
        header, payload = requests.next()


def _told(error: Exception, *, loading: bool = False) -> dict[str, Any]:
    return {"error": type(error).__name__, "sentence": str(error), "loading": loading}


def _prepared(prepare: Callable[[Wanted], Handler], wanted: Wanted) -> Handler:
    """What it makes; where it fails, a handler that fails in the same way."""
    try:
        return prepare(wanted)
    except Exception as error:
        failure = _told(error, loading=True)
    return lambda _header, _payload: (failure, b"")


class _Requests:
    """What the parent asks for, read on a thread of its own."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._present = 0
        self._unwanted = 0

    def next(self) -> Message:
        """The next request, when it comes."""
        header, payload = self._asked.get()
        self._present = header.pop("id")
        return header, payload

    def wanted(self) -> bool:
        """Whether the one that was taken last is still wanted."""
        return self._present > self._unwanted

    def read(self, stdin: BinaryIO) -> None:
        """Take what comes; when the parent is gone, end the process even in the middle of a computation."""
        try:
            while line := stdin.readline():
                header = json.loads(line)
                payload = stdin.read(header.pop("bytes"))
                if "unwanted" in header:
                    self._unwanted = header["unwanted"]
                else:
                    self._asked.put((header, payload))
        finally:
            os._exit(0)


def _encoded(header: Mapping[str, Any], payload: bytes) -> bytes:
    return json.dumps({**header, "bytes": len(payload)}).encode() + b"\n" + payload


def installed(module: str) -> bool:
    """Whether a library could be imported, without importing it."""
    return importlib.util.find_spec(module) is not None
