"""The rows of a dialog as lines with the terminal's own colours in them. Pure."""

from functools import lru_cache

from questionnaire.presenters.terminal.columns import Row, cells
from questionnaire.presenters.terminal.layout import Screen
from questionnaire.presenters.terminal.style import STYLES

CURSOR = "\0"
"""Stands in a line where the terminal's own cursor belongs; nothing else in a line is ever this character."""

_CODES = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "underline": "4",
    "strike": "9",
    "ansigreen": "32",
    "ansiyellow": "33",
    "ansicyan": "36",
}
_REVERSED = "7"


def painted(screen: Screen) -> list[str]:
    """Return the lines of a screen; where somebody types, `CURSOR` stands before the cell of the cursor."""
    column, cursor_row = screen.cursor
    return [
        _line(row, column if screen.typing and number == cursor_row else None)
        for number, row in enumerate(screen.rows)
    ]


def _line(row: Row, cursor: int | None) -> str:
    if cursor is None:
        return "".join(_styled(text, _sgr(style)) for style, text in row)
    line, used, placed = "", 0, False
    for style, text in row:
        for char in text:
            here = not placed and used >= cursor and cells(char) > 0
            placed |= here
            line += CURSOR + _styled(char, _REVERSED) if here else _styled(char, _sgr(style))
            used += cells(char)
    # Behind the last letter there is nothing to be reversed.
    return line if placed else line + CURSOR + _styled(" ", _REVERSED)


def _styled(text: str, sgr: str) -> str:
    return f"\x1b[{sgr}m{text}\x1b[0m" if sgr and text else text


@lru_cache
def _sgr(style: str) -> str:
    """Return the codes of some names of styles; one with a dot builds on that before the dot."""
    words: list[str] = []
    for name in style.split():
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            words += STYLES.get(".".join(parts[:length]), "").split()
    return ";".join(dict.fromkeys(_CODES[word] for word in words))
