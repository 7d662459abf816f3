"""Real streams, on devices that exist in memory."""

import json
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from signal import SIGCONT, SIGINT, SIGSTOP

import numpy as np
import pytest

from voice.audio import SAMPLE_RATE


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


def next_said(program, within_s=60):
    hangs = threading.Timer(within_s, program.kill)
    hangs.start()
    try:
        return json.loads(program.stdout.readline())
    finally:
        hangs.cancel()


def tell(program):
    """Have it go on where it waits for a line."""
    program.stdin.write("\n")
    program.stdin.flush()


def in_a_quiet_moment(experiment, times=4):
    """Have it go well once: on a busy machine the programs around a stream make holes in its sound too.

    What a stream does wrong it does each time.
    """
    for left in range(times, 0, -1):
        try:
            return experiment()
        except AssertionError:
            if left == 1:
                raise
    return None


HEAR = """
microphone = PortAudioMicrophone("VL_mic")

async def main():
    heard, spoken = [], anyio.Event()

    async def until_told():
        await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
        spoken.set()

    async with anyio.create_task_group() as tasks, microphone.open() as frames:
        tasks.start_soon(until_told)
        say(state="listening")
        left = 50
        while left:
            heard.append(await anext(frames))
            left -= spoken.is_set()
    np.save(sys.argv[1], np.concatenate(heard))
    say(name=microphone.name, lost=microphone.lost_frames)

anyio.run(main)
"""


def check_fed_is_heard(server, path, assert_heard):
    program = server.program(HEAR, path)
    assert next_said(program) == {"state": "listening"}
    server.feed(5.5)
    tell(program)
    assert finish(program) == [{"name": "vl_mic (Remapped Monitor of Null Output)", "lost": 0}]
    assert_heard(np.load(path), 5.5)


@pytest.mark.devices
def test_all_that_is_spoken_into_a_microphone_is_heard(sound_server, tmp_path, assert_heard):
    in_a_quiet_moment(lambda: check_fed_is_heard(sound_server, tmp_path / "heard.npy", assert_heard))


@pytest.mark.devices
def test_it_is_heard_from_a_stereo_device_at_48_khz_too(make_sound_server, tmp_path, assert_heard):
    server = make_sound_server(rate=48_000, channels=2)
    server.start()
    in_a_quiet_moment(lambda: check_fed_is_heard(server, tmp_path / "heard.npy", assert_heard))
    server.kill()


class Recorder:
    """What a server's speaker plays."""

    def __init__(self, server):
        command = ["parec", "--device=spk.monitor", "--latency-msec=20", "--raw"]
        command += ["--format=s16le", f"--rate={SAMPLE_RATE}", "--channels=1"]
        self._process = subprocess.Popen(command, env=server.env, stdout=subprocess.PIPE)
        self._heard = bytearray()
        self._came = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self._wait(lambda: len(self.samples) > 0)

    def _read(self):
        while piece := self._process.stdout.read1(65_536):
            with self._came:
                self._heard += piece
                self._came.notify()

    def _wait(self, for_what):
        with self._came:
            assert self._came.wait_for(for_what, 60), "nothing of that is heard"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()

    @property
    def samples(self):
        return np.frombuffer(bytes(self._heard[: len(self._heard) & ~1]), np.int16)

    def until_silent(self):
        """All that was heard, once it has been followed by half a second of silence."""
        heard = len(self.samples)
        self._wait(lambda: len(self.samples) >= heard + SAMPLE_RATE // 2 and self._silent())
        return self.samples

    def _silent(self):
        return np.abs(self.samples[-SAMPLE_RATE // 2 :]).max() < 500


PLAY = """
async def main():
    speaker = PortAudioSpeaker("vl_spk")
    await speaker.play(sound(3))
    say(played_s=speaker.played_s)

anyio.run(main)
"""


@pytest.mark.devices
def test_what_is_played_is_heard_whole_and_play_waits_for_its_end(sound_server, assert_heard):
    def experiment():
        with Recorder(sound_server) as recorder:
            # What is not yet heard when `play` returns is dropped, and would be missing.
            assert finish(sound_server.program(PLAY)) == [{"played_s": 3}]
            heard = recorder.until_silent()
        # What a null sink has already rendered as silence, the first 20 ms, its monitor cannot take back.
        assert_heard(heard, 3, without_s=0.1)

    in_a_quiet_moment(experiment)


TAP = """
from voice.listening.own_voice import Played, Tape, own_voice, share

def narration(seed, seconds):
    random = np.random.default_rng(seed)
    loudness = np.repeat(random.uniform(0.1, 1, round(seconds * 10)), 2_205)
    return Sound((random.normal(0, 3_000, len(loudness)) * loudness).astype(np.int16), 22_050)

async def main():
    # The microphone is what the speaker plays: an echo as loud as can be.
    microphone, speaker = PortAudioMicrophone("vl_heard"), PortAudioSpeaker("vl_spk")
    played, heard, over = Played(30.0), Tape(30.0), anyio.Event()
    speaker.on_played = played.announce

    async def play():
        for seed in (1, 2, 3):
            await speaker.play(narration(seed, 1.5))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(speaker.play, narration(4, 10.0))
            while speaker.played_s == 1.5 or speaker.played_s < 0.8:  # of the third, and of this one
                await anyio.sleep(0.02)
            tasks.cancel_scope.cancel()
        over.set()

    async with microphone.open() as frames, anyio.create_task_group() as tasks:
        tasks.start_soon(play)
        count, left = 0, 25
        while left:
            heard.append(await anext(frames))
            played.next_frame()
            count, left = count + 1, left - over.is_set()
    near, sent = heard.last(count), played.last(count)
    say(share=share(near, own_voice(near, sent)), played_s=float((sent.sounds > 0).sum()) / 16_000)

anyio.run(main)
"""


@pytest.mark.devices
def test_a_speaker_tells_what_it_plays_when_it_is_heard(sound_server):
    def experiment():
        (told,) = finish(sound_server.program(TAP))
        # Three sounds, and of the one that was silenced what had been heard by then.
        assert 4.5 < told["played_s"] < 9.5
        assert told["share"] > 0.8

    in_a_quiet_moment(experiment)


PLAY_AND_CANCEL = """
async def main():
    speaker = PortAudioSpeaker("vl_spk")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(speaker.play, sound(5))
        while speaker.played_s < 0.7:
            await anyio.sleep(0.02)
        tasks.cancel_scope.cancel()
    say(played_s=speaker.played_s)

anyio.run(main)
"""


@pytest.mark.devices
def test_of_a_sound_that_is_cancelled_what_waits_in_the_buffer_is_not_heard(sound_server):
    def experiment():
        with Recorder(sound_server) as recorder:
            (said,) = finish(sound_server.program(PLAY_AND_CANCEL))
            loud = np.flatnonzero(np.abs(recorder.until_silent()) > 500)
        # 0.3 s wait in the buffer.
        assert (loud[-1] - loud[0]) / SAMPLE_RATE == pytest.approx(said["played_s"], abs=0.15)

    in_a_quiet_moment(experiment)


LED_ASTRAY = """
async def main():
    microphone = PortAudioMicrophone()
    try:
        async with microphone.open() as frames:
            say(state="listening")
            async for _ in frames:
                pass
    except DeviceError as error:
        say(ended=error.sentence)
    try:
        async with microphone.open():
            say(state="listening to ourselves")
    except DeviceError as error:
        say(refused=error.sentence)
    microphone.use("remapped")
    async with microphone.open() as frames:
        await anext(frames)
        say(name=microphone.name)

anyio.run(main)
"""


@pytest.mark.devices
def test_a_server_that_remembers_to_give_us_what_the_speaker_plays_is_found_out(make_sound_server):
    server = make_sound_server()
    server.start()
    server.pactl("load-module", "module-stream-restore")
    program = server.program(LED_ASTRAY)
    assert next_said(program) == {"state": "listening"}
    *_, ours = server.pactl("list", "short", "source-outputs").splitlines()
    server.pactl("move-source-output", ours.split()[0], "spk.monitor")
    ended, refused, named = finish(program)
    assert ended["ended"] == "Another microphone is the system's default now."
    assert "what the speaker plays (Monitor of Null Output) instead of a microphone" in refused["refused"]
    assert named == {"name": "Remapped Monitor of Null Output"}
    server.kill()


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
    tell(program)
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
        say(lost=error.sentence.split()[0])

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
def test_a_server_that_dies_is_noticed_and_its_successor_found(make_sound_server):
    server = make_sound_server()
    server.start()
    program = server.program(LISTEN_AND_PLAY + LOSE_AND_FIND)
    assert next_said(program) == {"state": "running"}
    server.kill()
    assert {next_said(program)["lost"], next_said(program)["lost"]} == {"vl_mic", "vl_spk"}
    assert "There is no speaker" in next_said(program)["refused"]
    server.start()
    tell(program)
    assert finish(program) == [{"state": "running again"}]
    server.kill()


@pytest.mark.devices
def test_a_server_that_hangs_is_noticed_and_does_not_hold_the_program(sound_server):
    program = sound_server.program(f"{LISTEN_AND_PLAY}\nanyio.run(main, 0.3)")
    assert next_said(program) == {"state": "running"}
    with sound_server.hanging():
        lost = finish(program)  # ended, while it still hangs
    assert {loss["lost"] for loss in lost} == {"vl_mic", "vl_spk"}


STOPPED = """
microphone = PortAudioMicrophone("vl_mic")

async def main():
    goes_on = anyio.Event()

    async def until_told():
        await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
        goes_on.set()

    async with anyio.create_task_group() as tasks, microphone.open() as frames:
        tasks.start_soon(until_told)
        for _ in range(200):  # beyond the first 3 s, in which nothing counts as a loss
            await anext(frames)
        say(state="running")
        left = 100
        while left:
            await anext(frames)
            left -= goes_on.is_set()
    say(state="still running", lost=microphone.lost_frames)

anyio.run(main)
"""


@pytest.mark.devices
def test_a_program_that_is_stopped_for_a_while_and_runs_on_has_not_lost_its_microphone(sound_server):
    program = sound_server.program(STOPPED)
    assert next_said(program) == {"state": "running"}
    program.send_signal(SIGSTOP)
    time.sleep(2)  # longer than a stream may be silent
    program.send_signal(SIGCONT)
    tell(program)
    assert finish(program) == [{"state": "still running", "lost": 0}]


INTERRUPTED = """
import signal

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell has ignored in the background
try:
    anyio.run(main, 0.3)
except KeyboardInterrupt:
    say(state="interrupted")
"""


@pytest.mark.devices
@pytest.mark.parametrize("hangs", [False, True])
def test_ctrl_c_ends_a_program_that_listens_and_plays(sound_server, hangs):
    program = sound_server.program(LISTEN_AND_PLAY + INTERRUPTED)
    assert next_said(program) == {"state": "running"}
    with sound_server.hanging() if hangs else nullcontext():
        program.send_signal(SIGINT)
        assert finish(program) == [{"state": "interrupted"}]


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
from voice.backends.portaudio import opening

opening._OPEN_LIMIT_S = 1
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
def test_without_a_server_there_are_no_devices(make_sound_server):
    devices, error = finish(make_sound_server().program(NO_DEVICES))
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
def test_after_idleness_the_first_syllable_is_led_in_and_between_sentences_nothing_is(sound_server):
    def experiment():
        with Recorder(sound_server) as recorder:
            first, second, third = finish(sound_server.program(LEAD_IN))
            heard = recorder.until_silent()
        assert [said["played_s"] for said in (first, second, third)] == [0.5] * 3
        assert first["took"] > 0.75
        assert third["took"] > 0.75
        steps = np.diff(np.flatnonzero(np.abs(heard) > 500))
        gaps = steps[steps > 0.05 * SAMPLE_RATE] / SAMPLE_RATE
        assert len(gaps) == 2, "three sounds"
        assert gaps[0] < 2.5 + 0.25 < gaps[1]

    in_a_quiet_moment(experiment)
