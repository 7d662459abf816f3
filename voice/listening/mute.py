"""Digital silence: a microphone that is muted, or may not be listened to, gives noughts and no noise. Pure.

Some devices and filters give noughts too whenever nobody speaks. They show it between two words, where no
hand could have switched a microphone off and on; their silence says something only when it is very long.
"""

from __future__ import annotations

from enum import Enum, auto

MUTE_S = 2.0
"""So much digital silence is no pause."""

GATED_MUTE_S = 30.0
"""The same for a microphone that gives noughts in pauses."""

GATE_S = (0.1, 1.5)
"""Digital silence that ends by itself after so long is a pause that something has blackened. A hand takes
longer, and what is shorter is lost sound."""


class Muted(Enum):
    """What became of a microphone."""

    MUTED = auto()
    BACK = auto()
    """It gives sound again."""


class MuteWatch:
    """Told of each block of sound whether there was anything in it; says when a microphone is muted, once."""

    def __init__(self) -> None:
        self._silent_s = 0.0
        self._told = False
        self._heard = False
        self._gated = False

    def push(self, duration_s: float, *, silent: bool) -> Muted | None:
        """What the next ``duration_s`` of sound tell, ``silent`` where every sample of them is nought."""
        if not silent:
            return self._sound()
        self._silent_s += duration_s
        limit_s = GATED_MUTE_S if self._gated else MUTE_S
        if self._told or self._silent_s < limit_s - duration_s / 2:
            return None
        self._told = True
        return Muted.MUTED

    def _sound(self) -> Muted | None:
        shortest_s, longest_s = GATE_S
        self._gated = self._gated or (self._heard and shortest_s <= self._silent_s <= longest_s)
        self._silent_s, self._heard = 0.0, True
        back, self._told = self._told, False
        return Muted.BACK if back else None
