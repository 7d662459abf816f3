"""Are two texts the same words? Normalisation, edit distance and word error rate: pure.

Whisper writes for readers ("Enter 6:08, please."), references say what was spoken ("enter six oh eight
please"). `words_of` takes both to one form, so that only what was heard differently counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
TEENS = [
    "eleven",
    "twelve",
    *(f"{stem}teen" for stem in ("thir", "four", "fif", "six", "seven", "eigh", "nine")),
]
TENS = [f"{stem}ty" for stem in ("twen", "thir", "for", "fif", "six", "seven", "eigh", "nine")]

_SMALL = {word: value for value, word in enumerate(UNITS + TEENS)}
_TENS = {word: value * 10 for value, word in enumerate(TENS, start=2)}
_SCALES = {"hundred": 100, "thousand": 1_000}
_COUNTS = {*_SMALL, *_TENS}

_SPELLINGS = {
    "mr": "mister",
    "mrs": "missus",
    "dr": "doctor",
    "ok": "okay",
    "%": "percent",
    "&": "and",
    "1st": "first",
    "2nd": "second",
    "3rd": "third",
}
"""What Whisper abbreviates, and how references write it."""

_TOKEN = re.compile(r"1st|2nd|3rd|[0-9]|[^\W\d_]+(?:'[^\W\d_]+)*|'[^\W\d_]+|[%&]")

RESAMPLES = 2_000
SEED = 20_260


def words_of(text: str) -> list[str]:
    """The words of a text in the form in which they are scored.

    * Case, punctuation and hyphens go; apostrophes inside a word stay ("it's" is one word, not "it is").
    * Numbers are scored digit by digit, however they were written: "42", "forty two" and "forty-two" are
      4 2; "4271", "four two seven one" and "4, 2, 7, 1" are 4 2 7 1; "nine seventy two" and "nine hundred
      and seventy two" are 9 7 2; "oh" beside a digit is 0.
    * Spelled letters are joined: "u m n y", "U-M-N-Y" and "UMNY" are umny; "g four" and "G4" are g 4. The
      letter o between letters and digits is 0, since nobody can hear which is meant.
    * A few abbreviations of Whisper's are written out (Mr., Dr., OK, %, &, 1st).
    """
    plain = unicodedata.normalize("NFKC", text).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    tokens = [_Token.of(token) for token in _TOKEN.findall(plain)]
    return _numbers_as_digits(_letters_joined(tokens))


@dataclass(frozen=True)
class _Token:
    text: str
    spelled: bool
    """Whether it is a letter by itself, or letters in capitals as in a spelled string."""

    @classmethod
    def of(cls, written: str) -> _Token:
        text = written.lower()
        if text in _SPELLINGS:
            return cls(_SPELLINGS[text], spelled=False)
        return cls(text, spelled=written.isalpha() and (len(written) == 1 or written.isupper()))


def _letters_joined(tokens: Sequence[_Token]) -> list[str]:
    """Runs of spelled letters as one word each."""
    words: list[str] = []
    run = ""
    for index, token in enumerate(tokens):
        if token.spelled:
            run += token.text
            if index + 1 < len(tokens) and tokens[index + 1].spelled:
                continue
            follower = tokens[index + 1].text if index + 1 < len(tokens) else ""
            rest = len(run.rstrip("o")) if _is_number(follower) else len(run)
            # An o that stands alone is left to the rule for numbers.
            words += [run[:rest]] if rest else []
            words += ["o"] * (len(run) - rest)
            run = ""
        else:
            words.append(token.text)
    return words


def _numbers_as_digits(words: Sequence[str]) -> list[str]:
    """Numbers as their digits, one word each."""
    digits: list[str] = []
    at = 0
    while at < len(words):
        if words[at] in {"oh", "o"} and _beside_number(words, at):
            digits.append("0")
            at += 1
        elif words[at] in _COUNTS:
            value, at = _number(words, at)
            digits += str(value)
        else:
            digits.append(words[at])
            at += 1
    return digits


def _beside_number(words: Sequence[str], at: int) -> bool:
    """Whether a number is next to it, with nothing but more of the same between."""
    before, after = at - 1, at + 1
    while before >= 0 and words[before] in {"oh", "o"}:
        before -= 1
    while after < len(words) and words[after] in {"oh", "o"}:
        after += 1
    return (before >= 0 and _is_number(words[before])) or (after < len(words) and _is_number(words[after]))


def _is_number(word: str) -> bool:
    return word.isdigit() or word in _COUNTS or word in _SCALES


def _number(words: Sequence[str], at: int) -> tuple[int, int]:
    """The one number that begins there, as it is spoken, and where it ends."""
    value, at = _below_hundred(words, at)
    for scale, unit in _SCALES.items():
        if at < len(words) and words[at] == scale:
            value, at = value * unit, at + 1
            following = at + (at < len(words) and words[at] == "and")
            if following < len(words) and words[following] in _COUNTS:
                low, at = _number(words, following) if unit > 100 else _below_hundred(words, following)
                value += low
    return value, at


def _below_hundred(words: Sequence[str], at: int) -> tuple[int, int]:
    if words[at] in _TENS:
        tens = _TENS[words[at]]
        unit = _SMALL.get(words[at + 1], 0) if at + 1 < len(words) else 0
        return (tens + unit, at + 2) if 1 <= unit <= 9 else (tens, at + 1)
    return _SMALL[words[at]], at + 1


@dataclass(frozen=True)
class Score:
    """How many words of a reference there are, and how many edits lead from it to what was heard."""

    words: int
    errors: int

    def __add__(self, other: Score) -> Score:
        return Score(self.words + other.words, self.errors + other.errors)

    @property
    def rate(self) -> float:
        """The word error rate; 0 where there are no words."""
        return self.errors / self.words if self.words else 0.0


def score(reference: str, heard: str) -> Score:
    """Compare two texts as `words_of` gives them: substitutions, deletions and insertions count 1 each."""
    expected = words_of(reference)
    return Score(len(expected), edit_distance(expected, words_of(heard)))


def edit_distance(expected: Sequence[str], heard: Sequence[str]) -> int:
    """The least number of substitutions, deletions and insertions between two lists of words."""
    return _distances(expected, heard)[-1][-1]


def right_words(expected: Sequence[str], heard: Sequence[str]) -> set[int]:
    """Which of the expected words are there: their indices in one best alignment."""
    table = _distances(expected, heard)
    right: set[int] = set()
    i, j = len(expected), len(heard)
    while i and j:
        if expected[i - 1] == heard[j - 1] and table[i][j] == table[i - 1][j - 1]:
            i, j = i - 1, j - 1
            right.add(i)
        elif table[i][j] == table[i - 1][j - 1] + 1:
            i, j = i - 1, j - 1
        elif table[i][j] == table[i - 1][j] + 1:
            i -= 1
        else:
            j -= 1
    return right


def _distances(expected: Sequence[str], heard: Sequence[str]) -> list[list[int]]:
    """The distances between all beginnings of the two."""
    table = [list(range(len(heard) + 1))]
    for i, word in enumerate(expected, start=1):
        row = [i]
        for j, other in enumerate(heard, start=1):
            row.append(min(table[-1][j] + 1, row[-1] + 1, table[-1][j - 1] + (word != other)))
        table.append(row)
    return table


@dataclass(frozen=True)
class Comparison:
    """Two systems on the same clips: word error rates, and what the second sample could have been.

    The intervals hold 95 % of the rates of clips drawn anew, with replacement, from those measured.
    """

    first: Score
    second: Score
    first_interval: tuple[float, float]
    second_interval: tuple[float, float]
    difference_interval: tuple[float, float]

    @property
    def difference(self) -> float:
        """The first rate less the second."""
        return self.first.rate - self.second.rate


def compare(first: Sequence[Score], second: Sequence[Score]) -> Comparison:
    """Compare two systems; ``first[i]`` and ``second[i]`` are of the same clip, and there is at least one."""
    counts = np.array([(a.words, a.errors, b.errors) for a, b in zip(first, second, strict=True)], float)
    drawn = np.random.default_rng(SEED).integers(len(counts), size=(RESAMPLES, len(counts)))
    words, errors, others = counts[drawn].sum(axis=1).T
    words = np.maximum(words, 1)
    return Comparison(
        sum(first, Score(0, 0)),
        sum(second, Score(0, 0)),
        _middle_95(errors / words),
        _middle_95(others / words),
        _middle_95((errors - others) / words),
    )


def _middle_95(values: np.ndarray) -> tuple[float, float]:
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)
