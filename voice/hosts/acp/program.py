"""An agent's program as a child: lines of JSON in and out, its last words, and its end with its children."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from subprocess import PIPE
from typing import Any

import anyio
from anyio.abc import Process

from questionnaire import LineSplitter
from voice.errors import HostDied, HostError, HostMissing

LONGEST_LINE_BYTES = 16 * 2**20
"""Longer lines are passed over. The protocol has no bound; pictures and whole files come in one line."""

_ENDS_WITHIN_S = 2.0
"""How long a program may take to end by itself, and again when it was told to."""

_WRITES_WITHIN_S = 10.0
"""How long a program may leave a line unread before it counts as gone."""

_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


class Program:
    """A program that speaks in lines; ``complain`` gets a sentence for each kind of fault, once."""

    def __init__(self, name: str, process: Process, complain: Callable[[str], None]) -> None:
        self.name = name
        self._process = process
        self._complain = complain
        self._complained: set[str] = set()
        self._splitter = LineSplitter(LONGEST_LINE_BYTES)
        self._lines: Iterator[bytes] = iter(())
        self._writing = anyio.Lock()
        self._last: deque[str] = deque(maxlen=6)

    async def receive(self) -> Any:
        """The next line as JSON. What is no JSON, or too long, is passed over and complained of.

        Raises `anyio.EndOfStream` when the program has closed its side.
        """
        while True:
            for line in self._lines:
                if line.strip():
                    try:
                        return json.loads(line)
                    except (ValueError, RecursionError):
                        self.complain_once("wrote what is no line of its protocol; it was passed over.")
            if self._splitter.skipped:
                self.complain_once("sent a line that is too long; it was passed over.")
            try:
                assert self._process.stdout is not None
                self._lines = self._splitter.feed(await self._process.stdout.receive(2**16))
            except _GONE as error:
                raise anyio.EndOfStream from error

    async def send(self, message: Mapping[str, Any]) -> None:
        """Write one line, whole: half of one, left by a cancelled call, would garble the next.

        Raises `HostDied` where the program takes none.
        """
        # The library's own errors may hold exceptions, and text may hold halves of characters.
        line = json.dumps(message, default=str).encode() + b"\n"
        assert self._process.stdin is not None
        try:
            with anyio.fail_after(_WRITES_WITHIN_S, shield=True):
                async with self._writing:
                    await self._process.stdin.send(line)
        except (*_GONE, TimeoutError) as error:
            raise HostDied(f"{self.name} takes no messages any more.") from error

    async def ended(self) -> str:
        """Wait until the program has ended; the sentence that says how."""
        code = await self._process.wait()
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return f"{self.name} {how}{self.last_words}."

    @property
    def last_words(self) -> str:
        """What it wrote last on standard error, as the end of a sentence."""
        said = " ".join(self._last)[-300:].rstrip(".")
        return f": {said}" if said else ""

    def complain_once(self, what: str) -> None:
        """Say what it does that it should not."""
        if what not in self._complained:
            self._complained.add(what)
            self._complain(f"{self.name} {what}")

    async def listen_to_last_words(self) -> None:
        """Read standard error to its end, so that the program never waits for somebody who does."""
        assert self._process.stderr is not None
        with suppress(*_GONE):
            while True:
                said = (await self._process.stderr.receive())[-2_000:].decode(errors="replace")
                for line in said.splitlines():
                    if words := re.sub(r"\x1b\[[0-9;?]*[ -/]*[@-~]", "", line).strip():
                        self._last.append(words)

    async def end(self) -> None:
        """End it and its children: by closing its input, then by asking it, then by force."""
        for hint in (self._close_input, self._terminate):
            await hint()
            with anyio.move_on_after(_ENDS_WITHIN_S):
                await self._process.wait()
                break
        with suppress(ProcessLookupError):  # its children too, whether or not it took them along
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    async def _close_input(self) -> None:
        assert self._process.stdin is not None
        with suppress(*_GONE):
            await self._process.stdin.aclose()

    async def _terminate(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)


@asynccontextmanager
async def running(
    command: Sequence[str], complain: Callable[[str], None], env: Mapping[str, str] | None = None
) -> AsyncGenerator[Program]:
    """Run a program in a process group of its own; at the end none of the group is left.

    Raises `HostMissing` where there is no such program, `HostError` where it cannot be started.
    """
    if shutil.which(command[0]) is None:
        raise HostMissing(f"There is no program {command[0]}.", mend="install it, or give its whole path")
    try:
        process = await anyio.open_process(
            command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )
    except OSError as error:
        raise HostError(f"{command[0]} cannot be started: {error.strerror}.") from error
    program = Program(os.path.basename(command[0]), process, complain)  # noqa: PTH119 - a name, no path
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(program.listen_to_last_words)
            try:
                yield program
            finally:
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await program.end()
            await process.aclose()
