"""One sound on its way through one stream: what is given to the device, and what of it has been heard."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from voice.audio import SAMPLE_RATE, Samples, Sound, to_float, to_int16

_WAITS_AT_MOST_S = 1.5
"""A device that says that more waits in its buffer does not know."""


class Shape(Protocol):
    """What a stream plays."""

    rate: int
    """Hz."""
    channels: int
    latency_s: float
    """How long it takes on average until what is given is heard."""


class Playback:
    """A sound as PortAudio's thread takes it, block by block.

    ``ends_in`` is called once, when all has been given: in so many seconds its end will be heard. ``given``
    is called with the bounds of each piece of the sound, and with when it begins to be heard; the silence of
    ``lead_in_s`` before it counts for nothing. Both are called from PortAudio's thread.
    """

    def __init__(
        self,
        sound: Sound,
        ends_in: Callable[[float], None],
        given: Callable[[float, float, float], None] | None = None,
        *,
        lead_in_s: float = 0.0,
    ) -> None:
        self._ends_in: Callable[[float], None] | None = ends_in
        self._tap = given
        self._tapped = sound.samples[:0]
        self._sound = sound
        self._bytes = b""
        self._rate, self._latency_s = 1, 0.0
        self._lead_in_s = lead_in_s
        self._given = 0  # samples of each channel, with the silence after the sound; less than 0 before it
        self._heard = 0.0, 0.0  # so many seconds had been heard, at this time
        self._stopped = False

    @property
    def heard_s(self) -> float:
        """Seconds of the sound that have been heard; never more than it has."""
        heard_s, at = self._heard
        if not self._stopped:
            heard_s += time.monotonic() - at
        return max(min(heard_s, self._given / self._rate, self._sound.duration_s), 0.0)

    @property
    def stopped(self) -> bool:
        """Whether it is silent from now on."""
        return self._stopped

    def prepare(self, stream: Shape) -> None:
        """Bring the sound to the stream's rate and channels, and to the rate of who is told of it."""
        samples = _at_rate(self._sound, stream.rate)
        if self._tap is not None:
            self._tapped = _at_rate(self._sound, SAMPLE_RATE)
        self._bytes = np.repeat(samples, stream.channels).tobytes()
        self._rate, self._latency_s = stream.rate, stream.latency_s
        self._given = -round(self._lead_in_s * stream.rate)

    def callback(self, out: Any, frames: int, when: Any, _status: Any) -> None:
        """Fill a block; PortAudio's."""
        at = self._given * (len(out) // frames)
        silence = bytes(min(max(-at, 0), len(out)))
        piece = b"" if self._stopped else silence + self._bytes[max(at, 0) : max(at + len(out), 0)]
        out[:] = piece + bytes(len(out) - len(piece))
        if self._stopped:
            return
        # What is given now is heard after what waits in the buffer. The device knows how long that takes;
        # where it does not, the stream has an average.
        waiting_s = when.outputBufferDacTime - when.currentTime
        if not 0 <= waiting_s < _WAITS_AT_MOST_S:
            waiting_s = self._latency_s
        now = time.monotonic()
        given_s = self._given / self._rate
        heard_s = given_s - waiting_s
        self._heard = heard_s, now
        self._given += frames
        if self._tap is not None and self._given > 0 and given_s < self._sound.duration_s:
            begins_s = max(given_s, 0.0)
            self._tap(begins_s, self._given / self._rate, now + waiting_s + begins_s - given_s)
        if self._ends_in is not None and self._given >= self._sound.duration_s * self._rate:
            self._ends_in(self._sound.duration_s - heard_s)
            self._ends_in = None

    def tapped(self, start_s: float, end_s: float) -> Samples:
        """A piece of the sound, at SAMPLE_RATE."""
        return self._tapped[round(start_s * SAMPLE_RATE) : round(end_s * SAMPLE_RATE)]

    def stop(self, *, complete: bool = False) -> None:
        """Be silent from the next callback on; what was heard is heard."""
        heard_s = self._sound.duration_s if complete else self.heard_s
        self._stopped = True
        self._heard = heard_s, 0.0


def _at_rate(sound: Sound, rate: int) -> Samples:
    if sound.rate == rate:
        return sound.samples
    import soxr

    return to_int16(soxr.resample(to_float(sound.samples), sound.rate, rate))
