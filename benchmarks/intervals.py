"""How far a figure may be off: intervals that hold 95 % of what other recordings would give. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from corpus import Span

_Z = 1.959964
_T_8 = 2.306004
"""Student's t, 97.5 %, for ten values and a line through them."""
RESAMPLES = 2_000
SEED = 20_261


def of_share(count: int, of: int) -> Span:
    """The interval of a share, after Wilson: it is right for few and for none as well."""
    if not of:
        return 0.0, 1.0
    share = count / of
    centre = share + _Z**2 / (2 * of)
    spread = _Z * sqrt(share * (1 - share) / of + _Z**2 / (4 * of**2))
    scale = 1 + _Z**2 / of
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def of_median(values: Sequence[float]) -> Span:
    """The interval of a median: those of as many values drawn anew, with replacement and a fixed seed."""
    known = np.array(values, float)
    drawn = np.random.default_rng(SEED).integers(len(known), size=(RESAMPLES, len(known)))
    low, high = np.percentile(np.median(known[drawn], axis=1), [2.5, 97.5])
    return float(low), float(high)


def of_slope(at: Sequence[float], values: Sequence[float]) -> Span:
    """The interval of a slope, by least squares, of values that come one after the other.

    Neighbours are alike: memory stays where it has grown to. So whole blocks of them, a tenth each, are taken
    for one value, and Student's t for ten values is used.
    """
    blocks = list(
        zip(np.array_split(np.array(at, float), 10), np.array_split(np.array(values, float), 10), strict=True)
    )
    x, y = (np.array([block[side].mean() for block in blocks if len(block[0])]) for side in (0, 1))
    if len(x) < 3:
        return -np.inf, np.inf
    spread = ((x - x.mean()) ** 2).sum()
    slope = float(((x - x.mean()) * (y - y.mean())).sum() / spread)
    left = y - y.mean() - slope * (x - x.mean())
    error = sqrt(float((left**2).sum()) / (len(x) - 2) / float(spread))
    return slope - _T_8 * error, slope + _T_8 * error
