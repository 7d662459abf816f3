from contextlib import aclosing, asynccontextmanager

import numpy as np
import pytest

from voice.audio import FRAME_S, FRAME_SAMPLES
from voice.backends.cues import CuedMicrophone

pytestmark = pytest.mark.anyio


class Recording:
    """Frames of one level each, as a microphone of the real kind gives them."""

    live = False

    def __init__(self, name, *levels):
        self.name = name
        self._levels = levels
        self.closed = 0

    @asynccontextmanager
    async def open(self):
        async with aclosing(self._frames()) as frames:
            yield frames
        self.closed += 1

    async def _frames(self):
        for level in self._levels:
            yield np.full(FRAME_SAMPLES, level, np.int16)


async def heard(frames, count):
    return [int((await anext(frames))[0]) for _ in range(count)]


async def test_each_is_heard_when_it_is_cued_with_silence_around_it():
    microphone = CuedMicrophone([Recording("first", 1, 2), Recording("second", 3)])
    async with microphone.open() as frames:
        assert await heard(frames, 2) == [0, 0]
        assert microphone.cue() == "first"
        assert await heard(frames, 4) == [1, 2, 0, 0]
        assert microphone.cue() == "second"
        assert await heard(frames, 2) == [3, 0]
        assert microphone.cue() is None


async def test_it_tells_how_long_nothing_was_said():
    microphone = CuedMicrophone([Recording("first", 1, 2)])
    async with microphone.open() as frames:
        await heard(frames, 3)
        microphone.cue()
        assert microphone.silent_s == 0.0
        await heard(frames, 2)
        assert microphone.silent_s == 0.0
        await heard(frames, 2)
        assert microphone.silent_s == pytest.approx(2 * FRAME_S)


async def test_two_that_are_cued_at_once_are_heard_one_after_the_other():
    microphone = CuedMicrophone([Recording("first", 1), Recording("second", 2)])
    microphone.cue()
    microphone.cue()
    async with microphone.open() as frames:
        assert await heard(frames, 4) == [1, 0, 2, 0]


async def test_what_is_being_said_breaks_off_and_what_is_cued_is_forgotten():
    said = Recording("first", 1, 2, 3)
    microphone = CuedMicrophone([said, Recording("second", 4), Recording("third", 5)])
    microphone.cue()
    async with microphone.open() as frames:
        assert await heard(frames, 1) == [1]
        microphone.cue()
        microphone.hush()
        assert await heard(frames, 3) == [0, 0, 0]
        assert said.closed == 1
        assert microphone.cue() == "third"
        assert await heard(frames, 2) == [5, 0]


async def test_it_does_not_go_on_when_it_is_opened_again():
    microphone = CuedMicrophone([Recording("first", 1, 2, 3), Recording("second", 4)])
    microphone.cue()
    async with microphone.open() as frames:
        assert await heard(frames, 1) == [1]
    async with microphone.open() as frames:
        assert await heard(frames, 2) == [0, 0]
        microphone.cue()
        assert await heard(frames, 1) == [4]
