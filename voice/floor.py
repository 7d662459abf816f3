"""Who has the floor: the person, or our own voice. Half duplex: while we speak nothing is heard.

What the microphone picks up of our own narration must never become a message, since spoken messages count as
consent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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


class Floor:
    """One microphone and one speaker, and who may use them now."""

    def __init__(self) -> None:
        self._narrations = 0
        self._tail_frames = 0

    def hears_next_frame(self) -> bool:
        """Whether the next frame of the microphone is the person's; to be asked once a frame."""
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
