"""faster-whisper with an encoder window as short as the sound.

Whisper hears 30 s at a time, and nearly all of its time goes into encoding the padding of a short reply. Here
only the sound and a margin are encoded, and the result is laid over the encoding of 30 s of silence, which is
made once: so the decoder sees a whole window, and does not lose its way as it does in a short one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ctranslate2
import numpy as np
from faster_whisper import WhisperModel
from numpy.typing import NDArray

WINDOW_FRAMES = 3_000
"""Mel frames of 10 ms in Whisper's window. Its encoder makes one position of two frames."""

MARGIN_FRAMES = 200
"""Silence that is encoded with the sound: 2 s. With 1 s single digits get worse; more brings nothing."""

LEAST_FRAMES = {384: 800, 512: 2_000}
"""The shortest window of a model, by the width of its encoder: 8 s for tiny, 20 s for base. Without the guard
of `voice.backends.whisper_child` base made 1.1 of 100 words more wrong with 15 s, on 449 clips, and 0.6 with
20 s. Others encode whole windows until somebody has measured them with ``benchmarks/whisper_window.py``."""

_NOISE_S = 0.5
_NOISE_AMPLITUDE = 1e-4
"""The silence begins with a little faint noise, as every real one does: of a window of mere zeros the
encoding is like that of no sound that people make."""


class ShortWindowWhisper(WhisperModel):  # type: ignore[misc]
    """A `WhisperModel` that encodes as much of a window as there is sound in it.

    ``full_window`` has it encode all of it, as the library does; ``least_frames`` is the shortest window.
    ``on_step`` is called before and after each encoding, and what it raises breaks the transcription off. On
    a graphics card a whole window costs next to nothing, and is always encoded.
    """

    def __init__(self, model: str, **options: Any) -> None:
        super().__init__(model, **options)
        self.full_window = False
        self.device: str = self.model.device
        self.on_step: Callable[[], None] = lambda: None
        if self.device != "cpu":
            return
        self._silence = self._encoded_silence()
        self.least_frames = LEAST_FRAMES.get(self._silence.shape[-1], WINDOW_FRAMES)

    def encode(self, features: NDArray[np.float32]) -> ctranslate2.StorageView:
        """The encoding of a window: features of shape (mels, 3,000), padded with zeros behind the sound."""
        self.on_step()
        encoding = self._encoded(features)
        self.on_step()
        return encoding

    def _encoded(self, features: NDArray[np.float32]) -> ctranslate2.StorageView:
        if self.full_window or self.device != "cpu":
            return super().encode(features)
        sounding = np.flatnonzero(features.any(axis=0))
        frames = max(self.least_frames, (sounding[-1] + 1 if len(sounding) else 0) + MARGIN_FRAMES)
        frames += frames % 2
        if frames >= features.shape[-1]:
            return super().encode(features)
        encoding = self._silence.copy()
        encoding[:, : frames // 2] = np.asarray(super().encode(features[:, :frames]))
        return ctranslate2.StorageView.from_array(encoding)

    def _encoded_silence(self) -> NDArray[np.float32]:
        """Shape (1, 1,500, width of the model)."""
        rate = self.feature_extractor.sampling_rate
        noise = np.random.default_rng(0).normal(0, _NOISE_AMPLITUDE, round(_NOISE_S * rate))
        noisy = self.feature_extractor(noise.astype(np.float32))
        features = np.zeros((noisy.shape[0], WINDOW_FRAMES), np.float32)
        features[:, : noisy.shape[1]] = noisy
        return np.array(super().encode(features))
