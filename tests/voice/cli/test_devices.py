"""``voice devices``: what it lists, and what it says where there is nothing to list."""

import json
import sys
from dataclasses import asdict

import pytest

from voice.backends.portaudio import DeviceInfo
from voice.cli.app import run_app


@pytest.fixture
def listed(monkeypatch, capsys):
    """Run it with these devices; returns exit code, standard output, standard error."""

    def run(devices, *arguments):
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
        "Speakers",
        "  Headset  ALSA, 44100 Hz, 2 channels  (default)",
    ]


def test_each_is_a_line_of_json(listed):
    _, out, _ = listed(DEVICES, "--json")
    assert [json.loads(line) for line in out.splitlines()] == [asdict(device) for device in DEVICES]


def test_that_there_is_none_is_an_error_with_what_mends_it(listed):
    code, out, err = listed([])
    assert (code, out) == (3, "")
    assert err.startswith("voice: There is no microphone and no speaker")
    assert "To mend it: plug one in" in err


def test_help_says_where_a_device_is_named(voice):
    told = " ".join(voice("devices", "--help").stdout.split())
    assert "`microphone` of the group [hearing]" in told
    assert "--mic" not in told
