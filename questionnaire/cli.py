"""The command `questionnaire`: shell scripts ask a person what a model would ask."""

import errno
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from questionnaire.contracts import CONTRACTS
from questionnaire.display import printable, quoted
from questionnaire.errors import (
    BadComposition,
    BadSettings,
    InvalidQuestionnaire,
    LibraryMissing,
    NoInterface,
    QuestionnaireError,
    SocketUnusable,
)
from questionnaire.model import Outcome, Questionnaire, Status
from questionnaire.presenters.base import Presenter
from questionnaire.tool import ToolResult

if TYPE_CHECKING:
    from questionnaire.attention import Attention
    from questionnaire.settings import QuestionnaireSettings

EXIT_ANSWERED, EXIT_NOT_ANSWERED, EXIT_UNUSABLE, EXIT_NO_TERMINAL, EXIT_UNWRITTEN = 0, 1, 2, 3, 4
EXIT_MISSING = 3
EXIT_INTERRUPTED = 130
_SIGNALLED = 128
"""What a shell adds to the number of the signal that ended a process."""

_contract = click.option(
    "--contract",
    "contract_name",
    type=click.Choice(list(CONTRACTS)),
    help="The form of the questions and of the result. Left out, the settings say: choices, unless changed.",
)


class _AsJson(click.Command):
    """A command whose every error is one JSON object on standard output, a wrong option included."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            _finish(_not_asked("usage", error.format_message()), EXIT_UNUSABLE)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="viva-voce")
def main() -> None:
    """Ask a person a question with a few answers to choose from."""


@main.command(cls=_AsJson)
@click.argument("file", metavar="FILE.json|-")
@_contract
@click.option("--linear", is_flag=True, help="Ask with plain lines, as a screen reader wants them.")
@click.option("--mode", metavar="NAME", help="The mode of the session; it has to load questionnaire.")
@click.option("--mirror", type=click.Path(path_type=Path), metavar="SOCKET", help="Let others answer, too.")
def ask(file: str, contract_name: str | None, linear: bool, mode: str | None, mirror: Path | None) -> None:
    """Ask the questions in FILE.json (- for standard input) on the controlling terminal.

    Prints one JSON object, {"text", "details", "isError"}, on standard output, whatever happens. Esc
    declines; with --linear, and on a terminal that can only print, Ctrl-D does.

    With --mirror others may answer as well, through a socket that is made there (see `questionnaire
    answer`): the first valid answer wins. Then no terminal is needed.

    Exit codes: 0 answered, 1 declined or cancelled, 2 unusable input, 3 nobody was reached (no terminal, or
    nothing was shown), 4 the result could not be written, 130 interrupted, 143 or 129 ended by SIGTERM or
    SIGHUP: then, too, what was answered before is printed.
    """
    import anyio

    from questionnaire.asking import result_of
    from questionnaire.presenters.terminal import INTERRUPTED
    from questionnaire.settings import load_settings

    contract = CONTRACTS[contract_name or "choices"]
    try:
        settings = load_settings()
        contract = CONTRACTS[contract_name or settings.contract]
        _check_mode(mode, settings.modes_file)
        questionnaire = contract.read(_arguments(file))
    except (InvalidQuestionnaire, BadSettings, BadComposition) as error:
        _finish(contract.failure(error, None), EXIT_UNUSABLE)
    except KeyboardInterrupt:
        _finish(_not_asked("interrupted", "Interrupted before anything was asked."), EXIT_INTERRUPTED)
    try:
        with _presenter(linear=linear or _only_prints(), needed=mirror is None) as presenter:
            outcome, came = anyio.run(_conducted, presenter, questionnaire, settings, mirror)
    except SocketUnusable as error:
        _finish(contract.failure(error, questionnaire), EXIT_UNUSABLE)
    except NoInterface as error:
        _finish(contract.failure(error, questionnaire), EXIT_NO_TERMINAL)
    except KeyboardInterrupt:
        _finish(
            result_of(contract, questionnaire, Outcome(Status.CANCELLED, reason=INTERRUPTED)),
            EXIT_INTERRUPTED,
        )
    result = result_of(contract, questionnaire, outcome)
    if came is not None:
        _finish(result, _SIGNALLED + came)
    if result.is_error:  # it was never shown, or holds an answer that nobody can have given
        _finish(result, EXIT_NO_TERMINAL)
    if outcome.status is Status.CANCELLED and outcome.reason == INTERRUPTED:
        _finish(result, EXIT_INTERRUPTED)
    _finish(result, EXIT_NOT_ANSWERED if result.details["cancelled"] else EXIT_ANSWERED)


@main.command()
@click.argument("socket", metavar="SOCKET", type=click.Path(path_type=Path))
@click.argument("replies", metavar="[REPLY]...", nargs=-1)
@click.option(
    "--request", "request_id", default="", metavar="ID", help="Which request; left out, the oldest."
)
@click.option("--linear", is_flag=True, help="Ask with plain lines, as a screen reader wants them.")
def answer(socket: Path, replies: tuple[str, ...], request_id: str, linear: bool) -> None:
    """Answer what is being asked at SOCKET, here or with one REPLY a question.

    A reply is a row's number, its label or your own words; several rows are separated by commas, and an
    empty one skips an optional question. Prints {"accepted", "refused", "closed"}: how many answers were
    accepted, why one was not, and how the call was closed.

    Exit codes: 0 all accepted, 1 refused or closed elsewhere, 2 nothing to answer (nobody is there, or what
    is there hangs up or speaks something else), no such choice or too many replies, 3 no terminal, or it was
    lost, 4 the result could not be written, 130 interrupted.
    """
    import anyio

    from questionnaire.answering import Replies, answer_at
    from questionnaire.presenters.terminal import INTERRUPTED

    try:
        if replies:
            answered = anyio.run(answer_at, socket, Replies(replies), request_id)
        else:
            with _presenter(linear=linear or _only_prints()) as presenter:
                assert presenter is not None
                answered = anyio.run(answer_at, socket, presenter, request_id)
    except (SocketUnusable, NoInterface) as error:
        click.echo(printable(str(error)), err=True)
        no_terminal = isinstance(error, NoInterface) and not replies
        sys.exit(EXIT_NO_TERMINAL if no_terminal else EXIT_UNUSABLE)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    shown = {"accepted": answered.accepted, "refused": answered.refused, "closed": answered.closed}
    code = EXIT_ANSWERED
    if answered.left:
        code = EXIT_INTERRUPTED if answered.left == INTERRUPTED else EXIT_NO_TERMINAL
    _print(json.dumps(shown), code)
    if code:
        sys.exit(code)
    sys.exit(EXIT_ANSWERED if answered.accepted and not answered.refused else EXIT_NOT_ANSWERED)


@main.command()
@_contract
def schema(contract_name: str | None) -> None:
    """Print the tool as a model sees it: name, description and the JSON Schema of its arguments."""
    if contract_name is None:
        from questionnaire.settings import load_settings

        with _explained():
            contract_name = load_settings().contract
    tool = CONTRACTS[contract_name].tool
    shown = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    _print(json.dumps(shown, indent=2))


@main.command()
@click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="The composition. Left out, the settings name it, or else it is the nearest .po/modes.yaml.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def modes(file: Path | None, as_json: bool) -> None:
    """List the modes that a session can be started in, and the packages that each of them loads."""
    from questionnaire.composition import find, load
    from questionnaire.settings import load_settings

    with _explained():
        composition = load(file or load_settings().modes_file or find())
    if as_json:
        listed = [asdict(mode) for mode in composition.modes.values()]
        _print(json.dumps({"file": composition.source, "modes": listed}, indent=2))
        return
    for mode in composition.modes.values():
        _print(f"{printable(mode.name)}: {', '.join(mode.packages) or 'nothing'}")
        if mode.description:
            _print(f"    {printable(mode.description)}")
        _print(f"    layers: {printable(', '.join(mode.layers))}")


@main.command("mcp")
@click.option(
    "--contract",
    type=click.Choice(["choices", "form"]),
    help="What ask_user_question means to a model. Left out, the settings say: choices, unless changed.",
)
@click.option(
    "--http",
    "port",
    type=click.IntRange(0, 65_535),
    metavar="PORT",
    help="Serve over HTTP on this machine, at this port; 0 takes a free one.",
)
def serve_mcp(contract: str | None, port: int | None) -> None:
    """Serve ask_user_question and user_select to an MCP client, on standard input and output.

    The client shows the questions, as forms (elicitation). Where it shows none, a call is an error that says
    that the user saw nothing.

    With --http, clients need the token in VIVA_VOICE_TOKEN (16 characters or more); without that variable
    one is made, and printed on standard error with the address.

    Exit codes: 0 the client has left, 2 settings, token or port that cannot be used, 3 the extra mcp is
    missing, 130 interrupted, 143 or 129 ended by SIGTERM or SIGHUP.
    """
    import time

    import anyio

    from questionnaire.endpoints import TOKEN, check_streams, open_port, until_signalled, waiting_told
    from questionnaire.restrictions import AdjustableToolset
    from questionnaire.settings import load_settings

    with _explained():
        settings = load_settings()
        at = None if port is None else open_port(port, os.environ)
        if at is None:
            check_streams()
    try:
        from questionnaire.server import ToolServer, configured_toolset
    except ImportError as error:
        click.echo(printable(str(LibraryMissing("mcp", error))), err=True)
        sys.exit(EXIT_MISSING)
    tools = configured_toolset(
        settings,
        contract=contract,  # type: ignore[arg-type]  # click knows the names
        attention=tuple(_attention(settings)),
        clock=time.time,
    )
    server = ToolServer("questionnaire", AdjustableToolset(tools), version=version("viva-voce"))

    async def serve_stdio() -> None:
        if waiting := waiting_told("questionnaire mcp"):
            click.echo(waiting, err=True)
        await server.serve_stdio()

    serve: Callable[[], Awaitable[None]] = serve_stdio
    if at is not None:
        token = f"with the token {at.token}" if at.made else f"with the token in {TOKEN}"
        click.echo(f"questionnaire: serving at {at.address} {token}", err=True)
        serve = partial(server.serve_http, at)
    came = anyio.run(until_signalled, serve)
    sys.exit(EXIT_ANSWERED if came is None else _SIGNALLED + came)


def _check_mode(mode: str | None, modes_file: Path | None) -> None:
    """Raise `BadComposition` where a session in this mode asks nobody anything."""
    if mode is None:
        return
    from questionnaire.composition import packages_for

    if "questionnaire" not in packages_for(mode, modes_file):
        raise BadComposition(f"The mode {quoted(mode)} does not load questionnaire, so nothing was asked.")


@contextmanager
def _explained() -> Iterator[None]:
    """Say in one sentence on standard error what cannot be used."""
    try:
        yield
    except QuestionnaireError as error:
        click.echo(printable(str(error)), err=True)
        sys.exit(EXIT_UNUSABLE)


async def _conducted(
    presenter: Presenter | None,
    questionnaire: Questionnaire,
    settings: "QuestionnaireSettings",
    mirror: Path | None,
) -> tuple[Outcome, int | None]:
    """Ask as the settings say, and let others answer at the socket `mirror`.

    Returns how it ended, and the number of the signal that ended it, where one did. Only the first signal is
    taken: a second one ends the process as if nobody had handled it.
    """
    import time

    import anyio
    from anyio.abc import TaskStatus

    from questionnaire.coordinator import Coordinator
    from questionnaire.limits import TimeOut
    from questionnaire.mirrors import Mirrors
    from questionnaire.presenters.terminal import INTERRUPTED
    from questionnaire.sockets import serve_mirrors

    mirrors = Mirrors(time.time)
    coordinator = Coordinator(
        presenter,
        mirrors=mirrors,
        time_out=TimeOut(settings.timeout_s, settings.timeout_action) if settings.timeout_s else None,
        attention=tuple(_attention(settings)),
        clock=time.time,
    )
    asking = anyio.CancelScope()
    outcome: Outcome | None = None
    came: signal.Signals | None = None
    begun = False
    unusable: SocketUnusable | None = None

    async def end_on_signal(*, task_status: TaskStatus[None]) -> None:
        nonlocal outcome, came
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
            task_status.started()
            first = await anext(aiter(signals))
        pending = coordinator.pending
        if begun and not pending:
            return  # it has ended, and is just leaving the screen
        came = first
        reason = INTERRUPTED if came is signal.SIGINT else f"ended by {came.name}"
        outcome = Outcome(Status.CANCELLED, pending[0].responses if pending else (), reason)
        asking.cancel()

    async with anyio.create_task_group() as tasks:
        await tasks.start(end_on_signal)
        try:
            if mirror is not None:
                await tasks.start(serve_mirrors, mirrors, mirror)
            with asking:
                begun = True
                outcome = await coordinator.ask(questionnaire)
        except SocketUnusable as error:  # carried out of the task group, which would wrap it
            unusable = error
        tasks.cancel_scope.cancel()
    if unusable is not None:
        raise unusable
    assert outcome is not None
    return outcome, came if outcome.status is Status.CANCELLED else None


def _attention(settings: "QuestionnaireSettings") -> "Iterator[Attention]":
    from questionnaire.attention import Bell, HerdrSocket

    if settings.bell:
        yield Bell.of_terminal()
    if settings.notify_herdr and (herdr := HerdrSocket.from_environment(os.environ)):
        yield herdr


@contextmanager
def _presenter(*, linear: bool, needed: bool = True) -> Iterator[Presenter | None]:
    """Give the presenter of the controlling terminal; where there is none and none is needed, None."""
    import time

    if linear:
        from questionnaire.presenters.linear import LinearPresenter
        from questionnaire.presenters.lines import controlling_terminal

        with ExitStack() as open_terminal:
            try:
                terminal = open_terminal.enter_context(controlling_terminal())
            except NoInterface:
                if needed:
                    raise
                yield None
            else:
                yield LinearPresenter(terminal, time.time)
    else:
        import gc

        from questionnaire.presenters.terminal import TerminalPresenter, load_libraries

        load_libraries()
        gc.freeze()  # they stay; to look through them for garbage would be a pause under the user's fingers
        yield TerminalPresenter(clock=time.time)


def _only_prints() -> bool:
    """Return whether the terminal says that it can do no more than print."""
    return os.environ.get("TERM", "") in ("", "dumb", "unknown")


def _arguments(file: str) -> Mapping[str, Any]:
    """Read the arguments of the call from a JSON file, or raise `InvalidQuestionnaire`."""
    where = "standard input" if file == "-" else file
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        arguments = json.loads(data)
    except OSError as error:
        raise _unreadable(where, f"it could not be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise _unreadable(where, f"it is not JSON ({error})") from error
    if not isinstance(arguments, dict):
        raise _unreadable(where, "it holds no JSON object")
    return arguments


def _unreadable(where: str, came: str) -> InvalidQuestionnaire:
    return InvalidQuestionnaire(
        "unreadable", where, came=came, expected="one JSON object is expected", example='{"questions": [...]}'
    )


def _not_asked(code: str, text: str) -> ToolResult:
    """Return the error of a call that never came to be one."""
    details = {"cancelled": True, "status": str(Status.NEVER_SHOWN), "error": code}
    return ToolResult(text, details, is_error=True)


def _finish(result: ToolResult, exit_code: int) -> NoReturn:
    shown = {"text": result.text, "details": result.details, "isError": result.is_error}
    _print(json.dumps(shown), exit_code)  # ASCII: the texts are hostile, and it may be a terminal
    sys.exit(exit_code)


def _print(text: str, exit_code: int = EXIT_ANSWERED) -> None:
    """Write `text` to standard output, or say why not and exit: for the signal that came, or with 4."""
    if sys.stdout is None:  # it was closed before we began
        _unwritten(os.strerror(errno.EBADF), exit_code)
    try:
        click.echo(text)
    except OSError as error:
        with suppress(OSError):  # what is still in the buffer would fail once more at the exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _unwritten(error.strerror, exit_code)


def _unwritten(why: str | None, exit_code: int) -> NoReturn:
    with suppress(OSError):
        click.echo(f"The result could not be written to standard output: {why}.", err=True)
    sys.exit(exit_code if exit_code > _SIGNALLED else EXIT_UNWRITTEN)
