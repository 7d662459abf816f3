"""What becomes of rows on the screen when the terminal gets narrower.

Most terminals break a row that has become too wide, and the cursor goes down with what stood below; others
cut it off. Who wants to erase what was drawn has to know how far up it now begins. Pure.
"""

from collections.abc import Mapping

from questionnaire.presenters.terminal.columns import cells
from questionnaire.presenters.terminal.layout import Screen

_NAMED_BY = ("TMUX", "VTE_VERSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "ALACRITTY_WINDOW_ID", "WT_SESSION")
_PROGRAMS = frozenset({"iTerm.app", "Apple_Terminal", "WezTerm", "ghostty", "vscode", "tmux"})
_TERMS = frozenset({"alacritty", "foot", "xterm-kitty", "xterm-ghostty", "wezterm"})


def reflows(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal is known to break rows that become too wide.

    One that is not known is taken to cut them off: a few rows of the dialog left behind are a smaller harm
    than rows of the user's erased.
    """
    return (
        any(name in environ for name in _NAMED_BY)
        or environ.get("TERM_PROGRAM") in _PROGRAMS
        or environ.get("TERM") in _TERMS
    )


def rows_gained(screen: Screen, width: int) -> int:
    """Return how many rows the cursor has gone down when the rows drawn are broken at a new width."""
    column, row = screen.cursor
    above = (cells(line) for line in screen.lines[:row])
    return sum(max(0, length - 1) // width for length in above) + column // width
