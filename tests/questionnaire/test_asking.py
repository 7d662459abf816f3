import contextlib
import os
import pty

import anyio
import pytest

from questionnaire import TOOL_NAMES, questionnaire_toolset, read_questionnaire
from questionnaire.asking import offer_again
from questionnaire.coordinator import Coordinator
from questionnaire.errors import InvalidQuestionnaire, NoInterface
from questionnaire.mirrors import Mirrors
from questionnaire.model import Answer, Status
from questionnaire.pending import FolderStore, Pending
from questionnaire.presenters.linear import LinearPresenter
from questionnaire.presenters.lines import GUARD_S, FileLines
from questionnaire.progress import Give, Interview, Shown
from questionnaire.testing import BY, ScriptedPresenter, check_toolset
from questionnaire.tool import tool_call_id

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
    async def present(self, interview):
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
async def test_an_answer_without_a_receipt_is_never_answered(name, arguments):
    class Eager:
        async def present(self, interview):
            interview.send(Give(Answer((0,)), BY))

    result = await questionnaire_toolset(Eager()).call(name, arguments)
    assert result.is_error
    assert "answered, but was never shown" not in result.text.splitlines()[1]
    assert "never shown to anybody" in result.text
    assert '"Which?" Options: "A", "B".' in result.text
    assert result.details["error"] == "not_shown"
    assert result.details["status"] == "never_shown"
    assert result.details["cancelled"] is True


@CALLS
@pytest.mark.parametrize(
    ("act", "status"),
    [
        (Shown(0.0, 0), "cancelled"),
        (Give(Answer((7,)), BY), "never_shown"),
        (Give(Answer(), BY), "never_shown"),
    ],
)
async def test_a_presenter_that_leaves_without_an_answer_gives_none(name, arguments, act, status):
    class Fleeting:
        async def present(self, interview):
            interview.send(act)

    result = await questionnaire_toolset(Fleeting()).call(name, arguments)
    assert "answered your questions" not in result.text
    assert result.details["status"] == status


async def test_what_was_left_is_offered_again(tmp_path):
    """Q86, Q28: an answer that comes after the call has gone is delivered by other means."""
    store = FolderStore(tmp_path)
    for name, contract in (("user_select", "user_select"), ("ask_user_question", "choices")):
        asked = read_questionnaire(name, SELECT if name == "user_select" else CHOICES, "choices")
        store.put(Pending(contract, asked, Interview(asked).step.responses, contract, "call-1"))
    with ScriptedPresenter(["2"], ["1"]) as presenter:
        coordinator = Coordinator(presenter, store=store)
        results = [found async for found in offer_again(coordinator)]
    assert {result.details["cancelled"] for _, result in results} == {False}
    assert {pending.tool_call_id for pending, _ in results} == {"call-1"}
    assert any(result.text.startswith("User selected: ") for _, result in results)
    assert any(result.text.startswith("User has answered") for _, result in results)
    assert store.left_over() == ()


async def test_a_host_may_name_its_call():
    mirrors, events = Mirrors(), []
    token = tool_call_id.set("call-9")
    with mirrors.listen(events.append), ScriptedPresenter(["2"]) as presenter:
        tools = questionnaire_toolset(Coordinator(presenter, mirrors=mirrors))
        await tools.call("user_select", SELECT)
    tool_call_id.reset(token)
    assert {event.data["toolCallId"] for event in events} == {"call-9"}


async def test_the_name_can_mean_another_contract():
    assert read_questionnaire("ask_user_question", CHOICES).questions[0].text == "Which?"
    sent = {"questions": [{"id": "why", "question": "Why?", "type": "text"}]}
    with pytest.raises(InvalidQuestionnaire):
        read_questionnaire("ask_user_question", sent, "choices")
    assert read_questionnaire("ask_user_question", sent).questions[0].text == "Why?"
    with ScriptedPresenter("because") as presenter:
        tools = questionnaire_toolset(presenter, contract="form")
        result = await tools.call("ask_user_question", sent)
    assert result.text == "Why?: because"
    assert tuple(tool.name for tool in tools.tools()) == TOOL_NAMES


async def test_one_at_a_time():
    open_now, log = 0, []

    class Slow:
        async def present(self, interview):
            nonlocal open_now
            open_now += 1
            assert open_now == 1
            log.append(interview.questionnaire.questions[0].text)
            await anyio.sleep(0.01)
            open_now -= 1
            interview.end(Status.DECLINED)

    tools = questionnaire_toolset(Slow())
    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(tools.call, "user_select", {**SELECT, "question": str(number)})
    assert sorted(log) == ["0", "1", "2", "3"]


async def test_a_cancelled_call_lets_the_next_one_ask():
    class Patient(ScriptedPresenter):
        async def present(self, interview):
            if not self.asked:
                self.asked.append(interview.questionnaire)
                await anyio.sleep_forever()
            await super().present(interview)

    with Patient(["1"]) as presenter:
        tools = questionnaire_toolset(presenter)
        with anyio.move_on_after(0.05):
            await tools.call("user_select", SELECT)
        with anyio.fail_after(60):
            result = await tools.call("user_select", SELECT)
    assert result.text == "User selected: 1. A"


async def test_a_cancelled_call_leaves_the_terminal_usable():
    controller, fd = pty.openpty()
    tools = questionnaire_toolset(LinearPresenter(FileLines(fd, fd)))
    with anyio.move_on_after(0.05) as scope:
        await tools.call("user_select", SELECT)
    assert scope.cancelled_caught
    os.read(controller, 10_000)
    os.set_blocking(controller, False)
    shown = b""

    async def reply():
        nonlocal shown
        while not shown.endswith(b"\n> "):
            await anyio.sleep(0.005)
            with contextlib.suppress(BlockingIOError):
                shown += os.read(controller, 10_000)
        await anyio.sleep(2 * GUARD_S)  # lines of the first moments are not taken
        os.write(controller, b"2\n")

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(reply)
            result = await tools.call("user_select", SELECT)
    assert result.text == "User selected: 2. B"
    os.close(controller)
    os.close(fd)


HUGE = 10**5_000


@pytest.mark.parametrize("contract", ["choices", "form"])
@pytest.mark.parametrize("name", TOOL_NAMES)
@pytest.mark.parametrize(
    "arguments",
    [
        None,
        3,
        HUGE,
        True,
        object(),
        b"{}",
        [],
        "x",
        {"questions": HUGE},
        {"questions": [HUGE], "question": -HUGE, "options": [HUGE, {"label": HUGE}]},
        {"questions": [{"question": "Which?", "options": ["A", "B"], "multiSelect": HUGE}]},
        {HUGE: 1},
        '{"questions": [' + "1" * 5_000 + "]}",
    ],
    ids=lambda value: type(value).__name__,
)
async def test_arguments_that_are_none_get_the_error_of_the_contract(contract, name, arguments):
    result = await questionnaire_toolset(None, contract=contract).call(name, arguments)
    assert result.is_error
    assert result.details["status"] == "never_shown"
    assert "The user saw nothing" in result.text
    with pytest.raises(InvalidQuestionnaire):
        read_questionnaire(name, arguments)


async def test_what_no_contract_knows_is_not_offered_again(tmp_path, caplog):
    store = FolderStore(tmp_path)
    store.put(Pending("unknown", read_questionnaire("user_select", SELECT), (), ""))
    store.put(Pending("known", read_questionnaire("user_select", SELECT), (), "user_select"))
    with ScriptedPresenter(["2"]) as presenter:
        coordinator = Coordinator(presenter, store=store)
        offered = [pending.request_id async for pending, _ in offer_again(coordinator)]
    assert offered == ["known"]
    assert [pending.request_id for pending in store.left_over()] == ["unknown"]
    assert "unknown stays pending" in caplog.text
