"""A text of the short window that looks wrong is made again with the whole one; others are not."""

from types import SimpleNamespace

import numpy as np
import pytest

from voice.audio import SAMPLE_RATE
from voice.backends.whisper_child import DOUBTFUL_NO_SPEECH, UNSURE_LOG_PROBABILITY, guarded
from voice.listening.judging import NO_SPEECH_LIMIT
from voice.spoken_answers import LEAST_CONFIDENCE

SOUND = np.zeros(SAMPLE_RATE, np.int16)
FINE = {
    "text": " Yeah.",
    "no_speech_prob": 0.1,
    "avg_logprob": -0.3,
    "compression_ratio": 1.0,
    "tokens": [1],
    "seek": 0,
}


class Engine:
    """Hears well with the whole window, and as it is told with the short one."""

    def __init__(self, **short):
        self.full_window = True  # as a text before may have left it
        self.short = {**FINE, **short}
        self.windows = []
        self.names = []

    def transcribe(self, samples, **options):
        self.windows.append("whole" if self.full_window else "short")
        self.names.append(options["hotwords"])
        return [SimpleNamespace(**(FINE if self.full_window else self.short))], None


@pytest.mark.parametrize(
    "wrong",
    [
        {"no_speech_prob": 0.87},  # a "yes" that was thrown away
        {"avg_logprob": -1.2},
        {"compression_ratio": 3.0},
        {"tokens": [1] * 40},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_what_looks_wrong_is_made_again(wrong):
    engine = Engine(**wrong)
    transcript = guarded(engine, SOUND, "en")
    assert engine.windows == ["short", "whole"]
    assert transcript["no_speech_probability"] == FINE["no_speech_prob"]


def test_what_looks_right_is_made_once():
    engine = Engine(no_speech_prob=0.7, avg_logprob=-0.9)
    assert guarded(engine, SOUND, "en")["text"] == "Yeah."
    assert engine.windows == ["short"]


def test_nothing_is_thrown_away_that_only_the_short_window_doubts():
    assert DOUBTFUL_NO_SPEECH <= NO_SPEECH_LIMIT


def test_what_is_too_unsure_to_choose_a_name_is_made_again_with_the_names():
    engine = Engine(avg_logprob=-0.9)
    guarded(engine, SOUND, "en", ("Redis", "SQLite"))
    assert engine.windows == ["short", "whole"]
    assert "Redis" in engine.names[1]
    engine = Engine(avg_logprob=-1.2)
    guarded(engine, SOUND, "en", ("Redis", "SQLite"))
    assert engine.names[1] is None  # they may be what led it astray
    assert UNSURE_LOG_PROBABILITY == LEAST_CONFIDENCE


def test_a_list_of_the_names_that_it_was_told_is_made_again_without_them():
    engine = Engine(text=" Redis, PostgreSQL, My")
    assert guarded(engine, SOUND, "en", ("Redis", "PostgreSQL", "MySQL"))["text"] == "Yeah."
    assert engine.windows == ["short", "whole"]
    engine = Engine(text=" Redis, PostgreSQL, My")
    assert guarded(engine, SOUND, "en")["text"] == "Redis, PostgreSQL, My"
    engine = Engine(text=" Redis.")
    assert guarded(engine, SOUND, "en", ("Redis", "PostgreSQL"))["text"] == "Redis."
    assert engine.windows == ["short"]
