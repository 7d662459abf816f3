"""WAV files: what a header promises, held against the file; and a sound written as one.

The header is read here, chunk by chunk, since FFmpeg believes most of what one says.
"""

from __future__ import annotations

import io
import os
import struct
import wave
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from voice.audio import Sound
from voice.errors import RecordingError

_BYTE_ORDERS = {b"RIFF": "<", b"RF64": "<", b"BW64": "<", b"RIFX": ">"}
"""How a file begins, and how `struct` writes the order of its bytes."""

_TO_THE_END = 0x7FFF_F000
"""Declared bytes of sound from which on a header means "to the end of the file".

A program that writes to a pipe cannot go back to fill in the size: SoX and eSpeak NG leave 0x7FFFF000,
arecord 0x80000000, FFmpeg 0xFFFFFFFF, and some leave 0.
"""

_RATES = range(4_000, 768_001)
"""Hz. Below, no speech; above, no converter: such a rate is a damaged or lying header."""

_PCM, _FLOAT, _ALAW, _MULAW, _EXTENSIBLE = 0x0001, 0x0003, 0x0006, 0x0007, 0xFFFE
"""WAVE format tags (``mmreg.h``)."""

_ONE_SAMPLE_A_BLOCK = {_PCM, _FLOAT, _ALAW, _MULAW}
"""The formats of which a block is one sample of each channel."""


def as_wav(sound: Sound) -> bytes:
    """A sound as a 16-bit mono WAV file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(sound.rate)
        wav.writeframes(sound.samples.astype("<i2").tobytes())
    return file.getvalue()


def write_wav(path: str | os.PathLike[str], sound: Sound) -> None:
    """Write a sound as a 16-bit mono WAV file: all of it or, where that fails, nothing.

    Raises `RecordingError`.
    """
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(as_wav(sound))  # a pipe or a device cannot be put in place whole
        else:
            _put_in_place(target.resolve(), as_wav(sound))  # behind a link stands what it names
    except OSError as error:
        raise RecordingError(
            f"{path} cannot be written: {error.strerror}.", mend="name a file in a folder you may write to"
        ) from None


def _put_in_place(target: Path, data: bytes) -> None:
    unfinished = target.with_name(f".voice-{os.getpid()}.part")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(target)
    finally:
        with suppress(OSError):
            unfinished.unlink()


def is_wav(start: bytes) -> bool:
    """Whether a file that begins with these bytes (12 will do) is a WAV file."""
    return start[:4] in _BYTE_ORDERS and start[8:12] == b"WAVE"


def samples_promised(path: Path, file: BinaryIO, size: int) -> int | None:
    """How many samples of each channel a WAV file of ``size`` bytes holds; None where it leaves that open.

    Raises `RecordingError` where the header contradicts itself or the file.
    """
    return _Header(path, file, size).walk()


def check_shape(path: Path, rate: int, channels: int) -> None:
    """Raise `RecordingError` where a header gives no channels, or a rate (Hz) that sound does not have."""
    if rate not in _RATES or channels < 1:
        raise RecordingError(
            f"{path} is damaged: its header gives {channels} channels at {rate} Hz.",
            mend="record it again, or write the right rate into it",
        )


def soundless(path: Path) -> RecordingError:
    """The error for a recording with a header and nothing after it."""
    return RecordingError(f"{path} holds no sound, only a header.", mend="record it again")


def _name(chunk: bytes) -> str:
    return chunk.decode("ascii", "replace").strip()


class _Header:
    """The header of one WAV file, and the file to hold it against."""

    def __init__(self, path: Path, file: BinaryIO, size: int) -> None:
        self._path = path
        self._file = file
        self._size = size
        file.seek(0)
        self._order = _BYTE_ORDERS[file.read(4)]

    def walk(self) -> int | None:
        form: tuple[int | None, int] | None = None
        long_size: int | None = None
        at = 12
        while (chunk := self._chunk(at)) is not None:
            kind, declared = chunk
            at += 8
            if kind == b"data":
                if form is None:
                    self._lie("names the sound before its format")
                # RF64 and BW64 keep sizes of more than 32 bits in a chunk of their own (EBU Tech 3306).
                if long_size is not None and declared == 0xFFFF_FFFF:
                    declared = long_size
                return self._sound(at, declared, *form)
            if at + declared > self._size:
                self._lie(
                    f"promises {declared} bytes in its chunk {_name(kind)} and {self._size - at} are there"
                )
            if kind == b"fmt ":
                form = self._format(at, declared)
            elif kind == b"ds64":
                (long_size,) = self._unpack("8xQ", at)
            at += declared + declared % 2
        raise soundless(self._path)

    def _format(self, at: int, declared: int) -> tuple[int | None, int]:
        """Bytes in one sample of all channels (None for a codec with larger blocks), and in one second."""
        tag, channels, rate, byte_rate, block, bits = self._unpack("HHIIHH", at)
        if tag == _EXTENSIBLE and declared >= 26:
            (tag,) = self._unpack("H", at + 24)
        check_shape(self._path, rate, channels)
        if tag not in _ONE_SAMPLE_A_BLOCK:
            return None, byte_rate
        if not bits or block != channels * -(-bits // 8):
            self._lie(f"gives {block} bytes for {channels} samples of {bits} bits")
        if byte_rate != rate * block:
            self._lie(f"gives {byte_rate} bytes a second for {rate} samples of {block} bytes")
        return block, byte_rate

    def _sound(self, at: int, declared: int, block: int | None, byte_rate: int) -> int | None:
        held = self._size - at
        if not held:
            raise soundless(self._path)
        if held < declared < _TO_THE_END:
            self._lie(f"promises {declared} bytes of sound and {held} are there")
        if not declared or declared > held:
            return None
        self._check_rest(at + declared + declared % 2, byte_rate)
        return declared // block if block else None

    def _check_rest(self, at: int, byte_rate: int) -> None:
        """Refuse a header that hides sound: what follows, a second of it or more, is no chunks."""
        while (chunk := self._chunk(at)) and chunk[0].isascii() and at + 8 + chunk[1] <= self._size:
            at += 8 + chunk[1] + chunk[1] % 2
        if self._size - at >= max(byte_rate, 1):
            self._lie(f"leaves out the last {self._size - at} bytes")

    def _chunk(self, at: int) -> tuple[bytes, int] | None:
        """The name of the chunk that begins there and how many bytes it declares; None past the end."""
        if at + 8 > self._size:
            return None
        kind, declared = self._unpack("4sI", at)
        return kind, declared

    def _unpack(self, fields: str, at: int) -> tuple[Any, ...]:
        layout = struct.Struct(self._order + fields)
        self._file.seek(at)
        data = self._file.read(layout.size)
        if len(data) < layout.size:
            self._lie("breaks off")
        return layout.unpack(data)

    def _lie(self, what: str) -> NoReturn:
        raise RecordingError(
            f"{self._path} is cut short or damaged: its header {what}.", mend="copy or record it again"
        )
