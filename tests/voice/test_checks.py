"""The suite for hosts can fail: hosts that break one promise each are caught, by that promise."""

import json
from contextlib import asynccontextmanager

import anyio
import pytest

from questionnaire import Option, Question, Questionnaire, Status
from voice.checks import Abilities, check_host
from voice.errors import HostDied, HostError
from voice.events import AgentEnded, AgentStarted, AssistantDelta, AssistantText, HostLost, ToolCalled
from voice.hosts.turns import Turns
from voice.ports import Delivery

pytestmark = pytest.mark.anyio


MAY_I = Questionnaire((Question("May I?", (Option("Yes"), Option("No"))),), risky=True)


class PlainHost:
    """A host whose agent is a few lines: what the last message says is done."""

    name = "plain"
    can = Abilities()

    def __init__(self, tools, ask, emit):
        self.tools, self.ask, self.emit = tools, ask, emit
        self.turns = Turns(emit)
        self.alive = False
        self.messages = []
        self.results = []
        self.grants = 0
        self.death = anyio.Event()
        self.finished = anyio.Event()
        self.scope = anyio.CancelScope()

    @property
    def busy(self):
        return self.alive and self.turns.busy

    @asynccontextmanager
    async def open(self):
        self.death = anyio.Event()
        self.alive = True
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self.live)
                try:
                    yield
                finally:
                    tasks.cancel_scope.cancel()
        finally:
            self.alive = False

    async def live(self):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.turns.run, self.turn)
            await self.death.wait()
            self.alive = False
            tasks.cancel_scope.cancel()
        self.emit(HostLost("It has ended."))

    async def send(self, text, delivery=Delivery.FOLLOW_UP):
        await anyio.lowlevel.checkpoint()
        if not self.alive:
            raise HostDied("It does not run.")
        if delivery is Delivery.FOLLOW_UP or not self.turns.open:
            self.turns.put(text)
        else:
            self.turns.put_first(text)
            self.scope.cancel()

    async def interrupt(self):
        await anyio.lowlevel.checkpoint()
        if self.busy:
            await self.turns.begun()
            self.scope.cancel()

    async def turn(self, text):
        with anyio.CancelScope() as self.scope:
            self.messages.append(text)
            self.finished = anyio.Event()
            self.turns.write("I ")
            if text == "work":
                await self.finished.wait()
            elif text == "ask":
                await self.request()
            elif text.startswith("call "):
                _, name, arguments = text.split(" ", 2)
                result = await self.tools.call(name, json.loads(arguments))
                self.results.append(result.text)
                self.emit(ToolCalled(name, result.text, result.is_error))
            self.turns.write("did it.")
        return ""

    async def request(self):
        outcome = await self.ask(MAY_I)
        self.grants += outcome.status is Status.ANSWERED and outcome.responses[0].answer.selected == (0,)

    # What the suite has it do.

    def to_write(self):
        return "hello"

    def to_work(self):
        return "work"

    def to_call(self, name, arguments):
        return f"call {name} {json.dumps(arguments)}"

    def to_ask(self):
        return "ask"

    async def finish(self):
        self.finished.set()

    async def die(self):
        self.death.set()

    def read(self):
        return self.messages

    def told(self):
        return "\n".join(self.results)

    def granted(self):
        return self.grants


async def check(kind, **how):
    @asynccontextmanager
    async def make(tools, ask, emit):
        host = kind(tools, ask, emit)
        yield host, host

    await check_host(make, **how)


async def test_a_plain_host_keeps_all_promises():
    await check(PlainHost)


async def test_what_an_agent_cannot_do_is_not_asked_of_it():
    class Mute(PlainHost):
        can = Abilities(calls=False, asks=False, dies=False)

        def to_call(self, name, arguments):
            raise AssertionError("it cannot")

        def to_ask(self):
            raise AssertionError("it cannot")

        async def die(self):
            raise AssertionError("it cannot")

    await check(Mute)


class Nameless(PlainHost):
    name = " "


class TakesWhileClosed(PlainHost):
    async def send(self, text, delivery=Delivery.FOLLOW_UP):
        if self.alive:
            await super().send(text, delivery)


class BeginsByItself(PlainHost):
    async def live(self):
        self.turns.put("hello")
        await super().live()


class NeverWhole(PlainHost):
    def __init__(self, tools, ask, emit):
        super().__init__(tools, ask, lambda event: None if isinstance(event, AssistantText) else emit(event))


class SaysOtherwise(PlainHost):
    def __init__(self, tools, ask, emit):
        super().__init__(
            tools,
            ask,
            lambda event: emit(AssistantDelta("um") if isinstance(event, AssistantDelta) else event),
        )


class NeverEnds(PlainHost):
    def __init__(self, tools, ask, emit):
        super().__init__(tools, ask, lambda event: None if isinstance(event, AgentEnded) else emit(event))


class BeginsTwice(PlainHost):
    def __init__(self, tools, ask, emit):
        def twice(event):
            emit(event)
            if isinstance(event, AgentStarted):
                emit(event)

        super().__init__(tools, ask, twice)


class NeverBusy(PlainHost):
    busy = False


class RunsCommands(PlainHost):
    async def send(self, text, delivery=Delivery.FOLLOW_UP):
        await super().send("ok" if text.startswith("/") else text, delivery)


class WaitsForTheTurn(PlainHost):
    async def send(self, text, delivery=Delivery.FOLLOW_UP):
        await super().send(text, delivery)
        while self.turns.busy:  # noqa: ASYNC110 - broken on purpose
            await anyio.sleep(0.001)


class FollowsAtOnce(PlainHost):
    async def send(self, text, delivery=Delivery.FOLLOW_UP):
        await super().send(text, Delivery.INTERRUPT if delivery is Delivery.FOLLOW_UP else delivery)


class DropsSteers(PlainHost):
    async def send(self, text, delivery=Delivery.FOLLOW_UP):
        if delivery is not Delivery.STEER:
            await super().send(text, delivery)


class InterruptsNothing(PlainHost):
    async def interrupt(self):
        pass


class CallsItAnError(PlainHost):
    async def turn(self, text):
        await super().turn(text)
        return "stopped" if self.scope.cancel_called else ""


class GoesAroundTheRestrictions(PlainHost):
    def __init__(self, tools, ask, emit):
        super().__init__(tools.inner, ask, emit)


class TellsNoResult(PlainHost):
    def told(self):
        return ""


class AllowsAll(PlainHost):
    async def request(self):
        await self.ask(MAY_I)
        self.grants += 1


class AllowsNothing(PlainHost):
    async def request(self):
        await self.ask(MAY_I)


class TakesItLightly(PlainHost):
    def __init__(self, tools, ask, emit):
        super().__init__(tools, lambda asked: ask(Questionnaire(asked.questions)), emit)


class LeavesItOnTheScreen(PlainHost):
    async def request(self):
        with anyio.move_on_after(10, shield=True):
            await super().request()


class DiesInSilence(PlainHost):
    def __init__(self, tools, ask, emit):
        super().__init__(tools, ask, lambda event: None if isinstance(event, HostLost) else emit(event))


class TellsTwiceWhyItDied(PlainHost):
    def __init__(self, tools, ask, emit):
        def twice(event):
            dead = isinstance(event, AgentEnded) and self.death.is_set()
            emit(AgentEnded("It has died.") if dead else event)

        super().__init__(tools, ask, twice)


class DiesAndTakesMessages(PlainHost):
    async def send(self, text, delivery=Delivery.FOLLOW_UP):
        if not self.death.is_set():
            await super().send(text, delivery)


class CannotBeOpenedAgain(PlainHost):
    opened = False

    @asynccontextmanager
    async def open(self):
        if self.opened:
            raise HostError("Once is enough.")
        self.opened = True
        async with super().open():
            yield


@pytest.mark.parametrize(
    ("kind", "promise"),
    [
        (Nameless, "It has a name"),
        (TakesWhileClosed, "before it is open"),
        (BeginsByItself, "does nothing"),
        (NeverWhole, "comes whole"),
        (SaysOtherwise, "are not the whole"),
        (NeverEnds, "begins a turn"),
        (BeginsTwice, "begins a turn"),
        (NeverBusy, "accepted at once"),
        (RunsCommands, "begins with a slash"),
        (WaitsForTheTurn, "accepted at once"),
        (FollowsAtOnce, "Follow-ups wait"),
        (DropsSteers, "What steers"),
        (InterruptsNothing, "when it is interrupted"),
        (CallsItAnError, "no error"),
        (GoesAroundTheRestrictions, "withheld"),
        (TellsNoResult, "what came of it"),
        (AllowsAll, "granted only by an answer"),
        (AllowsNothing, "granted only by an answer"),
        (TakesItLightly, "risky"),
        (LeavesItOnTheScreen, "nobody waits for"),
        (DiesInSilence, "told once"),
        (TellsTwiceWhyItDied, "by HostLost alone"),
        (DiesAndTakesMessages, "was accepted"),
        (CannotBeOpenedAgain, "opened again"),
    ],
)
@pytest.mark.parametrize("anyio_backend", ["virtual"], indirect=True)
async def test_a_host_that_breaks_a_promise_is_caught(kind, promise):
    with pytest.raises(AssertionError, match=promise):
        await check(kind, within_s=5)
