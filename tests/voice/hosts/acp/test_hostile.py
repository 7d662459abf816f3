"""ACP peers that break the rules: a clear error, or passed over; the session goes on, or ends in order."""

import json
import logging
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psutil
import pytest

pytest.importorskip("acp")
from questionnaire import (
    AdjustableToolset,
    Answer,
    FunctionToolset,
    Input,
    Outcome,
    Provenance,
    Response,
    Status,
    Tool,
)
from voice.errors import HostDied, HostError, HostMissing, SettingsError
from voice.events import AgentEnded, AgentStarted, AssistantText, HostLost, Notice, ToolCalled
from voice.hosts.acp.host import AcpHost, make_host
from voice.ports import Delivery

pytestmark = pytest.mark.anyio

HOSTILE = Path(__file__).with_name("hostile_agent.py")
NOTHING = AdjustableToolset(FunctionToolset())
YES = Outcome(Status.ANSWERED, (Response(Answer((0,)), shown_at=0.0, by=Provenance("test", Input.KEY, 0.0)),))


class Session:
    """A host with a hostile agent, and what it told."""

    def __init__(self, way, **more):
        self.told = []
        self.asked = []
        self.host = AcpHost(
            [sys.executable, str(HOSTILE), way],
            ask=self.ask,
            emit=self.told.append,
            **{"tools": NOTHING, **more},
        )

    async def ask(self, questionnaire):
        self.asked.append(questionnaire)
        return YES

    def of(self, kind):
        return [event for event in self.told if isinstance(event, kind)]

    async def idle(self):
        with anyio.fail_after(60):
            while self.host.busy:  # noqa: ASYNC110
                await anyio.sleep(0.005)

    async def turn(self, text):
        await self.host.send(text)
        await self.idle()

    @property
    def texts(self):
        return [event.text for event in self.of(AssistantText)]


@asynccontextmanager
async def session(way, **more):
    before = set(psutil.Process().children(recursive=True))  # other tests have children as well
    with_it = Session(way, **more)
    try:
        async with with_it.host.open():
            yield with_it
    finally:
        assert set(psutil.Process().children(recursive=True)) <= before, "a child is left"


@pytest.fixture(autouse=True)
def short_farewell(monkeypatch):
    """None of these saves anything when it ends."""
    monkeypatch.setattr("voice.hosts.acp.program._ENDS_WITHIN_S", 0.2)


@pytest.fixture(autouse=True)
def nothing_is_logged_on_the_root(caplog):
    """The library would log what it cannot use, and set up logging to standard error to do so."""
    handlers = list(logging.getLogger().handlers)
    yield
    assert [record for record in caplog.records if record.name == "root"] == []
    assert logging.getLogger().handlers == handlers


@pytest.mark.parametrize(
    ("way", "notices"),
    [
        ("garbage", ["wrote what is no line", "sent what is no message"]),
        ("strange", ["sent what is no message"]),
        ("long", ["too long"]),
        ("twice", []),
    ],
)
async def test_what_nobody_can_use_is_passed_over_and_the_session_goes_on(way, notices):
    async with session(way) as at:
        for text in ("one", "two"):
            await at.turn(text)
        sentences = [notice.sentence for notice in at.of(Notice)]
        assert len(sentences) == len(notices), sentences
        assert all(part in sentence for part, sentence in zip(notices, sentences, strict=True))
        assert at.texts == ["All is well."] * 2
        assert at.of(AgentEnded) == [AgentEnded(), AgentEnded()]
        assert at.of(HostLost) == []


async def test_a_notice_of_the_adapters_is_shown_and_is_no_text():
    async with session("notice") as at:
        await at.turn("one")
        assert at.of(Notice) == [Notice("Low on fuel: 10 %")]
        assert at.texts == ["All is well."]


async def test_a_line_of_10_mb_is_read():
    async with session("large") as at:
        await at.turn("one")
        assert len(at.texts[0]) > 10_000_000


@pytest.mark.parametrize(
    ("way", "error"),
    [
        ("odd reason", "not the Agent Client Protocol (at stopReason)"),
        ("no result", "not the Agent Client Protocol"),
        ("error", "refused it: Internal error the model is gone."),
        ("refusal", "refuses to go on"),
    ],
)
async def test_an_answer_that_is_none_ends_the_turn_with_a_sentence_and_the_session_goes_on(way, error):
    async with session(way) as at:
        await at.turn("one")
        await at.turn("two")
        assert len(at.of(AgentEnded)) == 2
        assert all(error in ended.error for ended in at.of(AgentEnded)), at.of(AgentEnded)


@pytest.mark.parametrize(
    ("way", "code"),
    [
        ("unknown request", -32601),
        ("files", -32601),
        ("bad permission", -32602),
        ("bad form", -32602),
        ("address", -32602),
    ],
)
async def test_a_request_that_cannot_be_answered_gets_the_protocols_error(way, code):
    async with session(way) as at:
        await at.turn("one")
        answer = json.loads(at.texts[0].removesuffix("All is well."))
        assert (answer["id"], answer["error"]["code"]) == ("q", code)
        assert at.asked == []


async def test_a_permission_without_choices_is_not_asked_and_never_granted():
    async with session("no choices") as at:
        await at.turn("one")
        assert json.loads(at.texts[0].removesuffix("All is well."))["result"] == {
            "outcome": {"outcome": "cancelled"}
        }
        assert at.asked == []


async def test_a_permission_tells_what_was_said_of_its_tool_call_before():
    async with session("known call") as at:
        await at.turn("one")
        (asked,) = at.asked
    assert asked.questions[0].text.endswith("asks: Tidy up\nrm -rf build")
    assert asked.risky


async def test_a_tool_whose_title_names_the_session_is_told_and_one_of_the_sessions_is_not_told_twice():
    narrate = Tool("narrate", "Speak.", {"type": "object"})

    async def never_called(arguments):
        raise AssertionError(arguments)

    tools = AdjustableToolset(FunctionToolset((narrate, never_called)))
    async with session("named alike", tools=tools) as at:
        await at.turn("one")
        assert [called.name for called in at.of(ToolCalled)] == ["Read viva-voce/README.md"]


async def test_metadata_cannot_stand_in_for_what_is_asked():
    async with session("meta") as at:
        await at.turn("one")
        assert "Harmless" in at.asked[0].questions[0].text
        assert json.loads(at.texts[0].removesuffix("All is well."))["result"]["outcome"]["optionId"] == "yes"


async def test_an_agent_that_does_not_stop_is_ended_and_what_came_meanwhile_is_kept():
    async with session("hang", stops_within_s=0.3) as at:
        await at.host.send("one")
        await anyio.sleep(0.1)
        await at.host.send("two", Delivery.STEER)
        with anyio.fail_after(60):
            while not at.of(HostLost):  # noqa: ASYNC110
                await anyio.sleep(0.01)
        assert "did not stop within 0 s, so it was ended" in at.of(HostLost)[0].sentence
        with pytest.raises(HostDied, match="is not running"):
            await at.host.send("three")
    assert not at.host.busy
    async with at.host.open():
        with anyio.fail_after(60):
            while len(at.of(AgentStarted)) < 2:  # noqa: ASYNC110 - "two" begins its turn
                await anyio.sleep(0.01)
        assert at.host.busy


@pytest.mark.parametrize(
    ("way", "how"), [("die", "ended with exit code 3: out of luck."), ("deaf", "closed its output")]
)
async def test_an_agent_that_ends_in_the_middle_of_a_line_ends_the_turn_and_is_told_once(way, how):
    async with session(way) as at:
        await at.host.send("one")
        with anyio.fail_after(60):
            while not at.of(HostLost):  # noqa: ASYNC110
                await anyio.sleep(0.01)
        (lost,) = at.of(HostLost)
        assert how in lost.sentence
        assert at.of(AgentEnded) == [AgentEnded()], "why is told once, and spoken once"
        assert not at.host.busy


async def test_an_agent_that_takes_nothing_any_more_is_ended_and_told_once(monkeypatch):
    monkeypatch.setattr("voice.hosts.acp.host._ENDS_WITHIN_S", 0.2)
    async with session("takes nothing") as at:
        await at.host.send("one")
        with anyio.fail_after(60):
            while not at.of(HostLost):  # noqa: ASYNC110
                await anyio.sleep(0.01)
        assert at.of(AgentEnded) == [AgentEnded()]
        assert "in the middle of its turn" in at.of(HostLost)[0].sentence
        with pytest.raises(HostDied):
            await at.host.send("two")


@pytest.mark.parametrize(
    ("way", "sentence"),
    [
        ("says nothing", "did not answer within 1 s"),
        ("talks", "did not answer within 1 s"),
        ("ends at once", "ended with exit code 2: usage: hostile_agent --acp."),
        ("bad hello", "not the Agent Client Protocol (at protocolVersion)"),
        ("no session", "not the Agent Client Protocol (at sessionId)"),
    ],
)
async def test_what_is_no_agent_is_a_sentence_and_leaves_no_child(way, sentence):
    with pytest.raises(HostError) as caught:
        async with session(way, starts_within_s=1 if "within 1 s" in sentence else 60):
            pass
    assert sentence in caught.value.sentence


async def test_an_agent_that_takes_long_to_start_is_told_of(monkeypatch):
    monkeypatch.setattr("voice.hosts.acp.host._TOLD_AFTER_S", 0.05)
    silent = Session("says nothing", starts_within_s=1)
    with pytest.raises(HostDied):
        async with silent.host.open():
            pass
    assert [notice.sentence for notice in silent.of(Notice)] == [
        "Waiting for the ACP agent to start, for 1 s at most."
    ]


async def test_a_program_that_is_not_there_is_missing():
    host = AcpHost(["no-such-agent", "--acp"], tools=NOTHING, ask=None, emit=print)
    with pytest.raises(HostMissing, match=r"There is no program no-such-agent\. To mend it: install it"):
        async with host.open():
            pass


async def test_a_program_that_cannot_be_run_is_a_sentence(tmp_path):
    program = tmp_path / "agent"
    program.write_bytes(b"\x7fELF no")
    program.chmod(0o755)
    with pytest.raises(HostError, match="agent cannot be started: Exec format error"):
        async with AcpHost([str(program)], tools=NOTHING, ask=None, emit=print).open():
            pass


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("pi-acp", "pi-acp"),
        ("/opt/bin/gemini --experimental-acp", "gemini"),
        ("npx -y @agentclientprotocol/claude-agent-acp", "claude-agent-acp"),
        ("npx pi-acp@0.0.34", "pi-acp"),
        ("npx -y", "the ACP agent"),
        ("node /opt/agent/dist/index.js", "the ACP agent"),
        ("/usr/bin/python3.11 -m agent", "the ACP agent"),
    ],
)
def test_an_agent_has_a_name_before_it_has_told_it(command, name):
    assert make_host(command.split(), tools=NOTHING, ask=None, emit=print).name == name


def test_an_agent_needs_a_command():
    with pytest.raises(SettingsError, match="Which ACP agent"):
        make_host([], tools=NOTHING, ask=None, emit=print)


async def test_the_sockets_folder_is_nobody_elses_and_goes_with_the_session(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    async with session("twice"):
        (folder,) = tmp_path.iterdir()
        assert oct(folder.stat().st_mode & 0o777) == "0o700"
    assert list(tmp_path.iterdir()) == []


async def test_a_folder_with_too_long_a_name_for_a_socket_is_a_sentence(tmp_path, monkeypatch):
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with pytest.raises(HostError, match="too long for the name of a socket") as caught:
        async with session("twice"):
            pass
    assert "TMPDIR" in caught.value.mend
    assert list(long.iterdir()) == []
