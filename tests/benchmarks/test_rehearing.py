"""A recording that is heard again gives what it gave, under each rule; what is transcribed once stays so."""

import anyio
import numpy as np
import pytest
from questions import CLOSED, OPEN
from rehearing import (
    NoTranscriber,
    Recorded,
    Remembering,
    Rule,
    StoredDetector,
    frames_of,
    rehear,
    with_room_tone,
)

from voice.assembly import EARLY_S
from voice.audio import FRAME_S, FRAME_SAMPLES, SAMPLE_RATE, level_dbfs
from voice.listening.pieces import PieceRule
from voice.ports import Transcript, Verdict
from voice.settings import Settings

SETTINGS = Settings()
OWN = Rule("own", 1.6, early=True, patience=SETTINGS, pieces=PieceRule())


def said(*parts, question=OPEN):
    """Seconds of silence and of speech in turns, beginning with silence."""
    verdicts, now, turns = [], 0.0, []
    for index, seconds in enumerate(parts):
        if index % 2:
            turns.append((now, now + seconds))
        verdicts += [Verdict(float(index % 2), -30.0)] * round(seconds / FRAME_S)
        now += seconds
    # Each sound is its own, so that what is remembered of one is not told of another.
    samples = np.random.default_rng(1).integers(-99, 99, len(verdicts) * FRAME_SAMPLES, dtype=np.int16)
    return Recorded("r", "k", samples, tuple(verdicts), ((turns[0][0], turns[-1][1]),), "x", question)


class Answering:
    """A transcriber that gives one text, and counts."""

    def __init__(self, text="yes", compute_s=0.1):
        self.asked, self.transcript = 0, Transcript(text, compute_s=compute_s)

    def submit(self, samples, *, vocabulary=()):
        self.asked += 1
        return self

    done = True

    async def result(self):
        return self.transcript

    def cancel(self):
        pass


def heard(sound, rule, transcriber=None):
    return anyio.run(rehear, sound, rule, transcriber or NoTranscriber(), SETTINGS)


@pytest.mark.parametrize("silence_s", [0.6, 1.0, 1.6])
def test_a_fixed_silence_is_waited_for(silence_s):
    (message,) = heard(said(0.5, 1.0, 3.0), Rule("fixed", silence_s, early=False)).sent
    assert message.heard == pytest.approx((0.5, 1.5))
    assert message.decided_at_s == pytest.approx(1.5 + silence_s)
    assert message.asked_at_s == pytest.approx(1.5 + silence_s)


def test_a_pause_longer_than_the_silence_cuts():
    first, second = heard(said(0.5, 1.0, 0.8, 1.0, 3.0), Rule("fixed", 0.6, early=False)).sent
    assert first.decided_at_s == pytest.approx(2.1)
    assert second.heard == pytest.approx((2.3, 3.3))


def test_early_transcription_of_a_fixed_rule_begins_in_the_pause():
    transcriber = Answering(compute_s=1.0)
    (message,) = heard(said(0.5, 1.0, 3.0), Rule("early", 0.6, early=True), transcriber).sent
    assert message.asked_at_s == pytest.approx(1.5 + EARLY_S)
    assert message.at_s == pytest.approx(1.5 + EARLY_S + 1.0)
    assert transcriber.asked == 1


def test_the_loops_own_rule_goes_by_the_question():
    closed, opened = (
        heard(said(0.5, 1.0, 3.0, question=question), OWN, Answering()).sent[0] for question in (CLOSED, OPEN)
    )
    assert closed.decided_at_s == pytest.approx(1.5 + SETTINGS.hearing.closed_silence_s, abs=2 * FRAME_S)
    assert opened.decided_at_s == pytest.approx(3.1)
    assert closed.at_s == closed.decided_at_s  # its text was there


def test_a_recording_that_ends_in_a_turn_is_heard_out():
    (message,) = heard(said(0.5, 1.0), Rule("fixed", 1.0, early=False)).sent
    assert message.decided_at_s == pytest.approx(2.5)


def test_each_sound_is_transcribed_once(tmp_path):
    inner, file = Answering(), tmp_path / "known.jsonl"
    remembering = Remembering(inner, "tiny", file)
    for _ in range(2):
        heard(said(0.5, 1.0, 3.0), OWN, remembering)
    assert inner.asked == 1
    again = Answering("no")
    assert heard(said(0.5, 1.0, 3.0), OWN, Remembering(again, "tiny", file)).text == "yes"
    assert again.asked == 0
    assert heard(said(0.5, 1.0, 3.0), OWN, Remembering(again, "base", file)).text == "no"


def test_what_is_taken_back_is_never_transcribed():
    inner = Answering()
    heard(said(0.5, 1.0, 0.3, 1.0, 3.0), OWN, Remembering(inner, "tiny"))
    assert inner.asked == 1  # the pause of 0.3 s is over before its text would be there


def test_behind_its_verdicts_there_is_silence():
    detector = StoredDetector([Verdict(0.9, -20.0)])
    frame = np.zeros(FRAME_SAMPLES, np.int16)
    assert [detector.judge(frame).probability for _ in range(3)] == [0.9, 0.0, 0.0]


def test_room_tone_is_as_loud_as_the_room():
    draw = np.random.default_rng(0)
    samples = np.rint(draw.normal(0, 30, 2 * SAMPLE_RATE)).astype(np.int16)
    samples[SAMPLE_RATE // 2 : SAMPLE_RATE] += 3000
    longer = with_room_tone(samples, [(0.5, 1.0)], 1.0)
    assert len(longer) == 3 * SAMPLE_RATE
    assert level_dbfs(longer[2 * SAMPLE_RATE :]) == pytest.approx(
        level_dbfs(samples[: SAMPLE_RATE // 2]), abs=3
    )


def test_frames_are_filled_up():
    assert [len(frame) for frame in frames_of(np.zeros(FRAME_SAMPLES + 1, np.int16))] == [FRAME_SAMPLES] * 2
