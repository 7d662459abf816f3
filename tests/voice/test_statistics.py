import json

import pytest

from voice.events import (
    AgentEnded,
    Discarded,
    DiscardReason,
    FramesLost,
    HostLost,
    Latency,
    MessageDelivered,
    MessageReopened,
    MessageSent,
    MessageTakenBack,
    NarrationEnded,
    NarrationEnding,
    Notice,
    Status,
    StatusChanged,
    UserMessage,
    VoiceState,
    VoiceStateChanged,
)
from voice.statistics import FAILURES, PARTS, SessionStatistics, percentile, table


def delivered(endpoint_s, deliver_s=0.02, *, waited=False):
    return MessageDelivered(Latency(endpoint_s, 0.1, endpoint_s + 0.1), deliver_s, waited)


def session():
    statistics = SessionStatistics()
    for event in (
        UserMessage("Use Redis", "voice", 1.0),
        delivered(0.5),
        MessageReopened("Use Redis", sent=True),
        UserMessage("Use Redis and Postgres.", "voice", 4.0),
        delivered(1.6),
        UserMessage("typed", "keyboard", 5.0),
        UserMessage("Later.", "voice", 9.0),
        delivered(0.5, 30.0, waited=True),
        Discarded(DiscardReason.NO_WORDS, "", 9.0),
        Discarded(DiscardReason.COMMAND, "Louder.", 9.0),
        Discarded(DiscardReason.NO_WORDS, "", 9.0),
        Notice("Nothing that is counted."),
    ):
        statistics.take(event)
    return statistics


def test_a_session_is_summed_up():
    assert session().summary() == {
        "spoken": 2,
        "typed": 1,
        "reopened": {"sent": 1, "waiting": 0},
        "waited": 1,
        "latency": {
            "endpoint_s": {"count": 2, "median": 0.5, "p95": 1.6},
            "transcribe_s": {"count": 2, "median": 0.1, "p95": 0.1},
            "deliver_s": {"count": 2, "median": 0.02, "p95": 0.02},
            "total_s": {"count": 2, "median": 0.62, "p95": 1.72},
        },
        "discarded": {"command": 1, "no_words": 2},
        "frames_lost": 0,
        "failures": {},
    }


def said(text):
    return UserMessage(text, "voice", 1.0)


@pytest.mark.parametrize(
    ("events", "spoken"),
    [
        ([said("one"), MessageTakenBack("one", added=False),
          Discarded(DiscardReason.TAKEN_BACK, "one", 2.0)], 0),
        # What waited for its end word was no message yet.
        ([Discarded(DiscardReason.TAKEN_BACK, "held", 2.0)], 0),
        # It went on while it waited, and all of it was taken back.
        ([said("one"), MessageReopened("one", sent=False), said("one two"),
          MessageTakenBack("one two", added=False)], 0),
        # It went on when the agent had it, and only that was taken back.
        ([said("one"), MessageSent("one"), MessageReopened("one", sent=True), said("one two"),
          MessageTakenBack("one two", added=True)], 1),
        ([said("one"), said("two"), MessageTakenBack("two", added=False), said("two")], 2),
        # It was to answer a structured request, and was no answer to what is asked now.
        ([said("one"), Discarded(DiscardReason.TOO_EARLY, "one", 2.0), said("one")], 1),
    ],
)  # fmt: skip
def test_what_the_agent_does_not_get_is_no_spoken_message(events, spoken):
    statistics = SessionStatistics()
    for event in events:
        statistics.take(event)
    assert statistics.spoken == spoken


def test_a_typed_line_that_was_no_answer_is_no_message_either_and_nothing_that_was_heard():
    statistics = SessionStatistics()
    statistics.take(said("one"))
    statistics.take(UserMessage("1", "keyboard", 2.0))
    statistics.take(Discarded(DiscardReason.TOO_EARLY, "1", 2.0, source="keyboard"))
    assert (statistics.spoken, statistics.typed) == (1, 0)
    assert not statistics.discarded


@pytest.mark.parametrize("source", ["voice", "keyboard"])
def test_a_message_that_may_not_have_arrived_is_none_that_was_sent(source):
    statistics = SessionStatistics()
    statistics.take(UserMessage("Delete it.", source, 1.0))
    statistics.take(Discarded(DiscardReason.UNCONFIRMED, "Delete it.", 2.0, source=source))
    assert (statistics.spoken, statistics.typed) == (0, 0)


def test_what_goes_wrong_is_counted_by_its_kind_and_told_without_its_words():
    statistics = SessionStatistics()
    for event in (
        FramesLost(90),
        FramesLost(10),
        HostLost("It ended."),
        AgentEnded("The model said no."),
        AgentEnded(),
        StatusChanged(Status.MICROPHONE_LOST),
        StatusChanged(Status.LISTENING),
        NarrationEnded("Secret.", NarrationEnding.FAILED, 0.0, "No speaker."),
        NarrationEnded("Secret.", NarrationEnding.COMPLETED, 1.0),
        VoiceStateChanged(VoiceState.FAILED),
        VoiceStateChanged(VoiceState.INACTIVE),
    ):
        statistics.take(event)
    kept = json.dumps(statistics.as_json())
    read = SessionStatistics.from_json(json.loads(kept))
    assert read.summary()["failures"] == dict.fromkeys(FAILURES, 1)
    assert not [word for word in ("Secret", "model said", "ended") if word in kept]
    assert {"microphone lost              1", "sound that was lost       2.00 s"} <= set(
        table(read.summary())
    )


@pytest.mark.parametrize(
    ("event", "counted"),
    [
        (UserMessage("one", "voice", 1.0), True),
        (UserMessage("one", "keyboard", 1.0), True),
        (Discarded(DiscardReason.NOT_TRANSCRIBED, "", 1.0), True),  # who was heard for nothing asks why
        (VoiceStateChanged(VoiceState.FAILED), True),
        (VoiceStateChanged(VoiceState.INACTIVE), False),
        (Notice("Nothing."), False),
    ],
)
def test_a_session_is_worth_keeping_once_something_happened_in_it(event, counted):
    statistics = SessionStatistics()
    assert not statistics.counted
    statistics.take(event)
    assert statistics.counted is counted


def test_what_an_older_version_kept_is_read():
    kept = session().as_json()
    for name in ("frames_lost", "failures"):
        del kept[name]
    assert SessionStatistics.from_json(kept).summary() == session().summary()


def test_what_is_kept_is_read_again_and_holds_no_word_that_was_said():
    kept = json.dumps(session().as_json())
    assert SessionStatistics.from_json(json.loads(kept)).summary() == session().summary()
    assert not [word for word in ("Redis", "typed.", "Later", "Louder") if word in kept]


@pytest.mark.parametrize(
    "kept",
    [None, [], {}, {"version": 2}, {"version": 1}, {**session().as_json(), "spoken": "many"},
     {**session().as_json(), "spoken": -1}, {**session().as_json(), "discarded": {"rubbish": 1}},
     {**session().as_json(), "parts": dict.fromkeys(PARTS, "x")},
     {**session().as_json(), "parts": {part: [float("nan")] for part in PARTS}},
     {**session().as_json(), "failures": {"a secret": 1}}],
)  # fmt: skip
def test_anything_else_is_refused(kept):
    with pytest.raises(ValueError, match=r"statistics|lack|count|Reason|seconds|failure"):
        SessionStatistics.from_json(kept)


def test_percentiles_are_values_that_were_measured():
    assert percentile([], 0.5) is None
    assert percentile([3.0], 0.95) == 3.0
    assert percentile(range(1, 101), 0.95) == 95
    assert percentile([1.0, 9.0], 0.5) == 1.0


def test_a_table_says_so_where_nothing_was_measured():
    lines = table(SessionStatistics().summary())
    assert [line for line in lines if line.startswith("endpoint")] == [
        f"{'endpoint':24}     0        -        -"
    ]
    assert "no words                     2" in table(session().summary())
