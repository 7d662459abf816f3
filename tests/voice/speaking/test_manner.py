"""How fast and how loud: steps within bounds."""

from __future__ import annotations

import math

import pytest

from voice.speaking.manner import FASTEST, SLOWEST, Manner


def test_a_step_there_and_back_is_where_it_was() -> None:
    manner = Manner(1.0, 0.5)
    assert manner.faster().slower() == manner
    assert manner.slower().faster() == manner
    assert manner.louder().quieter().volume == pytest.approx(0.5)


def test_a_step_is_heard() -> None:
    manner = Manner(1.0, 0.5)
    assert manner.faster().rate >= 1.2
    assert manner.slower().rate <= 0.85
    assert manner.slowly().rate <= 0.8
    for step in (manner.louder(), manner.quieter()):
        assert abs(20 * math.log10(step.volume / manner.volume)) > 3


def test_steps_end_at_the_bounds() -> None:
    fast = slow = loud = quiet = Manner()
    for _ in range(50):
        fast, slow, loud, quiet = fast.faster(), slow.slower(), loud.louder(), quiet.quieter()
    assert (fast.rate, slow.rate, loud.volume) == (FASTEST, SLOWEST, 1.0)
    assert fast.faster() == fast
    assert slow.slower() == slow
    assert loud.louder() == loud
    assert quiet.quieter() == quiet
    assert slow.slowly() == slow


def test_quieter_never_ends_in_silence_and_a_setting_may() -> None:
    quiet = Manner()
    for _ in range(50):
        quiet = quiet.quieter()
    assert 0 < quiet.volume <= 0.1
    silent = Manner(volume=0.0)
    assert silent.quieter() == silent
    assert silent.louder().volume > 0


@pytest.mark.parametrize(
    ("rate", "volume"), [(0.49, 1), (3.01, 1), (float("nan"), 1), (1, -0.1), (1, 1.1), (1, float("nan"))]
)
def test_what_is_out_of_bounds_is_refused(rate: float, volume: float) -> None:
    with pytest.raises(ValueError, match="it can be"):
        Manner(rate, volume)
