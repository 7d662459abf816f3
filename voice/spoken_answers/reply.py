"""A reply as tokens: its words as they are compared, and its pauses."""

from __future__ import annotations

import re
import unicodedata

from voice.spoken_answers.lexicon import Lexicon, Words
from voice.wording import words

PAUSE = ","
"""The token that stands for any mark between two things."""

_TOKEN = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+|[,;/\u2014\u2013]|[.!?:\u2026]+(?=\s|$)|(?<=\s)-(?=\s)")
_APOSTROPHE = re.compile("(?<=[^\\W\\d_])['\u2019`](?=[^\\W\\d_])")
_HASH = re.compile(r"(?<=\w)#|(?P<number>#)(?=\d)")
_SYMBOLS = {"+": " plus ", "&": " and ", "%": " percent ", "@": " at "}
"""What parts "C" from "C++" when both are spoken."""


def tokens_of(text: str) -> list[str]:
    """The words of a text as they are compared, and its pauses; "2.5" and "1,000" are one word each."""
    text = _APOSTROPHE.sub("", text)
    text = _HASH.sub(lambda found: "number " if found["number"] else " sharp ", text)
    for symbol, name in _SYMBOLS.items():
        text = text.replace(symbol, name)
    tokens: list[str] = []
    for found in _TOKEN.findall(text):
        if found[0].isalnum():
            tokens.append(unicodedata.normalize("NFKC", found).casefold())
        elif tokens and tokens[-1] != PAUSE:
            tokens.append(PAUSE)
    return without_last_pause(tokens)


def without_last_pause(tokens: list[str]) -> list[str]:
    """The tokens without a pause behind them."""
    return tokens[:-1] if tokens[-1:] == [PAUSE] else tokens


class Reply:
    """What was said, in words."""

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        self.text = text.strip()
        self.tokens = [lexicon.spelled.get(token, token) for token in tokens_of(text)]
        self.words: Words = tuple(token for token in self.tokens if token != PAUSE)
        self.bare = lexicon.bare(self.words)
        """Without filler at either end."""
        self.asks = self.text.rstrip("\"' ").endswith("?") or any(
            self.bare[: len(phrase)] == phrase for phrase in lexicon.questions
        )
        """Whether it sounds like a question."""
        self._lexicon = lexicon

    @property
    def own(self) -> str:
        """The reply as own words: behind a few of them the full stop is the transcriber's."""
        one_stop = self.text.endswith(".") and not self.text.endswith("..")
        return self.text[:-1] if one_stop and len(words(self.text)) <= 3 else self.text

    def after_own_words(self) -> str | None:
        """What follows "in my own words", as it was said; None where nothing does, or that was not said."""
        for phrase in self._lexicon.own_words:
            if 1 < len(phrase) < len(self.words) and self.words[: len(phrase)] == phrase:
                announced = r"[\W_]*" + r"[\W_]+".join(map(re.escape, phrase)) + r"[\W_]+"
                rest, found = re.subn(announced, "", self.text, count=1, flags=re.IGNORECASE)
                return Reply(rest, self._lexicon).own if found and rest else None
        return None
