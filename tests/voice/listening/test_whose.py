"""Whose voice it was: evidence in, a verdict out."""

import numpy as np
import pytest

from voice.audio import FRAME_S
from voice.listening.whose import (
    ABOVE_DB,
    BEGINS_OURS,
    ENOUGH_TO_COMPARE_S,
    FAR_ABOVE_DB,
    LEFT_DB,
    MOSTLY_OURS_S,
    PARTLY_OURS,
    SURELY_OURS,
    Sound,
    Whose,
    above_db,
    whose,
)


def test_what_is_far_above_all_that_is_heard_of_us_is_theirs_whatever_a_filter_explains():
    """Symptom: "yes" with headphones on is dropped as an echo of "yes or no"."""
    assert whose(Sound(above_db=FAR_ABOVE_DB)) is Whose.THEIRS
    assert whose(Sound(above_db=35.0, ours=0.6, ours_s=0.4)) is Whose.THEIRS


def test_without_evidence_nobody_knows():
    assert whose(Sound()) is Whose.UNKNOWN
    assert whose(Sound(above_db=FAR_ABOVE_DB - 0.1)) is Whose.UNKNOWN


@pytest.mark.parametrize(
    "sound",
    [
        Sound(above_db=5.0, ours=PARTLY_OURS),
        Sound(above_db=5.0, ours=0.1, ours_s=MOSTLY_OURS_S),
        Sound(above_db=ABOVE_DB - 0.1, ours=0.1),
        Sound(above_db=5.0, ours=0.1, left_db=LEFT_DB - 0.1),
        Sound(ours=0.9, left_db=0.0),
        Sound(above_db=5.0, ours=0.1, begins_ours=BEGINS_OURS),
        Sound(above_db=40.0, ours=SURELY_OURS),
    ],
)
def test_one_sign_of_our_own_voice_is_enough(sound):
    assert whose(sound) is Whose.OURS


def test_somebody_who_is_louder_than_we_are_and_is_not_explained_speaks_through_our_voice():
    assert whose(Sound(above_db=5.0, ours=0.2, left_db=-2.0)) is Whose.THROUGH_OURS
    assert whose(Sound(ours=0.2)) is Whose.THROUGH_OURS


def test_loudness_is_compared_with_the_louder_moments_of_our_own_voice():
    before = np.where(np.arange(100) % 2, 1.0, 1e-9)  # it pauses
    assert above_db(np.full(20, 100.0), before, FRAME_S) == pytest.approx(20.0)
    assert above_db(np.full(20, 0.5), before, FRAME_S) == pytest.approx(-3.0, abs=0.1)


def test_too_little_of_our_own_voice_is_compared_with_nothing():
    enough = round(ENOUGH_TO_COMPARE_S / FRAME_S)
    assert above_db(np.ones(20), np.ones(enough), FRAME_S) == pytest.approx(0.0)
    assert above_db(np.ones(20), np.ones(enough - 1), FRAME_S) is None
    assert above_db(np.zeros(0), np.ones(enough), FRAME_S) is None
    assert above_db(np.ones(20), np.zeros(enough), FRAME_S) > FAR_ABOVE_DB
