import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire.presenters.terminal.editing import Field

FAMILY = "👩\u200d👩\u200d👧"
ACTIONS = [
    Field.left,
    Field.right,
    Field.start,
    Field.end,
    Field.word_left,
    Field.word_right,
    Field.erase_before,
    Field.erase_ahead,
    Field.erase_word,
    Field.erase_line,
    Field.erase_rest,
    Field.undo,
]


@pytest.mark.parametrize("sign", ["a", "e\u0301", "日", FAMILY, "❤\ufe0f", "👍\U0001f3fd"])
def test_what_looks_like_one_sign_is_one(sign):
    field = Field.holding(f"x{sign}")
    assert field.left().at == 1
    assert field.left().right().at == len(field.text)
    assert field.erase_before().text == "x"
    assert field.left().erase_ahead().text == "x"


def test_lines():
    field = Field.holding("one\ntwo three\nx")
    assert field.up().at == 5
    assert field.up().end().at == 13
    assert field.up().up().up() is None
    assert field.down() is None
    assert field.up().end().down().at == 15
    assert field.up().end().erase_word().text == "one\ntwo \nx"
    assert field.up().end().erase_line().text == "one\n\nx"
    assert field.up().start().erase_rest().text == "one\n\nx"


def test_undo_takes_back_a_word_at_a_time():
    field = Field()
    for letter in "one two":
        field = field.insert(letter)
    assert field.undo().text == "one "
    assert field.undo().undo().undo().undo().text == ""
    assert Field.holding("gone").erase_line().undo() == Field("gone", 4, (), False)


def test_line_breaks_of_all_kinds_become_one_kind():
    assert Field().insert("a\r\nb\rc\nd").text == "a\nb\nc\nd"


@given(st.text(alphabet="ab \n日\u0301\u200d👩"), st.lists(st.sampled_from(ACTIONS), max_size=20))
def test_the_cursor_never_leaves_the_text(text, actions):
    field = Field.holding(text)
    for action in actions:
        field = action(field)
        assert 0 <= field.at <= len(field.text)
