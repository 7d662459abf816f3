"""Who has the floor: the person, or our own voice; and what our own voice said lately, and when.

What the microphone picks up of our own narration must never become a message, since spoken messages count as
consent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum

from voice.audio import FRAME_S


class Duplex(StrEnum):
    """What may become a message while we speak."""

    HALF = "half"
    """Nothing: loudspeaker and microphone stand in one room. A spoken stop is obeyed all the same."""
    HEADPHONES = "headphones"
    """Everything: our voice does not reach the microphone."""
    CANCELLED = "cancelled"
    """What is left when an echo canceller has taken our own voice out."""


ECHO_TAIL_S = 0.06
"""So much of the sound that comes after a narration was still heard during it: it waited in the microphone's
buffers. On a virtual device the last frame with our voice came 0.04 s after its end."""

EARLY_S = 0.1
"""A sentence may be heard so much before it is told of: what a device tells is an estimate."""

AT_ONCE_S = FRAME_S / 2
"""Times less than half a frame apart are of one frame: each is a sum of its own, and rounded."""

REMEMBERED_S = 60.0
"""For so long a sentence is remembered after it was said: longer than any turn but the longest stays open."""


@dataclass(frozen=True)
class Said:
    """A sentence that we said aloud, and when, in the microphone's audio time."""

    text: str
    start_s: float
    end_s: float | None = None
    """None while it is being said."""


class Floor:
    """One microphone and one speaker, who may use them now, and what was said lately."""

    def __init__(self) -> None:
        self._narrations = 0
        self._tail_frames = 0
        self._frames = 0
        self._said: deque[Said] = deque()

    @property
    def now_s(self) -> float:
        """Audio time: how many frames have been asked about."""
        return self._frames * FRAME_S

    @property
    def narrating(self) -> bool:
        """Whether we speak, or what we said may still wait in the microphone's buffers."""
        return bool(self._narrations or self._tail_frames)

    @property
    def said(self) -> tuple[Said, ...]:
        """What was said lately, oldest first."""
        return tuple(self._said)

    def spoken_since(self, since_s: float) -> str:
        """The sentences that were being said at that time or later; "" where we were silent."""
        return " ".join(said.text for said in self._said if said.end_s is None or said.end_s >= since_s)

    def heard_at(self, at_s: float, dies_away_s: float) -> bool:
        """Whether our own voice, or its echo, may have been heard at this time."""
        return any(
            said.start_s - EARLY_S <= at_s and (said.end_s is None or at_s < said.end_s + dies_away_s)
            for said in self._said
        )

    def hears_next_frame(self) -> bool:
        """Whether the next frame of the microphone is the person's; to be asked once a frame."""
        self._frames += 1
        while self._said and (end_s := self._said[0].end_s) is not None:
            if end_s >= self.now_s - REMEMBERED_S:
                break
            self._said.popleft()
        if self._narrations:
            return False
        tail, self._tail_frames = self._tail_frames, max(0, self._tail_frames - 1)
        return not tail

    @contextmanager
    def narration(self) -> Iterator[None]:
        """Hold the floor while a text is spoken, and until the speaker has fallen silent."""
        self._narrations += 1
        try:
            yield
        finally:
            self._narrations -= 1
            self._tail_frames = round(ECHO_TAIL_S / FRAME_S)
            if not self._narrations:
                self.says(None)

    def says(self, sentence: str | None) -> None:
        """A sentence begins to be heard, and the one before has ended; None: nothing is heard any more."""
        if self._said and self._said[-1].end_s is None:
            self._said[-1] = replace(self._said[-1], end_s=self.now_s)
        if sentence:
            self._said.append(Said(sentence, self.now_s))

    def cut_short(self, heard: str) -> None:
        """The sentence that was said last was broken off: only these words of it were heard."""
        if self._said:
            self._said[-1] = replace(self._said[-1], text=heard)
