"""The ear with a scripted detector: which sound ends up in which piece."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.audio import FRAME_S, FRAME_SAMPLES
from voice.events import EndReason, SpeechEnded, SpeechStarted, UtteranceNearCap
from voice.listening.endpointing import Endpointer, EndRule
from voice.listening.pieces import PieceRule
from voice.listening.utterances import Ear, PieceReady, PieceSoFar, WentOn
from voice.ports import Verdict


class LoudIsSpeech:
    """A detector that takes each frame that is not silent for speech."""

    def __init__(self):
        self.resets = 0

    def judge(self, frame):
        return Verdict(0.9, -20.0) if frame.any() else Verdict(0.0, -96.0)

    def reset(self):
        self.resets += 1


def numbered(*stretches):
    """Frames for (seconds, spoken): a spoken one is filled with its own number, counted from 1."""
    spoken = [is_spoken for seconds, is_spoken in stretches for _ in range(round(seconds / FRAME_S))]
    return [
        np.full(FRAME_SAMPLES, index if is_spoken else 0, np.int16)
        for index, is_spoken in enumerate(spoken, 1)
    ]


def hear(ear, frames):
    return [what for frame in frames for what in ear.push(frame)]


def pieces(heard):
    return [what.samples for what in heard if isinstance(what, PieceReady)]


def seconds(samples):
    return len(samples) / FRAME_SAMPLES * FRAME_S


def test_a_turn_is_announced_cut_and_ended():
    heard = hear(Ear(LoudIsSpeech()), numbered((2.0, False), (0.5, True), (2.0, False)))
    assert [type(what) for what in heard] == [SpeechStarted, PieceReady, SpeechEnded]
    assert heard[0] == SpeechStarted(pytest.approx(2.0))
    assert heard[2] == SpeechEnded(pytest.approx(2.5), pytest.approx(4.1), EndReason.SILENCE)


def test_the_pre_roll_and_the_tail_belong_to_the_piece():
    (piece,) = pieces(hear(Ear(LoudIsSpeech()), numbered((2.0, False), (0.5, True), (2.0, False))))
    assert seconds(piece) == pytest.approx(1.0 + 0.5 + 0.5)
    assert piece[0] == 0
    assert piece[FRAME_SAMPLES * 50] == 101


def test_speech_at_the_very_start_is_whole():
    (piece,) = pieces(hear(Ear(LoudIsSpeech()), numbered((0.26, True), (2.0, False))))
    assert piece[0] == 1
    assert seconds(piece) == pytest.approx(0.26 + 0.5)


def test_an_inner_silence_splits_without_losing_or_repeating_a_frame():
    heard = hear(Ear(LoudIsSpeech()), numbered((1.0, True), (1.4, False), (1.0, True), (2.0, False)))
    first, second = pieces(heard)
    assert seconds(first) == pytest.approx(1.5)
    assert seconds(second) == pytest.approx(0.9 + 1.0 + 0.5)
    assert [type(what) for what in heard].count(SpeechEnded) == 1


def test_a_pause_just_short_of_the_rule_does_not_split():
    assert (
        len(pieces(hear(Ear(LoudIsSpeech()), numbered((1, True), (0.78, False), (1, True), (2, False))))) == 1
    )


def test_the_last_piece_is_ready_before_the_end_is_decided():
    ear = Ear(LoudIsSpeech())
    heard = hear(ear, numbered((0.5, True), (0.8, False)))
    assert [type(what) for what in heard] == [SpeechStarted, PieceReady]
    assert [type(what) for what in hear(ear, numbered((0.8, False)))] == [SpeechEnded]


def test_an_end_silence_shorter_than_a_pieces_pause_still_gives_the_piece_first():
    ear = Ear(LoudIsSpeech(), Endpointer(end=EndRule(silence_s=0.3)))
    heard = hear(ear, numbered((0.5, True), (0.3, False)))
    assert [type(what) for what in heard] == [SpeechStarted, PieceReady, SpeechEnded]
    assert seconds(heard[1].samples) == pytest.approx(0.8)


def test_a_quiet_word_after_a_pause_that_kept_the_turn_open_is_a_piece():
    class Unsure(LoudIsSpeech):
        def judge(self, frame):
            return Verdict({0: 0.0, 1: 0.9}.get(int(frame[0]), 0.4), -40.0)

    loud, quiet = np.full(FRAME_SAMPLES, 1, np.int16), np.full(FRAME_SAMPLES, 2, np.int16)
    silent = np.zeros(FRAME_SAMPLES, np.int16)
    heard = hear(Ear(Unsure()), [loud] * 25 + [silent] * 50 + [quiet] * 10 + [silent] * 100)
    assert len(pieces(heard)) == 2
    assert 2 in pieces(heard)[1]


def test_a_flicker_in_a_pause_gives_no_piece():
    frames = numbered((0.5, True), (0.9, False), (0.04, True), (2.0, False))
    assert len(pieces(hear(Ear(LoudIsSpeech()), frames))) == 1


def test_a_long_monologue_is_cut_and_nothing_of_it_is_lost():
    ear = Ear(LoudIsSpeech())
    heard = hear(ear, numbered((300.0, True), (2.0, False)))
    parts = pieces(heard)
    assert all(seconds(part) <= 25.0 for part in parts)
    whole = np.concatenate(parts)[::FRAME_SAMPLES]
    assert [frame for frame in whole if frame] == list(range(1, 15_001))
    assert [type(what) for what in heard if not isinstance(what, PieceReady)] == [SpeechStarted, SpeechEnded]


def test_what_follows_the_cap_is_the_next_turn_and_nothing_between_is_lost():
    ear = Ear(LoudIsSpeech(), Endpointer(end=EndRule(longest_s=30.0, warn_s=27.0)))
    heard = hear(ear, numbered((40.0, True), (2.0, False)))
    others = [what for what in heard if not isinstance(what, PieceReady)]
    assert [type(what) for what in others] == [
        SpeechStarted,
        UtteranceNearCap,
        SpeechEnded,
        SpeechStarted,
        SpeechEnded,
    ]
    assert others[2].reason is EndReason.CAP
    whole = np.concatenate(pieces(heard))[::FRAME_SAMPLES]
    assert [frame for frame in whole if frame] == list(range(1, 2_001))


def test_the_end_of_the_input_gives_what_there_is():
    ear = Ear(LoudIsSpeech())
    hear(ear, numbered((0.5, True), (0.1, False)))
    piece, ended = ear.input_ended()
    assert seconds(piece.samples) == pytest.approx(0.6)
    assert ended == SpeechEnded(pytest.approx(0.5), pytest.approx(0.6), EndReason.INPUT_ENDED)


def test_forgotten_frames_are_in_no_pre_roll():
    detector = LoudIsSpeech()
    ear = Ear(detector)
    hear(ear, numbered((0.5, True)))
    assert ear.forget() == [SpeechEnded(pytest.approx(0.5), pytest.approx(0.5), EndReason.TALKED_OVER)]
    for _ in range(49):
        assert ear.forget() == []
    (piece,) = pieces(hear(ear, numbered((0.5, True), (2.0, False))))
    assert piece[0] == 1
    assert seconds(piece) == pytest.approx(1.0)
    assert ear.now_s == pytest.approx(0.5 + 1.0 + 2.5)
    assert detector.resets == 50


def test_memory_does_not_grow_while_nobody_speaks():
    ear = Ear(LoudIsSpeech())
    hear(ear, numbered((60.0, False)))
    assert len(ear._frames) == 65


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0.1, 12.0), st.floats(0.02, 2.5)), min_size=1, max_size=8))
def test_every_spoken_frame_is_in_exactly_one_piece(turns):
    rule = PieceRule(longest_s=10.0, shortest_s=2.0)
    ear = Ear(LoudIsSpeech(), rule=rule)
    frames = numbered(*(stretch for speech, pause in turns for stretch in ((speech, True), (pause, False))))
    heard = hear(ear, frames) + ear.input_ended()
    parts = pieces(heard)
    kept = [int(frame) for part in parts for frame in part[::FRAME_SAMPLES] if frame]
    spoken = [int(frame[0]) for frame in frames if frame.any()]
    assert kept == spoken
    assert all(seconds(part) <= rule.longest_s + 0.001 for part in parts)


EARLY = PieceRule(early_s=0.2)


def names(heard):
    return [type(what).__name__ for what in heard]


def test_in_a_pause_the_open_piece_is_given_out_early_once():
    ear = Ear(LoudIsSpeech(), rule=EARLY)
    heard = hear(ear, numbered((0.5, True), (0.7, False)))
    assert names(heard) == ["SpeechStarted", "PieceSoFar"]
    assert seconds(heard[1].samples) == pytest.approx(0.5 + 0.2)


def test_who_goes_on_makes_it_stale_and_the_next_pause_gives_out_all_of_the_piece():
    ear = Ear(LoudIsSpeech(), rule=EARLY)
    heard = hear(ear, numbered((0.5, True), (0.4, False), (0.5, True), (0.3, False)))
    assert names(heard) == ["SpeechStarted", "PieceSoFar", "WentOn", "PieceSoFar"]
    assert seconds(heard[3].samples) == pytest.approx(0.5 + 0.4 + 0.5 + 0.2)


def test_the_pauses_of_a_turn_lie_between_its_words_and_a_flicker_ends_none():
    ear = Ear(LoudIsSpeech(), rule=EARLY)
    hear(ear, numbered((0.5, True), (0.4, False), (0.5, True), (0.4, False), (0.06, True), (0.8, False)))
    assert ear.endpointer.pauses_s == pytest.approx([0.4])
    hear(ear, numbered((0.3, True), (1.7, False)))
    assert ear.endpointer.pauses_s == pytest.approx([0.4, 1.26])
    hear(ear, numbered((0.5, True)))
    assert ear.endpointer.pauses_s == [], "of another turn"


def test_a_piece_says_whether_all_of_its_speech_was_given_out_early():
    ear = Ear(LoudIsSpeech(), rule=EARLY)
    frames = numbered((0.5, True), (1.0, False), (0.5, True), (2.0, False))
    ready = [what for what in hear(ear, frames) if isinstance(what, PieceReady)]
    assert [piece.foretold for piece in ready] == [True, True]
    ear = Ear(LoudIsSpeech(), rule=EARLY)
    hear(ear, numbered((0.5, True), (0.3, False), (0.1, True)))
    (piece, _) = ear.input_ended()
    assert not piece.foretold


def test_a_piece_that_is_cut_in_a_pause_leaves_nothing_foretold():
    rule = PieceRule(early_s=0.2, longest_s=4.0, shortest_s=0.5)
    ear = Ear(LoudIsSpeech(), rule=rule)
    heard = hear(ear, numbered((1.5, True), (0.3, False), (1.9, True), (0.5, False)))
    assert names(heard)[-3:] == ["PieceSoFar", "PieceReady", "PieceSoFar"]
    assert not heard[-2].foretold
    cut = np.concatenate([heard[-2].samples, heard[-1].samples])
    assert sorted(set(cut[cut > 0])) == [*range(1, 76), *range(91, 186)]


def test_what_flickers_in_a_pause_is_not_given_out():
    ear = Ear(LoudIsSpeech(), rule=EARLY)
    heard = hear(ear, numbered((0.5, True), (1.0, False), (0.04, True), (0.5, False)))
    assert names(heard) == ["SpeechStarted", "PieceSoFar", "PieceReady", "WentOn"]


def test_a_new_turn_begins_with_nothing_foretold():
    ear = Ear(LoudIsSpeech(), rule=EARLY)
    heard = hear(ear, numbered((0.5, True), (2.0, False), (0.5, True), (0.1, False)))
    assert "WentOn" not in names(heard)


@given(st.lists(st.tuples(st.integers(1, 60), st.booleans()), max_size=30))
@settings(deadline=None)
def test_what_was_foretold_holds_all_the_speech_of_its_piece(stretches):
    """The last `PieceSoFar` before a foretold piece has every spoken frame of it."""
    ear = Ear(LoudIsSpeech(), rule=PieceRule(early_s=0.2, longest_s=4.0, shortest_s=0.5))
    frames = numbered(*((count * FRAME_S, spoken) for count, spoken in stretches))
    early = None
    for what in [*hear(ear, frames), *ear.input_ended()]:
        match what:
            case PieceSoFar(samples=samples):
                early = samples
            case WentOn():
                early = None
            case PieceReady(samples=samples, foretold=foretold):
                if foretold and early is not None:
                    assert set(early[early > 0]) == set(samples[samples > 0])
                early = None
