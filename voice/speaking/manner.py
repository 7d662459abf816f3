"""The manner of speaking: how fast and how loud, and what "faster" and "quieter" make of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

SLOWEST, FASTEST = 0.5, 3.0
"""Bounds of the rate, as factors of the engine's normal speed."""

_RATE_STEP = 1.25
"""What one "faster" does; three of them double the speed, about."""

_QUIETEST = 0.05
"""Where "quieter" ends: what cannot be heard at all would be taken for broken. A setting may say 0."""

_VOLUME_STEP = 0.6
"""What one "quieter" does to the amplitude: 4.4 dB less, which nobody misses."""

_SLOWLY = 0.75


@dataclass(frozen=True)
class Manner:
    """How fast and how loud; each change gives another one, within the bounds, or the same at a bound."""

    rate: float = 1.0
    """A factor, `SLOWEST` to `FASTEST`; 1 is the engine's normal speed. The pitch stays."""
    volume: float = 1.0
    """The factor of the amplitude, 0 to 1; 1 is as loud as the engine made it."""

    def __post_init__(self) -> None:
        if not SLOWEST <= self.rate <= FASTEST:
            raise ValueError(f"a rate of {self.rate:g}; it can be {SLOWEST:g} to {FASTEST:g}")
        if not 0 <= self.volume <= 1:
            raise ValueError(f"a volume of {self.volume:g}; it can be 0 to 1")

    def faster(self) -> Manner:
        """A step faster."""
        return self._at(self.rate * _RATE_STEP)

    def slower(self) -> Manner:
        """A step slower."""
        return self._at(self.rate / _RATE_STEP)

    def slowly(self) -> Manner:
        """As something is said again to somebody who did not follow."""
        return self._at(self.rate * _SLOWLY)

    def louder(self) -> Manner:
        """A step louder."""
        return replace(self, volume=min(max(self.volume / _VOLUME_STEP, _QUIETEST), 1.0))

    def quieter(self) -> Manner:
        """A step quieter, but never silent."""
        return replace(self, volume=min(self.volume, max(self.volume * _VOLUME_STEP, _QUIETEST)))

    def _at(self, rate: float) -> Manner:
        return replace(self, rate=round(min(max(rate, SLOWEST), FASTEST), 3))
