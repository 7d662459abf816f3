"""The contract `form`: one to eight questions, to pick from or to write, each with an id.

The names and the envelope of the result are those of the consolidated Pi questionnaire. A tool that
authorises actions may trust the envelope where it is not an error, `cancelled` is false, and every answer
has a question and an answer that is not null; so nothing but what the user sent is ever in it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from questionnaire.contracts.base import GUIDANCE, Contract, failed, repaired
from questionnaire.contracts.entries import OPTION_KEYS, question_entries, read_options
from questionnaire.contracts.repair import Reading
from questionnaire.contracts.telling import notes, pairs, states, taken, unsent
from questionnaire.display import look, one_line, quoted, shortened
from questionnaire.errors import NoInterface, QuestionnaireError
from questionnaire.model import CustomRow, Outcome, Question, Questionnaire, Response, Status
from questionnaire.tool import Tool, ToolResult

VERSION = 1
MAX_QUESTIONS = 8
MAX_OPTIONS = 8

CUSTOM_ROW = CustomRow("Type your own answer.")

TOOL = Tool(
    name="ask_user_question",
    description=(
        f"Ask the user one to {MAX_QUESTIONS} questions and wait for the answers. {GUIDANCE} A question of "
        f"type select offers 1 to {MAX_OPTIONS} options, always followed by a row on which the user can "
        'write instead, so offer no "Other" of your own; one of type text is answered in writing. Set '
        "required to false where the user may skip the question."
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
                        "id": {"type": "string", "description": "A name for the question, used once."},
                        "question": {"type": "string", "description": "The whole question, as a sentence."},
                        "type": {
                            "type": "string",
                            "enum": ["select", "text"],
                            "description": "Whether the user picks an option or writes.",
                        },
                        "options": {
                            "type": "array",
                            "minItems": 1,
                            "maxItems": MAX_OPTIONS,
                            "description": "What there is to pick from, for type select.",
                            "items": {
                                "type": "object",
                                "properties": {
                                    "value": {
                                        "type": "string",
                                        "description": "What you know the option by, used once.",
                                    },
                                    "label": {
                                        "type": "string",
                                        "description": "The answer in a few words, unlike any other label.",
                                    },
                                    "description": {
                                        "type": "string",
                                        "description": "What choosing it means.",
                                    },
                                },
                                "required": ["value", "label"],
                            },
                        },
                        "required": {
                            "type": "boolean",
                            "default": True,
                            "description": "False where the user may skip it.",
                        },
                    },
                    "required": ["id", "question", "type"],
                },
            }
        },
        "required": ["questions"],
    },
)

_EXAMPLE = (
    '{"questions": [{"id": "db", "question": "Which database?", "type": "select", "options": ['
    '{"value": "pg", "label": "PostgreSQL"}, {"value": "lite", "label": "SQLite"}]}]}'
)
_CALL_KEYS = {"questions": ("items", "prompts", "fields")}
_QUESTION_KEYS = {
    "id": ("key", "name"),
    "question": ("text", "prompt", "message", "label", "title"),
    "type": ("kind",),
    "options": ("choices", "answers"),
    "required": (),
}
_OPTION_KEYS = {"value": ("id", "key"), **OPTION_KEYS}

_ENDINGS = {
    Status.DECLINED: "User declined to answer the form",
    Status.CANCELLED: "The form was cancelled before the user had finished",
    Status.TIMED_OUT: "The form went unanswered until its time ran out; it may be asked again",
    Status.SUPERSEDED: "The form was withdrawn from the screen; the answers may reach you another way",
}
_SKIPPED = "(skipped)"


def read(arguments: Mapping[str, Any]) -> Questionnaire:
    """Turn the arguments of a call into a questionnaire, or raise `InvalidQuestionnaire`.

    A form of one question has its review too. A question without options asks for text, whatever its type
    says: with none to pick, the user would have no way to answer.
    """
    reading = Reading(_EXAMPLE)
    entries = question_entries(reading, arguments, _CALL_KEYS, _QUESTION_KEYS, MAX_QUESTIONS)
    questions: list[Question] = []
    for number, fields in enumerate(entries, 1):
        questions.append(_read_question(reading, fields, number, {question.id for question in questions}))
    asked = tuple(questions)
    return Questionnaire(asked, review=True, repairs=tuple(reading.repairs))


def _read_question(reading: Reading, fields: Mapping[str, Any], number: int, taken_ids: set[str]) -> Question:
    where = f"question {number}"
    options = read_options(
        reading,
        fields.get("options"),
        where,
        _OPTION_KEYS,
        counts=range(MAX_OPTIONS + 1),
        custom_row=CUSTOM_ROW.label,
        valued=True,
    )
    question = Question(
        text=fields["question"],
        options=options,
        custom=CUSTOM_ROW if options else None,
        required=reading.flag(fields, "required", where, default=True),
        id=_read_id(reading, fields, number, taken_ids),
    )
    declared = reading.text(fields, "type", where)
    if declared != question.kind:
        came = quoted(shortened(declared, 40)) if declared else "no type"
        has = "options" if options else "no options"
        reading.mended(f"{where}, type", f"{came} came with {has}, and was read as {question.kind}")
    return question


def _read_id(reading: Reading, fields: Mapping[str, Any], number: int, taken_ids: set[str]) -> str:
    where = f"question {number}, id"
    given = reading.text(fields, "id", f"question {number}").strip()
    if given in taken_ids:
        came, expected = f"{quoted(shortened(given, 40))} came, as before", "each id must be another one"
        raise reading.refusal("duplicate_id", where, came, expected)
    if given:
        return given
    made = f"q{number}"
    while made in taken_ids:
        made += "_"
    reading.mended(where, f"none came; it is called {made}")
    return made


def result(questionnaire: Questionnaire, outcome: Outcome) -> ToolResult:
    """Tell the model how its form ended, one line a question.

    Each line of an answered form holds ": ", and the first line of any other end holds none, so that no
    question can be worded to look like one.
    """
    if outcome.status is Status.NEVER_SHOWN:
        return failure(NoInterface(outcome.reason), questionnaire)
    told = [
        line for question, response in _settled(questionnaire, outcome) for line in _told(question, response)
    ]
    details = _envelope(questionnaire, outcome)
    if outcome.status is Status.ANSWERED:
        return ToolResult("\n".join(told), repaired(details, questionnaire))
    lines = [_ENDINGS[outcome.status]]
    if outcome.reason:
        lines.append(f"Reason: {one_line(outcome.reason)}")
    if told:
        lines += ["Answered before that:", *told]
    for _, question, response in pairs(questionnaire, outcome):
        written = [*_beside(question, response)]
        if not response.settled and written:
            lines += [f"Not answered: {one_line(question.text)}", *written]
    ended = {"status": str(outcome.status), "states": states(questionnaire, outcome)}
    return ToolResult("\n".join(lines), repaired({**details, **ended}, questionnaire))


def failure(error: QuestionnaireError, questionnaire: Questionnaire | None) -> ToolResult:
    """Tell the model that its call failed, and why."""
    details = _envelope(questionnaire or Questionnaire(()), Outcome(Status.NEVER_SHOWN))
    return failed(TOOL.name, error, questionnaire, details)


def _envelope(questionnaire: Questionnaire, outcome: Outcome) -> dict[str, Any]:
    return {
        "version": VERSION,
        "cancelled": outcome.status is not Status.ANSWERED,
        "questions": [_asked(question) for question in questionnaire.questions],
        "answers": [_entry(question, response) for question, response in _settled(questionnaire, outcome)],
    }


def _settled(questionnaire: Questionnaire, outcome: Outcome) -> Iterator[tuple[Question, Response]]:
    for _, question, response in pairs(questionnaire, outcome):
        if response.settled:
            yield question, response


def _asked(question: Question) -> dict[str, Any]:
    """Return a question as it was asked, in the words of the arguments."""
    asked: dict[str, Any] = {"id": question.id, "question": question.text, "type": str(question.kind)}
    if question.options:
        asked["options"] = [
            {"value": option.value, "label": option.label}
            | ({"description": option.description} if option.description else {})
            for option in question.options
        ]
    return asked if question.required else {**asked, "required": False}


def _entry(question: Question, response: Response) -> dict[str, Any]:
    """Return one entry of the envelope. A skipped question has the empty answer, which is not null."""
    entry: dict[str, Any] = {
        "id": question.id,
        "question": question.text,
        "type": str(question.kind),
        "answer": "",
        "value": None,
        "label": None,
        "custom": False,
        "skipped": response.skipped,
    }
    answer = response.answer
    if answer is not None and answer.custom is not None:
        entry |= {"answer": answer.custom, "value": answer.custom, "custom": True}
    elif answer is not None:
        option = question.options[answer.selected[0]]
        entry |= {"answer": option.label, "value": option.value, "label": option.label}
    if note := notes(question, response):
        entry["notes"] = note
    if draft := unsent(question, response):
        entry["draft"] = draft
    return entry


def _told(question: Question, response: Response) -> Iterator[str]:
    r"""Give the line of a settled question, and set in below it what was written beside the answer.

    No text of the user's can begin a line; and words that look like a skip get a `\` before them.
    """
    answer = _SKIPPED
    if response.answer is not None:
        answer = one_line(", ".join(taken(question, response.answer)))
        if look(answer).lstrip("\\ ") == _SKIPPED:
            answer = f"\\{answer}"
    yield f"{one_line(question.text)}: {answer}"
    yield from _beside(question, response)


def _beside(question: Question, response: Response) -> Iterator[str]:
    if note := notes(question, response):
        yield f"  user notes: {one_line(note)}"
    if draft := unsent(question, response):
        yield f"  typed, but not sent: {one_line(draft)}"


CONTRACT = Contract(TOOL, read, result, failure)
