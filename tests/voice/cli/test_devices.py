"""``voice devices``: what it lists, and what it says where there is nothing to list."""

import json
import sys
from dataclasses import asdict

import pytest

from voice.cli.app import run_app
from voice.devices import DeviceInfo


@pytest.fixture
def listed(monkeypatch, capsys, tmp_path):
    """Run it with these devices and settings; returns exit code, standard output, standard error."""

    def run(devices, *arguments, settings=""):
        file = tmp_path / "settings.toml"
        file.write_text(settings)
        monkeypatch.setenv("VIVA_VOICE_SETTINGS", str(file))
        monkeypatch.setattr("voice.backends.portaudio.list_devices", lambda: devices)
        monkeypatch.setattr(sys, "argv", ["voice", "devices", *arguments])
        code = run_app()
        return code, *capsys.readouterr()

    return run


DEVICES = [
    DeviceInfo("USB Mic\x1b[31m", "ALSA", 1, 0, 48_000, True, False),
    DeviceInfo("Headset", "ALSA", 2, 2, 44_100, False, True),
]


def test_microphones_and_speakers_are_listed_apart_with_the_default_of_each(listed):
    code, out, err = listed(DEVICES)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "Microphones",
        "  USB Mic\\u001b[31m  ALSA, 48000 Hz, 1 channel  (default)",
        "  Headset  ALSA, 44100 Hz, 2 channels",
        "  taken: USB Mic\\u001b[31m, ALSA: the system's default",
        "Speakers",
        "  Headset  ALSA, 44100 Hz, 2 channels  (default)",
        "  taken: Headset, ALSA: the system's default",
    ]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("head", "taken: Headset, ALSA: called 'head' in the settings"),
        ("buds", "ALSA: the system's default, since 'buds' cannot be had"),
        ("e", "none is taken: More than one microphone is called 'e': "),
    ],
)
def test_it_says_what_the_name_in_the_settings_leads_to(listed, name, told):
    _, out, _ = listed(
        [*DEVICES, DeviceInfo("Webcam", "ALSA", 1, 0, 48_000, False, False)],
        settings=f'[hearing]\nmicrophone = "{name}"\n',
    )
    microphones, _ = out.split("Speakers")
    assert told in microphones


def test_each_is_a_line_of_json(listed):
    _, out, _ = listed(DEVICES, "--json")
    assert [json.loads(line) for line in out.splitlines()] == [
        {**asdict(DEVICES[0]), "taken_as": ["input"]},
        {**asdict(DEVICES[1]), "taken_as": ["output"]},
    ]


def test_that_there_is_none_is_an_error_with_what_mends_it(listed):
    code, out, err = listed([])
    assert (code, out) == (3, "")
    assert err.startswith("voice: There is no microphone and no speaker")
    assert "To mend it: plug one in" in err


def test_help_says_where_a_device_is_named(voice):
    told = " ".join(voice("devices", "--help").stdout.split())
    assert "`microphone` of the group [hearing]" in told
    assert "--mic" not in told
