"""The Agent Client Protocol, client's side. The only file that imports its library.

The library trusts what comes and logs what it cannot use on the root logger; so a `_Door` in front of it lets
in nothing but messages of a form that it can use.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Protocol, cast

import anyio
from acp import PROTOCOL_VERSION, Client, RequestError, connect_to_agent, text_block
from acp.schema import (
    AcceptElicitationResponse,
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    AllowedOutcome,
    CancelElicitationResponse,
    ClientCapabilities,
    ContentToolCallContent,
    DeclineElicitationResponse,
    DeniedOutcome,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    ElicitationFormRequestMode,
    ElicitationFormSessionMode,
    Implementation,
    McpServerStdio,
    PermissionOption,
    RequestPermissionResponse,
    SessionNotification,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    UserMessageChunk,
)
from pydantic import ValidationError

from questionnaire import FormAction, FormReply, InvalidQuestionnaire, NoInterface
from voice.errors import HostDied, HostError
from voice.hosts.acp.program import Program
from voice.hosts.acp.remarks import Remarks, is_of_subagent
from voice.hosts.acp.requests import Choice, Permission

_log = logging.getLogger(__name__)

_AUTH_REQUIRED = -32000
"""The protocol's error code for an agent that wants its user to log in."""

_ENDS_WITHIN_S = 1.0
"""How long after its last line a program may take to end."""

_UPDATES = "session/update"

_REASONS = {
    "max_tokens": "The agent has used up the tokens of its turn.",
    "max_turn_requests": "The agent has used up the requests of its turn.",
    "refusal": "The agent refuses to go on with that.",
}
"""What a person is told of the reasons for a turn's end; the others are its end and its cancelling."""


class Ears(Protocol):
    """Who hears what the agent does, and answers what it asks."""

    def works(self) -> None:
        """The agent does something that belongs to its turn, before what that is is told."""
        ...

    def wrote(self, text: str) -> None:
        """The agent wrote a further part of a message."""
        ...

    def paused(self) -> None:
        """The agent's message up to here is a whole."""
        ...

    def remarked(self, text: str) -> None:
        """The agent's adapter says something of its own."""
        ...

    def called(self, name: str, text: str, is_error: bool) -> None:
        """A tool of the agent's own has ended."""
        ...

    async def allow(self, permission: Permission) -> str | None:
        """Have a person choose; the id of the choice, None where none was made."""
        ...

    async def fill_in(self, message: str, schema: Mapping[str, Any]) -> FormReply:
        """Have a person fill in a form."""
        ...


class Connection:
    """One session with the agent behind a program."""

    def __init__(self, program: Program, ears: Ears) -> None:
        self._program = program
        self._client = _Client(ears)
        self._door = _Door(program, ears)
        self._agent = connect_to_agent(cast("Client", self._client), self._door, use_unstable_protocol=True)
        self._session = ""
        self._ways_in: list[str] = []
        self.agent_name = program.name

    @property
    def closed(self) -> bool:
        """Whether the program has closed its side."""
        return self._door.closed.is_set()

    async def ended(self) -> str:
        """Wait until the program has ended, or has closed its side; the sentence that says so."""
        await self._door.closed.wait()
        return await self._how()

    async def start(self, folder: str, servers: Sequence[tuple[str, Sequence[str]]], within_s: float) -> None:
        """Agree on the protocol and begin a session in a folder, with MCP servers (name, command line).

        Raises `HostError`.
        """
        try:
            with anyio.fail_after(within_s):
                hello = await self._agent.initialize(
                    PROTOCOL_VERSION,
                    ClientCapabilities(
                        elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities())
                    ),
                    Implementation(name="viva-voce", title="Viva Voce", version=version("viva-voce")),
                )
                if hello.agent_info is not None:
                    self.agent_name = hello.agent_info.title or hello.agent_info.name
                if hello.protocol_version != PROTOCOL_VERSION:
                    raise HostError(
                        f"{self.agent_name} speaks version {hello.protocol_version} of the Agent Client"
                        f" Protocol, and version {PROTOCOL_VERSION} is needed.",
                        mend="a newer version of the agent, or of this program",
                    )
                self._ways_in = [method.description or method.name for method in hello.auth_methods or []]
                session = await self._agent.new_session(
                    folder,
                    mcp_servers=[
                        McpServerStdio(name=name, command=command[0], args=list(command[1:]), env=[])
                        for name, command in servers
                    ],
                )
        except TimeoutError:
            raise HostDied(
                f"{self._program.name} did not answer within {within_s:.0f} s{self._program.last_words}.",
                mend="try whether it speaks the Agent Client Protocol: many agents need an option for it",
            ) from None
        except RequestError as error:
            raise self._refusal(error) from error
        except ValidationError as error:
            raise self._misfit(error) from error
        except (ConnectionError, HostDied) as error:
            raise HostDied(await self._how()) from error
        self._session = session.session_id
        self._client.session = session.session_id
        self._client.remarks = Remarks(session.field_meta)

    async def prompt(self, text: str) -> str:
        """Have the agent take a turn; "" when it is over, or a sentence where it ended by an error.

        Raises `HostDied` when the program ends meanwhile.
        """
        try:
            answer = await self._agent.prompt(self._session, [text_block(text)])
        except RequestError as error:
            return self._refusal(error).sentence
        except ValidationError as error:
            return self._misfit(error).sentence
        except (ConnectionError, HostDied) as error:
            raise HostDied(f"{self._program.name} ended in the middle of its turn.") from error
        return _REASONS.get(answer.stop_reason, "")

    async def cancel(self) -> None:
        """Have the agent stop its turn; what it asks is taken back. Raises `HostDied`."""
        self._client.take_back()
        try:
            await self._agent.cancel(self._session)
        except (ConnectionError, HostDied) as error:
            raise HostDied(f"{self._program.name} takes no messages any more.") from error

    async def close(self) -> None:
        """Let go of the program."""
        self._client.take_back()
        await self._agent.close()

    def _refusal(self, error: RequestError) -> HostError:
        if error.code == _AUTH_REQUIRED:
            return HostError(
                f"{self.agent_name} wants you to log in first.",
                mend="; or: ".join(self._ways_in) or "log in with the agent's own program, then come back",
            )
        data = error.data if isinstance(error.data, dict) else {}
        details = data.get("details") or data.get("message") or ""
        why = " ".join(f"{error} {details}".split())[:300]
        return HostError(f"{self.agent_name} refused it: {why.rstrip('.')}.")

    def _misfit(self, error: ValidationError) -> HostDied:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        return HostDied(
            f"{self.agent_name} answered with what is not the Agent Client Protocol (at {place or 'all'})."
        )

    async def _how(self) -> str:
        """How the program ended; most close their output by that."""
        with anyio.move_on_after(_ENDS_WITHIN_S):
            return await self._program.ended()
        return f"{self._program.name} has closed its output{self._program.last_words}."


class _Client:
    """What the agent asks of us and tells us; the library finds its methods by their names."""

    def __init__(self, ears: Ears) -> None:
        self._ears = ears
        self._asking: set[anyio.CancelScope] = set()
        self._calls: dict[str, _Call] = {}
        """The tool calls that go on; what is said of one again is only what has changed."""
        self._message: str | None = None
        self.remarks = Remarks(None)
        self.session = ""

    def take_back(self) -> None:
        """What is being asked is answered as cancelled, as the protocol has it for a cancelled turn."""
        for scope in self._asking:
            scope.cancel()

    async def session_update(self, session_id: str, update: Any, **meta: Any) -> None:  # noqa: ARG002
        if self.session and session_id != self.session:
            return  # of a session that the agent has begun by itself
        if isinstance(update, UserMessageChunk | AgentThoughtChunk | AgentPlanUpdate):
            self._ears.works()
        match update:
            case AgentMessageChunk(content=TextContentBlock(text=text)):
                if self.remarks.is_banner(text):
                    return
                if self.remarks.is_remark(text, update.field_meta):
                    self._ears.remarked(text)
                    return
                self._ears.works()
                if is_of_subagent(update.field_meta):
                    return
                if update.message_id != self._message:
                    self._message = update.message_id
                    self._ears.paused()
                self._ears.wrote(text)
            case ToolCallStart() | ToolCallProgress():
                self._ears.works()
                self._ears.paused()
                self._hear_of_tool(update)

    async def request_permission(
        self,
        session_id: str,  # noqa: ARG002
        tool_call: ToolCallUpdate,
        options: list[PermissionOption],
        **meta: Any,  # noqa: ARG002
    ) -> RequestPermissionResponse:
        self._ears.works()
        call = self._calls.get(tool_call.tool_call_id, _Call()).changed(tool_call)
        choices = [Choice(option.option_id, option.name, option.kind) for option in options]
        permission = Permission(call.title, choices, call.kind, call.input)
        chosen: str | None = None
        if choices:
            with self._until_taken_back():
                chosen = await self._ears.allow(permission)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    async def create_elicitation(
        self,
        message: str,
        mode: Any,
        **meta: Any,  # noqa: ARG002
    ) -> AcceptElicitationResponse | DeclineElicitationResponse | CancelElicitationResponse:
        if not isinstance(mode, ElicitationFormSessionMode | ElicitationFormRequestMode):
            raise RequestError.invalid_params({"details": "only forms can be shown here"})
        self._ears.works()
        schema = mode.requested_schema.model_dump(mode="json", by_alias=True, exclude_none=True)
        reply = FormReply(FormAction.CANCEL)
        try:
            with self._until_taken_back():
                reply = await self._ears.fill_in(message, schema)
        except InvalidQuestionnaire as error:
            raise RequestError.invalid_params({"details": str(error)}) from error
        except NoInterface as error:
            raise RequestError.internal_error({"details": f"the user did not see it: {error}"}) from error
        if reply.action is FormAction.ACCEPT:
            return AcceptElicitationResponse.model_validate(
                {
                    "action": "accept",
                    "content": {name: value for name, value in reply.content.items() if value is not None},
                }
            )
        if reply.action is FormAction.DECLINE:
            return DeclineElicitationResponse(action="decline")
        return CancelElicitationResponse(action="cancel")

    async def complete_elicitation(self, elicitation_id: str, **meta: Any) -> None:
        """Of addresses, which we do not open."""

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        raise RequestError.method_not_found(f"_{method}")

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Extensions of others."""

    @contextmanager
    def _until_taken_back(self) -> Iterator[None]:
        """Ask inside of this; when it is taken back, what follows is reached without an answer."""
        with anyio.CancelScope() as scope:
            self._asking.add(scope)
            try:
                yield
            except Exception as error:
                if isinstance(error, InvalidQuestionnaire | NoInterface):
                    raise
                _log.exception("a question of the agent could not be asked")
                raise RequestError.internal_error({"details": "the user could not be asked"}) from error
            finally:
                self._asking.discard(scope)

    def _hear_of_tool(self, update: ToolCallStart | ToolCallProgress) -> None:
        key = update.tool_call_id
        call = self._calls[key] = self._calls.get(key, _Call()).changed(update)
        if update.status in ("completed", "failed"):
            del self._calls[key]
            if not call.title:
                return
            text = "\n".join(
                content.content.text
                for content in update.content or []
                if isinstance(content, ContentToolCallContent)
                and isinstance(content.content, TextContentBlock)
            )
            self._ears.called(call.title, text, update.status == "failed")


@dataclass(frozen=True)
class _Call:
    """What the agent has said of a tool call of its own by now."""

    title: str = ""
    kind: str | None = None
    input: Any = None

    def changed(self, update: ToolCallStart | ToolCallProgress | ToolCallUpdate) -> _Call:
        given = update.raw_input
        return _Call(
            update.title or self.title, update.kind or self.kind, self.input if given is None else given
        )


class _Door:
    """The transport that the library reads: nothing comes through that it could not use."""

    def __init__(self, program: Program, ears: Ears) -> None:
        self._program = program
        self._ears = ears
        self.closed = anyio.Event()

    async def receive(self) -> dict[str, Any] | None:
        """The next message that has the form of one; None at the end."""
        while True:
            try:
                message = await self._program.receive()
            except anyio.EndOfStream:
                self.closed.set()
                return None
            match _kind_of(message):
                case "request" | "response":
                    return _without_meta(message)
                case "notification" if _is_known(message):
                    return _without_meta(message)
                case "notification" if notice := _notice(message):
                    self._ears.remarked(notice)
                case "":
                    self._program.complain_once(
                        "sent what is no message of its protocol; it was passed over."
                    )

    async def send(self, message: Mapping[str, Any]) -> None:
        """Write a message. Raises `HostDied`, but not for answers: nobody misses one where nobody is left."""
        if message.get("method") == "initialize":
            # A capability that the library does not know yet. With it the Claude agent's adapter sends its
            # own remarks as what they are; without it, as the agent's words.
            able = message["params"].setdefault("clientCapabilities", {})
            able["session"] = {**(able.get("session") or {}), "notices": {}}
        try:
            await self._program.send(message)
        except HostDied:
            if "method" in message:
                raise

    async def close(self) -> None:
        """The program is ended by whoever started it."""


def _kind_of(message: Any) -> str:
    """Whether a message is a request, a notification or a response by its form; "" where it is none."""
    if not isinstance(message, dict):
        return ""
    key = message.get("id")
    if "method" in message:
        if not isinstance(message["method"], str) or not isinstance(message.get("params", {}), dict | None):
            return ""
        if "id" not in message:
            return "notification"
        return "request" if isinstance(key, str | int | None) else ""
    error = message.get("error")
    failed = (
        isinstance(error, dict)
        and isinstance(error.get("code"), int)
        and isinstance(error.get("message"), str)
    )
    return "response" if isinstance(key, int) and ("result" in message or failed) else ""


def _is_known(notification: Mapping[str, Any]) -> bool:
    """Whether it is an update of a kind that we know; newer kinds are passed over, as the protocol wants."""
    if notification["method"] != _UPDATES:
        return False
    try:
        SessionNotification.model_validate(notification.get("params"))
    except ValidationError:
        return False
    return True


def _notice(notification: Mapping[str, Any]) -> str:
    """The text of a notice (an update that the library does not know yet), "" of anything else."""
    params = notification.get("params")
    update = params.get("update") if isinstance(params, dict) else None
    if not isinstance(update, dict) or update.get("sessionUpdate") != "notice":
        return ""
    texts = [update.get(part) for part in ("title", "description")]
    return ": ".join(text for text in texts if isinstance(text, str) and text.strip())


def _without_meta(message: dict[str, Any]) -> dict[str, Any]:
    """A message without the metadata of its parameters, which the library would take for parameters."""
    params = message.get("params")
    if not isinstance(params, dict) or "_meta" not in params:
        return message
    return {**message, "params": {name: value for name, value in params.items() if name != "_meta"}}
