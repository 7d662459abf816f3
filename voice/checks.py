"""One suite for every host: `check_host` puts it through all the promises of the port.

The suite says what the person and the session do; an `Agent` says what the agent behind the host does: a
scripted model, a program of the tests, a conversation that is known. Nothing here knows any host.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import anyio

from questionnaire import (
    AdjustableToolset,
    Answer,
    FunctionToolset,
    Input,
    Outcome,
    Provenance,
    Question,
    Questionnaire,
    Response,
    Status,
    Tool,
    ToolResult,
    Withhold,
)
from voice.errors import HostError
from voice.events import (
    AgentEnded,
    AgentStarted,
    AssistantDelta,
    AssistantText,
    Emit,
    Event,
    HostLost,
    ToolCalled,
)
from voice.hosts.catalog import Ask
from voice.ports import Delivery, Host

__all__ = ["Abilities", "Agent", "check_host"]

_E = TypeVar("_E", bound=Event)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What an agent can be had to do.

    `calls` is false where it cannot call the session's tools, `asks` where it has no requests of its own
    (permissions, dialogs), `dies` where no program stands behind it that could end.
    """

    calls: bool = True
    asks: bool = True
    dies: bool = True


class Agent(Protocol):
    """The agent behind one host. The methods ``to_…`` return the message that has it do something."""

    @property
    def can(self) -> Abilities:
        """What it can be had to do."""
        ...

    def to_write(self) -> str:
        """Return a message that it answers with text alone."""
        ...

    def to_work(self) -> str:
        """Return a message on which it works until `finish`, or until it is stopped."""
        ...

    def to_call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return a message at which it calls a tool of the session, listed or not, and then ends its turn."""
        ...

    def to_ask(self) -> str:
        """Return a message at which it makes a request, which the first option grants, and ends its turn."""
        ...

    async def finish(self) -> None:
        """Let it finish what it works on; nothing where it works on nothing."""
        ...

    async def die(self) -> None:
        """End its program, without a word."""
        ...

    def read(self) -> Sequence[str]:
        """Return the user messages of the conversation that it has read, oldest first, each once."""
        ...

    def told(self) -> str:
        """Return all that its tool calls have given back to it."""
        ...

    def granted(self) -> int:
        """Return how many of its requests were granted."""
        ...


Make = Callable[[AdjustableToolset, Ask, Emit], AbstractAsyncContextManager[tuple[Host, Agent]]]
"""Makes a host that is not yet open, from its tools, its way to ask, and where it tells events; and the agent
behind it. Both are gone at the end."""


async def check_host(make: Make, *, within_s: float = 10.0) -> None:
    """Put what `make` makes through the promises of `Host`.

    What needs a host that lives is tried on one, promise after promise; what ends it, on a new one each.
    Raises `AssertionError` with the promise that is not kept; what does not come within `within_s` seconds
    counts as never.
    """
    async with _room(make, within_s) as room:
        for promise in _CLOSED:
            await _kept(promise, room)
        with _as_failure("it cannot be opened"):
            opening = room.host.open()
            await opening.__aenter__()
        try:
            for promise in _LIVING:
                await _kept(promise, room)
        finally:
            await opening.__aexit__(None, None, None)
        room.check_order()
    for promise in _ENDING:
        async with _room(make, within_s) as room:
            await _kept(promise, room)
            room.check_order()


TALK = Tool(
    "narrate",
    "Speak a text aloud.",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)
SELECT = Tool(
    "user_select",
    "Ask the user.",
    {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]},
)
_SAID = "Narration completed: purple elephants."
_WITHHELD = "Withheld for now: green elephants."


class _Room:
    """A host, the agent behind it, and all that was heard of it."""

    host: Host
    agent: Agent

    def __init__(self, within_s: float) -> None:
        self.within_s = within_s
        self.events: list[Event] = []
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.asked: list[Questionnaire] = []
        self.withdrawn = 0
        """Requests whose asking was cancelled."""
        self.answer: Callable[[Questionnaire], Outcome] | None = None
        """What comes of a request; None has it wait."""
        self.tools = AdjustableToolset(FunctionToolset((TALK, self._talk), (SELECT, self._select)))

    async def _talk(self, arguments: Mapping[str, Any]) -> ToolResult:
        self.calls.append(("narrate", arguments))
        return ToolResult(_SAID)

    async def _select(self, arguments: Mapping[str, Any]) -> ToolResult:
        self.calls.append(("user_select", arguments))
        return ToolResult("User selected: 1. Yes")

    async def ask(self, questionnaire: Questionnaire) -> Outcome:
        self.asked.append(questionnaire)
        try:
            while self.answer is None:  # noqa: ASYNC110 - the suite sets it, and has other things to wait for
                await anyio.sleep(0.005)
        except anyio.get_cancelled_exc_class():
            self.withdrawn += 1
            raise
        return self.answer(questionnaire)

    def of(self, kind: type[_E], since: int = 0) -> list[_E]:
        """The events of one kind, from a place in `events` on."""
        return [event for event in self.events[since:] if isinstance(event, kind)]

    async def until(self, fact: Callable[[], object], otherwise: str) -> None:
        """Wait until `fact` is one."""
        with anyio.move_on_after(self.within_s):
            while True:
                if fact():
                    return
                await anyio.sleep(0.005)
        raise AssertionError(otherwise)

    async def send(self, text: str, delivery: Delivery = Delivery.FOLLOW_UP) -> None:
        with anyio.fail_after(self.within_s):
            await self.host.send(text, delivery)

    async def begin_work(self) -> int:
        """Have it work; the number of events before that."""
        text, since = self.agent.to_work(), len(self.events)
        await self.send(text)
        await self.until(lambda: self.of(AgentStarted, since), "the agent was to work, and no turn began")
        await self.until(
            lambda: any(text in message for message in self.agent.read()[-1:]),
            f"the agent never read {text!r}, but {list(self.agent.read())}",
        )
        await self.until(lambda: self.host.busy, "the agent works, and the host is not busy")
        return since

    async def turn(self, text: str) -> int:
        """Have it take a whole turn; the number of events before that."""
        since = len(self.events)
        await self.send(text)
        await self.ended(since)
        return since

    async def ended(self, since: int, turns: int = 1) -> None:
        """Wait until it has taken so many turns and is idle."""
        await self.until(
            lambda: len(self.of(AgentEnded, since)) >= turns and not self.host.busy,
            f"{turns} turn(s) were to end, and {len(self.of(AgentEnded, since))} did",
        )

    async def has_read(self, text: str) -> None:
        await self.until(
            lambda: any(text in message for message in self.agent.read()),
            f"the agent never read {text!r}, but {list(self.agent.read())}",
        )

    def check_order(self) -> None:
        """Hold the events of all turns against their order: begun, written, ended."""
        open_turn, deltas = False, ""
        for event in self.events:
            match event:
                case AgentStarted():
                    assert not open_turn, "a turn began inside another"
                    open_turn, deltas = True, ""
                case AgentEnded():
                    assert open_turn, "a turn ended that had not begun"
                    assert not deltas, f"{deltas!r} was written in parts, and the whole of it never came"
                    open_turn = False
                case AssistantDelta(text):
                    assert open_turn, "something was written outside of a turn"
                    deltas += text
                case AssistantText(text):
                    assert open_turn, "something was written outside of a turn"
                    assert deltas in ("", text), f"the parts {deltas!r} are not the whole {text!r}"
                    deltas = ""
        assert not open_turn, "a turn began that never ended"


@asynccontextmanager
async def _room(make: Make, within_s: float) -> AsyncGenerator[_Room]:
    room = _Room(within_s)
    async with make(room.tools, room.ask, room.events.append) as (room.host, room.agent):
        yield room


class _as_failure:  # noqa: N801 - read as a word
    """Says what an error of the host means for the promise."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, AssertionError):
            raise AssertionError(f"{self._sentence}: {error!r}") from error  # noqa: TRY004


Promise = Callable[[_Room], Awaitable[None]]


async def _kept(promise: Promise, room: _Room) -> None:
    try:
        with _as_failure("it raised"), anyio.move_on_after(10 * room.within_s) as patience:
            await promise(room)
        assert not patience.cancelled_caught, "it hung"
    except AssertionError as error:
        sentence = (promise.__doc__ or "").removesuffix(".")
        raise AssertionError(f"not kept: {sentence}: {error}") from error


def _outcome(status: Status) -> Callable[[Questionnaire], Outcome]:
    """What ends a request in one way; as answered, with the first option, or words, of each question."""

    def response(question: Question) -> Response:
        answer = Answer((0,)) if question.options else Answer(custom="some words")
        return Response(answer, shown_at=0.0, by=Provenance("check", Input.KEY, 0.0))

    def outcome(questionnaire: Questionnaire) -> Outcome:
        if status is not Status.ANSWERED:
            return Outcome(status, tuple(Response(shown_at=0.0) for _ in questionnaire.questions))
        return Outcome(status, tuple(map(response, questionnaire.questions)))

    return outcome


# --- Before it is open ------------------------------------------------------------------------------------


async def _named(room: _Room) -> None:
    """It has a name, also before it is open."""
    assert room.host.name.strip()


async def _refuses_while_closed(room: _Room) -> None:
    """A message that comes before it is open is refused, with a sentence."""
    assert not room.host.busy, "it is busy, and not open"
    assert (await _refused(room, "too early")).strip(), "the refusal has no sentence"


# --- While it lives ---------------------------------------------------------------------------------------


async def _silent(room: _Room) -> None:
    """An agent that was sent nothing does nothing, and to stop it is nothing either."""
    await room.host.interrupt()
    await anyio.sleep(0.05)
    assert not room.host.busy
    begun = [event for event in room.events if isinstance(event, AgentStarted | AssistantText | HostLost)]
    assert not begun, f"it told {begun}"


async def _turn(room: _Room) -> None:
    """A message begins a turn, the text of which comes whole, and then it is idle."""
    text = room.agent.to_write()
    since = await room.turn(text)
    await room.has_read(text)
    assert len(room.of(AgentStarted, since)) == 1, "one message began more than one turn"
    assert room.of(AssistantText, since), "what it wrote never came whole"
    assert all(written.text.strip() for written in room.of(AssistantText, since)), "it wrote a blank text"
    assert room.of(AgentEnded, since) == [AgentEnded()], f"it ended as {room.of(AgentEnded, since)}"


async def _accepted(room: _Room) -> None:
    """A message is accepted at once; its turn goes on, and the host is busy until it ends."""
    since = await room.begin_work()
    assert not room.of(AgentEnded, since), "the work ended by itself"
    await room.agent.finish()
    await room.ended(since)


async def _plain(room: _Room) -> None:
    """A text that begins with a slash reaches the agent as text."""
    text = "/help me with /compact"
    await room.turn(text)
    await room.has_read(text)


async def _follow_up(room: _Room) -> None:
    """Follow-ups wait until the agent has finished, and then come in their order."""
    since = await room.begin_work()
    later = ["and the first thing", "and the second thing"]
    for text in later:
        await room.send(text, Delivery.FOLLOW_UP)
    await anyio.sleep(0.05)
    read = " ".join(room.agent.read())
    assert not any(text in read for text in later), "a follow-up was read while the agent worked"
    assert not room.of(AgentEnded, since), "a follow-up ended the agent's work"
    await room.agent.finish()
    for text in later:
        await room.has_read(text)
    places = [_place(room.agent.read(), text) for text in later]
    assert places == sorted(places), "the follow-ups came in another order"
    await room.until(lambda: not room.host.busy, "it is busy when all was read")
    await room.ended(since)


async def _steer(room: _Room) -> None:
    """What steers is read before the agent has gone on to anything else."""
    since = await room.begin_work()
    await room.send("rather this way", Delivery.STEER)
    await room.agent.finish()
    await room.has_read("rather this way")
    await room.ended(since)


async def _interrupt_to_say(room: _Room) -> None:
    """What interrupts stops the work, and is read at once."""
    since = await room.begin_work()
    await room.send("stop, and do this", Delivery.INTERRUPT)
    await room.has_read("stop, and do this")
    await room.ended(since)
    await _usable(room, "an interruption by a message")


async def _interrupt(room: _Room) -> None:
    """The agent stops when it is interrupted, which is no error, and takes the next message."""
    since = await room.begin_work()
    await room.host.interrupt()
    await room.ended(since)
    errors = [ended.error for ended in room.of(AgentEnded, since) if ended.error]
    assert not errors, f"an interruption was told as an error: {errors}"
    await _usable(room, "an interruption")


async def _tool(room: _Room) -> None:
    """A tool that the agent calls is run, and told, and the agent gets what came of it."""
    if not room.agent.can.calls:
        return
    since = await room.turn(room.agent.to_call("narrate", {"text": "hello"}))
    assert room.calls[-1:] == [("narrate", {"text": "hello"})], f"the calls are {room.calls}"
    assert _SAID in room.agent.told(), "the agent was not told what came of its call"
    told = [called for called in room.of(ToolCalled, since) if called.name == "narrate"]
    assert len(told) == 1, f"the call was told as {told}"
    assert not told[0].is_error


async def _withheld(room: _Room) -> None:
    """A tool that is withheld is refused when it is called all the same, and it comes back."""
    if not room.agent.can.calls:
        return
    before = len(room.calls)
    with room.tools.add(Withhold(["user_select"], _WITHHELD)):
        await room.turn(room.agent.to_call("user_select", {"question": "Now?"}))
        assert len(room.calls) == before, "it was run while it was withheld"
    for _ in range(5):  # an agent that keeps a list of its own may need a moment to hear of it
        await room.turn(room.agent.to_call("user_select", {"question": "And now?"}))
        if len(room.calls) > before:
            return
        await anyio.sleep(0.2)
    raise AssertionError("it did not come back")


async def _asked(room: _Room) -> None:
    """A request of the agent's is put to the person, and granted only by an answer."""
    if not room.agent.can.asks:
        return
    for status in Status:
        room.answer = _outcome(status)
        asked, granted = len(room.asked), room.agent.granted()
        await room.turn(room.agent.to_ask())
        assert len(room.asked) == asked + 1, f"it was asked {len(room.asked) - asked} times"
        assert (room.agent.granted() > granted) == (status is Status.ANSWERED), (
            f"as {status}: granted, or not"
        )
    assert all(request.risky for request in room.asked), "a request for a permission is not marked as risky"


async def _request_withdrawn(room: _Room) -> None:
    """A request that nobody waits for any more is taken off the screen."""
    if not room.agent.can.asks:
        return
    room.answer = None
    asked, withdrawn, granted = len(room.asked), room.withdrawn, room.agent.granted()
    since = len(room.events)
    await room.send(room.agent.to_ask())
    await room.until(lambda: len(room.asked) > asked, "the request was not asked")
    await room.host.interrupt()
    await room.until(lambda: room.withdrawn > withdrawn, "it still stands there after an interruption")
    await room.ended(since)
    assert room.agent.granted() == granted, "it was granted by an interruption"


async def _storm(room: _Room) -> None:
    """After many interruptions in a row it still answers."""
    for _ in range(3):
        since = await room.begin_work()
        await room.host.interrupt()
        await room.host.interrupt()
        await room.ended(since)
    await _usable(room, "many interruptions")


# --- When it ends -----------------------------------------------------------------------------------------


async def _left(room: _Room) -> None:
    """It can be left in the middle of a turn, tells nothing afterwards, and can be opened again."""
    with anyio.fail_after(2 * room.within_s):
        async with room.host.open():
            await room.begin_work()
    count = len(room.events)
    assert not room.host.busy, "it is left, and busy"
    await anyio.sleep(0.05)
    assert len(room.events) == count, f"it told {room.events[count:]} after it was left"
    assert not room.of(HostLost), "leaving it was told as a loss"
    async with room.host.open():
        await _usable(room, "being opened again")


async def _dies(room: _Room) -> None:
    """A program that ends, idle or in a turn, is told once, and refuses messages until it is opened again."""
    if not room.agent.can.dies:
        return
    async with room.host.open():
        await _usable(room, "being opened")
        await room.agent.die()
        await _lost(room, 1)
    async with room.host.open():
        await _usable(room, "its program had ended")
        since = await room.begin_work()
        await room.agent.die()
        await _lost(room, 2)
        await room.ended(since)
        errors = [ended.error for ended in room.of(AgentEnded, since) if ended.error]
        assert not errors, f"why it ended is told by HostLost alone, and the turn ended with {errors}"


async def _lost(room: _Room, times: int) -> None:
    await room.until(
        lambda: len(room.of(HostLost)) == times, "its program has ended, and that was not told once"
    )
    await room.until(lambda: not room.host.busy, "its program has ended, and it is busy")
    await anyio.sleep(0.05)
    assert len(room.of(HostLost)) == times, "that its program has ended was told more than once"
    assert room.of(HostLost)[-1].sentence.strip()
    assert (await _refused(room, "are you there?")).strip(), "the refusal has no sentence"
    with anyio.fail_after(room.within_s):
        await room.host.interrupt()


async def _refused(room: _Room, text: str) -> str:
    """The sentence with which a message is refused."""
    try:
        await room.send(text)
    except HostError as error:
        return error.sentence
    raise AssertionError(f"{text!r} was accepted")


async def _usable(room: _Room, after: str) -> None:
    """Have it take one more turn."""
    text = room.agent.to_write()
    try:
        since = await room.turn(text)
    except (AssertionError, HostError) as error:
        raise AssertionError(f"after {after} it takes no message: {error}") from error
    assert room.of(AssistantText, since), f"after {after} it writes nothing"


def _place(messages: Sequence[str], text: str) -> int:
    return next(index for index, message in enumerate(messages) if text in message)


_CLOSED: tuple[Promise, ...] = (_named, _refuses_while_closed)
_LIVING: tuple[Promise, ...] = (
    _silent,
    _turn,
    _accepted,
    _plain,
    _follow_up,
    _steer,
    _interrupt_to_say,
    _interrupt,
    _tool,
    _withheld,
    _asked,
    _request_withdrawn,
    _storm,
)
_ENDING: tuple[Promise, ...] = (_left, _dies)
