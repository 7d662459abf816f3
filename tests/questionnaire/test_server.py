"""The tools as MCP clients get them: with the library's own client, in both eras of the protocol."""

from contextlib import asynccontextmanager

import anyio
import pytest
from mcp import Client, MCPError, types
from mcp.server.subscriptions import ToolsListChanged
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage

from questionnaire.limits import TimeOut
from questionnaire.restrictions import AdjustableToolset, Withhold
from questionnaire.server import ServedPrompt, ToolServer, elicited_toolset
from questionnaire.testing import all_quiet, check_toolset
from questionnaire.tool import Tool, ToolResult
from questionnaire.toolset import CombinedToolset, FunctionToolset

pytestmark = pytest.mark.anyio

ERAS = ["legacy", "2026-07-28"]
HANG_S = 10.0

MERGE = {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}], "allowCustom": True}
DEPLOY = {
    "questions": [
        {
            "header": "Deploy",
            "question": "Where to?",
            "options": [
                {"label": "Staging", "description": "Shared.", "preview": "| a |"},
                {"label": "Throwaway", "description": "Gone after an hour."},
            ],
        },
        {
            "header": "Checks",
            "question": "Which checks?",
            "multiSelect": True,
            "options": [{"label": "lint", "description": ""}, {"label": "types", "description": ""}],
        },
    ]
}


class Person:
    """Answers forms with the replies it is given, and keeps what it was asked."""

    def __init__(self, *replies):
        self._replies = list(replies)
        self.asked = []

    async def __call__(self, context, params):
        self.asked.append(params)
        reply = self._replies.pop(0)
        return reply if not callable(reply) else await reply()

    def finished(self):
        return not self._replies


def accept(**content):
    return types.ElicitResult(action="accept", content=content)


@asynccontextmanager
async def connected(server, mode, person=None, **options):
    """A client of `server`, over streams in memory."""
    with anyio.fail_after(HANG_S):
        async with (
            create_client_server_memory_streams() as (ours, theirs),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(server.serve, *theirs)

            @asynccontextmanager
            async def transport():
                yield ours

            async with Client(transport(), mode=mode, elicitation_callback=person, **options) as client:
                yield client
            tasks.cancel_scope.cancel()


def asking(**options):
    return ToolServer("questionnaire", AdjustableToolset(elicited_toolset(**options)), version="1")


async def asked(mode, person, name, arguments, **options):
    """What a client of one call gets."""
    async with connected(asking(**options), mode, person) as client:
        result = await client.call_tool(name, arguments)
    [content] = result.content
    details = dict(result.structured_content)
    assert details.pop("text") == content.text, "a client may show its model the structured content alone"
    return ToolResult(content.text, details, result.is_error)


@pytest.mark.parametrize("mode", [*ERAS, "auto"])
async def test_the_tools_are_listed_with_their_schemas(mode):
    async with connected(asking(), mode) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["ask_user_question", "user_select"]
    assert all(tool.input_schema["type"] == "object" and tool.description for tool in tools)


@pytest.mark.parametrize("mode", ERAS)
async def test_an_option_is_picked(mode):
    person = Person(accept(question_1="Rebase"))
    result = await asked(mode, person, "user_select", MERGE)
    assert result.text == "User selected: 2. Rebase"
    assert not result.is_error
    assert result.details["answer"] == "Rebase"
    assert person.asked[0].message == "Merge how?"


@pytest.mark.parametrize("mode", ERAS)
async def test_own_words_are_typed(mode):
    result = await asked(mode, Person(accept(question_1_custom=" merge commit ")), "user_select", MERGE)
    assert result.text == "User wrote: merge commit"


@pytest.mark.parametrize("mode", ERAS)
async def test_several_questions_and_several_picks_and_what_the_form_could_not_show(mode):
    person = Person(accept(question_1="Staging", question_2=["types", "lint"], question_2_custom="mine"))
    result = await asked(mode, person, "ask_user_question", DEPLOY)
    assert '"Where to?"="Staging"' in result.text
    assert "did not see: previews of question 1" in result.text
    assert result.details["unshown"] == [{"questionIndex": 0, "parts": ["previews"]}]
    assert result.details["answers"][1]["selected"] == ["lint", "types", "mine"]
    assert not result.details["cancelled"]


@pytest.mark.parametrize("mode", ERAS)
async def test_what_is_missing_is_asked_again_with_the_rest_kept(mode):
    person = Person(accept(question_1="Staging"), accept(question_2=["lint"]))
    result = await asked(mode, person, "ask_user_question", DEPLOY)
    assert person.finished()
    assert [answer["answer"] for answer in result.details["answers"]] == ["Staging", "lint"]
    assert list(person.asked[1].requested_schema["properties"]) == ["question_2", "question_2_custom"]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(("action", "status"), [("decline", "declined"), ("cancel", "cancelled")])
async def test_a_decline_and_a_dismissal_are_no_answers_and_no_errors(mode, action, status):
    result = await asked(mode, Person(types.ElicitResult(action=action)), "ask_user_question", DEPLOY)
    assert result.details["status"] == status
    assert result.details["cancelled"]
    assert not result.is_error
    assert not result.details["answers"]
    if action == "decline":
        assert result.text.startswith("User declined to answer questions")


@pytest.mark.parametrize("mode", ERAS)
async def test_a_dismissal_after_an_answer_keeps_it(mode):
    person = Person(accept(question_1="Staging"), types.ElicitResult(action="cancel"))
    result = await asked(mode, person, "ask_user_question", DEPLOY)
    assert result.details["status"] == "cancelled"
    assert [answer["answer"] for answer in result.details["answers"]] == ["Staging"]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_client_without_forms_is_an_error_that_says_that_the_user_saw_nothing(mode):
    result = await asked(mode, None, "user_select", MERGE)
    assert result.is_error
    assert result.text.startswith(
        "user_select: no interactive UI available (running in non-interactive mode)"
    )
    assert "saw nothing" in result.text
    assert "Merge how?" in result.text
    assert result.details["status"] == "never_shown"


@pytest.mark.parametrize("mode", ERAS)
async def test_an_answer_that_the_form_did_not_offer_is_none(mode):
    person = Person(accept(question_1="Octopus"), types.ElicitResult(action="decline"))
    result = await asked(mode, person, "user_select", MERGE)
    assert person.finished()
    assert result.details["answer"] is None


@pytest.mark.parametrize("mode", ERAS)
async def test_a_client_that_accepts_by_itself_answers_nothing(mode):
    result = await asked(mode, Person(*[accept()] * 5), "user_select", MERGE)
    assert result.details["answer"] is None
    assert result.details["cancelled"]


async def test_a_client_that_refuses_the_form_has_shown_nothing():
    refusal = types.ErrorData(code=types.METHOD_NOT_FOUND, message="no such thing")
    result = await asked("legacy", Person(refusal), "user_select", MERGE)
    assert result.is_error
    assert result.details["status"] == "never_shown"


@pytest.mark.parametrize("mode", ERAS)
async def test_the_other_contract(mode):
    arguments = {"questions": [{"id": "name", "question": "Its name?", "type": "text"}]}
    result = await asked(
        mode, Person(accept(question_1="ledger")), "ask_user_question", arguments, contract="form"
    )
    assert result.details["answers"][0]["answer"] == "ledger"


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("arguments", [{}, {"questions": []}, {"questions": [{"question": ""}]}])
async def test_arguments_that_cannot_be_shown_are_errors_that_show_nothing(mode, arguments):
    person = Person()
    result = await asked(mode, person, "ask_user_question", arguments)
    assert result.is_error
    assert not person.asked


async def test_when_the_time_is_over_the_form_is_taken_away():
    taken_away = anyio.Event()

    async def hesitate():
        try:
            await anyio.sleep_forever()
        finally:
            taken_away.set()

    result = await asked(
        "legacy", Person(hesitate), "ask_user_question", DEPLOY, time_out=TimeOut(0.05, "unanswered")
    )
    assert result.details["status"] == "timed_out"
    assert not result.is_error
    assert taken_away.is_set()


async def test_a_cancelled_call_takes_its_form_away_and_the_next_one_is_asked():
    shown, taken_away = anyio.Event(), anyio.Event()

    async def hesitate():
        shown.set()
        try:
            await anyio.sleep_forever()
        finally:
            taken_away.set()

    async with connected(asking(), "legacy", Person(hesitate, accept(question_1="Squash"))) as client:
        async with anyio.create_task_group() as calls:
            calls.start_soon(client.call_tool, "ask_user_question", DEPLOY)
            await shown.wait()
            calls.cancel_scope.cancel()
        await taken_away.wait()
        result = await client.call_tool("user_select", MERGE)
    assert result.content[0].text == "User selected: 1. Squash"


async def test_one_client_is_asked_one_thing_at_a_time():
    open_now, most = 0, 0

    async def answer():
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        await all_quiet()
        open_now -= 1
        return accept(question_1="Squash")

    other = {**MERGE, "question": "And then how?"}
    async with (
        connected(asking(), "legacy", Person(answer, answer)) as client,
        anyio.create_task_group() as calls,
    ):
        calls.start_soon(client.call_tool, "user_select", MERGE)
        calls.start_soon(client.call_tool, "user_select", other)
    assert most == 1


async def test_two_clients_that_ask_the_same_get_each_their_own_form_and_answer():
    server, shown, go_on = asking(), anyio.Event(), anyio.Event()

    async def hesitate():
        shown.set()
        await go_on.wait()
        return accept(question_1="Squash")

    answers = []
    async with (
        connected(server, "legacy", Person(hesitate)) as first,
        connected(server, "legacy", Person(accept(question_1="Rebase"))) as second,
    ):

        async def call(client):
            answers.append((await client.call_tool("user_select", MERGE)).structured_content["answer"])

        async with anyio.create_task_group() as calls:
            calls.start_soon(call, first)
            await shown.wait()
            await call(second)
            go_on.set()
    assert answers == ["Rebase", "Squash"]


@pytest.mark.parametrize(
    "responses", [{"form": {"action": "accept", "content": {"question_1": "Squash"}}}, None]
)
async def test_an_answer_to_a_form_that_was_never_sent_is_none(responses):
    """A call may not bring its own answer along: nobody was asked."""
    async with connected(asking(), "2026-07-28", Person()) as client:
        params = types.CallToolRequestParams(name="user_select", arguments=MERGE, input_responses=responses)
        result = await client.session.send_request(
            types.CallToolRequest(params=params), types.InputRequiredResult
        )
    assert result.input_requests["form"].params.message == "Merge how?"


async def test_a_state_that_we_did_not_seal_is_refused():
    async with connected(asking(), "2026-07-28", Person()) as client:
        params = types.CallToolRequestParams(
            name="user_select",
            arguments=MERGE,
            request_state='[{"action": "accept", "content": {"question_1": "Squash"}}]',
        )
        with pytest.raises(MCPError, match="requestState"):
            await client.session.send_request(types.CallToolRequest(params=params), types.InputRequiredResult)


async def test_the_state_of_one_question_answers_no_other():
    async with connected(asking(), "2026-07-28", Person()) as client:

        async def call(arguments, **more):
            params = types.CallToolRequestParams(name="user_select", arguments=arguments, **more)
            return await client.session.send_request(
                types.CallToolRequest(params=params), types.InputRequiredResult
            )

        state = (await call(MERGE)).request_state
        with pytest.raises(MCPError, match="requestState"):
            await call({**MERGE, "question": "Delete all?"}, request_state=state)


NARRATE = Tool("narrate", "Speak.", {"type": "object", "properties": {}})


def withholding():
    """A server whose questionnaire tools can be withheld, and the set of its tools."""

    async def narrate(arguments):
        return ToolResult("Narration completed.")

    tools = AdjustableToolset(CombinedToolset(elicited_toolset(), FunctionToolset((NARRATE, narrate))))
    return ToolServer("voice", tools), tools


WITHHELD = Withhold(["ask_user_question", "user_select"], "Narrate it instead.")


async def test_a_client_up_to_2025_11_25_hears_of_a_change_by_a_notification():
    server, tools = withholding()
    changed = anyio.Event()

    async def hear(message):
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    async with connected(server, "legacy", Person(), message_handler=hear) as client:
        assert client.server_capabilities.tools.list_changed
        await client.list_tools()
        with tools.add(WITHHELD):
            await changed.wait()
            changed = anyio.Event()
            assert [tool.name for tool in (await client.list_tools()).tools] == ["narrate"]
            refused = await client.call_tool("user_select", MERGE)
            assert refused.is_error
            assert refused.content[0].text == "Narrate it instead."
        await changed.wait()
        assert len((await client.list_tools()).tools) == 3


async def test_a_client_that_reads_nothing_keeps_no_other_from_hearing_of_a_change():
    server, tools = withholding()
    heard = 0

    async def hear(message):
        nonlocal heard
        heard += isinstance(message, types.ToolListChangedNotification)

    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    async with (
        create_client_server_memory_streams() as ((read, write), theirs),
        connected(server, "legacy", message_handler=hear) as client,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(server.serve, *theirs)
        for message in (
            {"id": 1, "method": "initialize", "params": hello},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/list"},
        ):
            message = types.jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **message})
            await write.send(SessionMessage(message))
            if hasattr(message, "id"):
                await read.receive()
        await client.list_tools()
        for _ in range(5):  # the first one is held for the client that reads nothing, the others find no room
            before = heard
            with tools.add(WITHHELD):
                while heard == before:
                    await all_quiet()
        tasks.cancel_scope.cancel()


async def test_a_client_from_2026_07_28_on_hears_of_a_change_on_the_stream_that_it_listens_to():
    server, tools = withholding()
    async with (
        connected(server, "auto", Person()) as client,
        client.listen(tools_list_changed=True) as heard,
    ):
        assert client.server_capabilities.tools.list_changed
        with tools.add(WITHHELD):
            assert await anext(aiter(heard)) == ToolsListChanged()
            assert [tool.name for tool in (await client.list_tools()).tools] == ["narrate"]
            assert (await client.call_tool("user_select", MERGE)).is_error


@pytest.mark.parametrize("mode", ERAS)
async def test_a_client_that_wants_to_know_hears_that_a_call_still_waits(mode, monkeypatch):
    monkeypatch.setattr("questionnaire.server._SIGN_OF_LIFE_S", 0.01)
    enough = anyio.Event()
    heard = []

    async def hear(progress, total, message):
        heard.append(progress)
        if len(heard) == 3:
            enough.set()

    async def think(arguments):
        await enough.wait()
        return ToolResult("Thought.")

    tools = FunctionToolset((Tool("think", "Think.", {"type": "object", "properties": {}}), think))
    async with connected(ToolServer("slow", AdjustableToolset(tools)), mode) as client:
        result = await client.call_tool("think", {}, progress_callback=hear)
    assert result.content[0].text == "Thought."
    assert heard[:3] == [1, 2, 3]


async def test_what_a_user_chooses_in_the_client_is_done_and_told():
    done = []

    async def switch():
        done.append("on")
        return "Voice is on."

    server = ToolServer(
        "voice",
        AdjustableToolset(elicited_toolset()),
        prompts=[ServedPrompt("voice-on", "Switch it on.", switch)],
    )
    for mode in ERAS:
        async with connected(server, mode) as client:
            assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["voice-on"]
            [message] = (await client.get_prompt("voice-on")).messages
            assert message.content.text == "Voice is on."
            with pytest.raises(MCPError, match="voice-on"):
                await client.get_prompt("voice-off")
    assert done == ["on", "on"]


async def test_it_is_a_tool_set_like_any_other():
    await check_toolset(elicited_toolset)


async def test_outside_of_a_server_nobody_is_asked():
    result = await elicited_toolset().call("user_select", MERGE)
    assert result.is_error
    assert result.details["status"] == "never_shown"
