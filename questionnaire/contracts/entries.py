"""Reading the questions and the options of a call, leniently; no two of them may look alike."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from questionnaire.contracts.repair import Reading, plain_key
from questionnaire.display import look, quoted, shortened
from questionnaire.model import Option

Keys = Mapping[str, tuple[str, ...]]
"""The fields of an object by their proper names, each with the names under which models send it too."""

RECOMMENDED = "recommended"

OPTION_KEYS: Keys = {
    "label": ("title", "name", "text", "option"),
    "description": ("desc", "detail", "details", "explanation", "hint"),
}
"""The fields that an option has in every contract."""

# Only rows on which the user would write; "None of these" is an answer, and stays one.
_OWN_ROWS = frozenset(
    map(
        plain_key,
        (
            "other",
            "others",
            "other answer",
            "other option",
            "other (please specify)",
            "other (specify)",
            "something else",
            "type something",
            "type something else",
            "type your answer",
            "type your own",
            "type your own answer",
            "type custom answer",
            "enter your own",
            "enter custom answer",
            "custom answer",
            "my own answer",
            "your own answer",
            "write my own",
            "write your own",
            "let me type",
        ),
    )
)
_RECOMMENDED = re.compile(r"\s*[(\[]\s*recommended\s*[)\]]\s*", re.IGNORECASE)


def question_entries(
    reading: Reading,
    arguments: Mapping[str, Any],
    call_keys: Keys,
    keys: Keys,
    most: int,
) -> list[dict[str, Any]]:
    """Return the fields of each question of a call that may hold several, each with a text of its own.

    A call that is itself one question, without the array around it, is read as that.
    """
    sent: object = arguments
    if not _knows(arguments, call_keys) and _knows(arguments, keys):
        reading.mended("questions", "a single question was read as an array of one")
    else:
        sent = reading.fields(arguments, "the call", call_keys).get("questions")
        sent = reading.items(sent, "questions", "no_questions")
    entries = sent if isinstance(sent, list) else [sent]
    if len(entries) > most:
        came, expected = f"{len(entries)} came", f"at most {most} can be asked at once"
        raise reading.refusal("too_many_questions", "questions", came, expected)
    seen: dict[str, int] = {}
    questions = []
    for number, entry in enumerate(entries, 1):
        place = f"question {number}"
        fields = reading.fields(entry, place, keys, plain="question")
        text = fields["question"] = reading.visible_text(fields, "question", place, spells_breaks=True)
        if look(text) in seen:
            came = f"{quoted(shortened(text, 60))} came, as in question {seen[look(text)]}"
            expected = "each question must be another one"
            raise reading.refusal("duplicate_question", place, came, expected)
        seen[look(text)] = number
        questions.append(fields)
    return questions


def read_options(
    reading: Reading,
    sent: object,
    where: str,
    keys: Keys = OPTION_KEYS,
    *,
    counts: range | None = None,
    custom_row: str = "",
    reserved: Iterable[str] = (),
    longest_label: int | None = None,
    valued: bool = False,
) -> tuple[Option, ...]:
    """Return the options of a question, no two of which look alike.

    `counts` are the numbers of options that may be sent; without zero among them, none is refused. An
    option that only repeats the row for own words is folded into that row, where there is one; one that
    looks like a reserved label is refused. "(Recommended)" becomes a badge. Where options are `valued`,
    each has a value of its own, for which its label can stand in.
    """
    entries = _counted(reading, sent, f"{where}, options", counts)
    seen: dict[str, int] = {}
    values: dict[str, int] = {}
    options = []
    for number, entry in enumerate(entries, 1):
        place = f"{where}, option {number}"
        fields = reading.fields(entry, place, keys, plain="label")
        label, badge = _label(reading, fields, place)
        if longest_label:
            reading.tolerate(label, longest_label, f"{place}, label")
        shown = quoted(shortened(label, 60))
        if custom_row and (plain_key(label) in _OWN_ROWS or look(label) == look(custom_row)):
            reading.mended(place, f"the label {shown} was folded into the row that the user always gets")
            continue
        if look(label) in map(look, reserved):
            expected = "that label belongs to a row that the user always gets"
            raise reading.refusal("reserved_label", place, f"the label {shown} came", expected)
        _new(reading, seen, look(label), number, place, "label", label)
        option = Option(
            label=label,
            description=reading.text(fields, "description", place, spells_breaks=True),
            preview=reading.text(fields, "preview", place, spells_breaks=True) or None,
            value=_value(reading, fields, place, label) if valued else None,
            badge=badge,
        )
        if option.value is not None:
            _new(reading, values, option.value, number, place, "value", option.value)
        options.append(option)
    if not options and (counts is None or 0 not in counts):
        came, expected = "only rows came that the user always gets", "options of your own are expected"
        raise reading.refusal("empty_options", f"{where}, options", came, expected)
    return tuple(options)


def _counted(reading: Reading, sent: object, where: str, counts: range | None) -> list[Any]:
    may_be_none = counts is not None and 0 in counts
    entries = reading.items(sent, where, "" if may_be_none else "empty_options")
    if counts is None or len(entries) in counts:
        return entries
    code = "too_few_options" if len(entries) < counts[0] else "too_many_options"
    expected = f"{counts[0]} to {counts[-1]} are expected"
    raise reading.refusal(code, where, f"{len(entries)} came", expected)


def _label(reading: Reading, fields: Mapping[str, Any], where: str) -> tuple[str, str]:
    """Return a label and its badge."""
    label = reading.visible_text(fields, "label", where)
    bare = _RECOMMENDED.sub(" ", label).strip()
    if bare == label.strip() or not look(bare):
        return label, ""
    reading.mended(where, f"{quoted(RECOMMENDED)} was taken out of the label and is shown as a badge")
    return bare, RECOMMENDED


def _value(reading: Reading, fields: Mapping[str, Any], where: str, label: str) -> str:
    value = reading.text(fields, "value", where)
    if value:
        return value
    reading.mended(f"{where}, value", "none came; the label stands in for it")
    return label


def _new(
    reading: Reading, seen: dict[str, int], key: str, number: int, where: str, what: str, came: str
) -> None:
    """Remember what an option is known by, and refuse it where an earlier one is known by the same."""
    if key in seen:
        shown = f"the {what} {quoted(shortened(came, 60))} came, as in option {seen[key]}"
        raise reading.refusal(f"duplicate_option_{what}", where, shown, f"each {what} must be another one")
    seen[key] = number


def _knows(arguments: Mapping[str, Any], keys: Keys) -> bool:
    known = {plain_key(name) for key, others in keys.items() for name in (key, *others)}
    return any(plain_key(key) in known for key in arguments)
