"""Agents written with pydantic-ai, on the library's own test models."""

import importlib.util
import json
import re
import socket
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

pytest.importorskip("pydantic_ai")
from pydantic_ai import Agent, ModelRequest, PromptedOutput, ToolOutput, ToolReturnPart
from pydantic_ai.messages import ModelMessagesTypeAdapter, UserPromptPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.providers.openai import OpenAIProvider

from questionnaire import AdjustableToolset, FunctionToolset, Outcome, Status, Tool, ToolResult, Withhold
from voice.checks import Abilities, check_host
from voice.errors import HostError, HostMissing, SettingsError
from voice.events import AgentEnded, AssistantDelta, AssistantText, ToolCalled
from voice.hosts.catalog import host_maker
from voice.hosts.pydantic_ai import PydanticAiHost, SessionTools, SessionToolset, load_agent
from voice.ports import Delivery

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    """The library is asyncio's alone."""
    return "asyncio"


class ScriptedAgent:
    """An agent on a `FunctionModel` that does what the last message says: the `Agent` of the suite."""

    can = Abilities(dies=False)

    def __init__(self):
        self.requests = []
        """What each request to the model held: its messages, and the names of its tools."""
        self.allowed = 0
        self._finish = anyio.Event()
        self.agent = Agent(FunctionModel(stream_function=self._answer), name="scripted")

        @self.agent.tool_plain(requires_approval=True)
        def deploy() -> str:
            self.allowed += 1
            return "deployed"

    def to_write(self):
        return "write something"

    def to_work(self):
        return "work"

    def to_call(self, name, arguments):
        return f"call {name} {json.dumps(arguments)}"

    def to_ask(self):
        return "call deploy {}"

    async def finish(self):
        self._finish.set()

    async def die(self):
        raise AssertionError("there is no program")

    def read(self):
        messages = self.requests[-1][0] if self.requests else []
        return [text for message in messages for text in _said(message)]

    def told(self):
        parts = [part for messages, _ in self.requests for message in messages for part in message.parts]
        return "\n".join(str(part.content) for part in parts if isinstance(part, ToolReturnPart))

    def granted(self):
        return self.allowed

    async def _answer(self, messages, info):
        self.requests.append((list(messages), [tool.name for tool in info.function_tools]))
        returned = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        said = [text for message in messages for text in _said(message)][-1]
        if said == "work":
            self._finish = anyio.Event()
            yield "I am "
            await self._finish.wait()
            yield "done."
        elif said.startswith("call ") and not returned:
            _, name, arguments = said.split(" ", 2)
            yield {0: DeltaToolCall(name=name, json_args=arguments)}
        else:
            for word in ("One ", "two ", "three."):
                yield word


def _said(message):
    if not isinstance(message, ModelRequest):
        return []
    return [
        part.content if isinstance(part.content, str) else " ".join(map(str, part.content))
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]


async def test_it_keeps_the_promises_of_a_host():
    @asynccontextmanager
    async def make(tools, ask, emit):
        scripted = ScriptedAgent()
        yield PydanticAiHost(scripted.agent, tools=tools, ask=ask, emit=emit), scripted

    await check_host(make)


# --- The tools of a session -------------------------------------------------------------------------------

QUESTION = {"question": "Now?"}
REFUSAL = "Withheld: ask with narrate instead."


class Tools(AdjustableToolset):
    """Two tools that can be called, and what they were called with."""

    def __init__(self):
        self.calls = []
        schema = {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]}
        super().__init__(
            FunctionToolset(
                (Tool("user_select", "Ask.", schema), self._handler("user_select")),
                (Tool("narrate", "Speak.", {"type": "object"}), self._handler("narrate")),
            )
        )
        self.withhold = None

    def _handler(self, name):
        async def handle(arguments):
            self.calls.append((name, arguments))
            return ToolResult(f"{name} was called", {"is": name})

        return handle

    def on(self):
        return self.add(Withhold(["user_select"], REFUSAL))


class Model:
    """A model that calls tools, one list of calls a request, and then says so much."""

    def __init__(self, *calls, before=lambda: None):
        self.calls = list(calls)
        self.listed = []
        self.results = []
        self.before = before

    @property
    def model(self):
        return FunctionModel(stream_function=self.answer)

    async def answer(self, messages, info):
        self.listed.append({tool.name for tool in info.function_tools})
        self.results += [part.content for part in messages[-1].parts if hasattr(part, "tool_call_id")]
        self.before()
        if self.calls and self.calls[0] is not None:
            for index, (name, arguments) in enumerate(self.calls.pop(0)):
                yield {index: DeltaToolCall(name=name, json_args=json.dumps(arguments))}
        else:
            del self.calls[:1]
            yield "Done."


GIVEN = [
    pytest.param(lambda tools: {"toolsets": [SessionToolset(tools)]}, id="toolset"),
    pytest.param(lambda tools: {"capabilities": [SessionTools(tools)]}, id="capability"),
]


@pytest.mark.parametrize("given", GIVEN)
async def test_a_tool_is_withheld_between_two_runs_and_comes_back(given):
    tools, model = Tools(), Model(None, None, None)
    agent = Agent(model.model, **given(tools))
    first = await _run(agent, "one")
    with tools.on():
        second = await _run(agent, "two", first)
    await _run(agent, "three", second)
    assert model.listed == [{"user_select", "narrate"}, {"narrate"}, {"user_select", "narrate"}]


@pytest.mark.parametrize("given", GIVEN)
async def test_a_tool_is_withheld_in_the_middle_of_a_run(given):
    """Voice is switched on while a tool of the same run is at work: the next request has it no more."""
    tools, model = Tools(), Model([("switch_voice_on", {})], None)
    agent = Agent(model.model, **given(tools))
    agent.tool_plain(lambda: str(tools.on()), name="switch_voice_on")
    await _run(agent, "go")
    assert [listed - {"switch_voice_on"} for listed in model.listed] == [
        {"user_select", "narrate"},
        {"narrate"},
    ]


@pytest.mark.parametrize("given", GIVEN)
async def test_a_call_is_refused_in_our_words_where_the_tool_was_withheld_while_the_model_answered(given):
    tools = Tools()
    model = Model([("user_select", QUESTION)], None, before=lambda: tools.restrictions or tools.on())
    await _run(Agent(model.model, **given(tools)), "go")
    assert tools.calls == []
    assert REFUSAL in model.results[0]


async def test_a_hidden_tool_that_is_called_again_and_again_is_refused_in_our_words_and_the_run_goes_on():
    tools, model = Tools(), Model(*[[("user_select", QUESTION)]] * 4, None)
    agent = Agent(model.model, capabilities=[SessionTools(tools)])
    with tools.on():
        messages = await _run(agent, "go")
    assert tools.calls == []
    assert model.listed == [{"narrate"}] * 5
    assert len(model.results) == 4
    assert all(REFUSAL in result for result in model.results)
    assert messages[-1].parts[0].content == "Done."


async def test_a_hidden_tool_that_is_called_through_the_toolset_alone_does_not_run():
    tools, model = Tools(), Model([("user_select", QUESTION)], None)
    agent = Agent(model.model, toolsets=[SessionToolset(tools)])
    with tools.on():
        await _run(agent, "go")
    assert tools.calls == []


async def test_the_test_model_calls_what_is_listed_and_nothing_else():
    tools = Tools()
    agent = Agent(TestModel(), toolsets=[SessionToolset(tools)])
    with tools.on():
        await agent.run("go")
    assert [name for name, _ in tools.calls] == ["narrate"]


async def test_the_agents_own_tools_stay_as_they_are_also_where_one_has_the_name_of_no_other():
    tools, model = Tools(), Model(None)
    agent = Agent(model.model, capabilities=[SessionTools(tools)])
    agent.tool_plain(lambda: "here", name="look")
    with tools.on():
        await _run(agent, "go")
    assert model.listed == [{"narrate", "look"}]


async def test_a_result_carries_its_details_for_programs():
    tools, model = Tools(), Model([("user_select", QUESTION)], None)
    messages = await _run(Agent(model.model, toolsets=[SessionToolset(tools)]), "go")
    (returned,) = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    assert (returned.content, returned.metadata) == ("user_select was called", {"is": "user_select"})


async def _run(agent, text, history=None):
    async with agent.run_stream_events(text, message_history=history) as events:
        async for _ in events:
            pass
        return events.all_messages()


# --- A conversation ---------------------------------------------------------------------------------------


async def until(fact):
    with anyio.fail_after(60):
        while not fact():  # noqa: ASYNC110 - whatever it is about
            await anyio.sleep(0.001)


@asynccontextmanager
async def conversation(agent, **more):
    """A host that is open, what it tells, and a wait for the end of its turns."""
    told = []

    async def nobody(asked):
        return Outcome(Status.TIMED_OUT)

    more = {"tools": Tools(), "ask": nobody, **more}
    host = PydanticAiHost(agent, emit=told.append, **more)

    async def turn(text, delivery=Delivery.FOLLOW_UP):
        await host.send(text, delivery)
        await until(lambda: not host.busy)

    async with host.open():
        yield host, told, turn


async def test_a_conversation_keeps_its_history_and_is_streamed():
    scripted = ScriptedAgent()
    async with conversation(scripted.agent) as (host, told, turn):
        await turn("hello")
        await turn("and again")
        assert scripted.read() == ["hello", "and again"]
        assert [event.text for event in told if isinstance(event, AssistantDelta)] == [
            "One ",
            "two ",
            "three.",
        ] * 2
        assert [event.text for event in told if isinstance(event, AssistantText)] == ["One two three."] * 2
        ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(list(host.messages)))


async def test_a_conversation_goes_on_from_a_history():
    scripted = ScriptedAgent()
    async with conversation(scripted.agent) as (host, _, turn):
        await turn("hello")
        said = host.messages
    async with conversation(scripted.agent, history=said) as (_, _, turn):
        await turn("where were we?")
    assert scripted.read() == ["hello", "where were we?"]


async def test_an_interruption_in_the_middle_of_a_tool_leaves_a_history_that_can_be_sent():
    scripted = ScriptedAgent()
    asked = anyio.Event()

    async def wait(questionnaire):
        asked.set()
        await anyio.sleep_forever()

    async with conversation(scripted.agent, ask=wait) as (host, told, turn):
        await host.send("call deploy {}")
        await asked.wait()
        await host.interrupt()
        await turn("never mind")
        assert scripted.read() == ["call deploy {}", "never mind"]
        assert scripted.allowed == 0
        assert [event for event in told if isinstance(event, AgentEnded)] == [AgentEnded(), AgentEnded()]
        calls = {
            part.tool_call_id
            for message in host.messages
            for part in message.parts
            if part.part_kind == "tool-call"
        }
        sent = {
            part.tool_call_id
            for message in scripted.requests[-1][0]
            for part in message.parts
            if isinstance(part, ToolReturnPart)
        }
        assert calls == sent, "a call without its return is refused by every real model"


async def test_an_interruption_before_the_first_request_loses_no_words():
    scripted = ScriptedAgent()
    async with conversation(scripted.agent) as (host, _, turn):
        await host.send("first this")
        await host.interrupt()
        await turn("then that")
        assert scripted.read() == ["first this", "then that"]


async def test_what_steers_is_in_the_next_request_of_the_same_run():
    scripted = ScriptedAgent()
    async with conversation(scripted.agent) as (host, told, _):
        await host.send("work")
        await until(lambda: scripted.requests)
        await host.send("rather that", Delivery.STEER)
        await scripted.finish()
        await until(lambda: not host.busy)
        assert scripted.read() == ["work", "rather that"]
        assert len([event for event in told if isinstance(event, AgentEnded)]) == 1


async def test_what_steered_and_was_not_read_comes_before_what_interrupted_after_it():
    scripted = ScriptedAgent()
    async with conversation(scripted.agent) as (host, _, _):
        await host.send("work")
        await until(lambda: scripted.requests)
        await host.send("first this", Delivery.STEER)
        await host.send("then that", Delivery.INTERRUPT)
        await until(lambda: not host.busy)
        assert scripted.read() == ["work", "first this", "then that"]


async def test_a_failing_model_ends_the_turn_in_a_sentence_and_the_conversation_goes_on():
    answers = iter([RuntimeError("the model is gone\nfor now"), None])

    async def answer(messages, info):
        if error := next(answers):
            raise error
        yield str(len([text for message in messages for text in _said(message)]))

    async with conversation(Agent(FunctionModel(stream_function=answer))) as (_, told, turn):
        await turn("one")
        await turn("two")
    assert [event for event in told if isinstance(event, AgentEnded)] == [
        AgentEnded("The agent could not finish its turn: the model is gone for now"),
        AgentEnded(),
    ]
    assert AssistantText("2") in told, "what was said before the failure is part of the conversation"


async def test_a_toolset_that_cannot_be_started_is_a_sentence():
    class Broken(SessionToolset):
        async def __aenter__(self):
            raise ConnectionError("no such server")

    host = PydanticAiHost(
        Agent(TestModel(), toolsets=[Broken(Tools())], name="helper"), tools=Tools(), ask=None, emit=print
    )
    with pytest.raises(HostError, match="helper cannot be started: no such server"):
        async with host.open():
            pass


async def test_a_structured_output_is_written_out():
    async with conversation(Agent(TestModel(call_tools=[]), output_type=int)) as (_, told, turn):
        await turn("how many?")
    assert [event.text for event in told if isinstance(event, AssistantText)] == ["0"]


async def test_an_output_of_words_is_told_where_a_tool_gives_it_and_once_where_text_is_it():
    by_tool = TestModel(call_tools=[])
    async with conversation(Agent(by_tool, output_type=ToolOutput(str))) as (_, told, turn):
        await turn("how many?")
    assert [event.text for event in told if isinstance(event, AssistantText)] == ["a"]
    as_text = TestModel(call_tools=[], custom_output_text='{"response": 5}')
    async with conversation(Agent(as_text, output_type=PromptedOutput(int))) as (_, told, turn):
        await turn("how many?")
    assert [event.text for event in told if isinstance(event, AssistantText)] == ['{"response": 5}']


async def test_a_model_whose_server_does_not_run_is_a_sentence_that_says_so():
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        local = OpenAIProvider(base_url=f"http://127.0.0.1:{nobody.getsockname()[1]}/v1", api_key="none")
        model = OpenAIChatModel("small", provider=local)
        async with conversation(Agent(model)) as (_, told, turn):
            await turn("hello")
    assert [event for event in told if isinstance(event, AgentEnded)] == [
        AgentEnded("The model small cannot be reached (Connection error.): does its server run?")
    ]


async def test_what_a_failed_tool_says_is_told_as_it_is():
    tools = Tools()
    with tools.on():
        scripted = ScriptedAgent()
        async with conversation(scripted.agent, tools=tools) as (_, told, turn):
            await turn('call user_select {"question": "Now?"}')
    assert [event for event in told if isinstance(event, ToolCalled)] == [
        ToolCalled("user_select", REFUSAL, True)
    ]


async def test_of_long_arguments_the_end_is_asked_too():
    asked = []

    async def ask(questionnaire):
        asked.append(questionnaire.questions[0].text)
        return Outcome(Status.DECLINED)

    scripted = ScriptedAgent()
    arguments = {"why": "x" * 1_000 + "; rm -rf ~"}

    @scripted.agent.tool_plain(requires_approval=True)
    def remove(why: str) -> str:
        raise AssertionError(why)

    async with conversation(scripted.agent, ask=ask) as (_, _, turn):
        await turn(f"call remove {json.dumps(arguments)}")
    (text,) = asked
    assert text.endswith('; rm -rf ~"}')
    assert "characters are not shown" in text


async def test_the_agents_own_tools_are_told_too():
    async with conversation(Agent(TestModel(call_tools=["look"]), tools=[look])) as (_, told, turn):
        await turn("look")
    assert [event for event in told if isinstance(event, ToolCalled)] == [ToolCalled("look", "a tree", False)]


def look() -> str:
    """Look around."""
    return "a tree"


# --- On the command line ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ("somewhere", "names no agent"),
        (":agent", "names no agent"),
        ("no_such_module:agent", "no module no_such_module"),
        ("json:no_such_name", "no_such_name"),
        ("json:loads", "no agent of pydantic-ai, but of type function"),
        ("broken_agent:agent", "cannot be loaded: ZeroDivisionError"),
        ("ending_agent:agent", "cannot be loaded: SystemExit: 3"),
    ],
)
def test_a_name_that_names_no_agent_is_a_sentence(named, sentence, tmp_path, monkeypatch):
    (tmp_path / "broken_agent.py").write_text("1 / 0")
    (tmp_path / "ending_agent.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(SettingsError, match=sentence):
        load_agent(named)


async def test_an_agent_is_found_in_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "my_own_agent.py").write_text(
        "from pydantic_ai import Agent\nagent = Agent('test', name='mine')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    make = host_maker("pydantic-ai", ["my_own_agent:agent"])
    assert make(Tools(), None, print).name == "mine"
    with pytest.raises(SettingsError, match="module:agent"):
        host_maker("pydantic-ai", [])(Tools(), None, print)


async def test_the_agent_that_the_readme_shows_talks_with_a_local_model(tmp_path, monkeypatch):
    """With any server that speaks OpenAI's protocol; here a scripted one, tools included."""
    readme = (Path(__file__).parents[3] / "README.md").read_text()
    (shown,) = [code for code in re.findall(r"```python\n(.*?)```", readme, re.DOTALL) if "base_url" in code]
    spec = importlib.util.spec_from_file_location("scripted", Path(__file__).parent / "pi/model.py")
    scripted = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scripted)
    model = scripted.Model()
    (tmp_path / "helper.py").write_text(shown.replace(":11434/", f":{model.port}/"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    tools = Tools()
    try:
        async with conversation(load_agent("helper:agent"), tools=tools) as (host, told, turn):
            assert host.name == "helper"
            await turn("write Hello there.")
            await turn('call user_select {"question": "Now?"}')
            with tools.on():
                await turn('call user_select {"question": "Now?"}')
            assert model.listed == {"narrate"}
            assert REFUSAL in model.told[-1]
    finally:
        model.close()
    assert [event.text for event in told if isinstance(event, AssistantText)] == [
        "Hello there.",
        "I see.",
        "I see.",
    ]
    assert tools.calls == [("user_select", {"question": "Now?"})]


def test_without_the_library_there_is_one_sentence_with_the_command():
    probe = (
        "import sys; sys.modules['pydantic_ai'] = None\n"
        "from voice.hosts.catalog import host_maker\n"
        "from voice.errors import HostMissing\n"
        "try: host_maker('pydantic-ai', ['a:b'])\n"
        "except HostMissing as missing: print(missing)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert "pip install 'viva-voce[pydantic-ai]'" in done.stdout
    assert issubclass(HostMissing, HostError)
