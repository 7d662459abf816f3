"""Is one thread as good for Whisper as two? From a few measurements, if they are worth anything: pure.

The answer is kept for later sessions, so it must not depend on what the machine happened to do meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WORTH_A_THREAD = 0.8
"""Several threads are used where they take at most this share of the time that one takes: the microphone, the
speaker and the agent want the other cores too."""

AGREE_WITHIN = 1.25
"""Two measurements of one thing that differ by more have measured something else."""

QUIET_PROCESSORS = 0.2
"""Of the processors that are needed, others may have kept busy so many: our own sound takes 0.05."""


@dataclass(frozen=True, slots=True)
class Round:
    """One comparison, in seconds for the same piece."""

    one_s: float
    """With one thread."""
    several_s: float
    """With several."""
    others: float | None = None
    """How many processors other programs kept busy meanwhile, where the system tells."""


def chosen_threads(rounds: Sequence[Round], several: int, processors: int) -> int | None:
    """1 or ``several``; None where the rounds do not agree, or the machine was busy."""
    spare = processors - several + QUIET_PROCESSORS
    if not rounds or any(one.others is not None and one.others > spare for one in rounds):
        return None
    for costs in ([one.one_s for one in rounds], [one.several_s for one in rounds]):
        if max(costs) > AGREE_WITHIN * min(costs):
            return None
    choices = {several if one.several_s <= WORTH_A_THREAD * one.one_s else 1 for one in rounds}
    return choices.pop() if len(choices) == 1 else None
