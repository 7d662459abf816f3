import numpy as np
import pytest

from voice.audio import FULL_SCALE, SAMPLE_RATE, SILENCE_DBFS
from voice.doctor.levels import judge, measured
from voice.doctor.sentences import SENTENCES, sentence_for, share_back


def noise(dbfs, seconds=1.0):
    samples = np.random.default_rng(0).normal(0, FULL_SCALE * 10 ** (dbfs / 20), round(seconds * SAMPLE_RATE))
    return np.clip(np.rint(samples), -FULL_SCALE, FULL_SCALE - 1).astype(np.int16)


def test_a_moment_is_measured():
    level = measured(np.concatenate([noise(-60), noise(-20, 0.1)]))
    assert level.floor_dbfs == pytest.approx(-60, abs=1)
    assert level.loudest_dbfs == pytest.approx(-20, abs=1)
    assert level.clipped == 0
    assert measured(np.zeros(0, np.int16)).loudest_dbfs == SILENCE_DBFS


@pytest.mark.parametrize(
    ("samples", "problem"),
    [
        (np.zeros(SAMPLE_RATE, np.int16), "digital silence"),
        (noise(-88), "very quiet"),
        (noise(-3), "too loud"),
        (noise(-35), "the room is loud"),
        (noise(-65), ""),
        (np.concatenate([noise(-65), noise(-25, 0.3)]), ""),  # somebody said something
    ],
)
def test_what_is_wrong_with_a_microphone_is_said_with_what_to_do(samples, problem):
    judged = judge(measured(samples))
    assert problem in judged.problem
    assert bool(judged.mend) is bool(problem)
    assert judged.silent is (problem == "digital silence")


def test_a_sentence_is_spoken_in_the_language_that_is_heard():
    assert sentence_for("en", "en") == sentence_for("en-us", "en") == SENTENCES["en"]
    assert sentence_for("en", "de") is None
    assert sentence_for("fi", "fi") is None


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("I would like to use the second one, please.", 1, 1),
        ("i'd like to use the second one please", 0.7, 0.9),
        ("", 0, 0),
        ("Thank you for watching this one.", 0, 0.2),
        ("please one second the use to like would I", 0, 0.2),  # the order counts
    ],
)
def test_how_much_of_it_came_back(text, least, most):
    assert least <= share_back(SENTENCES["en"], text) <= most
