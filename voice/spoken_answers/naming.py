"""What can name an option: its number or its label, as people say and as transcribers write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from questionnaire import Option, Question
from voice.spoken_answers.lexicon import Lexicon, Words, holds
from voice.spoken_answers.reply import PAUSE, tokens_of
from voice.wording import distance

NOTHING_SURE = -1
"""An index that stands beside those of options where none of them is sure."""

_MISHEARD_PER = 5
"""One letter in so many may differ, two at most: shorter names have too many neighbours that are words."""
_MOST_MISHEARD = 2
_SHORT_FORM = 4
"""Letters at the beginning of a long word that may stand for it, if they are three fifths of it too."""


class Label:
    """An option, as it can be named."""

    def __init__(self, option: Option, lexicon: Lexicon) -> None:
        self.words: Words = _words(option.label, lexicon)
        self.canonical = lexicon.canonical(self.words)
        self.joined = "".join(self.canonical)
        self.described = frozenset((*self.words, *_words(option.description, lexicon)))
        """All words of its label and its description."""
        said_first = next(
            (p for p in (*lexicon.yes_labels, *lexicon.no_labels) if self.words[: len(p)] == p), ()
        )
        self.negated = holds(self.words[len(said_first) :], lexicon.negation)  # "No, keep it" says: keep it
        self._names = {self.joined, *(word for word in self.words if word not in lexicon.function)}

    def has_part(self, joined: str) -> bool:
        """Whether whole words in a row, spaces aside, are this."""
        for begin in range(len(self.canonical)):
            run = ""
            for word in self.canonical[begin:]:
                run += word
                if run == joined:
                    return True
        return False

    def has_beginning(self, joined: str) -> bool:
        """Whether one long word begins so: "postgres" is PostgreSQL, and 8080 no short form of 80801."""
        return len(joined) >= _SHORT_FORM and any(
            word.startswith(joined) and len(joined) >= 0.6 * len(word) and _same_digits(joined, word)
            for word in self.words
        )

    def sounds_like(self, joined: str, more: int = 0) -> bool:
        """Whether it, or a word of it, may have been misheard as this, by so many letters ``more``."""
        return any(_misheard(joined, name, more) for name in self._names)


def _words(text: str, lexicon: Lexicon) -> Words:
    return tuple(lexicon.spelled.get(token, token) for token in tokens_of(text) if token != PAUSE)


def _misheard(heard: str, name: str, more: int) -> bool:
    limit = min(_MOST_MISHEARD, len(name) // _MISHEARD_PER)
    near = limit > 0 and heard[0] == name[0] and distance(heard, name, limit + more) <= limit + more
    return near and _same_digits(heard, name)


def _same_digits(one: str, other: str) -> bool:
    """Whether the digits are the same: another one is another number, and not misheard ("release 2.5")."""
    return [c for c in one if c.isdecimal()] == [c for c in other if c.isdecimal()]


class Options:
    """The options of a question, found by what was said."""

    def __init__(self, question: Question, lexicon: Lexicon) -> None:
        self.labels = [Label(option, lexicon) for option in question.options]
        self._lexicon = lexicon

    def called(self, heard: Words) -> list[int]:
        """The options whose label is exactly this."""
        rows = [index for index, label in enumerate(self.labels) if heard and label.words == heard]
        ways = [heard, self._lexicon.sounded(heard)] if len(heard) > 1 else [heard]
        for canonical in map(self._lexicon.canonical, ways):
            rows = rows or [
                index for index, label in enumerate(self.labels) if heard and label.canonical == canonical
            ]
        return rows

    def named(self, span: Words, *, alone: bool, pauses: bool) -> Iterator[int]:
        """The options that these words name, by each of the ways there are.

        ``alone`` says that they are all that was said: then sounds and bare letters are taken for what they
        must be. A span with ``pauses`` in it can only be a whole label.
        """
        if not pauses:
            for number in self._numbers(span, alone):
                if 1 <= number <= len(self.labels):
                    yield number - 1
                    if self._may_be_an_amount(span, number):
                        yield NOTHING_SURE
        for prefix in self._lexicon.numbered:
            if span[: len(prefix)] == prefix:
                yield from self.called(span[len(prefix) :])
        nouns = [noun for noun in self._lexicon.noun if self._ends_with(span, noun)]
        # "The large one": the noun is no part of a label that sounds much the same.
        yield from self._by_label(span, exactly=pauses or bool(nouns))
        for noun in nouns:
            yield from self._by_label(span[: -len(noun)], exactly=pauses)

    def described(self, span: Words) -> int | None:
        """The one option that has all these words in its label or its description."""
        content = {word for word in span if word not in self._lexicon.function}
        fitting = [index for index, label in enumerate(self.labels) if content and content <= label.described]
        if len(fitting) != 1:
            return None
        known = (*span, *self.labels[fitting[0]].described)
        return None if holds(known, self._lexicon.negation) else fitting[0]

    def _numbers(self, span: Words, alone: bool) -> Iterator[int]:
        """The numbers from 1 that the words are, by cardinal, letter or place."""
        for prefix in ((), *self._lexicon.numbered):
            if len(span) == len(prefix) + 1 and span[: len(prefix)] == prefix:
                for number in self._cardinal(span[-1], sure=alone or bool(prefix)):
                    yield number
                    # The number may be the text of a label: then that may have been meant.
                    yield from (row + 1 for row in self.called((str(number),)))
        for noun in ((), *self._lexicon.noun):
            if not noun or self._ends_with(span, noun):
                yield from self._place(span[: len(span) - len(noun)])

    def _ends_with(self, span: Words, noun: Words) -> bool:
        """Whether this noun stands last, and is not the end of a number: "sixty one" is no sixty."""
        before = span[-len(noun) - 1 : -len(noun)]
        return span[-len(noun) :] == noun and len(self._lexicon.canonical((*before, *noun))) > len(noun)

    def _may_be_an_amount(self, span: Words, number: int) -> bool:
        """Whether a bare number may be an answer that is not offered: "three", where there are 2, 4 and 8."""
        bare = len(span) == 1 and number == self._lexicon.number(span[0])
        amounts = {self._lexicon.number(label.words[0]) for label in self.labels if label.words} - {None}
        return bare and bool(amounts) and number not in amounts

    def _cardinal(self, word: str, *, sure: bool) -> Iterator[int]:
        lexicon = self._lexicon
        number = lexicon.number(word)
        if number is None and sure:
            number = lexicon.number_sounds.get(word)
        if number is not None:
            yield number
        elif sure:
            letter = lexicon.letter_sounds.get(word, word)
            # A label that is this letter, or holds it as a word ("C", "Plan B"), is what was meant.
            if (
                len(letter) == 1
                and "a" <= letter <= "z"
                and all(letter not in label.words for label in self.labels)
            ):
                yield ord(letter) - ord("a") + 1

    def _place(self, span: Words) -> Iterator[int]:
        lexicon, count = self._lexicon, len(self.labels)
        if span in lexicon.ordinals:
            yield lexicon.ordinals[span]
        if span in lexicon.last or (count == 2 and span in lexicon.latter):
            yield count
        if span in lexicon.last_but_one:
            yield count - 1
        if count == 2 and span in lexicon.former:
            yield 1
        if count % 2 and span in lexicon.middle:
            yield count // 2 + 1

    def _by_label(self, span: Words, *, exactly: bool) -> set[int]:
        """The options whose label this is, or is a part of, or sounds like; the nearest way only."""
        joined = "".join(self._lexicon.canonical(span))
        if not joined:
            return set()
        if whole := {*self.called(span)} or self._those(lambda label: label.joined == joined):
            return whole
        if exactly or all(word in self._lexicon.function for word in span):
            return set()
        parts = self._those(lambda label: label.has_part(joined))
        # A little word ("no", "two", "a") is never a misheard piece of a label: it says something of its own.
        if not parts and all(map(self._lexicon.carries, span)):
            parts = self._those(lambda label: label.has_beginning(joined))
            if not parts and (parts := self._those(lambda label: label.sounds_like(joined))):
                parts |= self._those(lambda label: label.sounds_like(joined, more=1))
        # Where a "not" would be left out, the part names the contrary as well.
        left_out = any(self.labels[index].negated for index in parts) and not holds(
            span, self._lexicon.negation
        )
        return parts | {NOTHING_SURE} if left_out else parts

    def _those(self, fits: Callable[[Label], bool]) -> set[int]:
        return {index for index, label in enumerate(self.labels) if fits(label)}
