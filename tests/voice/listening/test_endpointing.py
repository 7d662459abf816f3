"""Endpointing as a plain function of verdicts: silence, speech, silence."""

from hypothesis import given
from hypothesis import strategies as st

from voice.audio import FRAME_S
from voice.events import EndReason
from voice.listening.endpointing import Began, Endpointer, EndRule, Finished, NearCap, StartRule
from voice.ports import Verdict

SPEECH = Verdict(0.9, -20.0)
UNSURE = Verdict(0.4, -30.0)
QUIET = Verdict(0.0, -70.0)


def frames(seconds):
    return round(seconds / FRAME_S)


def decisions(endpointer, *stretches):
    """(frame, decision) for stretches of (seconds, verdict)."""
    made = []
    for seconds, verdict in stretches:
        for _ in range(frames(seconds)):
            made += [(endpointer.frames, decision) for decision in endpointer.push(verdict)]
    return made


def test_silence_speech_silence_is_one_turn():
    made = decisions(Endpointer(), (1.0, QUIET), (0.5, SPEECH), (2.0, QUIET))
    assert made == [
        (frames(1.1), Began(onset=50)),
        (frames(3.1), Finished(onset=50, speech_end=75, reason=EndReason.SILENCE)),
    ]


def test_a_turn_ends_after_the_end_silence_to_the_frame():
    endpointer = Endpointer(end=EndRule(silence_s=0.6))
    made = decisions(endpointer, (0.3, SPEECH), (0.58, QUIET))
    assert [type(decision) for _, decision in made] == [Began]
    assert endpointer.push(QUIET) == [Finished(0, 15, EndReason.SILENCE)]


def test_a_pause_shorter_than_the_end_silence_does_not_end_the_turn():
    made = decisions(Endpointer(), (0.3, SPEECH), (1.58, QUIET), (0.3, SPEECH), (1.6, QUIET))
    assert [decision for _, decision in made][1:] == [Finished(0, frames(2.18), EndReason.SILENCE)]


def test_speech_at_the_first_frame_begins_there():
    made = decisions(Endpointer(), (0.26, SPEECH), (1.6, QUIET))
    assert made[0][1] == Began(onset=0)
    assert made[-1][1] == Finished(0, 13, EndReason.SILENCE)


def test_less_speech_than_the_start_rule_wants_begins_nothing():
    clicks = [(0.04, SPEECH), (0.3, QUIET)] * 20
    assert decisions(Endpointer(), *clicks) == []


def test_beginning_and_finishing_have_thresholds_of_their_own():
    assert decisions(Endpointer(), (3.0, UNSURE)) == []
    held = decisions(Endpointer(), (0.3, SPEECH), (3.0, UNSURE), (1.58, QUIET))
    assert [type(decision) for _, decision in held] == [Began]
    strict = Endpointer(StartRule(threshold=0.95))
    assert decisions(strict, (3.0, SPEECH)) == []


def test_the_cap_warns_and_then_ends_and_what_follows_is_a_new_turn():
    endpointer = Endpointer(end=EndRule(longest_s=3.0, warn_s=2.5))
    made = [decision for _, decision in decisions(endpointer, (3.5, SPEECH), (1.6, QUIET))]
    assert made == [
        Began(0),
        NearCap(remaining_s=0.5),
        Finished(0, 150, EndReason.CAP),
        Began(150),
        Finished(150, 175, EndReason.SILENCE),
    ]


def test_the_end_of_the_input_ends_an_open_turn_once():
    endpointer = Endpointer()
    decisions(endpointer, (0.5, SPEECH), (0.1, QUIET))
    assert endpointer.input_ended() == [Finished(0, 25, EndReason.INPUT_ENDED)]
    assert endpointer.input_ended() == []


def test_a_forgotten_frame_passes_time_and_drops_what_is_open():
    endpointer = Endpointer()
    decisions(endpointer, (0.5, SPEECH))
    endpointer.forget()
    assert endpointer.frames == 26
    assert decisions(endpointer, (2.0, QUIET)) == []
    assert endpointer.input_ended() == []


def test_it_is_undecided_from_the_first_speech_until_the_turn_is_over_or_the_flicker_forgotten():
    endpointer = Endpointer()
    assert not endpointer.undecided
    endpointer.push(SPEECH)
    assert endpointer.undecided
    decisions(endpointer, (0.3, QUIET))
    assert not endpointer.undecided
    decisions(endpointer, (0.5, SPEECH), (1.58, QUIET))
    assert endpointer.undecided
    endpointer.push(QUIET)
    assert not endpointer.undecided


@given(st.lists(st.floats(0, 1), max_size=600))
def test_turns_alternate_and_lie_in_their_order(probabilities):
    endpointer = Endpointer(end=EndRule(silence_s=0.2, longest_s=4.0, warn_s=3.0))
    made = [decision for p in probabilities for decision in endpointer.push(Verdict(p, -30.0))]
    made += endpointer.input_ended()
    turns = [decision for decision in made if not isinstance(decision, NearCap)]
    assert [type(decision) for decision in turns] == [Began, Finished] * (len(turns) // 2)
    last = 0
    for began, finished in zip(turns[::2], turns[1::2], strict=True):
        assert last <= began.onset == finished.onset < finished.speech_end <= len(probabilities)
        last = finished.speech_end
