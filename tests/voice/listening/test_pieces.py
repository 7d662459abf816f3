from hypothesis import given
from hypothesis import strategies as st

from voice.listening.pieces import PieceRule, best_cut
from voice.ports import Verdict

SPEECH, QUIET = Verdict(0.9, -20.0), Verdict(0.1, -60.0)
RULE = PieceRule(shortest_s=1.0)


def test_the_cut_is_the_middle_of_the_longest_pause():
    piece = [SPEECH] * 200 + [QUIET] * 10 + [SPEECH] * 300 + [QUIET] * 20 + [SPEECH] * 400
    assert best_cut(piece, RULE) == 520


def test_the_later_of_two_pauses_of_one_length_is_taken():
    piece = [SPEECH] * 200 + [QUIET] * 10 + [SPEECH] * 300 + [QUIET] * 10 + [SPEECH] * 400
    assert best_cut(piece, RULE) == 515


def test_a_pause_near_an_end_is_not_taken():
    piece = [SPEECH] * 20 + [QUIET] * 20 + [SPEECH] * 400 + [QUIET] * 4 + [SPEECH] * 400 + [QUIET] * 30
    assert best_cut(piece, RULE) == 442


def test_without_a_pause_the_quietest_frame_is_taken():
    piece = [SPEECH] * 300 + [Verdict(0.9, -40.0)] + [SPEECH] * 300
    assert best_cut(piece, RULE) == 300


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(-96, 0)), min_size=3, max_size=300))
def test_the_cut_leaves_something_on_both_sides(frames):
    piece = [Verdict(*frame) for frame in frames]
    assert 0 < best_cut(piece, RULE) < len(piece)
