"""What came of a scene. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass

from voice.events import Discarded, Event, MessageSent, Notice, ToolsChanged
from voice.scenes.expecting import Ending, Happened, Verdict
from voice.scenes.script import Scene
from voice.scenes.sentences import SentenceHeard


@dataclass(frozen=True)
class Played:
    """What came of a scene."""

    scene: Scene
    happened: tuple[Happened, ...]
    """All events but `LevelMeasured`, in order."""
    ending: Ending
    verdicts: tuple[Verdict, ...]
    """On each of its expectations."""
    complaints: tuple[str, ...] = ()
    """What could not be played as the scene says it, in sentences."""

    @property
    def events(self) -> tuple[Event, ...]:
        """The events without their times."""
        return tuple(one.event for one in self.happened)

    @property
    def messages(self) -> tuple[str, ...]:
        """What the agent accepted, in order."""
        return tuple(event.text for event in self.events if isinstance(event, MessageSent))

    @property
    def waiting(self) -> tuple[str, ...]:
        """The messages that it had not accepted at the end."""
        return self.ending.waiting

    @property
    def said(self) -> tuple[str, ...]:
        """The sentences that were heard to their end."""
        return tuple(event.text for event in self.events if isinstance(event, SentenceHeard) and event.whole)

    @property
    def discarded(self) -> tuple[tuple[str, str], ...]:
        """What was heard and not delivered: each time the reason and the words."""
        return tuple((str(event.reason), event.text) for event in self.events if isinstance(event, Discarded))

    @property
    def notices(self) -> tuple[str, ...]:
        """What the person was told in writing."""
        return tuple(event.sentence for event in self.events if isinstance(event, Notice))

    @property
    def tools(self) -> tuple[tuple[float, tuple[str, ...]], ...]:
        """Which tools the agent had, each time with when that began, in seconds of the scene."""
        return tuple(
            (one.clock_s, one.event.names) for one in self.happened if isinstance(one.event, ToolsChanged)
        )

    @property
    def failures(self) -> tuple[str, ...]:
        """What is not as it should be, a sentence each; empty where the scene is as expected."""
        return (*self.complaints, *(f"{one.expected}: {one.failure}" for one in self.verdicts if not one.met))

    @property
    def lines(self) -> tuple[str, ...]:
        """What happened, as lines of JSON: those of two runs are the same."""
        return tuple(json.dumps(one.fields, ensure_ascii=False) for one in self.happened)
