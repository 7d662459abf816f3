import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice import events
from voice.events import DiscardReason, NarrationEnding
from voice.screen.entries import Entry, Kind, Story, Writing


def told(*happened, **how):
    story = Story(**how)
    return [entry for event in happened for entry in story.take(event)]


def texts(*happened, **how):
    return [entry.text for entry in told(*happened, **how)]


def narrated(ending, **fields):
    return events.NarrationEnded("x", ending, 1.0, **fields)


def test_who_said_what():
    assert told(
        events.UserMessage("Hello.", "voice", 1.0),
        events.UserMessage("hi", "keyboard", 1.0),
        events.AssistantText("Good *day*."),
        events.NarrationStarted("Which one?"),
    ) == [
        Entry(Kind.SPOKEN, "Hello."),
        Entry(Kind.TYPED, "hi"),
        Entry(Kind.AGENT, "Good *day*."),
        Entry(Kind.NARRATED, "Which one?"),
    ]


def test_how_long_a_message_took_is_told_where_that_is_wanted_and_that_somebody_went_on():
    took = events.MessageDelivered(events.Latency(0.5, 0.1, 0.6), 0.02, waited=False)
    assert texts(took) == []
    assert texts(took, show_latency=True) == ["0.62 s: 0.50 of silence, 0.10 for Whisper, 0.02 to the agent"]
    assert texts(events.MessageReopened("Use", sent=True)) == ["you went on; both are sent as one message"]


def test_a_text_that_is_written_in_parts_is_told_by_the_block_and_once():
    story = Story()
    first = story.take(events.AssistantDelta("One\ntwo.\n\nThr"))
    assert first == [Entry(Kind.AGENT, "One\ntwo.")]
    assert story.unfinished == "Thr"
    last = story.take(events.AssistantText("One\ntwo.\n\nThree."))
    assert last == [Entry(Kind.AGENT, "Three.", goes_on=True)]
    assert story.unfinished == ""
    assert story.take(events.AssistantText("Another.")) == [Entry(Kind.AGENT, "Another.")]


def test_a_fence_is_one_block_whatever_is_in_it():
    assert texts(events.AssistantDelta("```python\na\n\nb\n```\n\nafter"), events.AgentEnded()) == [
        "```python\na\n\nb\n```",
        "after",
    ]
    assert texts(events.AssistantDelta("````\n```\n\n```\n````\n\n"), events.AgentEnded()) == [
        "````\n```\n\n```\n````"
    ]


def test_a_whole_that_is_not_its_parts_is_told_whole():
    assert texts(events.AssistantDelta("Ons\n\n"), events.AssistantText("Once")) == ["Ons", "Once"]


@pytest.mark.parametrize("end", [events.AgentEnded(), events.HostLost("The agent is gone.")])
def test_what_was_begun_is_told_when_nothing_more_comes(end):
    assert texts(events.AssistantDelta("half a"), end)[0] == "half a"


@given(st.text(alphabet="ab `~\n", max_size=60), st.lists(st.integers(1, 7), max_size=20))
def test_however_it_is_cut_the_same_blocks_are_told(text, sizes):
    whole = Writing()
    expected = [entry.text for entry in [*whole.more(text), *whole.whole(text)]]
    cut, parts, at = Writing(), [], 0
    for size in [*sizes, len(text)]:
        parts += cut.more(text[at : at + size])
        at += size
    assert [entry.text for entry in [*parts, *cut.whole(text)]] == expected
    words = lambda blocks: "".join("".join(blocks).split())  # noqa: E731
    assert words(expected) == words([text])


def test_what_was_written_and_is_spoken_is_not_told_again():
    assert texts(events.AssistantText("Which  one?"), events.NarrationStarted("which one?")) == [
        "Which  one?"
    ]
    assert texts(events.AssistantDelta("Which one?"), events.NarrationStarted("Which one?")) == []
    assert texts(events.AssistantText("Which one?"), events.NarrationStarted("This one?")) == [
        "Which one?",
        "This one?",
    ]


def test_what_is_not_sent_is_shown_with_its_words_and_the_reason():
    shown = {reason: texts(events.Discarded(reason, "half a reply", 1.0)) for reason in DiscardReason}
    silent = {DiscardReason.NO_WORDS, DiscardReason.BACKCHANNEL, DiscardReason.COMMAND, DiscardReason.ASLEEP}
    for reason, lines in shown.items():
        if reason in silent:
            assert lines == []
        else:
            assert lines[0].endswith(": half a reply")


def test_the_reason_why_nothing_is_spoken_is_told_once():
    failed = narrated(NarrationEnding.FAILED, notice="there is no engine")
    assert texts(failed, failed) == ["not spoken: there is no engine", "not spoken"]
    assert texts(narrated(NarrationEnding.COMPLETED)) == []
    assert texts(narrated(NarrationEnding.COMPLETED), detailed=True) == ["1.0 s of speech"]
    assert texts(narrated(NarrationEnding.INTERRUPTED)) == ["narration interrupted"]


def test_tools_that_are_seen_themselves_are_not_told_and_others_in_a_line():
    assert texts(events.ToolCalled("narrate", "Narration completed.", False)) == []
    assert texts(events.ToolCalled("read", "\n\nfirst\nsecond", False)) == ["read: first"]
    assert len(texts(events.ToolCalled("read", "x" * 5_000, False))[0]) < 300
    assert told(events.ToolCalled("user_select", "withheld", True)) == [
        Entry(Kind.REFUSED, "user_select: withheld")
    ]


def test_a_lost_host_and_a_turn_that_failed_are_sentences():
    assert texts(events.HostLost("It died."), events.AgentEnded("It could not.")) == [
        "It died.",
        "It could not.",
    ]
    assert texts(events.AgentEnded()) == []
