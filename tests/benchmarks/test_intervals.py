"""Intervals hold what they should, and say more where there is more."""

from math import inf

import numpy as np
import pytest
from intervals import of_growth, of_median, of_share


def test_a_share_lies_in_its_interval():
    low, high = of_share(3, 450)
    assert low < 3 / 450 < high
    assert (low, high) == pytest.approx((0.00227, 0.01941), abs=1e-5)  # the published formula, by hand


def test_none_of_many_is_not_certainly_none():
    low, high = of_share(0, 100)
    assert low == 0
    assert high == pytest.approx(0.037, abs=1e-3)


def test_nothing_counted_tells_nothing():
    assert of_share(0, 0) == (0.0, 1.0)


def test_more_values_make_a_median_surer():
    few, many = of_median([1.0, 2.0, 3.0] * 3), of_median([1.0, 2.0, 3.0] * 300)
    assert few[0] <= many[0] <= 2.0 <= many[1] <= few[1]
    assert few != many


def test_the_interval_of_a_growth_holds_it():
    low, high = of_growth(range(100), [3 * at + (at * 37 % 11) for at in range(100)])
    assert 2.8 < low < 3 < high < 3.2


def test_too_few_values_tell_nothing_of_growth():
    assert of_growth(range(9), range(9)) == (-inf, inf)


def test_as_many_slopes_are_left_out_as_kendall_s_distribution_says():
    inversions = np.ones(1)
    for length in range(1, 11):  # a value put into an order of so many has so many places
        inversions = np.convolve(inversions, np.ones(length))
    beyond = inversions.cumsum() / inversions.sum()
    assert beyond[11] < 0.025 < beyond[12]
    low, high = of_growth(range(10), [-1.0] * 5 + [1.0] * 5)
    assert low == 0 < high  # 20 slopes of 45 are 0, and the others positive: those in the middle are both


def held(draw, high, low):
    """450 values of 9 and 0, with a little noise: so many at a time are high and so many low, on average."""
    values = draw.normal(0, 0.3, 450)
    up, at = draw.random() < high / (high + low), 0
    while at < len(values):
        lasts = 1 + int(draw.exponential(high if up else low))
        values[at : at + lasts] += 9 * up
        up, at = not up, at + lasts
    return values


@pytest.mark.parametrize(("high", "low"), [(20, 20), (60, 60), (10, 100), (40, 200)])
def test_steps_up_and_down_hide_no_growth_and_make_none(high, low):
    draw = np.random.default_rng(5)
    at = np.arange(450)
    noises = [held(draw, high, low) for _ in range(300)]
    too_low = sum(of_growth(at, noise + 0.02 * at)[1] < 0.02 for noise in noises)
    assert too_low <= 24  # 2 to 4 % of 1,500; with least squares 3 to 8 %
    hidden = sum(of_growth(at, noise + 0.03 * at)[1] < 0.02 for noise in noises)
    assert hidden == 0
    not_flat = sum(of_growth(at, noise)[1] >= 0.02 for noise in noises)
    assert not_flat <= 100  # 0 to 27 %; with least squares up to 47 %
