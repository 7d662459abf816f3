"""PortAudio's devices and streams, as they are listed, opened and closed. Every call here may hang."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from voice.backends import pulse
from voice.backends.portaudio.starting import PortAudio
from voice.devices import NOUNS, SOUND_SERVER, DeviceInfo, Kind, Pick, pick, stand_in
from voice.errors import DeviceError

BLOCK_S = 0.02
"""Sound in one callback; blocks of 30 ms were seen to arrive in pairs."""

_LATENCY_S: dict[Kind, float] = {"input": 0.05, "output": 0.3}
"""Depth of the device's buffer: room for the moments in which Python is late to call back. From 0.1 on, input
arrives in pairs of blocks. Where the server resamples, output underflows without end below 0.1, and on a
busy machine now and then below 0.3; a sound neither begins nor falls silent later for it."""

_MORE_RATES = (48_000, 44_100, 16_000)
"""Hz, tried where a device refuses the rate that it calls its own."""

_SHAPE_REFUSED = {-9997, -9998}
"""``paInvalidSampleRate`` and ``paInvalidChannelCount`` (``portaudio.h``)."""


@dataclass(frozen=True)
class Wanted:
    """A device that is to be opened: its name, None for the default one, and whether that may stand in."""

    kind: Kind
    device: str | None
    stands_in: bool


@dataclass(frozen=True)
class Callbacks:
    """What PortAudio calls, from a thread of its own."""

    block: Callable[..., None]
    finished: Callable[[], None]


@dataclass(frozen=True)
class Opened:
    """A stream of ``sounddevice``, not yet started, and the device that it belongs to."""

    raw: Any
    kind: Kind
    pick: Pick
    device: DeviceInfo


class Library:
    """Its global state stands no two threads: all but `start` wait for one another."""

    def __init__(self, portaudio: PortAudio | None = None) -> None:
        self._portaudio = portaudio or PortAudio()
        self._lock = threading.Lock()
        self._open_streams = 0

    def devices(self) -> list[DeviceInfo]:
        """The devices that are there now; while a stream is open those that were there when it was opened."""
        with self._lock:
            return _with_the_servers(_described(self._up_to_date()))

    def open(self, wanted: Wanted, callbacks: Callbacks) -> Opened:
        """Find the device and open it, or what stands in for it where it cannot be had."""
        with self._lock:
            sounddevice = self._up_to_date()
            devices = _described(sounddevice)
            kind, name = wanted.kind, wanted.device
            if kind == "input" or name is not None:
                devices = _with_the_servers(devices)
            picked = pick(devices, kind, name, substitute=wanted.stands_in)
            try:
                return self._open_picked(sounddevice, devices, kind, picked, callbacks)
            except DeviceError as error:
                if name is None or not wanted.stands_in or picked.instead_of:
                    raise
                second = stand_in(devices, kind, name, error.sentence)
                if second.index == picked.index:
                    raise
                return self._open_picked(sounddevice, devices, kind, second, callbacks)

    def start(self, stream: Opened) -> None:
        """Have it call back from now on."""
        try:
            stream.raw.start()
        except self._portaudio.module(renewed=False).PortAudioError as error:
            raise _unusable(stream.device.name, stream.kind, error) from None

    def close(self, stream: Opened) -> None:
        """End it; what waits in the device's buffer is dropped."""
        stream.raw.abort()  # without the lock: nothing may keep a speaker from falling silent
        with self._lock:
            stream.raw.close()
            self._open_streams -= 1

    def _up_to_date(self) -> Any:
        return self._portaudio.module(renewed=not self._open_streams)

    def _open_picked(
        self, sounddevice: Any, devices: list[DeviceInfo], kind: Kind, picked: Pick, callbacks: Callbacks
    ) -> Opened:
        device = devices[picked.index]
        make = sounddevice.RawInputStream if kind == "input" else sounddevice.RawOutputStream
        channels = min(device.input_channels if kind == "input" else device.output_channels, 2)
        shapes = [
            (rate, count)
            for rate in dict.fromkeys((device.default_rate, *_MORE_RATES))
            for count in range(channels, 0, -1)
        ]
        with _led_to(devices, device, picked.index, kind) as index:
            for rate, count in shapes:
                try:
                    raw = make(
                        samplerate=rate,
                        channels=count,
                        blocksize=round(rate * BLOCK_S),
                        device=index,
                        dtype="int16",
                        latency=_LATENCY_S[kind],
                        callback=callbacks.block,
                        finished_callback=callbacks.finished,
                    )
                except sounddevice.PortAudioError as error:
                    if error.args[-1] not in _SHAPE_REFUSED or (rate, count) == shapes[-1]:
                        raise _unusable(device.name, kind, error) from None
                else:
                    self._open_streams += 1
                    return Opened(raw, kind, picked, device)
        raise AssertionError("unreachable: there is at least one shape")


def _described(sounddevice: Any) -> list[DeviceInfo]:
    apis = sounddevice.query_hostapis()
    default_input, default_output = sounddevice.default.device[0], sounddevice.default.device[1]
    return [
        DeviceInfo(
            name=device["name"],
            host_api=apis[device["hostapi"]]["name"],
            input_channels=device["max_input_channels"],
            output_channels=device["max_output_channels"],
            default_rate=round(device["default_samplerate"]),
            is_default_input=index == default_input,
            is_default_output=index == default_output,
        )
        for index, device in enumerate(sounddevice.query_devices())
    ]


def _with_the_servers(devices: list[DeviceInfo]) -> list[DeviceInfo]:
    """The devices with those of the sound server, where PortAudio has one through which they are reached."""
    return [*devices, *pulse.devices()] if _way_to_server(devices) is not None else devices


def _way_to_server(devices: list[DeviceInfo]) -> int | None:
    return next((i for i, d in enumerate(devices) if (d.name, d.host_api) == ("pulse", "ALSA")), None)


@contextmanager
def _led_to(devices: list[DeviceInfo], device: DeviceInfo, index: int, kind: Kind) -> Iterator[int]:
    """The number by which PortAudio opens a device meanwhile."""
    way = _way_to_server(devices)
    if device.host_api != SOUND_SERVER or not device.id or way is None:
        yield index
        return
    with pulse.led_to(device, kind):
        yield way


def _unusable(name: str, kind: Kind, error: Exception) -> DeviceError:
    return DeviceError(
        f"{name} cannot be opened as a {NOUNS[kind]}: {error.args[0]}.",
        mend="close what else uses it, or choose another, see: voice devices",
    )
