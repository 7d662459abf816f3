"""The questionnaire tools: what makes a call of the model's into a question to a person."""

from collections.abc import Mapping
from typing import Any

import anyio

from questionnaire.answers import check_outcome
from questionnaire.contracts import CONTRACTS, Contract
from questionnaire.errors import InvalidQuestionnaire, MalformedAnswers, NoInterface
from questionnaire.model import Outcome, Questionnaire, Status
from questionnaire.presenters.base import Presenter
from questionnaire.tool import ToolResult
from questionnaire.toolset import FunctionToolset, Handler, Toolset

_BY_TOOL_NAME = {contract.tool.name: contract for contract in CONTRACTS.values()}

TOOL_NAMES = tuple(_BY_TOOL_NAME)
"""The names of the tools that ask a person."""


def questionnaire_toolset(presenter: Presenter | None) -> Toolset:
    """Return the tools that ask: `ask_user_question` and `user_select`.

    Questionnaires run one at a time; a second call waits for the first. Without a presenter, and where
    the presenter finds nobody to ask, a call is an error that repeats the question, never an answer.
    Cancelling a call cancels its presenter.
    """
    turn = anyio.Lock()

    def handler(contract: Contract) -> Handler:
        async def call(arguments: Mapping[str, Any]) -> ToolResult:
            return await _ask(contract, arguments, presenter, turn)

        return call

    return FunctionToolset(*((contract.tool, handler(contract)) for contract in _BY_TOOL_NAME.values()))


def read_questionnaire(tool_name: str, arguments: Mapping[str, Any]) -> Questionnaire:
    """Return what a call of `tool_name` (one of `TOOL_NAMES`) asks, without asking it.

    Raises `InvalidQuestionnaire` where the arguments cannot be shown.
    """
    return _BY_TOOL_NAME[tool_name].read(arguments)


async def _ask(
    contract: Contract, arguments: Mapping[str, Any], presenter: Presenter | None, turn: anyio.Lock
) -> ToolResult:
    """Read `arguments`, have `presenter` ask when its `turn` comes, and return what the contract says."""
    try:
        questionnaire = contract.read(arguments)
    except InvalidQuestionnaire as error:
        return contract.failure(error, None)
    try:
        async with turn:
            outcome = await _present(presenter, questionnaire)
        check_outcome(questionnaire, outcome)
    except MalformedAnswers as error:
        return contract.failure(error, questionnaire)
    return contract.result(questionnaire, outcome)


async def _present(presenter: Presenter | None, questionnaire: Questionnaire) -> Outcome:
    if presenter is None:
        return Outcome(Status.NEVER_SHOWN)
    try:
        return await presenter.present(questionnaire)
    except NoInterface as error:
        return Outcome(Status.NEVER_SHOWN, reason=str(error))
