"""A turn that became two messages, two that became one, none, and one out of nothing are told apart."""

from turn_counts import Ended, TurnCounts, count

REPLY = (1.0, 4.0)


def test_a_turn_that_is_a_message():
    assert count([REPLY], [(1.1, 3.9)], [Ended(3.9, 5.5)]) == TurnCounts(turns=1)


def test_a_turn_of_two_messages_is_cut():
    ends = [Ended(1.8, 3.4), Ended(4.0, 5.6)]
    assert count([REPLY], [(1.0, 1.8), (3.5, 4.0)], ends) == TurnCounts(turns=1, cut=1)


def test_a_turn_given_up_too_early_is_cut_even_if_the_rest_was_not_heard():
    assert count([REPLY], [(1.0, 1.8)], [Ended(1.8, 3.4)]) == TurnCounts(turns=1, cut=1)


def test_a_noise_before_the_turn_cuts_nothing():
    ends = [Ended(0.6, 2.2), Ended(4.0, 5.6)]
    assert count([REPLY], [(1.0, 4.0)], ends) == TurnCounts(turns=1)


def test_two_turns_in_one_message_are_merged():
    assert count([REPLY, (7.0, 8.0)], [(1.0, 8.0)], [Ended(8.0, 9.6)]) == TurnCounts(turns=2, merged=1)


def test_two_turns_of_two_messages():
    ends = [Ended(4.0, 5.6), Ended(8.0, 9.6)]
    assert count([REPLY, (7.0, 8.0)], [(1.0, 4.0), (7.0, 8.0)], ends) == TurnCounts(turns=2)


def test_a_turn_without_a_message_is_missed():
    assert count([REPLY], [], []) == TurnCounts(turns=1, missed=1)


def test_a_message_away_from_every_turn_is_invented():
    assert count([REPLY], [(1.0, 4.0), (9.0, 9.5)], []) == TurnCounts(turns=1, invented=1)
    assert count([], [(1.0, 4.0)], [Ended(4.0, 5.6)]) == TurnCounts(invented=1)


def test_bounds_need_not_agree_to_the_frame():
    assert count([REPLY], [(4.1, 4.5)], []) == TurnCounts(turns=1)


def test_counts_add_up():
    assert TurnCounts(1, 1, 0, 0, 2) + TurnCounts(2, 0, 1, 1, 0) == TurnCounts(3, 1, 1, 1, 2)
