"""Real time for sources that have none of their own: a recording is heard as fast as it was spoken."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio

from voice.audio import FRAME_S, Frame


class Pacer:
    """Lets one frame through each 20 ms; what is late is made up for, so that the pace holds on average.

    Sources that follow each other keep one pace.
    """

    def __init__(self) -> None:
        self._due: float | None = None

    def pace(self, frames: AsyncIterator[Frame]) -> AsyncIterator[Frame]:
        """The same frames at the pace of speech."""
        return _Paced(frames, self)

    async def wait(self) -> None:
        """Wait until the next frame is due."""
        now = anyio.current_time()
        self._due = FRAME_S + (now if self._due is None else self._due)
        await anyio.sleep_until(self._due)


class _Paced:
    def __init__(self, frames: AsyncIterator[Frame], pacer: Pacer) -> None:
        self._frames = frames
        self._pacer = pacer

    def __aiter__(self) -> AsyncIterator[Frame]:
        return self

    async def __anext__(self) -> Frame:
        frame = await anext(self._frames)
        await self._pacer.wait()
        return frame
