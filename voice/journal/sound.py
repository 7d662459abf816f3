"""Sound that was kept, heard once more."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anyio.lowlevel

from voice.audio import Frame, Framer, Samples


class KeptMicrophone:
    """A `voice.ports.Microphone` that gives the sound of an entry, as fast as it is heard."""

    live = False

    def __init__(self, name: str, samples: Samples) -> None:
        """``samples`` are at SAMPLE_RATE; the last frame is filled up with silence."""
        self.name = name
        self._samples = samples

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[AsyncIterator[Frame]]:
        """Give its frames, once more each time."""
        yield self._frames()

    async def _frames(self) -> AsyncIterator[Frame]:
        framer = Framer()
        for frame in (*framer.push(self._samples), *framer.flush()):
            await anyio.lowlevel.checkpoint()
            yield frame
