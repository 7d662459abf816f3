import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from signal import SIGINT
from types import SimpleNamespace

import anyio
import numpy as np
import pytest

from voice.audio import FRAME_SAMPLES, SAMPLE_RATE, Sound
from voice.backends import portaudio
from voice.backends.portaudio import PortAudioMicrophone, PortAudioSpeaker
from voice.errors import DeviceChanged, DeviceError, DeviceLost


@pytest.fixture
def anyio_backend():
    return "asyncio"


# Real streams, on devices that exist in memory.


def within(seconds):
    """The seconds, as many times more as there are programs for each processor."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def finish(program, stderr="", within_s=60):
    """What it still says. It must end well, and nothing else may have reached its standard error."""
    try:
        out, err = program.communicate(timeout=within_s)
    finally:
        program.kill()
        program.wait()
    assert err == stderr
    assert program.returncode == 0
    return [json.loads(line) for line in out.splitlines()]


def next_said(program):
    return json.loads(program.stdout.readline())


HEAR = """
microphone = PortAudioMicrophone("VL_mic")

async def main():
    heard = []
    async with microphone.open() as frames:
        say(state="listening")
        async for frame in frames:
            heard.append(frame)
            if len(heard) == 350:
                break
    np.save(sys.argv[1], np.concatenate(heard))
    say(name=microphone.name, lost=microphone.lost_frames)

anyio.run(main)
"""


def check_fed_is_heard(server, path, assert_heard):
    program = server.program(HEAR, path)
    assert next_said(program) == {"state": "listening"}
    server.feed(5.5)
    assert finish(program) == [{"name": "vl_mic (Remapped Monitor of Null Output)", "lost": 0}]
    assert_heard(np.load(path), 5.5)


@pytest.mark.devices
def test_all_that_is_spoken_into_a_microphone_is_heard(sound_server, tmp_path, assert_heard):
    check_fed_is_heard(sound_server, tmp_path / "heard.npy", assert_heard)


@pytest.mark.devices
def test_it_is_heard_from_a_stereo_device_at_48_khz_too(make_sound_server, tmp_path, assert_heard):
    server = make_sound_server(rate=48_000, channels=2)
    server.start()
    check_fed_is_heard(server, tmp_path / "heard.npy", assert_heard)
    server.kill()


class Recorder:
    """What a server's speaker plays, and when each piece of it was there."""

    def __init__(self, server):
        command = ["parec", "--device=spk.monitor", "--latency-msec=20", "--raw"]
        command += ["--format=s16le", f"--rate={SAMPLE_RATE}", "--channels=1"]
        self._process = subprocess.Popen(command, env=server.env, stdout=subprocess.PIPE)
        self._pieces = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        while piece := self._process.stdout.read1(65_536):
            self._pieces.append((time.monotonic(), np.frombuffer(piece[: len(piece) & ~1], np.int16)))

    def end(self):
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()

    @property
    def samples(self):
        return np.concatenate([piece for _, piece in self._pieces])

    @property
    def last_loud_at(self):
        """When the last loud sample came, on the monotonic clock, which all processes share."""
        return max(at for at, piece in self._pieces if np.abs(piece).max() > 500)


@pytest.fixture
def recorder(sound_server):
    recorder = Recorder(sound_server)
    time.sleep(0.3)
    yield recorder
    recorder.end()


PLAY = """
async def main():
    speaker = PortAudioSpeaker("vl_spk")
    began = time.monotonic()
    await speaker.play(sound(3))
    say(began=began, ended=time.monotonic(), played_s=speaker.played_s)

anyio.run(main)
"""


@pytest.mark.devices
def test_what_is_played_is_heard_whole_and_play_waits_for_its_end(sound_server, recorder, assert_heard):
    (said,) = finish(sound_server.program(PLAY))
    time.sleep(0.2)
    # What a null sink has already rendered as silence, the first 20 ms, its monitor cannot take back.
    assert_heard(recorder.samples, 3, without_s=0.1)
    assert said["played_s"] == 3
    assert said["ended"] - said["began"] >= 3
    # A sample reaches the recorder up to 60 ms after it was played.
    assert -0.1 < said["ended"] - recorder.last_loud_at < within(0.1)


TAP = """
from voice.listening.own_voice import Played, Tape, own_voice, share

def narration(seed, seconds):
    random = np.random.default_rng(seed)
    loudness = np.repeat(random.uniform(0.1, 1, round(seconds * 10)), 2_205)
    return Sound((random.normal(0, 3_000, len(loudness)) * loudness).astype(np.int16), 22_050)

async def main():
    # The microphone is what the speaker plays: an echo as loud as can be.
    microphone, speaker = PortAudioMicrophone("vl_heard"), PortAudioSpeaker("vl_spk")
    played, heard = Played(10.0), Tape(10.0)
    speaker.on_played = played.announce

    async def play():
        for seed in (1, 2, 3):
            await speaker.play(narration(seed, 1.5))
        with anyio.move_on_after(0.8):
            await speaker.play(narration(4, 5.0))

    async with microphone.open() as frames, anyio.create_task_group() as tasks:
        tasks.start_soon(play)
        for _ in range(425):
            heard.append(await anext(frames))
            played.next_frame()
    near, sent = heard.last(425), played.last(425)
    say(share=share(near, own_voice(near, sent)), played_s=float((sent.sounds > 0).sum()) / 16_000)

anyio.run(main)
"""


@pytest.mark.devices
def test_a_speaker_tells_what_it_plays_when_it_is_heard(sound_server):
    (told,) = finish(sound_server.program(TAP))
    # Three sounds, and of the one that was silenced what had been heard by then.
    assert 4.5 < told["played_s"] < 5.4
    assert told["share"] > 0.8


PLAY_AND_CANCEL = """
async def main():
    speaker = PortAudioSpeaker("vl_spk")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(speaker.play, sound(5))
        while speaker.played_s < 0.7:
            await anyio.sleep(0.02)
        cancelled = time.monotonic()
        tasks.cancel_scope.cancel()
    say(cancelled=cancelled, ended=time.monotonic(), played_s=speaker.played_s)

anyio.run(main)
"""


@pytest.mark.devices
def test_a_sound_that_is_cancelled_is_silent_within_200_ms(sound_server, recorder):
    (said,) = finish(sound_server.program(PLAY_AND_CANCEL))
    time.sleep(0.4)
    assert said["ended"] - said["cancelled"] < within(0.2)
    assert recorder.last_loud_at - said["cancelled"] < within(0.2)
    loud = np.flatnonzero(np.abs(recorder.samples) > 500)
    assert (loud[-1] - loud[0]) / SAMPLE_RATE == pytest.approx(said["played_s"], abs=0.1)


TURNS = """
async def main():
    microphone, speaker = PortAudioMicrophone(), PortAudioSpeaker()
    for _ in range(10):
        await speaker.play(sound(0.05))
        async with microphone.open() as frames:
            await anext(frames)
    say(names=[microphone.name, speaker.name])

anyio.run(main)
"""


@pytest.mark.devices
def test_turn_after_turn_the_devices_work(sound_server):
    (said,) = finish(sound_server.program(TURNS))
    assert said["names"][1] == "default"
    # What is below the default microphone is told a moment later.
    assert said["names"][0] in {"default", "default (Remapped Monitor of Null Output)"}


NO_SUCH_DEVICE = """
async def main():
    try:
        async with PortAudioMicrophone("vl_mik").open():
            pass
    except DeviceError as error:
        say(sentence=error.sentence, mend=error.mend)
    say(devices=[device.name for device in list_devices() if device.input_channels])

anyio.run(main)
"""


@pytest.mark.devices
def test_an_unknown_name_is_answered_with_the_names_there_are(sound_server):
    error, listed = finish(sound_server.program(NO_SUCH_DEVICE))
    assert listed["devices"][:4] == ["vl_mic", "vl_spk", "vl_feed", "vl_heard"]
    names = ", ".join(listed["devices"])
    assert error["sentence"] == f"There is no microphone called 'vl_mik'; there are: {names}."
    assert error["mend"] == "did you mean 'vl_mic'?"


SCAN = """
from voice.backends.device_scan import scan_devices

async def main():
    async with PortAudioMicrophone().open():
        say(state="open")
        await anyio.to_thread.run_sync(sys.stdin.readline)
        say(devices=[device.full_name for device in await scan_devices()])

anyio.run(main)
"""


@pytest.mark.devices
def test_what_is_plugged_in_while_a_stream_is_open_is_found_by_a_process_of_its_own(sound_server):
    program = sound_server.program(SCAN)
    assert next_said(program) == {"state": "open"}
    pull = sound_server.plug("Webcam")
    program.stdin.write("\n")
    (told,) = finish(program)
    pull()
    assert {"vl_mic, ALSA", "Webcam, PulseAudio"} <= set(told["devices"])


@pytest.mark.devices
def test_a_sound_server_that_hangs_does_not_hold_the_search_for_devices(sound_server):
    with sound_server.hanging():
        assert finish(sound_server.program(HANGING_SCAN)) == [
            {"sentence": "The sound server does not answer."},
            {"children": 0},
        ]


HANGING_SCAN = """
import psutil
from voice.backends.device_scan import scan_devices

async def main():
    try:
        await scan_devices()
    except DeviceError as error:
        say(sentence=error.sentence)
    say(children=len(psutil.Process().children()))

anyio.run(main)
"""


LISTEN_AND_PLAY = """
microphone, speaker = PortAudioMicrophone("vl_mic"), PortAudioSpeaker("vl_spk")
heard_frames = 0

async def listen():
    global heard_frames
    async with microphone.open() as frames:
        async for _ in frames:
            heard_frames += 1

async def until_lost(doing):
    try:
        await doing
    except DeviceLost as error:
        say(lost=error.sentence.split()[0], at=time.monotonic())

async def main(patience_s):
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(until_lost, listen())
        tasks.start_soon(until_lost, speaker.play(sound(30)))
        while heard_frames < 50 * patience_s or speaker.played_s < patience_s:
            await anyio.sleep(0.02)
        say(state="running")
"""

LOSE_AND_FIND = """
async def again():
    try:
        await speaker.play(sound(0.1))
    except DeviceError as error:
        say(refused=error.sentence)
    sys.stdin.readline()
    await speaker.play(sound(0.1))
    async with microphone.open() as frames:
        await anext(frames)
    say(state="running again")

anyio.run(main, 0.3)
anyio.run(again)
"""


@pytest.mark.devices
def test_a_server_that_dies_is_noticed_at_once_and_its_successor_found(make_sound_server):
    server = make_sound_server()
    server.start()
    program = server.program(LISTEN_AND_PLAY + LOSE_AND_FIND)
    assert next_said(program) == {"state": "running"}
    killed = time.monotonic()
    server.kill()
    lost = [next_said(program), next_said(program)]
    assert {loss["lost"] for loss in lost} == {"vl_mic", "vl_spk"}
    at = {loss["lost"]: loss["at"] - killed for loss in lost}
    assert at["vl_mic"] < within(1)
    assert at["vl_spk"] < within(3)  # which looks for another one first
    assert "There is no speaker" in next_said(program)["refused"]
    server.start()
    program.stdin.write("\n")
    assert finish(program) == [{"state": "running again"}]
    server.kill()


@pytest.mark.devices
def test_a_server_that_hangs_is_noticed_and_does_not_hold_the_program(sound_server):
    # Nothing is missed in the first 3 s; after them, 1.5 s without a callback are a loss.
    program = sound_server.program(f"{LISTEN_AND_PLAY}\nanyio.run(main, 1.2)\nsay(at=time.monotonic())")
    assert next_said(program) == {"state": "running"}
    hung = time.monotonic()
    with sound_server.hanging():
        *lost, ended = finish(program)
        gone = time.monotonic()
    assert {loss["lost"] for loss in lost} == {"vl_mic", "vl_spk"}
    at = {loss["lost"]: loss["at"] - hung for loss in lost}
    assert 1 < at["vl_mic"] < within(3)
    assert 1 < at["vl_spk"] < within(6)
    # Both streams are left behind after a quarter of a second.
    assert ended["at"] - max(loss["at"] for loss in lost) < within(0.5)
    assert gone - ended["at"] < within(0.5)


INTERRUPTED = """
try:
    anyio.run(main, 0.3)
except KeyboardInterrupt:
    say(at=time.monotonic())
"""


@pytest.mark.devices
@pytest.mark.parametrize("hangs", [False, True])
def test_ctrl_c_ends_a_program_that_listens_and_plays(sound_server, hangs):
    program = sound_server.program(LISTEN_AND_PLAY + INTERRUPTED)
    assert next_said(program) == {"state": "running"}
    with sound_server.hanging() if hangs else nullcontext():
        interrupted = time.monotonic()
        program.send_signal(SIGINT)
        (left,) = finish(program)
        gone = time.monotonic()
    assert left["at"] - interrupted < within(0.6)
    assert gone - interrupted < within(1)


CANCELLED_WHILE_STARTING = """
from functools import partial

async def listen():
    async with microphone.open() as frames:
        await anext(frames)

async def main():
    for delay_s in np.linspace(0, 0.02, 20):
        for doing in (partial(speaker.play, sound(1)), listen):
            with anyio.move_on_after(delay_s):
                await doing()
    await speaker.play(sound(0.1))

microphone, speaker = PortAudioMicrophone(), PortAudioSpeaker()
anyio.run(main)
say(played_s=speaker.played_s)
"""


@pytest.mark.devices
def test_a_stream_can_be_given_up_at_any_moment_of_its_opening(sound_server):
    assert finish(sound_server.program(CANCELLED_WHILE_STARTING)) == [{"played_s": 0.1}]


HUNG_FROM_THE_START = """
from voice.backends import portaudio

portaudio._OPEN_LIMIT_S = 1
try:
    list_devices()
except DeviceError as error:
    say(sentence=error.sentence)
print("still in order", file=sys.stderr)
"""


@pytest.mark.devices
def test_a_server_that_hangs_from_the_start_leaves_standard_error_in_order(sound_server):
    with sound_server.hanging():
        said = finish(sound_server.program(HUNG_FROM_THE_START), stderr="still in order\n")
    assert said == [{"sentence": "The sound server does not answer."}]


NO_DEVICES = """
async def main():
    say(devices=list_devices())
    try:
        async with PortAudioMicrophone().open():
            pass
    except DeviceError as error:
        say(sentence=error.sentence, mend=error.mend)

anyio.run(main)
"""


@pytest.mark.devices
def test_without_a_server_there_are_no_devices_and_no_wait(make_sound_server):
    began = time.monotonic()
    devices, error = finish(make_sound_server().program(NO_DEVICES))
    assert time.monotonic() - began < within(3)
    assert devices == {"devices": []}
    assert error["sentence"].startswith("There is no microphone")
    assert "voice devices" in error["mend"]


NO_PORTAUDIO = """
import ctypes, ctypes.util

def refuse(*_, **__):
    raise OSError("no such library")

ctypes.util.find_library = lambda name: None
real, ctypes.CDLL = ctypes.CDLL, lambda name, *rest: refuse() if name else real(name, *rest)

from voice.backends.portaudio import list_devices
from voice.errors import PortAudioMissing

try:
    list_devices()
except PortAudioMissing as error:
    print(error)
"""


def test_without_portaudio_one_sentence_names_the_command():
    command = [sys.executable, "-W", "error", "-c", NO_PORTAUDIO]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert said.stdout.count("\n") == 1
    assert "PortAudio" in said.stdout
    assert "sudo apt install libportaudio2" in said.stdout


# Streams that do what devices seldom do.


class FakePortAudioError(Exception):
    pass


class FakeStream:
    """A stream that calls back when it is told to."""

    def __init__(self, library, *, samplerate, channels, blocksize, callback, finished_callback, **_):
        if samplerate not in library.rates:
            raise FakePortAudioError("Error opening", -9997)
        self.samplerate, self.channels, self.blocksize = samplerate, channels, blocksize
        self.latency = 0.1
        self._library = library
        self._callback = callback
        self.finish = finished_callback
        library.streams.append(self)

    def start(self):
        self._library.started.set()

    def hear(self, samples, overflow=False):
        """Give blocks to the callback, as PortAudio does, from another thread."""
        for at in range(0, len(samples), self.blocksize):
            block = np.repeat(samples[at : at + self.blocksize], self.channels)
            status = SimpleNamespace(input_overflow=overflow)
            thread = threading.Thread(target=self._callback, args=(block.tobytes(), len(block), None, status))
            thread.start()
            thread.join()

    def abort(self):
        if self._library.hangs:
            time.sleep(3)

    def close(self):
        pass


class FakeSoundDevice:
    """As much of sounddevice as is used, with one device."""

    PortAudioError = FakePortAudioError
    default = SimpleNamespace(device=(0, 0))

    def __init__(self):
        self.rates = {16_000}
        self.hangs = False
        self.streams = []
        self.started = threading.Event()
        self.initialised = 0
        self._initialized = 1

    def _initialize(self):
        self.initialised += 1
        self._initialized = 1

    def _terminate(self):
        self._initialized = 0

    def query_hostapis(self):
        return [{"name": "ALSA"}]

    def query_devices(self):
        channels = {"max_input_channels": 2, "max_output_channels": 2}
        return [{"name": "Fake", "hostapi": 0, "default_samplerate": 44_100.0, **channels}]

    def RawInputStream(self, **options):  # noqa: N802
        return FakeStream(self, **options)

    def RawOutputStream(self, **options):  # noqa: N802
        return FakeOutput(self, **options)


class FakeOutput(FakeStream):
    """A stream that takes what it is to play when it is told to, and plays it at once."""

    def take(self, seconds):
        """So much of what is to be played."""
        taken = []
        for _ in range(round(seconds / 0.02)):
            out = bytearray(2 * self.channels * self.blocksize)
            when = SimpleNamespace(currentTime=10.0, outputBufferDacTime=10.0)
            self._callback(memoryview(out), self.blocksize, when, None)
            taken.append(np.frombuffer(out, np.int16)[:: self.channels])
        return np.concatenate(taken)


class TwoDevices(FakeSoundDevice):
    """With headphones that can be pulled out; the other one is the default."""

    def __init__(self):
        super().__init__()
        self.names = ["Fake", "Headphones"]

    def query_devices(self):
        (fake,) = super().query_devices()
        return [{**fake, "name": name} for name in self.names]


@pytest.fixture
def fake(monkeypatch):
    library = portaudio._Library()
    library._sounddevice = fake = FakeSoundDevice()
    monkeypatch.setattr(portaudio, "_LIBRARY", library)
    return fake


@pytest.fixture
def two(monkeypatch):
    library = portaudio._Library()
    library._sounddevice = two = TwoDevices()
    monkeypatch.setattr(portaudio, "_LIBRARY", library)
    return two


async def started(library, count):
    """Wait until so many streams have been started."""
    with anyio.fail_after(60):
        while len(library.streams) < count or not library.started.is_set():  # noqa: ASYNC110
            await anyio.sleep(0.01)
    library.started.clear()
    return library.streams[-1]


NOISE = np.random.default_rng(5).integers(-20_000, 20_000, FRAME_SAMPLES * 100, dtype=np.int16)


async def take(frames, count):
    return np.concatenate([await anext(frames) for _ in range(count)])


@pytest.mark.anyio
async def test_a_listener_that_lags_loses_nothing(fake):
    microphone = PortAudioMicrophone()
    async with microphone.open() as frames:
        fake.streams[0].hear(NOISE)
        assert np.array_equal(await take(frames, 100), NOISE)
    assert microphone.name == "Fake"
    assert microphone.live


@pytest.mark.anyio
async def test_a_device_that_refuses_its_own_rate_is_opened_at_another(fake):
    fake.rates = {48_000}
    async with PortAudioMicrophone("fake").open() as frames:
        stream = fake.streams[0]
        assert (stream.samplerate, stream.channels, stream.blocksize) == (48_000, 2, 960)
        stream.hear(NOISE)
        assert len(await take(frames, 30)) == 30 * FRAME_SAMPLES


@pytest.mark.anyio
async def test_a_device_that_refuses_every_rate_is_an_error(fake):
    fake.rates = {24_000}
    with pytest.raises(DeviceError, match="Fake cannot be opened as a microphone"):
        async with PortAudioMicrophone().open():
            pass


@pytest.mark.anyio
async def test_digital_silence_is_told_once_and_its_end_too(fake):
    notices = []
    async with PortAudioMicrophone(on_notice=notices.append).open() as frames:
        fake.streams[0].hear(np.zeros(FRAME_SAMPLES * 400, np.int16))
        await take(frames, 99)
        assert notices == []
        await take(frames, 301)
        fake.streams[0].hear(NOISE)
        await take(frames, 100)
        fake.streams[0].hear(np.zeros(FRAME_SAMPLES * 100, np.int16))
        await take(frames, 100)
    muted, back, again = notices
    assert muted == again == "Fake gives digital silence: it is muted, or may not be listened to."
    assert back == "Fake gives sound again."


@pytest.mark.anyio
async def test_lost_sound_is_counted(fake):
    microphone = PortAudioMicrophone()
    async with microphone.open():
        fake.streams[0].hear(NOISE[:640], overflow=True)
    assert microphone.lost_frames == 2


@pytest.mark.anyio
async def test_what_was_heard_before_the_loss_comes_before_it(fake):
    async with PortAudioMicrophone().open() as frames:
        fake.streams[0].hear(NOISE)
        fake.streams[0].finish()
        assert np.array_equal(await take(frames, 100), NOISE)
        with pytest.raises(DeviceLost, match="Fake is gone"):
            await anext(frames)


@pytest.mark.anyio
async def test_a_stream_without_callbacks_is_lost(fake, monkeypatch):
    monkeypatch.setattr(portaudio, "_GRACE_S", 0.3)
    monkeypatch.setattr(portaudio, "_LOST_AFTER_S", 0.2)
    began = time.monotonic()
    async with PortAudioMicrophone().open() as frames:
        with pytest.raises(DeviceLost):
            await anext(frames)
    assert 0.3 < time.monotonic() - began < within(1)


@pytest.mark.anyio
async def test_a_stream_that_does_not_close_is_left_behind(fake):
    fake.hangs = True
    began = time.monotonic()
    async with PortAudioMicrophone().open():
        pass
    assert 0.2 < time.monotonic() - began < within(0.6)


@pytest.mark.anyio
async def test_the_list_of_devices_is_made_anew_unless_a_stream_is_open(fake):
    microphone = PortAudioMicrophone()
    async with microphone.open():
        assert fake.initialised == 1
        await asyncio.to_thread(portaudio.list_devices)
        assert fake.initialised == 1
    async with microphone.open():
        assert fake.initialised == 2


class Output:
    """The device's side of a playback: it takes blocks of 20 ms, and plays each 0.1 s after it got it."""

    rate, channels, latency_s = 16_000, 2, 0.1
    block = 320

    def __init__(self, playback):
        playback.prepare(self)
        self._playback = playback

    def take(self):
        out = bytearray(4 * self.block)
        when = SimpleNamespace(currentTime=10.0, outputBufferDacTime=10.0 + self.latency_s)
        self._playback.callback(memoryview(out), self.block, when, None)
        return np.frombuffer(out, np.int16).reshape(-1, self.channels)


@pytest.mark.parametrize("lead_in_s", [0.0, 0.25, 0.03])
def test_the_silence_that_leads_in_is_no_part_of_the_sound(lead_in_s):
    sound = Sound(np.arange(1, 1_601, dtype=np.int16), 16_000)
    ends_in, told = [], []
    playback = portaudio._Playback(
        sound, ends_in.append, lambda *piece: told.append(piece), lead_in_s=lead_in_s
    )
    device = Output(playback)
    lead_in = round(lead_in_s * device.rate)
    given = []
    while not ends_in:
        given.append(device.take())
        if len(given) * device.block <= lead_in:
            assert playback.heard_s == 0
            assert not told
    samples = np.concatenate(given)
    assert not samples[:lead_in].any()
    assert samples[lead_in : lead_in + 1_600].T.tolist() == [sound.samples.tolist()] * 2
    # Who listens for our own voice is told the sound without the silence.
    assert (
        np.concatenate([playback.tapped(start, end) for start, end, _ in told]).tolist()
        == sound.samples.tolist()
    )
    (in_s,) = ends_in
    blocks = len(given) - 1
    assert in_s == pytest.approx(lead_in_s + 0.1 + device.latency_s - blocks * 0.02, abs=0.001)
    playback.stop(complete=True)
    assert playback.heard_s == sound.duration_s


LEAD_IN = """
async def main():
    speaker = PortAudioSpeaker("vl_spk")
    for pause in (0, 0, 2.5):
        await anyio.sleep(pause)
        began = time.monotonic()
        await speaker.play(sound(0.5))
        say(took=time.monotonic() - began, played_s=speaker.played_s)

anyio.run(main)
"""


@pytest.mark.devices
def test_after_idleness_the_first_syllable_is_led_in_and_between_sentences_nothing_is(sound_server, recorder):
    first, second, third = finish(sound_server.program(LEAD_IN))
    time.sleep(0.3)
    assert [said["played_s"] for said in (first, second, third)] == [0.5] * 3
    assert first["took"] > 0.75
    assert third["took"] > 0.75
    loud = np.abs(recorder.samples) > 500
    steps = np.flatnonzero(loud)
    gaps = np.diff(steps)[np.diff(steps) > 0.05 * SAMPLE_RATE] / SAMPLE_RATE
    assert len(gaps) == 2, "three sounds"
    assert gaps[0] < 2.5 + 0.25 < gaps[1]


@pytest.mark.anyio
async def test_no_samples_are_played_in_no_time(fake):
    speaker = PortAudioSpeaker()
    await speaker.play(Sound(np.zeros(0, np.int16), 16_000))
    assert speaker.played_s == 0


SPOKEN = Sound(np.arange(1, 48_001, dtype=np.int16), 16_000, ((0.0, 0), (1.0, 4), (2.0, 8)))
"""Three words of a second each."""


def plays(stream, start, seconds):
    """Whether it plays this part of them, and then nothing; 0.25 s of silence lead in."""
    taken = stream.take(0.26 + seconds)
    expected = SPOKEN.samples[start:][: len(taken) - 4_000]
    heard = taken[4_000 : 4_000 + len(expected)]
    return (
        np.array_equal(heard, expected) and not taken[:4_000].any() and not taken[4_000 + len(heard) :].any()
    )


@pytest.mark.anyio
async def test_a_sound_goes_on_at_the_word_where_its_speaker_was_pulled_out(two):
    notices, told = [], []
    speaker = PortAudioSpeaker("head", notices.append, stand_in=True)
    speaker.on_played = lambda samples, _in_s: told.extend(samples)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(speaker.play, SPOKEN)
        stream = await started(two, 1)
        assert plays(stream, 0, 1.5)
        assert speaker.name == "Headphones"
        two.names.remove("Headphones")
        stream.finish()
        stream = await started(two, 2)
        assert speaker.played_s == pytest.approx(1.0, abs=0.05), "the second word is said again"
        assert plays(stream, 16_000, 2.0)
    assert speaker.played_s == 3.0
    assert told == [*SPOKEN.samples[:24_160], *SPOKEN.samples[16_000:]]
    (notice,) = notices
    assert notice.startswith("There is no speaker called 'Headphones, ALSA' now. Fake speaks until")
    two.names.append("Headphones")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(speaker.play, SPOKEN)
        (await started(two, 3)).take(3.5)
    assert notices[1:] == ["Headphones speaks again."]


@pytest.mark.anyio
async def test_without_any_speaker_left_it_is_told_once_until_one_is_heard(two, monkeypatch):
    monkeypatch.setattr(portaudio, "_TRY_AGAIN_S", (0.0, 0.0))
    notices = []
    speaker = PortAudioSpeaker(None, notices.append, stand_in=True)
    async with anyio.create_task_group() as tasks:

        async def play():
            with pytest.raises(DeviceLost, match="Fake is gone"):
                await speaker.play(SPOKEN)

        tasks.start_soon(play)
        stream = await started(two, 1)
        stream.take(1.0)
        two.names.clear()
        stream.finish()
    with pytest.raises(DeviceError, match="There is no speaker"):
        await speaker.play(SPOKEN)
    (notice,) = notices
    assert "Nothing can be heard of what is said" in notice


@pytest.mark.anyio
async def test_another_speaker_is_taken_in_mid_sentence(two):
    speaker = PortAudioSpeaker()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(speaker.play, SPOKEN)
        (await started(two, 1)).take(0.25 + 2.2)
        speaker.use("headphones")
        stream = await started(two, 2)
        assert plays(stream, 32_000, 1.0)
    assert (speaker.name, speaker.played_s) == ("Headphones", 3.0)


@pytest.mark.anyio
async def test_a_microphone_that_is_taken_is_stood_in_for_and_tried_again_at_the_next_opening(two):
    taken = two.RawInputStream

    def refuse(*, device, **options):
        if device == 1:
            raise FakePortAudioError("Device unavailable", -9985)
        return taken(device=device, **options)

    two.RawInputStream = refuse
    notices = []
    microphone = PortAudioMicrophone("headphones", notices.append, stand_in=True)
    async with microphone.open():
        assert microphone.name == "Fake"
    async with microphone.open():
        pass
    (notice,) = notices
    assert notice.startswith("Headphones cannot be opened as a microphone: Device unavailable. Fake is used")
    two.RawInputStream = taken
    async with microphone.open():
        assert microphone.name == "Headphones"
    with pytest.raises(DeviceError, match="no microphone called 'buds'"):
        async with PortAudioMicrophone("buds").open():
            pass


@pytest.mark.anyio
async def test_a_microphone_is_remembered_by_its_whole_name_and_never_by_its_number(two):
    microphone = PortAudioMicrophone("head")
    async with microphone.open():
        pass
    two.names[:] = ["Headphones Two", "Fake", "Headphones"]
    async with microphone.open():
        assert microphone.name == "Headphones"


@pytest.mark.anyio
async def test_another_microphone_ends_the_frames_of_this_one_after_what_it_heard(two):
    microphone = PortAudioMicrophone()
    async with microphone.open() as frames:
        two.streams[0].hear(NOISE)
        microphone.use("headphones")
        assert np.array_equal(await take(frames, 100), NOISE)
        with pytest.raises(DeviceChanged):
            await anext(frames)
    async with microphone.open():
        assert microphone.name == "Headphones"


@pytest.mark.anyio
async def test_of_more_than_30_s_for_a_listener_that_lags_the_rest_is_lost_and_counted(fake):
    microphone = PortAudioMicrophone()
    async with microphone.open() as frames:
        fake.streams[0].hear(np.tile(NOISE, 16))
        assert microphone.lost_frames == 100
        assert np.array_equal(await take(frames, 1_500), np.tile(NOISE, 15))
        with pytest.raises(DeviceLost, match=r"too busy to listen, and 2\.0 s"):
            await anext(frames)
    assert microphone.lost_frames == 100
