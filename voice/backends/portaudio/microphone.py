"""A microphone through PortAudio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, closing, suppress
from typing import Any

import anyio
import numpy as np

from voice.audio import FRAME_S, Frame, Resampler, to_float
from voice.backends import pulse
from voice.backends.arrivals import Arrivals
from voice.backends.portaudio.chosen import ChosenDevice
from voice.backends.portaudio.holes import Holes
from voice.backends.portaudio.library import BLOCK_S
from voice.backends.portaudio.opening import Stream, opened
from voice.devices import Listening, News
from voice.errors import DeviceError, DeviceLost
from voice.listening.mute import Muted, MuteWatch

_BELOW_KNOWN_S = 0.3
"""So long it is waited to be told what the default microphone is: mostly 20 ms, and nothing is lost by it."""

_MOST_WAITING_S = 30.0
"""So much sound waits for a listener that lags."""


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
        self._notice = on_notice or (lambda _sentence: None)
        self._chosen = ChosenDevice("input", device, self._notice, stands_in=stand_in)
        self._lost = 0
        self._arrived: Arrivals[bytes] | None = None
        self._holes = Holes()

    @property
    def name(self) -> str:
        """The device's own name once it has been opened, before that the name it was asked for by.

        Where the system's default is open and the sound server tells which that is, its name follows in
        brackets.
        """
        return self._chosen.name

    @property
    def live(self) -> bool:
        """True."""
        return True

    @property
    def lost_frames(self) -> int:
        """How many frames were lost since it was made: the device's buffer was full, or too much waited."""
        waiting = self._arrived.lost if self._arrived is not None else 0
        return self._lost + waiting + round(self._holes.lost_s / FRAME_S)

    def use(self, device: str | None) -> None:
        """Be another device from now on: among the frames of an open one comes `DeviceChanged`."""
        self._chosen.use(device)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[Frame]]:
        """Find the device by its name, and listen.

        Raises `PortAudioMissing`, and `DeviceError` where there is no such device, it cannot be opened, or
        what the server gives in its place is what a speaker plays.
        Among the frames `DeviceLost`, when its server is gone or nothing has come from it for 1.5 s, when
        more had to wait than may, and when a word may have been lost; and `DeviceChanged`, when another
        device is below it or is meant now.
        """
        arrived: Arrivals[bytes] = Arrivals(round(_MOST_WAITING_S / BLOCK_S), _overrun)
        holes = Holes()

        def callback(data: Any, _frames: int, when: Any, status: Any) -> None:
            at_s = when.inputBufferAdcTime or when.currentTime
            if hole_s := holes.push(at_s, BLOCK_S, overflow=status.input_overflow):
                arrived.end(_hole(hole_s))
            arrived.put(bytes(data))

        async with opened(self._chosen, arrived, callback) as stream:
            self._arrived, self._holes = arrived, holes
            try:
                await stream.start()
                with closing(_Below(self._chosen, stream, arrived.end)) as below:
                    await below.look()
                    async with aclosing(self._frames(stream, holes)) as frames:
                        yield frames
            finally:
                self._lost = self.lost_frames
                self._arrived, self._holes = None, Holes()

    async def _frames(self, stream: Stream[bytes], holes: Holes) -> AsyncGenerator[Frame]:
        resampler = Resampler(stream.rate, stream.channels)
        mute = MuteWatch()
        told = False
        try:
            while True:
                samples = np.frombuffer(await stream.next(), np.int16)
                if holes.lost_s and not told:
                    told = True
                    self._notice(f"{stream.name} gave more sound than was taken, and some of it is lost.")
                match mute.push(len(samples) / stream.channels / stream.rate, silent=not samples.any()):
                    case Muted.MUTED:
                        self._notice(
                            f"{self.name} gives digital silence: it is muted, or may not be listened to."
                        )
                    case Muted.BACK:
                        self._notice(f"{self.name} gives sound again.")
                for frame in resampler.push(to_float(samples)):
                    yield frame
        except DeviceError:
            for frame in resampler.flush():
                yield frame
            raise


class _Below:
    """What the sound server has below a microphone that is open: keeps its name true, and ends it."""

    def __init__(
        self, chosen: ChosenDevice, stream: Stream[bytes], end: Callable[[DeviceError], None]
    ) -> None:
        self._chosen = chosen
        self._opened_name = stream.name
        self._listening = Listening(chosen.wanted.device, stands_in=stream.stands_in)
        self._end = end
        self._open = True
        self._known = anyio.Event()
        self._problem: DeviceError | None = None
        loop = asyncio.get_running_loop()

        def tell(news: News | None) -> None:
            with suppress(RuntimeError):  # the event loop has ended
                loop.call_soon_threadsafe(self._hear, news)

        self._watch = pulse.Watch(tell)

    async def look(self) -> None:
        """Return when it is known, or never will be; raises `DeviceError` where it is no microphone."""
        with anyio.move_on_after(_BELOW_KNOWN_S):
            await self._known.wait()
        if self._problem is not None:
            raise self._problem

    def close(self) -> None:
        """Heed no more news: what is on its way would be about another stream."""
        self._open = False
        self._watch.close()

    def _hear(self, news: News | None) -> None:
        self._known.set()
        if news is None or not self._open:
            return
        if (problem := self._listening.end(news)) is not None:
            self._problem = problem
            self._end(problem)
        elif (below := self._listening.source_name) and below not in self._opened_name:
            self._chosen.name = f"{self._opened_name} ({below})"


def _overrun(blocks: int) -> DeviceLost:
    return _hole(blocks * BLOCK_S)


def _hole(lost_s: float) -> DeviceLost:
    return DeviceLost(
        f"The program was too busy to listen, and {lost_s:.1f} s of sound are lost.",
        mend="end what keeps the machine busy, or take a smaller model: voice calibrate",
    )
