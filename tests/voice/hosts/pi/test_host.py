"""The real Pi over RPC: our tools in it, what it withholds, what it says, and how it ends."""

import json
import os
import re
import signal
from contextlib import asynccontextmanager

import anyio
import pytest

from questionnaire import (
    AdjustableToolset,
    Answer,
    Coordinator,
    Give,
    HerdrEvents,
    Input,
    Mirrors,
    Outcome,
    Provenance,
    Status,
    Stop,
    Withhold,
    questionnaire_toolset,
)
from questionnaire.testing import HeldPresenter, ScriptedPresenter
from voice.autonomous import refusal_while_on
from voice.errors import HostError, SettingsError
from voice.events import AgentEnded, AssistantText, HostLost, Notice, ToolCalled
from voice.hosts.pi.host import PiHost
from voice.ports import Delivery

pytestmark = pytest.mark.anyio

WITHIN_S = 60.0

DEPLOY = {
    "questions": [
        {
            "header": "Where to put the preview",  # longer than the schema says: shortened, and never refused
            "question": "Where should the preview be deployed?",
            "options": [
                {"label": "Staging cluster", "description": "Shared."},
                {"label": "Throwaway VM", "description": "Gone after an hour."},
            ],
        }
    ]
}
ASK = f"call ask_user_question {json.dumps(DEPLOY)}"
MERGE = {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}], "allowCustom": True}
SELECT = f"call user_select {json.dumps(MERGE)}"


async def nobody(_):
    return Outcome(Status.NEVER_SHOWN)


class Room:
    """A Pi, what is told of it, and the model behind it."""

    def __init__(self, host, tools, model, events):
        self.host, self.tools, self.model, self.events = host, tools, model, events

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, fact):
        with anyio.fail_after(WITHIN_S):
            while not fact():  # noqa: ASYNC110
                await anyio.sleep(0.01)

    async def turn(self, text):
        """Have it take a turn; return what its tool calls have given back."""
        count = len(self.of(AgentEnded))
        await self.host.send(text)
        await self.until(lambda: len(self.of(AgentEnded)) > count and not self.host.busy)
        return self.model.told[-1] if self.model.told else ""


@asynccontextmanager
async def a_pi(model, environment, arguments, presenter=None, ask=nobody, mirrors=None, attention=()):
    events = []
    async with Coordinator(presenter, mirrors=mirrors, attention=attention) as coordinator:
        tools = AdjustableToolset(questionnaire_toolset(coordinator))
        host = PiHost(
            arguments, tools=tools, ask=ask, emit=events.append, environment=environment, mirrors=mirrors
        )
        async with host.open():
            yield Room(host, tools, model, events)


def voice_on(tools):
    return tools.add(Withhold(["ask_user_question", "user_select"], refusal_while_on))


async def test_a_call_is_answered_by_select_by_words_declined_and_aborted(
    model, pi_environment, pi_arguments
):
    presenter = ScriptedPresenter("2", " merge commit ", Status.TIMED_OUT, [Stop()])
    async with a_pi(model, pi_environment, pi_arguments, presenter) as room:
        told = await room.turn(ASK)
        assert told == (
            'User has answered your questions: "Where should the preview be deployed?"="Throwaway VM".'
            " You can now continue with the user's answers in mind."
        )
        assert {"ask_user_question", "user_select"} <= model.listed
        assert await room.turn(SELECT) == "User wrote: merge commit"
        assert (await room.turn(SELECT)).startswith("User cancelled the selection: ")
        assert await room.turn(ASK) == "User declined to answer questions"
        assert [called.name for called in room.of(ToolCalled)] == [
            "ask_user_question",
            "user_select",
            "user_select",
            "ask_user_question",
        ]
        assert not any(called.is_error for called in room.of(ToolCalled))


async def test_an_aborted_call_takes_its_question_off_the_screen(model, pi_environment, pi_arguments):
    presenter = HeldPresenter()
    async with a_pi(model, pi_environment, pi_arguments, presenter) as room:
        await room.host.send(ASK)
        await room.until(lambda: presenter.open)
        await room.host.interrupt()
        await room.until(lambda: presenter.open is None and not room.host.busy)
        assert room.of(AgentEnded) == [AgentEnded()]
        await room.turn("write still here")
        assert room.of(AssistantText)[-1].text == "still here"


async def test_what_is_withheld_is_absent_refused_in_our_words_and_back(model, pi_environment, pi_arguments):
    presenter = ScriptedPresenter("1")
    async with a_pi(model, pi_environment, pi_arguments, presenter) as room:
        await room.turn("write hello")
        assert "ask_user_question" in model.listed
        with voice_on(room.tools):
            told = await room.turn(ASK)
            assert not {"ask_user_question", "user_select"} & model.listed
            assert "gate" in model.listed  # only ours are touched
            assert "narrate" in told
            assert "Where should the preview be deployed?" in told
            assert room.of(ToolCalled) == [ToolCalled("ask_user_question", told, is_error=True)]
            assert presenter.asked == []
        await room.turn(SELECT)
        assert {"ask_user_question", "user_select"} <= model.listed
        assert len(presenter.asked) == 1


async def test_a_call_in_the_run_in_which_it_is_withheld_is_refused(model, pi_environment, pi_arguments):
    """An old Pi lists it until the next prompt; called all the same, it asks nothing."""
    presenter = ScriptedPresenter()
    async with a_pi(model, pi_environment, pi_arguments, presenter) as room:
        await room.host.send("work")
        await room.until(lambda: len(model.requests) == 1)
        with voice_on(room.tools):
            await room.host.send(SELECT, Delivery.STEER)
            await anyio.to_thread.run_sync(model.finish)
            await room.until(lambda: model.told and not room.host.busy)
            assert "narrate" in model.told[-1]
            assert [called.text for called in room.of(ToolCalled) if called.is_error] == [model.told[-1]]


async def test_what_the_user_switched_off_stays_off(model, pi_environment, pi_arguments, tmp_path):
    (tmp_path / "off.ts").write_text(
        "export default (pi: any) => pi.registerCommand('off', { description: '', handler: async () =>"
        " pi.setActiveTools(pi.getActiveTools().filter((name: string) => name !== 'user_select')) });"
    )
    arguments = [*pi_arguments, "-e", str(tmp_path / "off.ts")]
    async with a_pi(model, pi_environment, arguments) as room:
        await room.host.command("prompt", message="/off")
        with voice_on(room.tools):
            await room.turn("write one")
            assert not {"ask_user_question", "user_select"} & model.listed
        await room.turn("write two")
        assert "ask_user_question" in model.listed
        assert "user_select" not in model.listed


async def test_what_is_withheld_stays_so_in_a_new_session_a_fork_and_after_a_reload(
    model, pi_environment, pi_arguments
):
    arguments = [argument for argument in pi_arguments if argument != "--no-session"]
    async with a_pi(model, pi_environment, arguments, ScriptedPresenter("1")) as room:
        with voice_on(room.tools):
            await room.turn("write before")
            for kind, fields in (
                ("clone", {}),
                ("prompt", {"message": "/again"}),  # a command of the gate's: it reloads
                ("new_session", {}),
            ):
                await room.host.command(kind, **fields)
                told = await room.turn(SELECT)
                assert not {"ask_user_question", "user_select"} & model.listed
                assert "narrate" in told
        await room.turn(SELECT)
        assert {"ask_user_question", "user_select"} <= model.listed
        assert model.told[-1] == "User selected: 1. Squash"


async def test_what_steers_and_was_not_read_yet_survives_an_interruption(model, pi_environment, pi_arguments):
    async with a_pi(model, pi_environment, pi_arguments) as room:
        await room.host.send("work")
        await room.until(lambda: model.read == ["work"])
        await room.host.send("write this instead", Delivery.STEER)
        await room.host.interrupt()
        await room.until(lambda: room.of(AssistantText) and not room.host.busy)
        assert room.of(AssistantText)[-1].text == "this instead"
        assert model.read.count("write this instead") == 1


async def test_after_a_crash_in_the_middle_of_a_question_the_session_goes_on_with_all_tools(
    model, pi_environment, pi_arguments, children_with
):
    arguments = [argument for argument in pi_arguments if argument != "--no-session"]
    presenter = HeldPresenter()
    async with a_pi(model, pi_environment, arguments, presenter) as room:
        with voice_on(room.tools):
            await room.turn("write without them")  # they are hidden, and that is in the session
            assert "user_select" not in model.listed
        await room.host.send(ASK)
        await room.until(lambda: presenter.open)
        with voice_on(room.tools):
            await anyio.sleep(0.3)  # it is carried to Pi meanwhile
            (pi,) = children_with("HOME", pi_environment["HOME"])
            os.kill(pi.pid, signal.SIGKILL)
            await room.until(lambda: room.of(HostLost) and presenter.open is None)
        assert not room.host.busy
    async with a_pi(model, pi_environment, ["--continue", *arguments], ScriptedPresenter("2")) as room:
        told = await room.turn(SELECT)
        assert {"ask_user_question", "user_select"} <= model.listed
        assert told == "User selected: 2. Rebase"


async def test_after_a_crash_while_tools_were_withheld_they_are_back(
    model, pi_environment, pi_arguments, children_with
):
    arguments = [argument for argument in pi_arguments if argument != "--no-session"]
    async with a_pi(model, pi_environment, arguments) as room:
        with voice_on(room.tools):
            await room.turn("write without them")
            assert "user_select" not in model.listed
            (pi,) = children_with("HOME", pi_environment["HOME"])
            os.kill(pi.pid, signal.SIGKILL)
            await room.until(lambda: room.of(HostLost))
    async with a_pi(model, pi_environment, ["--continue", *arguments], ScriptedPresenter("2")) as room:
        await room.turn("write again")
        assert {"ask_user_question", "user_select"} <= model.listed


async def test_other_extensions_hear_of_questions_and_answer_them(
    model, pi_environment, pi_arguments, tmp_path
):
    log = tmp_path / "events"
    answers = [
        {"source": "remote", "kind": "select", "optionIndex": 7},
        {"source": "local", "kind": "cancel"},
        {"source": "remote", "kind": "custom", "value": "  "},
        {"source": "remote", "kind": "select", "optionIndex": 1},
        {"source": "remote", "kind": "select", "optionIndex": 0},
    ]
    environment = {**pi_environment, "GATE_LOG": str(log), "GATE_ANSWERS": json.dumps(answers)}
    mirrors = Mirrors()
    async with a_pi(
        model, environment, pi_arguments, HeldPresenter(), mirrors=mirrors, attention=[HerdrEvents(mirrors)]
    ) as room:
        assert await room.turn(SELECT) == "User selected: 2. Rebase"
        await room.until(
            lambda: log.exists() and "closed" in log.read_text() and log.read_text().count("blocked") == 2
        )
    said = [json.loads(line) for line in log.read_text().splitlines()]
    request = said[0]
    assert (request["question"], request["allowCustom"]) == ("Merge how?", True)
    assert request["toolCallId"].startswith("call_")
    invalid = {"accepted": False, "reason": "invalid_response"}
    resolved_before = {"accepted": False, "reason": "already_resolved"}
    responses = [line for line in said if "accepted" in line]
    assert responses == [invalid, invalid, invalid, {"accepted": True}, resolved_before]
    (resolved,) = [line for line in said if line.get("name") == "resolved"]
    assert (resolved["selectedBy"], resolved["result"]["label"]) == ("remote", "Rebase")
    (closed,) = [line for line in said if line.get("name") == "closed"]
    assert closed["reason"] == "resolved"


async def test_dialogs_of_other_extensions_are_answered_in_their_form(model, pi_environment, pi_arguments):
    coordinator = Coordinator(
        ScriptedPresenter("1", "2", "8080", "as it should be", Status.DECLINED, Status.CANCELLED)
    )
    async with coordinator, a_pi(model, pi_environment, pi_arguments, ask=coordinator.ask) as room:
        assert await room.turn('call gate {"method": "confirm"}') == "came: true"
        assert await room.turn("call gate {}") == "came: refused"
        assert await room.turn('call gate {"method": "input"}') == "came: 8080"
        assert await room.turn('call gate {"method": "editor"}') == "came: as it should be"
        assert await room.turn('call gate {"method": "confirm"}') == "came: false"
        assert await room.turn('call gate {"method": "input"}') == "came: undefined"
        assert Notice("the gate is there") in room.events


async def test_nothing_else_of_the_same_turn_runs_before_the_answer(model, pi_environment, pi_arguments):
    presenter, gates = HeldPresenter(), []

    async def ask(questionnaire):
        gates.append(questionnaire)
        return await nobody(questionnaire)

    async with a_pi(model, pi_environment, pi_arguments, presenter, ask) as room:
        await room.host.send(f"both {json.dumps(MERGE)}")
        await room.until(lambda: presenter.open)
        await anyio.sleep(0.3)
        assert gates == []
        presenter.open.send(Give(Answer((1,)), Provenance("here", Input.KEY, 0.0)))
        await room.until(lambda: gates and not room.host.busy)
        assert model.told == ["User selected: 2. Rebase", "came: refused"]


async def test_no_text_runs_a_command(model, pi_environment, pi_arguments):
    async with a_pi(model, pi_environment, pi_arguments) as room:
        for text in ("/boom now", "  /boom"):
            await room.turn(text)
            assert model.read[-1] == text
        await room.host.send("work")
        await room.until(lambda: model.read[-1] == "work")
        await room.host.send("/boom later", Delivery.STEER)
        await anyio.to_thread.run_sync(model.finish)
        await room.until(lambda: "/boom later" in model.read and not room.host.busy)
        assert Notice("BOOM") not in room.events


async def test_a_model_that_fails_ends_the_turn_with_a_sentence(model, pi_environment, pi_arguments):
    async with a_pi(model, pi_environment, pi_arguments) as room:
        model.close()
        await room.turn("write nothing")
        assert room.of(AgentEnded)[-1].error


async def test_it_says_why_it_does_not_start(model, pi_environment, pi_arguments):
    with pytest.raises(HostError, match=re.compile("no-such", re.IGNORECASE)):
        async with a_pi(model, pi_environment, [*pi_arguments, "-e", "/no-such-extension.ts"]):
            pass


@pytest.mark.parametrize("option", [["--tools", "read"], ["--no-tools"]])
async def test_a_start_without_any_of_our_tools_is_told(option, model, pi_environment, pi_arguments):
    async with a_pi(model, pi_environment, [*pi_arguments, *option]) as room:
        assert len([notice for notice in room.of(Notice) if "ask_user_question" in notice.sentence]) == 1


async def test_a_start_with_one_of_our_tools_is_not(model, pi_environment, pi_arguments):
    async with a_pi(model, pi_environment, [*pi_arguments, "--tools", "read,user_select"]) as room:
        assert not [notice for notice in room.of(Notice) if "ask_user_question" in notice.sentence]


def test_arguments_with_which_it_would_not_talk_are_refused():
    for wrong in (["-p"], ["--mode", "json"], ["--mode=text"], ["--continue", "--help"]):
        with pytest.raises(SettingsError):
            PiHost(wrong, tools=AdjustableToolset(questionnaire_toolset(None)), ask=nobody, emit=print)
