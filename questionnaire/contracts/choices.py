"""The contract `choices`: one to four questions of two to four options each.

The names, the limits, the codes and the texts are those of Po's user-feedback package; programs that read
its results can read these.
"""

from collections.abc import Mapping
from typing import Any

from questionnaire.contracts.base import GUIDANCE, Contract, failed, repaired
from questionnaire.contracts.entries import OPTION_KEYS, question_entries, read_options
from questionnaire.contracts.repair import Reading
from questionnaire.contracts.telling import left_open, notes, pairs, states, taken, unsent
from questionnaire.display import escaped, one_line, quoted
from questionnaire.errors import NoInterface, QuestionnaireError
from questionnaire.model import Answer, CustomRow, Outcome, Question, Questionnaire, Response, Status
from questionnaire.tool import Tool, ToolResult

MAX_QUESTIONS = 4
MIN_OPTIONS, MAX_OPTIONS = 2, 4
HEADER_CELLS, LABEL_CELLS = 16, 60

CUSTOM_ROW = CustomRow("Type something.")

TOOL = Tool(
    name="ask_user_question",
    description=(
        f"Ask the user one to {MAX_QUESTIONS} questions and wait for the answers. {GUIDANCE} Each question "
        f"offers {MIN_OPTIONS} to {MAX_OPTIONS} options. A row on which the user can write an answer is "
        'always added, so offer no "Other" of your own. Set multiSelect where several options can hold at '
        "once. Give an option a preview where seeing it helps to decide."
    ),
    needs_person=True,
    parameters={
        "type": "object",
        "properties": {
            "questions": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_QUESTIONS,
                "description": "The questions, in the order in which they are asked.",
                "items": {
                    "type": "object",
                    "properties": {
                        "question": {"type": "string", "description": "The whole question, as a sentence."},
                        "header": {
                            "type": "string",
                            "maxLength": HEADER_CELLS,
                            "description": "A word or two that name the subject.",
                        },
                        "options": {
                            "type": "array",
                            "minItems": MIN_OPTIONS,
                            "maxItems": MAX_OPTIONS,
                            "items": {
                                "type": "object",
                                "properties": {
                                    "label": {
                                        "type": "string",
                                        "maxLength": LABEL_CELLS,
                                        "description": "The answer in a few words, unlike any other label.",
                                    },
                                    "description": {
                                        "type": "string",
                                        "description": "What choosing it means.",
                                    },
                                    "preview": {
                                        "type": "string",
                                        "description": "Markdown that shows the result of choosing it.",
                                    },
                                },
                                "required": ["label", "description"],
                            },
                        },
                        "multiSelect": {
                            "type": "boolean",
                            "default": False,
                            "description": "Whether several options can be chosen.",
                        },
                    },
                    "required": ["question", "header", "options"],
                },
            }
        },
        "required": ["questions"],
    },
)

_EXAMPLE = (
    '{"questions": [{"question": "Which database?", "header": "Database", "options": ['
    '{"label": "PostgreSQL", "description": "A server."}, {"label": "SQLite", "description": "A file."}]}]}'
)
_CALL_KEYS = {"questions": ("items", "prompts")}
_QUESTION_KEYS = {
    "question": ("text", "prompt", "message", "query"),
    "header": ("heading", "title", "tag"),
    "options": ("choices", "answers"),
    "multiSelect": ("multiple", "allowMultiple", "multi"),
}
_OPTION_KEYS = {**OPTION_KEYS, "label": (*OPTION_KEYS["label"], "value"), "preview": ("markdown", "example")}

_ENDINGS = {
    Status.DECLINED: "User declined to answer questions",
    Status.CANCELLED: "The questions were cancelled before the user had finished",
    Status.TIMED_OUT: "The questions went unanswered until their time ran out; they may be asked again",
    Status.SUPERSEDED: "The questions were withdrawn from the screen; the answers may reach you another way",
}


def read(arguments: Mapping[str, Any]) -> Questionnaire:
    """Turn the arguments of a call into a questionnaire.

    Counts out of range, look-alikes and the label "Next" raise `InvalidQuestionnaire`. Texts longer than
    the schema says are kept whole, since only the screen has to shorten them, and an absent header,
    description, preview or multiSelect is the empty one.
    """
    reading = Reading(_EXAMPLE)
    entries = question_entries(reading, arguments, _CALL_KEYS, _QUESTION_KEYS, MAX_QUESTIONS)
    questions = tuple(
        _read_question(reading, fields, f"question {number}") for number, fields in enumerate(entries, 1)
    )
    # One pick of one row is plain enough to count at once; several answers or ticks are seen once more.
    review = len(questions) > 1 or questions[0].multi_select
    return Questionnaire(questions, review, tuple(reading.repairs))


def _read_question(reading: Reading, fields: Mapping[str, Any], where: str) -> Question:
    header = reading.text(fields, "header", where)
    reading.tolerate(header, HEADER_CELLS, f"{where}, header")
    options = read_options(
        reading,
        fields.get("options"),
        where,
        _OPTION_KEYS,
        counts=range(MIN_OPTIONS, MAX_OPTIONS + 1),
        custom_row=CUSTOM_ROW.label,
        reserved=["Next"],
        longest_label=LABEL_CELLS,
    )
    return Question(
        text=fields["question"],
        options=options,
        header=header,
        multi_select=reading.flag(fields, "multiSelect", where),
        custom=CUSTOM_ROW,
    )


def result(questionnaire: Questionnaire, outcome: Outcome) -> ToolResult:
    """Tell the model how its questions ended. Answers given before an early end are kept and told."""
    if outcome.status is Status.NEVER_SHOWN:
        return failure(NoInterface(outcome.reason), questionnaire)
    entries = [
        _entry(index, question, response, response.answer)
        for index, question, response in pairs(questionnaire, outcome)
        if response.answer is not None
    ]
    told = " ".join(_told(entry) for entry in entries)
    if outcome.status is Status.ANSWERED:
        text = (
            f"User has answered your questions: {told} You can now continue with the user's answers in mind."
        )
        return ToolResult(text, repaired({"answers": entries, "cancelled": False}, questionnaire))
    text = _ENDINGS[outcome.status]
    if outcome.reason:
        text += f": {one_line(outcome.reason)}"
    if told:
        text += f". Answered before that: {told}"
    if drafts := " ".join(left_open(questionnaire, outcome)):
        text += f" {drafts}" if told else f". {drafts}"
    details = {
        "answers": entries,
        "cancelled": True,
        "status": str(outcome.status),
        "states": states(questionnaire, outcome),
    }
    return ToolResult(text, repaired(details, questionnaire))


def failure(error: QuestionnaireError, questionnaire: Questionnaire | None) -> ToolResult:
    """Tell the model that its call failed, and why."""
    return failed(TOOL.name, error, questionnaire, {"answers": [], "cancelled": True})


def _entry(index: int, question: Question, response: Response, answer: Answer) -> dict[str, Any]:
    """Return one entry of `details.answers`, with the texts as they were sent and typed."""
    selected = taken(question, answer)
    kind = "multi" if question.multi_select else "option" if answer.selected else "custom"
    entry: dict[str, Any] = {
        "questionIndex": index,
        "question": question.text,
        "kind": kind,
        "answer": ", ".join(selected),
    }
    if kind != "custom":
        entry["selected"] = selected
    if kind == "option" and (preview := question.options[answer.selected[0]].preview):
        entry["preview"] = preview
    if note := notes(question, response):
        entry["notes"] = note
    if draft := unsent(question, response):
        entry["draft"] = draft
    return entry


def _told(entry: Mapping[str, Any]) -> str:
    """Return one answer as the text tells it.

    What the user wrote beside it is escaped like what stands in quotes, so that nothing in it can pass for
    a further answer; a preview is the model's own text, and goes back as it came.
    """
    parts = [f"{quoted(entry['question'])}={quoted(entry['answer'])}."]
    if "preview" in entry:
        parts.append(f"selected preview: {entry['preview']}.")
    if "notes" in entry:
        parts.append(f"user notes: {escaped(entry['notes'])}.")
    if "draft" in entry:
        parts.append(f"typed, but not sent: {escaped(entry['draft'])}.")
    return " ".join(parts)


CONTRACT = Contract(TOOL, read, result, failure)
