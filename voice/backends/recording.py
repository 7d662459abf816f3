"""A recording as a microphone. PyAV (``av``) decodes it; it is imported when it is used.

A recording is heard whole or not at all. What its header can tell is checked before the first frame is given
out; what only decoding can tell (a cut or damaged file) is raised where it is found, among the frames.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, closing
from pathlib import Path
from typing import Any, BinaryIO

import anyio.lowlevel
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from voice.audio import Frame, Resampler, Samples
from voice.backends.wav import check_shape, is_wav, samples_promised, soundless
from voice.errors import RecordingError

_CONTAINERS = "wav,w64,flac,ogg,mp3,matroska,webm,mov,mp4,aac,aiff,au,caf,amr"
"""FFmpeg demuxers that hold sound and nothing else: no playlist that could name other files or addresses."""

_LOUDEST = 16.0
"""Float samples beyond this (24 dB over full scale) are other numbers, read as floats."""

_SLACK_S = 0.25
"""What a lossy codec may lack of its declared length: priming and padding at its ends."""

_GAP_S = 0.05
"""How far times may run ahead of the samples before some are missing: above rounding, below a frame."""

_DAMAGED = "copy or record it again"


class RecordingMicrophone:
    """A recording, heard as if somebody spoke it: any rate, any channels, as fast as it is listened to.

    It reads WAV (8 to 32 bit, float, A-law, mu-law), FLAC, MP3, Ogg, Opus, WebM and M4A, a piece at a time.
    The last frame is filled up with silence.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    @property
    def name(self) -> str:
        """The path as it was given."""
        return str(self._path)

    @property
    def live(self) -> bool:
        """False: it waits for its listener."""
        return False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[Frame]]:
        """Open it and check its header.

        Raises `RecordingError` here where there is no such file or it is no recording, and among the frames
        where it turns out to be damaged or shorter than it says.
        """
        with closing(await anyio.to_thread.run_sync(_Recording, self._path)) as recording:
            async with aclosing(_frames(recording)) as frames:
                yield frames


def read_recording(path: str | os.PathLike[str]) -> Samples:
    """A whole recording as mono samples at SAMPLE_RATE, filled up with silence to a whole frame.

    Raises `RecordingError` as `RecordingMicrophone` does.
    """
    with closing(_Recording(Path(path))) as recording:
        return np.concatenate([frame for piece in recording.pieces() for frame in piece])


async def _frames(recording: _Recording) -> AsyncGenerator[Frame]:
    for piece in recording.pieces():
        await anyio.lowlevel.checkpoint()
        for frame in piece:
            yield frame


class _Recording:
    """An open recording, its header checked."""

    def __init__(self, path: Path) -> None:
        import av

        self._path = path
        self._expected = _check_file(path)
        self._slack = 0
        try:
            # "file:" keeps FFmpeg from reading the name as a protocol.
            self._container = av.open(
                f"file:{path}",
                options={"format_whitelist": _CONTAINERS, "protocol_whitelist": "file"},
                metadata_errors="ignore",
            )
        except av.error.FFmpegError:
            raise RecordingError(
                f"{path} is not a recording that can be read (WAV, FLAC, MP3, Ogg, Opus, WebM and M4A can).",
                mend="name a recording, or convert it to WAV",
            ) from None
        try:
            self._look_at_header()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._container.close()

    def pieces(self) -> Iterator[Iterator[Frame]]:
        """The frames of one decoded piece after the other; raises `RecordingError`."""
        import av

        resampler = Resampler(self._rate, self._channels)
        came, offset_s = 0, None
        # FFmpeg leaves out damaged frames of FLAC and pages of Ogg without a word; their times tell.
        gapless = self._container.format.name in {"flac", "ogg"}
        try:
            for piece in self._container.decode(self._stream):
                if gapless and piece.time is not None:
                    ahead_s = piece.time - came / self._rate
                    offset_s = ahead_s if offset_s is None else offset_s
                    if ahead_s - offset_s > _GAP_S:
                        raise self._broken(came, "a part is missing")
                samples = self._as_float(piece)
                if isinstance(samples, str):
                    raise self._broken(came, samples)
                came += len(samples)
                yield resampler.push(samples)
        except av.error.FFmpegError:
            raise self._broken(came, "it cannot be decoded") from None
        if self._expected is not None and came < self._expected - self._slack:
            raise self._broken(came, "it ends")
        if not came:
            raise soundless(self._path)
        yield resampler.flush()

    def _look_at_header(self) -> None:
        container = self._container
        if not container.streams.audio:
            raise RecordingError(f"{self._path} holds no sound track.", mend="name a recording with sound")
        self._stream = stream = container.streams.audio[0]
        self._rate, self._channels = stream.rate or 0, stream.channels or 0
        check_shape(self._path, self._rate, self._channels)
        if stream.codec_context.name == "flac":
            # Else FFmpeg takes a frame whose checksum is wrong for a good one.
            stream.codec_context.options = {"err_detect": "crccheck+explode"}
        if self._expected is None and (declared_s := _declared_s(self._path, container, stream)):
            self._expected = round(declared_s * self._rate)
            self._slack = 0 if container.format.name == "flac" else round(_SLACK_S * self._rate)

    def _as_float(self, piece: Any) -> NDArray[np.float32] | str:
        """The samples of an ``av.AudioFrame``, full scale 1, shape (n, channels); or what is wrong."""
        if piece.is_corrupt:
            return "it is damaged"
        if (piece.sample_rate, piece.layout.nb_channels) != (self._rate, self._channels):
            return "its rate or its number of channels changes"
        array: NDArray[Any] = piece.to_ndarray()
        array = array.T if piece.format.is_planar else array.reshape(-1, self._channels)
        if array.dtype.kind == "f":
            # Said the positive way, so that NaN is refused as well.
            sane = not array.size or bool(np.abs(array).max() <= _LOUDEST)
            return array.astype(np.float32) if sane else "its samples are no numbers that sound can have"
        if array.dtype.kind == "u":
            return (array.astype(np.float32) - np.float32(128)) / np.float32(128)
        return array.astype(np.float32) / np.float32(1 << 8 * array.dtype.itemsize - 1)

    def _broken(self, came: int, what: str) -> RecordingError:
        of = "" if self._expected is None else f" of {self._expected / self._rate:.2f} s"
        return RecordingError(
            f"{self._path} is cut short or damaged: after {came / self._rate:.2f} s{of} {what}.",
            mend=_DAMAGED,
        )


def _check_file(path: Path) -> int | None:
    """Refuse what is no whole file; how many samples a WAV header promises, None for any other file."""
    try:
        if path.is_dir():
            raise RecordingError(f"{path} is a folder.", mend="name a recording inside it")
        size = path.stat().st_size
        if not path.is_file():
            raise RecordingError(
                f"{path} is not a regular file, and cannot be checked before it is heard.",
                mend="save the sound to a file first, or pipe it in as raw samples",
            )
        if not size:
            raise RecordingError(f"{path} is empty.", mend="record it again")
        with path.open("rb") as file:
            start = file.read(12)
            if is_wav(start):
                return samples_promised(path, file, size)
            if start[:4] == b"OggS":
                _check_last_page(path, file, size)
    except FileNotFoundError:
        raise RecordingError(f"There is no file {path}.", mend="check the path") from None
    except OSError as error:
        raise RecordingError(
            f"{path} cannot be opened: {error.strerror}.", mend="check the path and its permissions"
        ) from None
    return None


def _check_last_page(path: Path, file: BinaryIO, size: int) -> None:
    """Refuse an Ogg file that ends inside a page (RFC 3533, section 6): it declares no length to go by."""
    header, longest = 27, 27 + 255 + 255 * 255
    file.seek(max(0, size - longest))
    tail = file.read()
    page = tail[max(tail.rfind(b"OggS"), 0) :]
    lacing = page[header : header + page[header - 1]] if len(page) >= header else b""
    if len(page) < header or len(page) < header + page[header - 1] + sum(lacing):
        raise RecordingError(f"{path} is cut short: its last page is not whole.", mend=_DAMAGED)


def _declared_s(path: Path, container: Any, stream: Any) -> float | None:
    """The length in seconds that a header other than WAV's declares; None where FFmpeg would guess it."""
    kind = container.format.name.split(",")[0]
    if kind == "matroska":
        # The length is that of the longest track, which need not be the sound.
        alone = len(container.streams) == 1 and container.duration
        return container.duration / 1_000_000 if alone else None
    if kind in {"flac", "mov", "aiff", "au", "caf", "w64"} or (kind == "mp3" and _counts_its_frames(path)):
        return float(stream.duration * stream.time_base) if stream.duration else None
    return None


def _counts_its_frames(path: Path) -> bool:
    """Whether an MP3 opens with a frame that tells how many follow, as encoders write since Xing's."""
    with path.open("rb") as file:
        start = file.read(10)
        # The size of an ID3v2 tag: four bytes of seven bits.
        a, b, c, d = start[6:10] if start[:3] == b"ID3" else bytes(4)
        file.seek((a << 21 | b << 14 | c << 7 | d) + (10 if start[:3] == b"ID3" else 0))
        first = file.read(256)
    return any(tag in first for tag in (b"Xing", b"Info", b"VBRI"))
