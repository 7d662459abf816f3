"""Silero VAD v6, the ONNX model that faster-whisper carries, streamed: 107 µs per window of 32 ms.

faster-whisper runs it over whole recordings only; here the model's state is kept from window to window.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voice.errors import TranscriberError

WINDOW_SAMPLES = 512
"""Samples in one window at 16 kHz: 32 ms, the only length that the model takes."""

CONTEXT_SAMPLES = 64
"""Samples of the window before, which the model wants in front of each window."""

STATE_SHAPE = (1, 1, 128)

_INSTALL = "pip install faster-whisper onnxruntime"


class SileroModel:
    """Gives the probability of speech for windows of one stream."""

    window_samples = WINDOW_SAMPLES

    def __init__(self) -> None:
        """Raises `TranscriberError` where the model file or its runtime is not installed."""
        try:
            import onnxruntime
        except ImportError as error:
            raise TranscriberError(f"onnxruntime cannot be loaded ({error}).", mend=_INSTALL) from error
        options = onnxruntime.SessionOptions()
        options.inter_op_num_threads = options.intra_op_num_threads = 1
        options.log_severity_level = 4
        self._session = onnxruntime.InferenceSession(
            str(model_path()), options, providers=["CPUExecutionProvider"]
        )
        self._h = self._c = np.zeros(STATE_SHAPE, np.float32)
        self._context = np.zeros((1, CONTEXT_SAMPLES), np.float32)

    def probabilities(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Judge the next windows: samples in [-1, 1], shape (k * WINDOW_SAMPLES,) → shape (k,), 0 to 1."""
        windows = samples.reshape(-1, WINDOW_SAMPLES)
        ends = windows[:, -CONTEXT_SAMPLES:]
        contexts = np.concatenate([self._context, ends[:-1]])
        self._context = ends[-1:].copy()
        probabilities, self._h, self._c = self._session.run(
            None, {"input": np.hstack([contexts, windows]), "h": self._h, "c": self._c}
        )
        return np.asarray(probabilities, np.float32).reshape(-1)

    def reset(self) -> None:
        """Forget the stream so far."""
        self._h = np.zeros(STATE_SHAPE, np.float32)
        self._c = np.zeros(STATE_SHAPE, np.float32)
        self._context = np.zeros((1, CONTEXT_SAMPLES), np.float32)


def model_path() -> Path:
    """Where the model lies in the installed faster-whisper, found without importing it.

    Raises `TranscriberError` where it is not installed.
    """
    spec = importlib.util.find_spec("faster_whisper")
    for folder in spec.submodule_search_locations or () if spec else ():
        found = sorted(Path(folder, "assets").glob("silero_vad*.onnx"))
        if found:
            return found[-1]
    raise TranscriberError("faster-whisper and its Silero model are not installed.", mend=_INSTALL)
