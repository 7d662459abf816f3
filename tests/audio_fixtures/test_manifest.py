"""The recordings are the ones that the manifest describes, and the manifest describes what tests rely on."""

import hashlib
import json
import wave
from pathlib import Path

import av
import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "audio_fixtures"
FIXTURES = json.loads((FOLDER / "manifest.json").read_text("utf-8"))["fixtures"]
BY_NAME = {entry["file"]: entry for entry in FIXTURES}
CLEAN = [entry for entry in FIXTURES if entry["turns"] and entry["kind"] != "noise_mix"]


def each(entries):
    return pytest.mark.parametrize("entry", entries, ids=lambda entry: entry["file"])


def read(entry):
    """Return frames by channels, full scale at ±1, and the rate in Hz."""
    path = FOLDER / entry["file"]
    if path.suffix == ".wav":
        with wave.open(str(path)) as recording:
            assert recording.getsampwidth() == 2
            pcm = np.frombuffer(recording.readframes(recording.getnframes()), "<i2")
            return pcm.reshape(-1, recording.getnchannels()) / 32768, recording.getframerate()
    with av.open(str(path)) as container:
        stream = container.streams.audio[0]
        assert stream.format.name == "s16"
        frames = [frame.to_ndarray().reshape(-1, stream.channels) for frame in container.decode(stream)]
        return np.concatenate(frames) / 32768, stream.rate


def dbfs(samples):
    return 20 * np.log10(np.sqrt(np.mean(np.square(samples))) + 1e-9)


def spans(entry):
    """The stretches of speech, in milliseconds: the turns without their pauses."""
    cuts = sorted(t for turn in entry["turns"] for t in (turn["start_ms"], turn["end_ms"]))
    cuts = sorted([*cuts, *(t for pause in entry["pauses_ms"] for t in pause)])
    return list(zip(cuts[::2], cuts[1::2], strict=True))


def speech_and_rest(entry):
    """Split the loudest channel into speech and the rest; within 10 ms of a boundary counts as neither."""
    frames, rate = read(entry)
    samples = frames[:, np.argmax(np.mean(np.square(frames), axis=0))]
    ms = np.arange(len(samples)) * 1000 / rate
    inside = np.zeros(len(samples), dtype=bool)
    near = np.zeros(len(samples), dtype=bool)
    for start, end in spans(entry):
        inside |= (ms >= start) & (ms < end)
        near |= (abs(ms - start) < 10) | (abs(ms - end) < 10)
    return samples[inside & ~near], samples[~inside & ~near]


def test_folder_and_manifest_name_the_same_files():
    files = {path.name for path in FOLDER.iterdir() if path.suffix in {".wav", ".flac"}}
    assert files == set(BY_NAME)
    assert len(BY_NAME) == len(FIXTURES) >= 24


def test_readme_names_every_file():
    readme = (FOLDER / "README.md").read_text("utf-8")
    assert [name for name in BY_NAME if f"`{name}`" not in readme] == []
    assert f"{len(FIXTURES)} short recordings" in readme


def test_folder_stays_small():
    assert sum((FOLDER / name).stat().st_size for name in BY_NAME) < 4_000_000


@each(FIXTURES)
def test_file_is_as_described(entry):
    frames, rate = read(entry)
    assert rate == entry["sample_rate"]
    assert frames.shape[1] == entry["channels"]
    assert round(len(frames) * 1000 / rate) == entry["duration_ms"]
    assert hashlib.sha256((FOLDER / entry["file"]).read_bytes()).hexdigest() == entry["sha256"]
    assert entry["licence"] == "CC0-1.0"
    assert entry["made_with"]
    assert np.abs(frames).max() < 1


@each(FIXTURES)
def test_turns_lie_in_order_inside_the_file(entry):
    edges = [t for turn in entry["turns"] for t in (turn["start_ms"], turn["end_ms"])]
    assert edges == sorted(set(edges))
    assert all(0 <= edge <= entry["duration_ms"] for edge in edges)
    assert bool(entry["words"]) == bool(entry["turns"]) == (entry["kind"] != "non_speech")
    assert entry["words"] == ". ".join(turn["words"] for turn in entry["turns"])
    for start, end in entry["pauses_ms"]:
        assert any(turn["start_ms"] < start < end < turn["end_ms"] for turn in entry["turns"])


@each(CLEAN)
def test_speech_stands_out_where_the_manifest_says(entry):
    speech, rest = speech_and_rest(entry)
    assert dbfs(speech) > dbfs(rest) + 30


@each(CLEAN)
def test_speech_begins_and_ends_at_the_boundaries(entry):
    """Within 50 ms inside each boundary the speech can be told from the noise floor."""
    frames, rate = read(entry)
    samples = frames[:, np.argmax(np.mean(np.square(frames), axis=0))]
    for start, end in spans(entry):
        first = samples[start * rate // 1000 : (start + 50) * rate // 1000]
        last = samples[(end - 50) * rate // 1000 : end * rate // 1000]
        assert dbfs(first) > -62
        assert dbfs(last) > -62


@each([entry for entry in FIXTURES if entry["kind"] == "noise_mix"])
def test_noise_is_10_db_below_the_speech(entry):
    speech, rest = speech_and_rest(entry)
    clean = 10 * np.log10(10 ** (dbfs(speech) / 10) - 10 ** (dbfs(rest) / 10))
    assert clean - dbfs(rest) == pytest.approx(10, abs=0.5)


@each([entry for entry in FIXTURES if entry["kind"] == "level"])
def test_low_level_is_30_dbfs_down(entry):
    assert dbfs(speech_and_rest(entry)[0]) == pytest.approx(-30, abs=0.2)


def test_pauses_of_500_800_and_1400_ms_stand_inside_single_turns():
    entries = [entry for entry in FIXTURES if entry["kind"] == "pause"]
    assert all(len(entry["turns"]) == 1 for entry in entries)
    assert {end - start for entry in entries for start, end in entry["pauses_ms"]} == {500, 800, 1400}


def test_two_recordings_have_two_turns_3_s_apart():
    entries = [entry for entry in FIXTURES if len(entry["turns"]) > 1]
    assert len(entries) == 2
    for entry in entries:
        first, second = entry["turns"]
        assert second["start_ms"] - first["end_ms"] == 3000


def test_yes_at_sample_0_starts_at_sample_0():
    entry = BY_NAME["yes-at-sample-0.wav"]
    (turn,) = entry["turns"]
    assert turn["start_ms"] == 0
    assert 250 <= turn["end_ms"] <= 350
    frames, rate = read(entry)
    assert dbfs(frames[: rate // 100]) > -50


def test_silence_comes_as_zeros_and_as_room_tone():
    assert not read(BY_NAME["silence-digital.wav"])[0].any()
    assert dbfs(read(BY_NAME["silence-room.wav"])[0]) == pytest.approx(-60, abs=0.5)


def test_everything_the_project_needs_is_present():
    kinds = {entry["kind"] for entry in FIXTURES}
    needed = (
        "reply sentence letters numbers pause two_turns level rate stereo format noise_mix edge non_speech"
    )
    assert kinds == set(needed.split())
    words = {entry["words"] for entry in FIXTURES}
    assert {"yes", "no", "the second one", "use PostgreSQL", "four two seven one"} <= words
    assert {8_000, 16_000, 44_100, 48_000} == {entry["sample_rate"] for entry in FIXTURES}
    assert {1, 2} == {entry["channels"] for entry in FIXTURES}
    quiet = {entry["file"] for entry in FIXTURES if entry["kind"] == "non_speech"}
    assert quiet >= {"silence-digital.wav", "white-noise-35.wav", "hum.wav", "key-clicks.wav"}
