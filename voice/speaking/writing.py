"""A text that is still being written, for those who read it meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio


class Writing:
    """Takes the parts of a text as they come: its writer never waits, each reader begins at the beginning.

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
        """The text from its beginning, in parts."""
        return _Reader(self)

    async def after(self, read: int) -> list[str]:
        """The parts after the first ``read``: waits until there are any; none at the end of the text."""
        while read == len(self._parts) and not self._ended:
            await self._changed.wait()
        return self._parts[read:]

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class _Reader:
    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._read = 0

    def __aiter__(self) -> _Reader:
        return self

    async def __anext__(self) -> str:
        parts = await self._writing.after(self._read)
        if not parts:
            raise StopAsyncIteration
        self._read += len(parts)
        return "".join(parts)
