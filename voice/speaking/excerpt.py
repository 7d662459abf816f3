"""The excerpt of a long text that is spoken: its first sentences, and how much more there is. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from voice.speaking.speakable import Sentence, count, lines_with_words


class Excerpt:
    """Takes the sentences of one text in order, and says which are spoken.

    A text is spoken by the page: ``longest`` sentences, and then how many lines more are on the screen, once
    the whole text is known. One sentence more than a page is spoken as well: to say that it is left out would
    take as long. To go on where a page ended reads the next one.
    """

    def __init__(self, longest: int | None, start: int = 0) -> None:
        """``longest`` is the length of a page, None for no end; ``start`` is the first sentence."""
        self._start = start
        self._end = None if longest is None else (start // longest + 1) * longest
        self._known = 0
        self._first_left: Sentence | None = None

    def take(self, sentence: Sentence) -> Iterator[int]:
        """The next sentence of the text: yields its index, where it is to be spoken."""
        index = self._known
        self._known += 1
        if index == self._end:
            self._first_left = sentence
        elif index >= self._start and (self._end is None or index < self._end):
            yield index

    def end(self, text: str) -> Iterator[tuple[int, str, int]]:
        """The text is whole: yields what is said at last, where there is more than was spoken.

        That is the index of the first sentence not yet spoken, what is said, and the index at which a
        narration would go on afterwards.
        """
        if self._first_left is None or self._end is None:
            return
        left = self._known - self._end
        if left == 1:
            yield self._end, self._first_left.text, self._known
        else:
            lines = lines_with_words(text, self._first_left.line)
            more = count(lines, "more line") if lines > 1 else count(left, "more sentence")
            yield self._end, f"and {more} on the screen", self._end
