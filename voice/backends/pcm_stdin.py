"""Raw samples on standard input as a microphone: whatever another program can pipe.

The descriptor is waited for on the event loop, never in a thread: a thread that sits in ``read`` would hold
up the end of the program until the other one writes or goes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import BinaryIO

import anyio
import anyio.lowlevel
import numpy as np

from voice.audio import SAMPLE_RATE, Frame, Resampler, to_float
from voice.errors import RecordingError

_READ_BYTES = 65_536
"""What a pipe holds on Linux unless it was asked for more."""

_FILES = {
    b"RIFF": "WAV",
    b"RIFX": "WAV",
    b"RF64": "WAV",
    b"FORM": "AIFF",
    b"fLaC": "FLAC",
    b"OggS": "Ogg",
    b"ID3": "MP3",
    b"\x1aE\xdf\xa3": "WebM",
    b"caff": "CAF",
    b".snd": "AU",
}
"""How files begin that might be taken for raw samples."""

_MEND = "pipe raw samples in, for example arecord -t raw -f S16_LE -r 16000 -c 1 | …"


class PcmMicrophone:
    """Signed 16-bit little-endian samples, channels interleaved, from a stream that has a file descriptor.

    ``stream`` is standard input unless another is given; ``rate`` is in Hz. The stream is left open. A last
    byte that does not fill a sample is dropped; the last frame is filled up with silence.
    """

    def __init__(self, stream: BinaryIO | None = None, rate: int = SAMPLE_RATE, channels: int = 1) -> None:
        self._stream = stream
        self._rate = rate
        self._channels = channels

    @property
    def name(self) -> str:
        """What it is."""
        return "standard input"

    @property
    def live(self) -> bool:
        """True: another program decides when it comes."""
        return True

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[Frame]]:
        """Begin to read; the frames end when the input does.

        Raises `RecordingError` where the input is closed or a terminal, and among the frames where it turns
        out to be a file with a header or cannot be read.
        """
        async with aclosing(_frames(self._descriptor(), self._rate, self._channels)) as frames:
            yield frames

    def _descriptor(self) -> int:
        try:
            # sys.stdin is None in a program that was started without one.
            descriptor = (self._stream or sys.stdin.buffer).fileno()
            os.fstat(descriptor)
        except (AttributeError, OSError, ValueError):
            raise RecordingError("Standard input is closed.", mend=_MEND) from None
        if os.isatty(descriptor):
            raise RecordingError(
                "Standard input is a terminal, and raw samples are expected there.", mend=_MEND
            )
        return descriptor


async def _frames(descriptor: int, rate: int, channels: int) -> AsyncGenerator[Frame]:
    resampler = Resampler(rate, channels)
    step = 2 * channels
    rest, beginning = b"", True
    while data := await _read(descriptor):
        rest += data
        if beginning and len(rest) >= 8:
            beginning = False
            if kind := _kind_of_file(rest):
                raise RecordingError(
                    f"Standard input is a recording ({kind}), and raw samples are expected there.",
                    mend="name the file instead, or have raw samples written (arecord -t raw, sox -t raw)",
                )
        whole = len(rest) - len(rest) % step
        samples = np.frombuffer(rest[:whole], "<i2").astype(np.int16)
        rest = rest[whole:]
        for frame in resampler.push(to_float(samples).reshape(-1, channels)):
            yield frame
    for frame in resampler.flush():
        yield frame


def _kind_of_file(start: bytes) -> str | None:
    if start[4:8] == b"ftyp":
        return "M4A"
    return next((kind for magic, kind in _FILES.items() if start.startswith(magic)), None)


async def _read(descriptor: int) -> bytes:
    """The next bytes; none at the end."""
    try:
        await anyio.wait_readable(descriptor)
    except PermissionError:
        # epoll refuses what never makes anyone wait: regular files, /dev/null.
        await anyio.lowlevel.checkpoint()
    try:
        return os.read(descriptor, _READ_BYTES)
    except OSError as error:
        raise RecordingError(f"Standard input cannot be read: {error.strerror}.", mend=_MEND) from None
