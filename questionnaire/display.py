"""Text from a model is hostile; here it is made fit for a terminal, a comparison and a result line.

Pure functions. Widths are in terminal cells.
"""

import re
import unicodedata

_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")

# Explicit embeddings, overrides, isolates and marks: they can show a text in another order than it has
# (Unicode Standard Annex 9, and the "Trojan Source" reports).
_BIDI_CONTROLS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


# Signs that terminals have come to draw in two cells, whatever the tables of this Python say: trigrams,
# hexagrams and tallies (Unicode 16), and the letters of flags. A line that is wider than it counts would be
# broken by the terminal, and what follows could pass for a line of ours.
_WIDE = frozenset(
    chr(code)
    for first, last in (
        (0x2630, 0x2637),
        (0x268A, 0x268F),
        (0x4DC0, 0x4DFF),
        (0x1D300, 0x1D356),
        (0x1D360, 0x1D376),
        (0x1F1E6, 0x1F1FF),
    )
    for code in range(first, last + 1)
)


def printable(text: str) -> str:
    """Return `text` as one line that a terminal can only print, never obey.

    Line breaks and tabs become spaces. Control characters (so every escape sequence loses its start),
    format characters (bidirectional overrides, zero-width characters) and lone surrogates are dropped.
    """
    spaced = _LINE_BREAK.sub(" ", text).replace("\t", " ")
    return "".join(char for char in spaced if unicodedata.category(char) not in ("Cc", "Cf", "Cs"))


def printable_lines(text: str) -> list[str]:
    """Return the lines of `text`, each printable, tabs widened to stops of four."""
    return [printable(line.expandtabs(4)) for line in _LINE_BREAK.split(text)]


def one_line(text: str) -> str:
    r"""Return `text` as one line of a result: line breaks as `\n`, controls dropped.

    Joiners inside emoji and scripts stay: a model reads them, a terminal does not.
    """
    spelled = _LINE_BREAK.sub(r"\\n", text)
    return "".join(
        char
        for char in spelled
        if unicodedata.category(char) not in ("Cc", "Cs") and char not in _BIDI_CONTROLS
    )


def quoted(text: str) -> str:
    r"""Return `text` as one line between quotes, `\` and `"` escaped, so that it cannot leave them."""
    return '"' + escaped(text) + '"'


def escaped(text: str) -> str:
    """Return what `quoted` puts between its quotes."""
    return one_line(text.replace("\\", "\\\\").replace('"', '\\"'))


def look(text: str) -> str:
    """Return the key under which two texts look the same to a reader: case and spacing do not count."""
    return " ".join(printable(unicodedata.normalize("NFKC", text)).split()).casefold()


def cells(text: str) -> int:
    """Return the width of printable `text` on a terminal: wide characters take two cells, marks none."""
    return sum(_cell_width(char) for char in text)


def _cell_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if char in _WIDE or unicodedata.east_asian_width(char) in ("W", "F") else 1


def shortened(text: str, limit: int) -> str:
    """Return printable `text` in at most `limit` cells, cut with an ellipsis. For the screen only."""
    line = printable(text)
    return line if cells(line) <= limit else chopped(line, limit - 1)[0] + "…"


def chopped(line: str, width: int) -> list[str]:
    """Cut a printable line into pieces of at most `width` cells, spaces kept; a wide character needs two."""
    pieces, piece, used = [], "", 0
    for char in line:
        room = _cell_width(char)
        if piece and used + room > width:
            pieces.append(piece)
            piece, used = "", 0
        piece += char
        used += room
    return [*pieces, piece]


def wrapped(text: str, width: int, marker: str = "") -> list[str]:
    """Break `text` at its spaces into printable lines of at most `width` cells.

    `marker` stands before the first line and as much space before each further one, so that a long text
    cannot make the terminal break it and start a line that looks like one of ours.
    """
    room = max(2, width - cells(marker))
    pieces = [piece for word in printable(text).split() for piece in chopped(word, room)]
    lines = [""]
    for piece in pieces:
        joined = f"{lines[-1]} {piece}" if lines[-1] else piece
        if cells(joined) <= room:
            lines[-1] = joined
        else:
            lines.append(piece)
    indent = " " * cells(marker)
    return [(indent if number else marker) + line for number, line in enumerate(lines)]
