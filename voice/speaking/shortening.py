"""Where in a text its question is: for somebody who has heard it once, or hears not all of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from voice.speaking.speakable import speakable

_QUESTION = re.compile(r"""[?？؟][.!?…"'”’»)\]」』]*$""")  # noqa: RUF001
_OPTIONS = re.compile(
    r"(?:\d{1,2}|[a-zA-Z])[.,):]\s|(?:options?|choices?|möglichkeiten)\b.{0,12}:|option\s+\w+\b",
    re.IGNORECASE,
)
"""The beginning of a sentence that lists what can be answered: "1. …", "Options: …", "Option B …"."""

_ASKED_TOGETHER = 3
"""So many questions in a row, at most, are one at the end of a text: more of them are a list of their own."""


def shortened(text: str, language: str = "en") -> str:
    """The last question in a text, with the options that are listed right after it, on one line.

    Without a question it is the options, else the last sentence. Lines that end without a mark get a full
    stop. A text without anything to say gives "". ``language`` is what `speakable` takes.
    """
    sentences = speakable(text, language)
    asked = [number for number, sentence in enumerate(sentences) if _asks(sentence)]
    listed = [number for number, sentence in enumerate(sentences) if _OPTIONS.match(sentence)]
    begin = asked[-1] if asked else _run_before(listed) if listed else len(sentences) - 1
    end = begin + 1
    while end in listed:
        end += 1
    return " ".join(_ended(sentence) for sentence in sentences[max(begin, 0) : end])


def closing_question(sentences: Sequence[str]) -> int:
    """Where the question begins with which the sentences of a text end; their number where it ends with none.

    To it belong the questions right before it, the options listed after it, and one sentence more: "Shall I?
    Or do you? 1. You. 2. Me. Take your time."
    """
    end = len(sentences)
    for at in range(end, max(end - 2, -1), -1):
        begin = at
        while begin and _OPTIONS.match(sentences[begin - 1]):
            begin -= 1
        asked = begin
        while asked and begin - asked < _ASKED_TOGETHER and _asks(sentences[asked - 1]):
            asked -= 1
        if asked < begin:
            return asked
    return end


def _asks(sentence: str) -> bool:
    return _QUESTION.search(sentence) is not None and not _OPTIONS.match(sentence)


def _ended(sentence: str) -> str:
    return sentence + "." * sentence[-1].isalnum()


def _run_before(numbers: list[int]) -> int:
    """The first of the consecutive numbers at the end of a list."""
    first = numbers[-1]
    while first - 1 in numbers:
        first -= 1
    return first
