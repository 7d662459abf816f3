"""The page says what was cut, how long one waited, and what it is compared with."""

import json
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from rehearing import Recorded, Reheard, Rule, Sent
from turns import (
    PARTS,
    Judged,
    Row,
    details,
    detector_without,
    picture,
    report,
    rules_of,
    without,
)

from voice.settings import Settings


def judged(name, *sent, end_s=2.0, kind="short_reply", said="yes", worded=True):
    """Sent: text, heard from, decided, computed."""
    sound = Recorded(name, kind, np.zeros(0, np.int16), (), ((0.5, end_s),) if said else (), said, "")
    messages = [
        Sent(text, (start, decided - 0.5), decided, decided - 0.3, took)
        for text, start, decided, took in sent
    ]
    return Judged(sound, Reheard(tuple(messages), (), len(messages)), worded)


OURS = Row(
    "this loop",
    (
        judged("a", ("yes", 0.5, 2.5, 0.1)),
        judged("b", ("yes", 0.5, 1.5, 0.1), ("no", 2.2, 4.0, 0.1), said="yes no"),
    ),
    (judged("n", said=""),),
    ((judged("p", ("x", 0.5, 1.0, 0.1)),), ()),
)
THEIRS = Row(
    "fixed",
    (judged("a", ("yes", 0.5, 3.0, 1.0)), judged("b", ("yes no", 0.5, 4.0, 1.0), said="yes no")),
    (judged("n", ("Thank you.", 1.0, 2.0, 1.0), said=""),),
    ((judged("p", ("x", 0.5, 9.0, 0.1)),), ()),
)
SAMPLE = frozenset("ab")


def rows(text, name):
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith(f"| {name} |")]


def test_a_turn_is_cut_where_it_is_decided_before_its_end():
    whole, cut = OURS.spoken
    assert (whole.cut, cut.cut) == (False, True)
    assert cut.gone_on  # at 2.2 s, of 1.5
    assert not judged("c", ("x", 0.5, 1.5, 0.1), ("y", 2.6, 4.0, 0.1)).gone_on
    assert not judged("missed").cut


def test_the_wait_is_from_the_end_of_speech_and_holds_what_transcription_adds():
    assert OURS.spoken[0].decided_after_s == pytest.approx(0.5)
    assert OURS.spoken[0].sent_after_s == pytest.approx(0.5)  # begun 0.3 s before
    assert THEIRS.spoken[0].sent_after_s == pytest.approx(1.7)


def test_the_page():
    text = "\n".join(report([OURS, THEIRS], [], SAMPLE))
    ours, their = rows(text, "this loop"), rows(text, "fixed")
    assert ours[0][1:5] == ["2", "1", "50.0 (9.5 to 90.5)", "1"]
    assert ours[0][-2:] == ["0", "0"]
    assert their[0][-2:] == ["0", "1"]  # the phantom
    assert their[1][4] == "1.00"
    assert ours[1][4] == "0.23"  # of 0.5 s to the median of 1.7 and 2.7
    assert ours[2][1:] == ["1 of 1", "0 of 0"]
    assert "* short_reply, b: “yes no”: “yes” / “no”" in text
    assert "Thank you" not in text  # what the others invent is counted, not listed


def test_the_picture_has_a_point_for_each():
    drawn = ET.fromstring(picture([OURS, THEIRS], SAMPLE, "tiny"))
    assert len(drawn.findall("{http://www.w3.org/2000/svg}circle")) == 2


def test_details_are_json():
    lines = [json.loads(line) for line in details([OURS]).splitlines()]
    assert [line["id"] for line in lines] == ["a", "b", "n", "p"]


def test_parts_can_be_taken_out():
    own = rules_of(Settings())[0]
    assert without(own, ["early"]) == Rule(
        "without early", own.silence_s, False, patience=own.patience, pieces=own.pieces
    )
    assert not without(own, ["words", "question"]).words
    assert not without(own, ["words", "question"]).asks
    assert [detector_without([part]) is None for part in PARTS] == [True] * 4 + [False] * 2


def test_the_fixed_rules_have_no_patience():
    own, *fixed = rules_of(Settings())
    assert own.patience is not None
    assert [rule.silence_s for rule in fixed] == [1.0, 0.7, 0.6, 1.6]
    assert all(rule.patience is None for rule in fixed)
