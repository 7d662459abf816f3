"""A WAV file that grows: 16 kHz mono 16 bit, readable at any moment, since its header follows each write."""

from __future__ import annotations

import os

import numpy as np

from voice.audio import WAV_HEADER_BYTES, Samples, wav_header
from voice.errors import JournalError
from voice.journal.folder import write_whole


class Wav:
    """An open file, which it closes; it may hold some sound already."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._size = size_of(file) if os.fstat(file).st_size else 0

    def write(self, samples: Samples) -> None:
        """Add sound. Where that fails nothing of it is there, as far as the header says."""
        data = samples.astype("<i2").tobytes()
        write_whole(self._file, data, WAV_HEADER_BYTES + self._size)
        write_whole(self._file, wav_header(self._size + len(data)), 0)
        self._size += len(data)

    def close(self) -> None:
        """Nothing more comes."""
        os.close(self._file)


def size_of(file: int) -> int:
    """Bytes of sound in a file of ours, which may have been left at any moment.

    What its header does not know of yet is sound all the same. Raises `JournalError` for any other file.
    """
    there = os.fstat(file).st_size
    start = os.pread(file, WAV_HEADER_BYTES, 0)
    if there <= WAV_HEADER_BYTES:
        return 0
    if any(start):  # else the header was still to come, after the first sound
        shape, ours = bytearray(start), bytearray(wav_header(0))
        for size_at in (4, 40):
            shape[size_at : size_at + 4] = ours[size_at : size_at + 4] = bytes(4)
        if shape != ours:
            raise JournalError("That is no sound of the journal.")
    return (there - WAV_HEADER_BYTES) // 2 * 2


def samples_of(file: int) -> Samples:
    """The sound in such a file; raises as `size_of` does."""
    return np.frombuffer(os.pread(file, size_of(file), WAV_HEADER_BYTES), "<i2").astype(np.int16)
