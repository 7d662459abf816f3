"""Words as they are compared: what was said, without case, punctuation and accents of writing. Pure.

A transcriber writes "Stop.", "stop" and "STOP!" for one and the same sound, so whatever holds a transcript
against a text holds these words against each other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_APOSTROPHES = re.compile("(?<=\\w)['\u2019\u02bc`\u00b4](?=\\w)")
_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*)+")
"""With the accents that stand by themselves behind their letter, as in the names of files on macOS."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text, and where it stands in it."""

    text: str
    """As it is compared."""
    start: int
    end: int


def words(text: str) -> tuple[str, ...]:
    """The words of a text as they are compared: ``"Don't — STOP!"`` is ``("dont", "stop")``.

    Hyphens part words, apostrophes do not; letters and digits count, nothing else does.
    """
    return tuple(word.text for word in located_words(text))


def located_words(text: str) -> tuple[Word, ...]:
    """The words of a text as they are compared, each with its place in the text as it stands."""
    found: list[Word] = []
    joined = False
    for match in _WORD.finditer(text):
        compared = unicodedata.normalize("NFKC", match[0]).casefold()
        if joined:
            last = found.pop()
            found.append(Word(last.text + compared, last.start, match.end()))
        else:
            found.append(Word(compared, match.start(), match.end()))
        joined = bool(_APOSTROPHES.match(text, match.end()))
    return tuple(found)


def find(needle: Sequence[str], hay: Sequence[str], start: int = 0) -> int:
    """Where a run of words stands in others, from ``start`` on; -1 where it does not."""
    if not needle:
        return -1
    for at in range(start, len(hay) - len(needle) + 1):
        if tuple(hay[at : at + len(needle)]) == tuple(needle):
            return at
    return -1


def distance(one: str, other: str, limit: int) -> int:
    """How many letters must be put in, left out, changed or swapped with their neighbour.

    ``limit`` + 1 stands for anything beyond ``limit``. The optimal string alignment distance, cut off where
    no cell of a row is within the limit.
    """
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, above, row = row, before, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)
