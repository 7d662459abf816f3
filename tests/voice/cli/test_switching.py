"""`/mic` and `/speaker` in a conversation."""

import anyio
import pytest

from voice.cli.switching import Switching
from voice.devices import DeviceInfo, choose
from voice.errors import DeviceError

pytestmark = pytest.mark.anyio

DEVICES = [
    DeviceInfo("USB Headset", "ALSA", 1, 2, 48_000, True, False),
    DeviceInfo("Webcam", "ALSA", 1, 0, 48_000, False, False),
    DeviceInfo("Built-in", "ALSA", 0, 2, 48_000, False, True),
]


class Part:
    """A microphone or a speaker."""

    def __init__(self):
        self.used = []

    def use(self, device):
        self.used.append(device)


class Stage:
    def __init__(self, monkeypatch, *, recorded=False):
        self.microphone, self.speaker = Part(), Part()
        self.said, self.notices = [], []
        self.devices = DEVICES

        async def scan():
            if isinstance(self.devices, DeviceError):
                raise self.devices
            return self.devices

        monkeypatch.setattr("voice.cli.switching.scan_devices", scan)
        parts = {"input": object() if recorded else self.microphone, "output": self.speaker}
        self.switching = Switching(parts, lambda *lines: self.said.extend(lines), self.notices.append)

    async def ask(self, *asked):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.switching.run)
            for kind, name in asked:
                self.switching.ask(kind, name)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()


async def test_without_a_name_the_devices_are_listed(monkeypatch):
    stage = Stage(monkeypatch)
    await stage.ask(("input", ""), ("output", " "))
    assert stage.said == [
        "USB Headset, ALSA (default)",
        "Webcam, ALSA",
        "/mic NAME takes one of them.",
        "USB Headset, ALSA",
        "Built-in, ALSA (default)",
        "/speaker NAME takes one of them.",
    ]
    assert stage.microphone.used == stage.speaker.used == []


async def test_with_a_part_of_a_name_that_one_is_taken_from_now_on(monkeypatch):
    stage = Stage(monkeypatch)
    await stage.ask(("input", "cam"), ("output", "usb"))
    assert stage.microphone.used == ["Webcam, ALSA"]
    assert stage.speaker.used == ["USB Headset, ALSA"]
    assert stage.said == [
        "Webcam is the microphone from now on.",
        "USB Headset is the speaker from now on.",
    ]


async def test_of_two_that_are_called_the_same_each_is_taken_by_the_name_that_the_error_told(monkeypatch):
    stage = Stage(monkeypatch)
    stage.devices = [
        DeviceInfo("USB Mic", "PulseAudio", 1, 0, 48_000, False, False, id=f"usb.{n}") for n in (1, 2)
    ]
    await stage.ask(("input", "usb mic"), ("input", "USB.2"))
    (notice,) = stage.notices
    assert "the sound server tells them apart as usb.1, usb.2" in notice
    assert stage.microphone.used == ["usb.2"]
    assert choose(stage.devices, "input", *stage.microphone.used) == 1
    assert stage.said == ["USB Mic is the microphone from now on."]


async def test_what_is_not_there_and_what_is_no_device_is_told_and_the_next_is_heeded(monkeypatch):
    stage = Stage(monkeypatch, recorded=True)
    await stage.ask(("input", "cam"), ("output", "cam"), ("output", "built"))
    recorded, unknown = stage.notices
    assert recorded == "This conversation has no microphone that could be another one."
    assert "There is no speaker called 'cam'" in unknown
    assert stage.speaker.used == ["Built-in, ALSA"]


async def test_a_sound_system_that_does_not_answer_is_told(monkeypatch):
    stage = Stage(monkeypatch)
    stage.devices = DeviceError("The sound system does not tell its devices.")
    await stage.ask(("input", "cam"))
    assert stage.notices == ["The sound system does not tell its devices."]
    assert stage.microphone.used == []
