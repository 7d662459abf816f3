"""Which turns became which messages: pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from corpus import Span

SLACK_S = 0.3
"""How far a message may lie from a turn and still be of it: bounds that were measured by energy are rough."""


@dataclass(frozen=True)
class Ended:
    """A turn as the loop saw it."""

    at_s: float
    """Its last sound."""
    decided_at_s: float


@dataclass(frozen=True)
class TurnCounts:
    """What became of the turns of one clip, or of many."""

    turns: int = 0
    cut: int = 0
    """Turns that became more than one message, or were taken for ended while the speaker went on."""
    merged: int = 0
    """Turns that share a message with the turn before them."""
    missed: int = 0
    """Turns without a message."""
    invented: int = 0
    """Messages where nobody spoke."""

    def __add__(self, other: TurnCounts) -> TurnCounts:
        return TurnCounts(
            self.turns + other.turns,
            self.cut + other.cut,
            self.merged + other.merged,
            self.missed + other.missed,
            self.invented + other.invented,
        )


def count(turns: Sequence[Span], messages: Sequence[Span], ends: Sequence[Ended]) -> TurnCounts:
    """Compare turns with the messages (where each was heard) and the ends of turns that the loop found."""
    of_turn = [{n for n, message in enumerate(messages) if _touch(turn, message)} for turn in turns]
    cut = sum(
        len(heard) > 1 or any(start < this.at_s and this.decided_at_s < end for this in ends)
        for (start, end), heard in zip(turns, of_turn, strict=True)
    )
    merged = sum(bool(a & b) for a, b in pairwise(of_turn))
    return TurnCounts(
        turns=len(turns),
        cut=cut,
        merged=merged,
        missed=sum(not heard for heard in of_turn),
        invented=len(messages) - len(set().union(*of_turn)),
    )


def _touch(turn: Span, message: Span) -> bool:
    return message[0] < turn[1] + SLACK_S and turn[0] - SLACK_S < message[1]
