"""Reading arguments leniently: models send nearly right calls, and a person should not pay for that.

What can be understood is mended, and named in words; what cannot is refused with an error that a model can
act on. Nothing is ever shortened, and counts are those of the call as it was sent.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from questionnaire.display import look, quoted, shortened
from questionnaire.errors import InvalidQuestionnaire

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

        `keys` gives each proper name the others under which it may come. Plain text, or a number, counts
        as the field `plain`; what only looks like JSON does not, since nobody should be shown that.
        """
        if isinstance(value, int | float) and plain:
            value = json.dumps(value)
        if isinstance(value, str):
            decoded = _decoded(value)
            if isinstance(decoded, dict):
                self.mended(where, "a JSON text was read as the object it holds")
                value = decoded
            elif plain and not value.lstrip().startswith(("{", "[")):
                self.mended(where, f"plain text was read as the {plain}")
                value = {plain: value}
        if not isinstance(value, Mapping):
            raise self.refusal("wrong_type", where, f"{_kind(value)} came", "an object is expected")
        came = {key: entry for key, entry in value.items() if entry is not None}
        found: dict[str, Any] = {}
        for name in keys.keys() & came.keys():
            found[name] = came.pop(name)
        for name, others in keys.items():
            known = {plain_key(known) for known in (name, *others)}
            alias = next((key for key in came if plain_key(key) in known), None)
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
        if len(text) > limit:
            self.mended(where, f"longer than {limit} characters; kept whole, and shortened on screen only")


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


def plain_key(text: object) -> str:
    """Return the letters and digits of `text`, under which `multi_select` is `multiSelect`."""
    return "".join(filter(str.isalnum, look(str(text))))


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
