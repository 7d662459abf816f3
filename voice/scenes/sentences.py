"""What a person hears of our voice, as events: a scene has a speaker that knows what it plays. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from voice.events import Event, event_name


@dataclass(frozen=True)
class SentenceBegun(Event):
    """A sentence, as the engine was given it, begins to be heard."""

    text: str


@dataclass(frozen=True)
class SentenceHeard(Event):
    """It is not heard any more."""

    text: str
    played_s: float
    whole: bool
    """Whether it was heard to its end."""


@cache
def event_names() -> tuple[str, ...]:
    """The names of all events that a scene can wait for."""
    found, pending = [], [Event]
    while pending:
        kinds = pending.pop().__subclasses__()
        found += [event_name(kind.__new__(kind)) for kind in kinds]
        pending += kinds
    return tuple(sorted(found))
