"""Agents written with pydantic-ai: the tools of a session for any of them, and a `Host` that talks with one.

The only file that imports pydantic-ai. `SessionToolset` gives the tools of a session to any `Agent`, and
`SessionTools` does so as a capability, which can also say why a hidden tool is refused; `PydanticAiHost`
carries a conversation, with its message history.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
from pydantic_ai import (
    AbstractToolset,
    Agent,
    AgentRun,
    CancellationToken,
    ModelRequest,
    RunContext,
    ToolDefinition,
    ToolFailed,
    ToolReturn,
    UserPromptPart,
)
from pydantic_ai.agent import AbstractAgent
from pydantic_ai.capabilities import AbstractCapability, HandleDeferredToolCalls
from pydantic_ai.exceptions import ModelConnectionError, RunCancelled, UserError
from pydantic_ai.messages import (
    EnqueuedMessagesEvent,
    FunctionToolResultEvent,
    ModelMessage,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, ToolDenied
from pydantic_ai.toolsets import ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from questionnaire import AdjustableToolset, CustomRow, Option, Question, Questionnaire, Status, Tool
from voice.errors import HostError, SettingsError
from voice.events import Emit, ToolCalled
from voice.hosts.catalog import Ask
from voice.hosts.turns import Turns
from voice.ports import Delivery
from voice.tasks import lone_errors

_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))
"""The tools judge their arguments themselves, in words that help a model."""

_LONGEST_ARGUMENTS = 400
_LONGEST_ERROR = 300


class SessionToolset(AbstractToolset[Any]):
    """The tools of a session, as a pydantic-ai toolset that can be given to any `Agent`.

    Before each request to the model it lists what is active then. A tool that is withheld while the model is
    answering is refused when it is called; one that was hidden before that is unknown to pydantic-ai, which
    refuses it in its own words and counts it as a retry. `SessionTools` spares that.
    """

    def __init__(self, tools: AdjustableToolset, *, id: str = "session") -> None:  # noqa: A002 - their name
        self._tools = tools
        self._id = id

    @property
    def id(self) -> str:
        """Under which an agent knows the set."""
        return self._id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:  # noqa: ARG002
        """The tools that are active now."""
        return {tool.name: self._offered(tool) for tool in self._tools.tools()}

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[Any],  # noqa: ARG002
        tool: ToolsetTool[Any],  # noqa: ARG002
    ) -> ToolReturn:
        """Call a tool; what is withheld by now is refused.

        Raises `ToolFailed` with the text of an erroneous result.
        """
        result = await self._tools.call(name, tool_args)
        if result.is_error:
            raise ToolFailed(result.text)
        return ToolReturn(result.text, metadata=dict(result.details))

    def _offered(self, tool: Tool) -> ToolsetTool[Any]:
        # One that asks or speaks runs alone: a person answers one thing at a time.
        definition = ToolDefinition(
            name=tool.name,
            parameters_json_schema=dict(tool.parameters),
            description=tool.description,
            sequential=True,
            metadata={"session": True},
        )
        return ToolsetTool(toolset=self, tool_def=definition, max_retries=1, args_validator=_ANY_OBJECT)


class _WholeSet(SessionToolset):
    """Lists what is withheld as well, for a capability that hides it from the model."""

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:  # noqa: ARG002
        return {tool.name: self._offered(tool) for tool in self._tools.inner.tools()}


class SessionTools(AbstractCapability[Any]):
    """The tools of a session as a capability: hidden from the model, a tool can still say why it is refused.

    Models call what they remember from earlier in the conversation; here they get the sentence of the
    restriction, as often as they try, and the run goes on.
    """

    def __init__(self, tools: AdjustableToolset) -> None:
        super().__init__()
        self._tools = tools
        self._set = _WholeSet(tools)

    def get_toolset(self) -> AbstractToolset[Any]:
        """The whole set, withheld tools too."""
        return self._set

    async def before_model_request(
        self,
        ctx: RunContext[Any],  # noqa: ARG002
        request_context: ModelRequestContext,
    ) -> ModelRequestContext:
        """Hide what is withheld from this request."""
        active = {tool.name for tool in self._tools.tools()}
        parameters = request_context.model_request_parameters
        shown = [
            offered
            for offered in parameters.function_tools
            if offered.name in active or not (offered.metadata or {}).get("session")
        ]
        if len(shown) == len(parameters.function_tools):
            return request_context
        return replace(request_context, model_request_parameters=replace(parameters, function_tools=shown))


class PydanticAiHost:
    """A conversation with an agent written with pydantic-ai.

    The agent keeps its own tools, instructions and model; for the conversation it gets those of the session.
    A tool of its own that requires approval asks the person. ``history`` is what was said before, and
    `messages` what has been said by now.
    """

    def __init__(
        self,
        agent: AbstractAgent[Any, Any],
        *,
        tools: AdjustableToolset,
        ask: Ask,
        emit: Emit,
        deps: Any = None,
        history: Sequence[ModelMessage] = (),
    ) -> None:
        self._agent = agent
        self._ask = ask
        self._emit = emit
        self._deps = deps
        self._capabilities = [SessionTools(tools), HandleDeferredToolCalls(self._resolve)]
        self._messages = list(history)
        self._turns = Turns(emit)
        self._open = False
        self._run: AgentRun[Any, Any] | None = None
        self._stop = CancellationToken()
        """Stops the present turn, from its first moment on."""
        self._enqueued: dict[str, str] = {}
        """What steers the present run and has not been delivered, by the library's name for it."""

    @property
    def name(self) -> str:
        """The agent's name, where it has one."""
        return self._agent.name or "the pydantic-ai agent"

    @property
    def busy(self) -> bool:
        """Whether a turn goes on, or waits to begin."""
        return self._open and self._turns.busy

    @property
    def messages(self) -> tuple[ModelMessage, ...]:
        """The conversation up to the last turn that has ended: valid as the history of a further run."""
        return tuple(self._messages)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Enter the agent, with what its own toolsets start; a turn that goes on at the end is stopped.

        Raises `HostError` where they cannot be started.
        """
        try:
            await self._agent.__aenter__()
        except Exception as error:
            raise HostError(f"The agent {self.name} cannot be started: {_told(error)}") from error
        try:
            with lone_errors():
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._turns.run, self._turn)
                    self._open = True
                    try:
                        yield
                    finally:
                        self._open = False
                        tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await self._agent.__aexit__(None, None, None)

    async def send(self, text: str, delivery: Delivery = Delivery.FOLLOW_UP) -> None:
        """Take a message: what steers is in the model's next request, what interrupts stops the run.

        Raises `HostError` where it is not open.
        """
        if not self._open:
            raise HostError(f"The agent {self.name} is not running, so the message was not sent.")
        if not self._turns.open or delivery is Delivery.FOLLOW_UP:
            self._turns.put(text)
        elif delivery is Delivery.INTERRUPT:
            self._turns.put_first(text)
            self._stop.cancel()
        else:
            self._steer(text)
        await anyio.lowlevel.checkpoint()

    async def interrupt(self) -> None:
        """Cancel the run; what it had done stays in the history, and what it left open is closed there."""
        await anyio.lowlevel.checkpoint()
        if self.busy:
            await self._turns.begun()
            self._stop.cancel()

    def _steer(self, text: str) -> None:
        try:
            enqueued = self._run.enqueue(text) if self._run is not None else None
        except UserError:  # it has just ended
            enqueued = None
        if enqueued is None:
            self._turns.put_first(text)
        else:
            self._enqueued[enqueued] = text

    async def _turn(self, text: str) -> str:
        run: AgentRun[Any, Any] | None = None
        self._stop = CancellationToken()
        try:
            async with self._agent.iter(
                text,
                message_history=self._messages,
                deps=self._deps,
                capabilities=self._capabilities,
                cancellation_token=self._stop,
                infer_name=False,
            ) as run:
                self._run = run
                async for node in run:
                    if Agent.is_model_request_node(node) or Agent.is_call_tools_node(node):
                        async with node.stream(run.ctx) as events:
                            async for event in events:
                                self._hear(event)
        except RunCancelled:
            pass
        except ModelConnectionError as error:
            return f"The model {error.model_name} cannot be reached ({_told(error)}): does its server run?"
        except Exception as error:
            return f"The agent could not finish its turn: {_told(error)}"
        else:
            if run.result is not None and run.result.response.tool_calls:  # else it was streamed as text
                self._turns.write(str(run.result.output))
        finally:
            if run is not None and run.new_messages():
                self._messages = run.all_messages()
            else:  # it never came to a request
                self._messages.append(ModelRequest([UserPromptPart(text)]))
            self._run = None
            self._turns.put_back(*self._enqueued.values())
            self._enqueued.clear()
        return ""

    def _hear(self, event: object) -> None:
        match event:
            case (
                PartStartEvent(part=TextPart(content=text))
                | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
            ):
                self._turns.write(text)
            case PartEndEvent(part=TextPart()):
                self._turns.written()
            case FunctionToolResultEvent(part=part):
                text = part.model_response_str(wrap_if_error=False)
                self._emit(ToolCalled(part.tool_name, text, part.outcome != "success"))
            case EnqueuedMessagesEvent(enqueue_id=delivered):
                self._enqueued.pop(delivered, None)

    async def _resolve(
        self,
        ctx: RunContext[Any],  # noqa: ARG002
        requests: DeferredToolRequests,
    ) -> DeferredToolResults | None:
        """Have the person approve what has to be approved; all but an explicit yes is a no."""
        approvals: dict[str, bool | ToolDenied] = {}
        for call in requests.approvals:
            outcome = await self._ask(_approval(self.name, call.tool_name, call.args_as_dict()))
            answer = outcome.responses[0].answer if outcome.responses else None
            if outcome.status is Status.ANSWERED and answer is not None and answer.selected == (0,):
                approvals[call.tool_call_id] = True
            elif answer is not None and answer.custom:
                approvals[call.tool_call_id] = ToolDenied(
                    f"The user did not allow it, and said: {answer.custom}"
                )
            elif outcome.status in (Status.ANSWERED, Status.DECLINED):
                approvals[call.tool_call_id] = ToolDenied("The user did not allow it.")
            else:
                approvals[call.tool_call_id] = ToolDenied("Nobody has allowed it: the user did not answer.")
        return requests.build_results(approvals=approvals) if approvals else None


def _approval(agent: str, tool: str, arguments: Mapping[str, Any]) -> Questionnaire:
    shown = json.dumps(arguments, ensure_ascii=False, default=str)
    if (left_out := len(shown) - _LONGEST_ARGUMENTS) > 0:
        half = _LONGEST_ARGUMENTS // 2
        shown = f"{shown[:half]} … ({left_out} characters are not shown) … {shown[-half:]}"
    question = Question(
        f"May {agent} run {tool}?\n{shown}",
        (Option("Allow", "Once."), Option("Do not allow", "It is told so.")),
        header="Permission",
        custom=CustomRow("Do not allow, and say why"),
    )
    return Questionnaire((question,), risky=True)


def _told(error: BaseException) -> str:
    """An error of a library as one line of words."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _LONGEST_ERROR else f"{text[:_LONGEST_ERROR]}…"


def load_agent(named: str) -> AbstractAgent[Any, Any]:
    """The agent that ``module:name`` names, looked for in the working folder too.

    Raises `SettingsError` where there is none.
    """
    module, _, name = named.partition(":")
    if not module or not name:
        raise SettingsError(f"{named!r} names no agent.", mend="-- my_module:my_agent, as in Python")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise SettingsError(f"{named}: there is no module {error.name}.") from error
    except AttributeError as error:
        raise SettingsError(f"{named}: {_told(error)}.") from error
    except (Exception, SystemExit) as error:  # of a script that runs when it is imported
        raise SettingsError(f"{named} cannot be loaded: {type(error).__name__}: {_told(error)}") from error
    if not isinstance(found, AbstractAgent):
        raise SettingsError(f"{named} is no agent of pydantic-ai, but of type {type(found).__name__}.")
    return found


def make_host(arguments: Sequence[str], *, tools: AdjustableToolset, ask: Ask, emit: Emit) -> PydanticAiHost:
    """The host of ``voice chat --agent pydantic-ai -- module:agent``.

    Raises `SettingsError` where the arguments name no agent.
    """
    if len(arguments) != 1:
        raise SettingsError("The pydantic-ai agent is named as module:agent.", mend="-- my_module:my_agent")
    return PydanticAiHost(load_agent(arguments[0]), tools=tools, ask=ask, emit=emit)
