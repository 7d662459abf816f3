"""A conversation as lines that a person enjoys reading: who said what, with which tools, how fast."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from voice.events import Event
from voice.screen.entries import Entry, Kind, Story
from voice.screen.rows import LOOKS, NAME_CELLS, Row, entry_rows

_LEAST_CELLS = 20
"""No narrower than this, also where the terminal says that it is."""


class Conversation:
    """Prints events as they come. Text from a model or a person is never taken for markup, nor obeyed."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        self._story = Story(detailed=True)

    @property
    def plain_width(self) -> int:
        """Cells that a line of `plain` may have."""
        return max(_LEAST_CELLS, self._console.width - NAME_CELLS - 1)

    def title(self, about: str) -> None:
        """Print what this is."""
        self._print([(("strong", "Viva Voce"), ("", " · "), ("dim", about)), ()])

    def show(self, event: Event) -> None:
        """Print what the event means to the reader, if it means anything."""
        for entry in self._story.take(event):
            self._print(entry_rows(entry, max(_LEAST_CELLS, self._console.width)))

    def remark(self, text: str) -> None:
        """Print a sentence that a person should know."""
        self._print(entry_rows(Entry(Kind.NOTICE, text), max(_LEAST_CELLS, self._console.width)))

    def plain(self, line: str) -> None:
        """Print a line of a questionnaire, which is printable, as it is."""
        self._print([(("", f"{'':{NAME_CELLS + 1}}{line}".rstrip()),)])

    def _print(self, rows: list[Row]) -> None:
        for row in rows:
            fragments = [(text, LOOKS.get(style, "")) for style, text in row]
            line = Text.assemble(*fragments)
            line.rstrip()
            self._console.print(line, soft_wrap=True)
