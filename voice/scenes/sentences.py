"""What a person hears of our voice, as events: a scene has a speaker that knows what it plays. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from voice.events import Event, FramesLost, LevelMeasured, NoSpeech, event_name


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


_NEVER = (LevelMeasured, NoSpeech, FramesLost)
"""These are left out, or do not come where the sound has neither an end nor holes."""


@cache
def event_kinds() -> Mapping[str, type[Event]]:
    """All events that a scene can wait for, by name."""
    found: dict[str, type[Event]] = {}
    pending = [Event]
    while pending:
        kinds = pending.pop().__subclasses__()
        found |= {event_name(kind.__new__(kind)): kind for kind in kinds if kind not in _NEVER}
        pending += kinds
    return dict(sorted(found.items()))
