import os
import pty

import anyio
import pytest

from questionnaire import TOOL_NAMES, questionnaire_toolset, read_questionnaire
from questionnaire.errors import InvalidQuestionnaire, NoInterface
from questionnaire.model import Answer, Outcome, Status
from questionnaire.presenters.linear import LinearPresenter
from questionnaire.presenters.lines import FileLines
from questionnaire.testing import ScriptedPresenter, check_toolset

pytestmark = pytest.mark.anyio

CHOICES = {"questions": [{"question": "Which?", "header": "H", "options": [{"label": "A"}, {"label": "B"}]}]}
SELECT = {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}
CALLS = pytest.mark.parametrize(
    ("name", "arguments"), [("ask_user_question", CHOICES), ("user_select", SELECT)]
)


async def test_it_is_a_tool_set():
    await check_toolset(lambda: questionnaire_toolset(None))
    assert TOOL_NAMES == ("ask_user_question", "user_select")
    assert tuple(tool.name for tool in questionnaire_toolset(None).tools()) == TOOL_NAMES


@CALLS
async def test_an_answer(name, arguments):
    with ScriptedPresenter(["2"]) as presenter:
        result = await questionnaire_toolset(presenter).call(name, arguments)
    assert not result.is_error
    assert "B" in result.text
    assert presenter.asked == [read_questionnaire(name, arguments)]


class Nowhere:
    async def present(self, questionnaire):
        raise NoInterface("no terminal")


@CALLS
@pytest.mark.parametrize("presenter", [None, Nowhere()])
async def test_with_nobody_to_ask_the_error_repeats_the_question(name, arguments, presenter):
    result = await questionnaire_toolset(presenter).call(name, arguments)
    assert result.is_error
    assert result.text.startswith(f"{name}: no interactive UI available (running in non-interactive mode)")
    assert '"Which?" Options: "A", "B".' in result.text
    assert result.details["error"] == "no_ui"
    assert result.details["status"] == "never_shown"


@pytest.mark.parametrize(
    ("name", "arguments"), [("ask_user_question", {"questions": []}), ("user_select", {})]
)
async def test_arguments_that_cannot_be_shown_are_not(name, arguments):
    with ScriptedPresenter() as presenter:
        result = await questionnaire_toolset(presenter).call(name, arguments)
    assert result.is_error
    assert "The user saw nothing" in result.text
    with pytest.raises(InvalidQuestionnaire):
        read_questionnaire(name, arguments)


@CALLS
@pytest.mark.parametrize("answers", [(), (Answer(0, (7,)),), (Answer(0),)])
async def test_an_empty_or_broken_answer_is_never_answered(name, arguments, answers):
    with ScriptedPresenter(Outcome(Status.ANSWERED, answers)) as presenter:
        result = await questionnaire_toolset(presenter).call(name, arguments)
    assert result.is_error
    assert "answered your questions" not in result.text
    assert result.details["error"] == "malformed_answers"
    assert result.details["cancelled"] is True


async def test_one_at_a_time():
    open_now, log = 0, []

    class Slow:
        async def present(self, questionnaire):
            nonlocal open_now
            open_now += 1
            assert open_now == 1
            log.append(questionnaire.questions[0].text)
            await anyio.sleep(0.01)
            open_now -= 1
            return Outcome(Status.DECLINED)

    tools = questionnaire_toolset(Slow())
    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(tools.call, "user_select", {**SELECT, "question": str(number)})
    assert sorted(log) == ["0", "1", "2", "3"]


async def test_a_cancelled_call_lets_the_next_one_ask():
    class Patient(ScriptedPresenter):
        async def present(self, questionnaire):
            if not self.asked:
                self.asked.append(questionnaire)
                await anyio.sleep_forever()
            return await super().present(questionnaire)

    with Patient(["1"]) as presenter:
        tools = questionnaire_toolset(presenter)
        with anyio.move_on_after(0.05):
            await tools.call("user_select", SELECT)
        with anyio.fail_after(2):
            result = await tools.call("user_select", SELECT)
    assert result.text == "User selected: 1. A"


async def test_a_cancelled_call_leaves_the_terminal_usable():
    controller, fd = pty.openpty()
    tools = questionnaire_toolset(LinearPresenter(FileLines(fd, fd)))
    with anyio.move_on_after(0.05) as scope:
        await tools.call("user_select", SELECT)
    assert scope.cancelled_caught
    os.write(controller, b"2\n")
    with anyio.fail_after(2):
        result = await tools.call("user_select", SELECT)
    assert result.text == "User selected: 2. B"
    os.close(controller)
    os.close(fd)
