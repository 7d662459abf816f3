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
import math
import sys
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import numpy as np

from voice.audio import SAMPLE_RATE, Frame, Resampler, Samples, Sound, to_float, to_int16
from voice.backends import pulse
from voice.backends.arrivals import Arrivals
from voice.devices import NOUNS, SOUND_SERVER, DeviceInfo, Kind, Listening, News, Pick, choose, pick, stand_in
from voice.errors import DeviceChanged, DeviceError, DeviceLost, PortAudioMissing
from voice.listening.mute import Muted, MuteWatch

_BLOCK_S = 0.02
"""Sound in one callback; blocks of 30 ms were seen to arrive in pairs."""

_LATENCY_S: dict[Kind, float] = {"input": 0.05, "output": 0.3}
"""Depth of the device's buffer: room for the moments in which Python is late to call back. From 0.1 on, input
arrives in pairs of blocks. Where the server resamples, output underflows without end below 0.1, and on a
busy machine now and then below 0.3; a sound neither begins nor falls silent later for it."""

_OPEN_LIMIT_S = 5.0
"""What has not opened by then hangs; Bluetooth takes a second or two."""

_CLOSE_LIMIT_S = 0.25
"""What has not closed by then is left behind: Ctrl-C ends the program within a second, whatever is open."""

_PATIENCE_S = 1.0
"""So long a stream waits to be opened while something else hangs, before it is given up."""

_LOST_AFTER_S = 1.5
"""A stream without a callback for so long is dead. A hung sound server gives no other sign. With four busy
programs on two processors no callback was seen to be late by more than 40 ms."""

_GRACE_S = 3.0
"""The same, counted from its start: a sound server that was idle may take 2 s to begin."""

_HEARTBEAT_CHECK_S = 0.1
"""How often that is looked at."""

_BELOW_KNOWN_S = 0.3
"""So long it is waited to be told what the default microphone is: mostly 20 ms, and nothing is lost by it."""

_MOST_WAITING_S = 30.0
"""So much sound waits for a listener that lags."""

_TRY_AGAIN_S = (0.0, 0.5, 1.0)
"""When a sound whose speaker was lost goes on elsewhere: at once where there is another one, and when a sound
server that was started anew is there."""

_MORE_RATES = (48_000, 44_100, 16_000)
"""Hz, tried where a device refuses the rate that it calls its own."""

_SHAPE_REFUSED = {-9997, -9998}
"""``paInvalidSampleRate`` and ``paInvalidChannelCount`` (``portaudio.h``)."""

_LEAD_IN_S = 0.25
_IDLE_AFTER_S = 2.0
"""So much silence goes before a sound where nothing was played for so long: headphones on Bluetooth that have
gone to sleep swallow what comes while they wake up."""

_A_WORD_S = 0.5
"""So far back a sound goes on of which it is not known where its words begin."""

_T = TypeVar("_T")


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

    ``device`` is its name or a part of it, None for the default one; once it has been opened it is remembered
    by its whole name. With ``stand_in`` the default one takes its place where it cannot be had, until it is
    there again. What arrives while the listener lags waits, up to 30 s of it. ``on_notice`` is given a
    sentence when another device stands in, when there is nothing but digital silence and when there is sound
    again, and when sound was lost for the first time.
    """

    def __init__(
        self,
        device: str | None = None,
        on_notice: Callable[[str], None] | None = None,
        *,
        stand_in: bool = False,
    ) -> None:
        self._device = device
        self._stands_in = stand_in
        self._notice = on_notice or _nothing
        self._name = device or "the default microphone"
        self._missing = ""
        self._overflows = self._lost = 0
        self._arrived: Arrivals | None = None

    @property
    def name(self) -> str:
        """The device's own name once it has been opened, before that the name it was asked for by.

        Where the system's default is open and the sound server tells which that is, its name follows in
        brackets.
        """
        return self._name

    @property
    def live(self) -> bool:
        """True."""
        return True

    @property
    def lost_frames(self) -> int:
        """How many frames were lost since it was made: the device's buffer was full, or too much waited."""
        return self._overflows + self._lost + (self._arrived.lost if self._arrived is not None else 0)

    def use(self, device: str | None) -> None:
        """Be another device from now on: among the frames of an open one comes `DeviceChanged`."""
        self._device, self._missing = device, ""
        if self._arrived is not None:
            self._arrived.end(DeviceChanged("Another microphone was chosen."))

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[Frame]]:
        """Find the device by its name, and listen.

        Raises `PortAudioMissing`, and `DeviceError` where there is no such device or it cannot be opened.
        Among the frames `DeviceLost`, when its server is gone or nothing has come from it for 1.5 s, and when
        more had to wait than may; and `DeviceChanged`, when another device is below it or is meant now.
        """
        loop = asyncio.get_running_loop()
        arrived = Arrivals(round(_MOST_WAITING_S / _BLOCK_S), _overrun)
        heartbeat = _Heartbeat()

        def callback(data: Any, _frames: int, _time: Any, status: Any) -> None:
            heartbeat.felt()
            self._overflows += bool(status.input_overflow)
            arrived.put(bytes(data))

        def finished() -> None:
            arrived.end(_lost(self._name))

        wanted = self._device
        async with _opened("input", wanted, callback, finished, stands_in=self._stands_in) as stream:
            self._took(stream.pick, stream.device)
            await stream.start(heartbeat)
            listening = Listening(wanted, stands_in=bool(stream.pick.instead_of))
            below = _Below(self, stream.name, listening)
            watch = pulse.Watch(lambda news: _call(loop, below.hear, news, arrived))
            self._arrived = arrived
            try:
                with anyio.move_on_after(_BELOW_KNOWN_S):
                    await below.known.wait()
                async with aclosing(self._frames(stream, arrived, heartbeat)) as frames:
                    yield frames
            finally:
                watch.close()
                self._arrived = None
                self._lost += arrived.lost

    def _took(self, picked: Pick, device: DeviceInfo) -> None:
        """Remember what is open, and tell when it is not what was asked for."""
        self._name = device.name
        if picked.instead_of and picked.instead_of != self._missing:
            self._notice(f"{picked.problem} {device.name} is used until {picked.instead_of} is there again.")
        elif not picked.instead_of and self._device not in (None, device.id):
            self._device = device.full_name
        self._missing = picked.instead_of

    async def _frames(
        self, stream: _Stream, arrived: Arrivals, heartbeat: _Heartbeat
    ) -> AsyncGenerator[Frame]:
        resampler = Resampler(stream.rate, stream.channels)
        mute = MuteWatch()
        before: float = self._overflows
        try:
            while True:
                data = await arrived.next(_HEARTBEAT_CHECK_S)
                if data is None:
                    if heartbeat.stopped:
                        arrived.end(_lost(stream.name))
                    continue
                samples = np.frombuffer(data, np.int16)
                if self._overflows > before:
                    self._notice(f"{stream.name} gave more sound than was taken, and some of it is lost.")
                    before = math.inf
                match mute.push(len(samples) / stream.channels / stream.rate, silent=not samples.any()):
                    case Muted.MUTED:
                        self._notice(
                            f"{self._name} gives digital silence: it is muted, or may not be listened to."
                        )
                    case Muted.BACK:
                        self._notice(f"{self._name} gives sound again.")
                for frame in resampler.push(to_float(samples)):
                    yield frame
        except DeviceError:
            for frame in resampler.flush():
                yield frame
            raise


class _Below:
    """What the sound server has below a microphone that is open: keeps its name true."""

    def __init__(self, microphone: PortAudioMicrophone, name: str, listening: Listening) -> None:
        self._microphone = microphone
        self._opened_name = name
        self._listening = listening
        self.known = anyio.Event()
        """Set when it is known, or never will be."""

    def hear(self, news: News | None, arrived: Arrivals) -> None:
        """Take the news, in the event loop's thread."""
        self.known.set()
        if news is None:
            return
        if (ending := self._listening.end(news)) is not None:
            arrived.end(ending)
        elif (below := self._listening.source_name) and below not in self._opened_name:
            self._microphone._name = f"{self._opened_name} ({below})"


class PortAudioSpeaker:
    """A device that plays, at its own rate. It is found and opened anew for each sound.

    That takes 2 to 20 ms, and while no microphone is open the sound follows the headphones that come and go:
    PortAudio looks for devices only when no stream is open. A sound after a while of idleness is led in by
    0.25 s of silence, which is no part of it. ``device`` is its name or a part of it, None for the default
    one; with ``stand_in`` that one takes its place where it cannot be had. A sound whose device is lost goes
    on, at the word that was being spoken, on the one that is found then. ``on_notice`` is given a sentence
    when another device stands in, and when there is none, once until there is one again.
    """

    def __init__(
        self,
        device: str | None = None,
        on_notice: Callable[[str], None] | None = None,
        *,
        stand_in: bool = False,
    ) -> None:
        self.on_played: Callable[[Samples, float], None] | None = None
        """Told, in the event loop's thread, what is about to be heard: samples at SAMPLE_RATE, in so many
        seconds, in pieces of about 20 ms. Without samples: of what was told nothing more is heard."""
        self._device = device
        self._stands_in = stand_in
        self._notice = on_notice or _nothing
        self._name = device or "the default speaker"
        self._missing = ""
        self._fails = False
        self._playback: _Playback | None = None
        self._before_s = 0.0
        """What was heard of the present sound before its device was lost."""
        self._change: Callable[[], None] = _nothing_at_all
        self._idle_since = -math.inf

    @property
    def name(self) -> str:
        """The device's own name once it has played, before that the name it was asked for by."""
        return self._name

    @property
    def played_s(self) -> float:
        """Seconds of the present (or else the last) sound that have been heard; never more than it has.

        Less again where its device was lost, and it goes on at the beginning of a word.
        """
        return self._before_s + (self._playback.heard_s if self._playback is not None else 0.0)

    def use(self, device: str | None) -> None:
        """Be another device from now on; a sound that is being played goes on there."""
        self._device, self._missing = device, ""
        self._change()

    async def play(self, sound: Sound) -> None:
        """Play it to its end: returns when the last sample has been heard.

        When cancelled, what waits in the device's buffer is dropped. Raises `PortAudioMissing`, `DeviceError`
        where the device cannot be opened, and `DeviceLost` when it stops taking sound and there is no other,
        for 1.5 s.
        """
        self._before_s, rest = 0.0, sound
        tries = iter(_TRY_AGAIN_S[:1])  # of a device that goes while it is being opened
        lost: DeviceLost | None = None
        while True:
            try:
                await self._play_once(rest)
            except DeviceError as error:
                if isinstance(error, DeviceLost):
                    tries = tries if lost is not None else iter(_TRY_AGAIN_S)
                    lost = error
                    self._fails = self._fails and not self.played_s
                    rest = self._from_word(rest)
                if (wait_s := next(tries, None)) is None:
                    self._tell_failure(error)
                    if lost is None or error is lost:
                        raise
                    raise lost from error
                await anyio.sleep(wait_s)
            else:
                self._fails = False
                return

    def _from_word(self, sound: Sound) -> Sound:
        """What is left of a sound whose device was lost, from the beginning of the word that was spoken."""
        heard_s = self._playback.heard_s if self._playback is not None else 0.0
        begins = [begins_s for begins_s, _ in sound.words if begins_s <= heard_s]
        from_s = begins[-1] if begins else max(0.0, heard_s - _A_WORD_S)
        self._before_s += from_s
        self._playback = None
        self._idle_since = -math.inf
        return replace(
            sound,
            samples=sound.samples[round(from_s * sound.rate) :],
            words=tuple((at - from_s, character) for at, character in sound.words if at >= from_s),
        )

    def _tell_failure(self, error: DeviceError) -> None:
        if not self._fails:
            self._fails = True
            self._notice(f"{error.sentence} Nothing can be heard of what is said; it stands on the screen.")

    async def _play_once(self, sound: Sound) -> None:
        loop = asyncio.get_running_loop()
        ending: asyncio.Queue[float | None] = asyncio.Queue()

        def given(start_s: float, end_s: float, heard_at: float) -> None:
            _call(loop, self._tell, playback, start_s, end_s, heard_at)

        tapped = given if self.on_played is not None else None
        lead_in_s = _LEAD_IN_S if time.monotonic() > self._idle_since + _IDLE_AFTER_S else 0.0
        playback = self._playback = _Playback(
            sound, lambda in_s: _post(loop, ending, in_s), tapped, lead_in_s=lead_in_s
        )
        if not len(sound.samples):
            return

        def finished() -> None:
            _post(loop, ending, None)

        async with _opened(
            "output", self._device, playback.callback, finished, stands_in=self._stands_in
        ) as stream:
            self._took(stream.pick, stream.device)
            self._change = lambda: ending.put_nowait(None)
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
                self._change = _nothing_at_all
                self._idle_since = time.monotonic()
                if self.on_played is not None:
                    self.on_played(np.zeros(0, np.int16), 0.0)

    def _took(self, picked: Pick, device: DeviceInfo) -> None:
        self._name = device.name
        if picked.instead_of and picked.instead_of != self._missing:
            self._notice(f"{picked.problem} {device.name} speaks until {picked.instead_of} is there again.")
        elif not picked.instead_of and self._missing:
            self._notice(f"{device.name} speaks again.")
        if not picked.instead_of and self._device not in (None, device.id):
            self._device = device.full_name
        self._missing = picked.instead_of

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

    def __init__(self, stream: Any, kind: Kind, pick: Pick, device: DeviceInfo) -> None:
        self.pick = pick
        self.device = device
        self.name = device.name
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
        closing = self.closing()
        with anyio.CancelScope(shield=True):
            try:
                await _within(_CLOSE_LIMIT_S, closing)
            except DeviceError:
                # Mostly the server hangs. A broken driver may never return, and then there are other devices.
                _LIBRARY.left_behind(closing, _OPEN_LIMIT_S)

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
        self._hanging: Future[Any] | None = None
        self._hangs_until = 0.0

    def left_behind(self, call: Future[Any], for_s: float = math.inf) -> None:
        """Take note of a call that is past its limit: for so long another one would only wait behind it."""
        self._hanging, self._hangs_until = call, time.monotonic() + for_s

    async def until_it_answers(self) -> None:
        """Return when no call hangs; raises `DeviceError` where one does for a second more."""
        call = self._hanging
        if call is None or call.done() or time.monotonic() > self._hangs_until:
            return
        done, loop = anyio.Event(), asyncio.get_running_loop()
        call.add_done_callback(lambda _: _call(loop, done.set))
        with anyio.move_on_after(_PATIENCE_S):
            await done.wait()
            return
        raise _no_answer()

    def devices(self) -> list[DeviceInfo]:
        with self._lock:
            return _with_the_servers(_described(self._up_to_date()))

    def open(
        self, kind: Kind, wanted: str | None, callback: Any, finished: Any, *, stands_in: bool
    ) -> _Stream:
        with self._lock:
            sounddevice = self._up_to_date()
            devices = _described(sounddevice)
            if kind == "input" or wanted is not None:
                devices = _with_the_servers(devices)
            picked = pick(devices, kind, wanted, substitute=stands_in)
            try:
                return self._open_picked(sounddevice, devices, kind, picked, callback, finished)
            except DeviceError as error:
                if wanted is None or not stands_in or picked.instead_of:
                    raise
                second = stand_in(devices, kind, wanted, error.sentence)
                if second.index == picked.index:
                    raise
                return self._open_picked(sounddevice, devices, kind, second, callback, finished)

    def _open_picked(
        self,
        sounddevice: Any,
        devices: list[DeviceInfo],
        kind: Kind,
        picked: Pick,
        callback: Any,
        finished: Any,
    ) -> _Stream:
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
                    return _Stream(stream, kind, picked, device)
        raise AssertionError("unreachable: there is at least one shape")

    def start(self, stream: Any, kind: Kind, name: str) -> None:
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
    with pulse.chosen_source(device, kind):
        yield way


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
    kind: Kind,
    wanted: str | None,
    callback: Callable[..., None],
    finished: Callable[[], None],
    *,
    stands_in: bool,
) -> AsyncIterator[_Stream]:
    await _LIBRARY.until_it_answers()
    opening = _in_thread(partial(_LIBRARY.open, stands_in=stands_in), kind, wanted, callback, finished)
    try:
        stream = await _within(_OPEN_LIMIT_S, opening)
    except BaseException as error:
        opening.add_done_callback(_discard)
        if isinstance(error, DeviceError):
            _LIBRARY.left_behind(opening)
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
    """Put it into the queue from PortAudio's thread."""
    _call(loop, queue.put_nowait, item)


def _call(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *args: Any) -> None:
    """Have it called in the event loop's thread; nothing happens where the loop is already closed."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function, *args)


def _nothing(_sentence: str) -> None:
    pass


def _nothing_at_all() -> None:
    pass


def _overrun(blocks: int) -> DeviceLost:
    return DeviceLost(
        f"The program was too busy to listen, and {blocks * _BLOCK_S:.1f} s of sound are lost.",
        mend="end what keeps the machine busy, or take a smaller model: voice calibrate",
    )


def _no_answer() -> DeviceError:
    return DeviceError(
        "The sound server does not answer.",
        mend="restart it: pulseaudio --kill, or systemctl --user restart pipewire",
    )


def _not_started(error: Exception) -> DeviceError:
    return DeviceError(f"PortAudio cannot be started: {error}.", mend="see: voice devices")


def _unusable(name: str, kind: Kind, error: Exception) -> DeviceError:
    return DeviceError(
        f"{name} cannot be opened as a {NOUNS[kind]}: {error.args[0]}.",
        mend="close what else uses it, or choose another, see: voice devices",
    )


def _lost(name: str) -> DeviceLost:
    return DeviceLost(
        f"{name} is gone: it was pulled out, or its sound server ended or hangs.",
        mend="plug it in or restart the sound server, and start again",
    )
