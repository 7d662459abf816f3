"""Is what was heard what we had just said? Words and times in; how much of them is ours out. Pure.

The last line in every mode, behind the gate and the canceller. A sound that is heard now can only be the echo
of what was said a moment ago, so the words of a transcript are held against those that were being said at
that time: "the second one" is an echo while we say it, and an answer when we have said it some seconds ago.
They are compared letter by letter, since of an echo in a room Whisper gets half of the words wrong, and
parts them elsewhere.

Our words are never taken out of the person's: whoever begins an answer with a word of the question says the
same words, and of "not the second one of these" the rest says the contrary. What is heard is theirs, or it is
not sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from voice.events import Span
from voice.floor import AT_ONCE_S, Said
from voice.wording import Word, distance, located_words, words

EARLY_S, LATE_S = 1.0, 0.7
"""An utterance can be the echo of words that were said so much before or after it: a device is late, and the
place of a word in its sentence is an estimate."""

ALIKE_LEAST, ALIKE_LETTERS = 0.34, 3.5
"""An utterance that began while we spoke is an echo when a share of its letters is ours, in their order, that
is at least the first, and the second over their number: short texts are more alike by chance. Of 330
narrations in made-up rooms, 6 to 20 dB below a person, tiny.en got 0.47 right or more (where 0.43 is asked
for); of 700 things people said, held against what was just being said, all but a few were less alike."""

SHORT_LETTERS = 8
"""In so few letters everything is alike: they are compared as whole words."""

SURE_LETTERS = 12
"""An utterance that begins with so much of what is just being said is ours, if only in part."""

REPEATED_WITHIN_S = 5.0
REPEATED_WORDS = 6
REPEATED_ALIKE = 0.85
"""An utterance that began when we were silent is an echo only where it is long, and nearly what we said in
the last seconds: a device may be later than it tells, and nobody answers with our own sentence."""

_UNALIKE = 0.6
"""Where our own words end in an utterance: letters cost more than this share of them as soon as they are not
ours."""

_NUMBERS = dict(
    zip(
        map(str, range(13)),
        "zero one two three four five six seven eight nine ten eleven twelve".split(),  # noqa: SIM905
        strict=True,
    )
)


class Ours(Enum):
    """How many of the words of an utterance are those that we were saying."""

    NONE = auto()
    IN_PART = auto()
    """It begins with them. The others are a person's, or are ours and were misheard."""
    ALL = auto()


def ours_in(text: str, heard: Span, said: Iterable[Said]) -> Ours:
    """How much of a transcript is what we were saying.

    ``heard`` is when its sound was, ``said`` what we said lately, oldest first, in the same audio time.
    """
    sentences = [sentence for sentence in said if sentence.start_s < heard.end_s]
    found = located_words(text)
    during = [one for one in sentences if one.end_s is None or one.end_s > heard.start_s + AT_ONCE_S]
    if not found or not sentences:
        return Ours.NONE
    if not during:
        return Ours.ALL if _repeats(found, heard, sentences) else Ours.NONE
    ours = _said_meanwhile(sentences, heard)
    if _all_ours(found, ours):
        return Ours.ALL
    own, to_their_end = _own_words(found, ours)
    sure = len(_letters(word.text for word in found[:own])) >= SURE_LETTERS
    return Ours.IN_PART if sure or own > len(found) / 2 or to_their_end else Ours.NONE


def is_short(text: str) -> bool:
    """Whether it has too few letters for a likeness with our own words to say much."""
    return len(_letters(words(text))) < SURE_LETTERS


def likeness(heard: str, ours: str) -> float:
    """How much of the letters of one text stands in the other, in one place and in their order: 0 to 1."""
    return 1 - float(_distances(heard, ours)[-1].min()) / len(heard) if heard else 0.0


def _all_ours(found: Sequence[Word], ours: Sequence[str]) -> bool:
    heard = _letters(word.text for word in found)
    if len(heard) <= SHORT_LETTERS:
        return _stand_in([word.text for word in found], ours)
    return likeness(heard, _letters(ours)) >= ALIKE_LEAST + ALIKE_LETTERS / len(heard)


def _own_words(found: Sequence[Word], ours: Sequence[str]) -> tuple[int, bool]:
    """How many words from the first on are ours, 0 for too few to be sure; and whether ours end with them."""
    rows = _distances(_letters(word.text for word in found), _letters(ours))
    ends = np.cumsum([len(_spelled(word.text)) for word in found])
    gains = [(1 - _UNALIKE) * end - rows[end].min() for end in ends]
    best = int(np.argmax(gains))
    if gains[best] <= 0 or ends[best] <= SHORT_LETTERS:
        return 0, False
    row = rows[ends[best]]
    return best + 1, bool(row[-SHORT_LETTERS:].min() <= row.min() + 1)


def _repeats(found: Sequence[Word], heard: Span, sentences: Sequence[Said]) -> bool:
    since_s = heard.start_s - REPEATED_WITHIN_S
    recent = [one for one in sentences if one.end_s is not None and one.end_s >= since_s]
    if len(found) < REPEATED_WORDS or not recent:
        return False
    ours = _letters(word for one in recent for word in words(one.text))
    return likeness(_letters(word.text for word in found), ours) >= REPEATED_ALIKE


def _said_meanwhile(sentences: Iterable[Said], heard: Span) -> list[str]:
    """The words that were said at that time, as if each letter took equally long."""
    meanwhile: list[str] = []
    for sentence in sentences:
        found = located_words(sentence.text)
        start_s, end_s = heard.start_s - EARLY_S, heard.end_s + LATE_S
        for word in found:
            if sentence.end_s is None:
                meanwhile.append(word.text)
                continue
            letter_s = (sentence.end_s - sentence.start_s) / len(sentence.text)
            if (
                sentence.start_s + word.end * letter_s > start_s
                and sentence.start_s + word.start * letter_s < end_s
            ):
                meanwhile.append(word.text)
    return meanwhile


def _stand_in(heard: Sequence[str], ours: Sequence[str]) -> bool:
    """Whether a few words stand in ours, in their order and side by side, or what sounds like them."""
    return any(
        all(_sounds_like(one, own) for one, own in zip(heard, ours[at:], strict=False))
        for at in range(len(ours) - len(heard) + 1)
    )


def _sounds_like(one: str, other: str) -> bool:
    one, other = _spelled(one), _spelled(other)
    limit = max(len(one), len(other)) // 4
    return one == other or (limit > 0 and distance(one, other, limit) <= limit)


def _letters(of: Iterable[str]) -> str:
    return "".join(map(_spelled, of))


def _spelled(word: str) -> str:
    return _NUMBERS.get(word, word)


def _distances(heard: str, ours: str) -> list[NDArray[np.int64]]:
    """Edit distances, a row for each beginning of ``heard``, a column for each place in ``ours``.

    In how many letters the beginning differs from what ends at that place and is most like it.
    """
    letters = np.array([ord(letter) for letter in ours], np.int64)
    places = np.arange(len(letters) + 1)
    rows = [np.zeros(len(letters) + 1, np.int64)]
    for letter in heard:
        row = rows[-1]
        changed = row[:-1] + (letters != ord(letter))
        row = np.concatenate([row[:1] + 1, np.minimum(changed, row[1:] + 1)])
        rows.append(np.minimum.accumulate(row - places) + places)
    return rows
