"""What waits for an agent, what it is writing, and the turns in their order."""

import anyio
import pytest

from voice.events import AgentEnded, AgentStarted, AssistantDelta, AssistantText
from voice.hosts.turns import Turns

pytestmark = pytest.mark.anyio


class Agent:
    """Turns that last until they are let go; what it says is what a test has it say."""

    def __init__(self):
        self.told = []
        self.turns = Turns(self.told.append)
        self.began = []
        self.go = anyio.Semaphore(0)
        self.says = ()
        self.error = ""

    async def turn(self, text):
        self.began.append(text)
        for part in self.says:
            if part is None:
                self.turns.written()
            else:
                self.turns.write(part)
        await self.go.acquire()
        return self.error

    async def take(self, count):
        """Let so many turns pass."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.turns.run, self.turn)
            for number in range(count):
                self.go.release()
                with anyio.fail_after(60):
                    while self.told.count(AgentEnded(self.error)) <= number:
                        await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()


async def test_messages_have_their_turns_in_their_order_and_urgent_ones_first():
    agent = Agent()
    for text in ("one", "two"):
        agent.turns.put(text)
    for text in ("urgent", "urgent too"):
        agent.turns.put_first(text)
    assert agent.turns.busy
    await agent.take(4)
    assert agent.began == ["urgent", "urgent too", "one", "two"]
    assert agent.told == [AgentStarted(), AgentEnded()] * 4
    assert not agent.turns.busy


async def test_what_was_taken_and_not_read_goes_before_all_others():
    agent = Agent()
    agent.turns.put("at last")
    agent.turns.put_first("urgent")
    agent.turns.put_back("one", "two")
    agent.turns.put_first("urgent too")
    await agent.take(5)
    assert agent.began == ["one", "two", "urgent", "urgent too", "at last"]


async def test_parts_make_up_the_whole_and_a_blank_beginning_is_none():
    agent = Agent()
    agent.says = ("\n\n", "  Hello", " there.\n", None, None, " ", "\n", None, "More.")
    agent.turns.put("speak")
    await agent.take(1)
    assert agent.told == [
        AgentStarted(),
        AssistantDelta("Hello"),
        AssistantDelta(" there.\n"),
        AssistantText("Hello there.\n"),
        AssistantDelta("More."),
        AssistantText("More."),
        AgentEnded(),
    ]


async def test_what_comes_outside_of_a_turn_is_not_told():
    agent = Agent()
    agent.turns.write("a banner")
    agent.turns.written()
    assert agent.told == []


async def test_a_turn_that_ended_by_an_error_says_so():
    agent = Agent()
    agent.error = "The model is gone."
    agent.turns.put("go")
    await agent.take(1)
    assert agent.told[-1] == AgentEnded("The model is gone.")


async def test_a_turn_that_is_cancelled_is_ended_with_what_it_wrote():
    agent = Agent()
    agent.says = ("I am at",)
    agent.turns.put("go")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(agent.turns.run, agent.turn)
        await agent.turns.begun()
        await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert agent.told == [AgentStarted(), AssistantDelta("I am at"), AssistantText("I am at"), AgentEnded()]
    assert not agent.turns.open


async def test_when_it_is_closed_the_present_turn_ends_and_the_rest_waits_for_the_next_time():
    agent = Agent()
    agent.turns.put("one")
    agent.turns.put("two")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(agent.turns.run, agent.turn)
        await agent.turns.begun()
        agent.turns.close()
        agent.go.release()
    assert agent.began == ["one"]
    agent.told.clear()
    await agent.take(1)
    assert agent.began == ["one", "two"]


async def test_closing_ends_a_wait_for_messages():
    agent = Agent()
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.turns.run, agent.turn)
            await anyio.lowlevel.checkpoint()
            agent.turns.close()


async def test_closing_ends_a_wait_for_a_turn_that_will_not_begin():
    agent = Agent()
    agent.turns.put("one")
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.turns.begun)
            await anyio.wait_all_tasks_blocked()
            agent.turns.close()


async def test_nothing_has_begun_where_nothing_waits():
    with anyio.fail_after(60):
        await Turns(print).begun()
