import pytest

from voice.devices import DeviceInfo, choose
from voice.errors import DeviceError


def device(name, host_api="ALSA", inputs=1, outputs=0, default=False):
    return DeviceInfo(name, host_api, inputs, outputs, 48_000, default, default)


DEVICES = [
    device("HDMI", inputs=0, outputs=8),
    device("USB Headset"),
    device("USB Headset Pro", default=True),
    device("Webcam"),
    device("Webcam", "JACK"),
]


@pytest.mark.parametrize(
    ("wanted", "index"),
    [(None, 2), ("usb headset", 1), ("pro", 2), ("webcam", 3), ("Webcam, JACK", 4), ("cam, jack", 4)],
)
def test_a_device_is_chosen_by_its_name_or_a_part_of_it(wanted, index):
    assert choose(DEVICES, "input", wanted) == index


def test_without_a_default_the_first_that_can_do_it_is_taken():
    assert choose(DEVICES, "output", None) == 0
    assert choose(DEVICES[3:], "input", None) == 0


def test_a_part_of_several_names_is_ambiguous():
    with pytest.raises(DeviceError, match="More than one microphone is called 'usb': USB Headset, USB Head"):
        choose(DEVICES, "input", "usb")


def test_a_device_that_only_plays_is_no_microphone():
    with pytest.raises(DeviceError, match="no microphone called 'HDMI'; there are: USB Headset, USB"):
        choose(DEVICES, "input", "HDMI")
    with pytest.raises(DeviceError, match="There is no microphone"):
        choose(DEVICES[:1], "input", None)
