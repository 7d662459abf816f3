"""A Pi that keeps its own terminal: its screen is read, its keys are pressed, and we are attached to it."""

import json
import os
import signal
import threading
from contextlib import asynccontextmanager, contextmanager, suppress

import anyio
import pexpect
import pyte
import pytest

import voice.hosts.pi.bridge
from questionnaire import (
    AdjustableToolset,
    Answer,
    Coordinator,
    Give,
    HerdrEvents,
    Input,
    Mirrors,
    Provenance,
    TogetherPresenter,
    Withhold,
    questionnaire_toolset,
)
from questionnaire.contracts.choices import CONTRACT
from questionnaire.errors import QuestionnaireError
from questionnaire.presenters.terminal.dialog import GUARD_S
from questionnaire.testing import HeldPresenter
from voice.autonomous import refusal_while_on
from voice.errors import HostError
from voice.events import AgentEnded, AssistantText, HostLost, Notice, ToolCalled
from voice.hosts.catalog import Awaited
from voice.hosts.pi.attached import PiAttachedHost
from voice.hosts.pi.screen import PiScreen
from voice.ports import Delivery

pytestmark = pytest.mark.anyio

WITHIN_S = 60.0
COLUMNS, ROWS = 90, 30

TWO = {
    "questions": [
        {
            "header": "Deploy",
            "question": "Where should it run?",
            "options": [
                {"label": "Staging", "description": "Shared."},
                {"label": "Throwaway 日本", "description": "Gone after an hour."},
            ],
        },
        {
            "header": "Name",
            "question": "What is it called?",
            "options": [
                {"label": "ledger", "description": "As before."},
                {"label": "book", "description": "Shorter."},
            ],
        },
    ]
}
NASTY = {
    "questions": [
        {**TWO["questions"][0], "question": 'Say "hi" \\ to\nwhom\r\nand\u2028when?\u202e\x07\u200b'},
        {
            **TWO["questions"][1],
            "options": [{"label": 'a "b"', "description": "x"}, {"label": "c, d", "description": ""}],
        },
    ]
}
ASK = f"call ask_user_question {json.dumps(TWO)}"


class Terminal:
    """A terminal with Pi in it."""

    def __init__(self, environment, arguments):
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self.child = pexpect.spawn(
            "pi", arguments, env={**environment, "TERM": "xterm-256color"}, dimensions=(ROWS, COLUMNS)
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while True:
            try:
                self._stream.feed(self.child.read_nonblocking(2**16, timeout=None))
            except (pexpect.EOF, OSError, ValueError):
                return

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self._screen.display)

    def press(self, keys):
        self.child.send(keys)

    def kill(self):
        """End Pi at once, and return when it has ended, however slow the machine is."""
        with suppress(ProcessLookupError):
            os.kill(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self.child.close()

    async def shows(self, *texts):
        with anyio.move_on_after(WITHIN_S):
            while not all(text in self.text for text in texts):  # noqa: ASYNC110
                await anyio.sleep(0.02)
            return
        raise AssertionError(f"{texts} were to be seen on\n{self.text}")

    async def press_until(self, keys, *texts):
        """Press keys, again where they came before their page was drawn and so did nothing."""
        for _ in range(10):
            self.press(keys)
            with anyio.move_on_after(5):
                while not all(text in self.text for text in texts):  # noqa: ASYNC110
                    await anyio.sleep(0.02)
                return
        raise AssertionError(f"{keys!r} was to bring {texts} on\n{self.text}")

    async def shows_no(self, text):
        with anyio.fail_after(WITHIN_S):
            while text in self.text:  # noqa: ASYNC110
                await anyio.sleep(0.02)


@contextmanager
def a_terminal(environment, arguments, folder):
    bridge = str(voice.hosts.pi.bridge.EXTENSION)
    environment = {**environment, "VIVA_VOICE_BRIDGE": str(folder)}
    terminal = Terminal(environment, [*arguments, "-e", bridge])
    try:
        yield terminal
    finally:
        terminal.kill()


@asynccontextmanager
async def attached(folder, *presenters):
    events = []
    screen, mirrors = PiScreen(), Mirrors()
    presenter, attention = TogetherPresenter(screen, *presenters), [HerdrEvents(mirrors)]
    async with Coordinator(presenter, mirrors=mirrors, attention=attention) as coordinator:
        tools = AdjustableToolset(questionnaire_toolset(coordinator))
        host = PiAttachedHost(tools=tools, emit=events.append, screen=screen, mirrors=mirrors, folder=folder)
        async with host.open():
            yield host, tools, events


def of(events, kind):
    return [event for event in events if isinstance(event, kind)]


async def until(fact):
    with anyio.fail_after(WITHIN_S):
        while not fact():  # noqa: ASYNC110
            await anyio.sleep(0.02)


async def test_a_pi_with_a_screen_of_its_own(model, pi_environment, pi_arguments, tmp_path):
    meet = tmp_path / "meet"
    with a_terminal(pi_environment, pi_arguments, meet) as pi:
        await pi.shows("fake-1")

        # Without us the tools are there, and tell the model that nobody was asked.
        pi.press('call user_select {"question": "Merge how?", "options": [{"label": "Squash"}]}')
        await pi.press_until("\r", "I see.")
        assert model.told[-1].startswith("user_select: Viva Voce is not running\nThe user was not asked")
        await pi.shows("I see.")

        elsewhere = HeldPresenter()
        async with attached(meet, elsewhere) as (host, tools, events):
            await host.send("write these words")
            await until(lambda: of(events, AgentEnded))
            assert of(events, AssistantText) == [AssistantText("these words")]
            await host.send("/boom is text")
            await until(lambda: model.read[-1] == "/boom is text" and not host.busy)

            # Its questions are on its own screen, with tabs and a review.
            await host.send(ASK)
            await pi.shows("[· Deploy]", "· Name", "Review", "Where should it run?", "2. Throwaway 日本")
            await anyio.sleep(2 * GUARD_S)  # keys of the first moment are not taken
            await pi.press_until("\x1b[B", "❯ 2. Throwaway")
            await pi.press_until("\r", "✓ Deploy", "[· Name]", "What is it called?")
            await pi.press_until("\x1b[F", "❯ 3.")
            await pi.press_until("\r", "Alt+Enter")
            pi.press("my own")
            await pi.shows("my own")
            await pi.press_until("\r", "Review your answers", "Send these answers")
            await pi.press_until("\r", "User has answered your questions")
            await until(lambda: not host.busy)
            assert '"Where should it run?"="Throwaway 日本"' in model.told[-1]
            assert '"What is it called?"="my own"' in model.told[-1]
            await pi.shows_no("Send these answers")

            # Here they are as well, and the first answer counts.
            await host.send('call user_select {"question": "Merge how?", "options": [{"label": "Squash"}]}')
            await pi.shows("Merge how?", "1. Squash", "Enter chooses")
            await until(lambda: elsewhere.open)
            elsewhere.open.send(Give(Answer((0,)), Provenance("elsewhere", Input.KEY, 0.0)))
            await until(lambda: not host.busy)
            assert model.told[-1] == "User selected: 1. Squash"
            await pi.shows_no("Enter chooses")

            # What is said while it works waits, or steers.
            await host.send("work")
            await until(lambda: model.read[-1] == "work")
            await host.send("rather this way", Delivery.STEER)
            await anyio.to_thread.run_sync(model.finish)
            await until(lambda: model.read[-1] == "rather this way" and not host.busy)
            await host.send("work")
            await until(lambda: model.read[-1] == "work")
            await host.send("write stopped", Delivery.INTERRUPT)
            await until(lambda: of(events, AssistantText)[-1].text == "stopped" and not host.busy)

            tools.add(Withhold(["ask_user_question", "user_select"], refusal_while_on))
            await host.send("write without")
            await until(lambda: model.read[-1] == "write without" and not host.busy)
            assert not {"ask_user_question", "user_select"} & model.listed
            await host.send('call user_select {"question": "Merge how?", "options": [{"label": "Squash"}]}')
            await until(lambda: "narrate" in model.told[-1] and not host.busy)
            assert of(events, ToolCalled)[-1] == ToolCalled("user_select", model.told[-1], is_error=True)

        # We have gone while they were withheld: they are back, once Pi has seen that we have.
        with anyio.fail_after(WITHIN_S):
            for number in range(100):
                line = f"write alone {number}"
                pi.press(line)
                await pi.shows(line)
                await pi.press_until("\r", f"alone {number}\n")
                await until(lambda line=line: model.read[-1] == line)
                if {"ask_user_question", "user_select"} <= model.listed:
                    break
                await anyio.sleep(0.5)
        assert {"ask_user_question", "user_select"} <= model.listed


async def test_a_question_ends_with_us_and_a_pi_that_ends_is_lost(
    model, pi_environment, pi_arguments, tmp_path
):
    meet, log = tmp_path / "meet", tmp_path / "events"
    with a_terminal({**pi_environment, "GATE_LOG": str(log)}, pi_arguments, meet) as pi:
        async with attached(meet) as (host, _, events):
            await host.send('call user_select {"question": "Merge how?", "options": [{"label": "Squash"}]}')
            await pi.shows("1. Squash", "Enter chooses")
        await pi.shows_no("Enter chooses")
        await until(lambda: model.told and log.read_text().count("\n") == 4)
        assert model.told[-1].startswith("Viva Voce ended before there was an answer.")
        # Nobody is here to tell the other extensions: the bridge does.
        said = [json.loads(line) for line in log.read_text().splitlines()]
        assert [line["name"] for line in said] == ["request", "blocked", "closed", "blocked"]
        assert said[2]["requestId"] == said[0]["requestId"]
        assert (said[2]["reason"], said[3]["active"]) == ("cancelled", False)

        async with attached(meet) as (host, _, events):
            await host.send("work")
            await until(lambda: model.read[-1] == "work")
            pi.kill()
            await until(lambda: of(events, HostLost))
            assert not host.busy
            assert isinstance(host, Awaited)  # a conversation waits for the next one at once
    told = [notice.sentence for notice in of(events, Notice)]
    assert all("Waiting for Pi" in sentence or "answer" in sentence for sentence in told)


async def test_a_pi_that_hangs_is_told_of_and_nothing_of_ours_is_withheld_when_it_goes_on(
    model, pi_environment, pi_arguments, tmp_path
):
    meet = tmp_path / "meet"
    with a_terminal(pi_environment, pi_arguments, meet) as pi:
        async with attached(meet) as (host, tools, events):

            def told(part):
                return [notice for notice in of(events, Notice) if part in notice.sentence]

            withheld = tools.add(Withhold(["ask_user_question", "user_select"], refusal_while_on))
            await host.send("write before")
            await until(lambda: model.read[-1:] == ["write before"] and not host.busy)
            assert not {"ask_user_question", "user_select"} & model.listed
            os.kill(pi.child.pid, signal.SIGSTOP)
            await until(lambda: told("does not answer"))
            with pytest.raises(HostError, match="does not answer"):
                await host.send("are you there?")
            withheld.lift()
            os.kill(pi.child.pid, signal.SIGCONT)
            await until(lambda: told("answers again"))
            await host.send("write after")
            await until(lambda: model.read[-1] == "write after" and not host.busy)
            assert {"ask_user_question", "user_select"} <= model.listed
            assert "are you there?" not in model.read
            assert not of(events, HostLost)


@pytest.mark.parametrize("mode", [["-p"], ["--mode", "json"]])
async def test_where_nobody_can_be_asked_the_call_is_the_contracts_error(
    mode, model, pi_environment, pi_arguments, tmp_path
):
    arguments = [*pi_arguments, *mode, "-e", str(voice.hosts.pi.bridge.EXTENSION)]
    with anyio.fail_after(WITHIN_S):
        prompt = f"call ask_user_question {json.dumps(NASTY)}"
        await anyio.run_process(["pi", *arguments, prompt], env=pi_environment, check=False)

    class NoInteractive(QuestionnaireError):
        code = "no_ui"

    expected = CONTRACT.failure(
        NoInteractive("no interactive UI available (running in non-interactive mode)"), CONTRACT.read(NASTY)
    )
    assert model.told == [expected.text]
