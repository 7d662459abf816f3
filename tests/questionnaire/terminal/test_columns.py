import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from questionnaire.presenters.terminal.columns import (
    cells,
    clean,
    clean_lines,
    clipped,
    fitted,
    folded,
    row_cells,
    shortened,
    typed,
    wrapped,
)


def test_every_character_is_as_wide_as_it_will_be_drawn():
    wrong = []
    for code in range(sys.maxunicode + 1):
        drawn = clean(chr(code))
        if sum(map(get_cwidth, drawn)) != cells(drawn):
            wrong.append(hex(code))
    assert not wrong


@pytest.mark.parametrize(
    ("text", "drawn", "width"),
    [
        ("日本", "日本", 4),
        ("e\u0301", "e\u0301", 1),
        ("❤\ufe0f!", "❤!", 2),
        ("👍\U0001f3fd", "👍", 2),
        ("🇩🇪", "DE", 2),
        ("a" + "\u0301" * 50, "a" + "\u0301" * 4, 1),
        ("a\x1b[2Jb\u202ec\u200bd\x9be", "a[2Jbcde", 8),
    ],
)
def test_what_is_drawn_and_how_wide_it_is(text, drawn, width):
    assert clean(text) == drawn
    assert cells(clean(text)) == width


@given(st.text(), st.integers(2, 300))
def test_wrapped_lines_fit_and_lose_only_spaces(text, width):
    lines = wrapped(text, width)
    assert all(cells(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(clean(text).split())


@given(st.text(), st.integers(0, 300))
def test_what_is_cut_fits(text, width):
    line = clean(text)
    assert cells(clipped(line, width)) <= width
    assert line.startswith(clipped(line, width))
    assert cells(shortened(text, width)) <= max(1, width)
    assert row_cells(fitted((("", line), ("x", line)), width)) <= width


@given(st.text(alphabet="ab \n日\u0301\x1b\t"), st.integers(2, 12))
def test_a_folded_text_loses_nothing_and_fits(text, width):
    bounds = folded(text, width)
    assert "".join(text[start:end] for start, end in bounds) == text
    assert bounds[-1][1] == len(text)
    for start, end in bounds:
        assert cells(typed(text[start:end]).rstrip(" ")) <= width


@given(st.text())
def test_nothing_that_commands_a_terminal_is_left(text):
    for line in (clean(text), *clean_lines(text), typed(text)):
        assert all(unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in line)
