"""Real time for sources that have none of their own: a recording is heard as fast as it was spoken."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

import anyio

from voice.audio import FRAME_S, Frame


class Pacer:
    """Lets one frame through each 20 ms; what is late is made up for, so that the pace holds on average."""

    def __init__(self) -> None:
        self._due: float | None = None

    async def pace(self, frames: AsyncIterator[Frame]) -> AsyncGenerator[Frame]:
        """Yield the frames at the pace of speech."""
        async for frame in frames:
            if self._due is None:
                self._due = anyio.current_time()
            self._due += FRAME_S
            await anyio.sleep_until(self._due)
            yield frame
