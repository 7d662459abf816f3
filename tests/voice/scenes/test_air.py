"""What there is to hear, and which words are understood of it."""

import numpy as np
import pytest

from voice.audio import FRAME_S, FRAME_SAMPLES, SAMPLE_RATE, level_dbfs
from voice.scenes.air import Air, noise
from voice.scenes.wording import Wording, placed_words


def speech(seconds, seed=1):
    return noise("white", -20, seconds, str(seed))


def silence(seconds):
    return np.zeros(round(seconds * SAMPLE_RATE), np.int16)


def frames_of(air, seconds, start=0):
    return [air.frame(number) for number in range(start, start + round(seconds / FRAME_S))]


def test_a_sound_is_heard_at_its_time_to_the_sample():
    air, sound = Air(), speech(0.5)
    air.put(0.1003, sound)
    heard = np.concatenate(frames_of(air, 1.0))
    begin = round(0.1003 * SAMPLE_RATE)
    assert not heard[:begin].any()
    assert (heard[begin : begin + len(sound)] == sound).all()
    assert not heard[begin + len(sound) :].any()


def test_sounds_are_added_up_and_clipped():
    air = Air()
    air.put(0.0, np.full(FRAME_SAMPLES, 20_000, np.int16))
    air.put(0.0, np.full(FRAME_SAMPLES, 20_000, np.int16), -6.0206)
    air.put(FRAME_S, np.full(FRAME_SAMPLES, 20_000, np.int16))
    air.put(FRAME_S, np.full(FRAME_SAMPLES, 20_000, np.int16))
    assert air.frame(0)[0] == 30_000
    assert air.frame(1)[0] == 32_767


def test_what_breaks_off_is_not_heard_any_more_and_ours_is_not_theirs():
    air = Air()
    air.put(0.0, speech(1.0))
    air.put(0.0, speech(1.0, 2), ours=True)
    air.cut(0.5, ours=True)
    assert level_dbfs(np.concatenate(frames_of(air, 0.5))) == pytest.approx(-17, abs=0.3)
    assert level_dbfs(np.concatenate(frames_of(air, 0.2, 25))) == pytest.approx(-20, abs=0.3)
    air.cut(0.7)
    assert not np.concatenate(frames_of(air, 0.3, 35)).any()


def test_the_noise_of_a_room_is_the_same_each_time_and_never_repeats():
    one, other = (frames_of(Air(-50), 2.0) for _ in range(2))
    assert (np.concatenate(one) == np.concatenate(other)).all()
    assert len({frame.tobytes() for frame in one}) == len(one)
    assert level_dbfs(np.concatenate(one)) == pytest.approx(-50, abs=0.2)


@pytest.mark.parametrize("kind", ["white", "pink", "tone", "hum"])
def test_a_noise_is_as_loud_and_as_long_as_it_should_be(kind):
    sound = noise(kind, -30, 1.5)
    assert len(sound) == 1.5 * SAMPLE_RATE
    assert level_dbfs(sound) == pytest.approx(-30, abs=0.1)


def test_clicks_have_their_peak():
    assert np.abs(noise("clicks", -12, 2.0)).max() == pytest.approx(32_768 * 10 ** (-12 / 20), abs=1)


# --- Words ---


def test_words_lie_in_the_sound_and_in_their_order():
    sound = np.concatenate([silence(0.4), speech(1.0), silence(0.6)])
    placed = list(placed_words("one two three", sound))
    assert [word for word, _ in placed] == ["one", "two", "three"]
    frames = [frame for _, frame in placed]
    assert frames == sorted(frames)
    assert 20 <= frames[0] < frames[-1] < 70


def test_a_pause_in_the_text_is_the_longest_in_the_sound():
    sound = np.concatenate([speech(0.5), silence(0.3), speech(0.5, 2), silence(1.4), speech(0.5, 3)])
    placed = dict(placed_words("I would like … that", sound))
    assert placed["like"] < 65
    assert placed["that"] >= 135
    shorter = dict(placed_words("all … of … this … here", sound))  # more pauses than there are
    assert list(shorter) == ["all", "of", "this", "here"]


def heard_through(wording, sound, at_s=0.0, seconds=3.0, text="one two three four"):
    air = Air()
    air.put(at_s, sound)
    wording.put(text, sound, at_s)
    frames = frames_of(air, seconds)
    for number, frame in enumerate(frames):
        wording.heard(number, frame)
    return frames


def test_of_a_piece_those_words_are_understood_that_are_in_it():
    wording = Wording()
    frames = heard_through(wording, speech(2.0), 0.5)
    assert wording.understood(np.concatenate(frames)) == ("one two three four", (0,))
    assert wording.understood(np.concatenate(frames[:75]))[0] == "one two"
    assert wording.understood(np.concatenate(frames[75:]))[0] == "three four"
    assert wording.understood(np.concatenate(frames[:25])) == ("", ())
    assert wording.span(np.concatenate(frames[30:60])) == (30, 59)


def test_a_piece_with_a_gap_has_no_word_of_the_gap():
    wording = Wording()
    frames = heard_through(wording, speech(2.0))
    assert wording.understood(np.concatenate(frames[:30] + frames[70:]))[0] == "one four"


def test_who_says_the_same_twice_has_said_it_twice():
    wording, air = Wording(), Air()
    frames = []
    for at_s in (0.0, 1.0):
        air.put(at_s, speech(0.5))
        wording.put("yes", speech(0.5), at_s)
    for number in range(100):
        frames.append(air.frame(number))
        wording.heard(number, frames[-1])
    assert wording.understood(np.concatenate(frames)) == ("yes yes", (0, 1))
    assert wording.understood(np.concatenate(frames[:40]))[0] == "yes"


def test_what_was_changed_on_the_way_is_taken_to_lie_before_what_was_not():
    wording = Wording()
    frames = heard_through(wording, speech(2.0), seconds=2.0)
    changed = [frame // 2 for frame in frames[:50]] + frames[50:]
    assert wording.understood(np.concatenate(changed))[0] == "one two three four"


def test_what_was_not_said_any_more_is_not_understood():
    wording = Wording()
    heard_through(wording, speech(2.0))
    wording.cut(1.0)
    assert [word.text for word in wording.placed] == ["one", "two"]
