"""Microphones and speakers through PortAudio (``sounddevice``), which is imported when it is used.

Three habits of PortAudio shape this file. Its calls hang when the sound server does, so each runs in a daemon
thread with a time limit and is left behind when the limit has passed: neither the event loop nor the end of
the program waits for it. Its list of devices is as old as its initialisation, so that is done anew at every
opening while no stream is open, and devices are found by name, never by number. And it writes to C's standard
error whenever it likes, which is put out of reach of the terminal.

Streams hand over to the event loop with ``call_soon_threadsafe``: this runs on asyncio only, not on trio.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import ctypes
import difflib
import math
import sys
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import anyio
import anyio.to_thread
import numpy as np

from voice.audio import SAMPLE_RATE, Frame, Resampler, Samples, Sound, to_float, to_int16
from voice.errors import DeviceError, DeviceLost, PortAudioMissing

_Kind = Literal["input", "output"]

_BLOCK_S = 0.02
"""Sound in one callback; blocks of 30 ms were seen to arrive in pairs."""

_LATENCY_S: dict[_Kind, float] = {"input": 0.05, "output": 0.3}
"""Depth of the device's buffer: room for the moments in which Python is late to call back. From 0.1 on, input
arrives in pairs of blocks. Where the server resamples, output underflows without end below 0.1, and on a
busy machine now and then below 0.3; a sound neither begins nor falls silent later for it."""

_OPEN_LIMIT_S = 5.0
"""What has not opened by then hangs; Bluetooth takes a second or two."""

_CLOSE_LIMIT_S = 0.25
"""What has not closed by then is left behind: Ctrl-C ends the program within a second, whatever is open."""

_LOST_AFTER_S = 2.0
"""A stream without a callback for so long is dead. A hung sound server gives no other sign."""

_GRACE_S = 3.0
"""The same, counted from its start: a sound server that was idle may take 2 s to begin."""

_HEARTBEAT_CHECK_S = 0.25
"""How often that is looked at."""

_MUTE_S = 3.0
"""So much digital silence at the beginning is not a quiet room but a muted or forbidden microphone."""

_MORE_RATES = (48_000, 44_100, 16_000)
"""Hz, tried where a device refuses the rate that it calls its own."""

_SHAPE_REFUSED = {-9997, -9998}
"""``paInvalidSampleRate`` and ``paInvalidChannelCount`` (``portaudio.h``)."""

_LEAD_IN_S = 0.25
_IDLE_AFTER_S = 2.0
"""So much silence goes before a sound where nothing was played for so long: headphones on Bluetooth that have
gone to sleep swallow what comes while they wake up."""

_NOUNS: dict[_Kind, str] = {"input": "microphone", "output": "speaker"}
_T = TypeVar("_T")


@dataclass(frozen=True)
class DeviceInfo:
    """A device as PortAudio describes it."""

    name: str
    host_api: str
    input_channels: int
    output_channels: int
    default_rate: int
    """Hz."""
    is_default_input: bool
    is_default_output: bool


def list_devices() -> list[DeviceInfo]:
    """The devices that are there now, none where there are none.

    While a stream is open the list is as old as the stream. Raises `PortAudioMissing`, and `DeviceError`
    where there is no answer within 5 s.
    """
    try:
        return _in_thread(_LIBRARY.devices).result(_OPEN_LIMIT_S)
    except TimeoutError:
        raise _no_answer() from None


def find_output(wanted: str | None) -> DeviceInfo:
    """The speaker that a name means, as `choose` finds it; raises as `choose` and `list_devices` do."""
    devices = list_devices()
    return devices[choose(devices, "output", wanted)]


class PortAudioMicrophone:
    """A device that hears, at its own rate and with at most two channels, which are averaged.

    ``device`` is its name or a part of it, None for the default one. What arrives while the listener lags
    waits in memory. ``on_notice`` is given a sentence when there is nothing but digital silence at first, and
    when sound was lost for the first time.
    """

    def __init__(self, device: str | None = None, on_notice: Callable[[str], None] | None = None) -> None:
        self._device = device
        self._on_notice = on_notice
        self._name = device or "the default microphone"
        self._overflows = 0

    @property
    def name(self) -> str:
        """The device's own name once it has been opened, before that the name it was asked for by."""
        return self._name

    @property
    def live(self) -> bool:
        """True."""
        return True

    @property
    def overflows(self) -> int:
        """How often the device's buffer was full before it was emptied; each time some sound was lost."""
        return self._overflows

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[Frame]]:
        """Find the device by its name, and listen.

        Raises `PortAudioMissing`, and `DeviceError` where there is no such device or it cannot be opened;
        among the frames `DeviceLost`, when its server is gone or nothing has come from it for 2 s.
        """
        loop = asyncio.get_running_loop()
        arrived: asyncio.Queue[bytes | None] = asyncio.Queue()
        heartbeat = _Heartbeat()

        def callback(data: Any, _frames: int, _time: Any, status: Any) -> None:
            heartbeat.felt()
            self._overflows += bool(status.input_overflow)
            _post(loop, arrived, bytes(data))

        def finished() -> None:
            _post(loop, arrived, None)

        async with _opened("input", self._device, callback, finished) as stream:
            self._name = stream.name
            await stream.start(heartbeat)
            async with aclosing(self._frames(stream, arrived, heartbeat)) as frames:
                yield frames

    async def _frames(
        self, stream: _Stream, arrived: asyncio.Queue[bytes | None], heartbeat: _Heartbeat
    ) -> AsyncGenerator[Frame]:
        resampler = Resampler(stream.rate, stream.channels)
        mute = _MuteWatch(round(_MUTE_S * stream.rate) * stream.channels)
        before: float = self._overflows
        while (data := await _next(arrived, heartbeat)) is not None:
            samples = np.frombuffer(data, np.int16)
            if self._overflows > before and self._on_notice is not None:
                self._on_notice(f"{stream.name} gave more sound than was taken, and some of it is lost.")
                before = math.inf
            if mute.struck(samples) and self._on_notice is not None:
                self._on_notice(
                    f"{stream.name} gives digital silence: it is muted, or may not be listened to."
                )
            for frame in resampler.push(to_float(samples)):
                yield frame
        for frame in resampler.flush():
            yield frame
        raise _lost(stream.name)


class PortAudioSpeaker:
    """A device that plays, at its own rate. It is found and opened anew for each sound.

    That takes 2 to 20 ms, and while no microphone is open the sound follows the headphones that come and go:
    PortAudio looks for devices only when no stream is open. A sound after a while of idleness is led in by
    0.25 s of silence, which is no part of it. ``device`` is its name or a part of it, None for the default
    one.
    """

    def __init__(self, device: str | None = None) -> None:
        self.on_played: Callable[[Samples, float], None] | None = None
        """Told, in the event loop's thread, what is about to be heard: samples at SAMPLE_RATE, in so many
        seconds, in pieces of about 20 ms. Without samples: of what was told nothing more is heard."""
        self._device = device
        self._name = device or "the default speaker"
        self._playback: _Playback | None = None
        self._idle_since = -math.inf

    @property
    def name(self) -> str:
        """The device's own name once it has played, before that the name it was asked for by."""
        return self._name

    @property
    def played_s(self) -> float:
        """Seconds of the present (or else the last) sound that have been heard; never more than it has."""
        return self._playback.heard_s if self._playback is not None else 0.0

    async def play(self, sound: Sound) -> None:
        """Play it to its end: returns when the last sample has been heard.

        When cancelled, what waits in the device's buffer is dropped. Raises `PortAudioMissing`, `DeviceError`
        where the device cannot be opened, and `DeviceLost` when it stops taking sound.
        """
        loop = asyncio.get_running_loop()
        ending: asyncio.Queue[float | None] = asyncio.Queue()

        def given(start_s: float, end_s: float, heard_at: float) -> None:
            with contextlib.suppress(RuntimeError):  # the event loop has ended meanwhile
                loop.call_soon_threadsafe(self._tell, playback, start_s, end_s, heard_at)

        tapped = given if self.on_played is not None else None
        lead_in_s = _LEAD_IN_S if time.monotonic() > self._idle_since + _IDLE_AFTER_S else 0.0
        playback = self._playback = _Playback(
            sound, lambda in_s: _post(loop, ending, in_s), tapped, lead_in_s=lead_in_s
        )
        if not len(sound.samples):
            return

        def finished() -> None:
            _post(loop, ending, None)

        async with _opened("output", self._device, playback.callback, finished) as stream:
            self._name = stream.name
            await anyio.to_thread.run_sync(playback.prepare, stream)
            try:
                await stream.start(playback.heartbeat)
                ends_in_s = await _next(ending, playback.heartbeat)
                if ends_in_s is None:
                    raise _lost(stream.name)
                with anyio.move_on_after(ends_in_s):
                    await ending.get()
                    raise _lost(stream.name)
                playback.stop(complete=True)
            finally:
                playback.stop()
                self._idle_since = time.monotonic()
                if self.on_played is not None:
                    self.on_played(np.zeros(0, np.int16), 0.0)

    def _tell(self, playback: _Playback, start_s: float, end_s: float, heard_at: float) -> None:
        if self.on_played is not None and not playback.stopped:
            self.on_played(playback.tapped(start_s, end_s), heard_at - time.monotonic())


class _Playback:
    """One sound on its way through one stream."""

    def __init__(
        self,
        sound: Sound,
        ends_in: Callable[[float], None],
        given: Callable[[float, float, float], None] | None = None,
        *,
        lead_in_s: float = 0.0,
    ) -> None:
        """``ends_in`` is called once, when all has been given: in so many seconds its end will be heard.

        ``given`` is called with the bounds of each piece of the sound, and with when it begins to be heard;
        the silence of ``lead_in_s`` before it counts for nothing.
        """
        self.heartbeat = _Heartbeat()
        self._ends_in: Callable[[float], None] | None = ends_in
        self._tap = given
        self._tapped = sound.samples[:0]
        self._sound = sound
        self._bytes = b""
        self._rate, self._latency_s = 1, 0.0
        self._lead_in_s = lead_in_s
        self._given = 0  # samples of each channel, with the silence after the sound; less than 0 before it
        self._heard = 0.0, 0.0  # so many seconds had been heard, at this time
        self._stopped = False

    @property
    def heard_s(self) -> float:
        heard_s, at = self._heard
        if not self._stopped:
            heard_s += time.monotonic() - at
        return max(min(heard_s, self._given / self._rate, self._sound.duration_s), 0.0)

    @property
    def stopped(self) -> bool:
        return self._stopped

    def prepare(self, stream: _Stream) -> None:
        """Bring the sound to the stream's rate and channels, and to the rate of who is told of it."""
        samples = _at_rate(self._sound, stream.rate)
        if self._tap is not None:
            self._tapped = _at_rate(self._sound, SAMPLE_RATE)
        self._bytes = np.repeat(samples, stream.channels).tobytes()
        self._rate, self._latency_s = stream.rate, stream.latency_s
        self._given = -round(self._lead_in_s * stream.rate)

    def callback(self, out: Any, frames: int, when: Any, _status: Any) -> None:
        self.heartbeat.felt()
        at = self._given * (len(out) // frames)
        silence = bytes(min(max(-at, 0), len(out)))
        piece = b"" if self._stopped else silence + self._bytes[max(at, 0) : max(at + len(out), 0)]
        out[:] = piece + bytes(len(out) - len(piece))
        if self._stopped:
            return
        # What is given now is heard after what waits in the buffer. The device knows how long that takes;
        # where it does not, the stream has an average.
        waiting_s = when.outputBufferDacTime - when.currentTime
        if not 0 <= waiting_s < _LOST_AFTER_S:
            waiting_s = self._latency_s
        now = time.monotonic()
        given_s = self._given / self._rate
        heard_s = given_s - waiting_s
        self._heard = heard_s, now
        self._given += frames
        if self._tap is not None and self._given > 0 and given_s < self._sound.duration_s:
            begins_s = max(given_s, 0.0)
            self._tap(begins_s, self._given / self._rate, now + waiting_s + begins_s - given_s)
        if self._ends_in is not None and self._given >= self._sound.duration_s * self._rate:
            self._ends_in(self._sound.duration_s - heard_s)
            self._ends_in = None

    def tapped(self, start_s: float, end_s: float) -> Samples:
        """A piece of the sound, at SAMPLE_RATE."""
        return self._tapped[round(start_s * SAMPLE_RATE) : round(end_s * SAMPLE_RATE)]

    def stop(self, *, complete: bool = False) -> None:
        """Be silent from the next callback on; what was heard is heard."""
        heard_s = self._sound.duration_s if complete else self.heard_s
        self._stopped = True
        self._heard = heard_s, 0.0


def _at_rate(sound: Sound, rate: int) -> Samples:
    if sound.rate == rate:
        return sound.samples
    import soxr

    return to_int16(soxr.resample(to_float(sound.samples), sound.rate, rate))


class _MuteWatch:
    """Strikes once, when the first ``limit`` samples were all zero."""

    def __init__(self, limit: int) -> None:
        self._left = limit

    def struck(self, samples: np.typing.NDArray[np.int16]) -> bool:
        if self._left <= 0:
            return False
        self._left = 0 if samples.any() else self._left - len(samples)
        return self._left <= 0 and not samples.any()


class _Heartbeat:
    """When a stream last called back: the only sign of life it gives, and not one of audio time."""

    def __init__(self) -> None:
        self._patient_until, self._dead_at = 0.0, math.inf

    def begin(self) -> None:
        self._patient_until = time.monotonic() + _GRACE_S
        self._dead_at = self._patient_until

    def felt(self) -> None:
        self._dead_at = max(self._patient_until, time.monotonic() + _LOST_AFTER_S)

    @property
    def stopped(self) -> bool:
        return time.monotonic() > self._dead_at


class _Stream:
    """An open stream; `start` and `close` never take longer than their limits."""

    def __init__(self, stream: Any, kind: _Kind, name: str) -> None:
        self.name = name
        self.rate = round(stream.samplerate)
        self.channels: int = stream.channels
        self.latency_s: float = stream.latency
        self._stream = stream
        self._kind = kind
        self._starting: Future[None] | None = None

    async def start(self, heartbeat: _Heartbeat) -> None:
        heartbeat.begin()
        self._starting = _in_thread(_LIBRARY.start, self._stream, self._kind, self.name)
        await _within(_GRACE_S, self._starting)

    async def close(self) -> None:
        with anyio.CancelScope(shield=True), contextlib.suppress(DeviceError):
            await _within(_CLOSE_LIMIT_S, self.closing())

    def closing(self) -> Future[None]:
        return _in_thread(self._close)

    def _close(self) -> None:
        if self._starting is not None:
            # PortAudio ends the whole program where a stream is closed that is still starting.
            self._starting.exception()
        _LIBRARY.close(self._stream)


class _Library:
    """PortAudio itself. Its global state stands no two threads; every method here may hang."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open_streams = 0
        self._sounddevice: Any = None
        self._portaudio: ctypes.CDLL | None = None

    def devices(self) -> list[DeviceInfo]:
        with self._lock:
            return _described(self._up_to_date())

    def open(self, kind: _Kind, wanted: str | None, callback: Any, finished: Any) -> _Stream:
        with self._lock:
            sounddevice = self._up_to_date()
            devices = _described(sounddevice)
            index = choose(devices, kind, wanted)
            device = devices[index]
            make = sounddevice.RawInputStream if kind == "input" else sounddevice.RawOutputStream
            channels = min(device.input_channels if kind == "input" else device.output_channels, 2)
            shapes = [
                (rate, count)
                for rate in dict.fromkeys((device.default_rate, *_MORE_RATES))
                for count in range(channels, 0, -1)
            ]
            for rate, count in shapes:
                try:
                    stream = make(
                        samplerate=rate,
                        channels=count,
                        blocksize=round(rate * _BLOCK_S),
                        device=index,
                        dtype="int16",
                        latency=_LATENCY_S[kind],
                        callback=callback,
                        finished_callback=finished,
                    )
                except sounddevice.PortAudioError as error:
                    if error.args[-1] not in _SHAPE_REFUSED or (rate, count) == shapes[-1]:
                        raise _unusable(device.name, kind, error) from None
                else:
                    self._open_streams += 1
                    return _Stream(stream, kind, device.name)
        raise AssertionError("unreachable: there is at least one shape")

    def start(self, stream: Any, kind: _Kind, name: str) -> None:
        try:
            stream.start()
        except self._sounddevice.PortAudioError as error:
            raise _unusable(name, kind, error) from None

    def close(self, stream: Any) -> None:
        stream.abort()  # without the lock: nothing may keep a speaker from falling silent
        with self._lock:
            stream.close()
            self._open_streams -= 1

    def _up_to_date(self) -> Any:
        """The module, its list of devices made anew unless that would end a stream."""
        if self._sounddevice is None:
            _quieten_c()
            self._portaudio = _initialised_beforehand()
            self._sounddevice = _imported()
        elif not self._open_streams:
            self._renew(self._sounddevice)
        return self._sounddevice

    def _renew(self, sounddevice: Any) -> None:
        # PortAudio counts how often it was initialised, and looks for devices when it begins at nought.
        try:
            while sounddevice._initialized:
                sounddevice._terminate()
            if self._portaudio is not None:
                self._portaudio.Pa_Terminate()
                self._portaudio.Pa_Initialize()
            sounddevice._initialize()
        except sounddevice.PortAudioError as error:
            raise _not_started(error) from None


_LIBRARY = _Library()


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


def choose(devices: Sequence[DeviceInfo], kind: Literal["input", "output"], wanted: str | None) -> int:
    """The place in the list of the device that is meant.

    ``wanted`` is its name or a part of it, in small or capital letters, with or without a comma and the host
    API after it; the whole name goes before a part. None means the default device. Where one stands under
    several host APIs the first is taken. Raises `DeviceError` where none or more than one is meant.
    """
    noun = _NOUNS[kind]
    usable = {
        index: device
        for index, device in enumerate(devices)
        if (device.input_channels if kind == "input" else device.output_channels)
    }
    if not usable:
        raise DeviceError(
            f"There is no {noun}: no device that PortAudio knows has {kind} channels.",
            mend="plug one in or start the sound server, then see: voice devices",
        )
    if wanted is None:
        defaults = [
            i for i, d in usable.items() if (d.is_default_input if kind == "input" else d.is_default_output)
        ]
        return next(iter(defaults or usable))
    sought = wanted.casefold()
    whole = [i for i, d in usable.items() if sought in {d.name.casefold(), _full(d).casefold()}]
    parts = [i for i, d in usable.items() if sought in (_full(d) if "," in sought else d.name).casefold()]
    found = whole or parts
    names = list(dict.fromkeys(usable[index].name for index in found or usable))
    listed = ", ".join(names)
    if not found:
        close = difflib.get_close_matches(wanted, names, n=1)
        raise DeviceError(
            f"There is no {noun} called {wanted!r}; there are: {listed}.",
            mend=f"did you mean {close[0]!r}?" if close else "use one of these names, or a part of one",
        )
    if len(names) > 1:
        raise DeviceError(f"More than one {noun} is called {wanted!r}: {listed}.", mend="use a whole name")
    return found[0]


def _full(device: DeviceInfo) -> str:
    return f"{device.name}, {device.host_api}"


def _initialised_beforehand() -> ctypes.CDLL | None:
    """Initialise PortAudio before sounddevice does, which turns descriptor 2 to /dev/null for so long.

    With a hung sound server that would be for good. Afterwards its own call returns at once.
    """
    if sys.platform != "linux":
        return None
    try:
        portaudio = ctypes.CDLL("libportaudio.so.2")
    except OSError:
        return None  # sounddevice knows other names, or says that there is none
    portaudio.Pa_Initialize()
    return portaudio


def _imported() -> Any:
    try:
        import sounddevice
    except ImportError:
        raise PortAudioMissing(
            "The library sounddevice, which reaches microphones and speakers, is not installed.",
            mend="pip install sounddevice",
        ) from None
    except OSError:
        raise PortAudioMissing(
            "The library PortAudio, which reaches microphones and speakers, is not installed.",
            mend="sudo apt install libportaudio2",
        ) from None
    except Exception as error:  # its PortAudioError, out of reach when the import fails
        raise _not_started(error) from None
    # At the end of the program it would close what hangs, and hang. All else is closed by then.
    atexit.unregister(sounddevice._exit_handler)
    return sounddevice


def _quieten_c() -> None:
    """Send what C code writes to its ``stderr`` to nowhere, from now on.

    PortAudio and ALSA report there, from threads of their own and in the middle of what the terminal shows,
    whenever a device goes away. PortAudio can be given no other place, and ALSA's error handler sees only a
    part. Turning descriptor 2 to /dev/null around each call misses those moments, and silences whatever else
    is written meanwhile, for good where the call hangs. So it is the C library's variable ``stderr`` that is
    turned: Python and child processes write to the descriptor and are not touched. What is lost with it is
    the line that a failing assertion in C writes before it ends the program.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "gnu_get_libc_version"):
        return  # elsewhere the variable is a constant
    libc.fopen.restype = ctypes.c_void_p
    nowhere = libc.fopen(b"/dev/null", b"w")
    if nowhere:
        ctypes.c_void_p.in_dll(libc, "stderr").value = nowhere


@asynccontextmanager
async def _opened(
    kind: _Kind, wanted: str | None, callback: Callable[..., None], finished: Callable[[], None]
) -> AsyncIterator[_Stream]:
    opening = _in_thread(_LIBRARY.open, kind, wanted, callback, finished)
    try:
        stream = await _within(_OPEN_LIMIT_S, opening)
    except BaseException:
        opening.add_done_callback(_discard)
        raise
    try:
        yield stream
    finally:
        await stream.close()


def _discard(opening: Future[_Stream]) -> None:
    """Close a stream that opened after its owner had given up."""
    if opening.exception() is None:
        opening.result().closing()


def _in_thread(function: Callable[..., _T], *args: Any) -> Future[_T]:
    """Call it in a thread that nothing waits for, not even the end of the program."""
    future: Future[_T] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(function(*args))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="portaudio", daemon=True).start()
    return future


async def _within(limit_s: float, call: Future[_T]) -> _T:
    try:
        with anyio.fail_after(limit_s):
            return await asyncio.wrap_future(call)
    except TimeoutError:
        raise _no_answer() from None


async def _next(queue: asyncio.Queue[_T], heartbeat: _Heartbeat) -> _T | None:
    """The next item; None when the stream's heart has stopped. What has arrived comes first."""
    while True:
        with anyio.move_on_after(_HEARTBEAT_CHECK_S):
            return await queue.get()
        if heartbeat.stopped:
            return None


def _post(loop: asyncio.AbstractEventLoop, queue: asyncio.Queue[_T], item: _T) -> None:
    """Put it into the queue from PortAudio's thread; nothing happens where the loop is already closed."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(queue.put_nowait, item)


def _no_answer() -> DeviceError:
    return DeviceError(
        "The sound server does not answer.",
        mend="restart it: pulseaudio --kill, or systemctl --user restart pipewire",
    )


def _not_started(error: Exception) -> DeviceError:
    return DeviceError(f"PortAudio cannot be started: {error}.", mend="see: voice devices")


def _unusable(name: str, kind: _Kind, error: Exception) -> DeviceError:
    return DeviceError(
        f"{name} cannot be opened as a {_NOUNS[kind]}: {error.args[0]}.",
        mend="close what else uses it, or choose another, see: voice devices",
    )


def _lost(name: str) -> DeviceLost:
    return DeviceLost(
        f"{name} is gone: it was pulled out, or its sound server ended or hangs.",
        mend="plug it in or restart the sound server, and start again",
    )
