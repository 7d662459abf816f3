"""Patience: how long a silence must be before somebody has finished. Pure.

A fixed silence is rude or slow. How long people pause inside a reply depends on what they were asked, and
often one hears in their words that more is to come: "and", "because", "four two seven". So the wait is made
anew in each silence, from the question, the words so far and this user's own pauses.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import partial
from itertools import dropwhile, pairwise, takewhile
from math import ceil

from voice.wording import words as words_of

Answers = Callable[[Sequence[str], str], bool]
"""Whether a text is a whole reply to a question with options of these labels."""


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

    closed_s: float = 0.44
    """After a complete reply, and a short answer to a closed question: of 225 recorded ones none pauses for
    longer, and two for 0.4 s."""
    open_s: float = 1.6
    """After words that might be all: with less, people who think while they speak are cut off."""
    unfinished_s: float = 2.4
    """After words that want more, and in the middle of letters or digits, for all that one can tell."""
    factor: float = 1.0
    """By what all of them are multiplied: see `Eagerness`."""


_SENTENCE_END = re.compile(r"[.!?:;]+\s")
_MORE_TO_COME = (",", "-", "\N{EN DASH}", "\N{EM DASH}", "...", "\N{HORIZONTAL ELLIPSIS}", ":", ";")
_APOSTROPHES = str.maketrans("", "", "'\N{RIGHT SINGLE QUOTATION MARK}")
_SAID = re.compile(r"\d+(?:[.,:/]\d+)+|\w+")
"""A word, or a number with the marks inside it: "3.11" and "10:30" are no two numbers in a row."""
_RUN_TOGETHER = re.compile(r"\b(?=\d*[A-Z])[A-Z\d]{2,}(?:\s\d+)?\W*$")
"""Letters and figures that were spelled, as a transcriber likes to write them: "RQZH4", "SUOU 86". Where
nobody asked for it an "API" is a word like others."""

SHORT_WORDS = 4
"""A reply of so many words at most can be all of the answer to a closed question; a longer one explains."""

ASKS_SHARE = 0.6
"""Who has asked something waits for an answer: so much of the wait after other words that might be all."""

OWN_PAUSES = 8
"""So many of the user's own pauses must be known before they count …"""

OWN_PAUSES_KEPT = 60
"""… and no more than the newest of them do, so that a tired evening is not judged by the morning."""

OWN_SHARE = 0.95
"""The wait is longer than this share of their pauses …"""

OWN_MARGIN = 1.5
"""… by this factor …"""

MOST_OWN_S = 2.4
"""… up to this, in seconds, which `Eagerness` multiplies as it does everything. They never make it shorter
than the setting: who has paused for 0.4 s so far may stop to think the next time, and a shorter wait would
ask for that price in every open reply."""

LEAST_PAUSE_S = 0.25
"""Shorter silences are no pauses but stops between sounds."""

GOES_ON_S = 5.0
"""What goes on with a message, by its words, is a part of it that came too late when it begins so soon after
it; by the time alone …"""

GOES_ON_SOON_S = 1.0
"""… when it begins so soon after the message was decided on."""


@dataclass
class OwnPauses:
    """The pauses inside one user's replies, learned from their speech alone.

    Those that ended a turn too early are among them: see `Patience.learn_from_what_followed`.
    """

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
    """Words and phrases after which more is to come; the end of a reply is compared with them."""
    ends_question: Collection[str] = ()
    """Those of them that a whole question may end in: "What is that good for?"."""
    complete: Collection[str] = ()
    """What is a whole reply when it is all that was said, whatever was asked."""
    closed: Collection[str] = ()
    """Phrases in a question that has a closed answer."""
    begins_closed: Collection[str] = ()
    """Phrases with which such a question begins."""
    spelled: Collection[str] = ()
    """Phrases in a question that wants something spelled."""
    several: Collection[str] = ()
    """Phrases in a question to which several options are an answer."""
    figures: Collection[str] = ()
    """Number words that are said for one figure, or two, after another."""
    tens: Collection[str] = ()
    """Number words that a figure may follow."""
    multiples: Collection[str] = ()
    """Number words that multiply the one before them, and that any smaller number may follow."""
    joins: Collection[str] = ()
    """Words with which somebody goes on with what they have said."""

    @classmethod
    def of(cls, phrases: Mapping[str, Collection[str]]) -> Wording:
        """From the group ``patience`` of a language's phrases; what is missing there is empty."""
        return cls(**{one.name: frozenset(phrases.get(one.name, ())) for one in fields(cls)})

    def expected_of(self, question: str, *, options: bool = False) -> Expected:
        """What kind of reply a narrated text asks for: its last question, and what is said after that.

        What wants something spelled may be closed too. ``options`` says that it has some to choose from.
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
        if holds(self.several):
            return Expected.OPEN
        return Expected.CLOSED if options or begins or holds(self.closed) else Expected.OPEN


@dataclass
class Patience:
    """How long to wait for one user.

    ``answers`` tells which replies name an option, a place or a wish; without it every short one may.
    """

    rule: PatienceRule = field(default_factory=PatienceRule)
    wording: Wording = field(default_factory=Wording)
    own: OwnPauses = field(default_factory=OwnPauses)
    expected: Expected = Expected.OPEN
    """What the reply to come answers."""
    answers: Answers | None = None
    _options: tuple[str, ...] = ()

    def expect(self, question: str, options: Sequence[str] = ()) -> None:
        """Be told what the reply to come answers, and the labels of what can be chosen."""
        self._options = tuple(dict.fromkeys(options))
        self.expected = self.wording.expected_of(question, options=bool(options))

    def wait_s(self, words: str | None) -> float:
        """How long the present silence must last to end the turn, in seconds.

        ``words`` is what was said so far, None while it is not yet transcribed: then nothing is over soon.
        """
        open_s = self.own.wait_s(self.rule.open_s)
        if words is None:
            seconds = open_s
        elif unfinished(words, self.wording):
            seconds = max(self.rule.unfinished_s, open_s)
        elif self._complete(words):
            seconds = self.rule.closed_s
        elif self._may_be_within(words):
            seconds = max(self.rule.unfinished_s, open_s)
        elif asks(words):
            seconds = ASKS_SHARE * open_s
        else:
            seconds = open_s
        return seconds * self.rule.factor

    def learn(self, pauses_s: Iterable[float]) -> None:
        """Take the silences inside a reply that became a message."""
        for pause_s in pauses_s:
            self.own.learn(pause_s)

    def learn_from_what_followed(self, before: str, words: str, *, pause_s: float, waited_s: float) -> None:
        """Take the silence between a message and the next, where that was the rest of it.

        The wait had ended the turn too early, which is the one thing that the pauses inside turns can never
        tell. ``waited_s`` is how long it was; what was answered soon was complete, and teaches nothing.
        Nothing was narrated between the two.
        """
        share = ASKS_SHARE if asks(before) else 1.0
        if waited_s < share * self.rule.open_s * self.rule.factor - _ROUNDING_S or pause_s > GOES_ON_S:
            return
        soon = pause_s <= waited_s + GOES_ON_SOON_S
        if soon or goes_on(before, words, self.wording):
            self.own.learn(pause_s)

    def _complete(self, text: str) -> bool:
        words = _words(text)
        if " ".join(words) in self.wording.complete:
            return True
        if self.expected is Expected.OPEN or not words or asks(text):
            return False
        if self._options and self.answers is not None:
            return self._chooses(text, words)
        if self.expected is Expected.SPELLED:
            return False
        return len(words) <= SHORT_WORDS and not spells(text, self.wording)

    def _chooses(self, text: str, words: Sequence[str]) -> bool:
        """Whether it is all of an answer, as far as one can tell: "Redis" may become "Redis Cluster".

        Where something is to be spelled "two" may be the second option, or the first of some figures.
        """
        assert self.answers is not None
        labels = [words_of(label) for label in self._options]
        said = words_of(text)
        if said in labels:
            return not any(label != said and label[: len(said)] == said for label in labels)
        short = len(words) <= SHORT_WORDS and self.expected is Expected.CLOSED
        return short and self.answers(self._options, text)

    def _may_be_within(self, text: str) -> bool:
        """Whether it may end in the middle of letters or digits."""
        if spells(text, self.wording):
            return True
        spelled = round_number(text, self.wording) or _RUN_TOGETHER.search(text) is not None
        return self.expected is Expected.SPELLED and spelled


_ROUNDING_S = 0.05
"""Two frames and more: waits are whole frames."""


def unfinished(words: str, wording: Wording) -> bool:
    """Whether the words so far want more: they end in such a word, in a comma, a dash or dots."""
    said = _words(words)
    if asks(words) and said[-1] in wording.ends_question:
        return False
    ends = (" ".join(said[-count:]) for count in range(1, min(len(said), _LONGEST_PHRASE) + 1))
    return words.rstrip().endswith(_MORE_TO_COME) or any(end in wording.unfinished for end in ends)


_LONGEST_PHRASE = 4


def asks(words: str) -> bool:
    """Whether it ends in a whole question: the transcriber hears one, and writes the mark.

    It also writes one behind a few words that only begin a question: "Should we?".
    """
    return words.rstrip().endswith("?") and len(_words(_SENTENCE_END.split(words.strip())[-1])) >= SHORT_WORDS


def spells(words: str, wording: Wording) -> bool:
    """Whether it ends in letters or figures that were said one after another, two of them or more.

    A run of figures in one number ("8080") tells nothing of how it was said.
    """
    run = list(takewhile(partial(_is_figure_or_letter, wording=wording), reversed(_words(words))))[::-1]
    run = list(dropwhile(lambda word: word in wording.unfinished, run))  # "a" and "i" are words as well
    return len(run) - sum(_one_number(first, second, wording) for first, second in pairwise(run)) > 1


def _is_figure_or_letter(word: str, wording: Wording) -> bool:
    numbers = (wording.figures, wording.tens, wording.multiples)
    return word[0].isdecimal() or len(word) == 1 or any(word in those for those in numbers)


def _one_number(first: str, second: str, wording: Wording) -> bool:
    """Whether two number words in a row are of one number: "twenty five", "one hundred", "hundred twenty"."""
    multiplied = second in wording.multiples or first in wording.multiples
    return multiplied or (first in wording.tens and second in wording.figures)


def round_number(words: str, wording: Wording) -> bool:
    """Whether it ends in a number that a smaller one may follow: "twenty", "300"."""
    last = (_words(words) or [""])[-1]
    if not last.isdecimal():
        return last in wording.tens or last in wording.multiples
    number = int(last)
    return number >= 20 and (number % 100 == 0 or (number % 10 == 0 and number % 100 >= 20))


def goes_on(before: str, words: str, wording: Wording) -> bool:
    """Whether a text goes on with the one before it, which had been taken for all."""
    first = (_words(words) or [""])[0]
    return words[:1].islower() or first in wording.joins or unfinished(before, wording)


def _words(text: str) -> list[str]:
    return _SAID.findall(text.lower().translate(_APOSTROPHES))
