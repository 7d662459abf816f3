"""Nothing is said twice: which sentences of a text have been said already. Pure.

An agent may write what it then narrates too, or the other way round, with a word or two changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from voice.speaking.speakable import speakable
from voice.wording import words

NEARLY = 0.85
"""Two sentences are the same when more of their words are, in their order: one word in seven may differ. A
sentence of six words or fewer must be the same, for there one word ("not") may change everything."""


def unsaid(text: str, said: Iterable[str], language: str = "en") -> tuple[str, ...]:
    """The sentences of a text, as they are spoken, that are in none of the texts that were said."""
    before = [words(sentence) for earlier in said for sentence in speakable(earlier, language)]
    return tuple(
        sentence
        for sentence in speakable(text, language)
        if not any(_same(words(sentence), old) for old in before)
    )


def _same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return one == other or (matcher.real_quick_ratio() > NEARLY and matcher.ratio() > NEARLY)
