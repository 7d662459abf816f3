"""Only as much of a window is encoded as there is sound in it, and the words are those of a whole one."""

import numpy as np
import pytest

from voice.audio import to_float
from voice.backends.recording import read_recording
from voice.backends.whisper_engine import LEAST_FRAMES, WINDOW_FRAMES, ShortWindowWhisper
from voice.backends.whisper_models import find_model

pytestmark = pytest.mark.slow

TINY = 384


@pytest.fixture(scope="module")
def engine():
    return ShortWindowWhisper(
        str(find_model(download=False)), device="cpu", compute_type="int8", cpu_threads=1
    )


def padded(engine, frames):
    """Features with so many frames of sound."""
    features = np.zeros((80, WINDOW_FRAMES), np.float32)
    features[:, :frames] = np.random.default_rng(1).normal(0, 0.3, (80, frames))
    return features


def encoded(engine, features):
    return np.array(engine.encode(features))


@pytest.mark.parametrize(("sound", "window"), [(150, LEAST_FRAMES[TINY]), (1_001, 1_202)])
def test_behind_the_window_there_is_the_encoding_of_silence(engine, sound, window):
    engine.full_window = False
    encoding = encoded(engine, padded(engine, sound))
    assert encoding.shape == (1, WINDOW_FRAMES // 2, TINY)
    assert np.array_equal(encoding[:, window // 2 :], engine._silence[:, window // 2 :])
    assert not np.array_equal(encoding[:, window // 2 - 1], engine._silence[:, window // 2 - 1])


def test_a_sound_that_leaves_no_room_is_encoded_whole(engine):
    features = padded(engine, 2_900)
    engine.full_window = False
    short = encoded(engine, features)
    engine.full_window = True
    assert np.allclose(short, encoded(engine, features))


def test_what_silence_was_laid_over_is_not_changed(engine):
    engine.full_window = False
    before = engine._silence.copy()
    encoded(engine, padded(engine, 300))
    assert np.array_equal(engine._silence, before)


def test_a_model_that_nobody_has_measured_has_the_whole_window(engine, monkeypatch):
    monkeypatch.setattr("voice.backends.whisper_engine.LEAST_FRAMES", {})
    other = ShortWindowWhisper(
        str(find_model(download=False)), device="cpu", compute_type="int8", cpu_threads=1
    )
    assert other.least_frames == WINDOW_FRAMES


@pytest.mark.parametrize("name", ["yes", "second-one", "sentence-commit", "digits-4271"])
def test_the_words_are_those_of_the_whole_window(engine, fixtures_folder, name):
    samples = to_float(read_recording(fixtures_folder / f"{name}.wav"))
    texts = []
    for engine.full_window in (False, True):
        parts, _ = engine.transcribe(
            samples, language="en", beam_size=1, without_timestamps=True, temperature=0.0
        )
        texts.append("".join(part.text for part in parts))
    assert texts[0] == texts[1]
