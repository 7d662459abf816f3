"""A text that is still being written, for those who read it meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio


class Writing:
    """Takes the parts of a text as they come, and gives them to readers; the writer never waits.

    ::

        writing = Writing()
        tasks.start_soon(narrator.narrate, writing)
        writing.add("Shall I ")
        writing.add("go on?")
        writing.end()
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._ended = False
        self._changed = anyio.Event()

    @property
    def text(self) -> str:
        """All that has been written."""
        return "".join(self._parts)

    @property
    def ended(self) -> bool:
        """Whether nothing more is written."""
        return self._ended

    def add(self, part: str) -> None:
        """Write on; after the end it is no longer taken."""
        if not self._ended:
            self._parts.append(part)
            self._tell()

    def end(self) -> None:
        """The text is whole."""
        self._ended = True
        self._tell()

    def __aiter__(self) -> AsyncIterator[str]:
        """The parts, from the first one on, for each reader anew: what was interrupted can go on."""
        return _Reader(self)

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class _Reader:
    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._read = 0

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        """What has been written since the last part; waits for it."""
        writing = self._writing
        while self._read == len(writing._parts):
            if writing.ended:
                raise StopAsyncIteration
            await writing._changed.wait()
        parts = writing._parts[self._read :]
        self._read = len(writing._parts)
        return "".join(parts)
