"""Whose voice it was: evidence in, a verdict out."""

from dataclasses import replace

import numpy as np
import pytest

from voice.audio import FRAME_S
from voice.events import DiscardReason
from voice.listening.echo import Ours
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
    forbidden,
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


def test_what_is_louder_only_after_its_beginning_may_begin_with_our_own_voice():
    sound = Sound(above_db=30.0, begins_above_db=FAR_ABOVE_DB - 0.1, ours=0.1)
    assert whose(sound) is Whose.THROUGH_OURS
    assert whose(replace(sound, begins_above_db=FAR_ABOVE_DB)) is Whose.THEIRS


HEADPHONES = Sound(above_db=46.0, begins_above_db=49.0, ours=0.16, begins_ours=0.16)
UNTOLD = Sound(above_db=46.0, begins_above_db=49.0)
"""With headphones on too, where no speaker tells what it plays."""
REPLY, SHORT = "Not the second one of these.", "The second."


@pytest.mark.parametrize(
    ("text", "ours", "sound", "reason"),
    [
        # Theirs by its sound: all of it is sent, whatever its words.
        (REPLY, Ours.IN_PART, HEADPHONES, None),
        (REPLY, Ours.ALL, HEADPHONES, None),
        (SHORT, Ours.ALL, UNTOLD, None),
        # As loud as our own voice is after somebody has turned it up.
        (REPLY, Ours.IN_PART, UNTOLD, DiscardReason.TALKED_OVER),
        (REPLY, Ours.ALL, UNTOLD, DiscardReason.TALKED_OVER),
        (REPLY, Ours.ALL, replace(HEADPHONES, ours=PARTLY_OURS), DiscardReason.TALKED_OVER),
        # An echo, and a reply that is louder.
        (REPLY, Ours.IN_PART, replace(HEADPHONES, begins_above_db=0.0), DiscardReason.TALKED_OVER),
        # Through our own voice.
        (REPLY, Ours.NONE, Sound(above_db=5.0, ours=0.2), None),
        (REPLY, Ours.IN_PART, Sound(above_db=5.0, ours=0.2), DiscardReason.TALKED_OVER),
        (SHORT, Ours.ALL, Sound(above_db=5.0, ours=0.2), DiscardReason.TALKED_OVER),
        # Ours by its sound, and nobody knows.
        (REPLY, Ours.NONE, Sound(ours=SURELY_OURS), DiscardReason.ECHO),
        (REPLY, Ours.NONE, Sound(), DiscardReason.ECHO),
        (REPLY, Ours.ALL, Sound(above_db=0.0), DiscardReason.ECHO),
        (REPLY, Ours.NONE, Sound(above_db=ABOVE_DB), DiscardReason.TALKED_OVER),
        (REPLY, Ours.IN_PART, Sound(), DiscardReason.TALKED_OVER),
    ],
)
def test_what_was_said_is_sent_whole_or_not_at_all(text, ours, sound, reason):
    """Symptom: the words of the question are taken out of an answer, and the rest says the contrary."""
    assert forbidden(text, ours, sound) is reason


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
