"""What is scored is what was heard, not how it is written."""

import pytest
from words import Score, compare, edit_distance, right_words, score, words_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("forty two", "42"),
        ("forty-two", "42."),
        ("four two seven one", "4271"),
        ("four two seven one", "4, 2, 7, 1"),
        ("four two seven one", "Four, two, seven, one."),
        ("nine seventy two", "972"),
        ("nine seventy two", "9-72"),
        ("nine hundred and seventy two", "972"),
        ("two thousand and five", "2,005"),
        ("two thousand six hundred", "2600"),
        ("nineteen eighty four", "1984"),
        ("one hundred twenty", "120"),
        ("ninety eight twenty eight", "98-28"),
        ("seven oh three eight", "7-0-3-8"),
        ("six oh eight oh", "6080"),
        ("enter zero", "Enter 0."),
        ("u m n y", "umny"),
        ("u m n y", "U-M-N-Y."),
        ("u m n y", "UMNY"),
        ("u m n y", "U.M.N.Y."),
        ("rubout m d m t g nine six seven oh", "Rubout MDM-TG9670"),
        ("r q z h four", "RQZH4."),
        ("f y z o two two two", "FYZ0222"),
        ("f y z o two two two", "F-Y-Z-O-2-2-2"),
        ("g c d o four", "GCDO4"),
        ("e x x s zero", "EXXS 0"),
        ("o u four", "OU4"),
        ("mister hale", "Mr. Hale,"),
        ("okay rhasspy", "OK, Rhasspy!"),
        ("it's ann's plum", "It\N{RIGHT SINGLE QUOTATION MARK}s Ann's plum."),
        ("ill disposed", "ill-disposed"),
        ("the first of three", "The 1st of 3"),
        ("five percent", "5%"),
        ("café", "cafe\N{COMBINING ACUTE ACCENT}"),
    ],
)
def test_the_same_words(one, other):
    assert words_of(one) == words_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("it's", "it is"),
        ("forty two", "fourteen two"),
        ("seventy", "seventeen"),
        ("u m n y", "u n m y"),
        ("oh no", "0 no"),
        ("oh well", "zero well"),
        ("two", "to"),
        ("use it", "useit"),
    ],
)
def test_different_words(one, other):
    assert words_of(one) != words_of(other)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("…!?", []),
        ("I have none, I said", ["i", "have", "none", "i", "said"]),
        ("and a hundred more", ["and", "a", "hundred", "more"]),
        ("one hundred and then", ["1", "0", "0", "and", "then"]),
        ("twenty and thirty", ["2", "0", "and", "3", "0"]),
        ("God bless 'em", ["god", "bless", "'em"]),
        ("'quoted'", ["'quoted"]),
        ("STOP.", ["stop"]),
    ],
)
def test_words(text, words):
    assert words_of(text) == words


def test_edits_of_every_kind_count_one():
    assert edit_distance(list("abc"), list("abc")) == 0
    assert edit_distance(list("abc"), list("axc")) == 1
    assert edit_distance(list("abc"), list("ac")) == 1
    assert edit_distance(list("ac"), list("abc")) == 1
    assert edit_distance([], list("ab")) == 2
    assert edit_distance(list("ab"), []) == 2
    assert edit_distance(list("abcd"), list("bxde")) == 3


def test_a_wrong_digit_is_one_error_in_as_many_words_as_there_are_digits():
    assert score("enter four two seven one", "Enter 4272.") == Score(5, 1)


def test_which_words_are_right():
    assert right_words(list("abcd"), list("acd")) == {0, 2, 3}
    assert right_words(list("abcd"), list("xbydz")) == {1, 3}
    assert right_words(list("aa"), list("a")) in ({0}, {1})
    assert right_words([], ["a"]) == set()


def test_scores_add_up_over_clips():
    assert Score(4, 1) + Score(6, 0) == Score(10, 1)
    assert Score(10, 1).rate == 0.1
    assert Score(0, 3).rate == 0.0


def test_a_comparison_is_of_sums_with_intervals_around_them():
    first = [Score(10, 1)] * 20 + [Score(10, 5)] * 20
    second = [Score(10, 1)] * 40
    compared = compare(first, second)
    assert compared.first.rate == 0.3
    assert compared.second.rate == 0.1
    assert compared.difference == pytest.approx(0.2)
    low, high = compared.difference_interval
    assert 0.1 < low < 0.2 < high < 0.3
    assert compared.second_interval == (pytest.approx(0.1), pytest.approx(0.1))


def test_a_comparison_is_the_same_each_time():
    first, second = [Score(3, 1), Score(5, 0), Score(9, 2)], [Score(3, 0), Score(5, 1), Score(9, 2)]
    assert compare(first, second) == compare(first, second)
