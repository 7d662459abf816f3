import json

import pytest

from voice.events import (
    Discarded,
    DiscardReason,
    Latency,
    MessageDelivered,
    MessageReopened,
    Notice,
    UserMessage,
)
from voice.statistics import PARTS, SessionStatistics, percentile, table


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
    }


def test_what_is_kept_is_read_again_and_holds_no_word_that_was_said():
    kept = json.dumps(session().as_json())
    assert SessionStatistics.from_json(json.loads(kept)).summary() == session().summary()
    assert not [word for word in ("Redis", "typed.", "Later", "Louder") if word in kept]


@pytest.mark.parametrize(
    "kept",
    [None, [], {}, {"version": 2}, {"version": 1}, {**session().as_json(), "spoken": "many"},
     {**session().as_json(), "spoken": -1}, {**session().as_json(), "discarded": {"rubbish": 1}},
     {**session().as_json(), "parts": dict.fromkeys(PARTS, "x")}],
)  # fmt: skip
def test_anything_else_is_refused(kept):
    with pytest.raises(ValueError, match=r"statistics|lack|count|Reason|seconds"):
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
