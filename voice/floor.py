"""Who has the floor: the person, or our own voice. Half duplex: while we speak nothing is heard.

What the microphone picks up of our own narration must never become a message, since spoken messages count as
consent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Floor:
    """One microphone and one speaker, and who may use them now."""

    def __init__(self) -> None:
        self._narrations = 0

    @property
    def listening(self) -> bool:
        """Whether what the microphone hears is meant for us."""
        return not self._narrations

    @contextmanager
    def narration(self) -> Iterator[None]:
        """Hold the floor while a text is spoken, and until the speaker has fallen silent."""
        self._narrations += 1
        try:
            yield
        finally:
            self._narrations -= 1
