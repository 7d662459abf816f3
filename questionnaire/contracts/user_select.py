"""The contract `user_select`: one question, one choice, own words where the model allows them.

The names and the texts are those of the Pi extension of this name.
"""

from collections.abc import Mapping
from typing import Any

from questionnaire.contracts.base import GUIDANCE, Contract, failed, repaired
from questionnaire.contracts.entries import OPTION_KEYS, read_options
from questionnaire.contracts.repair import Reading
from questionnaire.contracts.telling import notes, pairs, states, unsent
from questionnaire.display import look, one_line
from questionnaire.errors import NoInterface, QuestionnaireError
from questionnaire.model import Answer, CustomRow, Outcome, Question, Questionnaire, Status
from questionnaire.tool import Tool, ToolResult

CUSTOM_ROW = CustomRow("(Type custom answer)", blank_allowed=True)

TOOL = Tool(
    name="user_select",
    description=(
        f"Let the user pick one of several options that exclude each other. {GUIDANCE} Set allowCustom "
        "where an answer in the user's own words would do as well."
    ),
    needs_person=True,
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

_EXAMPLE = '{"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}]}'
_KEYS = {
    "question": ("text", "prompt", "message", "title"),
    "options": ("choices", "items"),
    "allowCustom": ("custom", "allowOther", "allowFreeform"),
}
_OPTION_KEYS = {**OPTION_KEYS, "label": (*OPTION_KEYS["label"], "value")}

_CANCELLED = "User cancelled the selection"
_REASONS = {
    Status.CANCELLED: "it was closed before the user had chosen",
    Status.TIMED_OUT: "the time ran out",
    Status.SUPERSEDED: "the question was withdrawn from the screen",
}


def read(arguments: Mapping[str, Any]) -> Questionnaire:
    """Turn the arguments of a call into a questionnaire, or raise `InvalidQuestionnaire`."""
    reading, where = Reading(_EXAMPLE), "the selection"
    fields = reading.fields(arguments, where, _KEYS)
    text = reading.visible_text(fields, "question", where, spells_breaks=True)
    custom = CUSTOM_ROW if reading.flag(fields, "allowCustom", where) else None
    options = read_options(
        reading, fields.get("options"), where, _OPTION_KEYS, custom_row=custom.label if custom else ""
    )
    question = Question(text, options, custom=custom)
    return Questionnaire((question,), repairs=tuple(reading.repairs), listed=True)


def result(questionnaire: Questionnaire, outcome: Outcome) -> ToolResult:
    """Tell the model what the user selected or wrote, or how the selection ended without either.

    What the user wrote beside that follows in lines of its own; no text of theirs can begin a line.
    """
    if outcome.status is Status.NEVER_SHOWN:
        return failure(NoInterface(outcome.reason), questionnaire)
    told, details = _cancelled(questionnaire, outcome)
    answer = outcome.responses[0].answer if outcome.responses else None
    if outcome.status is Status.ANSWERED and answer is not None:
        told, details = _answered(questionnaire, answer)
    lines = [told]
    for _, question, response in pairs(questionnaire, outcome):
        if note := notes(question, response):
            lines.append(f"User notes: {one_line(note)}")
            details["notes"] = note
        if draft := unsent(question, response):
            lines.append(f"Typed, but not sent: {one_line(draft)}")
            details["draft"] = draft
    return ToolResult("\n".join(lines), repaired(details, questionnaire))


def _answered(questionnaire: Questionnaire, answer: Answer) -> tuple[str, dict[str, Any]]:
    details = _details(questionnaire)
    if answer.custom is None:
        [index] = answer.selected
        label = questionnaire.questions[0].options[index].label
        return (
            f"User selected: {index + 1}. {one_line(label)}",
            details | {"answer": label, "cancelled": False},
        )
    words = answer.custom.strip()
    if not look(words):
        blank = {"wasCustom": True, "status": str(Status.DECLINED)}
        return "User submitted an empty custom answer", details | blank
    return (
        f"User wrote: {one_line(words)}",
        details | {"answer": words, "wasCustom": True, "cancelled": False},
    )


def _cancelled(questionnaire: Questionnaire, outcome: Outcome) -> tuple[str, dict[str, Any]]:
    """Tell of an end without a choice. The user's own no stands alone; each other end says what it was."""
    text = _CANCELLED
    if outcome.status in _REASONS:
        reasons = (_REASONS[outcome.status], one_line(outcome.reason))
        text += f": {', '.join(filter(None, reasons))}"
    ended = {"status": str(outcome.status), "states": states(questionnaire, outcome)}
    return text, _details(questionnaire) | ended


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
