"""A sound server of our own, with devices that exist in memory only: no hardware, no session, no D-Bus.

Its environment is what leads PortAudio to it, and PortAudio reads that once; so programs under test run in
processes of their own.
"""

import contextlib
import ctypes.util
import inspect
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ASOUND_CONF = """
</usr/share/alsa/alsa.conf>
pcm.!default { type pulse }
ctl.!default { type pulse }
pcm.vl_mic { type pulse device mic }
pcm.vl_spk { type pulse device spk }
pcm.vl_feed { type pulse device mic_in }
pcm.vl_heard { type pulse device spk.monitor }
"""

# Without norewinds (PulseAudio 15) an idle null sink renders 2 s at a time, and a stream begins so late.
PULSE_PA = """
load-module module-native-protocol-unix auth-anonymous=1 socket={socket}
load-module module-null-sink norewinds=1 sink_name=spk rate={rate} channels={channels} format=s16le
load-module module-null-sink norewinds=1 sink_name=mic_in rate={rate} channels={channels} format=s16le
load-module module-remap-source source_name=mic master=mic_in.monitor
set-default-sink spk
set-default-source mic
"""


def chirp(seconds, rate):
    """A rising tone whose loudness swells: no two places in it are alike."""
    t = np.arange(round(rate * seconds)) / rate
    return 8_000 * np.sin(2 * np.pi * (200 + 30 * t) * t) * (0.7 + 0.3 * np.sin(2 * np.pi * 3.1 * t))


PROGRAM = f"""
import json, sys, time
import anyio
import numpy as np
from voice.audio import Sound
from voice.backends.portaudio import PortAudioMicrophone, PortAudioSpeaker, list_devices
from voice.errors import DeviceError, DeviceLost

def say(**what):
    print(json.dumps(what), flush=True)

{inspect.getsource(chirp)}
def sound(seconds):
    return Sound(chirp(seconds, 22_050).astype(np.int16), 22_050)
"""


def _feed(pipe, data: bytes) -> None:
    with contextlib.suppress(OSError):  # it was ended before it had played all
        pipe.write(data)
        pipe.flush()


class SoundServer:
    """``vl_feed`` is what one speaks into, ``vl_mic`` the microphone; ``vl_spk`` is the speaker."""

    def __init__(self, folder: Path, rate: int = 16_000, channels: int = 1) -> None:
        for name in ("run/pulse", "state", "conf"):
            (folder / name).mkdir(parents=True, mode=0o700)
        socket = folder / "run/pulse/native"
        (folder / "asound.conf").write_text(ASOUND_CONF)
        (folder / "pulse.pa").write_text(PULSE_PA.format(socket=socket, rate=rate, channels=channels))
        self.env = os.environ | {
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "PULSE_RUNTIME_PATH": str(folder / "run/pulse"),
            "PULSE_STATE_PATH": str(folder / "state"),
            "PULSE_CONFIG_PATH": str(folder / "conf"),
            "PULSE_SERVER": f"unix:{socket}",
            "ALSA_CONFIG_PATH": str(folder / "asound.conf"),
        }
        self._folder = folder
        self._socket = socket
        self._processes: list[subprocess.Popen] = []
        self._programs: list[subprocess.Popen] = []

    def start(self) -> None:
        options = ["--exit-idle-time=-1", "--daemonize=no", "--disable-shm=yes", "--use-pid-file=no"]
        command = ["pulseaudio", "-n", "-F", self._folder / "pulse.pa", *options]
        nowhere = subprocess.DEVNULL
        self._processes.append(subprocess.Popen(command, env=self.env, stdout=nowhere, stderr=nowhere))
        patience = time.monotonic() + 60
        while not self._socket.exists():
            assert time.monotonic() < patience, "the sound server does not start"
            time.sleep(0.02)

    def feed(self, seconds: float) -> None:
        """Speak the chirp into the microphone."""
        command = ["pacat", "--device=mic_in", "--latency-msec=1000", "--raw", "--rate=22050", "--channels=1"]
        # A null sink may drop some milliseconds while a stream joins it: they are silence here.
        samples = np.concatenate([np.zeros(11_025), chirp(seconds, 22_050)]).astype(np.int16)
        subprocess.run(command, env=self.env, input=samples.tobytes(), check=True, timeout=60)

    def pactl(self, *command: object) -> str:
        """Have the server do something; what it answers."""
        told = subprocess.run(
            ["pactl", *map(str, command)],
            env=self.env,
            capture_output=True,
            check=True,
            text=True,
            timeout=60,
        )
        return told.stdout.strip()

    def plug(self, name: str, *, rate: int = 16_000, channels: int = 1) -> Callable[[], None]:
        """Plug in a microphone that is called so; returns what pulls it out.

        What is played to the sink ``NAME_in`` is what it hears.
        """
        shape = (f"rate={rate}", f"channels={channels}", "format=s16le")
        sink = self.pactl("load-module", "module-null-sink", "norewinds=1", f"sink_name={name}_in", *shape)
        source = self.pactl(
            "load-module",
            "module-remap-source",
            f"source_name={name}",
            f"master={name}_in.monitor",
            f"source_properties=device.description={name}",
        )

        def pull() -> None:
            for module in (source, sink):
                self.pactl("unload-module", module)

        return pull

    def speak(self, recording: Path, into: str = "mic_in") -> subprocess.Popen:
        """Speak a recording into a microphone; goes on while the caller does."""
        playing = subprocess.Popen(["paplay", f"--device={into}", recording], env=self.env)
        self._programs.append(playing)
        return playing

    @contextlib.contextmanager
    def humming(self):
        """A room that is never quite still: without it a microphone in memory gives noughts."""
        noise = np.random.default_rng(7).normal(0, 20, 16_000 * 60).astype(np.int16).tobytes()
        command = ["pacat", "--device=mic_in", "--raw", "--rate=16000", "--channels=1"]
        with subprocess.Popen(command, env=self.env, stdin=subprocess.PIPE) as hum:
            feeding = threading.Thread(target=_feed, args=(hum.stdin, noise), daemon=True)
            feeding.start()
            try:
                yield
            finally:
                hum.kill()
                feeding.join()

    @contextlib.contextmanager
    def hanging(self):
        """It answers nobody meanwhile."""
        self._processes[0].send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._processes[0].send_signal(signal.SIGCONT)

    def kill(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self._processes.clear()
        self._socket.unlink(missing_ok=True)

    def program(self, body: str, *arguments: object) -> subprocess.Popen:
        """Run Python with the devices in reach; it may ``say`` things, a line of JSON each."""
        program = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", PROGRAM + body, *map(str, arguments)],
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._programs.append(program)
        return program

    def close(self) -> None:
        """End it, and what programs a failed test left behind."""
        self.kill()
        for program in self._programs:
            with program:
                program.kill()


@pytest.fixture(scope="session")
def make_sound_server():
    """Make servers that are not yet started; all are ended at last."""
    missing = [
        program
        for program in ("pulseaudio", "parec", "pacat", "paplay", "pactl")
        if shutil.which(program) is None
    ]
    if ctypes.util.find_library("portaudio") is None:
        missing.append("libportaudio2")
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    with contextlib.ExitStack() as ending:

        def make(**shape: int) -> SoundServer:
            folder = ending.enter_context(tempfile.TemporaryDirectory(prefix="voice-"))
            server = SoundServer(Path(folder), **shape)
            ending.callback(server.close)
            return server

        yield make


@pytest.fixture(scope="module")
def sound_server(make_sound_server):
    """One that runs: 16 kHz, mono."""
    server = make_sound_server()
    server.start()
    return server


@pytest.fixture
def assert_heard():
    """Look for the chirp in samples at 16 kHz: every half second of it must be there, in its place.

    ``without_s`` is how much of its beginning may be missing.
    """

    def check(heard, seconds, without_s=0.0):
        expected = chirp(seconds, 16_000)[round(without_s * 16_000) :]
        size = 2 * (len(heard) + len(expected))
        product = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(expected, size))
        start = int(np.argmax(np.fft.irfft(product, size)[: len(heard)]))
        found = heard[start : start + len(expected)]
        assert len(found) == len(expected)
        for at in range(0, len(expected) - 8_000 + 1, 8_000):
            assert np.corrcoef(found[at : at + 8_000], expected[at : at + 8_000])[0, 1] > 0.99

    return check
