"""Whose voice was heard while we spoke? What its sound and its words tell in; a verdict out. Pure.

Spoken messages count as consent, so what began while we spoke needs evidence that it is not ours: a reply
that is lost can be said again, and a message that nobody said can approve something. Three things tell, each
without the others: how loud it is against what else was heard while we spoke, what a filter explains of it by
what was played (`own_voice`), and what an echo canceller left of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from voice.events import DiscardReason
from voice.listening.echo import Ours, is_short

FAR_ABOVE_DB = 12.0
"""So much louder than what was heard while only we spoke is nothing of ours: our own voice is up to 9 dB
louder than itself, and people with headphones are 30 dB and more above what the microphone hears of us."""

ABOVE_DB = 2.5
"""Somebody who speaks through our own voice is at least so much louder than that. Echoes that got past a
canceller were 6 dB softer to 2 dB louder than what was heard of us before."""

PARTLY_OURS = 0.45
"""The share of its energy from which it is ours: of an echo 0.59 to 0.99 was explained, of people who talk
over one that is 6 dB softer than they are mostly less than 0.35."""

BEGINS_OURS = 0.6
"""The share from which its beginning is ours."""

SURELY_OURS = 0.75
"""The share from which it is ours however soft we were before: a device that suppresses our voice may let a
piece of it through. Of people with headphones, who are not in what was played, a filter explained up to 0.6
by chance."""

MOSTLY_OURS_S = 0.3
"""As much of our own voice in an utterance as a short word takes."""

LEFT_DB = -8.0
"""A canceller that takes out more than this found hardly anything else."""

ENOUGH_TO_COMPARE_S = 0.4
"""With less of our own voice before it nothing is known of how loud that is."""

_LOUD, TYPICAL = 90, 75
"""Percentiles of the loudness of frames: of what was heard before, and of the utterance. There are pauses in
both."""


@dataclass(frozen=True)
class Sound:
    """What the sound of an utterance tells, as far as it was heard while we spoke."""

    above_db: float | None = None
    """By how much it is louder than what was heard while only we spoke; None where there was too little of
    that."""
    begins_above_db: float | None = None
    """The same of its first word's time; None where that tells nothing of its own."""
    ours: float | None = None
    """The share of its energy that is explained by what was played; None where nobody told what was."""
    begins_ours: float = 0.0
    """The same share of its first word's time: a turn that our own voice began may have somebody's reply in
    it."""
    ours_s: float = 0.0
    """How much of it is mostly explained by that, in seconds."""
    left_db: float | None = None
    """What an echo canceller left of it; None without one."""


class Whose(Enum):
    """A verdict."""

    THEIRS = auto()
    """From its beginning on the microphone hears little or nothing of us."""
    THROUGH_OURS = auto()
    """Somebody speaks through our own voice: there may be words of both in it."""
    UNKNOWN = auto()
    OURS = auto()


def whose(sound: Sound) -> Whose:
    """Whose an utterance is that began while we spoke."""
    if sound.ours is not None and sound.ours >= SURELY_OURS:
        return Whose.OURS
    if sound.above_db is not None and sound.above_db >= FAR_ABOVE_DB:
        begins_far_above = sound.begins_above_db is None or sound.begins_above_db >= FAR_ABOVE_DB
        return Whose.THEIRS if begins_far_above else Whose.THROUGH_OURS
    if sound.ours is None:
        return Whose.UNKNOWN
    ours = sound.ours >= PARTLY_OURS or sound.begins_ours >= BEGINS_OURS or sound.ours_s >= MOSTLY_OURS_S
    softer = sound.above_db is not None and sound.above_db < ABOVE_DB
    cancelled = sound.left_db is not None and sound.left_db < LEFT_DB
    if ours or softer or cancelled:
        return Whose.OURS
    return Whose.THROUGH_OURS


def forbidden(text: str, ours: Ours, sound: Sound) -> DiscardReason | None:
    """Why what began while we spoke is no message; None where all of it is the person's.

    ``ours`` is what its words tell. `DiscardReason.TALKED_OVER` is for what may be theirs.
    """
    verdict = whose(sound)
    if verdict is Whose.OURS:
        return DiscardReason.ECHO
    if verdict is Whose.UNKNOWN:
        louder = sound.above_db is not None and sound.above_db >= ABOVE_DB
        return DiscardReason.TALKED_OVER if louder or ours is Ours.IN_PART else DiscardReason.ECHO
    # "Yes" is an answer to "yes or no?", and "the second one of these" to "the second one?".
    unexplained = sound.ours is not None and sound.ours < PARTLY_OURS
    theirs = verdict is Whose.THEIRS and (unexplained or is_short(text))
    return None if theirs or ours is Ours.NONE else DiscardReason.TALKED_OVER


def above_db(heard: NDArray[np.float64], before: NDArray[np.float64], frame_s: float) -> float | None:
    """By how much an utterance is louder than our own voice before it; both are energies, one a frame."""
    if len(before) * frame_s < ENOUGH_TO_COMPARE_S or not heard.any():
        return None
    ours = max(float(np.percentile(before, _LOUD)), 1e-12)
    return float(10 * np.log10(max(np.percentile(heard, TYPICAL), 1e-12) / ours))
