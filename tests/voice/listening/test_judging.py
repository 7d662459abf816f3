import pytest

from voice.events import DiscardReason
from voice.listening.judging import Piece, clean, judge, unlooped
from voice.listening.pieces import Evidence
from voice.phrases import phrases_of
from voice.ports import Transcript

PHANTOMS = {language: set(phrases_of(language)["phantoms"]["texts"]) for language in ("en", "de")}


def judged(*transcripts, **of_piece):
    language = of_piece.pop("language", "en")
    return judge([Piece(transcript, **of_piece) for transcript in transcripts], PHANTOMS[language])


@pytest.mark.parametrize(
    "text", ["Yes.", "No", "you", "Thank you.", "42", "Ünïcödé wörds", "はい", "(b) the second"]
)
def test_words_become_a_message(text):
    assert judged(Transcript(text)).text == text


@pytest.mark.parametrize("text", ["", "  ", ".", "...", "[Music]", "(coughs)", "♪♪", "[BLANK_AUDIO] …"])
def test_no_words_become_none(text):
    judgement = judged(Transcript(text))
    assert judgement.text == ""
    assert [piece.reason for piece in judgement.rejected] == [DiscardReason.NO_WORDS]


@pytest.mark.parametrize(
    "marks", [{"no_speech_probability": 0.85}, {"compression_ratio": 2.5, "ran_on": True}]
)
def test_words_that_the_sound_does_not_bear_out_are_named_and_dropped(marks):
    judgement = judged(Transcript("Thank you.", **marks))
    assert judgement.text == ""
    (rejected,) = judgement.rejected
    assert (rejected.reason, rejected.text) == (DiscardReason.PHANTOM, "Thank you.")


@pytest.mark.parametrize("marks", [{"compression_ratio": 3.9}, {"ran_on": True}])
def test_people_repeat_themselves_and_talk_fast(marks):
    assert judged(Transcript("Stop, stop, stop!", **marks)).text == "Stop, stop, stop!"


def test_short_quiet_replies_with_middling_marks_are_kept():
    assert judged(Transcript("Yes.", no_speech_probability=0.7, average_log_probability=-1.2)).text == "Yes."


def test_one_bad_piece_does_not_take_the_others_with_it():
    judgement = judged(Transcript("Use it."), Transcript(""), Transcript("Now."))
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
    assert judged(*map(Transcript, pieces)).text == text


def test_no_utterance_is_no_message():
    assert judge([]).text == ""


def test_control_and_format_characters_do_not_pass():
    assert clean("a\x1b[31mb\u202ec\nd\u2028e\x00f") == "a [31mbc d e f"


@pytest.mark.parametrize(
    ("text", "language"),
    [("Thank you.", "en"), ("Thanks for watching!", "en"), ("you", "en"), ("Bye.", "en"),
     ("That's all.", "en"), ("Vielen Dank.", "de"), ("Untertitelung des ZDF, 2020", "de")],
)  # fmt: skip
def test_texts_that_are_easily_made_up_need_a_sound_that_bears_them_out(text, language):
    real = Evidence(speech_s=len(text) / 15)
    assert judged(Transcript(text), evidence=real, language=language).text == text
    for marks, evidence in (
        ({"no_speech_probability": 0.65}, real),
        ({"average_log_probability": -1.6}, real),
        ({}, Evidence(speech_s=len(text) / 60)),
        ({}, Evidence(speech_s=24.0)),
    ):
        (rejected,) = judged(Transcript(text, **marks), evidence=evidence, language=language).rejected
        assert rejected.reason is DiscardReason.PHANTOM


@pytest.mark.parametrize(
    ("text", "speech_s", "marks"),
    [
        ("Thank you.", 0.48, {"no_speech_probability": 0.5, "average_log_probability": -0.2}),
        ("You", 0.2, {"no_speech_probability": 0.54, "average_log_probability": -1.38}),
        ("Bye!", 0.26, {"no_speech_probability": 0.42, "average_log_probability": -0.8}),
        ("Yes.", 0.14, {"no_speech_probability": 0.79, "average_log_probability": -1.6}),
    ],
)
def test_real_short_replies_are_kept_by_the_marks_that_recordings_of_them_have(text, speech_s, marks):
    assert judged(Transcript(text, **marks), evidence=Evidence(speech_s)).text == text


def test_silence_never_returns_the_names_that_the_transcriber_was_told():
    names = ("PostgreSQL", "MySQL", "turn_taking.py")
    doubtful = Transcript("MySQL, turn_taking.py.", no_speech_probability=0.7)
    assert judged(doubtful, vocabulary=names).rejected[0].reason is DiscardReason.PHANTOM
    assert judged(Transcript("Glossary:", no_speech_probability=0.7), vocabulary=names).text == ""
    flicker = Evidence(speech_s=0.12)
    assert judged(Transcript("PostgreSQL, MySQL."), vocabulary=names, evidence=flicker).text == ""
    said = Evidence(speech_s=0.9)
    assert judged(Transcript("PostgreSQL."), vocabulary=names, evidence=said).text == "PostgreSQL."
    assert judged(Transcript("Use MySQL.", no_speech_probability=0.7), vocabulary=names).text == "Use MySQL."


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("is. is. is. is. is.", ""),
        ("The second one. The second one. The second one. The second one. The second", ""),
        ("I would take the first. No, no, no, no, no, no", "I would take the first. No."),
        ("Go on go on go on go on go on and then stop", "Go on and then stop"),
        ("0 0 0 0 0 0", "0 0 0 0 0 0"),
        ("a b c d e f", "a b c d e f"),
        ("no, no, no", "no, no, no"),
    ],
)
def test_a_loop_is_cut_to_one_or_leaves_nothing(text, left):
    assert unlooped(text) == left


def test_what_is_nothing_but_a_loop_is_named_and_dropped_and_the_rest_of_a_text_is_kept():
    loop = Transcript("is. is. is. is. is. is.", ran_on=True, compression_ratio=3.0)
    assert judged(loop).rejected[0].reason is DiscardReason.PHANTOM
    partly = Transcript("Use the small one. Thanks. Thanks. Thanks. Thanks. Thanks.", ran_on=True)
    assert judged(partly).text == "Use the small one. Thanks."


def test_an_option_that_was_said_is_kept_though_no_speech_is_likelier_once_the_options_were_told():
    told = ("help", "go", "turn on the lamp")
    for text in ("Help.", "turn on the lamp."):
        assert judged(Transcript(text, 0.64, -0.56), vocabulary=told).text == text
        assert judged(Transcript(text, 0.64, -0.65), vocabulary=told).text == ""
        assert judged(Transcript(text, 0.85, -0.2), vocabulary=told).text == ""
    for recited in ("Help, go.", "Go, go, help."):
        assert judged(Transcript(recited, 0.6, -0.3), vocabulary=told).text == ""
