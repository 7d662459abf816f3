"""How much of a long text is spoken, and what is said of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.speaking.excerpt import Excerpt
from voice.speaking.speakable import sentences_of, speakable


def spoken(text: str, longest: int | None, start: int = 0) -> tuple[list[str], int]:
    """What is said, and where it would go on."""
    excerpt = Excerpt(longest, start)
    sentences = sentences_of(text)
    said = [sentences[index].text for sentence in sentences for index in excerpt.take(sentence)]
    goes_on_at = start + len(said)
    for _, last, goes_on_at in excerpt.end(text):  # noqa: B007
        said.append(last)
    return said, goes_on_at


LINES = "\n".join(f"- line {number}" for number in range(1, 47))


def test_a_short_text_is_spoken_whole() -> None:
    assert spoken("One. Two. Three.", 3) == (["One.", "Two.", "Three."], 3)
    assert spoken("", 3) == ([], 0)


def test_of_a_long_text_the_first_sentences_are_spoken_and_the_rest_is_counted() -> None:
    said, goes_on_at = spoken(LINES, 6)
    assert said == [*(f"line {number}" for number in range(1, 7)), "and 40 more lines on the screen"]
    assert goes_on_at == 6


def test_one_more_is_spoken_for_to_say_so_would_take_as_long() -> None:
    assert spoken("One. Two. Three. Four.", 3) == (["One.", "Two.", "Three.", "Four."], 4)


def test_in_one_line_sentences_are_counted() -> None:
    assert spoken("One. Two. Three. Four. Five.", 3)[0][-1] == "and 2 more sentences on the screen"


def test_lines_are_counted_as_a_person_sees_them() -> None:
    text = "One. Two.\n\n```py\na = 1\n\nb = 2\n```\n\n---\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nLast\nline."
    # Two of code, two of the table (the ruled line says nothing), two of the last paragraph.
    assert spoken(text, 2)[0][-1] == "and 6 more lines on the screen"


def test_a_line_that_was_spoken_in_part_counts() -> None:
    assert spoken("One. Two. Three.\nFour. Five.", 2)[0][-1] == "and 2 more lines on the screen"


def test_going_on_reads_the_next_page() -> None:
    said, goes_on_at = spoken(LINES, 6, start=6)
    assert said == [*(f"line {number}" for number in range(7, 13)), "and 34 more lines on the screen"]
    assert goes_on_at == 12


def test_going_on_in_the_middle_ends_where_the_page_does() -> None:
    said, goes_on_at = spoken(LINES, 6, start=4)
    assert said == ["line 5", "line 6", "and 40 more lines on the screen"]
    assert goes_on_at == 6


def test_without_a_length_all_is_spoken() -> None:
    assert spoken(LINES, None)[0] == speakable(LINES)


@given(st.integers(1, 30), st.integers(1, 8))
def test_page_by_page_each_sentence_is_spoken_once(count: int, longest: int) -> None:
    text = "\n\n".join(f"Sentence {number}." for number in range(count))
    heard: list[str] = []
    at = 0
    while at < count:
        said, goes_on_at = spoken(text, longest, at)
        assert goes_on_at > at
        heard += [sentence for sentence in said if sentence.startswith("Sentence")]
        at = goes_on_at
    assert heard == speakable(text)


@pytest.mark.parametrize("text", ["?!", "---", "\n\n"])
def test_of_nothing_nothing_is_said(text: str) -> None:
    assert spoken(text, 1) == ([], 0)
