import pytest

from voice.events import DiscardReason
from voice.listening.judging import clean, judge
from voice.ports import Transcript


@pytest.mark.parametrize(
    "text", ["Yes.", "No", "you", "Thank you.", "42", "Ünïcödé wörds", "はい", "(b) the second"]
)
def test_words_become_a_message(text):
    assert judge([Transcript(text)]).text == text


@pytest.mark.parametrize("text", ["", "  ", ".", "...", "[Music]", "(coughs)", "♪♪", "[BLANK_AUDIO] …"])
def test_no_words_become_none(text):
    judgement = judge([Transcript(text)])
    assert judgement.text == ""
    assert [piece.reason for piece in judgement.rejected] == [DiscardReason.NO_WORDS]


@pytest.mark.parametrize(
    "marks", [{"no_speech_probability": 0.85}, {"compression_ratio": 2.5, "ran_on": True}]
)
def test_words_that_the_sound_does_not_bear_out_are_named_and_dropped(marks):
    judgement = judge([Transcript("Thank you.", **marks)])
    assert judgement.text == ""
    (rejected,) = judgement.rejected
    assert (rejected.reason, rejected.text) == (DiscardReason.PHANTOM, "Thank you.")


@pytest.mark.parametrize("marks", [{"compression_ratio": 3.9}, {"ran_on": True}])
def test_people_repeat_themselves_and_talk_fast(marks):
    assert judge([Transcript("Stop, stop, stop!", **marks)]).text == "Stop, stop, stop!"


def test_short_quiet_replies_with_middling_marks_are_kept():
    assert judge([Transcript("Yes.", no_speech_probability=0.7, average_log_probability=-1.2)]).text == "Yes."


def test_one_bad_piece_does_not_take_the_others_with_it():
    judgement = judge([Transcript("Use it."), Transcript(""), Transcript("Now.")])
    assert judgement.text == "Use it. Now."
    assert len(judgement.rejected) == 1


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["I would use.", "the faster model."], "I would use the faster model."),
        (["Use it.", "The faster one."], "Use it. The faster one."),
        (["Well...", "maybe."], "Well... maybe."),
        (["Is it?", "yes."], "Is it? yes."),
        (["4, 2.", "7-1"], "4, 2. 7-1"),
    ],
)
def test_a_sentence_that_goes_on_after_a_pause_is_one_sentence(pieces, text):
    assert judge([Transcript(piece) for piece in pieces]).text == text


def test_no_utterance_is_no_message():
    assert judge([]).text == ""


def test_control_and_format_characters_do_not_pass():
    assert clean("a\x1b[31mb\u202ec\nd\u2028e\x00f") == "a [31mbc d e f"
