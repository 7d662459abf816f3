"""The words of one language that answers are made of, ready to be compared."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from questionnaire import Unclear
from voice.phrases import phrases_of, said
from voice.wording import words

Words = tuple[str, ...]
Phrases = tuple[Words, ...]
"""The longest first."""


class Lexicon:
    """The words of one language; without phrases for it, digits and labels are all that is understood.

    The lists are those of the group `[answers]` in the language's file, which says what each is for.
    """

    def __init__(self, language: str, reasons_in: str = "") -> None:
        self.language = language
        self._reasons_in = reasons_in or language
        phrases = phrases_of(language)
        answers = phrases.get("answers", {})

        def listed(name: str) -> Phrases:
            return longest_first(map(words, answers.get(name, ())))

        self.filler = longest_first(map(words, phrases.get("around", {}).get("filler", ())))
        self.yes, self.no = listed("yes"), listed("no")
        self.yes_labels, self.no_labels = listed("yes_labels"), listed("no_labels")
        self.refusals = frozenset(listed("refusals"))
        self.article, self.because, self.noun = listed("article"), listed("because"), listed("noun")
        self.lead = longest_first((*self.filler, *listed("lead")))
        self.trail = longest_first((*self.filler, *listed("trail")))
        self.numbered, self.about = listed("numbered"), listed("about")
        self.conjunctions, self.excepted = listed("and"), listed("except")
        self.all, self.both, self.none = listed("all"), listed("both"), listed("none")
        self.last, self.last_but_one = listed("last"), listed("last_but_one")
        self.former, self.latter, self.middle = listed("former"), listed("latter"), listed("middle")
        self.doubt, self.alternatives = listed("doubt"), listed("alternatives")
        self.negation, self.questions = listed("negation"), listed("questions")
        self.own_words, self.send, self.change = listed("own_words"), listed("send"), listed("change")
        self._wishes = {
            name: frozenset(listed(name)) for name in ("skip", "back", "cancel", "repeat", "own_words")
        }
        self.confirmations: tuple[str, ...] = tuple(answers.get("confirm", ()))
        self.numbers_take_articles: bool = answers.get("numbers_take_articles", True)
        self.ordinals = {
            words(name): number
            for number, names in enumerate(answers.get("ordinals", ()), 1)
            for name in names
        }
        self.number_sounds: dict[str, int] = dict(answers.get("number_sounds", {}))
        self.letter_sounds: dict[str, str] = dict(answers.get("letter_sounds", {}))
        self.times: dict[str, int] = dict(answers.get("times", {}))
        self.spelled: dict[str, str] = dict(answers.get("spelled", {}))
        self.zero = frozenset(answers.get("zero", ()))
        self._numbers = {words(name)[0]: number for number, name in enumerate(answers.get("numbers", ()))}
        self._tens = {words(name)[0]: 10 * ten for ten, name in enumerate(answers.get("tens", ()), 2)}
        self.requests = listed("requests")
        self.function = frozenset(word for phrase in listed("function") for word in phrase)
        empty = (self.lead, self.trail, self.negation, self.doubt, self.alternatives, self.yes, self.no)
        sizes = (self.all, self.both, self.none, self.last, tuple(self.ordinals))
        self._empty = self.function | {word for group in empty + sizes for phrase in group for word in phrase}

    def unclear(self, name: str, **values: object) -> Unclear:
        """The reason of that name, as a sentence."""
        return Unclear(said(self._reasons_in, name, **values))

    def number(self, word: str) -> int | None:
        """A cardinal, in digits or as a word."""
        if word.isascii() and word.isdecimal() and len(word) <= 4:
            return int(word)
        return self._numbers.get(word)

    def canonical(self, heard: Words) -> Words:
        """The words with numbers in digits, those in a row as one.

        Labels and transcribers write them either way: "enter seven oh three eight" and "enter 7038" are one
        and the same, "ninety eight" is 98.
        """
        written: list[str] = []
        at = 0
        while at < len(heard):
            figures, end = self._figures(heard, at)
            written.append(figures or heard[at])
            at = max(end, at + 1)
        return tuple(written)

    def sounded(self, heard: Words) -> Words:
        """The words with numbers for those that sound like one: "enter to" may have been "enter two"."""
        return tuple(str(self.number_sounds.get(word, word)) for word in heard)

    def _figures(self, heard: Words, at: int) -> tuple[str, int]:
        """The digits of the numbers that stand in a row from here on, "" for none, and the place behind."""
        figures, begin = "", at
        while at < len(heard):
            word, behind = heard[at], heard[at + 1 : at + 2]
            unit = self._numbers.get(behind[0], 0) if behind else 0
            if word in self._tens and 0 < unit < 10:
                figures, at = figures + str(self._tens[word] + unit), at + 2
                continue
            number = self._tens.get(word, self._numbers.get(word))
            if number is None and word.isascii() and word.isdecimal():
                figures += word
            elif number is None and figures and word in self.zero:
                figures += "0"  # in front of digits an "oh" is a sigh, or a letter
            elif number is not None:
                figures += str(number)
            else:
                break
            at += 1
        alone = self.number(heard[begin]) if at == begin + 1 else None
        return (figures if alone is None else str(alone)), at

    def digits(self, word: str) -> str | None:
        """What a word adds to a spelled number: digits, or one digit as a word."""
        if word.isascii() and word.isdecimal():
            return word
        digit = 0 if word in self.zero else self._numbers.get(word)
        return str(digit) if digit is not None and digit < 10 else None

    def carries(self, word: str) -> bool:
        """Whether a word says something of its own."""
        return word not in self._empty and self.number(word) is None and (len(word) > 1 or not word.isascii())

    def bare(self, heard: Words, keep_last: frozenset[str] = frozenset()) -> Words:
        """The words without filler at either end; one of ``keep_last`` at their end is none."""
        while begun := next((filler for filler in self.filler if heard[: len(filler)] == filler), None):
            heard = heard[len(begun) :]
        while heard[-1:] and heard[-1] not in keep_last:
            ended = next((filler for filler in self.filler if heard[-len(filler) :] == filler), None)
            if ended is None:
                break
            heard = heard[: -len(ended)]
        return heard

    def wish(self, heard: Words) -> str | None:
        """The name of the wish that these words express, and nothing else."""
        return next(
            (
                name
                for whole in (heard, self.bare(heard))
                for name, said in self._wishes.items()
                if whole in said
            ),
            None,
        )


@cache
def lexicon_of(language: str, reasons_in: str = "") -> Lexicon:
    """The lexicon of a language, by its code; what is unclear is told in ``reasons_in``, else in that too."""
    return Lexicon(language, reasons_in)


def longest_first(phrases: Iterable[Words]) -> Phrases:
    """Phrases without doubles and empty ones, those of most words first."""
    return tuple(sorted(dict.fromkeys(filter(None, phrases)), key=len, reverse=True))


def holds(heard: Words, phrases: Iterable[Words]) -> bool:
    """Whether one of the phrases stands in the words."""
    return any(
        heard[at : at + len(phrase)] == phrase
        for phrase in phrases
        for at in range(len(heard) - len(phrase) + 1)
    )
