"""Noises last as long as they should, are never twice the same, and no silence unless called so."""

import noises
import numpy as np
import pytest

from voice.audio import SAMPLE_RATE, level_dbfs

MADE = [noises.fan, noises.keys, noises.music, noises.breath, noises.laughter]


@pytest.mark.parametrize("make", MADE)
def test_made_by_rules(make):
    first, again, other = (make(6.0, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert len(first) == 6 * SAMPLE_RATE
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert level_dbfs(first) > -60


def test_recordings_are_varied():
    tone = np.rint(9_000 * np.sin(np.arange(8_000) / 9)).astype(np.int16)
    made = noises.varied([tone], 4.0, np.random.default_rng(1))
    assert len(made) == 4 * SAMPLE_RATE
    assert not np.array_equal(made[:8_000], made[8_000:16_000])


def test_silence_and_rooms():
    draw = np.random.default_rng(3)
    assert all(level_dbfs(noises.silence(1.0, draw)) < -60 for _ in range(8))
    quiet = np.rint(draw.normal(0, 40, 1_600)).astype(np.int16)
    assert -80 < level_dbfs(noises.room_tone([quiet], 1.0, draw)) < -40
