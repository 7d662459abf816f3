"""How many threads: plain numbers in, a choice or none out."""

import pytest

from voice.backends.thread_choice import Round, chosen_threads


def chosen(*rounds, processors=2):
    return chosen_threads([Round(*one) for one in rounds], 2, processors)


def test_two_are_used_where_they_are_worth_it():
    assert chosen((1.0, 0.6), (1.1, 0.65)) == 2


def test_one_is_used_where_the_second_brings_little():
    assert chosen((1.0, 0.85), (1.0, 0.9)) == 1


@pytest.mark.parametrize(
    "rounds",
    [
        [(1.0, 0.6), (1.4, 0.6)],
        [(1.0, 0.5), (1.0, 0.7)],
        [(1.0, 0.79), (1.0, 0.81)],
        [],
    ],
    ids=["one thread differs", "two threads differ", "another choice", "nothing measured"],
)
def test_rounds_that_do_not_agree_choose_nothing(rounds):
    assert chosen(*rounds) is None


@pytest.mark.parametrize(
    ("others", "processors", "choice"),
    [(0.1, 2, 2), (0.5, 2, None), (1.0, 2, None), (1.0, 4, 2), (2.5, 4, None), (None, 2, 2)],
)
def test_what_was_measured_while_others_had_the_processors_is_worth_nothing(others, processors, choice):
    assert chosen((1.0, 0.6, 0.0), (1.0, 0.6, others), processors=processors) == choice


def test_a_steady_load_that_makes_both_rounds_agree_on_one_thread_is_seen():
    assert chosen((1.0, 0.95, 1.0), (1.0, 0.96, 1.0)) is None
