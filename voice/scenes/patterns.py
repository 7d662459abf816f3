"""What may be said of an event, by its name and its fields, and whether one is so. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from enum import StrEnum
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from voice.events import INSIDE
from voice.scenes.sentences import event_kinds


def misfit(name: str, wanted: Mapping[str, Any]) -> str:
    """Why no event can be one of this name with such fields, for a person; "" where one can."""
    kinds = event_kinds()
    if name not in kinds:
        return f"{name!r} is no event that comes in a scene{_meant(name, kinds)}"
    return _misfit_of(kinds[name], name, wanted)


def fits(wanted: object, found: object) -> bool:
    """Whether what was found in a field is as wanted; a text of several words may be a part of it."""
    if isinstance(wanted, str) and isinstance(found, str):
        return wanted == found or (" " in wanted and wanted in found)
    if isinstance(wanted, list) and isinstance(found, list | tuple):
        return wanted == list(found)
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return all(fits(value, found.get(name)) for name, value in wanted.items())
    return wanted == found


def _misfit_of(kind: Any, owner: str, wanted: Mapping[str, Any]) -> str:
    hints = get_type_hints(kind)
    known = [field.name for field in fields(kind) if field.name not in INSIDE]
    for name, value in wanted.items():
        if name not in known:
            there = f"; it has {', '.join(known)}" if known else ""
            return f"{name!r} is no field of {owner}{_meant(name, known) or there}"
        if wrong := _misfit_value(hints[name], name, value):
            return wrong
        if name == "sentence" and " " not in str(value):
            return f"{name!r} is a sentence, and never {value!r}: say several words of it"
    return ""


def _misfit_value(kind: Any, name: str, value: object) -> str:
    """Why a field of this type never has this value."""
    if get_origin(kind) in (Union, UnionType):
        wrongs = [_misfit_value(one, name, value) for one in get_args(kind)]
        return "" if "" in wrongs else wrongs[0]
    if kind is type(None):
        return "" if value is None else f"{name!r} is null, and never {value!r}"
    if is_dataclass(kind):
        if isinstance(value, Mapping):
            return _misfit_of(kind, repr(name), value)
        return f"{name!r} has fields, and is never {value!r}"
    choices = _choices(kind)
    if choices:
        return "" if value in choices else f"{name!r} is never {value!r}{_meant(value, choices)}"
    sort, called = _SORTS[get_origin(kind) or kind]
    right = isinstance(value, sort) and (kind is bool or not isinstance(value, bool))
    return "" if right else f"{name!r} is {called}, and never {value!r}"


_SORTS: dict[Any, tuple[Any, str]] = {
    str: (str, "a text"),
    bool: (bool, "true or false"),
    int: (int, "a whole number"),
    float: (int | float, "a number"),
    tuple: (list, "a list"),
}


def _choices(kind: Any) -> tuple[str, ...]:
    """The values of a type that has few; none where it has many."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else ()


def _meant(said: object, known: Iterable[str]) -> str:
    near = get_close_matches(str(said), list(known), 1)
    return f"; did you mean {str(near[0])!r}?" if near else ""
