"""What terminals send, as keys: the old forms, CSI u, pastes and what nobody knows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire.presenters.terminal.keycodes import INTERRUPT, decoded
from questionnaire.presenters.terminal.keys import Key


def names(data):
    return [key.name for key in decoded(data)]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("\r", "enter"),
        ("\x1b[13u", "enter"),
        ("\x1b[13;2u", "newline"),
        ("\x1b\r", "newline"),
        ("\t", "tab"),
        ("\x1b[Z", "back-tab"),
        ("\x1b[9;2u", "back-tab"),
        ("\x1b", "escape"),
        ("\x1b[27u", "escape"),
        ("\x7f", "backspace"),
        ("\x1b[127u", "backspace"),
        ("\x1b[A", "up"),
        ("\x1bOB", "down"),
        ("\x1b[1;1C", "right"),
        ("\x1b[1;1:1D", "left"),
        ("\x1b[H", "home"),
        ("\x1b[4~", "end"),
        ("\x1b[5~", "page-up"),
        ("\x1b[6;1~", "page-down"),
        ("\x1b[3~", "delete"),
        ("\x1b[1;2A", "preview-up"),
        ("\x1b[1;5C", "word-right"),
        ("\x1bb", "word-left"),
        ("\x1b[98;3u", "word-left"),
        ("\x17", "erase-word"),
        ("\x1b[119;5u", "erase-word"),
        ("\x03", INTERRUPT),
        ("\x1b[99;5u", INTERRUPT),
        ("\x1b[27;5;99~", INTERRUPT),
        ("\x1b[27;2;13~", "newline"),
        ("\x1b[27;2;9~", "back-tab"),
        ("\x1b[27;3;110~", "note"),
        ("\x1b\x1b[A", "other"),  # Alt with an arrow; as Escape and an arrow it would decline
        (f"\x1b[{'9' * 5_000}u", "other"),
        (f"\x1b[13;{'9' * 5_000}u", "other"),
        ("\x1b[15~", "other"),
        ("\x1b[57399u", "other"),
        ("\x07", "editor"),
        ("\x06", "other"),
    ],
)
def test_each_key_has_its_name(data, name):
    assert names(data) == [name]


def test_text_is_typed_letter_by_letter():
    assert list(decoded("aé日")) == [Key("text", "a"), Key("text", "é"), Key("text", "日")]
    assert list(decoded("\x1b[97u\x1b[97;2u")) == [Key("text", "a"), Key("text", "A")]


def test_a_paste_is_one_key_whatever_is_in_it():
    assert list(decoded("x\x1b[200~a\r\x1b[A\nb\x1b[201~\r")) == [
        Key("text", "x"),
        Key("paste", "a\r\x1b[A\nb"),
        Key("enter"),
    ]


def test_the_release_of_a_key_is_none():
    assert names("\x1b[97;1:3u") == []
    assert names("\x1b[1;1:3A") == []


def test_the_digits_of_an_unknown_key_are_not_typed():
    assert names("\x1b[23;4;5~") == ["other"]


@given(st.text(alphabet=st.sampled_from("\x1b[O;:0123456789uA~ab\r\x00\x7f日")))
def test_whatever_comes_is_read_and_only_printables_are_typed(data):
    for key in decoded(data):
        assert key.name == "paste" or all(char.isprintable() for char in key.text)
