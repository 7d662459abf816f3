"""Words and time of each window are compared; pieces are as long as the replies they stand for."""

import anyio
import numpy as np
import pytest
from corpus import Clip
from rehearing import Recorded, rehear
from whisper_window import RULE, Heard, Timed, _Collecting, nearest, report

from voice.audio import FRAME_S, FRAME_SAMPLES, SAMPLE_RATE
from voice.ports import Verdict
from voice.settings import Settings


def clip(transcript):
    return Clip("c", None, "short_reply", 1.0, transcript, "en", ((0.2, 0.6),), (), "a", False, False)


def test_pieces_are_those_that_count():
    verdicts = [
        Verdict(float(speaks), -30.0)
        for seconds, speaks in [(1.0, 0), (1.0, 1), (0.4, 0), (1.0, 1), (3.0, 0)]
        for _ in range(round(seconds / FRAME_S))
    ]
    sound = Recorded(
        "r", "k", np.zeros(len(verdicts) * FRAME_SAMPLES, np.int16), tuple(verdicts), ((1.0, 3.4),), "x", ""
    )
    pieces = []
    anyio.run(rehear, sound, RULE, _Collecting(pieces), Settings())
    assert [len(piece) / SAMPLE_RATE for piece in pieces] == [pytest.approx(3.6)]  # 1 s before, 0.2 s after


def test_replies_of_about_that_length():
    pieces = [np.zeros(round(seconds * SAMPLE_RATE), np.int16) for seconds in (2.2, 2.4, 3.2, 9.0)]
    assert [len(piece) / SAMPLE_RATE for piece in nearest(pieces, 1.0)] == [2.2, 2.4]
    assert [len(piece) / SAMPLE_RATE for piece in nearest(pieces, 4.0)] == [5.2] * 3  # of 16.8 s
    assert nearest(pieces, 40.0) == []


def test_the_page():
    heard = [Heard(clip("yes please"), ("yes peas", "yes please"), (1, 0))]
    times = [Timed(1.0, ((0.1, 0.2, 0.3), (0.5, 0.4, 0.6))), Timed(2.0, ())]
    text = "\n".join(report(heard, times, (8.0, 30.0), 8.0))
    assert "| 1 s | 3 | 200 | 500 | 0.40 |" in text
    assert "| 2 s | 0 | - | - | - |" in text
    assert "| 8 s (set) | 50.0 |" in text
    assert "| short_reply | 1 | 50.0 | 0.0 |" in text
