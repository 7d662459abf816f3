"""The text field: an immutable text with a cursor, and what the keys do to it.

Pure. Nothing is typed into a list: what a field holds is raw, line breaks included, and only the drawing
makes it printable.
"""

import re
from dataclasses import dataclass, replace

from questionnaire.presenters.terminal.columns import joins

_MOST_UNDO = 200
_BREAK = re.compile(r"\r\n?")
_WORD_BEFORE = re.compile(r"\S*\s*\Z")
_WORD_AHEAD = re.compile(r"\s*\S*")


@dataclass(frozen=True, slots=True)
class Field:
    """A text and where the cursor stands in it, in characters. `past` is what undo goes back to."""

    text: str = ""
    at: int = 0
    past: tuple[tuple[str, int], ...] = ()
    typing: bool = False

    @classmethod
    def holding(cls, text: str) -> "Field":
        """Return a field with the cursor at the end of its text."""
        return cls(text, len(text))

    def insert(self, text: str) -> "Field":
        """Put text before the cursor; carriage returns, as terminals paste them, become line breaks."""
        text = _BREAK.sub("\n", text)
        word = len(text) == 1 and not text.isspace()
        changed = self.text[: self.at] + text + self.text[self.at :]
        return self._changed(changed, self.at + len(text), goes_on=word and self.typing, typing=word)

    def replaced(self, text: str) -> "Field":
        """Put another text in its place."""
        return self if text == self.text else self._changed(text, len(text))

    def erase_before(self) -> "Field":
        """Take away the sign before the cursor."""
        return self._without(self.left().at, self.at)

    def erase_ahead(self) -> "Field":
        """Take away the sign at the cursor."""
        return self._without(self.at, self.right().at)

    def erase_word(self) -> "Field":
        """Take away the word before the cursor."""
        return self._without(self.word_left().at, self.at)

    def erase_line(self) -> "Field":
        """Take away what stands on the line before the cursor."""
        return self._without(self.start().at, self.at)

    def erase_rest(self) -> "Field":
        """Take away what stands on the line from the cursor on."""
        return self._without(self.at, self.end().at)

    def undo(self) -> "Field":
        """Go back to before the last change."""
        if not self.past:
            return self
        text, at = self.past[-1]
        return Field(text, at, self.past[:-1])

    def left(self) -> "Field":
        """Go one sign to the left; what is joined to a letter moves with it."""
        at = max(0, self.at - 1)
        while joins(self.text, at):
            at -= 1
        return self._moved(at)

    def right(self) -> "Field":
        """Go one sign to the right."""
        at = min(len(self.text), self.at + 1)
        while joins(self.text, at):
            at += 1
        return self._moved(at)

    def word_left(self) -> "Field":
        """Go to the start of the word."""
        before = _WORD_BEFORE.search(self.text[: self.at])
        return self._moved(before.start() if before else 0)

    def word_right(self) -> "Field":
        """Go behind the end of the word."""
        ahead = _WORD_AHEAD.match(self.text, self.at)
        return self._moved(ahead.end() if ahead else len(self.text))

    def start(self) -> "Field":
        """Go to the start of the line."""
        return self._moved(self.text.rfind("\n", 0, self.at) + 1)

    def end(self) -> "Field":
        """Go to the end of the line."""
        end = self.text.find("\n", self.at)
        return self._moved(len(self.text) if end < 0 else end)

    def up(self) -> "Field | None":
        """Go a line up; None on the first."""
        start = self.start().at
        if not start:
            return None
        above = self.text.rfind("\n", 0, start - 1) + 1
        return self._moved(min(above + self.at - start, start - 1))

    def down(self) -> "Field | None":
        """Go a line down; None on the last."""
        start, end = self.start().at, self.end().at
        if end == len(self.text):
            return None
        below = replace(self, at=end + 1).end().at
        return self._moved(min(end + 1 + self.at - start, below))

    def _moved(self, at: int) -> "Field":
        return replace(self, at=at, typing=False)

    def _without(self, start: int, end: int) -> "Field":
        if start == end:
            return self
        return self._changed(self.text[:start] + self.text[end:], start)

    def _changed(self, text: str, at: int, *, goes_on: bool = False, typing: bool = False) -> "Field":
        """Return the field after a change; letters typed in one go are undone in one go."""
        past = self.past if goes_on else (*self.past[-_MOST_UNDO:], (self.text, self.at))
        return Field(text, at, past, typing)
