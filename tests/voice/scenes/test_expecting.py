"""Verdicts: each expectation is met by what should meet it, and by nothing else."""

import pytest

from voice.events import (
    AgentEnded,
    AgentStarted,
    Discarded,
    DiscardReason,
    Latency,
    MessageDelivered,
    MessageSent,
    Notice,
    Span,
    Status,
    StatusChanged,
    ToolsChanged,
    UserMessage,
)
from voice.scenes.expecting import Ending, Happened, judged
from voice.scenes.reading import parse_scene
from voice.scenes.script import Bound, EventPattern
from voice.scenes.sentences import SentenceBegun, SentenceHeard

LATENCY = Latency(1.6, 0.1, 1.7)
HAPPENED = (
    Happened(0.0, ToolsChanged(("ask_user_question", "narrate"))),
    Happened(0.5, StatusChanged(Status.NARRATING)),
    Happened(0.5, ToolsChanged(("narrate",))),
    Happened(0.6, SentenceBegun("Which database do you want?")),
    Happened(2.0, SentenceHeard("Which database do you want?", 1.4, whole=True)),
    Happened(2.1, SentenceBegun("There are two.")),
    Happened(2.2, SentenceHeard("There are two.", 0.1, whole=False)),
    Happened(2.3, StatusChanged(Status.LISTENING)),
    Happened(5.0, UserMessage("The second one.", "voice", 5.0, Span(2.5, 3.3), LATENCY)),
    Happened(5.2, MessageSent("The second one.")),
    Happened(5.2, MessageDelivered(LATENCY, 0.2, waited=False)),
    Happened(5.2, AgentStarted()),
    Happened(6.0, Discarded(DiscardReason.ECHO, "There are", 6.0)),
    Happened(6.5, Notice("The microphone is gone.")),
    Happened(7.0, AgentEnded()),
    Happened(9.0, StatusChanged(Status.VOICE_OFF)),
    Happened(9.0, ToolsChanged(("ask_user_question", "narrate"))),
)
ENDING = Ending(waiting=("Later.",), kept=("half a",), events=15)


def verdict(field):
    (one,) = judged(parse_scene(f"expect: {{{field}}}").expect, HAPPENED, ENDING)
    return one


@pytest.mark.parametrize(
    "field",
    [
        "messages: [the second one]",
        "waiting: [Later]",
        "kept: [Half a]",
        "discarded: [echo]",
        "discarded: [{reason: echo, text: There are}]",
        "tools: [{at: 0.2, are: [narrate, ask_user_question]}]",
        "tools: [{after: {event: status_changed, status: narrating}, are: [narrate]}]",
        "tools: [{are: [narrate]}]",
        'said: ["which database", "do you want?"]',
        "said: []",
        "never_said: [password]",
        "notices: [microphone]",
        "events: [agent_started, {event: discarded, reason: echo}, agent_ended]",
        "never: [host_lost]",
        "never: [{event: discarded, reason: no_words}]",
        "no_messages_while: narrating",
        "latency: {total_s: 1.7}",
        'latency: {endpoint_s: "< 2"}',
        'latency: {deliver_s: "<= 0.2"}',
        'between: [{from: agent_started, to: agent_ended, seconds: "== 1.8"}]',
        "status: listening",
    ],
)
def test_what_is_so_is_met(field):
    one = verdict(field)
    assert one.met
    assert one.expected
    assert one.failure == ""


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("messages: []", "messages were 'The second one.'"),
        ("messages: [The second one., Later.]", "messages were"),
        ("waiting: []", "waiting were 'Later.'"),
        ("kept: []", "kept were 'half a'"),
        ("discarded: []", "discarded was echo 'There are'"),
        ("discarded: [no_words]", "discarded was echo"),
        ("discarded: [{reason: echo, text: There}]", "discarded was echo"),
        ("tools: [{at: 0.2, are: [narrate]}]", "they were 'ask_user_question', 'narrate'"),
        ("tools: [{after: host_lost, are: []}]", "host_lost never came"),
        ("tools: [{are: [ask_user_question, narrate]}]", "they were 'narrate'"),
        ("said: [There are two]", "'There are two' was not said; it was: Which database do you want?"),
        ("said: [you want, which database]", "'which database' was not said after what comes before it"),
        ("never_said: [are two]", "at 2.1 s it was said: There are two."),
        ("notices: [speaker]", "the notices were: 'The microphone is gone.'"),
        ("events: [agent_ended, agent_started]", "agent_started did not come after those before it"),
        ("events: [{event: discarded, reason: no_words}]", "did not come"),
        ("never: [{event: discarded, text: There are}]", "it came at 6 s"),
        ("no_messages_while: [held, listening]", "at 5 s came 'The second one.'"),
        ("latency: {total_s: 1.69}", "it was 1.7 s"),
        ('between: [{from: agent_started, to: host_lost, seconds: "< 9"}]', "host_lost did not come after"),
        ('between: [{from: agent_ended, to: agent_started, seconds: "< 9"}]', "agent_started did not come"),
        ('between: [{from: agent_started, to: agent_ended, seconds: "< 1"}]', "it was 1.800 s"),
        ("status: voice_off", "it was listening"),
    ],
)
def test_what_is_not_so_is_told(field, told):
    last = judged(parse_scene(f"expect: {{{field}}}").expect, HAPPENED, ENDING)[-1]
    assert told in last.failure
    assert not last.met


def test_a_latency_that_nobody_has_is_not_met():
    expected = parse_scene("expect: {latency: {total_s: 9, deliver_s: 9}}").expect
    assert [one.failure for one in judged(expected, (), Ending())] == ["no spoken message came"] * 2


@pytest.mark.parametrize(
    ("bound", "inside", "outside"),
    [("<= 2", 2.0, 2.1), ("< 2", 1.9, 2.0), (">= 2", 2.0, 1.9), ("> 2", 2.1, 2.0), ("== 2", 2.0, 2.1)],
)
def test_bounds(bound, inside, outside):
    assert Bound.model_validate(bound).holds(inside)
    assert not Bound.model_validate(bound).holds(outside)
    assert str(Bound.model_validate(bound)) == bound


def test_a_pattern_fits_by_its_fields_and_a_phrase_by_a_part_of_the_text():
    sent = {"event": "message_sent", "text": "The second one."}
    assert EventPattern.model_validate("message_sent").fits(sent)
    assert EventPattern(event="message_sent", text="second one").fits(sent)
    assert not EventPattern(event="message_sent", text="one").fits(sent)
    nested = {"event": "user_message", "text": "x", "latency": {"total_s": 1.0, "endpoint_s": 1.0}}
    assert EventPattern(event="user_message", latency={"total_s": 1.0}).fits(nested)
