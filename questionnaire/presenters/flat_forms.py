"""Questions as flat forms, and what comes back of them: what MCP and ACP call form elicitation.

Pure. Here we ask, and a client shows the form; `requested_forms` is the other way round. A form is a JSON
Schema of one level: texts, choices of one or of several, yes or no. "Pick or type" is a pair of fields, the
second named after the first with `_custom`. What a field holds is judged by `questionnaire.answers`.

    dialogue = FormDialogue(interview, by)
    while interview.outcome is None:
        form = dialogue.form(clock())
        dialogue.take(await client.elicit(form), clock())
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from questionnaire.answers import Choice, Unclear, Verdict, read_picks
from questionnaire.display import look, printable
from questionnaire.model import Kind, Option, Provenance, Question, Questionnaire, Status
from questionnaire.progress import Give, Interview, Shown, Skip, Stay, Stop, Submit

FormValue = str | int | float | bool | list[str] | None
"""What one field can hold."""

CUSTOM = "_custom"
"""What is added to the name of a choice for the field beside it that takes the user's own words."""

MOST_ROUNDS = 5
"""How often a form comes back without any answer before its client is taken for one that fills in nothing."""


class FormAction(StrEnum):
    """What a person did with a form."""

    ACCEPT = "accept"
    """They sent it; only then is there content."""
    DECLINE = "decline"
    """An explicit no."""
    CANCEL = "cancel"
    """It was dismissed without a choice."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a client is asked to show: a text, and the JSON Schema of the fields below it."""

    message: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FormReply:
    """What came of a form; `content` is the value of each field that has one, by its name."""

    action: FormAction
    content: Mapping[str, FormValue] = field(default_factory=dict)


class FormDialect(StrEnum):
    """What a form can be made of."""

    NAMED = "named"
    """Choices of one, as `enum` with `enumNames`, and no choices of several: each of their options is a field
    for yes or no (MCP 2025-06-18)."""
    TITLED = "titled"
    """Choices of one (`oneOf`) and of several (`array`), with titles (MCP from 2025-11-25 on, ACP)."""


class FormDialogue:
    """An interview conducted by forms: all open questions on one, and what is missing on the next.

    `by` makes the provenance of an answer from its time. Others may act on the interview between two forms.
    """

    def __init__(
        self,
        interview: Interview,
        by: Callable[[float], Provenance],
        dialect: FormDialect = FormDialect.TITLED,
    ) -> None:
        self._interview = interview
        self._by = by
        self._dialect = dialect
        self._objections: dict[int, str] = {}
        self._fruitless = 0

    def form(self, at: float) -> Form:
        """Return the form of what is still open, which stands before a person from now (`at`) on."""
        interview = self._interview
        indices = self._open()
        for index in indices:
            interview.send(Shown(at, index, unshown(interview.questionnaire.questions[index])))
        return form_of(interview.questionnaire, indices, self._dialect, self._objections)

    def take(self, reply: FormReply, at: float) -> None:
        """Do what the person did: answer, decline, or dismiss the form, which ends it as cancelled."""
        interview = self._interview
        match reply.action:
            case FormAction.DECLINE:
                interview.send(Stop())
            case FormAction.CANCEL:
                interview.end(Status.CANCELLED, "the form was dismissed")
            case FormAction.ACCEPT:
                self._fill_in(reply.content, at)

    def _fill_in(self, content: Mapping[str, FormValue], at: float) -> None:
        interview, by = self._interview, self._by(at)
        self._objections = {}
        asked = self._open()
        for index in asked:
            verdict = read_content(interview.questionnaire, index, content)
            match verdict:
                case Choice():
                    interview.send(Give(verdict.answer, by, index, Stay()))
                case Unclear(reason):
                    self._objections[index] = reason
                case _:
                    interview.send(Skip(by, index, Stay()))
        self._fruitless = self._fruitless + 1 if len(self._open()) == len(asked) else 0
        if not self._open():
            while interview.outcome is None:  # twice, where there is a review: the form was one
                interview.send(Submit())
        elif self._fruitless == MOST_ROUNDS:
            interview.end(Status.CANCELLED, f"the form came back {MOST_ROUNDS} times without any answer")

    def _open(self) -> list[int]:
        responses = self._interview.step.responses
        return [index for index, response in enumerate(responses) if not response.settled]


def form_of(
    questionnaire: Questionnaire,
    indices: Sequence[int] | None = None,
    dialect: FormDialect = FormDialect.TITLED,
    objections: Mapping[int, str] | None = None,
) -> Form:
    """Return the form that asks the questions with these indices, all where none are named.

    `objections` are sentences on what came before, by question. Field names count from `question_1`, by the
    question's place in the questionnaire.
    """
    asked = range(len(questionnaire.questions)) if indices is None else indices
    alone = len(asked) == 1
    properties: dict[str, Any] = {}
    required: list[str] = []
    lines = [] if alone else [f"Please answer these {len(asked)} questions."]
    for index in asked:
        question = questionnaire.questions[index]
        if objection := (objections or {}).get(index):
            lines.append(objection if alone else f"{_title(question, index)}: {objection}")
        if alone:
            lines.append(printable(question.text))
        fields = _fields(question, index, dialect, alone=alone)
        properties |= fields
        if question.required and len(fields) == 1:  # of a pair, either will do
            required += fields
    schema = {"type": "object", "properties": properties, **({"required": required} if required else {})}
    return Form("\n".join(lines), schema)


def unshown(question: Question) -> tuple[str, ...]:
    """Return what of a question has no place in a form, as nouns."""
    return ("previews",) if any(option.preview for option in question.options) else ()


def read_content(questionnaire: Questionnaire, index: int, content: Mapping[str, FormValue]) -> Verdict:
    """Return what a form's content says of one question.

    A field that is blank or absent is one that nobody filled in: a form cannot tell the two apart.
    """
    question, name = questionnaire.questions[index], _name(index)
    if question.kind is Kind.TEXT:
        return read_picks(question, (), _words(content.get(name)))
    consts = _consts(question)
    picked: list[int] = []
    value = content.get(name)
    for text in value if isinstance(value, list) else [value]:
        if text is None or (isinstance(text, str) and not look(text)):
            continue
        if text not in consts:
            return Unclear("The form came back with a choice that it did not offer.")
        picked.append(consts.index(text))
    picked += [
        option
        for option in range(len(consts))
        if content.get(_option_name(index, option)) is True and question.multi_select
    ]
    return read_picks(question, picked, _words(content.get(name + CUSTOM)))


def _words(value: FormValue) -> str | None:
    return value if isinstance(value, str) and look(value) else None


def _fields(question: Question, index: int, dialect: FormDialect, *, alone: bool) -> dict[str, Any]:
    """Return the fields of one question, by their names."""
    name, title = _name(index), _title(question, index)
    about = [] if alone else [printable(question.text)]
    if not question.required:
        about.append("You may leave this empty.")
    if question.kind is Kind.TEXT:
        least = {"minLength": 1} if question.required else {}
        return {name: {"type": "string", **_named(title, about), **least}}
    described = [
        f"{printable(option.label)}: {printable(option.description)}"
        for option in question.options
        if look(option.description)
    ]
    if question.multi_select and dialect is FormDialect.NAMED:
        fields: dict[str, Any] = {
            _option_name(index, number): {
                "type": "boolean",
                "default": False,
                **_named(
                    shown if alone else f"{title}: {shown}",
                    [*(about if not number else []), printable(option.description)],
                ),
            }
            for number, (option, shown) in enumerate(zip(question.options, _shown(question), strict=True))
        }
    else:
        fields = {name: {**_choices(question, dialect), **_named(title, [*about, *described])}}
    if question.custom is not None:
        own = "Or beside these" if question.multi_select else "Or instead"
        fields[name + CUSTOM] = {
            "type": "string",
            **_named(
                printable(question.custom.label) if alone else f"{title}: {printable(question.custom.label)}",
                [f"{own}, write an answer of your own."],
            ),
        }
    return fields


def _choices(question: Question, dialect: FormDialect) -> dict[str, Any]:
    consts, shown = _consts(question), _shown(question)
    if dialect is FormDialect.NAMED:
        return {"type": "string", "enum": consts, "enumNames": shown}
    titled = [{"const": const, "title": title} for const, title in zip(consts, shown, strict=True)]
    if not question.multi_select:
        return {"type": "string", "oneOf": titled}
    least = {"minItems": 1} if question.required and question.custom is None else {}
    return {"type": "array", "items": {"anyOf": titled}, **least}


def _consts(question: Question) -> list[str]:
    """Return what stands for each option in the content: its label, so that whoever shows that shows sense.

    Numbered where two of them look alike.
    """
    labels = [printable(option.label) for option in question.options]
    if len(set(map(look, labels))) < len(labels):
        return [f"{number}. {label}" for number, label in enumerate(labels, 1)]
    return labels


def _shown(question: Question) -> list[str]:
    return [const + _badge(option) for const, option in zip(_consts(question), question.options, strict=True)]


def _badge(option: Option) -> str:
    return f" ({printable(option.badge)})" if option.badge else ""


def _named(title: str, about: Sequence[str]) -> dict[str, str]:
    description = "\n".join(filter(look, about))
    return {"title": title, **({"description": description} if description else {})}


def _title(question: Question, index: int) -> str:
    return printable(question.header) or f"Question {index + 1}"


def _name(index: int) -> str:
    return f"question_{index + 1}"


def _option_name(index: int, option: int) -> str:
    return f"{_name(index)}_option_{option + 1}"
