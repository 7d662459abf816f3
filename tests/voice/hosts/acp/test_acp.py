"""Any agent that speaks ACP: a small one on the ACP SDK, a program of its own."""

import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

pytest.importorskip("acp")
from questionnaire import (
    AdjustableToolset,
    Coordinator,
    FunctionToolset,
    Stop,
    Withhold,
    questionnaire_toolset,
)
from questionnaire.testing import ScriptedPresenter
from voice.chat import Chat
from voice.checks import Abilities, check_host
from voice.errors import HostError
from voice.events import AssistantDelta, AssistantText, Discarded, DiscardReason, HostLost, Notice
from voice.hosts.acp.host import AcpHost
from voice.journal.entries import Bounds
from voice.journal.store import Store
from voice.journal.writer import DiskJournal
from voice.ports import Delivery, Unconfirmed
from voice.settings import Settings
from voice.testing import ScriptedParts

pytestmark = pytest.mark.anyio

SMALL_AGENT = Path(__file__).with_name("small_agent.py")


@pytest.fixture(autouse=True)
def short_farewell(monkeypatch):
    """The small agent has nothing to save when it ends."""
    monkeypatch.setattr("voice.hosts.acp.program._ENDS_WITHIN_S", 0.2)


class SmallAgent:
    """The agent behind the host, as the suite has it act."""

    can = Abilities()

    def __init__(self, folder, mode=""):
        self.folder = folder
        self.command = [sys.executable, str(SMALL_AGENT), str(folder), *([mode] if mode else [])]

    def logged(self, kind):
        log = self.folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [what for of, what in map(json.loads, lines) if of == kind]

    def to_write(self):
        return "hello"

    def to_work(self):
        return "work"

    def to_call(self, name, arguments):
        return f"call {name} {json.dumps(arguments)}"

    def to_ask(self):
        return "ask"

    async def finish(self):
        (self.folder / "finish").touch()

    async def die(self):
        os.kill(self.logged("pid")[-1], signal.SIGKILL)

    def read(self):
        return self.logged("read")

    def told(self):
        return "\n".join(self.logged("told"))

    def granted(self):
        return len([outcome for outcome in self.logged("outcome") if outcome.get("option_id") == "yes"])


async def test_it_keeps_the_promises_of_a_host(tmp_path):
    @asynccontextmanager
    async def make(tools, ask, emit):
        agent = SmallAgent(tmp_path / str(len(list(tmp_path.iterdir()))))
        agent.folder.mkdir()
        yield AcpHost(agent.command, tools=tools, ask=ask, emit=emit), agent

    await check_host(make)


# --- What it asks, and what it says -----------------------------------------------------------------------


class Asked:
    """A person who answers in the way that a test says."""

    def __init__(self, *replies):
        self.presenter = ScriptedPresenter(*replies)
        self.told = []
        self.questionnaires = []

    @asynccontextmanager
    async def session(self, agent, tools=None):
        async with Coordinator(self.presenter) as coordinator:

            async def ask(questionnaire):
                self.questionnaires.append(questionnaire)
                return await coordinator.ask(questionnaire)

            tools = tools or AdjustableToolset(questionnaire_toolset(coordinator))
            self.host = AcpHost(agent.command, tools=tools, ask=ask, emit=self.told.append)
            async with self.host.open():
                yield self

    async def turn(self, text):
        await self.host.send(text)
        with anyio.fail_after(60):
            while self.host.busy:  # noqa: ASYNC110
                await anyio.sleep(0.005)

    @property
    def texts(self):
        return [event.text for event in self.told if isinstance(event, AssistantText)]


@pytest.fixture
def agent(tmp_path):
    return SmallAgent(tmp_path)


FORM = {
    "message": "Two things.",
    "schema": {
        "type": "object",
        "properties": {
            "question_0": {
                "type": "string",
                "title": "Color",
                "description": "Which color?",
                "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}],
            },
            "question_0_custom": {"type": "string", "title": "Other"},
            "port": {"type": "integer", "title": "Port", "minimum": 1},
        },
        "required": ["port"],
    },
}


@pytest.mark.parametrize(
    ("replies", "outcome"),
    [
        ([["2", "8080"]], {"action": "accept", "content": {"question_0": "b", "port": 8080}}),
        ([["teal", "8080"]], {"action": "accept", "content": {"question_0_custom": "teal", "port": 8080}}),
        ([["1", "no number"], ["80"]], {"action": "accept", "content": {"question_0": "r", "port": 80}}),
        ([[Stop()]], {"action": "decline"}),
    ],
)
async def test_a_form_is_filled_in(agent, replies, outcome):
    async with Asked(*replies).session(agent) as at:
        await at.turn(f"form {json.dumps(FORM)}")
    assert agent.logged("outcome") == [outcome]
    assert agent.logged("capabilities")[0]["elicitation"] == {"form": {}}


async def test_a_form_that_nobody_saw_is_an_error_and_no_answer(agent):
    at = Asked()
    at.presenter = None
    async with at.session(agent):
        await at.turn(f"form {json.dumps(FORM)}")
    (outcome,) = agent.logged("outcome")
    assert "did not see it" in outcome["data"]["details"]


async def test_a_form_is_taken_back_when_the_turn_is_interrupted(agent):
    at, asked = Asked(), anyio.Event()

    async def wait(questionnaire):
        asked.set()
        await anyio.sleep_forever()

    host = AcpHost(agent.command, tools=AdjustableToolset(FunctionToolset()), ask=wait, emit=at.told.append)
    async with host.open():
        await host.send(f"form {json.dumps(FORM)}")
        await asked.wait()
        await host.interrupt()
        with anyio.fail_after(60):
            while host.busy:  # noqa: ASYNC110
                await anyio.sleep(0.005)
    assert agent.logged("outcome") in ([], [{"action": "cancel"}])


async def test_a_choice_of_the_agents_is_no_permission_and_keeps_its_words(agent):
    async with Asked("Green").session(agent) as at:
        await at.turn('choose ["Which color?", "Red", "Green"]')
    assert [outcome["option_id"] for outcome in agent.logged("outcome")] == ["choice-1"]
    assert not at.questionnaires[0].risky


async def test_a_tool_of_the_session_asks_on_its_screen(agent):
    async with Asked("2").session(agent) as at:
        asking = {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}]}
        await at.turn(agent.to_call("user_select", asking))
    assert agent.logged("told") == ["User selected: 2. Rebase"]


async def test_withheld_tools_are_not_listed_either(agent):
    async with Coordinator(ScriptedPresenter()) as coordinator:
        tools = AdjustableToolset(questionnaire_toolset(coordinator))
        async with Asked().session(agent, tools) as at:
            with tools.add(Withhold(["user_select"], "Ask with narrate.")):
                await at.turn(
                    agent.to_call("user_select", {"question": "How?", "options": [{"label": "Squash"}]})
                )
    assert agent.logged("tools") == [["ask_user_question"]]
    assert agent.logged("told") == ["Ask with narrate."]


async def test_thoughts_are_not_its_words(agent):
    async with Asked().session(agent) as at:
        await at.turn("think")
    assert at.texts == ["I know."]


async def test_a_blank_beginning_is_no_text(agent):
    async with Asked().session(agent) as at:
        await at.turn("say  ")
        await at.turn("say \n\nhello\n")
    assert at.texts == ["hello\n"]


async def test_what_comes_outside_of_a_turn_is_no_answer(tmp_path):
    async with Asked().session(SmallAgent(tmp_path, "banner")) as at:
        await at.turn("hello")
    assert at.texts == ["One two three."]


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("login", "Small Agent wants you to log in first. To mend it: Run small-agent login"),
        ("newer", "Small Agent speaks version 99 of the Agent Client Protocol, and version 1 is needed"),
    ],
)
async def test_an_agent_that_cannot_be_used_says_what_to_do(tmp_path, mode, sentence):
    with pytest.raises(HostError, match=sentence):
        async with Asked().session(SmallAgent(tmp_path, mode)):
            pass


def test_without_the_library_there_is_one_sentence_with_the_command():
    probe = (
        "import sys; sys.modules['acp'] = None\n"
        "from voice.hosts.catalog import host_maker\n"
        "from voice.errors import HostMissing\n"
        "try: host_maker('acp', ['pi-acp'])\n"
        "except HostMissing as missing: print(missing)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert "pip install 'viva-voce[acp]'" in done.stdout


# --- A message in the moment of its death ------------------------------------------------------------------


class Conversation:
    """A conversation with the small agent that keeps what is typed in a journal on disk."""

    def __init__(self, agent, folder):
        self.agent = agent
        self.folder = folder
        self.events = []

    @asynccontextmanager
    async def going_on(self):
        def made(tools, ask, emit):
            return AcpHost(self.agent.command, tools=tools, ask=ask, emit=emit)

        async with (
            DiskJournal(self.folder, self.notice, bounds=Bounds(1, 1)) as self.journal,
            anyio.create_task_group() as tasks,
        ):
            self.chat = Chat(made, ScriptedParts().open, Settings(), self.events.append, journal=self.journal)
            await tasks.start(lambda *, task_status: self.chat.run(voice=False, task_status=task_status))
            yield
            self.chat.quit()

    def notice(self, sentence):
        self.events.append(Notice(sentence))

    async def until(self, fact):
        with anyio.fail_after(60):
            while not fact():  # noqa: ASYNC110 - it is another program that does it
                await anyio.sleep(0.01)

    async def pending(self):
        await self.journal.written()
        with Store(self.folder) as store:
            return [(entry.text, entry.reason) for entry in store.found().pending]

    async def left(self):
        await self.journal.written()
        with Store(self.folder) as store:
            return [entry.text for entry in store.found().entries]

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


async def test_a_message_that_it_is_killed_with_before_it_showed_anything_is_offered_and_not_sent_again(
    agent, tmp_path
):
    at = Conversation(agent, tmp_path / "journal")
    async with at.going_on():
        at.chat.send("stall and delete it")
        await at.until(lambda: agent.logged("works"))
        assert await at.left() == ["stall and delete it"]
        await agent.die()
        await at.until(lambda: at.of(Discarded))
        (dropped,) = at.of(Discarded)
        assert (dropped.reason, dropped.text) == (DiscardReason.UNCONFIRMED, "stall and delete it")
        assert await at.pending() == [("stall and delete it", DiscardReason.UNCONFIRMED)]
        at.chat.send("say Here.")
        await at.until(lambda: AssistantText("Here.") in at.events)
    assert agent.read() == ["stall and delete it", "say Here."]
    with Store(at.folder) as store:
        (entry,) = store.found().pending
    assert (entry.text, entry.whole) == ("stall and delete it", True)


async def test_a_message_that_it_had_begun_with_when_it_was_killed_is_not_kept(agent, tmp_path):
    at = Conversation(agent, tmp_path / "journal")
    async with at.going_on():
        at.chat.send("work")
        await at.until(lambda: at.of(AssistantDelta))
        await agent.die()
        await at.until(lambda: at.of(HostLost))
        at.chat.send("say Here.")
        await at.until(lambda: AssistantText("Here.") in at.events)
    assert at.of(Discarded) == []
    assert agent.read() == ["work", "say Here."]
    with Store(at.folder) as store:
        assert store.found().entries == ()


async def test_a_thought_shows_that_it_has_the_message(agent):
    async with Asked().session(agent) as at:
        await at.host.send("wonder")
        assert at.host.unconfirmed == (Unconfirmed("wonder", written=False),)
        with anyio.fail_after(60):
            while not agent.logged("works") or at.host.unconfirmed:  # noqa: ASYNC110
                await anyio.sleep(0.005)
        assert at.host.busy
        await at.host.send("say Later.", Delivery.STEER)
        with anyio.fail_after(60):
            while at.host.busy:  # noqa: ASYNC110
                await anyio.sleep(0.005)
        assert at.host.unconfirmed == ()
        assert at.texts == ["Later."]
