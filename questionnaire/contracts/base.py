"""What every contract is, and what all of them share: reading arguments, and saying that a call failed."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from questionnaire.display import look, quoted, shortened
from questionnaire.errors import InvalidQuestionnaire, NoInterface, QuestionnaireError
from questionnaire.model import Option, Outcome, Question, Questionnaire, Status
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


@dataclass(frozen=True)
class Reader:
    """Reads the fields of arguments, and knows the tiny example that its refusals show."""

    example: str

    def refusal(self, code: str, where: str, came: str, expected: str) -> InvalidQuestionnaire:
        """Return the error to raise."""
        return InvalidQuestionnaire(code, where, came=came, expected=expected, example=self.example)

    def fields(self, value: object, where: str) -> Mapping[str, Any]:
        """Return `value`, which has to be an object."""
        if not isinstance(value, Mapping):
            raise self.refusal("wrong_type", where, f"{_kind(value)} came", "an object is expected")
        return value

    def items(self, value: object, where: str, empty_code: str) -> list[Any]:
        """Return `value`, which has to be an array with something in it."""
        if value is None or value in ([], ()):
            came = "nothing came" if value is None else "an empty array came"
            raise self.refusal(empty_code, where, came, "an array with at least one entry is expected")
        if not isinstance(value, list | tuple):
            raise self.refusal("wrong_type", where, f"{_kind(value)} came", "an array is expected")
        return list(value)

    def text(self, fields: Mapping[str, Any], key: str, where: str) -> str:
        """Return the text under `key`; absent and null are the empty text."""
        value = fields.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.refusal("wrong_type", f"{where}, {key}", f"{_kind(value)} came", "text is expected")
        return value

    def visible_text(self, fields: Mapping[str, Any], key: str, where: str) -> str:
        """Return the text under `key`, which has to have something in it that a reader can see."""
        value = self.text(fields, key, where)
        if not look(value):
            raise self.refusal("empty_text", f"{where}, {key}", "no visible text came", "text is expected")
        return value

    def flag(self, fields: Mapping[str, Any], key: str, where: str) -> bool:
        """Return the boolean under `key`; absent and null are false."""
        value = fields.get(key)
        if value is None:
            return False
        if not isinstance(value, bool):
            expected = "true or false is expected"
            raise self.refusal("wrong_type", f"{where}, {key}", f"{_kind(value)} came", expected)
        return value

    def options(
        self, fields: Mapping[str, Any], where: str, *, reserved: Iterable[str]
    ) -> tuple[Option, ...]:
        """Return the options of a question, no two of which, and none of the reserved rows, look alike."""
        kept = {look(label) for label in reserved}
        seen: dict[str, int] = {}
        options = []
        entries = self.items(fields.get("options"), f"{where}, options", "empty_options")
        for number, entry in enumerate(entries, 1):
            place = f"{where}, option {number}"
            option = self.fields(entry, place)
            label = self.visible_text(option, "label", place)
            shown, key = quoted(shortened(label, 60)), look(label)
            if key in kept:
                expected = "that label belongs to a row that the user always gets"
                raise self.refusal("reserved_label", place, f"the label {shown} came", expected)
            if key in seen:
                came = f"the label {shown} came, as in option {seen[key]}"
                raise self.refusal("duplicate_option_label", place, came, "each label must be another one")
            seen[key] = number
            description = self.text(option, "description", place)
            options.append(Option(label, description, self.text(option, "preview", place) or None))
        return tuple(options)


def failed(
    tool_name: str, error: QuestionnaireError, questionnaire: Questionnaire | None, details: Mapping[str, Any]
) -> ToolResult:
    """Return the error of a call, `details` being what the contract says of a call without an answer.

    Where there was nobody to ask, the text repeats the questions, so that the model can ask in chat.
    """
    text, status = str(error), Status.CANCELLED
    if questionnaire is None or isinstance(error, NoInterface):
        status = Status.NEVER_SHOWN
    if questionnaire is not None and isinstance(error, NoInterface):
        questions = "\n".join(_spelled_out(question) for question in questionnaire.questions)
        text = (
            f"{tool_name}: {NO_INTERFACE}\n"
            f"The user was not asked and saw nothing. Ask in your next message instead:\n{questions}"
        )
    return ToolResult(text, {**details, "status": str(status), "error": error.code}, is_error=True)


def _spelled_out(question: Question) -> str:
    options = ", ".join(quoted(option.label) for option in question.options)
    return f"{quoted(question.text)} Options: {options}."


def _kind(value: object) -> str:
    """Return the name of a JSON value's kind, as it reads in a sentence."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list() | tuple():
            return "an array"
    return "an object"
