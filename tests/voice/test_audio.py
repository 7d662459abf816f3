import io
import struct
import wave

import numpy as np
import pytest

from voice.audio import (
    FRAME_SAMPLES,
    SAMPLE_RATE,
    SILENCE_DBFS,
    WAV_HEADER_BYTES,
    Framer,
    Resampler,
    level_dbfs,
    to_float,
    to_int16,
    wav_header,
)

RNG = np.random.default_rng(3)


def in_chunks(samples, size):
    return [samples[start : start + size] for start in range(0, len(samples), size)]


def heard(stage, chunks):
    frames = [frame for chunk in chunks for frame in stage.push(chunk)]
    return np.stack([*frames, *stage.flush()])


@pytest.mark.parametrize("chunk_ms", [10, 20, 30, 64, 100])
def test_the_framer_gives_the_same_frames_for_any_chunk(chunk_ms):
    sound = RNG.integers(-30_000, 30_000, SAMPLE_RATE + 123, dtype=np.int16)
    frames = heard(Framer(), in_chunks(sound, SAMPLE_RATE * chunk_ms // 1_000))
    assert frames.shape == (51, FRAME_SAMPLES)
    assert np.array_equal(frames.ravel()[: len(sound)], sound)
    assert not frames.ravel()[len(sound) :].any()


@pytest.mark.parametrize("size", [1, 7, 319, 321, 4_999])
def test_odd_chunks_are_framed_alike(size):
    sound = RNG.integers(-30_000, 30_000, 5_000, dtype=np.int16)
    assert np.array_equal(heard(Framer(), in_chunks(sound, size)), heard(Framer(), [sound]))


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 48_000])
@pytest.mark.parametrize("channels", [1, 2])
def test_the_resampler_gives_the_same_frames_for_any_chunk(rate, channels):
    sound = RNG.uniform(-0.9, 0.9, (rate, channels)).astype(np.float32)
    sizes = [*(rate * ms // 1_000 for ms in (10, 20, 30, 64, 100)), 1_013]
    whole = heard(Resampler(rate, channels), [sound])
    assert whole.shape == (50, FRAME_SAMPLES)
    for size in sizes:
        assert np.array_equal(heard(Resampler(rate, channels), in_chunks(sound, size)), whole)


def test_16_khz_mono_passes_bit_for_bit():
    sound = RNG.integers(-32_768, 32_767, 3_200, dtype=np.int16)
    assert np.array_equal(heard(Resampler(SAMPLE_RATE), [to_float(sound)]).ravel(), sound)


def test_too_loud_is_clipped_and_never_wraps():
    assert to_int16(np.array([-2, -1, 1, 2], np.float32)).tolist() == [-32_768, -32_768, 32_767, 32_767]


def test_levels():
    square = np.tile(np.array([16_384, -16_384], np.int16), 160)
    assert level_dbfs(square) == pytest.approx(-6.02, abs=0.01)
    assert level_dbfs(np.zeros(320, np.int16)) == SILENCE_DBFS
    assert level_dbfs(np.zeros(0, np.int16)) == SILENCE_DBFS


@pytest.mark.parametrize("samples", [0, 1, 320, 160_000])
def test_a_wav_header_is_the_one_that_others_write(samples):
    file = io.BytesIO()
    with wave.open(file, "wb") as theirs:
        theirs.setparams((1, 2, SAMPLE_RATE, 0, "NONE", ""))
        theirs.writeframes(bytes(2 * samples))
    assert wav_header(2 * samples) == file.getvalue()[:WAV_HEADER_BYTES]


@pytest.mark.parametrize("sound_bytes", [0xFFFF_FFFF - 35, 0xFFFF_FFFF])
def test_a_wav_header_never_says_more_than_it_can(sound_bytes):
    header = wav_header(sound_bytes)
    assert struct.unpack_from("<I", header, 4) == (0xFFFF_FFFF,)
    assert struct.unpack_from("<I", header, 40) == (sound_bytes,)
