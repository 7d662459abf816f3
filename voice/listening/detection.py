"""Is somebody speaking? A cheap gate all the time, and a second opinion where the gate is open.

The gate (webrtcvad) costs nothing and takes keys, music and hiss for speech; the model (Silero) costs more
and does not. While the gate has been shut for a while the model rests; when it opens, the model first hears
the moment before, so that it judges the onset with the context it was trained with.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from voice.audio import FRAME_S, Frame, Samples, level_dbfs, to_float
from voice.ports import Verdict

GATE_HOLD_S = 1.0
"""How long the gate stays open after the last frame that opened it: longer than pauses between words."""

KEEPS_OPEN = 0.35
"""The probability from which the model itself keeps the gate open: Silero's usual threshold for going on."""

CATCH_UP_S = 1.0
"""How much of the past the model hears when the gate opens."""


class Gate(Protocol):
    """The cheap stage."""

    def __call__(self, frame: Frame) -> bool:
        """Whether the next frame might hold speech."""
        ...


class SpeechModel(Protocol):
    """The second opinion, on windows of ``window_samples`` that need not agree with frames."""

    window_samples: int

    def probabilities(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """The probabilities for the next whole windows of the stream."""
        ...

    def reset(self) -> None:
        """Forget the stream so far."""
        ...


class TwoStageDetector:
    """A `voice.ports.SpeechDetector` made of a gate and a model.

    A frame's probability is that of the newest window which is complete when the frame is, so it lags by less
    than a window; while the gate is shut it is 0.
    """

    def __init__(self, gate: Gate, model: SpeechModel) -> None:
        self._gate = gate
        self._model = model
        self._missed: deque[Frame] = deque(maxlen=round(CATCH_UP_S / FRAME_S))
        self._probability: float = 0.0
        self._open_frames: int = 0
        self.reset()

    def judge(self, frame: Frame) -> Verdict:
        """The verdict on the next frame."""
        if self._gate(frame) or self._probability >= KEEPS_OPEN:
            self._catch_up()
            self._open_frames = round(GATE_HOLD_S / FRAME_S)
        if self._open_frames:
            self._open_frames -= 1
            self._hear(frame)
        else:
            self._missed.append(frame)
            self._probability = 0.0
        return Verdict(self._probability, level_dbfs(frame))

    def reset(self) -> None:
        """Forget the stream so far, and shut the gate."""
        self._open_frames = 0
        self._probability = 0.0
        self._forget()

    def _catch_up(self) -> None:
        """Let the model hear what it has missed; where that is more than is kept, the stream begins anew."""
        if not self._missed:
            return
        missed = np.concatenate(self._missed)
        if len(self._missed) == self._missed.maxlen:
            self._forget()
        self._missed.clear()
        self._hear(missed)

    def _forget(self) -> None:
        self._missed.clear()
        self._rest: Samples = np.zeros(0, np.int16)
        self._model.reset()

    def _hear(self, samples: Samples) -> None:
        samples = np.concatenate([self._rest, samples])
        whole = len(samples) - len(samples) % self._model.window_samples
        self._rest = samples[whole:]
        if whole:
            self._probability = float(self._model.probabilities(to_float(samples[:whole]))[-1])
