import json
from contextlib import asynccontextmanager

import anyio
import pytest

from questionnaire import AdjustableToolset, Coordinator, questionnaire_toolset
from questionnaire.testing import ScriptedPresenter
from voice.checks import Abilities, check_host
from voice.errors import HostDied, SettingsError
from voice.events import AgentEnded, AssistantText, HostLost, ToolCalled
from voice.hosts.demo_chat import DemoHost, make_host
from voice.ports import Delivery

pytestmark = pytest.mark.anyio


class ReadingHost(DemoHost):
    """One that remembers what it has read."""

    def __init__(self, **options):
        super().__init__(**options)
        self.seen = []

    async def _read(self, text):
        self.seen.append(text)
        await super()._read(text)


class Script:
    """The agent behind the demo host, as the suite of every host wants it."""

    can = Abilities()

    def __init__(self, host, events):
        self._host, self._events = host, events
        self.finished = anyio.Event()

    def to_write(self):
        return "help"

    def to_work(self):
        self.finished = anyio.Event()
        return "work"

    def to_call(self, name, arguments):
        return f"call {name} {json.dumps(arguments)}"

    def to_ask(self):
        return "delete"

    async def finish(self):
        self.finished.set()

    async def die(self):
        await self._host.send("crash", Delivery.INTERRUPT)

    def read(self):
        noticed = [event.text for event in self._events if "You told me:" in getattr(event, "text", "")]
        return noticed + self._host.seen

    def told(self):
        return "\n".join(event.text for event in self._events if isinstance(event, ToolCalled))

    def granted(self):
        return sum(
            isinstance(event, AssistantText) and event.text.startswith("I have deleted it")
            for event in self._events
        )


async def test_it_keeps_the_promises_of_a_host():
    @asynccontextmanager
    async def make(tools, ask, emit):
        events = []

        def hear(event):
            events.append(event)
            emit(event)

        async def pause(_):
            await script.finished.wait()

        host = ReadingHost(tools=tools, ask=ask, emit=hear, pause=pause)
        script = Script(host, events)
        yield host, script

    await check_host(make)


class Session:
    def __init__(self, *answers):
        self.events = []
        coordinator = Coordinator(ScriptedPresenter(answers))
        self.tools = AdjustableToolset(questionnaire_toolset(coordinator))
        self.host = DemoHost(tools=self.tools, ask=coordinator.ask, emit=self.events.append)

    async def turn(self, text):
        """Send a message, and return what was written until it is the user's turn again."""
        since = len(self.events)
        await self.host.send(text)
        with anyio.fail_after(60):
            while self.host.busy or AgentEnded() not in self.events[since:]:  # noqa: ASYNC110
                await anyio.sleep(0.001)
        return " ".join(event.text for event in self.events[since:] if isinstance(event, AssistantText))


async def test_it_asks_on_the_screen_and_goes_on_from_the_answer():
    session = Session("2")
    async with session.host.open():
        written = await session.turn("Good morning.")
        assert written.startswith("Hello!")
        assert "So it is: A library." in written


async def test_a_reply_in_words_is_understood_or_asked_again():
    session = Session()
    with session.tools.add(withhold_all()):
        async with session.host.open():
            await session.turn("Hello")
            assert "Which is it" in await session.turn("What was the second one?")
            assert "So it is: A library." in await session.turn("The second one.")


def withhold_all():
    from questionnaire import TOOL_NAMES, Withhold

    return Withhold(TOOL_NAMES, "withheld")


@pytest.mark.parametrize(
    ("answer", "told"), [("1", "I have deleted it."), ("2", "I leave it, then."), (None, "I leave it, then.")]
)
async def test_only_an_answer_is_a_permission(answer, told):
    session = Session(*([answer] if answer else []))
    if answer is None:
        session.host._ask = Coordinator(None).ask  # nobody to ask
    async with session.host.open():
        assert told in await session.turn("Please delete it.")


async def test_a_call_that_is_no_json_is_told_and_ends_nothing():
    session = Session()
    async with session.host.open():
        assert "no JSON" in await session.turn("call narrate {x}")
        assert "know five words" in await session.turn("help")


async def test_after_a_crash_it_is_opened_again():
    session = Session()
    async with session.host.open():
        await session.turn("crash")
        assert [event for event in session.events if isinstance(event, HostLost)]
        with pytest.raises(HostDied):
            await session.host.send("hello?")
    async with session.host.open():
        assert "know five words" in await session.turn("help")


async def test_what_steered_and_was_not_read_keeps_its_order_before_what_interrupted_after_it():
    asked = anyio.Event()

    async def never_answered(_):
        asked.set()
        await anyio.sleep_forever()

    host = ReadingHost(tools=Session().tools, ask=never_answered, emit=[].append)
    async with host.open():
        await host.send("delete it")
        await asked.wait()
        for text in ("help one", "help two"):
            await host.send(text, Delivery.STEER)
        await host.send("help three", Delivery.INTERRUPT)
        with anyio.fail_after(60):
            while host.busy:  # noqa: ASYNC110
                await anyio.sleep(0.001)
    assert host.seen[-3:] == ["help one", "help two", "help three"]


async def test_it_takes_no_arguments():
    session = Session()
    with pytest.raises(SettingsError, match="no arguments"):
        make_host(["--fast"], tools=session.tools, ask=session.host._ask, emit=print)
