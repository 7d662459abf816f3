"""An answer that was heard rightly, wrongly, or not at all is counted as that."""

from pathlib import Path

import pytest
from corpus import Clip
from spoken_answers import YES_OR_NO, answers, questions_of

from voice.events import UserMessage


def clip(transcript, kind="short_reply"):
    return Clip("one", Path("one.wav"), kind, 1.0, transcript, "en", ((0.0, 1.0),), (), None, False, False)


@pytest.mark.parametrize(
    ("said", "heard", "counted"),
    [
        ("yes", "Yes.", [(True, False)]),
        ("yes", "Jazz.", [(False, False)]),
        ("yes", "No.", [(False, True)]),
        ("learn", "Yeah.", [(False, True)]),
        ("learn", "Lern.", []),
        ("", "No.", [(False, True)]),
        (None, "No.", []),
    ],
)
def test_an_answer_is_right_wrong_or_asked_again(said, heard, counted):
    messages = [UserMessage(heard, "voice", 1.0, confidence=-0.5)]
    found = list(answers(clip(said), messages, {"yes or no": YES_OR_NO}))
    assert [(answer.right, answer.wrong) for answer in found] == counted
    assert list(answers(clip(said), messages * 2, {"yes or no": YES_OR_NO})) == []


def test_the_labels_are_what_people_reply_most_often():
    clips = [clip("Stop"), clip("stop"), clip("go"), clip("two words"), clip("noise", kind="noise")]
    questions = questions_of(clips)
    assert [option.label for option in questions["2 labels"].options] == ["stop", "go"]
