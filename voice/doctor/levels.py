"""What a second of the microphone says about it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voice.audio import FRAME_SAMPLES, FULL_SCALE, SILENCE_DBFS, Samples, level_dbfs

CLIPPED = 0.001
"""So large a share of samples at full scale is heard as a crackle, and costs words."""

QUIETEST_DBFS = -84.0
"""A microphone whose loudest moment is below this is turned down: its own noise is two steps of 16 bits then,
and speech in it would be a handful."""

LOUD_DBFS = -40.0
"""A room with a louder floor makes quiet replies hard to hear."""


@dataclass(frozen=True)
class Level:
    """A moment of sound."""

    floor_dbfs: float
    """The median level of its frames."""
    loudest_dbfs: float
    """That of its loudest frame."""
    clipped: float
    """The share of its samples at full scale."""


def measured(samples: Samples) -> Level:
    """The level of some whole frames at SAMPLE_RATE."""
    whole = samples[: len(samples) - len(samples) % FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)
    levels = [level_dbfs(frame) for frame in whole] or [SILENCE_DBFS]
    clipped = np.abs(samples.astype(np.int32)) >= FULL_SCALE - 1
    return Level(float(np.median(levels)), max(levels), float(clipped.mean()) if len(samples) else 0.0)


@dataclass(frozen=True)
class Judgement:
    """What is wrong with a level, if anything."""

    silent: bool = False
    """Nothing at all is heard."""
    problem: str = ""
    """In words; empty where it is well."""
    mend: str | None = None


def judge(level: Level) -> Judgement:
    """What a person should do about the microphone."""
    if level.loudest_dbfs <= SILENCE_DBFS:
        return Judgement(
            silent=True,
            problem="it gives digital silence: it is muted, or this program may not listen to it",
            mend="unmute it in the system's sound settings or with its own switch, and allow this terminal"
            " to use it; where a filter takes out all noise, say something while this listens",
        )
    if level.clipped > CLIPPED:
        return Judgement(
            problem=f"it is too loud: {level.clipped:.1%} of its samples are at the limit",
            mend="turn it down in the system's sound settings, or move it away",
        )
    if level.loudest_dbfs < QUIETEST_DBFS:
        return Judgement(
            problem="it is very quiet: it is turned down, or it is not the one in the room",
            mend="turn it up in the system's sound settings, or choose another, see: voice devices",
        )
    if level.floor_dbfs > LOUD_DBFS:
        return Judgement(
            problem="the room is loud, or it is turned up far",
            mend="speak near it, or turn it down; voice calibrate tells what is taken for speech",
        )
    return Judgement()
