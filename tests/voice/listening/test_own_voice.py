"""What of the sound in the microphone is what we played: noise for voices, and a made-up room."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.audio import FRAME_SAMPLES, SAMPLE_RATE, level_dbfs
from voice.listening.own_voice import (
    MOSTLY_OURS,
    Played,
    Remover,
    Sent,
    Tape,
    framed,
    less,
    own_voice,
    share,
    shares,
    taken_along,
)

KEPT_S = 10.0


def voice(seed, seconds, level=3_000):
    """Noise that swells and falls as speech does, with pauses."""
    random = np.random.default_rng(seed)
    count = round(seconds * SAMPLE_RATE)
    loudness = np.repeat(random.uniform(0, 1, count // 1_600 + 1) ** 2, 1_600)[:count]
    return random.normal(0, level, count) * loudness


def room(seed=3):
    random = np.random.default_rng(seed)
    answer = random.normal(0, 1, 2_400) * np.exp(-np.arange(2_400) / 400)
    return 0.5 * answer / np.abs(answer).sum() * 8


def in_room(played, *, delay_s=0.08, seed=3):
    heard = np.convolve(played, room(seed))[: len(played)]
    delay = round(delay_s * SAMPLE_RATE)
    return np.concatenate([np.zeros(delay), heard])[: len(played)]


def as_heard(*parts):
    hiss = np.random.default_rng(9).normal(0, 20, len(parts[0]))
    return np.clip(sum(parts) + hiss, -32_768, 32_767).astype(np.int16)


def sent(*sounds):
    """One after another, each with a number of its own."""
    numbers = [np.full(len(sound), number, np.int16) for number, sound in enumerate(sounds, start=1)]
    samples = np.concatenate(sounds).astype(np.int16)
    return Sent(samples, np.concatenate(numbers))


@pytest.mark.parametrize("delay_s", [0.0, 0.08, 0.3, 0.5])
def test_our_voice_is_explained_whatever_the_device_is_late(delay_s):
    played = voice(1, 4.0)
    heard = as_heard(in_room(played, delay_s=delay_s))
    assert share(heard, own_voice(heard, sent(played))) > 0.9


def test_our_voice_is_explained_though_the_device_is_late_by_another_amount_with_each_sound():
    sounds = [voice(seed, 1.5) for seed in (1, 2, 3)]
    silence = np.zeros(24_000)
    heard = as_heard(
        *(
            in_room(
                np.concatenate([silence if other != at else sounds[at] for other in range(3)]), delay_s=late_s
            )
            for at, late_s in enumerate((0.03, 0.07, 0.05))
        )
    )
    assert share(heard, own_voice(heard, sent(*sounds))) > 0.85
    together = Sent(sent(*sounds).samples, np.ones(len(heard), np.int16))
    assert share(heard, own_voice(heard, together)) < 0.6, "that is what telling them apart is for"


def test_somebody_who_talks_meanwhile_is_not_explained():
    played, person = voice(1, 4.0), voice(2, 4.0)
    person[:24_000] = person[48_000:] = 0
    heard = as_heard(in_room(played), person)
    explained = shares(heard, own_voice(heard, sent(played)))
    loud = np.array([level_dbfs(frame) > -30 for frame in framed(person.astype(np.int16))])
    assert np.median(explained[loud]) < 0.5
    alone = (np.arange(len(explained)) < 70) & (explained > 0)
    assert np.median(explained[alone]) > MOSTLY_OURS


def test_a_sound_that_has_nothing_to_do_with_it_is_not_explained():
    person = as_heard(voice(2, 4.0))
    assert share(person, own_voice(person, sent(voice(1, 4.0)))) < 0.25


def test_of_too_little_nothing_can_be_told():
    played = np.zeros(4 * SAMPLE_RATE)
    played[:1_600] = voice(1, 0.1)
    assert not own_voice(as_heard(in_room(played)), sent(played)).any()
    silence = np.zeros(SAMPLE_RATE, np.int16)
    assert not own_voice(silence, Sent(silence, silence)).any()
    assert not own_voice(silence, sent(voice(1, 1.0))).any()
    heard = as_heard(voice(1, 1.0))
    assert not own_voice(heard, Sent(silence, silence)).any()


def test_what_is_left_is_silent_where_it_was_ours_and_untouched_where_it_was_not():
    heard = as_heard(np.concatenate([voice(1, 0.2), voice(2, 0.2)]))
    echo = heard / 32_768
    echo[3_200:] = 0.0
    left = less(heard, echo)
    assert not left[:3_200].any()
    assert np.array_equal(left[3_200:], heard[3_200:])


def test_it_is_known_what_else_is_taken_out_with_our_voice():
    frames = np.random.default_rng(1).normal(0, 1_000, (4, FRAME_SAMPLES))
    ours = frames * np.array([[1.0], [1.0], [1.0], [0.0]])
    others = np.random.default_rng(2).normal(0, 1_000, (4, FRAME_SAMPLES))
    others *= np.array([[0.0], [0.5], [2.0], [1.0]])
    heard = (ours + others).astype(np.int16).reshape(-1)
    echo = ours.reshape(-1) / 32_768
    taken = taken_along(heard, echo)
    assert taken[1] == pytest.approx(np.square(others[1] / 32_768).sum(), rel=0.01)
    assert not taken[[0, 2, 3]].any(), "nothing else was in it, or it is left"
    assert not framed(less(heard, echo))[1].any()


def test_frame_by_frame_our_voice_is_taken_out_once_the_room_is_known():
    played, person = voice(1, 6.0).astype(np.int16), voice(2, 6.0)
    person[: 4 * SAMPLE_RATE] = 0
    heard = as_heard(in_room(played), person)
    near, far, remover = Tape(KEPT_S), Played(KEPT_S), Remover()
    left = []
    for mine, theirs in zip(framed(heard), framed(played), strict=True):
        near.append(mine)
        far.announce(theirs, 0.0)
        far.next_frame()
        left.append(remover.remove(near, far))
    left = np.concatenate(left)
    second = slice(2 * SAMPLE_RATE, 4 * SAMPLE_RATE)
    assert level_dbfs(left[second]) < level_dbfs(heard[second]) - 15
    last = slice(4 * SAMPLE_RATE, 6 * SAMPLE_RATE)
    assert np.corrcoef(left[last], person[last])[0, 1] > 0.9


def test_a_tape_keeps_the_last_seconds_and_begins_with_silence():
    tape = Tape(0.1)
    assert not tape.last(5).any()
    for number in range(1, 14):
        tape.append(np.full(FRAME_SAMPLES, number, np.int16))
        assert tape.last(1)[0] == number
    assert list(tape.last(5)[::FRAME_SAMPLES]) == [9, 10, 11, 12, 13]
    assert list(tape.last(2, before=1)[::FRAME_SAMPLES]) == [11, 12]
    assert list(tape.last(99)[::FRAME_SAMPLES]) == [9, 10, 11, 12, 13]
    assert not len(tape.last(1, before=9))


def test_what_is_played_comes_at_its_time():
    played = Played(1.0)
    assert not played.known
    played.announce(np.full(400, 7, np.int16), 0.04)
    assert played.known
    frames = np.concatenate([played.next_frame() for _ in range(5)])
    assert not frames[:640].any()
    assert (frames[640:1_040] == 7).all()
    assert not frames[1_040:].any()
    assert np.array_equal(played.last(5).samples, frames)
    assert np.array_equal(played.last(5).sounds > 0, frames > 0)


def test_pieces_of_a_sound_follow_each_other_whatever_the_device_tells_of_its_delay():
    played = Played(1.0)
    for in_s in (0.05, 0.11, 0.06, 0.15):
        played.announce(np.full(800, 5, np.int16), in_s)
    frames = np.concatenate([played.next_frame() for _ in range(14)])
    assert (frames[800:4_000] == 5).all()
    assert not frames[:800].any()
    assert not frames[4_000:].any()
    assert set(played.last(14).sounds.tolist()) == {0, 1}


def test_sounds_with_a_pause_between_them_are_told_apart():
    played = Played(1.0)
    for in_s in (0.0, 0.3, 0.0):
        played.announce(np.full(1_600, 5, np.int16), in_s)
        played.announce(np.zeros(0, np.int16), in_s + 0.1)
        for _ in range(6 if in_s == 0.0 else 20):
            played.next_frame()
    assert set(played.last(50).sounds.tolist()) == {0, 1, 2, 3}


def test_what_was_announced_is_not_heard_when_the_speaker_is_stopped():
    played = Played(1.0)
    played.announce(np.full(8_000, 5, np.int16), 0.0)
    played.next_frame()
    played.announce(np.zeros(0, np.int16), 0.0)
    assert not any(played.next_frame().any() for _ in range(30))


@given(st.lists(st.tuples(st.integers(0, 2_000), st.floats(-1.0, 1.0)), max_size=8))
def test_each_frame_is_whole_whatever_is_announced(announced):
    played = Played(1.0)
    for length, in_s in announced:
        played.announce(np.ones(length, np.int16), in_s)
        assert played.next_frame().shape == (FRAME_SAMPLES,)
