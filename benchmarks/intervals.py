"""How far a figure may be off: intervals that hold 95 % of what other recordings would give. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import inf, sqrt

import numpy as np
from corpus import Span

_Z = 1.959964
_TENTHS = 10
_OFF = 11
"""Of the 45 slopes between ten values so many at each end lie outside. Where nothing grows, the order of ten
values has at most so many inversions with a chance of 2.3 % (Kendall's distribution)."""
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


def of_growth(at: Sequence[float], values: Sequence[float]) -> Span:
    """The interval of how fast the floor of values rises that come one after the other; per unit of ``at``.

    The floor is the least of each tenth of them. An allocator keeps for a while what it may need again, and
    gives it back: a few large steps up and down, not a cloud around a line. What leaks is never given back,
    and lifts the least as much as the mean. Neighbours are alike, so a tenth counts as one value. Of the
    slopes from each of the ten to each later one the interval has the middle, after Sen (1968): it asks of
    the noise only that it is alike everywhere, and a tenth that lies quite off moves it no further than one
    that lies a little off.

    Least squares with Student's t asks for a normal distribution. Where a memory of 450 turns has steps of
    9 MB that last 20 to 60, it would call 0.2 to 1.5 % of those flat that grow by half more than they may,
    and 21 to 47 % of those that do not grow not flat; this calls none of the former flat, and 3 to 27 % of
    the latter not (1,500 runs of each, drawn as in ``tests/benchmarks/test_intervals.py``).

    Steps that last for half of the run, and one that stays, cannot be told from growth by one run, by this or
    otherwise. Fewer than ten values tell nothing.
    """
    if len(values) < _TENTHS:
        return -inf, inf
    tenths = zip(
        np.array_split(np.array(at, float), _TENTHS),
        np.array_split(np.array(values, float), _TENTHS),
        strict=True,
    )
    floors = [(float(where.mean()), float(these.min())) for where, these in tenths]
    slopes = sorted((later - low) / (to - start) for (start, low), (to, later) in combinations(floors, 2))
    return slopes[_OFF], slopes[-1 - _OFF]
