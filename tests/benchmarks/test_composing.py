"""Composed replies: the speech is where it is said to be, and the pauses are as long as they should be."""

import wave
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from composing import (
    by_speaker,
    compose,
    lasting,
    long_reply,
    longest_pause_s,
    mixed,
    pairs_of,
    quiet_of,
    usable,
)
from corpus import Clip

from voice.audio import SAMPLE_RATE

NOISE, BREATH, TONE = 20, 100, 8_000


@pytest.fixture
def recorded(tmp_path):
    def record(name, *, lead_s=0.3, speech_s=0.5, tail_s=0.3, breath_s=0.0, speaker="a"):
        draw = np.random.default_rng(len(name))
        samples = draw.integers(-NOISE, NOISE, round((lead_s + speech_s + tail_s) * SAMPLE_RATE))
        start, end = round(lead_s * SAMPLE_RATE), round((lead_s + speech_s) * SAMPLE_RATE)
        breath = round((lead_s - breath_s) * SAMPLE_RATE)
        samples[breath:start] *= BREATH // NOISE
        samples[start:end] += (TONE * np.sin(np.arange(end - start) / 5)).astype(int)
        with wave.open(str(tmp_path / name), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(SAMPLE_RATE)
            file.writeframes(samples.astype("<i2").tobytes())
        span = (lead_s - breath_s, lead_s + speech_s)
        path = tmp_path / name
        return Clip(name, path, "sentence", span[1] + tail_s, name, "en", (span,), (), speaker, False, False)

    return record


def loud(samples):
    """Where it is loud: (start, end) in seconds, pauses under 50 ms apart."""
    places = np.flatnonzero(np.abs(samples) > TONE / 2) / SAMPLE_RATE
    breaks = np.flatnonzero(np.diff(places) > 0.05)
    return list(zip(places[[0, *(breaks + 1)]], places[[*breaks, -1]], strict=True))


@pytest.mark.parametrize("tail_s", [0.0, 0.03, 0.3])
def test_the_pause_is_as_long_as_asked_for(recorded, tail_s):
    composed = compose([recorded("one", tail_s=tail_s), recorded("two")], [1.4])
    (first_start, first_end), (second_start, second_end) = loud(composed.samples)
    assert second_start - first_end == pytest.approx(1.4, abs=0.02)
    assert composed.spans[0] == pytest.approx((first_start, first_end), abs=0.02)
    assert composed.spans[1] == pytest.approx((second_start, second_end), abs=0.02)
    assert composed.reference == "one two"


def test_the_pause_is_the_quiet_of_the_room(recorded):
    composed = compose([recorded("one"), recorded("two")], [1.4])
    pause = composed.samples[round(1.2 * SAMPLE_RATE) : round(2.2 * SAMPLE_RATE)]
    assert 0 < np.abs(pause).max() <= 4 * NOISE
    assert pause.std() > NOISE / 4


def test_quiet_is_found_outside_the_speech():
    samples = np.full(3 * SAMPLE_RATE, 50, np.int16)
    samples[SAMPLE_RATE : 2 * SAMPLE_RATE] = 0
    assert quiet_of(samples, SAMPLE_RATE, 2 * SAMPLE_RATE).max() == 50
    assert quiet_of(samples, 0, 3 * SAMPLE_RATE).max() == 0


def test_what_lasts_is_noise_of_the_same_colour():
    draw = np.random.default_rng(1)
    hum = np.sin(np.arange(3_200) * 2 * np.pi * 100 / SAMPLE_RATE) * 300 + draw.normal(0, 20, 3_200)
    longer = lasting(hum.astype(np.int16), 3 * SAMPLE_RATE, draw)
    assert len(longer) == 3 * SAMPLE_RATE
    assert longer.std() == pytest.approx(hum.std(), rel=0.2)
    power = np.abs(np.fft.rfft(longer.astype(float))) ** 2
    near_100_hz = power[3 * 90 : 3 * 110].sum()
    assert near_100_hz > 0.8 * power.sum()
    assert not lasting(hum.astype(np.int16), 0, draw).size


def test_pairs_are_of_one_speaker_and_no_clip_is_in_two(recorded):
    clips = [recorded(f"{speaker}{n}", speaker=speaker) for speaker in "abc" for n in range(5)]
    pairs = pairs_of([*clips, recorded("nobody", speaker=None)], 100, seed=1)
    assert len(pairs) == 6
    assert all(first.speaker == second.speaker for first, second in pairs)
    assert len({clip.id for pair in pairs for clip in pair}) == 12
    assert pairs_of(clips, 2, seed=1) == pairs_of(clips, 2, seed=1)
    assert len(pairs_of(clips, 2, seed=1)) == 2


def test_a_breath_belongs_to_the_pause(recorded):
    breathing = recorded("breath", breath_s=0.25)
    composed = compose([recorded("one"), breathing], [1.0])
    (_, first_end), (second_start, _) = loud(composed.samples)
    assert second_start - first_end == pytest.approx(1.0, abs=0.02)


def test_orders(recorded):
    clips = [recorded(f"{speaker}{n}", speaker=speaker) for speaker in "abc" for n in range(4)]
    alone = recorded("alone", speaker="d")
    assert sorted(clip.id for clip in mixed(clips, 1)) == sorted(clip.id for clip in clips)
    assert mixed(clips, 1) == mixed(clips, 1) != mixed(clips, 2)
    speakers = [clip.speaker for clip in by_speaker([alone, *clips], 1)]
    assert sorted(speakers) == sorted("aaaabbbbccccd")
    assert sum(one != other for one, other in pairwise(speakers)) == 3
    assert speakers[-1] == "d"


def test_clips_that_begin_with_speech_are_not_composed(recorded):
    assert usable(recorded("one"))
    assert not usable(recorded("cut off", lead_s=0.02))
    assert not usable(replace(recorded("one"), transcript=None))
    assert not usable(replace(recorded("one"), turns=((0.3, 0.4), (0.6, 0.8))))


def test_the_longest_pause_inside_a_clip(recorded):
    clip = recorded("one")
    assert longest_pause_s(clip) == 0.0
    segments = ((0.0, 1.0), (1.5, 2.0), (3.25, 4.0))
    assert longest_pause_s(replace(clip, segments=segments)) == 1.25


def test_a_long_reply_is_as_long_as_asked_for(recorded):
    clips = [recorded(f"clip {n:02}") for n in range(20)]
    composed = long_reply(clips, 12.0, (0.3, 1.4), seed=3)
    assert 12.0 <= composed.duration_s < 14.0
    assert list(composed.clips) == clips[: len(composed.clips)]
    pauses = [after[0] - before[1] for before, after in pairwise(composed.spans)]
    assert min(pauses) >= 0.28
    assert max(pauses) <= 1.42
