"""WebRTC's canceller takes our voice out, and leaves the person's in."""

import sys

import numpy as np
import pytest

from voice.audio import FRAME_SAMPLES, SAMPLE_RATE, level_dbfs
from voice.backends.aec3 import Aec3
from voice.errors import LibraryMissing


def noise(seed, seconds):
    random = np.random.default_rng(seed)
    loudness = np.repeat(random.uniform(0.2, 1, round(seconds * 10)), SAMPLE_RATE // 10)
    return random.normal(0, 3_000, len(loudness)) * loudness


def cancelled(heard, played):
    canceller = Aec3()
    return np.concatenate(
        [
            canceller.cancel(near, far)
            for near, far in zip(
                heard.astype(np.int16).reshape(-1, FRAME_SAMPLES),
                played.astype(np.int16).reshape(-1, FRAME_SAMPLES),
                strict=True,
            )
        ]
    )


@pytest.mark.parametrize("delay_s", [0.05, 0.2])
def test_our_voice_is_taken_out_whatever_the_delay(delay_s):
    pytest.importorskip("pywebrtc_audio")
    played = noise(1, 6.0)
    heard = 0.5 * np.concatenate([np.zeros(round(delay_s * SAMPLE_RATE)), played])[: len(played)]
    left = cancelled(heard, played)
    second_half = slice(len(heard) // 2, None)
    assert level_dbfs(left[second_half]) < level_dbfs(heard[second_half].astype(np.int16)) - 15


def test_a_person_is_left_as_they_are_while_nothing_is_played():
    pytest.importorskip("pywebrtc_audio")
    person = noise(2, 3.0)
    left = cancelled(person, np.zeros(len(person)))
    assert abs(level_dbfs(left) - level_dbfs(person.astype(np.int16))) < 3


def test_without_the_library_there_is_a_sentence_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pywebrtc_audio", None)
    with pytest.raises(LibraryMissing, match="pip install 'pywebrtc-audio") as caught:
        Aec3()
    assert "pywebrtc_audio" in caught.value.sentence
