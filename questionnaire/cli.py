"""The command `questionnaire`: shell scripts ask a person what a model would ask."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from questionnaire.contracts import CONTRACTS
from questionnaire.errors import InvalidQuestionnaire, NoInterface
from questionnaire.model import Status
from questionnaire.presenters.base import Presenter
from questionnaire.progress import Interview
from questionnaire.tool import ToolResult

EXIT_ANSWERED, EXIT_NOT_ANSWERED, EXIT_UNUSABLE, EXIT_NO_TERMINAL, EXIT_INTERRUPTED = 0, 1, 2, 3, 130

_contract = click.option(
    "--contract",
    "contract_name",
    type=click.Choice(list(CONTRACTS)),
    default="choices",
    show_default=True,
    help="The form of the questions and of the result.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="viva-voce")
def main() -> None:
    """Ask a person a question with a few answers to choose from."""


@main.command()
@click.argument("file", metavar="FILE.json|-")
@_contract
@click.option("--linear", is_flag=True, help="Ask with plain lines, as a screen reader wants them.")
def ask(file: str, contract_name: str, linear: bool) -> None:
    """Ask the questions in FILE.json (- for standard input) on the controlling terminal.

    Prints one JSON object, {"text", "details", "isError"}, on standard output, whatever happens. Esc
    declines; with --linear, and on a terminal that can only print, Ctrl-D does.

    Exit codes: 0 answered, 1 declined or cancelled, 2 unusable input, 3 no terminal, 130 interrupted.
    """
    import anyio

    from questionnaire.asking import conduct, result_of
    from questionnaire.presenters.terminal import INTERRUPTED

    contract = CONTRACTS[contract_name]
    try:
        questionnaire = contract.read(_arguments(file))
    except InvalidQuestionnaire as error:
        _finish(contract.failure(error, None), EXIT_UNUSABLE)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    interview = Interview(questionnaire)
    try:
        with _presenter(linear=linear or _only_prints()) as presenter:
            outcome = anyio.run(conduct, presenter, interview)
    except NoInterface as error:
        _finish(contract.failure(error, questionnaire), EXIT_NO_TERMINAL)
    except KeyboardInterrupt:
        interview.end(Status.CANCELLED, INTERRUPTED)
        assert interview.outcome is not None
        _finish(result_of(contract, questionnaire, interview.outcome), EXIT_INTERRUPTED)
    result = result_of(contract, questionnaire, outcome)
    if outcome.status is Status.NEVER_SHOWN:
        _finish(result, EXIT_NO_TERMINAL)
    if outcome.status is Status.CANCELLED and outcome.reason == INTERRUPTED:
        _finish(result, EXIT_INTERRUPTED)
    _finish(result, EXIT_NOT_ANSWERED if result.details["cancelled"] else EXIT_ANSWERED)


@main.command()
@_contract
def schema(contract_name: str) -> None:
    """Print the tool as a model sees it: name, description and the JSON Schema of its arguments."""
    tool = CONTRACTS[contract_name].tool
    shown = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    click.echo(json.dumps(shown, indent=2))


@contextmanager
def _presenter(*, linear: bool) -> Iterator[Presenter]:
    import time

    if linear:
        from questionnaire.presenters.linear import LinearPresenter
        from questionnaire.presenters.lines import controlling_terminal

        with controlling_terminal() as terminal:
            yield LinearPresenter(terminal, time.time)
    else:
        from questionnaire.presenters.terminal import TerminalPresenter

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


def _finish(result: ToolResult, exit_code: int) -> NoReturn:
    shown = {"text": result.text, "details": result.details, "isError": result.is_error}
    # ASCII, since the texts are hostile and standard output may be a terminal.
    click.echo(json.dumps(shown))
    sys.exit(exit_code)
