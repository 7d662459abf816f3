"""Streams that do what devices seldom do."""

import threading
from types import SimpleNamespace

import anyio
import numpy as np
import pytest

from voice.backends.portaudio import opening
from voice.backends.portaudio.library import Library
from voice.backends.portaudio.starting import PortAudio


@pytest.fixture
def anyio_backend():
    return "asyncio"


class FakePortAudioError(Exception):
    pass


class FakeStream:
    """A stream that calls back when it is told to."""

    def __init__(self, library, *, samplerate, channels, blocksize, callback, finished_callback, device, **_):
        if samplerate not in library.rates:
            raise FakePortAudioError("Error opening", -9997)
        self.samplerate, self.channels, self.blocksize = samplerate, channels, blocksize
        self.latency = 0.1
        self.device = library.query_devices()[device]["name"]
        self._library = library
        self._callback = callback
        self._at_s = 100.0
        self.finish = finished_callback
        library.streams.append(self)

    def start(self):
        self._library.starting.set()
        assert self._library.may_start.wait(60)
        self._library.started += 1

    def hear(self, samples, hole_s=None):
        """Give blocks to the callback, as PortAudio does, from another thread; the first after a hole."""
        for at in range(0, len(samples), self.blocksize):
            block = np.repeat(samples[at : at + self.blocksize], self.channels)
            overflow = hole_s is not None and at == 0
            self._at_s += hole_s if overflow else 0.0
            when = SimpleNamespace(inputBufferAdcTime=self._at_s, currentTime=self._at_s)
            self._at_s += self.blocksize / self.samplerate
            status = SimpleNamespace(input_overflow=overflow)
            told = (block.tobytes(), len(block), when, status)
            thread = threading.Thread(target=self._callback, args=told)
            thread.start()
            thread.join()

    def abort(self):
        assert self._library.may_close.wait(60)

    def close(self):
        pass


class FakeSoundDevice:
    """As much of sounddevice as is used, with one device."""

    PortAudioError = FakePortAudioError
    default = SimpleNamespace(device=(0, 0))

    def __init__(self):
        self.rates = {16_000}
        self.streams = []
        self.started = 0
        self.opening, self.starting = threading.Event(), threading.Event()
        self.may_open, self.may_start, self.may_close = (threading.Event() for _ in range(3))
        for may in (self.may_open, self.may_start, self.may_close):
            may.set()
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
        return self._opened(FakeStream, options)

    def RawOutputStream(self, **options):  # noqa: N802
        return self._opened(FakeOutput, options)

    def _opened(self, make, options):
        self.opening.set()
        assert self.may_open.wait(60)
        return make(self, **options)

    async def stream(self, count):
        """Wait until so many streams have been started; the last of them."""
        with anyio.fail_after(60):
            while self.started < count:  # noqa: ASYNC110
                await anyio.sleep(0.01)
        return self.streams[-1]


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


def led_to(fake, monkeypatch):
    portaudio = PortAudio()
    portaudio._sounddevice = fake
    monkeypatch.setattr(opening, "_LIBRARY", Library(portaudio))
    monkeypatch.setattr(opening, "_HANGING", opening._Hanging())
    return fake


@pytest.fixture
def fake(monkeypatch):
    """One device."""
    return led_to(FakeSoundDevice(), monkeypatch)


@pytest.fixture
def two(monkeypatch):
    """Two devices."""
    return led_to(TwoDevices(), monkeypatch)
