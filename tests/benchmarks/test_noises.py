"""Noises last as long as they should, are never twice the same, and no silence unless called so."""

import anyio
import noises
import numpy as np
import pytest
from rehearing import NoTranscriber, Recorded, Rule, rehear, verdicts_of

from voice.audio import SAMPLE_RATE, level_dbfs
from voice.backends.recording import read_recording
from voice.listening.pieces import PieceRule
from voice.settings import Settings

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


QUESTION = "Please choose one option, or say yes or no."


def begun_in(samples):
    """How many turns the loop's own detector begins; without a turn there is nothing to transcribe."""
    sound = Recorded("noise", "noise", samples, verdicts_of(samples), (), "", QUESTION)
    settings = Settings()
    rule = Rule("own", 1.6, early=True, patience=settings, pieces=PieceRule())
    return anyio.run(rehear, sound, rule, NoTranscriber(), settings).begun


@pytest.mark.parametrize("make", [noises.fan, noises.keys, noises.music, noises.breath])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_noise_begins_a_turn(make, seed):
    assert begun_in(make(20.0, np.random.default_rng(seed))) == 0


@pytest.mark.parametrize("dbfs", [-50, -40, -30, -20])
def test_no_turn_begins_in_noise_however_loud(dbfs):
    white = np.random.default_rng(dbfs + 99).normal(0, 32_768 * 10 ** (dbfs / 20), 20 * SAMPLE_RATE)
    assert begun_in(np.clip(white, -32_768, 32_767).astype(np.int16)) == 0


def test_ten_minutes_of_a_room_hold_no_turn():
    draw = np.random.default_rng(4)
    quiet = np.rint(draw.normal(0, 40, 1_600)).astype(np.int16)
    assert begun_in(noises.room_tone([quiet], 600.0, draw)) == 0


def test_a_voice_in_the_same_noise_does(fixtures_folder):
    draw = np.random.default_rng(1)
    reply = read_recording(fixtures_folder / "yes.wav")
    noise = noises.fan(6.0, draw)
    noise[SAMPLE_RATE : SAMPLE_RATE + len(reply)] += reply
    assert begun_in(noise) == 1
