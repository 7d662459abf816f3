"""Tools for MCP clients, over standard input and output or over HTTP on this machine.

Needs the extra `mcp`, so nothing imports this file before it serves. What a tool asks is shown by the client,
as forms (elicitation); one that has none gets an error that says so, never an answer. Up to protocol
2025-11-25 the server calls the client in the middle of a call. From 2026-07-28 on it may not: there a call
ends with the form that it needs, and comes again with what was filled in. Then it is run anew from its
beginning, with the replies so far, which the client carries along, sealed.
"""

import itertools
import json
import logging
from collections import OrderedDict
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from questionnaire.asking import Meaning, questionnaire_toolset
from questionnaire.attention import Attention
from questionnaire.coordinator import Coordinator
from questionnaire.endpoints import LOOPBACK, PATH, Port, StandardInput, with_token
from questionnaire.errors import ClientLost, NoInterface
from questionnaire.limits import TimeOut
from questionnaire.presenters.elicitation import ElicitationPresenter, FormClient
from questionnaire.presenters.flat_forms import Form, FormAction, FormDialect, FormReply
from questionnaire.restrictions import AdjustableToolset
from questionnaire.settings import QuestionnaireSettings, load_settings
from questionnaire.tool import Tool, ToolResult, tool_call_id
from questionnaire.toolset import FunctionToolset, Handler, Toolset

__all__ = ["ServedPrompt", "ToolServer", "configured_toolset", "elicited_toolset"]

_FORMS_SINCE, _TITLES_SINCE, _ROUNDS_SINCE = "2025-06-18", "2025-11-25", "2026-07-28"
"""The protocols that brought forms; titles and lists in them; and forms that end a call. Dates order them."""

_FORM = "form"
"""The name of the one form that a call can need at a time."""

_STATE_S = 7 * 24 * 3600.0
"""How long a form may lie before a person: the state of a call is sealed for so long."""

_MOST_SESSIONS = 64
"""How many clients hear of changes, those that listed the tools last."""

_SIGN_OF_LIFE_S = 10.0
"""How often a client that wants to know hears that a call still waits for the user."""

_CLOSED = -32000
"""The error code of the library for a connection that was closed."""

_log = logging.getLogger(__name__)


class _Caller(Protocol):
    """Whoever made the call that runs."""

    @property
    def forms(self) -> FormClient | None:
        """What shows forms there; None where nothing does."""
        ...

    @property
    def key(self) -> str | None:
        """The connection that the call came by; None where each call stands alone."""
        ...


_caller: ContextVar[_Caller | None] = ContextVar("_caller", default=None)


def elicited_toolset(
    *,
    contract: Meaning = "choices",
    time_out: TimeOut | None = None,
    attention: Sequence[Attention] = (),
    clock: Callable[[], float] = anyio.current_time,
) -> Toolset:
    """Return the tools that ask, answered by the client whose call a `ToolServer` serves.

    Each client has questionnaires one at a time; `time_out`, `attention` and `clock` are those of a
    `Coordinator`. From protocol 2026-07-28 on it is the client that waits, and no time-out ends that.
    """
    presenter = ElicitationPresenter(_forms, clock)
    by_client: dict[str, Coordinator] = {}

    def handler(name: str) -> Handler:
        async def call(arguments: Mapping[str, Any]) -> ToolResult:
            caller = _caller.get()
            key = caller.key if caller is not None else None
            coordinator = by_client.get(key) if key is not None else None
            if coordinator is None:
                coordinator = Coordinator(presenter, time_out=time_out, attention=attention, clock=clock)
                if key is not None:
                    by_client[key] = coordinator
            try:
                tools = questionnaire_toolset(coordinator, contract=contract)
                return _telling_what_was_not_shown(await tools.call(name, arguments))
            finally:
                if key is not None and not coordinator.pending:
                    by_client.pop(key, None)

        return call

    listed = questionnaire_toolset(None, contract=contract).tools()
    return FunctionToolset(*((tool, handler(tool.name)) for tool in listed))


def configured_toolset(
    settings: QuestionnaireSettings | None = None,
    *,
    contract: Meaning | None = None,
    attention: Sequence[Attention] = (),
    clock: Callable[[], float] = anyio.current_time,
) -> Toolset:
    """Return `elicited_toolset` as the user's settings have it, but for a `contract` that is named.

    Raises `BadSettings` where they cannot be used.
    """
    settings = settings or load_settings()
    return elicited_toolset(
        contract=contract or settings.contract,
        time_out=TimeOut(settings.timeout_s, settings.timeout_action) if settings.timeout_s else None,
        attention=attention,
        clock=clock,
    )


def _forms() -> FormClient | None:
    caller = _caller.get()
    return caller.forms if caller is not None else None


def _telling_what_was_not_shown(result: ToolResult) -> ToolResult:
    """Add to the text what the details say that a form could not show."""
    unshown = result.details.get("unshown")
    if not unshown:
        return result
    parts = "; ".join(
        f"{', '.join(entry['parts'])} of question {entry['questionIndex'] + 1}" for entry in unshown
    )
    told = f"{result.text}\nThe user's client cannot show everything, and the user did not see: {parts}."
    return ToolResult(told, result.details, result.is_error)


@dataclass(frozen=True)
class ServedPrompt:
    """What a user can choose in their client, and no model can: `run` does it, and returns its message."""

    name: str
    description: str
    run: Callable[[], Awaitable[str]]


class LineSink(Protocol):
    """Where the lines for a client go."""

    async def write(self, text: str, /) -> object:
        """Write a line, with its end."""
        ...

    async def flush(self) -> object:
        """Have it on its way."""
        ...


class ToolServer:
    """An MCP server for a set of tools; when the set changes, clients are told.

    `instructions` is what clients tell their model of it all.
    """

    def __init__(
        self,
        name: str,
        tools: AdjustableToolset,
        *,
        version: str = "",
        instructions: str | None = None,
        prompts: Sequence[ServedPrompt] = (),
    ) -> None:
        self._tools = tools
        self._prompts = {prompt.name: prompt for prompt in prompts}
        self._bus = InMemorySubscriptionBus()
        self._listeners: OrderedDict[str, ServerSession] = OrderedDict()
        self._server = _Server(
            name,
            version=version,
            instructions=instructions,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self._bus),
            on_list_prompts=self._list_prompts if prompts else None,
            on_get_prompt=self._get_prompt if prompts else None,
        )
        security = RequestStateSecurity.ephemeral(ttl=_STATE_S)
        self._server.middleware.append(RequestStateBoundary(security, default_audience=name))

    async def serve_stdio(self) -> None:
        """Serve the one client on standard input and output, until it closes them or this is cancelled.

        Meanwhile nothing else can read or write there: what is printed goes to standard error.
        """
        try:
            async with stdio_server(stdin=StandardInput()) as (read, write):  # type: ignore[arg-type]
                await self.serve(read, write)
        except* (anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError) as gone:
            _log.debug("it ended with messages under way: %r", gone.exceptions)

    async def serve_lines(self, lines: AsyncIterable[str], out: LineSink) -> None:
        """Serve the one client that sends `lines`, as over standard input and output, until they end."""
        async with stdio_server(stdin=lines, stdout=out) as (read, write):  # type: ignore[arg-type]
            await self.serve(read, write)

    async def serve(self, read: Any, write: Any) -> None:
        """Serve the one client at the other end of a transport of the library's, until it leaves."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._tell_changes)
            await self._server.run(read, write, self._server.create_initialization_options())
            tasks.cancel_scope.cancel()

    async def serve_http(self, port: Port) -> None:
        """Serve all clients that come to a port of this machine with its token, until cancelled.

        Requests that a web page could have sent (another Host or Origin than this machine's) are refused,
        with the token or without it.
        """
        import uvicorn

        address = f"{LOOPBACK}:{port.listening.getsockname()[1]}"
        own = [address, address.replace(LOOPBACK, "localhost")]
        app = self._server.streamable_http_app(
            streamable_http_path=PATH,
            transport_security=TransportSecuritySettings(
                allowed_hosts=own, allowed_origins=[f"http://{host}" for host in own]
            ),
        )
        config = uvicorn.Config(
            with_token(app, port.token),
            log_config=None,
            access_log=False,
            ws="none",
            timeout_graceful_shutdown=1,
        )

        class Http(uvicorn.Server):
            @contextmanager
            def capture_signals(self) -> Iterator[None]:
                yield  # they are the command's

        http = Http(config)

        async def end_when_cancelled() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                http.should_exit = True

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._tell_changes)
            tasks.start_soon(end_when_cancelled)
            with anyio.CancelScope(shield=True):
                await http.serve(sockets=[port.listening])
            tasks.cancel_scope.cancel()

    async def _list(
        self, ctx: ServerRequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        del params  # there is one page
        if ctx.protocol_version < _ROUNDS_SINCE:
            key = _session_key(ctx)
            self._listeners[key] = ctx.session
            self._listeners.move_to_end(key)
            if len(self._listeners) > _MOST_SESSIONS:
                self._listeners.popitem(last=False)
        return types.ListToolsResult(tools=[_listed(tool) for tool in self._tools.tools()])

    async def _call(
        self, ctx: ServerRequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool_call_id.set(str(ctx.request_id))
        result: types.CallToolResult | types.InputRequiredResult
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_show_signs_of_life, ctx.session)
            if ctx.protocol_version < _ROUNDS_SINCE:
                _caller.set(_Session(ctx))
                result = _told(await self._tools.call(params.name, params.arguments or {}))
            else:
                result = await self._round(_Rounds(ctx, params), params)
            tasks.cancel_scope.cancel()
        return result

    async def _round(
        self, rounds: "_Rounds", params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        _caller.set(rounds)
        with rounds.scope:
            return _told(await self._tools.call(params.name, params.arguments or {}))
        return rounds.needs()

    async def _list_prompts(
        self, ctx: ServerRequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        del ctx, params
        listed = [
            types.Prompt(name=each.name, description=each.description) for each in self._prompts.values()
        ]
        return types.ListPromptsResult(prompts=listed)

    async def _get_prompt(
        self, ctx: ServerRequestContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        del ctx
        prompt = self._prompts.get(params.name)
        if prompt is None:
            names = ", ".join(self._prompts)
            raise MCPError(
                types.INVALID_PARAMS, f"There is no prompt named {params.name!r}. Prompts: {names}."
            )
        content = types.TextContent(text=await prompt.run())
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    async def _tell_changes(self) -> None:
        """Tell all clients whenever the set of tools has changed: each protocol has its own way."""
        changed = anyio.Event()

        def note(_: tuple[Tool, ...]) -> None:
            changed.set()

        unsubscribe = self._tools.on_change(note)
        try:
            async with anyio.create_task_group() as telling:  # one that reads nothing holds up no other
                while True:
                    await changed.wait()
                    changed = anyio.Event()
                    await self._bus.publish(ToolsListChanged())
                    for key, session in self._listeners.items():
                        telling.start_soon(self._tell_change, key, session)
        finally:
            unsubscribe()

    async def _tell_change(self, key: str, session: ServerSession) -> None:
        try:
            await session.send_tool_list_changed()
        except (MCPError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            _log.info("a client that is gone was not told of the change: %r", error)
            self._listeners.pop(key, None)


async def _show_signs_of_life(session: ServerSession) -> None:
    """Report progress, where the client asked for it: many give up a call that is silent for a minute."""
    with suppress(MCPError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        for count in itertools.count(1):
            await anyio.sleep(_SIGN_OF_LIFE_S)
            await session.report_progress(count)


class _Server(Server[Any]):
    """The library's server, which says by whatever way it is asked that its list of tools changes."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


class _Session:
    """The client of a call up to protocol 2025-11-25: it is asked while the call runs."""

    def __init__(self, ctx: ServerRequestContext) -> None:
        self._ctx = ctx
        self.key = _session_key(ctx)
        self.dialect = FormDialect.TITLED if ctx.protocol_version >= _TITLES_SINCE else FormDialect.NAMED

    @property
    def forms(self) -> FormClient | None:
        return self if _shows_forms(self._ctx) else None

    async def elicit(self, form: Form, /) -> FormReply:
        try:
            result = await self._ctx.session.elicit_form(
                form.message, dict(form.schema), self._ctx.request_id
            )
        except MCPError as error:
            if error.error.code == _CLOSED:
                raise ClientLost("the client went away before the form was answered") from error
            raise NoInterface(f"the client did not show the form ({error.error.message})") from error
        except ValidationError as error:
            raise ClientLost("the client answered the form with what is no reply to one") from error
        return _reply(result)


class _Rounds:
    """The client of a call from protocol 2026-07-28 on: it gets the form as the result, and calls again.

    `scope` is cancelled, and the call in it, when a form is needed that has no reply yet.
    """

    key = None
    dialect = FormDialect.TITLED

    def __init__(self, ctx: ServerRequestContext, params: types.CallToolRequestParams) -> None:
        self._ctx = ctx
        self._replies = _recorded(params.request_state)
        if params.request_state is not None:  # without it nobody was asked, whatever else came
            came = (params.input_responses or {}).get(_FORM)
            if isinstance(came, types.ElicitResult):
                self._replies.append(_reply(came))
        self._given = 0
        self._needed: Form | None = None
        self.scope = anyio.CancelScope()

    @property
    def forms(self) -> FormClient | None:
        return self if _shows_forms(self._ctx) else None

    async def elicit(self, form: Form, /) -> FormReply:
        if self._given == len(self._replies):
            self._needed = form
            self.scope.cancel()
            await anyio.sleep_forever()
        self._given += 1
        return self._replies[self._given - 1]

    def needs(self) -> types.InputRequiredResult:
        """Return the form that is needed, with the replies so far for the client to bring back."""
        assert self._needed is not None
        asked = types.ElicitRequest(
            params=types.ElicitRequestFormParams(
                message=self._needed.message, requested_schema=dict(self._needed.schema)
            )
        )
        state = json.dumps([{"action": reply.action, "content": reply.content} for reply in self._replies])
        return types.InputRequiredResult(input_requests={_FORM: asked}, request_state=state)


def _recorded(state: str | None) -> list[FormReply]:
    """Return the replies of earlier rounds. It is our own text: the library refuses what we did not seal."""
    return [FormReply(FormAction(entry["action"]), entry["content"]) for entry in json.loads(state or "[]")]


def _reply(result: types.ElicitResult) -> FormReply:
    return FormReply(FormAction(result.action), dict(result.content or {}))


def _shows_forms(ctx: ServerRequestContext) -> bool:
    capabilities = ctx.session.client_capabilities
    can = capabilities.elicitation if capabilities else None
    if can is None or ctx.protocol_version < _FORMS_SINCE:
        return False
    return can.form is not None or can.url is None  # the first protocol with forms had no names for kinds


def _session_key(ctx: ServerRequestContext) -> str:
    """Return what tells a connection from others: each has a life of its own, or over HTTP a session's id."""
    headers = getattr(ctx.request, "headers", None)
    session = headers.get("mcp-session-id", "") if headers is not None else ""
    return f"{id(ctx.lifespan_context)} {session}"


def _listed(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.parameters),
        annotations=types.ToolAnnotations(read_only_hint=True),
    )


def _told(result: ToolResult) -> types.CallToolResult:
    # Some clients (Claude Code 2) show their model the structured content and not the text, where there is
    # one: so the text is in it as well.
    return types.CallToolResult(
        content=[types.TextContent(text=result.text)],
        structured_content={"text": result.text, **result.details},
        is_error=result.is_error,
    )
