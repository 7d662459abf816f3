"""The contract `user_select`: one question, one choice, own words where the model allows them.

The names and the texts are those of the Pi extension of this name.
"""

from collections.abc import Mapping
from typing import Any

from questionnaire.contracts.base import GUIDANCE, Contract, Reader, failed
from questionnaire.display import one_line
from questionnaire.errors import NoInterface, QuestionnaireError
from questionnaire.model import CustomRow, Outcome, Question, Questionnaire, Status
from questionnaire.tool import Tool, ToolResult

CUSTOM_ROW = CustomRow("(Type custom answer)", blank_allowed=True)

TOOL = Tool(
    name="user_select",
    description=(
        f"Let the user pick one of several options that exclude each other. {GUIDANCE} Set allowCustom "
        "where an answer in the user's own words would do as well."
    ),
    parameters={
        "type": "object",
        "properties": {
            "question": {"type": "string", "description": "The whole question, as a sentence."},
            "options": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "label": {"type": "string", "description": "The answer, unlike any other label."},
                        "description": {"type": "string", "description": "What choosing it means."},
                    },
                    "required": ["label"],
                },
            },
            "allowCustom": {
                "type": "boolean",
                "default": False,
                "description": "Whether the user may write an answer instead.",
            },
        },
        "required": ["question", "options"],
    },
)

_READER = Reader('{"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}]}')

_CANCELLED = "User cancelled the selection"
_REASONS = {
    Status.TIMED_OUT: "the time ran out",
    Status.SUPERSEDED: "the question was withdrawn from the screen",
}


def read(arguments: Mapping[str, Any]) -> Questionnaire:
    """Turn the arguments of a call into a questionnaire, or raise `InvalidQuestionnaire`."""
    where = "the selection"
    text = _READER.visible_text(arguments, "question", where)
    custom = CUSTOM_ROW if _READER.flag(arguments, "allowCustom", where) else None
    options = _READER.options(arguments, where, reserved=[custom.label] if custom else [])
    return Questionnaire((Question(text, options, custom=custom),))


def result(questionnaire: Questionnaire, outcome: Outcome) -> ToolResult:
    """Tell the model what the user selected or wrote, or how the selection ended without either."""
    if outcome.status is Status.NEVER_SHOWN:
        return failure(NoInterface(outcome.reason), questionnaire)
    details = _details(questionnaire)
    if outcome.status is not Status.ANSWERED:
        reason = outcome.reason or _REASONS.get(outcome.status, "")
        text = f"{_CANCELLED}: {one_line(reason)}" if reason else _CANCELLED
        return ToolResult(text, details | {"status": str(outcome.status)})
    [answer] = outcome.answers
    if answer.custom is None:
        [index] = answer.selected
        label = questionnaire.questions[0].options[index].label
        answered = {"answer": label, "cancelled": False}
        return ToolResult(f"User selected: {index + 1}. {one_line(label)}", details | answered)
    words = answer.custom.strip()
    if not words:
        blank = {"wasCustom": True, "status": str(Status.DECLINED)}
        return ToolResult("User submitted an empty custom answer", details | blank)
    written = {"answer": words, "wasCustom": True, "cancelled": False}
    return ToolResult(f"User wrote: {one_line(words)}", details | written)


def failure(error: QuestionnaireError, questionnaire: Questionnaire | None) -> ToolResult:
    """Tell the model that its call failed, and why."""
    return failed(TOOL.name, error, questionnaire, _details(questionnaire))


def _details(questionnaire: Questionnaire | None) -> dict[str, Any]:
    """Return the details of a selection without an answer."""
    question = questionnaire.questions[0] if questionnaire else Question("", ())
    return {
        "question": question.text,
        "options": [option.label for option in question.options],
        "answer": None,
        "wasCustom": False,
        "cancelled": True,
    }


CONTRACT = Contract(TOOL, read, result, failure)
