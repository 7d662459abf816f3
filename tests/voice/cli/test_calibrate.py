import errno
import json
import os
import stat
import tomllib

import pytest
from click.testing import CliRunner

from voice.calibration import measuring
from voice.calibration.choosing import Advice, Cost, Room
from voice.cli.calibrate import calibrate
from voice.errors import DeviceError, ModelNotFound, SettingsError

QUIET = Room(-60.0, -50.0, 0.0, 0.1)


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """A machine with one model and a quiet room; its settings file is returned."""
    path = tmp_path / "settings.toml"
    path.write_text('[transcription]\nlanguage = "en"\n')
    monkeypatch.setenv("VIVA_VOICE_SETTINGS", str(path))
    monkeypatch.setattr(measuring, "models_here", lambda settings: {"tiny.en": tmp_path})

    async def listen(settings, on_level, on_notice):
        on_level(-50.0)
        return QUIET

    async def reply(settings):
        return None

    async def costs(models, reply, settings, *, budget_s, on_notice):
        for model in models:
            yield Cost(model, 75, 1, "int8", 0.08)

    monkeypatch.setattr(measuring, "listen_to_the_room", listen)
    monkeypatch.setattr(measuring, "spoken_reply", reply)
    monkeypatch.setattr(measuring, "costs", costs)
    return path


def run(*arguments):
    return CliRunner().invoke(calibrate, arguments, catch_exceptions=False)


def test_what_fits_is_said_and_nothing_is_written_unasked(measured):
    before = measured.read_text()
    told = run().stdout
    assert "tiny.en with int8 and 1 thread takes 0.08 s" in told
    assert "The room is at -60 dBFS" in told
    assert '  model = "tiny.en"' in told.splitlines()
    assert measured.read_text() == before


def test_a_model_that_was_named_and_is_not_there_is_no_reason_to_measure_others(measured, tmp_path):
    with pytest.raises(ModelNotFound, match=r"nowhere, from the setting of the model, does not exist"):
        run("--model", str(tmp_path / "nowhere"))
    with pytest.raises(SettingsError, match="knows English only"):
        run("--model", "tiny.en", "--language", "de")


def test_one_that_only_the_settings_name_is_left_out_and_that_is_said(measured, tmp_path):
    measured.write_text(f'[transcription]\nmodel = "{tmp_path}/nowhere"\n')
    done = run("--write")
    assert "The model of the settings is left out: The model folder" in done.stderr
    assert tomllib.loads(measured.read_text())["transcription"]["model"] == "tiny.en"


def test_where_no_model_can_be_measured_the_room_is_told_and_how_to_get_a_model(measured, monkeypatch):
    monkeypatch.setattr(measuring, "models_here", lambda settings: {})
    done = CliRunner().invoke(calibrate, ["--language", "de"])
    assert "The room is at -60 dBFS" in done.stdout
    assert isinstance(done.exception, ModelNotFound)
    assert "the language de" in done.exception.sentence
    assert "--model tiny" in done.exception.mend


def test_it_is_written_where_that_is_asked_for(measured):
    told = json.loads(run("--write", "--json", "--budget", "0.2").stdout)
    assert tomllib.loads(measured.read_text())["transcription"] == {
        "language": "en", "model": "tiny.en", "threads": 1, "compute_type": "int8",
    }  # fmt: skip
    assert (told["written"], told["budget_s"]) == (str(measured), 0.2)
    assert told["room"]["floor_dbfs"] == -60.0
    assert [cost["seconds"] for cost in told["costs"]] == [0.08]


def test_without_a_microphone_that_is_said_and_the_rest_is_calibrated(measured, monkeypatch):
    async def listen(settings, on_level, on_notice):
        raise DeviceError("There is no microphone.", mend="plug one in")

    monkeypatch.setattr(measuring, "listen_to_the_room", listen)
    done = run("--json")
    assert "There is no microphone." in done.stderr
    told = json.loads(done.stdout)
    assert (told["room"], told["room_problem"]) == (None, "There is no microphone.")
    assert told["settings"]["transcription"]["model"] == "tiny.en"


def test_the_file_keeps_its_remarks_its_mode_and_its_place_behind_a_link(measured, tmp_path):
    place = tmp_path / "dotfiles.toml"
    place.write_text('# mine\n[transcription]\nmodel = "tiny"  # small\n')
    place.chmod(0o640)
    measured.unlink()
    measured.symlink_to(place)
    run("--write")
    assert measured.is_symlink()
    assert place.read_text().startswith('# mine\n[transcription]\nmodel = "tiny.en"  # small\n')
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


def test_the_language_and_the_microphone_it_was_measured_with_are_written_too(measured):
    measured.write_text('[transcription]\nlanguage = "de"\n')
    run("--write", "--language", "en", "--mic", "USB")
    written = tomllib.loads(measured.read_text())
    assert written["transcription"]["language"] == "en"
    assert written["hearing"] == {"microphone": "USB"}


def test_values_that_do_not_go_together_are_not_written(measured, monkeypatch):
    async def listen(settings, on_level, on_notice):
        return Room(-45.0, -20.0, 0.3, 0.6)

    monkeypatch.setattr(measuring, "listen_to_the_room", listen)
    monkeypatch.setattr(
        "voice.calibration.choosing.judge_room",
        lambda *given: Advice((), {"hearing": {"start_threshold": 0.1}}),  # lower than where speech ends
    )
    before = measured.read_text()
    with pytest.raises(SettingsError, match="end_threshold"):
        run("--write")
    assert measured.read_text() == before


def test_interrupted_or_refused_in_the_middle_the_file_is_as_it_was(measured, monkeypatch):
    before = measured.read_text()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = CliRunner().invoke(calibrate, ["--write"])
    assert isinstance(done.exception, SettingsError)
    assert "cannot be written: No space left" in done.exception.sentence
    assert '  model = "tiny.en"' in done.stdout.splitlines()  # what was measured is not lost with it
    assert measured.read_text() == before
    assert [one.name for one in measured.parent.iterdir()] == [measured.name]


def test_in_text_that_is_no_utf8_nothing_is_written(measured):
    measured.write_bytes(b"[transcription]\n# \xff\n")
    with pytest.raises(SettingsError, match="cannot be read"):
        run("--write")
    assert measured.read_bytes() == b"[transcription]\n# \xff\n"
