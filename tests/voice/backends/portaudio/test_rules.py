"""When a stream counts as dead, and what a full buffer cost it."""

import pytest

from voice.backends.portaudio.heartbeat import GRACE_S, LOST_AFTER_S, Heartbeat
from voice.backends.portaudio.holes import WORD_S, Holes


def looks(heart, begin_s, seconds, every_s=0.1):
    """Whether it has stopped, at each look."""
    return [heart.stopped(begin_s + step * every_s) for step in range(1, round(seconds / every_s) + 1)]


def test_a_stream_that_never_calls_back_is_lost_after_the_time_that_an_idle_server_takes():
    heart = Heartbeat()
    heart.stopped(10.0)
    assert not any(looks(heart, 10.0, GRACE_S - 0.1))
    assert heart.stopped(10.0 + GRACE_S + 0.1)


def test_a_stream_that_calls_back_no_more_is_lost():
    heart = Heartbeat()
    heart.stopped(10.0)
    for _ in range(50):
        heart.felt()
        assert not any(looks(heart, 10.0, 0.1))
    looks(heart, 10.0, GRACE_S)
    heart.felt()
    heart.stopped(20.0)
    assert not any(looks(heart, 20.0, LOST_AFTER_S - 0.1))
    assert heart.stopped(20.0 + LOST_AFTER_S + 0.1)


def test_a_late_callback_in_the_first_moments_is_no_loss():
    heart = Heartbeat()
    heart.felt()
    heart.stopped(10.0)
    assert not any(looks(heart, 10.0, GRACE_S - 0.2))


@pytest.mark.parametrize("away_s", [2.0, 3_600.0])
def test_a_program_that_was_stopped_and_runs_on_has_lost_nothing(away_s):
    heart = Heartbeat()
    heart.stopped(10.0)
    looks(heart, 10.0, GRACE_S)
    heart.felt()
    heart.stopped(20.0)
    assert not any(looks(heart, 20.0 + away_s, 1.0))
    heart.felt()
    assert not any(looks(heart, 21.0 + away_s, 1.0))


def test_a_stream_with_callbacks_lives_however_rarely_it_is_looked_at():
    heart = Heartbeat()
    for now_s in range(10, 100, 10):
        heart.felt()
        assert not heart.stopped(now_s)


def push(holes, *blocks):
    """Blocks of 20 ms, each so much later than the one before had ended; nought is one without a loss."""
    at_s, told = 50.0, []
    for hole_s in blocks:
        at_s += hole_s
        told.append(holes.push(at_s, 0.02, overflow=hole_s > 0))
        at_s += 0.02
    return told


def test_short_holes_are_counted_and_cost_no_reply():
    holes = Holes()
    assert push(holes, 0, 0.05, *[0] * 60, 0.1, *[0] * 60, WORD_S - 0.001) == [0.0] * 124
    assert holes.lost_s == pytest.approx(0.05 + 0.1 + WORD_S - 0.001)


def test_a_long_hole_and_short_ones_together_are_told_with_their_length():
    assert push(Holes(), 0, 0.5)[-1] == pytest.approx(0.5)
    assert push(Holes(), 0, 0.15, 0, 0, 0.15)[-1] == pytest.approx(0.3)
    assert push(Holes(), 0, 0.15, *[0] * 55, 0.15)[-1] == 0.0


def test_a_step_of_the_clock_without_a_loss_is_none():
    holes = Holes()
    assert holes.push(1.0, 0.02, overflow=False) == 0.0
    assert holes.push(3.0, 0.02, overflow=False) == 0.0
    assert holes.lost_s == 0.0


@pytest.mark.parametrize("times", [(0.0, 0.0), (5.0, 4.0)])
def test_without_a_clock_that_runs_a_loss_is_one_block(times):
    holes = Holes()
    assert [holes.push(at_s, 0.02, overflow=True) for at_s in times] == [0.0, 0.0]
    assert holes.lost_s == pytest.approx(0.04)
