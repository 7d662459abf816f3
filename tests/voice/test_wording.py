import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.wording import distance, find, located_words, words


def test_case_punctuation_and_apostrophes_do_not_count():
    assert words("Don\N{RIGHT SINGLE QUOTATION MARK}t \N{EM DASH} STOP!") == ("dont", "stop")
    assert words("mm-hm, Über_fluß 2nd") == ("mm", "hm", "über", "fluss", "2nd")
    assert words(" .?! ") == ()


def test_accents_that_stand_behind_their_letter_are_part_of_it():
    assert words("Cafe\N{COMBINING ACUTE ACCENT} U\N{COMBINING DIAERESIS}ber") == words("Café Über")


@given(st.text())
def test_words_stand_where_they_say(text):
    for word in located_words(text):
        assert 0 <= word.start < word.end <= len(text)


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("redis", "redis", 0),
        ("redis", "reddis", 1),
        ("redis", "erdis", 1),
        ("redis", "radius", 2),
        ("", "ab", 2),
    ],
)
def test_the_distance_counts_letters(one, other, apart):
    assert distance(one, other, 3) == apart
    assert distance(other, one, 3) == apart


@given(st.text("abc", max_size=8), st.text("abc", max_size=8), st.integers(0, 8))
def test_a_limit_cuts_the_distance_off(one, other, limit):
    assert distance(one, other, limit) == min(distance(one, other, 20), limit + 1)
    assert (distance(one, other, 20) == 0) == (one == other)


def test_a_run_of_words_is_found():
    assert find(("b", "c"), ("a", "b", "c", "b", "c")) == 1
    assert find(("b", "c"), ("a", "b", "c", "b", "c"), 2) == 3
    assert find(("c", "a"), ("a", "b", "c")) == -1
    assert find((), ("a",)) == -1
