"""Our own voice in the microphone: what was played against what was heard. Pure.

A room is close to a linear filter: each sound comes back delayed, coloured and smeared. So the filter that
makes what was heard out of what was played is found by least squares, over some seconds, and what it explains
is ours. People who talk meanwhile are not explained by it, and disturb it little. It needs no library, and
judges what has been heard already; to hear people well through our own voice is what an `EchoCanceller` is
for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from voice.audio import FRAME_S, FRAME_SAMPLES, SAMPLE_RATE, Frame, Samples, to_float, to_int16

_Number = TypeVar("_Number", bound=np.generic)

EARLIEST_S, LATEST_S = -0.2, 0.6
"""Where the echo is looked for, from when the speaker was said to play: what a device tells of its delay is
an estimate, and Bluetooth adds a delay of its own."""

LONGEST_FILTER_S = 0.2
"""Of a room's answer so much is looked at: what comes later is 20 dB and more below, in a furnished room."""

SAMPLES_PER_TAP = 8
"""So much of the played sound there must be for each number of the filter: with fewer it would explain
anything (one part in so many of a sound that has nothing to do with it)."""

MOSTLY_OURS = 0.6
"""The share of a sound's energy from which it counts as ours. In made-up rooms the filter explained 0.95 to
0.99 of an echo, and of people who talked meanwhile less than 0.1."""

HARDLY_OURS = 0.1
"""The share below which a sound counts as having nothing of ours."""

ONLY_OURS = 0.9
"""The share from which a sound has nothing else in it. Of echoes alone, in made-up rooms, 0.93 to 0.99 was
explained."""

_ITERATIONS = 40
"""Of the conjugate gradients; more explain no more."""

_EVEN_OUT = 1e-3
"""Keeps the frequencies that were hardly played from mattering, as a share of the mean power."""

_UNSURE_S = 0.1
"""Sounds that nearly follow each other do: so much a device's estimate of its delay moves about."""


_REACH = round((LATEST_S + LONGEST_FILTER_S) / FRAME_S) + 1
"""Frames that may still come back."""


class Tape:
    """The last ``kept_s`` seconds of a stream of frames."""

    def __init__(self, kept_s: float) -> None:
        self._kept = round(kept_s / FRAME_S) * FRAME_SAMPLES
        self._room: Samples = np.zeros(2 * self._kept, np.int16)
        # It begins with silence: what is asked for is always there.
        self._end = self._kept

    def append(self, frame: Frame) -> None:
        """Take the next frame."""
        if self._end + FRAME_SAMPLES > len(self._room):
            self._room[: self._kept] = self._room[self._end - self._kept : self._end]
            self._end = self._kept
        self._room[self._end : self._end + FRAME_SAMPLES] = frame
        self._end += FRAME_SAMPLES

    def last(self, frames: int, *, before: int = 0) -> Samples:
        """So many frames that came before the last ``before``; all that is kept where that is less.

        They are not to be written to, and hold until the next `append`.
        """
        end = max(self._end - before * FRAME_SAMPLES, self._end - self._kept)
        return self._room[max(end - frames * FRAME_SAMPLES, self._end - self._kept) : end]


@dataclass(frozen=True)
class Sent:
    """A stretch of what was played; both arrays are of one length."""

    samples: Samples
    sounds: Samples
    """For each sample, the number of the sound that it is of; 0 where nothing was played."""


class Played:
    """What the speaker plays, on the microphone's time line; the last ``kept_s`` seconds are remembered.

    A device tells of each sound anew when it is heard, and is some hundredths of a second wrong, each time by
    another amount. So sounds are told apart.
    """

    def __init__(self, kept_s: float) -> None:
        self.known = False
        """Whether a speaker has ever told what it plays."""
        self._samples, self._sounds = Tape(kept_s), Tape(kept_s)
        self._coming: Samples = np.zeros(0, np.int16)
        self._coming_sounds: Samples = np.zeros(0, np.int16)
        self._sound = 0
        self._goes_on = False

    def announce(self, samples: Samples, in_s: float) -> None:
        """So many seconds from now these samples (at SAMPLE_RATE) are heard, and nothing after them.

        What was announced for later is not heard. Samples that come within 0.1 s of the end of those before
        them, which are not over, follow them without a gap, and are of one sound with them.
        """
        self.known = True
        at = max(0, round(in_s * SAMPLE_RATE))
        before = len(self._coming)
        follows = self._goes_on and abs(at - before) <= _UNSURE_S * SAMPLE_RATE
        if follows and before:
            at = before
        if not follows:
            self._sound = self._sound % _MOST_SOUNDS + 1
        self._goes_on = bool(len(samples))
        gap = np.zeros(max(0, at - before), np.int16)
        self._coming = np.concatenate([self._coming[:at], gap, samples])
        sounds = np.full(len(samples), self._sound, np.int16)
        self._coming_sounds = np.concatenate([self._coming_sounds[:at], gap, sounds])

    def next_frame(self) -> Frame:
        """What is played while the microphone hears its next frame."""
        if len(self._coming) < FRAME_SAMPLES:
            self._goes_on = False
            missing = np.zeros(FRAME_SAMPLES - len(self._coming), np.int16)
            self._coming = np.concatenate([self._coming, missing])
            self._coming_sounds = np.concatenate([self._coming_sounds, missing])
        frame, sounds = self._coming[:FRAME_SAMPLES], self._coming_sounds[:FRAME_SAMPLES]
        self._coming, self._coming_sounds = self._coming[FRAME_SAMPLES:], self._coming_sounds[FRAME_SAMPLES:]
        self._samples.append(frame)
        self._sounds.append(sounds)
        return frame

    def last(self, frames: int, *, before: int = 0) -> Sent:
        """So many frames that were played before the last ``before``; see `Tape.last`."""
        return Sent(self._samples.last(frames, before=before), self._sounds.last(frames, before=before))


_MOST_SOUNDS = 30_000
"""Their numbers begin anew after so many: they are 16 bits wide, as samples are."""


@dataclass(frozen=True)
class Echo:
    """How one sound comes back to the microphone."""

    delay: int
    """Samples."""
    taps: NDArray[np.float64]

    def of(self, played: NDArray[np.float64]) -> NDArray[np.float64]:
        """What comes back of it; of the same length."""
        return _convolved(_shifted(played, self.delay), self.taps)[: len(played)]


def find_echo(heard: NDArray[np.float64], played: NDArray[np.float64]) -> Echo | None:
    """How one sound comes back in what was heard; None where too little was played to tell.

    Float samples in [-1, 1] at SAMPLE_RATE, of one length, that begin at the same time.
    """
    sounding = FRAME_SAMPLES * int(framed(played).any(axis=1).sum())
    taps = min(round(LONGEST_FILTER_S * SAMPLE_RATE), sounding // SAMPLES_PER_TAP)
    if taps < FRAME_SAMPLES or not heard.any():
        return None
    # A filter begins a little before its greatest number.
    delay = _delay(heard, played) - taps // 8
    return Echo(delay, _least_squares(heard, _shifted(played, delay), taps))


def own_voice(heard: Samples, sent: Sent) -> NDArray[np.float64]:
    """What of ``heard`` is ours, as float samples in [-1, 1]; zeros where it cannot be told."""
    left = to_float(heard).astype(np.float64)
    ours = np.zeros(len(left))
    played = to_float(sent.samples).astype(np.float64)
    for sound in dict.fromkeys(sent.sounds[sent.sounds > 0].tolist()):
        places = np.flatnonzero(sent.sounds == sound)
        first = max(0, int(places[0]) + round(EARLIEST_S * SAMPLE_RATE))
        part = slice(first, int(places[-1]) + _REACH * FRAME_SAMPLES)
        alone = np.where(sent.sounds[part] == sound, played[part], 0.0)
        if (echo := find_echo(left[part], alone)) is not None:
            comes_back = echo.of(alone)
            ours[part] += comes_back
            left[part] -= comes_back
    return ours


def shares(heard: Samples, echo: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much of each frame's energy the echo explains, 0 to 1; 0 for a silent frame."""
    near = to_float(heard).astype(np.float64)
    return _explained(np.square(framed(near)).sum(axis=1), np.square(framed(near - echo)).sum(axis=1))


def share(heard: Samples, echo: NDArray[np.float64]) -> float:
    """How much of the energy of all of it the echo explains, 0 to 1."""
    near = to_float(heard).astype(np.float64)
    return float(_explained(np.square(near).sum(keepdims=True), np.square(near - echo).sum(keepdims=True))[0])


def less(heard: Samples, echo: NDArray[np.float64]) -> Samples:
    """What was heard less an echo, in whole frames.

    Frames that it mostly explains are silent, so that no trace of it is left; those that it hardly explains
    are as they were heard, for without an echo in them it would be put there.
    """
    left = framed(to_int16((to_float(heard) - echo).astype(np.float32))).copy()
    explained = shares(heard, echo)
    left[explained >= MOSTLY_OURS] = 0
    left[explained < HARDLY_OURS] = framed(heard)[explained < HARDLY_OURS]
    return left.reshape(-1)


def taken_along(heard: Samples, echo: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each frame that `less` makes silent, the energy of what else was in it; 0 for the others.

    Where nearly all was ours it is 0 too: what is left there is what the filter does not know of the room.
    """
    explained = shares(heard, echo)
    other = np.square(framed(to_float(heard).astype(np.float64) - echo)).sum(axis=1)
    lost: NDArray[np.float64] = np.where((explained >= MOSTLY_OURS) & (explained < ONLY_OURS), other, 0.0)
    return lost


class Remover:
    """Takes our own voice out, frame by frame, with what was learnt of the room from each sound so far.

    For a listener that can stand both what it leaves and what it takes too much. Of a sound that has only
    just begun it takes what the one before has taught.
    """

    LEARNS_FIRST_S, LEARNS_EVERY_S = 0.3, 2.4
    """After so much of a sound, in its beginning and later on; it takes some 30 ms of work each time."""

    LEARNS_DELAY_S = 0.12
    """In a room that is known; of the first sound in it, the beginning is left whole."""

    LEARNS_FROM_S = 4.0

    def __init__(self) -> None:
        self._sound = 0
        self._learnt: Echo | None = None
        self._before: tuple[int, Echo | None] = 0, None
        self._frames = 0
        self._learns_at = self._every = round(self.LEARNS_FIRST_S / FRAME_S)

    def remove(self, heard: Tape, played: Played) -> Frame:
        """The last frame of ``heard`` less our own voice; ``played`` ends with the same frame."""
        frame = heard.last(1)
        recent = played.last(_REACH)
        if not recent.sounds.any():
            return frame
        if sound := int(recent.sounds[-1]):
            self._learn(sound, heard, played)
        samples = to_float(recent.samples).astype(np.float64)
        echo = np.zeros(FRAME_SAMPLES)
        for number, learnt in ((self._sound, self._learnt), self._before):
            if learnt is not None and (places := recent.sounds == number).any():
                echo += learnt.of(np.where(places, samples, 0.0))[-FRAME_SAMPLES:]
        return less(frame, echo)

    def _learn(self, sound: int, heard: Tape, played: Played) -> None:
        if sound != self._sound:
            self._before = self._sound, self._learnt
            self._sound, self._frames = sound, 0
            first_s = self.LEARNS_FIRST_S if self._learnt is None else self.LEARNS_DELAY_S
            self._learns_at = self._every = round(first_s / FRAME_S)
        self._frames += 1
        if self._frames < self._learns_at:
            return
        self._every = min(2 * self._every, round(self.LEARNS_EVERY_S / FRAME_S))
        self._learns_at += self._every
        frames = min(self._frames + 10, round(self.LEARNS_FROM_S / FRAME_S))
        sent = played.last(frames)
        alone = np.where(sent.sounds == sound, to_float(sent.samples), 0.0).astype(np.float64)
        near = to_float(heard.last(frames)).astype(np.float64)
        found = find_echo(near, alone)
        candidates = [found] if found is not None else []
        if self._learnt is not None and near.any():
            # The room is the same, only the delay need not be: that is found in little sound, and in spite of
            # somebody who talks meanwhile, where a whole filter is not.
            peak = int(np.argmax(np.abs(self._learnt.taps)))
            candidates += [self._learnt, Echo(_delay(near, alone) - peak, self._learnt.taps)]
        if candidates:
            self._learnt = max(candidates, key=lambda echo: _worth(echo, near, alone, new=echo is found))


def _worth(echo: Echo, near: NDArray[np.float64], played: NDArray[np.float64], *, new: bool) -> float:
    """How much it explains; of a new filter, less what it would explain of anything."""
    left = near - echo.of(played)
    return 1 - float(left @ left) / float(near @ near) - (1 / SAMPLES_PER_TAP if new else 0.0)


def framed(samples: NDArray[_Number]) -> NDArray[_Number]:
    """Whole frames, shape (n, FRAME_SAMPLES)."""
    return samples[: len(samples) // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)


def _explained(energy: NDArray[np.float64], left: NDArray[np.float64]) -> NDArray[np.float64]:
    unexplained = np.divide(left, energy, out=np.ones_like(left), where=energy > 0)
    return 1 - np.minimum(unexplained, 1)


def _delay(near: NDArray[np.float64], far: NDArray[np.float64]) -> int:
    """By how many samples ``near`` is later: where their whitened correlation is greatest."""
    size = _power_of_two(2 * len(near))
    cross = np.fft.rfft(near, size) * np.conj(np.fft.rfft(far, size))
    magnitude = np.abs(cross)
    correlation = np.fft.irfft(cross / (magnitude + 1e-3 * magnitude.mean() + 1e-12), size)
    earliest, latest = round(EARLIEST_S * SAMPLE_RATE), round(LATEST_S * SAMPLE_RATE)
    window = np.concatenate([correlation[earliest:], correlation[: latest + 1]])
    return int(np.argmax(np.abs(window))) + earliest


def _shifted(samples: NDArray[np.float64], by: int) -> NDArray[np.float64]:
    moved = np.zeros_like(samples)
    if by >= 0:
        moved[by:] = samples[: max(0, len(samples) - by)]
    else:
        moved[:by] = samples[-by:]
    return moved


def _least_squares(near: NDArray[np.float64], far: NDArray[np.float64], taps: int) -> NDArray[np.float64]:
    """The filter: its normal equations are Toeplitz, so that each step of solving them is a convolution."""
    size = _power_of_two(len(near) + taps)
    spectrum = np.fft.rfft(far, size)
    wanted = np.fft.irfft(np.fft.rfft(near, size) * np.conj(spectrum), size)[:taps]
    own = np.fft.irfft(np.abs(spectrum) ** 2, size)[:taps]
    own[0] *= 1 + _EVEN_OUT
    # The matrix is a corner of a circulant one of twice its size.
    ring = np.fft.rfft(np.concatenate([own, [0.0], own[:0:-1]]))
    found = np.zeros(taps)
    left = wanted
    direction = left
    error = float(left @ left)
    for _ in range(_ITERATIONS):
        if error <= 1e-12:
            break
        product = np.fft.irfft(ring * np.fft.rfft(direction, 2 * taps), 2 * taps)[:taps]
        step = error / float(direction @ product)
        found = found + step * direction
        left = left - step * product
        before, error = error, float(left @ left)
        direction = left + error / before * direction
    return found


def _convolved(samples: NDArray[np.float64], taps: NDArray[np.float64]) -> NDArray[np.float64]:
    size = _power_of_two(len(samples) + len(taps))
    heard: NDArray[np.float64] = np.fft.irfft(np.fft.rfft(samples, size) * np.fft.rfft(taps, size), size)
    return heard


def _power_of_two(least: int) -> int:
    return 1 << max(0, least - 1).bit_length()
