"""The questionnaire tools: what makes a call of the model's into a question to a person."""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

from questionnaire.answers import check_outcome
from questionnaire.contracts import CONTRACTS, Contract
from questionnaire.coordinator import Coordinator
from questionnaire.display import quoted
from questionnaire.errors import InvalidQuestionnaire, MalformedAnswers, NotShown
from questionnaire.model import Outcome, Questionnaire
from questionnaire.pending import Pending
from questionnaire.presenters.base import Presenter
from questionnaire.tool import ToolResult, tool_call_id
from questionnaire.toolset import FunctionToolset, Handler, Toolset

ASK, SELECT = "ask_user_question", "user_select"

TOOL_NAMES = (ASK, SELECT)
"""The names of the tools that ask a person."""

_LONGEST_INTEGER_BITS = 14_000
"""About 4,200 digits: with more than 4,300, Python raises where a number is written."""

_log = logging.getLogger(__name__)

Meaning = Literal["choices", "form"]
"""The contracts that the name `ask_user_question` can stand for."""


def questionnaire_toolset(asker: Presenter | Coordinator | None, *, contract: Meaning = "choices") -> Toolset:
    """Return the tools that ask: `ask_user_question`, in the sense of `contract`, and `user_select`.

    `asker` is a presenter, or the coordinator of one: whoever keeps it can hand over and dispose of what is
    pending. Questionnaires run one at a time; a second call waits for the first, unless it asks the same.
    Without a presenter, and where it finds nobody to ask, a call is an error that repeats the question,
    never an answer. Cancelling a call takes its questions off the screen.
    """
    coordinator = asker if isinstance(asker, Coordinator) else Coordinator(asker)

    def handler(name: str) -> Handler:
        async def call(arguments: Mapping[str, Any]) -> ToolResult:
            return await _ask(name, arguments, coordinator)

        return call

    return FunctionToolset(*((CONTRACTS[name].tool, handler(name)) for name in (contract, SELECT)))


async def offer_again(coordinator: Coordinator) -> AsyncIterator[tuple[Pending, ToolResult]]:
    """Ask once more what an earlier process left unsettled, and give each result with what it is a result of.

    The calls are gone with that process: a host delivers the results as it sees fit. What no contract could
    tell the result of is logged, and left as it is.
    """
    for pending in coordinator.left_over:
        if pending.kind not in CONTRACTS:
            _log.warning("%s stays pending: its kind %r is no contract", pending.request_id, pending.kind)
            continue
        outcome = await coordinator.ask(pending.questionnaire, kind=pending.kind)
        yield pending, result_of(CONTRACTS[pending.kind], pending.questionnaire, outcome)


def read_questionnaire(
    tool_name: str, arguments: Mapping[str, Any], contract: Meaning | None = None
) -> Questionnaire:
    """Return what a call of `tool_name` (one of `TOOL_NAMES`) asks, without asking it.

    Without `contract`, a call of `ask_user_question` is read under the first meaning that fits it. Raises
    `InvalidQuestionnaire` where the arguments cannot be shown.
    """
    first, *others = (
        CONTRACTS[name]
        for name in ([contract] if contract and tool_name == ASK else CONTRACTS)
        if CONTRACTS[name].tool.name == tool_name
    )
    try:
        return _read(first, arguments)
    except InvalidQuestionnaire:
        for other in others:
            with suppress(InvalidQuestionnaire):
                return _read(other, arguments)
        raise


def result_of(contract: Contract, questionnaire: Questionnaire, outcome: Outcome) -> ToolResult:
    """Return what the model gets of an outcome; one that cannot be true is an error, never an answer.

    Where a surface could not show all of a question, `details.unshown` says so: `[{questionIndex, parts}]`.
    """
    try:
        check_outcome(questionnaire, outcome)
    except (MalformedAnswers, NotShown) as error:
        return contract.failure(error, questionnaire)
    result = contract.result(questionnaire, outcome)
    unshown = [
        {"questionIndex": index, "parts": list(response.unshown)}
        for index, response in enumerate(outcome.responses)
        if response.unshown
    ]
    return replace(result, details={**result.details, "unshown": unshown}) if unshown else result


async def _ask(name: str, arguments: Mapping[str, Any], coordinator: Coordinator) -> ToolResult:
    """Read `arguments`, have them asked when their turn comes, and return what the contract `name` says."""
    contract = CONTRACTS[name]
    try:
        questionnaire = _read(contract, arguments)
    except InvalidQuestionnaire as error:
        return contract.failure(error, None)
    outcome = await coordinator.ask(questionnaire, kind=name, tool_call_id=tool_call_id.get())
    return result_of(contract, questionnaire, outcome)


def _read(contract: Contract, arguments: object) -> Questionnaire:
    """Have `contract` read what a host passes on, whatever that is, or raise `InvalidQuestionnaire`."""
    example = f"{{{', '.join(f'{quoted(name)}: ...' for name in contract.tool.parameters['required'])}}}"
    if not isinstance(arguments, Mapping | str | list | tuple):  # a contract knows how to mend the others
        came = "null came" if arguments is None else "neither an object nor text came"
        raise InvalidQuestionnaire(
            "wrong_type", "the arguments", came=came, expected="an object is expected", example=example
        )
    if _holds_endless_number(arguments):
        raise InvalidQuestionnaire(
            "wrong_type",
            "the arguments",
            came="a number of thousands of digits came",
            expected="no argument needs one",
            example=example,
        )
    return contract.read(arguments)  # type: ignore[arg-type]


def _holds_endless_number(value: object) -> bool:
    """Return whether there is an integer in `value` that Python refuses to write."""
    left = [value]
    while left:
        match left.pop():
            case Mapping() as entries:
                left += [*entries.keys(), *entries.values()]
            case list() | tuple() as entries:
                left += entries
            case int(number) if number.bit_length() > _LONGEST_INTEGER_BITS:
                return True
    return False
