"""Whether a stream still lives: its callbacks are the only sign of life it gives. Pure."""

from __future__ import annotations

LOST_AFTER_S = 1.5
"""A stream without a callback for so long is dead. A hung sound server gives no other sign. With four busy
programs on two processors no callback was seen to be late by more than 40 ms."""

GRACE_S = 3.0
"""The same, counted from its start: a sound server that was idle may take 2 s to begin."""

LONGEST_LOOK_S = 0.3
"""What lies between two looks counts as no more: beyond that we stood still ourselves (stopped, or on a
machine that was), and no callback could come."""


class Heartbeat:
    """Felt by a stream's own thread, looked at by another one several times a second."""

    def __init__(self) -> None:
        self._felt = False
        self._looked_at_s: float | None = None
        self._grace_left_s = GRACE_S
        self._left_s = LOST_AFTER_S

    def felt(self) -> None:
        """There was a callback."""
        self._felt = True

    def stopped(self, now_s: float) -> bool:
        """Whether there has been none for too long, at this time of a clock that never goes back."""
        passed_s = 0.0 if self._looked_at_s is None else min(now_s - self._looked_at_s, LONGEST_LOOK_S)
        self._looked_at_s = now_s
        self._grace_left_s -= passed_s
        self._left_s = LOST_AFTER_S if self._felt else self._left_s - passed_s
        self._felt = False
        return self._left_s < 0 and self._grace_left_s < 0
