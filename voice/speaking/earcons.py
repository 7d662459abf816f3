"""Earcons: short sounds that say what has happened. Pure.

Each is one to three struck notes, told apart by number and direction more than by pitch, which fewer people
hear: up when something opens or leaves, down when it closes. They are plain tones without the formants and
the slow movement of a voice, so that no detector of speech takes them for one.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache

import numpy as np

from voice.audio import SAMPLE_RATE, Sound, to_int16


class Earcon(StrEnum):
    """What a short sound says."""

    LISTENING = "listening"
    """The microphone is open, and it is the person's turn."""
    HEARD = "heard"
    """Something was heard, and waits until the agent has finished."""
    SENT = "sent"
    """A message has gone to the agent."""
    NOT_SENT = "not_sent"
    """What was said does not go to the agent."""
    OFF = "off"
    """Voice is off, or listening is paused."""


LONGEST_S = 0.15
"""Longer than this it would be waited for."""

_PEAK = 0.25
"""Of full scale, at volume 1: about as loud as the speech beside it."""

_ATTACK_S = 0.004
_RELEASE_S = 0.012
"""Ramps at both ends of a note: without them it begins and ends with a click."""

_DECAY_S = 0.03
"""A note is down to 37 % after so long, as that of a wooden bar is."""

_OVERTONES = ((1.0, 1.0), (4.0, 0.12))
"""Partials of a wooden bar: multiple of the frequency, amplitude."""

_B5, _D6, _E6, _G6, _B6 = 987.8, 1174.7, 1318.5, 1568.0, 1975.5
"""Frequencies in Hz, of one chord, so that two earcons in a row do not clash; and higher than voices are. One
of them is speech to Silero with a probability of at most 0.4, at any volume and in noise, and six in a row of
0.5; with notes a fifth lower it was 0.85."""

_NOTES: dict[Earcon, tuple[tuple[float, float, float], ...]] = {
    Earcon.LISTENING: ((_D6, 0.0, 0.07), (_G6, 0.06, 0.09)),
    Earcon.HEARD: ((_B6, 0.0, 0.06),),
    Earcon.SENT: ((_G6, 0.0, 0.05), (_B6, 0.045, 0.09)),
    Earcon.NOT_SENT: ((_E6, 0.0, 0.06), (_E6, 0.075, 0.075)),
    Earcon.OFF: ((_G6, 0.0, 0.05), (_D6, 0.045, 0.05), (_B5, 0.09, 0.06)),
}
"""For each its notes: frequency in Hz, begin and length in seconds."""


def sound_of(earcon: Earcon, volume: float = 1.0) -> Sound:
    """Its sound, at most `LONGEST_S`, at `SAMPLE_RATE`; ``volume`` is a factor, 0 to 1."""
    return Sound(to_int16(_wave(earcon) * np.float32(volume)), SAMPLE_RATE)


@cache
def _wave(earcon: Earcon) -> np.typing.NDArray[np.float32]:
    notes = _NOTES[earcon]
    end_s = max(begin_s + length_s for _, begin_s, length_s in notes)
    wave = np.zeros(round(end_s * SAMPLE_RATE))
    for frequency, begin_s, length_s in notes:
        note = _note(frequency, length_s)
        begin = round(begin_s * SAMPLE_RATE)
        wave[begin : begin + len(note)] += note
    return np.asarray(wave * (_PEAK / np.abs(wave).max()), np.float32)


def _note(frequency: float, length_s: float) -> np.typing.NDArray[np.float64]:
    t = np.arange(int(length_s * SAMPLE_RATE)) / SAMPLE_RATE
    tone = sum(level * np.sin(2 * np.pi * frequency * multiple * t) for multiple, level in _OVERTONES)
    ramps = np.clip(np.minimum(t / _ATTACK_S, (length_s - t) / _RELEASE_S), 0, 1)
    return np.asarray(tone * np.exp(-t / _DECAY_S) * (0.5 - 0.5 * np.cos(np.pi * ramps)))
