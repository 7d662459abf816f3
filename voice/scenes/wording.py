"""Who understands what, where words are scripted. Pure.

Each word of a text is given a place in the sound that it is the text of; of a piece of sound those words are
understood whose places are in it. So a reply that is cut at a pause, dropped half-way or joined gives the
words that a transcriber would have found in what is left.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from voice.audio import FRAME_S, FRAME_SAMPLES, SAMPLE_RATE, Frame, Samples, level_dbfs

PAUSE = re.compile(r"\s*…\s+|\s*\.\.\.\s+")
"""What stands for a pause in a text."""

_BELOW_LOUDEST_DB = 35.0
"""What is quieter than the loudest frame by more than this is no part of a word."""

_PAUSE_S = 0.25
"""A gap this long parts two stretches of speech."""

REMEMBERED_S = 60.0
"""A piece is at most 30 s long."""


@dataclass(frozen=True)
class PlacedWord:
    """A word, and the frame in the middle of it."""

    text: str
    frame: int
    say: int
    """Which text it is of: texts are counted."""


@dataclass
class Wording:
    """All words that were put into the air, and what a microphone has heard of it."""

    placed: list[PlacedWord] = field(default_factory=list)
    _says: int = 0
    _heard: dict[bytes, list[int]] = field(default_factory=dict)
    _last: int = -1

    def put(self, text: str, samples: Samples, at_s: float) -> int:
        """Lay a text over the sound that it is said in, which begins then; returns the number of the text.

        What is heard together, of two who speak at once, is understood in the order of its words.
        """
        offset = round(at_s * SAMPLE_RATE) // FRAME_SAMPLES
        for word, frame in placed_words(text, samples):
            self.placed.append(PlacedWord(word, offset + frame, self._says))
        self._says += 1
        return self._says - 1

    def cut(self, at_s: float) -> None:
        """What would be said from then on is not."""
        frame = round(at_s / FRAME_S)
        self.placed = [word for word in self.placed if word.frame < frame]

    def heard(self, number: int, frame: Frame) -> None:
        """A microphone gave out this frame."""
        self._last = number
        if frame.any():
            at = self._heard.setdefault(frame.tobytes(), [])
            if not at or at[-1] != number:
                at.append(number)
        if number % round(REMEMBERED_S / FRAME_S) == 0:
            oldest = number - 2 * round(REMEMBERED_S / FRAME_S)
            self._heard = {key: kept for key, at in self._heard.items() if (kept := _since(at, oldest))}

    def understood(self, samples: Samples) -> tuple[str, tuple[int, ...]]:
        """The words in a piece of what was heard, and which texts they are of.

        A piece is found again by its frames. Those that were changed on the way (our own voice was taken out
        of them) are taken to lie before the one that follows them.
        """
        numbers = self._numbers(list(samples.reshape(-1, FRAME_SAMPLES)))
        found = sorted((word for word in self.placed if word.frame in numbers), key=lambda word: word.frame)
        return " ".join(word.text for word in found), tuple(dict.fromkeys(word.say for word in found))

    def span(self, samples: Samples) -> tuple[int, int]:
        """The first and the last frame of a piece of what was heard, as far as it is not silent."""
        numbers = self._numbers(list(samples.reshape(-1, FRAME_SAMPLES))) or {self._last}
        return min(numbers), max(numbers)

    def _numbers(self, frames: Sequence[Frame]) -> set[int]:
        numbers: set[int] = set()
        following = self._last + 1
        for frame in reversed(frames):
            at = self._heard.get(frame.tobytes(), [])
            before = bisect_left(at, following)
            following = at[before - 1] if before else following - 1
            if frame.any():
                numbers.add(following)
        return numbers


def _since(at: list[int], oldest: int) -> list[int]:
    return at[bisect_left(at, oldest) :]


def placed_words(text: str, samples: Samples) -> Iterable[tuple[str, int]]:
    """Each word of a text with the frame, counted from the beginning of the sound, in which it is said.

    The parts of a text between pauses are laid over the stretches of sound between its longest pauses.
    """
    parts = [part for part in PAUSE.split(text.strip()) if part]
    stretches = _joined(_stretches(samples), len(parts))
    if len(stretches) < len(parts):
        parts = [" ".join(parts)]
    for part, voiced in zip(parts, stretches, strict=False):
        letters = 0
        for word in part.split():
            middle = (letters + len(word) / 2) / len(part)
            yield word, voiced[min(int(middle * len(voiced)), len(voiced) - 1)]
            letters += len(word) + 1


def _stretches(samples: Samples) -> list[list[int]]:
    """The frames in which somebody speaks, parted at the pauses; all there are where nothing stands out."""
    whole = len(samples) // FRAME_SAMPLES
    levels = [level_dbfs(frame) for frame in samples[: whole * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)]
    if not levels:
        return [[0]]
    loudest = max(levels)
    found: list[list[int]] = []
    for number, level in enumerate(levels):
        if level < max(loudest - _BELOW_LOUDEST_DB, -90.0):
            continue
        if found and number - found[-1][-1] <= round(_PAUSE_S / FRAME_S):
            found[-1].append(number)
        else:
            found.append([number])
    return found or [list(range(whole))]


def _joined(stretches: list[list[int]], count: int) -> list[list[int]]:
    """So many stretches, parted at the longest pauses."""
    while len(stretches) > max(1, count):
        gaps = [later[0] - earlier[-1] for earlier, later in pairwise(stretches)]
        at = int(np.argmin(gaps))
        stretches = [*stretches[:at], stretches[at] + stretches[at + 1], *stretches[at + 2 :]]
    return stretches
