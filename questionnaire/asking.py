"""The questionnaire tools: what makes a call of the model's into a question to a person."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import anyio

from questionnaire.answers import check_outcome
from questionnaire.contracts import CONTRACTS, Contract
from questionnaire.errors import InvalidQuestionnaire, MalformedAnswers, NoInterface, NotShown
from questionnaire.model import Outcome, Questionnaire, Status
from questionnaire.presenters.base import Presenter
from questionnaire.progress import Interview
from questionnaire.tool import ToolResult
from questionnaire.toolset import FunctionToolset, Handler, Toolset

ASK, SELECT = "ask_user_question", "user_select"

TOOL_NAMES = (ASK, SELECT)
"""The names of the tools that ask a person."""

Meaning = Literal["choices", "form"]
"""The contracts that the name `ask_user_question` can stand for."""


def questionnaire_toolset(presenter: Presenter | None, *, contract: Meaning = "choices") -> Toolset:
    """Return the tools that ask: `ask_user_question`, in the sense of `contract`, and `user_select`.

    Questionnaires run one at a time; a second call waits for the first. Without a presenter, and where
    the presenter finds nobody to ask, a call is an error that repeats the question, never an answer.
    Cancelling a call cancels its presenter.
    """
    turn = anyio.Lock()

    def handler(contract: Contract) -> Handler:
        async def call(arguments: Mapping[str, Any]) -> ToolResult:
            return await _ask(contract, arguments, presenter, turn)

        return call

    contracts = (CONTRACTS[contract], CONTRACTS["user_select"])
    return FunctionToolset(*((contract.tool, handler(contract)) for contract in contracts))


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
        return first.read(arguments)
    except InvalidQuestionnaire:
        for other in others:
            with suppress(InvalidQuestionnaire):
                return other.read(arguments)
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


async def conduct(presenter: Presenter | None, interview: Interview) -> Outcome:
    """Have `presenter` conduct `interview` to its end, and return that."""
    if presenter is None:
        return Outcome(Status.NEVER_SHOWN)
    try:
        await presenter.present(interview)
    except NoInterface as error:
        return Outcome(Status.NEVER_SHOWN, reason=str(error))
    if interview.outcome is None:
        interview.end(Status.CANCELLED, "the presenter closed it")
    assert interview.outcome is not None
    return interview.outcome


async def _ask(
    contract: Contract, arguments: Mapping[str, Any], presenter: Presenter | None, turn: anyio.Lock
) -> ToolResult:
    """Read `arguments`, have `presenter` ask when its `turn` comes, and return what the contract says."""
    try:
        questionnaire = contract.read(arguments)
    except InvalidQuestionnaire as error:
        return contract.failure(error, None)
    async with turn:
        outcome = await conduct(presenter, Interview(questionnaire))
    return result_of(contract, questionnaire, outcome)
