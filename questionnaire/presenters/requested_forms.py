"""Forms that somebody else wants filled in, read as questions: what an agent whose client we are elicits.

Pure, as `flat_forms` is, which is the other way round. `answer_form` does all of it with whatever asks.
"""

import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from questionnaire.display import look, printable, quoted
from questionnaire.errors import InvalidQuestionnaire, NoInterface
from questionnaire.model import Answer, CustomRow, Option, Outcome, Question, Questionnaire, Status
from questionnaire.presenters.flat_forms import CUSTOM, FormAction, FormReply, FormValue

_OWN_WORDS = CustomRow("Type something.")
_EXAMPLE = '{"type": "object", "properties": {"name": {"type": "string"}}}'

_YES_OR_NO = (Option("Yes", value="true"), Option("No", value="false"))

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)?")
_FORMATS = {
    "email": (_EMAIL, "an e-mail address"),
    "uri": (_URI, "an address with its scheme, such as https://example.org"),
    "date": (_DATE, "a date such as 2026-11-30"),
    "date-time": (_DATE_TIME, "a date and time such as 2026-11-30T09:15:00Z"),
}
"""The formats that the protocols name. What they mean is the asker's to judge; here slips are caught."""


@dataclass(frozen=True, slots=True)
class RequestedForm:
    """A form as questions.

    `fields` are the names and schemas of the fields, one a question; the field for own words beside a choice
    is part of that question. Empty for a form without fields, which asks for a mere yes.
    """

    questionnaire: Questionnaire
    fields: tuple[tuple[str, Mapping[str, Any]], ...]

    def reply(self, outcome: Outcome) -> FormReply:
        """Return what the asker gets.

        Raises `NoInterface` where nobody saw the form: that is no dismissal, and has to be told as an error.
        """
        if outcome.status is Status.NEVER_SHOWN:
            raise NoInterface(outcome.reason or "nobody was there to be asked")
        if outcome.status is not Status.ANSWERED:
            return FormReply(FormAction.DECLINE if outcome.status is Status.DECLINED else FormAction.CANCEL)
        answers = [response.answer for response in outcome.responses]
        if not self.fields:
            yes = answers[0] is not None and answers[0].selected == (0,)
            return FormReply(FormAction.ACCEPT if yes else FormAction.DECLINE)
        content: dict[str, FormValue] = {}
        for question, (name, schema), answer in zip(
            self.questionnaire.questions, self.fields, answers, strict=True
        ):
            if answer is not None:
                content |= _content(question, name, schema, answer)
        return FormReply(FormAction.ACCEPT, content)

    def faulty(self, outcome: Outcome) -> "RequestedForm | None":
        """Return the form of those answers that their fields do not take, to be asked again; None of none.

        Each question begins with the reason.
        """
        again = []
        if outcome.status is Status.ANSWERED:
            for question, asked, response in zip(
                self.questionnaire.questions, self.fields, outcome.responses, strict=False
            ):
                if response.answer is not None and (fault := _fault(question, asked[1], response.answer)):
                    again.append((replace(question, text=f"{fault} {question.text}"), asked))
        if not again:
            return None
        questions, fields = zip(*again, strict=True)
        return RequestedForm(
            replace(self.questionnaire, questions=questions, review=_reviewed(questions)), fields
        )


def read_form(message: str, schema: Mapping[str, Any]) -> RequestedForm:
    """Return the questions that a form of `message` and the fields of `schema` asks.

    Raises `InvalidQuestionnaire` where it holds what is no flat form: then nothing can be shown of it.
    """
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        raise _unreadable("the form", "its properties are no object")
    named = schema.get("required")
    required = set(filter(lambda name: isinstance(name, str), named)) if isinstance(named, list) else set()
    if not properties:
        asked = Question(message if look(message) else "May this go on?", _YES_OR_NO)
        return RequestedForm(Questionnaire((asked,), risky=True), ())  # it is asked to be allowed something
    beside = {
        name + CUSTOM: name
        for name, wanted in properties.items()
        if _takes_text(properties.get(name + CUSTOM)) and _options(wanted)
    }
    fields = [(name, wanted) for name, wanted in properties.items() if name not in beside]
    questions = []
    for name, wanted in fields:
        question = _question(name, wanted, alone=len(fields) == 1, message=message)
        pair = name + CUSTOM
        must = name in required or (pair in beside and pair in required)
        own = _own_words(properties[pair]) if pair in beside else None
        questions.append(replace(question, required=must, custom=own))
    if len(questions) > 1 and look(message):
        questions[0] = replace(questions[0], text=f"{message}\n{questions[0].text}")
    permits = len(fields) == 1 and fields[0][1].get("type") == "boolean"  # as a form without fields does
    return RequestedForm(
        Questionnaire(tuple(questions), review=_reviewed(questions), risky=permits), tuple(fields)
    )


async def answer_form(
    message: str, schema: Mapping[str, Any], ask: Callable[[Questionnaire], Awaitable[Outcome]]
) -> FormReply:
    """Have a form filled in by whom `ask` asks, again where its fields do not take it, and return the reply.

    Raises `InvalidQuestionnaire` as `read_form` does, `NoInterface` where nobody could be asked.
    """
    form: RequestedForm | None = read_form(message, schema)
    content: dict[str, FormValue] = {}
    while form is not None:
        outcome = await ask(form.questionnaire)
        reply = form.reply(outcome)
        if reply.action is not FormAction.ACCEPT:
            return reply
        content |= reply.content
        if (form := form.faulty(outcome)) is not None:
            for name, _ in form.fields:  # asked again, it may be left empty
                content.pop(name, None)
                content.pop(name + CUSTOM, None)
    return FormReply(FormAction.ACCEPT, content)


def _reviewed(questions: Sequence[Question]) -> bool:
    return len(questions) > 1 or any(question.multi_select for question in questions)


def _question(name: str, schema: object, *, alone: bool, message: str) -> Question:
    if not isinstance(schema, Mapping):
        raise _unreadable(f"the field {quoted(name)}", "it is no object")
    kind = schema.get("type", "string")
    title, about = _text(schema, "title"), _text(schema, "description")
    text = about or title or name
    if alone and look(message):
        text = message if not about or look(about) in look(message) else f"{message}\n{about}"
    options: tuple[Option, ...] = ()
    if kind == "boolean":
        options = _YES_OR_NO
    elif found := _options(schema):
        options = found
    elif kind not in ("string", "number", "integer"):
        raise _unreadable(f"the field {quoted(name)}", f"it is of the type {quoted(str(kind))}")
    options = _suggested(options, schema.get("default"))
    if not options and isinstance(default := schema.get("default"), str | int | float):
        text += f" (suggested: {default})"
    return Question(
        text,
        options,
        header=title if title and look(title) != look(text) else "",
        multi_select=kind == "array",
        id=name,
    )


def _options(schema: object) -> tuple[Option, ...]:
    """Return what a field offers to choose from; nothing where it takes text, or what no form knows."""
    if not isinstance(schema, Mapping):
        return ()
    holder = schema.get("items") if schema.get("type") == "array" else schema
    if not isinstance(holder, Mapping):
        return ()
    for key in ("oneOf", "anyOf"):
        entries = holder.get(key)
        if isinstance(entries, list) and all(isinstance(entry, Mapping) for entry in entries):
            return tuple(
                Option(
                    _text(entry, "title") or str(entry["const"]),
                    _text(entry, "description"),
                    value=str(entry["const"]),
                )
                for entry in entries
                if "const" in entry
            )
    values, names = holder.get("enum"), holder.get("enumNames")
    if not isinstance(values, list):
        return ()
    shown = names if isinstance(names, list) and len(names) == len(values) else values
    return tuple(Option(str(label), value=str(value)) for label, value in zip(shown, values, strict=True))


def _suggested(options: tuple[Option, ...], default: object) -> tuple[Option, ...]:
    """Mark what the asker would take; it is chosen for nobody."""
    if default is None:
        return options
    wanted = [str(value).lower() if isinstance(value, bool) else str(value) for value in _listed(default)]
    return tuple(
        replace(option, badge="suggested") if option.value in wanted else option for option in options
    )


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]


def _takes_text(schema: object) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "string" and not _options(schema)


def _own_words(schema: Mapping[str, Any]) -> CustomRow:
    return CustomRow(_text(schema, "title") or _OWN_WORDS.label)


def _text(schema: Mapping[str, Any], key: str) -> str:
    value = schema.get(key)
    return value if isinstance(value, str) and look(value) else ""


def _content(
    question: Question, name: str, schema: Mapping[str, Any], answer: Answer
) -> dict[str, FormValue]:
    kind, content = schema.get("type", "string"), dict[str, FormValue]()
    if question.options:
        values = [question.options[index].value or "" for index in answer.selected]
        if kind == "boolean":
            content[name] = values == ["true"]
        elif question.multi_select:
            if values:
                content[name] = values
        elif values:
            content[name] = values[0]
        if answer.custom is not None:
            content[name + CUSTOM] = answer.custom
    elif answer.custom is not None:
        number = _number(answer.custom) if kind in ("number", "integer") else None
        content[name] = answer.custom if number is None else number
    return content


def _number(text: str) -> float | None:
    """Return the number that a text is, an `int` where it is whole: a float would change long ones."""
    with suppress(ValueError):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() else number


def _fault(question: Question, schema: Mapping[str, Any], answer: Answer) -> str:
    """Return why a field does not take an answer, as a sentence; empty where it does."""
    if question.options:
        least, most = schema.get("minItems"), schema.get("maxItems")
        if isinstance(least, int) and answer.custom is None and len(answer.selected) < least:
            return f"At least {least} are wanted."
        if isinstance(most, int) and len(answer.selected) > most:
            return f"At most {most} are wanted."
        return ""
    text = answer.custom or ""
    if (kind := schema.get("type")) in ("number", "integer"):
        return _fault_of_number(schema, _number(text), whole=kind == "integer")
    least, most = schema.get("minLength"), schema.get("maxLength")
    if isinstance(least, int) and len(text) < least:
        return f"At least {least} characters are wanted."
    if isinstance(most, int) and len(text) > most:
        return f"At most {most} characters are wanted."
    pattern, wanted = _FORMATS.get(str(schema.get("format")), (None, ""))
    return f"This takes {wanted}." if pattern and not pattern.fullmatch(text.strip()) else ""


def _fault_of_number(schema: Mapping[str, Any], number: float | None, *, whole: bool) -> str:
    if number is None or (whole and not isinstance(number, int)):
        return "This takes a whole number." if whole else "This takes a number."
    least, most = schema.get("minimum"), schema.get("maximum")
    if isinstance(least, int | float) and number < least:
        return f"The least is {least}."
    if isinstance(most, int | float) and number > most:
        return f"The most is {most}."
    return ""


def _unreadable(where: str, came: str) -> InvalidQuestionnaire:
    return InvalidQuestionnaire(
        "unreadable",
        printable(where),
        came=came,
        expected="texts, numbers, yes or no, and choices are what a form can hold",
        example=_EXAMPLE,
    )
