"""What a person asks of the journal in a conversation, and what is told of it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from voice.journal.entries import Entry, find, shown

USAGE = "/journal shows what was not delivered; /journal send N and /journal forget N (or all) act on it."

When = Callable[[Entry], str]
"""When an entry was begun, in words."""


@dataclass(frozen=True)
class Request:
    """Do this with these entries, by number or id; none of them are all."""

    act: Literal["list", "send", "forget"]
    names: tuple[str, ...] = ()


def read_request(words: str) -> Request | None:
    """What is asked with the words after ``/journal``; None where that is nothing that it can do."""
    match words.split():
        case [] | ["list"]:
            return Request("list")
        case ["send" | "forget" as act, *names] if names:
            return Request("send" if act == "send" else "forget", () if names == ["all"] else tuple(names))
    return None


def named(names: Sequence[str], listed: Sequence[Entry]) -> tuple[list[Entry], list[str]]:
    """The entries that are meant, of those that were listed last, and the names that none of them has."""
    if not names:
        return list(listed), []
    meant, unknown = [], []
    for name in names:
        at = int(name) - 1 if name.isdecimal() else -1
        entry = listed[at] if 0 <= at < len(listed) else find(listed, name)
        if entry is None:
            unknown.append(name)
        elif entry not in meant:
            meant.append(entry)
    return meant, unknown


def told(entry: Entry, when: str) -> str:
    """One entry in a line."""
    what = f"{entry.kind}, {entry.seconds:.1f} s" if entry.kind == "spoken" else entry.kind
    why = f", {str(entry.reason).replace('_', ' ')}" if entry.reason and not entry.told else ""
    return f"{when}  {what}{why}: {shown(entry)}"


def told_all(pending: Sequence[Entry], when: When) -> list[str]:
    """What is pending, a line each with its number and its id, and what can be done about it."""
    if not pending:
        return ["Nothing is kept: all that you said and typed was delivered."]
    lines = [f"{number}  {entry.id}  {told(entry, when(entry))}" for number, entry in enumerate(pending, 1)]
    return [*lines, USAGE]


def offered(pending: Sequence[Entry], when: When, *, lines: bool) -> str:
    """The sentence by which a session tells at its beginning what was not delivered.

    ``lines`` says whether ``/journal`` can be typed there.
    """
    newest = pending[-1]
    what = f'"{shown(newest)}"' if newest.text.strip() else f"{newest.seconds:.1f} s of speech"
    how = "/journal shows and sends it" if lines else "voice journal shows it"
    if len(pending) == 1:
        return f"What you had {newest.kind} was not delivered: {what} ({when(newest)}); {how}."
    told = f"{len(pending)} things that you had said or typed were not delivered"
    return f"{told}, the last of them {what} ({when(newest)}); {how}."


def left_alone(skipped: Sequence[str]) -> str:
    """The sentence about files in the journal's folder that are none of its own."""
    named = ", ".join(skipped[:3]) + (" …" if len(skipped) > 3 else "")
    return f"Not everything in the journal's folder can be read, and that is left alone: {named}."


def not_whole(entry: Entry) -> str:
    """The sentence about an entry that cannot be sent yet."""
    return f"{entry.id} is not transcribed yet: voice journal retry {entry.id} does that."
