"""Entries as the fold of their lines, what is pending, and what goes."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.events import DiscardReason
from voice.journal import entries
from voice.journal.entries import (
    ACCEPTED,
    FORGOTTEN,
    ID,
    Bounds,
    Entry,
    State,
    began,
    decided,
    read,
    taken,
    told,
)
from voice.ports import KEPT_REASONS

DAY_S = 86_400.0


def test_an_entry_is_told_by_its_lines():
    lines = began("spoken", 12.5) + decided("Merge it.") + ACCEPTED
    assert read("k7fd-1", lines, 32_000) == Entry(
        "k7fd-1", "spoken", 12.5, State.ACCEPTED, "Merge it.", size=32_000
    )
    assert read("k7fd-1", lines, 32_000).seconds == 1.0


def test_what_a_crash_has_torn_is_passed_over():
    whole = began("typed", 1.0) + decided("Äh, merge it.")
    for end in range(len(began("typed", 1.0)), len(whole)):
        assert read("k7fd-1", whole[:end]).began_at == 1.0
    torn = whole[:-9] + b"\n" + decided("Merge it.")
    assert read("k7fd-1", torn).text == "Merge it."


@pytest.mark.parametrize(
    "lines",
    [
        b"",
        b"\xff\xfe\x00",
        b"[]\n3\nnull\n",
        b'{"event": "other"}\n',
        b'{"event": "began", "kind": "spoken", "at": NaN}',
        b'{"event": "began", "kind": "spoken", "at": 1e300}',
        b'{"event": "decided", "text": "x", "reason": "no such"}',
        b"[" * 100_000,
    ],
)
def test_what_is_none_of_ours_is_no_entry_and_no_error(lines):
    assert read("k7fd-1", lines) is None


def test_sound_without_a_line_is_an_entry():
    assert read("k7fd-1", b"", 320).state is State.OPEN


@given(st.binary(max_size=300))
def test_any_bytes_are_read(lines):
    entry = read("k7fd-1", lines, 2)
    assert entry is not None
    assert entry.order


def test_it_is_pending_when_its_session_is_over_or_gave_it_up():
    on_its_way = read("k7fd-1", began("spoken", 1.0) + decided("Merge it."))
    assert not on_its_way.pending({"k7fd"})
    assert on_its_way.pending(set())
    cut_off = read("k7fd-1", began("spoken", 1.0) + decided("Merge", DiscardReason.CUT_OFF))
    assert cut_off.pending({"k7fd"})
    again = read("k7fd-1", began("spoken", 1.0) + decided("Merge", DiscardReason.CUT_OFF) + taken("abcd"))
    assert again.pending({"k7fd"})
    assert not again.pending({"abcd"})
    for over in (ACCEPTED, FORGOTTEN):
        assert not read("k7fd-1", began("typed", 1.0) + over).pending(set())


@pytest.mark.parametrize(
    ("lines", "whole"),
    [
        (b"", False),
        (decided("Merge it."), True),
        (decided("Merge", DiscardReason.CUT_OFF), True),
        (decided("Merge", DiscardReason.NOT_TRANSCRIBED), False),
        (decided("", DiscardReason.CUT_OFF), False),
        (decided("Merge", DiscardReason.NOT_TRANSCRIBED) + decided("Merge it."), True),
        (decided("Merge", DiscardReason.NOT_TRANSCRIBED) + told("Merge it."), True),
        (told("Merge it."), True),
        (told(" "), False),
    ],
)
def test_what_can_be_sent_has_all_of_its_words(lines, whole):
    assert read("k7fd-1", began("spoken", 1.0) + lines, 320).whole is whole


@pytest.mark.parametrize(
    "name", ["k7fd-0", "k7fd-01", "k7f-1", "K7FD-1", "k7fd-1/..", "o7fd-1", "k7fd-1234567"]
)
def test_what_is_no_id(name):
    assert ID.fullmatch(name) is None


def entry(name, days=0.0, mb=0.0):
    return Entry(name, began_at=100 * DAY_S - days * DAY_S, size=round(mb * 1e6))


def gone(bounds, *there, running=()):
    return [one.id for one in bounds.beyond(there, 100 * DAY_S, set(running))]


def test_what_is_too_old_goes_and_then_the_oldest_until_it_fits():
    bounds = Bounds(longest_days=7, largest_mb=10)
    there = entry("aaaa-1", 8), entry("aaaa-2", 6, 4), entry("aaaa-3", 5, 4), entry("aaaa-4", 0, 4)
    assert gone(bounds, *there) == ["aaaa-1", "aaaa-2"]
    assert gone(bounds, *there[:3]) == ["aaaa-1"]


def test_what_a_running_session_has_in_its_hands_never_goes():
    bounds = Bounds(longest_days=1, largest_mb=1)
    assert gone(bounds, entry("aaaa-1", 3, 3), entry("bbbb-1", 0, 1), running=["aaaa"]) == ["bbbb-1"]


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.floats(0, 20), st.floats(0, 5)),
        max_size=12,
    ),
    st.sets(st.sampled_from("abc")),
)
def test_walk_what_is_left_is_within_the_bounds_and_nothing_more_went_than_had_to(found, running):
    there = [entry(f"{letter * 4}-{n}", days, mb) for n, (letter, days, mb) in enumerate(found, 1)]
    alive = {letter * 4 for letter in running}
    bounds = Bounds(longest_days=7, largest_mb=10)
    going = bounds.beyond(there, 100 * DAY_S, alive)
    left = [one for one in there if one not in going]
    free = [one for one in left if one.session not in alive]
    assert all(one.session not in alive for one in going)
    assert all(100 * DAY_S - one.began_at <= 7 * DAY_S for one in free)
    size = sum(one.size for one in left)
    assert size <= 10e6 or not free
    for last in going:
        too_old = 100 * DAY_S - last.began_at > 7 * DAY_S
        older = [one for one in left if one.order < last.order and one.session not in alive]
        assert too_old or not older
        assert too_old or size + last.size > 10e6 or sum(o.size for o in going if o.order >= last.order) > 0


def test_what_was_delivered_goes_before_what_was_not():
    bounds = Bounds(longest_days=7, largest_mb=10)
    delivered = replace(entry("bbbb-1", 1, 4), state=State.ACCEPTED)
    there = entry("aaaa-1", 6, 4), delivered, entry("aaaa-2", 0, 4), entry("aaaa-3", 0, 4)
    assert gone(bounds, *there) == ["bbbb-1", "aaaa-1"]
    assert gone(bounds, *there[:3], running=["bbbb", "aaaa"]) == ["bbbb-1"]


def test_words_that_were_known_stay_when_only_their_fate_is_told():
    lines = began("spoken", 1.0) + decided("Merge it.") + decided(None, DiscardReason.CUT_OFF)
    assert read("k7fd-1", lines).text == "Merge it."
    assert read("k7fd-1", lines).reason is DiscardReason.CUT_OFF


STEPS = st.one_of(
    st.tuples(st.just("told"), st.none(), st.text(max_size=5)),
    st.tuples(st.just("decided"), st.sampled_from([None, *DiscardReason]), st.text(max_size=5)),
    st.tuples(st.just("taken"), st.sampled_from(["abcd", "efgh"]), st.just("")),
    st.tuples(st.just("accepted"), st.none(), st.just("")),
)


@given(st.lists(STEPS, max_size=8), st.booleans())
def test_walk_an_entry_that_nobody_accepted_is_always_somebodys_or_pending(steps, torn):
    lines = began("spoken", 1.0)
    accepted = False
    for what, how, text in steps:
        match what:
            case "decided":
                lines += decided(text, how)
            case "told":
                lines += told(text)
            case "taken":
                lines += taken(how)
            case "accepted":
                lines += ACCEPTED
        accepted = accepted or what == "accepted"
    if torn:
        lines += b'{"event": "acc'
    found = read("k7fd-1", lines)
    assert found.pending(set()) is (not accepted)
    assert json.loads(json.dumps(found.as_json(set())))["state"] == ("accepted" if accepted else "pending")
    if not accepted:
        assert found.pending({found.session}) is (found.reason is not None)


def test_only_what_may_be_a_message_is_kept():
    assert {"not_transcribed", "cut_off", "talked_over", "unconfirmed"} == KEPT_REASONS


def test_a_long_text_is_shown_in_part():
    assert entries.shown(Entry("k7fd-1", text="word " * 40)) == f"{('word ' * 40)[:59]}…"
    assert entries.shown(Entry("k7fd-1")) == "(not transcribed)"
