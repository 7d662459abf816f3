"""How far a figure may be off: intervals that hold 95 % of what other recordings would give. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from corpus import Span

_Z = 1.959964
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
