"""The contract `choices`: one to four questions of two to four options each.

The names, the limits, the codes and the texts are those of Po's user-feedback package; programs that read
its results can read these.
"""

from collections.abc import Mapping
from typing import Any

from questionnaire.contracts.base import GUIDANCE, Contract, Reader, failed
from questionnaire.display import escaped, look, one_line, quoted, shortened
from questionnaire.errors import NoInterface, QuestionnaireError
from questionnaire.model import Answer, CustomRow, Outcome, Question, Questionnaire, Status
from questionnaire.tool import Tool, ToolResult

MAX_QUESTIONS = 4
MIN_OPTIONS, MAX_OPTIONS = 2, 4
HEADER_CELLS, LABEL_CELLS = 16, 60

CUSTOM_ROW = CustomRow("Type something.")
RESERVED_LABELS = ("Other", CUSTOM_ROW.label, "Next")

TOOL = Tool(
    name="ask_user_question",
    description=(
        f"Ask the user one to {MAX_QUESTIONS} questions and wait for the answers. {GUIDANCE} Each question "
        f"offers {MIN_OPTIONS} to {MAX_OPTIONS} options. A row on which the user can write an answer is "
        'always added, so offer no "Other" of your own. Set multiSelect where several options can hold at '
        "once. Give an option a preview where seeing it helps to decide."
    ),
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

_READER = Reader(
    '{"questions": [{"question": "Which database?", "header": "Database", "options": ['
    '{"label": "PostgreSQL", "description": "A server."}, {"label": "SQLite", "description": "A file."}]}]}'
)

_ENDINGS = {
    Status.DECLINED: "User declined to answer questions",
    Status.CANCELLED: "The questions were cancelled before the user had finished",
    Status.TIMED_OUT: "The questions went unanswered until their time ran out; they may be asked again",
    Status.SUPERSEDED: "The questions were withdrawn from the screen; the answers may reach you another way",
}


def read(arguments: Mapping[str, Any]) -> Questionnaire:
    """Turn the arguments of a call into a questionnaire.

    Counts out of range, look-alikes and reserved labels raise `InvalidQuestionnaire`. Texts longer than
    the schema says are kept whole, since only the screen has to shorten them, and an absent header,
    description, preview or multiSelect is the empty one.
    """
    entries = _READER.items(arguments.get("questions"), "questions", "no_questions")
    if len(entries) > MAX_QUESTIONS:
        came, expected = f"{len(entries)} came", f"at most {MAX_QUESTIONS} can be asked at once"
        raise _READER.refusal("too_many_questions", "questions", came, expected)
    questions: list[Question] = []
    for number, entry in enumerate(entries, 1):
        question = _read_question(entry, f"question {number}")
        for earlier_number, earlier in enumerate(questions, 1):
            if look(earlier.text) == look(question.text):
                came = f"{quoted(shortened(question.text, 60))} came, as in question {earlier_number}"
                expected = "each question must be another one"
                raise _READER.refusal("duplicate_question", f"question {number}", came, expected)
        questions.append(question)
    return Questionnaire(tuple(questions))


def _read_question(entry: object, where: str) -> Question:
    fields = _READER.fields(entry, where)
    text = _READER.visible_text(fields, "question", where)
    options = _READER.options(fields, where, reserved=RESERVED_LABELS)
    if not MIN_OPTIONS <= len(options) <= MAX_OPTIONS:
        code = "too_few_options" if len(options) < MIN_OPTIONS else "too_many_options"
        expected = f"{MIN_OPTIONS} to {MAX_OPTIONS} are expected"
        raise _READER.refusal(code, f"{where}, options", f"{len(options)} came", expected)
    return Question(
        text=text,
        options=options,
        header=_READER.text(fields, "header", where),
        multi_select=_READER.flag(fields, "multiSelect", where),
        custom=CUSTOM_ROW,
    )


def result(questionnaire: Questionnaire, outcome: Outcome) -> ToolResult:
    """Tell the model how its questions ended. Answers given before an early end are kept and told."""
    if outcome.status is Status.NEVER_SHOWN:
        return failure(NoInterface(outcome.reason), questionnaire)
    answers = sorted(outcome.answers, key=lambda answer: answer.question_index)
    entries = [_entry(questionnaire.questions[answer.question_index], answer) for answer in answers]
    told = " ".join(_told(entry) for entry in entries)
    if outcome.status is Status.ANSWERED:
        text = (
            f"User has answered your questions: {told} You can now continue with the user's answers in mind."
        )
        return ToolResult(text, {"answers": entries, "cancelled": False})
    text = _ENDINGS[outcome.status]
    if outcome.reason:
        text += f": {one_line(outcome.reason)}"
    if told:
        text += f". Answered before that: {told}"
    return ToolResult(text, {"answers": entries, "cancelled": True, "status": str(outcome.status)})


def failure(error: QuestionnaireError, questionnaire: Questionnaire | None) -> ToolResult:
    """Tell the model that its call failed, and why."""
    return failed(TOOL.name, error, questionnaire, {"answers": [], "cancelled": True})


def _entry(question: Question, answer: Answer) -> dict[str, Any]:
    """Return one entry of `details.answers`, with the texts as they were sent and typed."""
    chosen = [question.options[index] for index in answer.selected]
    selected = [option.label for option in chosen]
    if answer.custom is not None:
        selected.append(answer.custom)
    kind = "multi" if question.multi_select else "option" if chosen else "custom"
    entry: dict[str, Any] = {
        "questionIndex": answer.question_index,
        "question": question.text,
        "kind": kind,
        "answer": ", ".join(selected),
    }
    if kind != "custom":
        entry["selected"] = selected
    if kind == "option" and chosen[0].preview:
        entry["preview"] = chosen[0].preview
    if answer.notes:
        entry["notes"] = answer.notes
    return entry


def _told(entry: Mapping[str, Any]) -> str:
    """Return one answer as the text tells it.

    The user's notes are escaped like what stands in quotes, so that nothing in them can pass for a further
    answer; a preview is the model's own text, and goes back as it came.
    """
    parts = [f"{quoted(entry['question'])}={quoted(entry['answer'])}."]
    if "preview" in entry:
        parts.append(f"selected preview: {entry['preview']}.")
    if "notes" in entry:
        parts.append(f"user notes: {escaped(entry['notes'])}.")
    return " ".join(parts)


CONTRACT = Contract(TOOL, read, result, failure)
