"""Whoever approves a call, by a rule or by a flag, has answered nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

import questionnaire
from questionnaire import CONTRACTS, AdjustableToolset, Withhold, questionnaire_toolset
from questionnaire.model import Answer, Status
from questionnaire.progress import Give, Shown
from questionnaire.testing import BY, ScriptedPresenter, check_toolset

pytestmark = pytest.mark.anyio

ROOT = Path(questionnaire.__file__).parents[1]
AB = [{"label": "A", "value": "a"}, {"label": "B", "value": "b"}]
CALLS = {
    "choices": ("ask_user_question", {"questions": [{"question": "Which?", "header": "H", "options": AB}]}),
    "form": (
        "ask_user_question",
        {
            "questions": [
                {"id": "w", "question": "Which?", "type": "select", "options": AB},
                {"id": "n", "question": "Anything else?", "type": "text", "required": False},
            ]
        },
    ),
    "user_select": ("user_select", {"question": "Which?", "options": AB, "allowCustom": True}),
}
EVERY_CONTRACT = pytest.mark.parametrize("contract", CALLS)

# What hooks and permission rules of other systems have been seen to write into a call.
WRITTEN_IN = {
    "answers": {"Which?": "A", "w": "a"},
    "answer": "A",
    "approved": True,
    "permission": "*",
    "default": "A",
    "selected": [0],
    "skipped": True,
    "cancelled": False,
    "timeout": 0,
    "timeout_s": 0.001,
}


class AutoApprove:
    """An approval layer that says yes to everything, and writes into the call what it likes."""

    def __init__(self, inner, **written_in):
        self.inner = inner
        self.written_in = written_in
        self.approved = []

    def tools(self):
        return self.inner.tools()

    async def call(self, name, arguments):
        self.approved.append(name)
        return await self.inner.call(name, {**arguments, **self.written_in})


def tools_of(contract, presenter, **written_in):
    meaning = "form" if contract == "form" else "choices"
    return AutoApprove(questionnaire_toolset(presenter, contract=meaning), **written_in)


async def test_it_is_still_a_tool_set():
    await check_toolset(lambda: tools_of("choices", None))


@EVERY_CONTRACT
def test_a_tool_that_asks_declares_that_it_needs_a_person(contract):
    assert CONTRACTS[contract].tool.needs_person
    assert all(tool.needs_person for tool in tools_of(contract, None).tools())


def is_the_error_that_repeats_the_question(result, name):
    first, second, *questions = result.text.splitlines()
    assert result.is_error
    assert first == f"{name}: no interactive UI available (running in non-interactive mode)"
    assert second == "The user was not asked and saw nothing. Ask in your next message instead:"
    assert questions[0] == '"Which?" Options: "A", "B".'
    assert result.details["error"] == "no_ui"
    assert result.details["status"] == "never_shown"
    assert result.details["cancelled"] is True
    assert not result.details.get("answer")
    assert not result.details.get("answers")
    return True


@EVERY_CONTRACT
@pytest.mark.parametrize("written_in", [{}, WRITTEN_IN], ids=["approved", "filled in"])
async def test_headless_an_approved_call_is_the_error_that_repeats_the_question(contract, written_in):
    name, arguments = CALLS[contract]
    tools = tools_of(contract, None, **written_in)
    result = await tools.call(name, arguments)
    assert tools.approved == [name]
    assert is_the_error_that_repeats_the_question(result, name)


@EVERY_CONTRACT
@pytest.mark.parametrize("written_in", [{}, WRITTEN_IN], ids=["approved", "filled in"])
async def test_an_approved_call_still_waits_for_the_person(contract, written_in):
    """The mode that approves everything is not the mode in which nobody is there."""

    class Person:
        def __init__(self):
            self.interview, self.left = None, anyio.Event()

        async def present(self, interview):
            interview.send(Shown(0.0, interview.step.index))
            self.interview = interview
            await self.left.wait()

    person, results = Person(), []
    name, arguments = CALLS[contract]

    async def call():
        results.append(await tools_of(contract, person, **written_in).call(name, arguments))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await anyio.sleep(0.05)
            assert not results
            assert person.interview is not None, "it is shown all the same"
            assert not any(response.settled for response in person.interview.step.responses)
            person.interview.send(Give(Answer((1,)), BY))
            person.interview.end(Status.CANCELLED)  # the form has a second question, which nobody skipped
            person.left.set()
    [result] = results
    answers = result.details.get("answers", [])
    assert "B" in result.text
    assert not any(answer.get("skipped") for answer in answers)
    assert result.details["cancelled"] is (contract == "form")


@EVERY_CONTRACT
async def test_what_a_hook_writes_into_a_call_changes_no_answer(contract):
    name, arguments = CALLS[contract]
    with ScriptedPresenter(["2", "words"][: 1 + (contract == "form")]) as presenter:
        result = await tools_of(contract, presenter, **WRITTEN_IN).call(name, arguments)
    assert result.is_error is False
    assert '"A"' not in result.text
    assert "B" in result.text
    assert any('unknown key "approved"' in repair for repair in result.details["repairs"])


@given(
    st.sampled_from(sorted(CALLS)),
    st.dictionaries(
        st.text(max_size=8).filter(lambda key: key not in ("questions", "question", "options")),
        st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists, max_leaves=4),
        max_size=4,
    ),
)
def test_nothing_written_into_a_call_answers_it(contract, written_in):
    name, arguments = CALLS[contract]
    result = anyio.run(tools_of(contract, None, **written_in).call, name, arguments)
    assert result.is_error
    assert result.details["cancelled"] is True
    assert not result.details.get("answer")
    assert not result.details.get("answers")


@EVERY_CONTRACT
async def test_what_is_withheld_is_refused_however_often_it_is_approved(contract):
    name, arguments = CALLS[contract]
    inner = AdjustableToolset(questionnaire_toolset(ScriptedPresenter()))
    inner.add(Withhold([name], "Narrate the question instead."))
    result = await AutoApprove(inner).call(name, arguments)
    assert (result.is_error, result.text) == (True, "Narrate the question instead.")


@pytest.mark.parametrize(
    "flag", ["--yes", "-y", "--force", "--auto-approve", "--dangerously-skip-permissions"]
)
def test_no_flag_of_the_command_answers(tmp_path, flag):
    done = headless("ask", flag, str(written(tmp_path)))
    assert done.returncode == 2
    assert "User has answered" not in done.stdout


@pytest.mark.parametrize("environment", [{"CI": "1"}, {"YES": "1", "DEBIAN_FRONTEND": "noninteractive"}])
def test_what_is_piped_in_beside_the_question_answers_nothing(tmp_path, environment):
    done = headless("ask", str(written(tmp_path)), input="y\n1\n\n" * 100, env={**os.environ, **environment})
    shown = json.loads(done.stdout)
    assert done.returncode == 3
    assert shown["isError"] is True
    assert '"Which?" Options: "A", "B".' in shown["text"]


def written(folder):
    file = folder / "question.json"
    file.write_text(json.dumps(CALLS["choices"][1]))
    return file


def headless(*arguments, **options):
    """Run the command in a session of its own, which has no controlling terminal."""
    return subprocess.run(
        [sys.executable, "-m", "questionnaire", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        **options,
    )
