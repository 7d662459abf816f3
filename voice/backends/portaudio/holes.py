"""What a device lost because its buffer was full, by the device's own clock. Pure."""

from __future__ import annotations

WORD_S = 0.2
"""In a hole that is longer a word may have stood, "not" for one. Shorter ones are common on a busy machine,
and cost a part of a sound."""

SPREAD_S = 1.0
"""Holes that are no further apart count together."""


class Holes:
    """Told of each block when it was recorded; tells how much is missing before it."""

    def __init__(self) -> None:
        self.lost_s = 0.0
        """All that is missing."""
        self._due_s: float | None = None
        self._together_s = 0.0
        self._last_s = 0.0

    def push(self, at_s: float, duration_s: float, *, overflow: bool) -> float:
        """How much is missing here, in seconds, with the holes just before; 0 where only little is.

        ``at_s`` is when the first sample of the block was recorded, ``overflow`` whether the device says that
        it lost something before it. Without that a step of its clock is only its jitter, of some 20 ms.
        """
        due_s, self._due_s = self._due_s, at_s + duration_s
        if not overflow:
            return 0.0
        # A device without a clock, or one that began with a loss: it was at least a block.
        hole_s = max(at_s - due_s if due_s is not None else 0.0, duration_s)
        near = self.lost_s > 0 and at_s - self._last_s <= SPREAD_S + hole_s
        self._together_s = hole_s + (self._together_s if near else 0.0)
        self._last_s = at_s
        self.lost_s += hole_s
        return self._together_s if self._together_s > WORD_S else 0.0
