import numpy as np
import pytest

from voice.audio import FRAME_SAMPLES
from voice.listening.detection import TwoStageDetector


class Gate:
    """Opens for loud frames."""

    def __call__(self, frame):
        return bool(frame.any())


class Model:
    """Says of each window the first sample's value; records what it was given."""

    window_samples = 512

    def __init__(self):
        self.windows = 0
        self.resets = 0
        self.last = 0.9

    def probabilities(self, samples):
        count = len(samples) // self.window_samples
        self.windows += count
        return np.full(count, self.last, np.float32)

    def reset(self):
        self.resets += 1


def frame(value):
    return np.full(FRAME_SAMPLES, value, np.int16)


def test_the_model_rests_while_the_gate_is_shut():
    model = Model()
    detector = TwoStageDetector(Gate(), model)
    verdicts = [detector.judge(frame(0)) for _ in range(500)]
    assert model.windows == 0
    assert {verdict.probability for verdict in verdicts} == {0.0}


def test_when_the_gate_opens_the_model_hears_the_moment_before():
    model = Model()
    detector = TwoStageDetector(Gate(), model)
    for _ in range(100):
        detector.judge(frame(0))
    assert detector.judge(frame(1)).probability == pytest.approx(0.9)
    assert model.windows == 51 * FRAME_SAMPLES // 512


def test_the_gate_shuts_a_while_after_the_last_speech():
    model = Model()
    detector = TwoStageDetector(Gate(), model)
    detector.judge(frame(1))
    model.last = 0.1
    detector.judge(frame(1))
    for _ in range(49):
        detector.judge(frame(0))
    heard = model.windows
    assert heard > 0
    for _ in range(100):
        assert detector.judge(frame(0)).probability == 0.0
    assert model.windows <= heard + 1


def test_after_a_short_rest_the_model_goes_on_where_it_was_and_after_a_long_one_anew():
    model = Model()
    model.last = 0.1
    detector = TwoStageDetector(Gate(), model)
    fresh = model.resets
    for value in [1] + [0] * 80 + [1]:
        detector.judge(frame(value))
    assert model.resets == fresh
    assert model.windows == 82 * FRAME_SAMPLES // 512
    for value in [0] * 200 + [1]:
        detector.judge(frame(value))
    assert model.resets == fresh + 1


def test_speech_that_the_gate_misses_keeps_it_open():
    model = Model()
    detector = TwoStageDetector(Gate(), model)
    for value in [1, 1] + [0] * 200:
        verdict = detector.judge(frame(value))
    assert verdict.probability == pytest.approx(0.9)


def test_a_reset_forgets_everything():
    model = Model()
    detector = TwoStageDetector(Gate(), model)
    detector.judge(frame(1))
    detector.reset()
    assert detector.judge(frame(0)).probability == 0.0
