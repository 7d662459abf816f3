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

from voice.audio import FRAME_S, FRAME_SAMPLES, SAMPLE_RATE, Frame, Samples, silent_frame, to_float, to_int16

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


class Played:
    """What the speaker plays, on the microphone's time line: a `Tape` as long as that of what is heard."""

    def __init__(self, kept_s: float) -> None:
        self.tape = Tape(kept_s)
        self.known = False
        """Whether a speaker has ever told what it plays."""
        self._coming: Samples = np.zeros(0, np.int16)

    def announce(self, samples: Samples, in_s: float) -> None:
        """So many seconds from now these samples (at SAMPLE_RATE) are heard, and nothing after them.

        What was announced for later is not heard. Samples that come within 0.1 s of the end of those before
        them, which are not over, follow them without a gap.
        """
        self.known = True
        at = max(0, round(in_s * SAMPLE_RATE))
        if len(samples) and len(self._coming) and abs(at - len(self._coming)) <= _UNSURE_S * SAMPLE_RATE:
            at = len(self._coming)
        gap = np.zeros(max(0, at - len(self._coming)), np.int16)
        self._coming = np.concatenate([self._coming[:at], gap, samples])

    def next_frame(self) -> Frame:
        """What is played while the microphone hears its next frame."""
        frame = silent_frame()
        count = min(FRAME_SAMPLES, len(self._coming))
        frame[:count] = self._coming[:count]
        self._coming = self._coming[count:]
        self.tape.append(frame)
        return frame


@dataclass(frozen=True)
class Echo:
    """How what is played comes back to the microphone."""

    delay: int
    """Samples."""
    taps: NDArray[np.float64]

    def of(self, played: Samples) -> NDArray[np.float64]:
        """What comes back of it, as float samples in [-1, 1]; of the same length."""
        sent = _shifted(to_float(played).astype(np.float64), self.delay)
        return _convolved(sent, self.taps)[: len(played)]


def find_echo(heard: Samples, played: Samples) -> Echo | None:
    """How ``played`` comes back in ``heard``; None where too little was played to tell.

    Both are of one length, at SAMPLE_RATE, and begin at the same time.
    """
    near, far = to_float(heard).astype(np.float64), to_float(played).astype(np.float64)
    sounding = FRAME_SAMPLES * int(framed(played).any(axis=1).sum())
    taps = min(round(LONGEST_FILTER_S * SAMPLE_RATE), sounding // SAMPLES_PER_TAP)
    if taps < FRAME_SAMPLES or not near.any():
        return None
    # A filter begins a little before its greatest number.
    delay = _delay(near, far) - taps // 8
    return Echo(delay, _least_squares(near, _shifted(far, delay), taps))


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


class Remover:
    """Takes our own voice out, frame by frame, with what was learnt of the room in the last seconds.

    For a listener that can stand both what it leaves and what it takes too much. Until there has been enough
    to learn from, it takes nothing.
    """

    LEARNS_FROM_S = 4.0
    LEARNS_FIRST_S, LEARNS_EVERY_S = 0.5, 2.0
    """After so much played sound, in the beginning and in the end; it takes 30 ms of work each time."""

    def __init__(self) -> None:
        self._echo: Echo | None = None
        self._unlearnt_frames = 0
        self._learns_after_s = self.LEARNS_FIRST_S

    def remove(self, heard: Tape, played: Tape) -> Frame:
        """The last frame of ``heard`` less our own voice; ``played`` ends with the same frame."""
        frame = heard.last(1)
        if played.last(1).any():
            self._unlearnt_frames += 1
        if self._unlearnt_frames * FRAME_S >= self._learns_after_s:
            self._unlearnt_frames = 0
            self._learns_after_s = min(2 * self._learns_after_s, self.LEARNS_EVERY_S)
            frames = round(self.LEARNS_FROM_S / FRAME_S)
            self._echo = find_echo(heard.last(frames), played.last(frames)) or self._echo
        recent = played.last(_REACH)
        if self._echo is None or not recent.any():
            return frame
        return less(frame, self._echo.of(recent)[-FRAME_SAMPLES:])


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
