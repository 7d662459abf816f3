import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire.display import (
    cells,
    chopped,
    look,
    one_line,
    printable,
    printable_lines,
    quoted,
    shortened,
    wrapped,
)
from questionnaire.presenters.terminal import columns

HOSTILE = "a\x1b[31m\x1b]52;c;aGk=\x07b\r\nc\u202ed\u200be\x00\x9b1mf\ud800\u2028g\th"


def is_harmless(text):
    return all(unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in text)


@given(st.text())
def test_nothing_printable_commands_a_terminal(text):
    assert is_harmless(printable(text))
    assert all(is_harmless(line) for line in printable_lines(text))


def test_hostile_text_keeps_its_visible_part_on_one_line():
    assert printable(HOSTILE) == "a[31m]52;c;aGk=b cde1mf g h"


def test_lines_of_a_preview_keep_their_columns():
    assert printable_lines("a\tb\r\n\tc\n") == ["a   b", "    c", ""]


def test_a_result_line_spells_breaks_and_drops_controls():
    assert one_line("a\r\nb\rc\nd\u2028e\x1b[1m\x00\u202e") == "a\\nb\\nc\\nd\\ne[1m"


@pytest.mark.parametrize("emoji", ["👩\u200d🔬", "ne\u0301e"])
def test_a_result_line_keeps_what_a_user_may_write(emoji):
    assert one_line(emoji) == emoji


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])))
def test_quoting_is_reversible_for_printable_text(text):
    assert json.loads(quoted(text)) == text


@given(st.text())
def test_nothing_leaves_its_quotes(text):
    inner = quoted(text)[1:-1].replace("\\\\", "").replace('\\"', "")
    assert '"' not in inner
    assert "\n" not in inner


@pytest.mark.parametrize("other", ["YES", " yes ", "y\u200bes", "ｙｅｓ"])
def test_texts_that_a_reader_cannot_tell_apart_have_one_look(other):
    assert look(other) == look("Yes")


def test_widths_are_in_cells():
    assert cells("日本") == 4
    assert cells("e\u0301") == 1
    assert shortened("a long header of words", 16) == "a long header o…"
    assert cells(shortened("日本語日本語日本語", 16)) <= 16
    assert shortened("just sixteen wid", 16) == "just sixteen wid"


def test_no_sign_is_wider_in_the_dialog_than_it_counts_in_plain_lines():
    assigned = (chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) != "Cn")
    shown = (char for char in assigned if printable(char) == char)
    assert [char for char in shown if cells(char) < columns.width_of(char)] == []


@given(st.text(), st.integers(2, 300))
def test_chopped_pieces_fit_and_lose_nothing(text, width):
    line = printable(text)
    pieces = chopped(line, width)
    assert "".join(pieces) == line
    assert all(cells(piece) <= width for piece in pieces)


@given(st.text(), st.integers(8, 300), st.sampled_from(["", "12. ", "    "]))
def test_wrapped_lines_fit_and_lose_only_spaces(text, width, marker):
    lines = wrapped(text, width, marker)
    assert all(cells(line) <= width for line in lines)
    assert lines[0].startswith(marker)
    assert all(line.startswith(" " * len(marker)) for line in lines[1:])
    shown = "".join("".join(line[len(marker) :] for line in lines).split())
    assert shown == "".join(printable(text).split())


def test_wrapping_breaks_at_spaces():
    assert wrapped("one two three", 9, "1. ") == ["1. one", "   two", "   three"]
