"""A recorded person: what they say, cued piece by piece, as if they sat at the microphone."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager

from voice.audio import FRAME_S, Frame, silent_frame
from voice.backends.pacing import Pacer
from voice.ports import Microphone


class CuedMicrophone:
    """Recordings heard in real time, each when it is cued; silence before, between and after them."""

    def __init__(self, recordings: Sequence[Microphone]) -> None:
        self._waiting = deque(recordings)
        self._cued: deque[Microphone] = deque()
        self._speaking = False
        self._silent_frames = 0
        self.name = "recorded replies"
        self.live = True

    @property
    def silent_s(self) -> float:
        """How long the silence lasts by now, in seconds of audio; 0 while something is said or is to be."""
        return self._silent_frames * FRAME_S

    def cue(self) -> str | None:
        """Begin the next recording; its name, or None when there is none left."""
        if not self._waiting:
            return None
        self._silent_frames = 0
        self._cued.append(self._waiting.popleft())
        return self._cued[-1].name

    def hush(self) -> None:
        """Break off what is being said, and forget what is cued."""
        self._cued.clear()
        self._speaking = False

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[AsyncIterator[Frame]]:
        """Open it; the frames have no end. What was being said when it was closed is not gone on with."""
        async with aclosing(self._frames()) as frames:
            yield Pacer().pace(frames)

    async def _frames(self) -> AsyncGenerator[Frame]:
        while True:
            if self._cued:
                self._speaking = True
                async with self._cued.popleft().open() as recording:
                    async for frame in recording:
                        if not self._speaking:
                            break
                        yield frame
                self._silent_frames = 0
            self._silent_frames += 1
            yield silent_frame()
