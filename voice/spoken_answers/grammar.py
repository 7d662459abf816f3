"""The grammar of a naming: something that leads to it, options joined by "and" or pauses, something behind.

All ways to read a reply are followed, and each gives a set of options; only where all of them agree is
anything chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from voice.spoken_answers.lexicon import Lexicon, Phrases, Words, holds
from voice.spoken_answers.naming import Options
from voice.spoken_answers.reply import PAUSE, without_last_pause

LONGEST_NAMING = 24
"""Words of a reply that can still be a naming; a longer one says something of its own."""

Selection = frozenset[int]


class Grammar:
    """Reads tokens as namings of some options; ``lead`` may stand before them, besides what always may."""

    def __init__(self, options: Options, lexicon: Lexicon, lead: Iterable[Words] = ()) -> None:
        self._options = options
        self._lexicon = lexicon
        self._lead: Phrases = (*lexicon.lead, *lead)

    def selections(self, tokens: Sequence[str]) -> set[Selection]:
        """The sets of options that all of the tokens can be read as; empty where they are no naming."""
        tokens = self._before_reason(list(tokens))
        if not tokens or sum(token != PAUSE for token in tokens) > LONGEST_NAMING:
            return set()
        found: set[Selection] = set()
        begun = self._behind(tokens, 0, self._lead)
        under_way = {(at + (tokens[at : at + 1] == [PAUSE]), Selection()) for at in begun}
        done: set[tuple[int, Selection]] = set()
        while under_way:
            done |= under_way
            longer: set[tuple[int, Selection]] = set()
            for start, before in under_way:
                for end, index in self._items(tokens, start):
                    selection = before | {index}
                    for at in self._behind(tokens, end, self._lexicon.trail):
                        if at == len(tokens):
                            found.add(selection)
                        longer |= {(after, selection) for after in self._joined(tokens, at)}
            under_way = longer - done
        return found

    def _before_reason(self, tokens: list[str]) -> list[str]:
        """What stands before "because", where nothing behind it takes that back."""
        for at in range(1, len(tokens)):
            if self._behind(tokens, at, self._lexicon.because, most=1) != {at}:
                reason = tuple(token for token in tokens[at:] if token != PAUSE)
                takes_back = holds(reason, (*self._lexicon.negation, *self._lexicon.doubt))
                return tokens if takes_back else without_last_pause(tokens[:at])
        return tokens

    def _behind(
        self, tokens: Sequence[str], at: int, phrases: Phrases, most: int = LONGEST_NAMING
    ) -> set[int]:
        """This place, and those behind any of the phrases that follow; a pause may stand before each."""
        found, new = set[int](), {at}
        while new and most >= 0:
            found |= new
            most -= 1
            new = {
                start + len(phrase)
                for place in new
                for start in {place, place + (tokens[place : place + 1] == [PAUSE])}
                for phrase in phrases
                if tuple(tokens[start : start + len(phrase)]) == phrase
            } - found
        return found

    def _joined(self, tokens: Sequence[str], at: int) -> set[int]:
        """The places behind what joins two options here: a pause, an "and", or both."""
        paused = at + (tokens[at : at + 1] == [PAUSE])
        after = {paused} if paused > at else set()
        for phrase in self._lexicon.conjunctions:
            end = paused + len(phrase)
            if tuple(tokens[paused:end]) == phrase:
                after.add(end + (tokens[end : end + 1] == [PAUSE]))
        return {place for place in after if place < len(tokens)}

    def _items(self, tokens: Sequence[str], start: int) -> Iterator[tuple[int, int]]:
        """What can be named from here on: the place behind it, and the option."""
        after_article = self._behind(tokens, start, self._lexicon.article, most=1)
        for begin in after_article:
            for end in range(begin + 1, len(tokens) + 1):
                part = tokens[begin:end]
                if part[0] == PAUSE or part[-1] == PAUSE:
                    continue
                span = tuple(token for token in part if token != PAUSE)
                if begin > start and self._is_bare_number(span):
                    continue  # "the one" points at something, and "the two" are both
                alone = begin == start and self._is_all_but_filler(tokens, span)
                for index in self._options.named(span, alone=alone, pauses=PAUSE in part):
                    yield end, index
        for phrase in self._lexicon.about:
            begin = start + len(phrase)
            if tuple(tokens[start:begin]) == phrase:
                for end in range(begin + 1, len(tokens) + 1):
                    one = self._options.described(tuple(t for t in tokens[begin:end] if t != PAUSE))
                    if one is not None:
                        yield end, one

    def _is_bare_number(self, span: Words) -> bool:
        single = len(span) == 1 and self._lexicon.number(span[0]) is not None
        return single and not self._lexicon.numbers_take_articles

    def _is_all_but_filler(self, tokens: Sequence[str], span: Words) -> bool:
        """Whether nothing else was said, or nothing but other single letters."""
        said = tuple(token for token in tokens if token != PAUSE)
        ands = {word for phrase in self._lexicon.conjunctions for word in phrase}
        letters = all(len(word) == 1 and word.isalpha() for word in said if word not in ands)
        return self._lexicon.bare(said) == span or said == span or letters
