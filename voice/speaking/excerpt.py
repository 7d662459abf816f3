"""What is spoken of a long text: its first sentences, how much more there is, and its question. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from voice.phrases import said
from voice.speaking.shortening import closing_question
from voice.speaking.speakable import Sentence, lines_with_words


class Excerpt:
    """Takes the sentences of one text in order, and says which are spoken.

    A text is spoken by the page: ``longest`` sentences, and then how many lines more are on the screen, once
    the whole text is known. One sentence more than a page is spoken as well: to say that it is left out would
    take as long. A question with which the text ends is never left out: it is spoken last, with its options.
    To go on where a page ended reads the next one.
    """

    def __init__(self, longest: int | None, start: int = 0, language: str = "en") -> None:
        """``longest`` is the length of a page, None for no end; ``start`` is the first sentence."""
        self._start = start
        self._end = None if longest is None else (start // longest + 1) * longest
        self._language = language
        self._sentences: list[Sentence] = []

    def take(self, sentence: Sentence) -> Iterator[int]:
        """The next sentence of the text: yields its index, where it is to be spoken."""
        index = len(self._sentences)
        self._sentences.append(sentence)
        if index >= self._start and (self._end is None or index < self._end):
            yield index

    def end(self, text: str) -> Iterator[tuple[int, str, int]]:
        """The text is whole: yields what is said at last, where there is more than was spoken.

        That is each time the index of a sentence (for what is said instead of some, of the first of them),
        what is said, and the index at which a narration would go on afterwards.
        """
        known = len(self._sentences)
        if self._end is None or self._end >= known:
            return
        asks = max(closing_question([sentence.text for sentence in self._sentences]), self._end)
        left_out = asks - self._end > 1
        if left_out:
            yield self._end, self._told(text, asks), self._end
        for index in range(asks if left_out else self._end, known):
            last = left_out and index == known - 1
            yield index, self._sentences[index].text, self._end if last else index + 1

    def _told(self, text: str, asks: int) -> str:
        """How much there is between the page and the sentence ``asks``."""
        assert self._end is not None, "what has no end leaves nothing out"
        first, last = self._sentences[self._end], self._sentences[asks - 1]
        before = None
        if asks < len(self._sentences):
            before = max(self._sentences[asks].line, last.line + 1)
        lines = lines_with_words(text, first.line, before)
        if lines > 1:
            return said(self._language, "more_lines", number=lines)
        return said(self._language, "more_sentences", number=asks - self._end)
