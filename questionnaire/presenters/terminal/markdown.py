"""A preview's Markdown as rows: rich lays it out, and only words and a few attributes are taken from it."""

from functools import lru_cache
from io import StringIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown
from rich.segment import Segment

from questionnaire.presenters.terminal.columns import Row, cells, clean_lines, clipped, fitted

_LONGEST = 20_000
"""A preview of more characters is shown as it came: laying it out would keep the user waiting."""


_NARROWEST = 8
"""Below this there is no room to lay anything out."""


class _LeftHeading(Heading):
    """A heading where every other line begins."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Preview(Markdown):
    elements = Markdown.elements | {"heading_open": _LeftHeading}


@lru_cache(64)
def preview_rows(text: str, width: int) -> tuple[Row, ...]:
    """Return `text` as rows of at most `width` cells, without blank rows at its ends."""
    lines = clean_lines(text)
    if len(text) > _LONGEST or width < _NARROWEST:
        return tuple(_plain(lines, width))
    console = Console(
        file=StringIO(),
        width=width,
        color_system=None,
        force_terminal=False,
        legacy_windows=False,
        _environ={},
    )
    markdown = _Preview("\n".join(lines), hyperlinks=False, code_theme="default")
    laid_out = console.render_lines(markdown, console.options.update(width=width), pad=False)
    rows = [fitted(tuple(map(_fragment, line)), width) for line in laid_out]
    return tuple(_without_gaps(rows))


def _fragment(segment: Segment) -> tuple[str, str]:
    style = segment.style
    names = []
    if style is not None:
        looks = {"strong": style.bold, "emphasis": style.italic, "struck": style.strike}
        names = [name for name, is_set in looks.items() if is_set]
    text = "".join(clean_lines(segment.text.removesuffix("\n"))) if not segment.control else ""
    return " ".join(names), text


def _plain(lines: list[str], width: int) -> list[Row]:
    rows: list[Row] = []
    for line in lines:
        rest = line
        while cells(rest) > width:
            piece = clipped(rest, width) or rest[:1]
            rows.append((("", piece),))
            rest = rest[len(piece) :]
        rows.append((("", rest),))
    return rows


def _without_gaps(rows: list[Row]) -> list[Row]:
    """Return the rows without blank ones at the ends, and with no two of them together."""
    kept: list[Row] = []
    for row in rows:
        if not _is_blank(row) or (kept and not _is_blank(kept[-1])):
            kept.append(row)
    return kept[:-1] if kept and _is_blank(kept[-1]) else kept


def _is_blank(row: Row) -> bool:
    return not "".join(text for _, text in row).strip()
