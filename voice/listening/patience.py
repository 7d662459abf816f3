"""Patience: how long a silence must be before somebody has finished. Pure.

A fixed silence is rude or slow. How long people pause inside a reply depends on what they were asked, and
often one hears in their words that more is to come: "and", "because", "four two seven". So the wait is made
anew in each silence, from the question, the words so far and this user's own pauses.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil


class Expected(StrEnum):
    """What kind of reply a question asks for."""

    CLOSED = "closed"
    """A yes or no, or one of some options."""
    OPEN = "open"
    """Somebody's own words; also where nothing is known of the question."""
    SPELLED = "spelled"
    """Letters or digits, one after another."""


class Eagerness(StrEnum):
    """How soon a user wants to be answered, where that costs being cut off now and then."""

    SNAPPY = "snappy"
    BALANCED = "balanced"
    PATIENT = "patient"

    @property
    def factor(self) -> float:
        """By what the silences are multiplied."""
        return {Eagerness.SNAPPY: 0.7, Eagerness.BALANCED: 1.0, Eagerness.PATIENT: 1.5}[self]


@dataclass(frozen=True)
class PatienceRule:
    """Silences in seconds; where they come from is in ``benchmarks/results/turns.md``."""

    closed_s: float = 0.5
    """After a complete reply, and a short answer to a closed question: of 225 recorded ones none pauses for
    longer."""
    open_s: float = 1.6
    """After words that might be all: with less, people who think while they speak are cut off."""
    unfinished_s: float = 2.4
    """After words that want more."""
    factor: float = 1.0
    """By what all of them are multiplied: see `Eagerness`."""


_SENTENCE_END = re.compile(r"[.!?:;]+\s")
_MORE_TO_COME = (",", "-", "\N{EN DASH}", "\N{EM DASH}", "...", "\N{HORIZONTAL ELLIPSIS}", ":", ";")
_APOSTROPHES = str.maketrans("", "", "'\N{RIGHT SINGLE QUOTATION MARK}")

SHORT_WORDS = 4
"""A reply of so many words at most can be all of the answer to a closed question; a longer one explains."""

OWN_PAUSES = 8
"""So many of the user's own pauses must be known before they count …"""

OWN_PAUSES_KEPT = 60
"""… and no more than the newest of them do, so that a tired evening is not judged by the morning."""

OWN_SHARE = 0.95
"""The wait is longer than this share of their pauses …"""

OWN_MARGIN = 1.5
"""… by this factor …"""

MOST_OWN_S = 2.4
"""… up to this, in seconds. They never make it shorter than the setting: only those pauses are known that the
wait has not cut off, so that a wait which followed them down would never hear of a longer one."""

LEAST_PAUSE_S = 0.25
"""Shorter silences are no pauses but stops between sounds."""


@dataclass
class OwnPauses:
    """The pauses inside one user's replies, learned from their speech alone."""

    _pauses: deque[float] = field(default_factory=lambda: deque(maxlen=OWN_PAUSES_KEPT))

    def learn(self, pause_s: float) -> None:
        """Take a silence after which the same reply went on."""
        if pause_s >= LEAST_PAUSE_S:
            self._pauses.append(pause_s)

    def wait_s(self, otherwise: float) -> float:
        """How long to wait after words that might be all; ``otherwise`` until enough is known."""
        if len(self._pauses) < OWN_PAUSES:
            return otherwise
        longest = sorted(self._pauses)[ceil(OWN_SHARE * len(self._pauses)) - 1]
        return max(otherwise, min(longest * OWN_MARGIN, MOST_OWN_S))


@dataclass(frozen=True)
class Wording:
    """The words of a language that patience goes by."""

    unfinished: Collection[str] = ()
    """Words after which more is to come; the last of a reply is compared with them."""
    complete: Collection[str] = ()
    """What is a whole reply when it is all that was said, whatever was asked."""
    closed: Collection[str] = ()
    """Phrases in a question that has a closed answer."""
    begins_closed: Collection[str] = ()
    """Phrases with which such a question begins."""
    spelled: Collection[str] = ()
    """Phrases in a question that wants something spelled."""

    @classmethod
    def of(cls, phrases: Mapping[str, Collection[str]]) -> Wording:
        """From the group ``patience`` of a language's phrases; what is missing there is empty."""
        return cls(
            *(
                frozenset(phrases.get(name, ()))
                for name in ("unfinished", "complete", "closed", "begins_closed", "spelled")
            )
        )

    def expected_of(self, question: str) -> Expected:
        """What kind of reply a narrated text asks for: its last question, and what is said after that.

        What wants something spelled may be closed too.
        """
        before, mark, after = question.rpartition("?")
        asked = f"{_SENTENCE_END.split(before)[-1]}{mark}{after}"
        sentences = [f" {' '.join(_words(sentence))} " for sentence in _SENTENCE_END.split(asked)]

        def holds(phrases: Collection[str]) -> bool:
            return any(f" {phrase} " in sentence for sentence in sentences for phrase in phrases)

        if holds(self.spelled):
            return Expected.SPELLED
        begins = any(
            sentence.startswith(f" {phrase} ") for sentence in sentences for phrase in self.begins_closed
        )
        return Expected.CLOSED if begins or holds(self.closed) else Expected.OPEN


@dataclass
class Patience:
    """How long to wait for one user."""

    rule: PatienceRule = field(default_factory=PatienceRule)
    wording: Wording = field(default_factory=Wording)
    own: OwnPauses = field(default_factory=OwnPauses)
    expected: Expected = Expected.OPEN
    """What the reply to come answers."""

    def expect(self, question: str) -> None:
        """Be told what the reply to come answers."""
        self.expected = self.wording.expected_of(question)

    def wait_s(self, words: str | None) -> float:
        """How long the present silence must last to end the turn, in seconds.

        ``words`` is what was said so far, None while it is not yet transcribed: then nothing is over soon.
        """
        open_s = self.own.wait_s(self.rule.open_s)
        if words is None:
            seconds = open_s
        elif unfinished(words, self.wording):
            seconds = max(self.rule.unfinished_s, open_s)
        elif self._complete(_words(words)):
            seconds = self.rule.closed_s
        else:
            seconds = max(self.rule.open_s, open_s) if self.expected is Expected.SPELLED else open_s
        return seconds * self.rule.factor

    def _complete(self, words: Sequence[str]) -> bool:
        short = self.expected is Expected.CLOSED and 0 < len(words) <= SHORT_WORDS
        return short or " ".join(words) in self.wording.complete

    def learn(self, pauses_s: Iterable[float]) -> None:
        """Take the silences inside a reply that became a message."""
        for pause_s in pauses_s:
            self.own.learn(pause_s)


def unfinished(words: str, wording: Wording) -> bool:
    """Whether the words so far want more: they end in such a word, in a comma, a dash or dots."""
    last = _words(words)[-1:]
    return words.rstrip().endswith(_MORE_TO_COME) or bool(last and last[0] in wording.unfinished)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower().translate(_APOSTROPHES))
