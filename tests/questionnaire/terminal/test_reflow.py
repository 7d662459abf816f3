import pytest

from questionnaire.presenters.terminal.layout import Screen
from questionnaire.presenters.terminal.reflow import reflows, rows_gained


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "linux"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, True),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, True),
        ({"TERM": "foot"}, True),
    ],
)
def test_which_terminals_break_rows(environ, expected):
    assert reflows(environ) is expected


@pytest.mark.parametrize(
    ("width", "cursor", "gained"),
    [(80, (0, 3), 0), (40, (0, 3), 1), (40, (0, 0), 0), (20, (0, 3), 4), (20, (45, 1), 5)],
)
def test_how_far_down_the_cursor_has_gone(width, cursor, gained):
    rows = tuple((("", "x" * length),) for length in (80, 40, 0, 80))
    assert rows_gained(Screen(rows, cursor), width) == gained
