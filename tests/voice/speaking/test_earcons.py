"""Earcons: short, soft at both ends, told apart, and never heard as speech by what really listens."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from voice.assembly import find_weights, make_ear, make_transcriber
from voice.audio import SAMPLE_RATE, Framer, Samples, level_dbfs
from voice.events import SpeechStarted, UserMessage
from voice.loop import Hearing
from voice.settings import HearingSettings, TranscriptionSettings
from voice.speaking.earcons import LONGEST_S, Earcon, sound_of


@pytest.mark.parametrize("earcon", Earcon)
def test_it_is_short_and_has_no_click(earcon: Earcon) -> None:
    sound = sound_of(earcon)
    assert 0.04 <= sound.duration_s <= LONGEST_S == 0.15
    assert sound.rate == SAMPLE_RATE
    assert -25 < level_dbfs(sound.samples) < -15
    assert abs(int(sound.samples[0])) < 50
    assert abs(int(sound.samples[-1])) < 50
    assert np.abs(np.diff(sound.samples[:16].astype(int))).max() < 2_000


@pytest.mark.parametrize("earcon", Earcon)
def test_its_volume_is_set(earcon: Earcon) -> None:
    full, half, none = (sound_of(earcon, volume).samples for volume in (1.0, 0.5, 0.0))
    assert level_dbfs(full) - level_dbfs(half) == pytest.approx(6, abs=0.1)
    assert not none.any()


def test_no_two_are_alike() -> None:
    for one, other in combinations(Earcon, 2):
        a, b = (sound_of(earcon).samples.astype(float) for earcon in (one, other))
        shorter = min(len(a), len(b))
        likeness = np.corrcoef(a[:shorter], b[:shorter])[0, 1] * shorter / max(len(a), len(b))
        assert likeness < 0.7, (one, other)


def in_a_room(earcon: Earcon, gain: float, noise_dbfs: float | None, times: int) -> Samples:
    """Two seconds, and in them the earcon, so often, as a microphone hears it: louder, fainter, in noise."""
    heard = np.zeros(2 * SAMPLE_RATE)
    if noise_dbfs is not None:
        heard += np.random.default_rng(7).normal(0, 32_768 * 10 ** (noise_dbfs / 20), len(heard))
    sound = sound_of(earcon).samples
    for time in range(times):
        at = SAMPLE_RATE // 2 + time * SAMPLE_RATE // 3
        heard[at : at + len(sound)] += gain * sound
    return np.clip(np.rint(heard), -32_768, 32_767).astype(np.int16)


GAINS = (0.03, 0.3, 1.0, 4.0)
NOISES = (None, -60.0, -40.0)


@pytest.mark.parametrize("earcon", Earcon)
def test_the_detector_does_not_take_it_for_speech(earcon: Earcon) -> None:
    for gain in GAINS:
        for noise_dbfs in NOISES:
            for times in (1, 4):
                ear = make_ear(HearingSettings())
                for frame in Framer().push(in_a_room(earcon, gain, noise_dbfs, times)):
                    heard = ear.push(frame)
                    assert not [what for what in heard if isinstance(what, SpeechStarted)], (gain, noise_dbfs)


def test_the_detector_takes_speech_for_speech(fixtures_folder) -> None:
    """The same path, so that the test above can fail."""
    import wave

    with wave.open(str(fixtures_folder / "yes.wav")) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    ear = make_ear(HearingSettings())
    assert any(
        isinstance(what, SpeechStarted) for frame in Framer().push(samples) for what in ear.push(frame)
    )


@pytest.mark.slow
@pytest.mark.anyio
async def test_whisper_makes_no_message_of_them() -> None:
    settings = TranscriptionSettings()
    quiet = np.random.default_rng(7).normal(0, 30, 3 * SAMPLE_RATE).astype(np.int16)
    heard = [in_a_room(earcon, gain, -60.0, 3) for earcon in Earcon for gain in (0.3, 1.0, 4.0)]
    async with make_transcriber(settings, find_weights(settings)) as whisper:
        hearing = Hearing(make_ear(HearingSettings()), whisper)
        for samples in [*heard, quiet]:
            for frame in Framer().push(samples):
                events = await hearing.push(frame)
                assert not [event for event in events if isinstance(event, UserMessage)]
        assert not hearing.busy
