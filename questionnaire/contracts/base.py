"""What every contract is, and what all of them share: the guidance, and saying that a call failed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from questionnaire.display import quoted
from questionnaire.errors import MalformedAnswers, NoInterface, QuestionnaireError
from questionnaire.model import Kind, Outcome, Question, Questionnaire, Status
from questionnaire.tool import Tool, ToolResult

GUIDANCE = (
    "Call it only when you cannot go on without a decision, a preference or a clarification that is "
    "missing. Do not ask again what the user's own messages have already answered."
)

NO_INTERFACE = "no interactive UI available (running in non-interactive mode)"


@dataclass(frozen=True)
class Contract:
    """One agreement with the model.

    `read` turns arguments into a questionnaire, or raises `InvalidQuestionnaire`. `result` tells the
    model how it ended. `failure` tells it that the call failed; its questionnaire is None where the
    arguments could not be read.
    """

    tool: Tool
    read: Callable[[Mapping[str, Any]], Questionnaire]
    result: Callable[[Questionnaire, Outcome], ToolResult]
    failure: Callable[[QuestionnaireError, Questionnaire | None], ToolResult]


def repaired(details: Mapping[str, Any], questionnaire: Questionnaire | None) -> dict[str, Any]:
    """Return `details` with what was repaired in the arguments, where something was."""
    repairs = list(questionnaire.repairs) if questionnaire else []
    return {**details, "repairs": repairs} if repairs else dict(details)


def failed(
    tool_name: str, error: QuestionnaireError, questionnaire: Questionnaire | None, details: Mapping[str, Any]
) -> ToolResult:
    """Return the error of a call, `details` being what the contract says of a call without an answer.

    Where nobody saw the questions, the text repeats them, so that the model can ask in chat.
    """
    text = str(error)
    unseen = not isinstance(error, MalformedAnswers)
    if questionnaire is not None and unseen:
        reason = NO_INTERFACE if isinstance(error, NoInterface) else text
        questions = "\n".join(_spelled_out(question) for question in questionnaire.questions)
        text = (
            f"{tool_name}: {reason}\n"
            f"The user was not asked and saw nothing. Ask in your next message instead:\n{questions}"
        )
    status = Status.NEVER_SHOWN if unseen else Status.CANCELLED
    ended = {**details, "status": str(status), "error": error.code}
    return ToolResult(text, repaired(ended, questionnaire), is_error=True)


def _spelled_out(question: Question) -> str:
    if question.kind is Kind.TEXT:
        return quoted(question.text)
    options = ", ".join(quoted(option.label) for option in question.options)
    return f"{quoted(question.text)} Options: {options}."
