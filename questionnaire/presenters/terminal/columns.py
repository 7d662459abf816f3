"""Text in terminal cells: hostile text made drawable, measured as the terminal will, and wrapped.

Pure functions. A width is counted with the same table by which rows are drawn, so that a row that fits here
fits there; characters of which terminals disagree are drawn in a form on which all agree.
"""

import unicodedata
from functools import lru_cache

from questionnaire.display import printable, printable_lines

Fragment = tuple[str, str]
"""A style, as names of `style.STYLES` with spaces between, and printable text."""

Row = tuple[Fragment, ...]

_MOST_MARKS = 4
"""So many marks stand on one letter in real writing; a tower of them would be drawn over other rows."""

_SELECTORS = frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400))))
"""Variation selectors and skin tones: some terminals draw the sign before them wider, some add a sign."""

_MOST_KEPT = 1000
"""Of a longer line each key would leave a copy in memory."""

_FLAG_A = 0x1F1E6


def clean(text: str) -> str:
    """Return `text` as one line that can only be printed, each character of it as wide as `cells` says."""
    return text if text.isascii() and text.isprintable() else _drawable(printable(text))


def clean_lines(text: str) -> list[str]:
    """Return the lines of `text`, each as `clean` does it, tabs widened."""
    return [_drawable(line) for line in printable_lines(text)]


def _drawable(line: str) -> str:
    drawn, marks = [], 0
    for char in line:
        if char in _SELECTORS:
            continue
        if _FLAG_A <= ord(char) < _FLAG_A + 26:
            char = chr(ord("A") + ord(char) - _FLAG_A)
        marks = marks + 1 if width_of(char) == 0 else 0
        if marks <= _MOST_MARKS:
            drawn.append(char)
    return "".join(drawn)


@lru_cache(4096)
def width_of(char: str) -> int:
    """Return the cells of one character: 0, 1 or 2."""
    from wcwidth import wcwidth  # loaded when there is something to draw

    return max(0, wcwidth(char))


def cells(text: str) -> int:
    """Return the cells of clean `text`."""
    return len(text) if text.isascii() else sum(map(width_of, text))


def joins(text: str, index: int) -> bool:
    """Return whether the character at `index` belongs to the sign that begins before it."""
    if not 0 < index < len(text):
        return False
    char = text[index]
    marked = char in _SELECTORS or char == "\u200d" or unicodedata.category(char) in ("Mn", "Me", "Mc")
    return marked or text[index - 1] == "\u200d"


def clipped(text: str, width: int) -> str:
    """Return as much of the start of clean `text` as fits into `width` cells."""
    if cells(text) <= width:
        return text
    used = 0
    for index, char in enumerate(text):
        used += width_of(char)
        if used > width:
            return text[:index]
    return text


def shortened(text: str, width: int) -> str:
    """Return `text` cleaned, and cut with an ellipsis where it is wider than `width` cells."""
    line = clean(text)
    return line if cells(line) <= width else clipped(line, max(0, width - 1)) + "…"


def fitted(row: Row, width: int) -> Row:
    """Return `row` cut to `width` cells, without empty fragments."""
    kept: list[Fragment] = []
    for style, text in row:
        shown = clipped(text, width)
        width -= cells(shown)
        if shown:
            kept.append((style, shown))
        if shown != text:
            break
    return tuple(kept)


def row_cells(row: Row) -> int:
    """Return the cells of a row."""
    return sum(cells(text) for _, text in row)


@lru_cache(1024)
def wrapped(text: str, width: int) -> tuple[str, ...]:
    """Break `text` at its spaces into clean lines of at most `width` cells, at least one."""
    lines, room = [""], max(1, width)
    used = 0
    for word in clean(text).split():
        for piece, length in _pieces(word, room):
            if lines[-1] and used + 1 + length <= room:
                lines[-1] += f" {piece}"
                used += 1 + length
            elif lines[-1]:
                lines.append(piece)
                used = length
            else:
                lines[-1], used = piece, length
    return tuple(lines)


def _pieces(word: str, room: int) -> list[tuple[str, int]]:
    """Cut a word that is wider than a line; each piece with its cells."""
    length = cells(word)
    if length <= room:
        return [(word, length)]
    pieces: list[tuple[str, int]] = []
    piece, used = "", 0
    for char in word:
        wide = width_of(char)
        if piece and used + wide > room:
            pieces.append((piece, used))
            piece, used = "", 0
        piece += char
        used += wide
    return [*pieces, (piece, used)]


def folded(text: str, width: int) -> list[tuple[int, int]]:
    """Fold text that is being edited into lines of at most `width` cells, and give their bounds in `text`.

    Every character belongs to exactly one line, so that the cursor has a place on every one of them; a
    line break belongs to the line that it ends.
    """
    bounds: list[tuple[int, int]] = []
    start = 0
    for line in text.split("\n"):
        fold = _folded_once if len(line) <= _MOST_KEPT else _folded_line
        bounds += [(start + first, start + last) for first, last in fold(line, max(1, width))]
        start += len(line) + 1
        first, last = bounds[-1]
        bounds[-1] = first, last + 1  # the line break
    first, last = bounds[-1]
    return [*bounds[:-1], (first, last - 1)]


def _folded_line(line: str, room: int) -> tuple[tuple[int, int], ...]:
    if len(line) <= room and line.isascii() and line.isprintable():
        return ((0, len(line)),)
    bounds, start, used, space = [], 0, 0, 0
    for index, char in enumerate(line):
        wide = width_of_typed(char)
        while used + wide > room and index > start:  # twice, where the word is too wide as well
            end = space if space > start else index
            bounds.append((start, end))
            used = sum(map(width_of_typed, line[end:index]))
            start, space = end, 0
        used += wide
        if char == " ":
            space = index + 1
    return (*bounds, (start, len(line)))


_folded_once = lru_cache(4096)(_folded_line)  # a key changes one line, and a text may have thousands


@lru_cache(4096)
def width_of_typed(char: str) -> int:
    """Return the cells in which one raw character of a typed text is drawn."""
    return 1 if char == " " else cells(typed(char))


def typed(text: str) -> str:
    """Return a piece of a typed text as it is drawn, spaces kept."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_typed_sign, text.removesuffix("\n")))


@lru_cache(4096)
def _typed_sign(char: str) -> str:
    return clean(char)
