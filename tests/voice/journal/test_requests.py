"""What a person asks of the journal in a conversation, and what is told of it."""

import pytest

from voice.events import DiscardReason
from voice.journal.entries import Entry, State
from voice.journal.requests import (
    USAGE,
    Request,
    left_alone,
    named,
    not_whole,
    offered,
    read_request,
    told_all,
)

TYPED = Entry("k7fd-1", "typed", 1.0, State.DECIDED, "Merge it.")
SPOKEN = Entry("k7fd-2", "spoken", 2.0, State.DECIDED, "Then push", DiscardReason.CUT_OFF, size=134_400)
CRASHED = Entry("abcd-1", "spoken", 3.0, size=64_000)


def at(entry):
    return f"17:0{entry.began_at:.0f}"


@pytest.mark.parametrize(
    ("words", "request_read"),
    [
        ("", Request("list")),
        (" list ", Request("list")),
        ("send 1", Request("send", ("1",))),
        ("send k7fd-1 2", Request("send", ("k7fd-1", "2"))),
        ("forget all", Request("forget")),
        ("send", None),
        ("sing", None),
        ("list all", None),
    ],
)
def test_requests(words, request_read):
    assert read_request(words) == request_read


def test_entries_are_named_by_number_or_id():
    listed = [TYPED, SPOKEN, CRASHED]
    assert named(["3", "k7fd-1", "1", "4", "x", "0", "²"], listed) == ([CRASHED, TYPED], ["4", "x", "0", "²"])
    assert named([], listed) == (listed, [])


def test_the_list_tells_how_each_came_about():
    assert told_all([TYPED, SPOKEN, CRASHED], at) == [
        "1  k7fd-1  17:01  typed: Merge it.",
        "2  k7fd-2  17:02  spoken, 4.2 s, cut off: Then push",
        "3  abcd-1  17:03  spoken, 2.0 s: (not transcribed)",
        USAGE,
    ]
    assert told_all([], at) == ["Nothing is kept: all that you said and typed was delivered."]


def test_the_offer_tells_how_many_the_newest_and_how_to_get_it():
    assert offered([TYPED], at, lines=True) == (
        'What you had typed was not delivered: "Merge it." (17:01); /journal shows and sends it.'
    )
    assert offered([TYPED, CRASHED], at, lines=False) == (
        "2 things that you had said or typed were not delivered, the last of them 2.0 s of speech (17:03);"
        " voice journal shows it."
    )


def test_what_cannot_be_done_is_told_with_what_can():
    assert not_whole(CRASHED) == "abcd-1 is not transcribed yet: voice journal retry abcd-1 does that."
    assert left_alone(["a", "b", "c", "d"]) == (
        "Not everything in the journal's folder can be read, and that is left alone: a, b, c …."
    )
