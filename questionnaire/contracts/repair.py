"""Reading arguments leniently: models send nearly right calls, and a person should not pay for that.

What can be understood is mended, and named in words; what cannot is refused with an error that a model can
act on. Nothing is ever shortened, and counts are those of the call as it was sent.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from questionnaire.display import cells, look, printable, quoted, shortened
from questionnaire.errors import InvalidQuestionnaire
from questionnaire.model import Option

RECOMMENDED = "recommended"

OPTION_KEYS: Mapping[str, tuple[str, ...]] = {
    "label": ("title", "name", "text", "option"),
    "description": ("desc", "detail", "details", "explanation", "hint"),
}
"""The fields of an option in every contract, each with the names under which models send it too."""

# Only rows on which the user would write; "None of these" is an answer, and stays one.
_OWN_ROWS = (
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
)
_RECOMMENDED = re.compile(r"\s*[(\[]\s*recommended\s*[)\]]\s*", re.IGNORECASE)
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL | re.IGNORECASE)
_STRAIGHT = str.maketrans(dict.fromkeys("“”„‟«»", '"'))
# Not after a drive's colon or another backslash, and not before a closing quote as in code.
_SPELLED_BREAK = re.compile(r"(?<![:\\])(?:\\r)?\\n(?![\"'`/)\]])")
_WORDS_FOR = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Reading:
    """The reading of one call: what was mended so far, and the tiny example that a refusal shows."""

    def __init__(self, example: str) -> None:
        self.example = example
        self.repairs: list[str] = []

    def refusal(self, code: str, where: str, came: str, expected: str) -> InvalidQuestionnaire:
        """Return the error to raise."""
        return InvalidQuestionnaire(code, where, came=came, expected=expected, example=self.example)

    def mended(self, where: str, what: str) -> None:
        """Remember what was mended."""
        self.repairs.append(f"{where}: {what}")

    def fields(
        self, value: object, where: str, keys: Mapping[str, tuple[str, ...]], plain: str = ""
    ) -> dict[str, Any]:
        """Return an object's fields under their proper names, nulls left out and unknown ones ignored.

        `keys` gives each proper name the others under which it may come; text that is no JSON object
        counts as the field `plain`.
        """
        if isinstance(value, str):
            decoded = _decoded(value)
            if isinstance(decoded, dict):
                self.mended(where, "a JSON text was read as the object it holds")
                value = decoded
            elif plain:
                self.mended(where, f"plain text was read as the {plain}")
                value = {plain: value}
        if not isinstance(value, Mapping):
            raise self.refusal("wrong_type", where, f"{_kind(value)} came", "an object is expected")
        came = {key: entry for key, entry in value.items() if entry is not None}
        found: dict[str, Any] = {}
        for name in keys.keys() & came.keys():
            found[name] = came.pop(name)
        for name, others in keys.items():
            alias = next((key for key in came if _plain(key) in {_plain(name), *map(_plain, others)}), None)
            if name not in found and alias is not None:
                self.mended(where, f"{quoted(shortened(str(alias), 40))} was read as {name}")
                found[name] = came.pop(alias)
        for key in came:
            self.mended(where, f"the unknown key {quoted(shortened(str(key), 40))} was ignored")
        return found

    def items(self, value: object, where: str, empty_code: str = "") -> list[Any]:
        """Return the entries of an array; a lone object counts as its one entry.

        Without `empty_code` an array may be empty, or absent.
        """
        if isinstance(value, str) and look(value):
            decoded = _decoded(value)
            if isinstance(decoded, list | dict):
                self.mended(where, "a JSON text was read as the array it holds")
                value = decoded
        if isinstance(value, Mapping):
            self.mended(where, "a single object was read as an array of one")
            value = [value]
        if value is None or value in ([], (), ""):
            if not empty_code:
                return []
            came = "an empty array came" if value in ([], ()) else "nothing came"
            raise self.refusal(empty_code, where, came, "an array with at least one entry is expected")
        if not isinstance(value, list | tuple):
            raise self.refusal("wrong_type", where, f"{_kind(value)} came", "an array is expected")
        return list(value)

    def text(self, fields: Mapping[str, Any], key: str, where: str, *, spells_breaks: bool = False) -> str:
        r"""Return the text under `key`, whole; absent is the empty text.

        With `spells_breaks`, a text in one line has its literal `\n` read as the line breaks they spell.
        """
        value = fields.get(key, "")
        if isinstance(value, bool | int | float):
            self.mended(f"{where}, {key}", f"{_kind(value)} was read as text")
            value = json.dumps(value)
        if not isinstance(value, str):
            raise self.refusal("wrong_type", f"{where}, {key}", f"{_kind(value)} came", "text is expected")
        if spells_breaks and "\n" not in value and _SPELLED_BREAK.search(value):
            self.mended(f"{where}, {key}", r"a literal \n was read as a line break")
            return _SPELLED_BREAK.sub("\n", value)
        return value

    def visible_text(
        self, fields: Mapping[str, Any], key: str, where: str, *, spells_breaks: bool = False
    ) -> str:
        """Return the text under `key`, which has to have something in it that a reader can see."""
        value = self.text(fields, key, where, spells_breaks=spells_breaks)
        if not look(value):
            raise self.refusal("empty_text", f"{where}, {key}", "no visible text came", "text is expected")
        return value

    def flag(self, fields: Mapping[str, Any], key: str, where: str, *, default: bool = False) -> bool:
        """Return the boolean under `key`."""
        value = fields.get(key, default)
        if isinstance(value, bool):
            return value
        meant = _WORDS_FOR.get(look(str(value))) if isinstance(value, str | int) else None
        if meant is None:
            expected = "true or false is expected"
            raise self.refusal("wrong_type", f"{where}, {key}", f"{_kind(value)} came", expected)
        self.mended(f"{where}, {key}", f"{quoted(str(value))} was read as {json.dumps(meant)}")
        return meant

    def tolerate(self, text: str, limit: int, where: str) -> None:
        """Remember that `text` is longer than its schema says; it stays whole."""
        if cells(printable(text)) > limit:
            self.mended(where, f"longer than {limit} characters; kept whole, and shortened on screen only")

    def counted(self, entries: list[Any], where: str, least: int, most: int) -> list[Any]:
        """Return `entries`, refusing a number of options out of range."""
        if least <= len(entries) <= most:
            return entries
        code = "too_few_options" if len(entries) < least else "too_many_options"
        expected = f"{least} to {most} are expected"
        raise self.refusal(code, where, f"{len(entries)} came", expected)

    def options(
        self,
        entries: Iterable[object],
        where: str,
        keys: Mapping[str, tuple[str, ...]] = OPTION_KEYS,
        *,
        custom_row: str = "",
        reserved: Iterable[str] = (),
        longest: int | None = None,
    ) -> tuple[Option, ...]:
        """Return the options of a question, no two of which look alike.

        An option that only repeats the row for own words is folded into that row, where there is one;
        one that looks like a reserved label is refused. "(Recommended)" becomes a badge.
        """
        kept = {look(label) for label in reserved}
        seen: dict[str, int] = {}
        options = []
        for number, entry in enumerate(entries, 1):
            place = f"{where}, option {number}"
            fields = self.fields(entry, place, keys, plain="label")
            label, badge = self._label(fields, place)
            if longest:
                self.tolerate(label, longest, f"{place}, label")
            shown, key = quoted(shortened(label, 60)), look(label)
            if custom_row and (_plain(label) in _OWN_ROW_KEYS or key == look(custom_row)):
                self.mended(place, f"the label {shown} was folded into the row that the user always gets")
                continue
            if key in kept:
                expected = "that label belongs to a row that the user always gets"
                raise self.refusal("reserved_label", place, f"the label {shown} came", expected)
            if key in seen:
                came = f"the label {shown} came, as in option {seen[key]}"
                raise self.refusal("duplicate_option_label", place, came, "each label must be another one")
            seen[key] = number
            options.append(
                Option(
                    label=label,
                    description=self.text(fields, "description", place, spells_breaks=True),
                    preview=self.text(fields, "preview", place, spells_breaks=True) or None,
                    value=self.text(fields, "value", place) or None,
                    badge=badge,
                )
            )
        return tuple(options)

    def _label(self, fields: Mapping[str, Any], where: str) -> tuple[str, str]:
        label = self.visible_text(fields, "label", where)
        bare = _RECOMMENDED.sub(" ", label).strip()
        if bare == label.strip() or not look(bare):
            return label, ""
        self.mended(where, f"{quoted(RECOMMENDED)} was taken out of the label and is shown as a badge")
        return bare, RECOMMENDED


def question_entries(
    reading: Reading,
    arguments: Mapping[str, Any],
    call_keys: Mapping[str, tuple[str, ...]],
    keys: Mapping[str, tuple[str, ...]],
    most: int,
) -> list[dict[str, Any]]:
    """Return the fields of each question of a call that may hold several, no two of which look alike.

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
        text = reading.visible_text(fields, "question", place)
        if look(text) in seen:
            came = f"{quoted(shortened(text, 60))} came, as in question {seen[look(text)]}"
            expected = "each question must be another one"
            raise reading.refusal("duplicate_question", place, came, expected)
        seen[look(text)] = number
        questions.append(fields)
    return questions


def _knows(arguments: Mapping[str, Any], keys: Mapping[str, tuple[str, ...]]) -> bool:
    known = {_plain(name) for key, others in keys.items() for name in (key, *others)}
    return any(_plain(key) in known for key in arguments)


def _decoded(text: str) -> object:
    """Return the JSON value that `text` holds, however often it was encoded; None where it holds none."""
    fenced = _FENCED.fullmatch(text)
    bare = fenced[1] if fenced else text
    for candidate in (bare, bare.translate(_STRAIGHT)):
        try:
            value: object = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        return _decoded(value) if isinstance(value, str) else value
    return None


def _plain(text: object) -> str:
    """Return the letters and digits of `text`, under which `multi_select` is `multiSelect`."""
    return "".join(filter(str.isalnum, look(str(text))))


_OWN_ROW_KEYS = frozenset(map(_plain, _OWN_ROWS))


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
