import pytest

from voice.devices import DeviceInfo, Listening, News, choose, is_meant, pick
from voice.errors import DeviceChanged, DeviceError, DeviceLost


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


def server(name, inputs=1, outputs=0, *, default=False, called=""):
    """A device of the sound server."""
    return DeviceInfo(
        called or name.title(),
        "PulseAudio",
        inputs,
        outputs,
        16_000,
        default and bool(inputs),
        default and bool(outputs),
        name,
    )


ALSA = [device("pulse", outputs=32), device("default", outputs=32, default=True)]


def test_the_sound_servers_devices_are_found_by_what_people_call_them_and_by_its_own_names():
    devices = [*ALSA, server("alsa_input.usb", called="USB Headset"), server("bluez.40", called="Buds")]
    assert choose(devices, "input", "headset") == 2
    assert choose(devices, "input", "alsa_input.usb") == 2
    assert choose(devices, "input", "Buds, PulseAudio") == 3


def test_two_that_people_call_the_same_are_told_apart_by_the_servers_names():
    devices = [*ALSA, server("usb.1", called="USB Headset"), server("usb.2", called="USB Headset")]
    with pytest.raises(DeviceError, match=r"tells them apart as usb\.1, usb\.2"):
        choose(devices, "input", "usb headset")
    assert choose(devices, "input", "usb.2") == 3


@pytest.mark.parametrize(
    ("wanted", "remembered"),
    [("USB.2", "usb.2"), ("buds", "Buds, PulseAudio"), ("Bluez.40", "bluez.40"), ("pulse", "pulse, ALSA")],
)
def test_a_device_is_found_again_by_what_it_is_remembered_as(wanted, remembered):
    twins = [server("usb.1", called="USB Headset"), server("usb.2", called="USB Headset")]
    devices = [*ALSA, *twins, server("bluez.40", called="Buds")]
    found = choose(devices, "input", wanted)
    assert devices[found].remembered(wanted) == remembered
    assert choose(devices, "input", remembered) == found


@pytest.mark.parametrize("name", ["audio", "alsa", "ulse", "usb audio"])
def test_a_name_that_stands_only_in_that_of_a_host_api_is_that_of_no_device(name):
    assert not is_meant([*ALSA[1:], server("mic")], "input", name)
    assert pick([*ALSA[1:], server("mic", default=True)], "input", name, substitute=True).instead_of == name
    listening = Listening(name, stands_in=True)
    assert told(listening, news("mic", MIC)) == ""
    assert told(listening, news("mic", MIC, server("usb", called=f"My {name}"))) == f"{name} is there again."


def test_where_one_name_stands_under_several_host_apis_the_first_is_taken_and_each_can_be_meant():
    devices = [device("Webcam"), server("webcam")]
    assert choose(devices, "input", "Webcam") == 0
    assert choose(devices, "input", "webcam, alsa") == 0
    assert choose(devices, "input", "webcam, pulseaudio") == 1


def test_a_part_means_the_servers_device_and_not_the_hardware_below_it():
    devices = [device("USB Headset: Audio (hw:1,0)"), *ALSA, server("usb", called="USB Headset Mono")]
    assert choose(devices, "input", "usb headset") == 3
    assert choose(devices, "input", "hw:1,0") == 0


def test_a_name_that_is_not_there_is_stood_in_for_where_that_is_wanted():
    picked = pick(ALSA, "input", "headset", substitute=True)
    assert (picked.index, picked.instead_of) == (1, "headset")
    assert picked.problem == "There is no microphone called 'headset' now."
    with pytest.raises(DeviceError, match="no microphone called 'headset'"):
        pick(ALSA, "input", "headset")


def test_a_name_of_several_is_never_stood_in_for():
    with pytest.raises(DeviceError, match="More than one microphone is called 'usb'"):
        pick(DEVICES, "input", "usb", substitute=True)


def test_why_one_is_taken_is_told():
    assert pick(DEVICES, "input", None).why == "the system's default"
    assert pick(DEVICES, "input", "pro").why == "called 'pro' in the settings"
    assert "'x' cannot be had" in pick(DEVICES, "input", "x", substitute=True).why
    assert "no default" in pick(DEVICES[3:], "input", None).why


def test_what_a_speaker_plays_is_no_microphone():
    speaker = server("sink", 0, 2, default=True)
    with pytest.raises(DeviceError, match="would give what the speaker plays"):
        choose([*ALSA, speaker], "input", None)
    assert choose([*ALSA, speaker, server("mic")], "input", None) == 3
    assert choose([*ALSA, speaker, server("mic", default=True)], "input", None) == 1
    assert choose([*ALSA, speaker], "output", None) == 1
    assert choose(ALSA, "input", None) == 1, "there may be a server that does not tell"


def news(source, *devices):
    return News(devices, source, source.title())


MIC, HEADSET = server("mic"), server("headset")


def told(listening, news):
    """What the news end it with, in words; empty where it goes on."""
    ending = listening.end(news)
    assert ending is None or isinstance(ending, DeviceChanged)
    return "" if ending is None else ending.sentence


def test_a_microphone_that_was_moved_to_another_is_opened_anew():
    listening = Listening(None, stands_in=False)
    assert told(listening, News((MIC,))) == ""
    assert listening.source_name == ""
    assert told(listening, news("mic", MIC)) == ""
    assert listening.source_name == "Mic"
    assert told(listening, news("mic", MIC, HEADSET)) == ""
    assert told(listening, news("headset", MIC, HEADSET)) == "Another microphone is the system's default now."
    assert told(listening, news("mic", MIC)) == "Headset is gone."


def test_one_that_stands_in_gives_way_when_the_other_comes_and_not_when_it_could_not_be_opened():
    listening = Listening("headset", stands_in=True)
    assert told(listening, news("mic", MIC)) == ""
    assert told(listening, news("mic", MIC, HEADSET)) == "headset is there again."
    taken = Listening("headset", stands_in=True)
    assert told(taken, news("mic", MIC, HEADSET)) == ""
    assert told(taken, news("mic", MIC, HEADSET)) == ""
    assert told(taken, news("mic", MIC)) == ""
    assert told(taken, news("mic", MIC, HEADSET)) == "headset is there again."


def test_one_that_is_the_named_one_stays():
    listening = Listening("mic", stands_in=False)
    assert told(listening, news("mic", MIC)) == ""
    assert told(listening, news("mic", MIC, HEADSET)) == ""


def test_a_named_one_that_the_server_moves_is_opened_anew():
    listening = Listening("mic", stands_in=False)
    assert told(listening, news("mic", MIC, HEADSET)) == ""
    assert told(listening, news("headset", MIC, HEADSET)) == "The sound server gave another microphone."


@pytest.mark.parametrize(("wanted", "stands_in"), [(None, False), ("headset", True)])
def test_a_server_that_leads_to_what_the_speaker_plays_is_an_error_that_tells_the_way_out(wanted, stands_in):
    monitor = News((MIC,), "sink.monitor", "Monitor of Speaker", own_sound=True)
    ending = Listening(wanted, stands_in=stands_in).end(monitor)
    assert isinstance(ending, DeviceLost)
    assert "what the speaker plays (Monitor of Speaker)" in ending.sentence
    assert "/mic NAME" in ending.mend
    moved = Listening(wanted, stands_in=stands_in)
    assert told(moved, news("mic", MIC)) == ""
    assert told(moved, monitor) == "Another microphone is the system's default now."


def test_what_a_speaker_plays_is_listened_to_where_it_was_named():
    assert Listening("monitor", stands_in=False).end(News((), "sink.monitor", "M", own_sound=True)) is None
