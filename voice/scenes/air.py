"""The air between a person, a speaker and a microphone: all that sounds, on one clock. Pure.

Whoever makes a sound puts it in, at its time; a microphone takes out what there is to hear, a frame at a
time. Frame ``n`` is the sound of the seconds from ``n * FRAME_S`` on.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voice.audio import FRAME_S, FRAME_SAMPLES, SAMPLE_RATE, Frame, Samples, to_float, to_int16

CLICK_EVERY_S = 0.12
"""About as fast as people type."""


@dataclass(frozen=True)
class _Sounding:
    start: int
    samples: NDArray[np.float32]
    ours: bool

    @property
    def end(self) -> int:
        return self.start + len(self.samples)


class Air:
    """What sounds, added up; full scale is 1, and what is louder is clipped."""

    def __init__(self, noise_dbfs: float | None = None) -> None:
        self._noise_dbfs = noise_dbfs
        self._sounding: list[_Sounding] = []

    def put(self, at_s: float, samples: Samples, gain_db: float = 0.0, *, ours: bool = False) -> None:
        """Let samples (at SAMPLE_RATE) sound from then on; ``ours`` are those of the speaker."""
        start = round(at_s * SAMPLE_RATE)
        louder = to_float(samples) * np.float32(10 ** (gain_db / 20))
        self._sounding.append(_Sounding(start, louder, ours))

    def cut(self, at_s: float, *, ours: bool = False) -> None:
        """Let what sounds, of the speaker or of all others, break off there, and nothing begin later."""
        end = round(at_s * SAMPLE_RATE)
        self._sounding = [
            replace(one, samples=one.samples[: max(0, end - one.start)]) if one.ours is ours else one
            for one in self._sounding
        ]

    def frame(self, number: int) -> Frame:
        """What there is to hear in one frame. What ended before it is forgotten."""
        begin = number * FRAME_SAMPLES
        end = begin + FRAME_SAMPLES
        self._sounding = [one for one in self._sounding if one.end > begin]
        mixed = np.zeros(FRAME_SAMPLES, np.float32)
        if self._noise_dbfs is not None:
            mixed += to_float(noise("white", self._noise_dbfs, FRAME_S, str(number)))
        for one in self._sounding:
            first, last = max(begin, one.start), min(end, one.end)
            if first < last:
                mixed[first - begin : last - begin] += one.samples[first - one.start : last - one.start]
        return to_int16(mixed)


def noise(kind: str, dbfs: float, seconds: float, seed: str = "", hertz: float = 440.0) -> Samples:
    """A sound that nobody speaks, the same for the same arguments.

    ``kind`` is white, pink, tone, hum (50, 100 and 150 Hz), clicks or silence; ``dbfs`` is its RMS, of clicks
    the peak.
    """
    count = round(seconds * SAMPLE_RATE)
    random = np.random.default_rng(int.from_bytes(hashlib.sha256(f"{kind} {seed}".encode()).digest()[:8]))
    t = np.arange(count) / SAMPLE_RATE
    match kind:
        case "silence":
            return np.zeros(count, np.int16)
        case "white":
            wave = random.standard_normal(count)
        case "pink":
            wave = _pink(random.standard_normal(count))
        case "tone":
            wave = np.sin(2 * np.pi * hertz * t)
        case "hum":
            wave = sum((np.sin(2 * np.pi * f * t) / f for f in (50, 100, 150)), np.zeros(count))
        case _:
            wave = _clicks(count, random)
    reference = float(np.abs(wave).max() if kind == "clicks" else np.sqrt(np.mean(wave**2))) or 1.0
    return to_int16((wave / reference * 10 ** (dbfs / 20)).astype(np.float32))


def _pink(white: NDArray[np.float64]) -> NDArray[np.float64]:
    """White noise with its power falling by 3 dB an octave."""
    spectrum = np.fft.rfft(white)
    weight = np.ones(len(spectrum))
    weight[1:] = 1 / np.sqrt(np.arange(1, len(spectrum)))
    return np.asarray(np.fft.irfft(spectrum * weight, len(white)))


def _clicks(count: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Short bursts, as of keys: 8 ms each, of uneven loudness."""
    wave = np.zeros(count)
    length = round(0.008 * SAMPLE_RATE)
    decay = np.exp(-np.arange(length) / (length / 4))
    for start in range(0, count - length, round(CLICK_EVERY_S * SAMPLE_RATE)):
        wave[start : start + length] = random.standard_normal(length) * decay * random.uniform(0.3, 1.0)
    return wave
