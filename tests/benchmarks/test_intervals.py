"""Intervals hold what they should, and say more where there is more."""

import pytest
from intervals import of_median, of_share


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
