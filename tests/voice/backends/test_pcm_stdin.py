import os
import pty
import subprocess
import sys
import threading
import time
from pathlib import Path

import anyio
import numpy as np
import pytest

from voice.audio import FRAME_SAMPLES, SAMPLE_RATE
from voice.backends.pcm_stdin import PcmMicrophone
from voice.errors import RecordingError

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


NOISE = np.random.default_rng(1).integers(-20_000, 20_000, FRAME_SAMPLES * 50, dtype=np.int16)


async def hear(microphone):
    async with microphone.open() as frames:
        return np.concatenate([frame async for frame in frames] or [np.zeros(0, np.int16)])


@pytest.fixture
def pipe():
    read, write = os.pipe()
    with os.fdopen(read, "rb") as out, os.fdopen(write, "wb", buffering=0) as into:
        yield out, into


@pytest.fixture
def terminal():
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0), os.fdopen(theirs, "rb", buffering=0) as stream:
        yield stream


async def test_a_pipe_is_heard_as_it_is_written_whatever_the_pieces(pipe):
    out, into = pipe
    data = NOISE.tobytes()

    def write():
        for start in range(0, len(data), 333):  # odd: samples are torn between writes
            into.write(data[start : start + 333])
        into.close()

    writer = threading.Thread(target=write)
    writer.start()
    heard = await hear(PcmMicrophone(out))
    writer.join()
    assert np.array_equal(heard, NOISE)


async def test_a_last_byte_that_is_half_a_sample_is_dropped_and_the_frame_filled(pipe):
    out, into = pipe
    into.write(NOISE[:100].tobytes() + b"\x7f")
    into.close()
    heard = await hear(PcmMicrophone(out))
    assert len(heard) == FRAME_SAMPLES
    assert np.array_equal(heard[:100], NOISE[:100])
    assert not heard[100:].any()


async def test_other_rates_and_channels_arrive_as_16_khz_mono(pipe):
    out, into = pipe
    tone = (8_000 * np.sin(2 * np.pi * 440 * np.arange(4_800) / 48_000)).astype(np.int16)
    into.write(np.stack([tone, tone], axis=1).tobytes())
    into.close()
    heard = await hear(PcmMicrophone(out, rate=48_000, channels=2))
    expected = 8_000 * np.sin(2 * np.pi * 440 * np.arange(1_600) / SAMPLE_RATE)
    assert len(heard) == 1_600
    assert np.corrcoef(heard, expected)[0, 1] > 0.99


@pytest.fixture
def null_device():
    with Path(os.devnull).open("rb") as stream:
        yield stream


async def test_a_regular_file_can_stand_on_standard_input(tmp_path):
    path = tmp_path / "sound.raw"
    path.write_bytes(NOISE.tobytes())
    with path.open("rb") as file:
        assert np.array_equal(await hear(PcmMicrophone(file)), NOISE)


async def test_the_null_device_is_an_input_that_ends_at_once(null_device):
    assert len(await hear(PcmMicrophone(null_device))) == 0


async def test_waiting_for_a_silent_pipe_can_be_cancelled(pipe):
    out, _ = pipe
    began = time.monotonic()
    with anyio.move_on_after(0.1) as scope:
        await hear(PcmMicrophone(out))
    assert scope.cancelled_caught
    assert time.monotonic() - began < 60


async def test_a_terminal_is_refused_with_what_to_do(terminal):
    with pytest.raises(RecordingError, match="is a terminal") as error:
        await hear(PcmMicrophone(terminal))
    assert "pipe" in (error.value.mend or "")


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"RIFF\x24\xf0\xff\x7fWAVEfmt ", "WAV"),
        (b"fLaC\x00\x00\x00\x22", "FLAC"),
        (b"OggS\x00\x02\x00\x00", "Ogg"),
        (b"ID3\x04\x00\x00\x00\x00", "MP3"),
        (b"\x1aE\xdf\xa3\x9fB\x86\x81", "WebM"),
        (b"\x00\x00\x00\x1cftypM4A ", "M4A"),
    ],
)
async def test_a_file_with_a_header_is_refused(pipe, start, kind):
    out, into = pipe
    into.write(start)
    into.close()
    with pytest.raises(RecordingError, match=rf"is a recording \({kind}\)"):
        await hear(PcmMicrophone(out))


async def test_a_closed_stream_is_refused(pipe):
    out, _ = pipe
    out.close()
    with pytest.raises(RecordingError, match="is closed"):
        await hear(PcmMicrophone(out))


PROGRAM = """
import anyio
from voice.backends.pcm_stdin import PcmMicrophone

async def main():
    async with PcmMicrophone().open() as frames:
        print("open", flush=True)
        with anyio.move_on_after(0.1):
            async for _ in frames:
                pass

anyio.run(main)
"""


def test_a_silent_pipe_does_not_hold_up_the_end_of_the_program():
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as program:
        try:
            assert program.stdout.readline() == b"open\n"
            assert program.wait(timeout=60) == 0
        finally:
            program.kill()
