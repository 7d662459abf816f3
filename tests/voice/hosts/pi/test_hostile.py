"""Peers that break the protocol: each ends in a clear sentence or is passed over, and the session goes on."""

import os
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest

from questionnaire import AdjustableToolset, Outcome, Status, questionnaire_toolset
from voice.errors import HostDied, HostError, HostMissing
from voice.events import AgentEnded, AgentStarted, AssistantDelta, AssistantText, HostLost, Notice
from voice.hosts.pi.host import PiHost
from voice.ports import Delivery, Unconfirmed

pytestmark = pytest.mark.anyio

FAKE = Path(__file__).with_name("fake_pi.py")


@pytest.fixture
def fake_pi(tmp_path):
    """An environment in which `pi` is the peer that misbehaves."""
    program = tmp_path / "pi"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    program.chmod(0o755)
    return {"PATH": f"{tmp_path}:/usr/bin:/bin"}


@asynccontextmanager
async def a_host(environment, patience_s=30.0):
    events, asked = [], []

    async def ask(questionnaire):
        asked.append(questionnaire)
        return Outcome(Status.DECLINED)

    tools = AdjustableToolset(questionnaire_toolset(None))
    host = PiHost(
        [], tools=tools, ask=ask, emit=events.append, environment=environment, patience_s=patience_s
    )
    async with host.open():
        yield host, events


async def until(fact):
    with anyio.fail_after(60):
        while not fact():  # noqa: ASYNC110
            await anyio.sleep(0.01)


def of(events, kind):
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("fault", ["garbage", "large"])
async def test_lines_that_are_none_are_passed_over_with_one_notice(fault, fake_pi):
    async with a_host(fake_pi) as (host, events):
        await host.send(fault)
        await until(lambda: of(events, AgentEnded))
        await host.send("and on")
        await until(lambda: len(of(events, AgentEnded)) == 2)
        assert of(events, AssistantText) == [AssistantText("still here")] * 2
        assert len(of(events, Notice)) == 1
        assert not of(events, HostLost)


async def test_a_peer_that_hangs_is_lost_and_ended(fake_pi):
    async with a_host(fake_pi, patience_s=1.5) as (host, events):
        await host.send("hang")
        await until(lambda: of(events, HostLost))
        assert of(events, AgentEnded) == [AgentEnded()]  # why is told once, and spoken once
        assert "no sign of life" in of(events, HostLost)[0].sentence
        with pytest.raises(HostError):
            await host.send("are you there?")


async def test_a_peer_that_dies_in_the_middle_of_a_line_is_lost_with_its_last_words(fake_pi):
    async with a_host(fake_pi) as (host, events):
        with suppress(HostDied):  # its death may be seen first
            await host.send("die")
        await until(lambda: of(events, HostLost))
        assert not host.busy
        assert of(events, HostLost)[0].sentence == "Pi has ended: out of memory"


async def test_what_it_is_given_is_unconfirmed_until_it_tells_that_its_agent_reads_it(fake_pi):
    async with a_host(fake_pi) as (host, events):
        await host.send("read")
        await until(lambda: not host.unconfirmed)
        assert host.busy
        with pytest.raises(HostDied):
            await host.send("die silently", Delivery.STEER)
        await until(lambda: of(events, HostLost))
        assert host.unconfirmed == (Unconfirmed("die silently"),)
        with pytest.raises(HostDied):
            await host.send("are you there?")
        assert host.unconfirmed == (Unconfirmed("die silently"),), "what was never written is in no doubt"


@pytest.mark.flaky(
    reruns=3
)  # anyio 4.16: its socket cancelled as it becomes readable is an error of the loop
async def test_what_it_took_and_ended_before_its_agent_read_it_is_unconfirmed(fake_pi):
    async with a_host(fake_pi) as (host, events):
        with suppress(HostDied):  # its death may be seen first
            await host.send("die at once")
        await until(lambda: of(events, HostLost))
        assert host.unconfirmed == (Unconfirmed("die at once"),)


@pytest.mark.parametrize(("text", "refused"), [("twice", True), ("well", False)])
async def test_what_it_refused_or_is_through_with_is_not_unconfirmed(text, refused, fake_pi):
    async with a_host(fake_pi) as (host, events):
        if refused:
            with pytest.raises(HostError, match="no"):
                await host.send(text)
        else:
            await host.send(text)
        await until(lambda: of(events, AgentEnded))
        assert host.unconfirmed == ()


async def test_of_two_answers_for_one_command_the_first_counts(fake_pi):
    async with a_host(fake_pi) as (host, events):
        with pytest.raises(HostError, match="no"):
            await host.send("twice")
        await until(lambda: of(events, AgentEnded))
        await host.send("and on")
        await until(lambda: len(of(events, AgentEnded)) == 2)


@pytest.mark.parametrize("fault", ["unknown", "malformed"])
async def test_a_request_that_cannot_be_shown_is_cancelled_so_that_nobody_waits(fault, fake_pi):
    async with a_host(fake_pi) as (host, events):
        await host.send(fault)
        await until(lambda: of(events, AssistantText))
        assert '"cancelled": true' in of(events, AssistantText)[0].text
        assert len(of(events, Notice)) == (fault == "unknown")


async def test_a_run_that_begins_while_an_old_pi_says_that_it_is_idle_belongs_to_the_turn(fake_pi):
    async with a_host(fake_pi | {"FAKE_VERSION": "0.74.2"}) as (host, events):
        await host.send("overlap")
        await until(lambda: of(events, AgentEnded))
        turn = [type(event) for event in events if not isinstance(event, Notice)]
        assert turn == [AgentStarted, AssistantDelta, AssistantText, AgentEnded]


async def test_a_ctrl_c_at_the_terminal_is_not_its_own(fake_pi, children_with):
    async with a_host(fake_pi):
        (peer,) = children_with("PATH", fake_pi["PATH"])
        assert os.getpgid(peer.pid) != os.getpgid(0)


async def test_lines_end_at_line_feeds_alone(fake_pi):
    async with a_host(fake_pi) as (host, events):
        await host.send("separators")
        await until(lambda: of(events, AgentEnded))
        assert of(events, AssistantText) == [AssistantText("one\u2028two")]


async def test_without_pi_there_is_a_sentence_with_the_command(tmp_path):
    with pytest.raises(HostMissing, match="npm install"):
        async with a_host({"PATH": str(tmp_path)}):
            pass
