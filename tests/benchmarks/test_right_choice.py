"""Options are different words, and the same for each run; what is chosen is right, wrong, or unclear."""

from corpus import Clip
from right_choice import OPTIONS, SPELLED, WORDS, Verdict, asked, group_of, options_for, report
from words import words_of


def clip(name, transcript, kind="short_reply"):
    return Clip(name, None, kind, 1.0, transcript, "en", ((0.2, 0.6),), (), "a", False, False)


SAID = ["yes", "no", "stop", "repeat", "Yes.", "go on", "help"]
CLIPS = [clip(f"c{number}", word) for number, word in enumerate(SAID)]


def test_options_are_ones_own_and_three_others():
    drawn = options_for(CLIPS)
    assert drawn == options_for(CLIPS)
    for one, options in zip(CLIPS, drawn, strict=True):
        assert options[0] == one.transcript
        assert len({tuple(words_of(option)) for option in options}) == OPTIONS


def test_right_wrong_and_unclear():
    options = ("stop", "yes", "repeat", "help")
    heard = {
        "Stop.": Verdict.RIGHT,
        "Help!": Verdict.WRONG,
        "The weather.": Verdict.UNCLEAR,
        "": Verdict.UNCLEAR,
    }
    for text, verdict in heard.items():
        assert asked(clip("c", "stop"), options, text, -0.2).verdict is verdict
    assert asked(clip("c", "stop"), options, "Help!", -9.0).verdict is Verdict.UNCLEAR


def test_a_number_or_a_letter_in_it_makes_it_spelled():
    groups = {"enter sixty": SPELLED, "u m n y four": SPELLED, "go": WORDS, "okay computer": WORDS}
    assert {said: group_of(clip("c", said)) for said in groups} == groups


def test_letters_and_digits_are_apart():
    options = ("stop", "yes", "repeat", "help")
    found = [
        asked(clip("c", "stop"), options, "Stop.", -0.2),
        asked(clip("d", "four", "digit"), ("four", "five", "six", "one"), "Five.", -0.2),
    ]
    text = "\n".join(report(found))
    assert "| **short replies and commands** | 1 | 1: 100.0" in text
    assert "| **letters and digits** | 1 | 0: 0.0" in text
    assert "| d | four | Five. |" in text
