"""The text for a bug report: what is in it, and what is not, whatever somebody wrote into the settings."""

import pytest

from voice.commands import Command
from voice.devices import DeviceInfo
from voice.doctor.findings import Finding, fault
from voice.doctor.private import Private
from voice.doctor.report import kinds_of, report, texts_here
from voice.errors import DeviceError, DeviceLost, HostMissing, ModelNotFound, SettingsError
from voice.settings import Settings
from voice.statistics import SessionStatistics

SECRET = Settings.model_validate(
    {
        "hearing": {"microphone": "zyx mic", "patience": "snappy", "longest_s": 700, "duplex": "headphones"},
        "transcription": {"model": "zyx/model", "language": "de", "device": "cpu"},
        "speaking": {"voice": "zyxvoice", "speaker": "zyx speaker", "earcons": ["off", "sent"]},
        "controls": {"end_word": "zyxover", "phrases": {"stop_voice": ["zyx be quiet"]}},
        "conversation": {"narrate_text": False},
    }
)
AIRPODS = DeviceInfo("Zyxanna's AirPods", "PulseAudio", 1, 2, 16_000, True, False, "bluez.zyx")


def told(findings=(), settings=SECRET, session=None, private=None):
    return report(findings, settings, session, private or Private(texts=texts_here(SECRET)))


def test_settings_are_shown_where_they_are_numbers_or_choices_and_else_that_they_are_set():
    lines = told().splitlines()
    for line in (
        "* hearing.microphone = (set)",
        "* hearing.patience = snappy",
        "* hearing.longest_s = 700.0",
        "* hearing.duplex = headphones",
        "* transcription.model = (set)",
        "* transcription.language = de",
        "* speaking.voice = (set)",
        "* speaking.earcons = off, sent",
        "* controls.end_word = (set)",
        "* controls.phrases = (set)",
        "* conversation.narrate_text = False",
    ):
        assert line in lines
    assert not [line for line in lines if "end_silence" in line]  # the default
    small = Settings.model_validate({"transcription": {"model": "small", "compute_type": "float32"}})
    assert "* transcription.model = small" in told(settings=small).splitlines()
    assert "* transcription.compute_type = float32" in told(settings=small).splitlines()
    assert "* none" in told(settings=Settings()).splitlines()
    assert "* they cannot be read; the defaults were tried" in told(settings=None).splitlines()


@pytest.mark.parametrize(
    "finding",
    [
        Finding("settings", True, "/home/zyx/settings.toml"),
        fault("settings", SettingsError("In /home/zyx/s.toml, end_word is bad, and is zyx.", mend="zyx")),
        fault(
            "Whisper", ModelNotFound("There are no weights for Whisper zyx/model: looked at a folder zyx.")
        ),
        fault(
            "microphone", DeviceError("There is no microphone called 'zyx mic'; there are: A.", mend="zyx")
        ),
        fault("agent pi", HostMissing("/home/zyx/bin/pi does not say which version of Pi it is.")),
        Finding("microphone", True, "", public="Zyxanna's AirPods: -20 dBFS"),
        fault(
            "microphone", DeviceError("There is no microphone called 'x'; there are: A, Zyxanna's AirPods.")
        ),
        fault("microphone", DeviceLost("Zyxanna's AirPods is gone.")),
        Finding("journal", True, "(/home/zyx)", public="in /home/zyx/secret: 2 not delivered"),
    ],
)
def test_of_a_finding_our_own_words_stand_there_and_the_kind_of_error(finding):
    private = Private(["zyx"], texts_here(SECRET), kinds=kinds_of([AIRPODS]))
    text = told([finding], private=private)
    assert "zyx" not in text.lower()
    (line,) = [line for line in text.splitlines() if line.startswith(f"* {finding.part}: ")]
    assert finding.mark in line
    assert f"[{finding.kind}]" in line if finding.kind else "[" not in line


def test_of_a_device_its_kind_is_told_and_names_that_are_the_same_everywhere_stay():
    default = DeviceInfo("default", "ALSA", 32, 32, 44_100, True, True)
    private = Private(kinds=kinds_of([AIRPODS, default]))
    lines = told(
        [
            Finding("microphone", True, "", public="Zyxanna's AirPods: -20 dBFS at most"),
            Finding("speaker", True, "", public="default, took 1.0 s of sound in 1.0 s"),
        ],
        private=private,
    ).splitlines()
    assert "* microphone: ok (PulseAudio, 16000 Hz, 1 in, 2 out): -20 dBFS at most" in lines
    assert "* speaker: ok default, took 1.0 s of sound in 1.0 s" in lines


def test_what_was_measured_and_the_last_session_are_numbers():
    session = SessionStatistics(spoken=3, frames_lost=7)
    session.failures["agent_lost"] += 2
    lines = told(
        [Finding("Whisper", True, "", figures={"load_s": 1.234})], session=session.summary()
    ).splitlines()
    assert "  * load_s 1.23" in lines
    assert "* spoken 3, typed 0, waited 0, frames_lost 7" in lines
    assert "* failures: agent_lost 2" in lines
    assert "* none was kept" in told().splitlines()


def test_which_variables_are_set_is_told_and_not_to_what(monkeypatch):
    monkeypatch.setenv("VIVA_VOICE_TOKEN", "zyx-token")
    monkeypatch.setenv("VIVA_VOICE_MODEL", "/srv/zyx")
    text = told()
    assert "VIVA_VOICE_MODEL, VIVA_VOICE_TOKEN" in text
    assert "zyx" not in text


def test_every_command_that_can_be_said_otherwise_is_a_text_that_is_left_out():
    phrases = {command: (f"zyx {command}",) for command in Command}
    settings = Settings.model_validate({"controls": {"phrases": phrases}})
    assert set(texts_here(settings)) >= {f"zyx {command}" for command in Command}
