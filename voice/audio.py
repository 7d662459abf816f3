"""Sound as numbers: 16 kHz mono 16-bit frames of 20 ms inside, whatever came from outside.

This is the only rate inside the house: webrtcvad, Silero and Whisper all want 16 kHz mono.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE = 16_000
"""Hz."""

FRAME_SAMPLES = 320
"""Samples in one frame: 20 ms, one of the three lengths that webrtcvad takes (10, 20, 30 ms)."""

FRAME_S = FRAME_SAMPLES / SAMPLE_RATE
"""Seconds in one frame."""

FULL_SCALE = 32_768
"""The magnitude of the loudest 16-bit sample; 0 dBFS."""

SILENCE_DBFS = -96.0
"""What `level_dbfs` calls digital silence: the bottom of 16 bits."""

_WAV_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")
"""A WAV file's, up to the samples (``mmreg.h``)."""

WAV_HEADER_BYTES = _WAV_HEADER.size

Samples = NDArray[np.int16]
"""Mono 16-bit samples, shape (n,)."""

Frame = NDArray[np.int16]
"""One frame: `Samples` of shape (FRAME_SAMPLES,) at SAMPLE_RATE."""


@dataclass(frozen=True)
class Sound:
    """Mono sound at a rate of its own, as a speech engine renders it."""

    samples: Samples
    rate: int
    """Hz."""
    words: tuple[tuple[float, int], ...] = ()
    """Where words begin in it: the time in seconds, and the place in the text in characters, in their order.
    Empty where an engine does not tell."""

    @property
    def duration_s(self) -> float:
        """Its length in seconds."""
        return len(self.samples) / self.rate

    def scaled(self, factor: float) -> Sound:
        """The same at another volume; ``factor``, 0 to 1, is that of the amplitude."""
        if factor == 1:
            return self
        return replace(self, samples=to_int16(to_float(self.samples) * np.float32(factor)))


def silent_frame() -> Frame:
    """One frame of digital silence."""
    return np.zeros(FRAME_SAMPLES, np.int16)


def to_float(samples: Samples) -> NDArray[np.float32]:
    """16-bit samples as float32 in [-1, 1), as Silero and Whisper take them."""
    return samples.astype(np.float32) / np.float32(FULL_SCALE)


def to_int16(samples: NDArray[np.float32]) -> Samples:
    """Float samples in [-1, 1] as 16-bit ones; what lies outside is clipped, never wrapped."""
    scaled: NDArray[np.float32] = np.rint(samples * np.float32(FULL_SCALE))
    return np.clip(scaled, -FULL_SCALE, FULL_SCALE - 1).astype(np.int16)


def level_dbfs(samples: Samples) -> float:
    """The root mean square level in dB below full scale; `SILENCE_DBFS` for silence and for no samples."""
    if not len(samples):
        return SILENCE_DBFS
    rms = float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) / FULL_SCALE
    return max(20 * float(np.log10(rms)), SILENCE_DBFS) if rms > 0 else SILENCE_DBFS


def wav_header(sound_bytes: int) -> bytes:
    """What stands before so many bytes of 16-bit mono sound at SAMPLE_RATE in a WAV file.

    They are 0xFFFFFFFF at most, which a header also says while nobody knows how much comes.
    """
    form = (16, 1, 1, SAMPLE_RATE, 2 * SAMPLE_RATE, 2, 16)  # its own bytes, PCM, channels, rates, block, bits
    after_riff = min(WAV_HEADER_BYTES - 8 + sound_bytes, 0xFFFF_FFFF)
    return _WAV_HEADER.pack(b"RIFF", after_riff, b"WAVE", b"fmt ", *form, b"data", sound_bytes)


class Framer:
    """Cuts chunks of any size into frames; what does not fill a frame waits for the next chunk."""

    def __init__(self) -> None:
        self._rest: Samples = np.zeros(0, np.int16)

    def push(self, chunk: Samples) -> Iterator[Frame]:
        """Take any number of samples at SAMPLE_RATE; yield each frame that is full."""
        samples = np.concatenate([self._rest, chunk])
        whole = len(samples) - len(samples) % FRAME_SAMPLES
        self._rest = samples[whole:]
        yield from samples[:whole].reshape(-1, FRAME_SAMPLES)

    def flush(self) -> Iterator[Frame]:
        """Yield what is left, filled up with silence: the end of a recording is not lost."""
        if len(self._rest):
            frame = silent_frame()
            frame[: len(self._rest)] = self._rest
            self._rest = self._rest[:0]
            yield frame


class Resampler:
    """Sound of any rate and number of channels in, frames out; the same frames for any size of chunks.

    Channels are averaged. soxr's streaming resampler keeps its own state between chunks; it is imported
    here, when it is needed, since a source that is 16 kHz already never needs it.
    """

    def __init__(self, rate: int, channels: int = 1) -> None:
        """``rate`` in Hz, at least 1; ``channels`` at least 1."""
        self._channels = channels
        self._framer = Framer()
        self._stream: Any = None
        if rate != SAMPLE_RATE:
            import soxr

            self._stream = soxr.ResampleStream(rate, SAMPLE_RATE, 1, dtype="float32", quality="HQ")

    def push(self, chunk: NDArray[np.float32]) -> Iterator[Frame]:
        """Take float samples in [-1, 1], shape (n, channels) or, for mono, (n,)."""
        mono = chunk.reshape(-1, self._channels).mean(axis=1, dtype=np.float32)
        if self._stream is not None:
            mono = self._stream.resample_chunk(mono)
        yield from self._framer.push(to_int16(mono))

    def flush(self) -> Iterator[Frame]:
        """Yield what the resampler and the last frame still hold."""
        if self._stream is not None:
            last = self._stream.resample_chunk(np.zeros(0, np.float32), last=True)
            yield from self._framer.push(to_int16(last))
        yield from self._framer.flush()
