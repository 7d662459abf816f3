"""What needs no Pi: its events, its dialogs, the schemas for it, finding it."""

import json
import sys

import pytest

from questionnaire import Answer, Input, Outcome, Provenance, Response, Status
from voice.errors import HostMissing, SettingsError
from voice.events import AgentEnded, AgentStarted, AssistantDelta, AssistantText, HostLost, ToolCalled
from voice.hosts.pi.arguments import read_arguments
from voice.hosts.pi.program import INSTALL, find_pi
from voice.hosts.pi.requests import read_request
from voice.hosts.pi.schemas import loosened
from voice.hosts.pi.turns import Turns

# --- Events -----------------------------------------------------------------------------------------------


def update(kind, **fields):
    return {"type": "message_update", "assistantMessageEvent": {"type": kind, **fields}}


def ended(reason, **fields):
    return {"type": "message_end", "message": {"role": "assistant", "stopReason": reason, **fields}}


def told(*events):
    turns = Turns()
    return [event for line in events for event in turns.take(line)]


def test_a_turn_is_told_in_parts_and_whole():
    events = told(
        {"type": "agent_start"},
        update("text_delta", delta="One "),
        update("text_delta", delta="two."),
        update("text_end", content="One two."),
        {
            "type": "tool_execution_end",
            "toolName": "read",
            "isError": False,
            "result": {"content": [{"text": "x"}]},
        },
        {"type": "agent_end"},
        {"type": "agent_settled"},
    )
    assert events == [
        AgentStarted(),
        AssistantDelta("One "),
        AssistantDelta("two."),
        AssistantText("One two."),
        ToolCalled("read", "x", is_error=False),
        AgentEnded(),
    ]


def test_thoughts_are_told_to_nobody():
    events = told(
        {"type": "agent_start"},
        update("thinking_start"),
        update("thinking_delta", delta="secret"),
        update("thinking_end", content="secret"),
        update("toolcall_delta", delta="{"),
    )
    assert events == [AgentStarted()]


def test_blank_text_is_none():
    events = told(
        {"type": "agent_start"},
        update("text_delta", delta="\n"),
        update("text_end", content="\n"),
        update("text_delta", delta=" \n"),
        update("text_delta", delta="now"),
        update("text_end", content=" \nnow"),
    )
    assert events == [AgentStarted(), AssistantDelta(" \nnow"), AssistantText(" \nnow")]


def test_what_was_written_until_an_abort_is_whole():
    events = told(
        {"type": "agent_start"},
        update("text_delta", delta="half a"),
        {"type": "message_end", "message": {"role": "assistant", "stopReason": "aborted"}},
        {"type": "agent_settled"},
    )
    assert events[2:] == [AssistantText("half a"), AgentEnded()]


def test_several_runs_of_pis_are_one_turn_until_it_settles():
    events = told(
        {"type": "agent_start"}, {"type": "agent_end"}, {"type": "agent_start"}, {"type": "agent_settled"}
    )
    assert events == [AgentStarted(), AgentEnded()]


def test_an_error_is_told_and_one_that_was_retried_is_not():
    failed = {
        "type": "message_end",
        "message": {"role": "assistant", "stopReason": "error", "errorMessage": "no"},
    }
    settled = {"type": "agent_settled"}
    fine = ended("stop")
    assert told({"type": "agent_start"}, failed, settled)[-1] == AgentEnded("no")
    assert told({"type": "agent_start"}, failed, {"type": "agent_start"}, fine, settled)[-1] == AgentEnded()


def test_a_withheld_call_is_told_as_the_model_reads_it_whichever_comes_first():
    def end(key, name, text):
        result = {"content": [{"text": text}]}
        return {
            "type": "tool_execution_end",
            "toolCallId": key,
            "toolName": name,
            "isError": True,
            "result": result,
        }

    unknown = "Tool user_select not found"
    ours = ToolCalled("user_select", "Not now: narrate.", is_error=True)
    pis = ToolCalled("user_select", unknown, is_error=True)
    turns = Turns({"user_select"})
    turns.take({"type": "agent_start"})
    assert turns.refused("1", "Not now: narrate.") == []
    assert turns.take(end("1", "user_select", unknown)) == [ours]
    assert turns.take(end("2", "user_select", unknown)) == []
    assert turns.refused("2", "Not now: narrate.") == [ours]
    assert turns.take(end("3", "user_select", unknown)) == []
    assert turns.refused("3", None) == [pis]  # it was withheld no more
    turns.refused("4", "Not now: narrate.")
    called = ToolCalled("user_select", "Blocked.", is_error=True)
    assert turns.take(end("4", "user_select", "Blocked.")) == [called]  # what it reads came in full
    other = "Tool gate not found"
    assert turns.take(end("5", "gate", other)) == [ToolCalled("gate", other, is_error=True)]
    assert turns.take(end("6", "user_select", unknown)) == []
    assert turns.take({"type": "agent_settled"}) == [pis, AgentEnded()]  # nobody refused it in other words


def test_a_pi_that_is_lost_is_told_of_once():
    turns = Turns()
    for line in ({"type": "agent_start"}, ended("error", errorMessage="no")):
        turns.take(line)
    assert turns.lost("Pi has ended.") == [AgentEnded(), HostLost("Pi has ended.")]


@pytest.mark.parametrize(
    "line",
    [
        {"type": "event_of_a_later_version"},
        {"type": "message_update"},
        {"type": "message_update", "assistantMessageEvent": 7},
        {"type": "message_end", "message": {"role": "unheard-of"}},
        {"type": "message_end", "message": None},
        {"type": "tool_execution_end"},
        {"type": "tool_execution_end", "toolName": "x", "result": 7},
        {"type": "tool_execution_end", "toolName": "x", "result": {"content": [7, {"text": 7}]}},
        {"type": "agent_settled"},
    ],
)
def test_what_is_not_known_is_passed_over(line):
    assert not [event for event in told(line) if not isinstance(event, ToolCalled)]


# --- Arguments --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "messages"),
    [
        (["fix the bug"], ["fix the bug"]),
        (["--model", "sonnet", "fix it", "-c", "and then this"], ["fix it", "and then this"]),
        (["--model", "sonnet", "--system-prompt", "-p", "--plan", "first"], []),
        (["--plan=first", "fix it", "--no-tools", "now"], ["fix it", "now"]),
        (["--continue", "@file", "--", "--not an option"], ["--not an option"]),
    ],
)
def test_messages_among_the_arguments_are_found_as_pi_finds_them(line, messages):
    options, found = read_arguments(line)
    assert list(found) == messages
    assert list(options) == [word for word in line if word not in (*messages, "--")]


@pytest.mark.parametrize("option", ["--resume", "-r"])
def test_a_session_that_would_have_to_be_chosen_on_a_screen_is_refused_with_what_to_do(option):
    with pytest.raises(SettingsError, match=r"--continue .* --session"):
        read_arguments(["--model", "sonnet", option])


# --- Dialogs ----------------------------------------------------------------------------------------------

BY = Provenance("test", Input.KEY, 0.0)


def answered(answer):
    return Outcome(Status.ANSWERED, (Response(answer, skipped=answer is None, shown_at=0.0, by=BY),))


def request(method, **fields):
    return read_request({"type": "extension_ui_request", "id": "1", "method": method, **fields})


def test_a_choice_is_answered_with_the_option_as_it_was_written():
    asked = request("select", title="Which?", options=[" a\t", "b", "b"], timeout=1500)
    assert asked.questionnaire.risky
    assert asked.within_s == 1.5
    assert asked.response(answered(Answer((0,)))) == {
        "type": "extension_ui_response",
        "id": "1",
        "value": " a\t",
    }


def test_a_confirmation_is_yes_or_no():
    asked = request("confirm", title="Delete?", message="For good.")
    assert asked.questionnaire.questions[0].text == "Delete?\nFor good."
    assert asked.questionnaire.risky
    assert asked.response(answered(Answer((0,))))["confirmed"] is True
    assert asked.response(answered(Answer((1,))))["confirmed"] is False


def test_a_text_may_be_empty_and_an_editors_stays_as_it_was():
    assert request("input", title="Port?").response(answered(Answer(custom="80")))["value"] == "80"
    assert request("input", title="Port?").response(answered(None))["value"] == ""
    editor = request("editor", title="Change it", prefill="as it\nwas")
    assert "as it\nwas" in editor.questionnaire.questions[0].text
    assert editor.response(answered(None))["value"] == "as it\nwas"


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.ANSWERED])
def test_nothing_but_an_answer_is_told_as_one(status):
    outcome = Outcome(status, (Response(Answer((0,)), shown_at=0.0, by=BY),))
    for asked in (request("confirm", title="?"), request("select", title="?", options=["a"])):
        assert asked.response(outcome) == {"type": "extension_ui_response", "id": "1", "cancelled": True}
        assert asked.response(None)["cancelled"] is True


@pytest.mark.parametrize(
    "fields",
    [
        {"method": "select", "title": "?", "options": []},
        {"method": "select", "title": "?"},
        {"method": "select", "title": 1, "options": ["a"]},
        {"method": "confirm"},
        {"method": "hologram", "title": "?"},
        {"method": 7},
    ],
)
def test_what_cannot_be_shown_is_no_request(fields):
    assert read_request({"type": "extension_ui_request", "id": "1", **fields}) is None


# --- Schemas ----------------------------------------------------------------------------------------------


def test_limits_are_told_and_not_enforced():
    schema = {
        "type": "object",
        "properties": {
            "header": {"type": "string", "maxLength": 16, "description": "A word."},
            "maxItems": {"type": "array", "minItems": 2, "items": {"type": "string", "maxLength": 3}},
        },
        "required": ["header"],
    }
    assert loosened(schema) == {
        "type": "object",
        "properties": {
            "header": {"type": "string", "description": "A word. At most 16 characters."},
            "maxItems": {
                "type": "array",
                "items": {"type": "string", "description": "At most 3 characters."},
                "description": "At least 2.",
            },
        },
        "required": ["header"],
    }


def test_the_tools_that_are_shipped_are_those_that_there_are(make_tools):
    assert make_tools.SHIPPED.read_text(encoding="utf-8") == make_tools.shipped(), (
        "the tools have changed: .venv/bin/python tests/voice/hosts/pi/make_tools.py"
    )


# --- Finding Pi -------------------------------------------------------------------------------------------


def a_program(folder, name, *lines):
    path = folder / name
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


def a_package(folder, version, node):
    package = folder / "package"
    (package / "dist").mkdir(parents=True)
    about = {"name": "@earendil-works/pi-coding-agent", "version": version, "engines": {"node": f">={node}"}}
    (package / "package.json").write_text(json.dumps(about))
    (folder / "pi").symlink_to(a_program(package / "dist", "cli.js", "exit 1"))


def test_pi_is_missing(tmp_path):
    with pytest.raises(HostMissing, match="not installed") as missing:
        find_pi({"PATH": str(tmp_path)})
    assert missing.value.mend == INSTALL


def test_pi_is_too_old(tmp_path):
    a_program(tmp_path, "pi", "echo 0.60.1")
    with pytest.raises(HostMissing, match=r"Pi 0\.60\.1 is too old; 0\.74\.2 or later"):
        find_pi({"PATH": str(tmp_path)})


def test_what_is_called_pi_is_another_program(tmp_path):
    a_program(tmp_path, "pi", "echo 3,14159")
    with pytest.raises(HostMissing, match="does not say which version"):
        find_pi({"PATH": str(tmp_path)})


def test_node_is_too_old_or_missing(tmp_path):
    a_package(tmp_path, "1.6.0", "22.19.0")
    with pytest.raises(HostMissing, match=r"Pi 1\.6\.0 needs Node 22\.19\.0 or later, and there is no node"):
        find_pi({"PATH": str(tmp_path)})
    a_program(tmp_path, "node", "echo v20.20.2")
    with pytest.raises(HostMissing, match=r"20\.20\.2") as too_old:
        find_pi({"PATH": str(tmp_path)})
    assert "npm install" in too_old.value.mend
    assert "0.74.2" in too_old.value.mend


@pytest.mark.parametrize(("version", "settles"), [("0.74.2", False), ("0.80.4", True), ("1.6.0", True)])
def test_its_version_is_read_from_its_package(tmp_path, version, settles):
    a_package(tmp_path, version, "20.6.0")
    a_program(tmp_path, "node", "echo v20.20.2")
    pi = find_pi({"PATH": str(tmp_path)})
    assert (pi.path, pi.tells_settled) == (str(tmp_path / "pi"), settles)


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_a_program_that_cannot_be_run_is_no_pi(tmp_path):
    path = tmp_path / "pi"
    path.write_bytes(b"\x7fELF and no more")
    path.chmod(0o755)
    with pytest.raises(HostMissing):
        find_pi({"PATH": str(tmp_path)})
