"""How much of a long text is spoken, and what is said of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.speaking.excerpt import Excerpt
from voice.speaking.speakable import sentences_of, speakable


def spoken(text: str, longest: int | None, start: int = 0, language: str = "en") -> tuple[list[str], int]:
    """What is said, and where it would go on."""
    excerpt = Excerpt(longest, start, language)
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


def test_a_question_at_the_end_of_a_long_text_is_not_lost() -> None:
    said, goes_on_at = spoken(f"{LINES}\n\nShall I merge it?", 6)
    assert said[5:] == ["line 6", "and 40 more lines on the screen", "Shall I merge it?"]
    assert goes_on_at == 6


@pytest.mark.parametrize(
    "question",
    [
        ["Shall I merge it?", "Or wait?"],
        ["Which one?", "1. Squash", "2. Rebase", "3. Neither"],
        ["Which one?", "Say its number."],
    ],
)
def test_to_the_question_belongs_what_it_is_answered_with(question: list[str]) -> None:
    text = "\n\n".join([LINES, *question])
    assert spoken(text, 6)[0][6:] == ["and 40 more lines on the screen", *question]


def test_a_question_right_after_the_page_is_spoken_like_any_sentence() -> None:
    text = "One. Two. Which? 1. A. 2. B. 3. C."
    assert spoken(text, 2) == (speakable(text), 6)
    assert spoken(text, 3) == (speakable(text), 6)
    assert spoken("One. Two. Three. Right? Or not?", 2)[0][2:] == ["Three.", "Right?", "Or not?"]


def test_what_is_counted_stands_before_the_question() -> None:
    assert spoken("One. Two. Three. Four. Five?", 2)[0][2:] == ["and 2 more sentences on the screen", "Five?"]
    text = "One. Two.\nThree.\nFour. Five?"
    assert spoken(text, 2)[0][2:] == ["and 2 more lines on the screen", "Five?"]


def test_of_a_list_of_questions_the_last_are_spoken() -> None:
    text = " ".join(f"Is it number {number}?" for number in range(1, 21))
    assert spoken(text, 2)[0][2:] == [
        "and 15 more sentences on the screen",
        "Is it number 18?",
        "Is it number 19?",
        "Is it number 20?",
    ]


def test_a_question_that_was_asked_earlier_is_no_more_than_a_sentence() -> None:
    said, _ = spoken("Why? Because. And so on. And on. So be it. Done.", 2)
    assert said == ["Why?", "Because.", "and 4 more sentences on the screen"]


def test_going_on_in_the_question_says_the_rest_of_it() -> None:
    text = f"{LINES}\n\nShall I merge it?\n\nOr wait?"
    assert spoken(text, 6, start=46) == (["Shall I merge it?", "Or wait?"], 48)
    assert spoken(text, 6, start=47) == (["Or wait?"], 48)


def test_what_is_left_out_is_told_in_the_language() -> None:
    assert spoken(LINES, 6, language="de")[0][-1] == "und 40 weitere Zeilen auf dem Bildschirm"
    assert spoken("Eins. Zwei. Drei.", 1, language="de")[0][-1] == "und 2 weitere Sätze auf dem Bildschirm"


def test_without_a_length_all_is_spoken() -> None:
    assert spoken(LINES, None)[0] == speakable(LINES)


@settings(deadline=None)
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
