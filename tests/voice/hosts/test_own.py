"""An agent of the caller's own: an async function as a host, and which host is made of what."""

from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

from voice.checks import Abilities, check_host
from voice.errors import HostDied, SettingsError
from voice.events import AgentEnded, AgentStarted, AssistantDelta, AssistantText
from voice.hosts.own import FunctionHost, host_maker_of
from voice.hosts.pydantic_ai import PydanticAiHost
from voice.ports import Delivery
from voice.testing import ScriptedHost

pytestmark = pytest.mark.anyio


class Script:
    """The function behind the host, as `voice.checks` wants an agent."""

    can = Abilities(calls=False, asks=False, dies=False)

    def __init__(self):
        self.seen = []
        self._finished = anyio.Event()

    async def __call__(self, text):
        self.seen.append(text)
        if text == "work":
            await self._finished.wait()
            self._finished = anyio.Event()
        return "Here you are."

    def to_write(self):
        return "write"

    def to_work(self):
        return "work"

    async def finish(self):
        self._finished.set()

    def read(self):
        return self.seen


async def test_it_keeps_the_promises_of_a_host():
    @asynccontextmanager
    async def make(tools, ask, emit):
        script = Script()
        yield host_maker_of(script)(tools, ask, emit), script

    await check_host(make)


async def turns(reply, *texts, failed=lambda _: None):
    """Have an agent reply to messages, one after the other; returns the events."""
    events = []
    host = FunctionHost(reply, emit=events.append, failed=failed)
    async with host.open():
        for number, text in enumerate(texts, 1):
            await host.send(text)
            with anyio.fail_after(60):
                while sum(isinstance(event, AgentEnded) for event in events) < number:
                    await anyio.lowlevel.checkpoint()
    return events


async def test_a_generator_writes_part_by_part():
    async def agent(text):
        yield "You said: "
        yield text

    assert await turns(agent, "Hello.") == [
        AgentStarted(),
        AssistantDelta("You said: "),
        AssistantDelta("Hello."),
        AssistantText("You said: Hello."),
        AgentEnded(),
    ]


async def test_nothing_is_no_text():
    async def agent(text):
        return None

    assert await turns(agent, "Hello.") == [AgentStarted(), AgentEnded()]


async def test_what_is_no_text_is_said_to_be_none():
    async def number(text):
        return 42

    async def parts(text):
        yield b"Hello."

    assert (await turns(number, "Hello."))[1].error.endswith("It wrote no text but int.")
    assert (await turns(parts, "Hello."))[1].error.endswith("It wrote no text but bytes.")


async def test_an_exception_ends_the_turn_and_not_the_conversation():
    async def agent(text):
        if text == "bad":
            raise LookupError("no such\norder")
        return "Good."

    failures = []
    events = await turns(agent, "bad", "good", failed=failures.append)
    assert events[1] == AgentEnded("The agent could not finish its turn: no such order")
    assert AssistantText("Good.") in events
    assert [type(error) for error in failures] == [LookupError]


async def test_what_interrupts_goes_before_what_waits():
    begun, seen = anyio.Event(), []

    async def agent(text):
        seen.append(text)
        if text == "long":
            begun.set()
            await anyio.sleep_forever()

    host = FunctionHost(agent, emit=lambda _: None)
    with pytest.raises(HostDied, match="agent does not run"):
        await host.send("too early")
    async with host.open():
        await host.send("long")
        with anyio.fail_after(60):
            await begun.wait()
            await host.send("later")
            await host.send("now", Delivery.INTERRUPT)
            while host.busy:
                await anyio.lowlevel.checkpoint()
    assert seen == ["long", "now", "later"]


def made_of(agent):
    return host_maker_of(agent)(None, None, lambda _: None)


def test_each_kind_of_agent_has_its_host():
    async def function(text):
        return text

    async def generator(text):
        yield text

    def maker(tools, ask, emit):
        return ScriptedHost(emit)

    assert isinstance(made_of(function), FunctionHost)
    assert isinstance(made_of(generator), FunctionHost)
    assert isinstance(made_of(Script()), FunctionHost)
    assert isinstance(made_of(maker), ScriptedHost)
    assert made_of(function).name == "function"


def test_an_agent_of_pydantic_ai_has_its_host():
    agent = Agent(TestModel(), name="helper")
    host = host_maker_of(agent)(None, None, lambda _: None)
    assert isinstance(host, PydanticAiHost)
    assert host.name == "helper"


@pytest.mark.parametrize("wrong", ["agent", 3, None, lambda text: text, ScriptedHost()])
def test_anything_else_is_none(wrong):
    with pytest.raises(SettingsError, match=r"is no agent\. To mend it: give an async function"):
        host_maker_of(wrong)
