"""Where a long reply is cut into the pieces that are transcribed apart.

Whisper hears 30 s at a time, and without timestamps its smallest model loses what follows a pause inside a
piece. So a piece ends at a pause as soon as the pause is long enough, and a piece without such a pause is cut
at the best place in it before it grows too long. Pure: frames are numbers here, their sound lies elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from voice.audio import FRAME_S
from voice.ports import Verdict


@dataclass(frozen=True)
class PieceRule:
    """How an utterance is cut."""

    pause_s: float = 0.8
    """A pause this long ends a piece."""
    tail_s: float = 0.5
    """So much of the pause belongs to the piece before it: cut tight, Whisper loses the last word."""
    longest_s: float = 25.0
    """A piece is cut before it is longer: 30 s less a margin."""
    shortest_s: float = 5.0
    """A cut that no pause has called for leaves pieces at least this long."""
    early_s: float | None = None
    """After so much silence the open piece is given out early, as it would be if nothing more were said."""
    quiet_below: float = 0.35
    """The probability of speech under which a frame is part of a pause: that of `EndRule`."""


@dataclass(frozen=True)
class Evidence:
    """What the detector found in a piece: what speaks for words in it, besides the words."""

    speech_s: float
    """How much of it was speech, in seconds."""


def evidence_of(piece: Sequence[Verdict], threshold: float) -> Evidence:
    """What speaks for words in a piece; ``threshold`` is the least probability of a frame of speech."""
    return Evidence(sum(verdict.probability >= threshold for verdict in piece) * FRAME_S)


def best_cut(piece: Sequence[Verdict], rule: PieceRule) -> int:
    """Where to cut a piece that has grown too long: the frame that begins the next one.

    The middle of the longest pause (the later of equals), or, where nobody has paused at all, the quietest
    frame; never in the first or last ``shortest_s`` of the piece, if it is long enough to have both.
    """
    margin = min(round(rule.shortest_s / FRAME_S), (len(piece) - 1) // 2)
    first, last = margin, len(piece) - margin
    longest, cut, run_start = 0, 0, first
    for index in range(first, last + 1):
        if index < last and piece[index].probability < rule.quiet_below:
            continue
        if index - run_start >= longest and index > run_start:
            longest, cut = index - run_start, (run_start + index) // 2
        run_start = index + 1
    return cut if longest else min(range(first, last), key=lambda index: piece[index].level_dbfs)
