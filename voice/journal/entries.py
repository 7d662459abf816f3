"""What a journal keeps of one utterance or typed message, and what follows from it. Pure.

An entry is the fold of its lines, JSON objects in the order in which they were written: it has ``began``, was
``decided`` (perhaps more than once), was ``taken`` by a later session that sends it, was ``accepted`` by the
host or is ``forgotten``. Its id is that of the session that began it, a dash, and a number: ``k7fd-12``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from voice.audio import SAMPLE_RATE
from voice.events import DiscardReason

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""What ids of sessions are made of: no two of them are taken for one another, aloud or on a screen."""

SESSION_LENGTH = 4
"""Letters in the id of a session: of 900,000, since those whose entries are kept are avoided."""

ID = re.compile(rf"(?P<session>[{LETTERS}]{{{SESSION_LENGTH}}})-(?P<number>[1-9][0-9]{{0,5}})")
"""What the id of an entry looks like."""

WORDS_SHOWN = 60
"""Characters of a text that a list shows."""

_BYTES_A_SECOND = 2 * SAMPLE_RATE
_DAY_S = 86_400.0
_MB = 1_000_000
_END_OF_DATES_S = 253_402_300_800
"""When the year 9999 ends, in seconds since 1970: no later date can be told."""


Kind = Literal["spoken", "typed"]


class State(StrEnum):
    """How far an entry has come."""

    OPEN = "open"
    """It is being said, or was when its session ended."""
    DECIDED = "decided"
    """A message on its way to the host, or, with a reason, none."""
    ACCEPTED = "accepted"
    """The host has it. It is kept because the user wants to keep such."""
    FORGOTTEN = "forgotten"
    """Nobody wants it; what is left of its files is to go."""


@dataclass(frozen=True)
class Entry:
    """One utterance or typed message."""

    id: str
    kind: Kind = "spoken"
    began_at: float = 0.0
    """Seconds since 1970."""
    state: State = State.OPEN
    text: str = ""
    """Its words, as far as they are known."""
    reason: DiscardReason | None = None
    """Why it was not sent, where that was decided."""
    told: bool = False
    """Whether its words were found out later, from its sound."""
    taken_by: str = ""
    """The later session that sends it."""
    size: int = 0
    """Bytes of sound."""

    @property
    def session(self) -> str:
        """The session that it belongs to: while that runs, it is in its hands."""
        return self.taken_by or self.id.partition("-")[0]

    @property
    def order(self) -> tuple[float, str, int]:
        """The older first; those of one session in the order in which they began."""
        session, _, number = self.id.partition("-")
        return self.began_at, session, int(number)

    @property
    def seconds(self) -> float:
        """How much sound there is."""
        return self.size / _BYTES_A_SECOND

    @property
    def whole(self) -> bool:
        """Whether its text is all that can be had of it; else it is to be transcribed before it is sent."""
        known = self.state is not State.OPEN and self.reason is not DiscardReason.NOT_TRANSCRIBED
        return bool(self.text.strip()) and (known or self.told)

    def pending(self, running: Collection[str]) -> bool:
        """Whether it was not delivered, and nobody is about to: its session has ended, or gave it up."""
        if self.state not in (State.OPEN, State.DECIDED):
            return False
        return self.reason is not None or self.session not in running

    def as_json(self, running: Collection[str]) -> dict[str, Any]:
        """As `voice journal list --json` prints it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "began_at": round(self.began_at, 3),
            "state": "pending" if self.pending(running) else "accepted" if self.over else "on_its_way",
            "reason": self.reason,
            "text": self.text,
            "whole": self.whole,
            "seconds": round(self.seconds, 3),
        }

    @property
    def over(self) -> bool:
        """Whether nothing is to be done about it any more."""
        return self.state in (State.ACCEPTED, State.FORGOTTEN)


# --- Lines ------------------------------------------------------------------------------------------------


def began(kind: Kind, at: float) -> bytes:
    """The first line of an entry."""
    return _line(event="began", kind=kind, at=at)


def decided(text: str | None, reason: DiscardReason | None = None) -> bytes:
    """It is a message with this text, or, for a reason, none; without a text its words are what they were."""
    return _line(event="decided", text=text, reason=reason)


def told(text: str) -> bytes:
    """This is what it says, as was found out from its sound, whatever becomes of it."""
    return _line(event="told", text=text)


def taken(session: str) -> bytes:
    """A later session sends it."""
    return _line(event="taken", by=session)


ACCEPTED = b'{"event": "accepted"}\n'
"""The host has it."""

FORGOTTEN = b'{"event": "forgotten"}\n'
"""Nobody wants it. Written before its files go, so that whatever is left of them is known for what it is."""


def _line(**fields: Any) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def read(name: str, lines: bytes, size: int = 0, changed_at: float = 0.0) -> Entry | None:
    """The entry with these lines and so many bytes of sound; None where there is nothing of ours in it.

    A line that was not written whole, or is none of ours, is passed over: the others count. One that lost its
    first line began when its files were changed last.
    """
    entry, known = Entry(name, began_at=changed_at, size=size), size > 0
    for line in lines.splitlines():
        try:
            fields = json.loads(line)
            entry = _after(entry, fields)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            continue
        known = True
    return entry if known else None


def _after(entry: Entry, fields: Mapping[str, Any]) -> Entry:
    match fields["event"]:
        case "decided" | "told" | "taken" if entry.over:
            return entry  # whatever comes too late: it is not sent twice
        case "began":
            kind: Kind = "typed" if fields["kind"] == "typed" else "spoken"
            at = float(fields["at"])
            if not 0 <= at < _END_OF_DATES_S:
                raise ValueError(at)
            return replace(entry, kind=kind, began_at=at)
        case "decided":
            reason = fields["reason"]
            reason = None if reason is None else DiscardReason(reason)
            text = entry.text if fields["text"] is None else str(fields["text"])
            return replace(entry, state=State.DECIDED, text=text, reason=reason)
        case "told":
            return replace(entry, state=State.DECIDED, text=str(fields["text"]), told=True)
        case "taken":
            return replace(entry, taken_by=str(fields["by"]), reason=None)
        case "accepted":
            return replace(entry, state=State.ACCEPTED)
        case "forgotten":
            return replace(entry, state=State.FORGOTTEN)
    raise ValueError(fields["event"])


# --- What goes --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bounds:
    """How much is kept of what nobody has asked for."""

    longest_days: float
    largest_mb: float

    def beyond(self, entries: Sequence[Entry], now: float, running: Collection[str]) -> list[Entry]:
        """Those that go: what is too old, then what was delivered, then the rest, each the oldest first.

        Never one that is in the hands of a session that runs.
        """
        free = sorted((one for one in entries if one.over or one.pending(running)), key=lambda one: one.order)
        oldest_at = now - self.longest_days * _DAY_S
        going = [entry for entry in free if entry.began_at < oldest_at]
        left = sum(entry.size for entry in entries) - sum(entry.size for entry in going)
        for entry in sorted(free, key=lambda one: not one.over):
            if left <= self.largest_mb * _MB:
                break
            if entry.began_at >= oldest_at:
                left -= entry.size
                going.append(entry)
        return going


# --- In words ---------------------------------------------------------------------------------------------


def shown(entry: Entry) -> str:
    """Its words, or as much as a line takes of them."""
    words = " ".join(entry.text.split())
    if not words:
        return "(not transcribed)"
    return words if len(words) <= WORDS_SHOWN else f"{words[: WORDS_SHOWN - 1]}…"


def find(entries: Iterable[Entry], name: str) -> Entry | None:
    """The entry with this id, however it was typed."""
    return next((entry for entry in entries if entry.id == name.strip().lower()), None)
