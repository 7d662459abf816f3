"""A speaker through PortAudio."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import anyio
import anyio.to_thread
import numpy as np

from voice.audio import Samples, Sound
from voice.backends.arrivals import Arrivals
from voice.backends.portaudio.chosen import ChosenDevice
from voice.backends.portaudio.opening import opened
from voice.backends.portaudio.playback import Playback
from voice.errors import DeviceChanged, DeviceError, DeviceLost

_TRY_AGAIN_S = (0.0, 0.5, 1.0)
"""When a sound whose speaker was lost goes on elsewhere: at once where there is another one, and when a sound
server that was started anew is there."""

_LEAD_IN_S = 0.25
_IDLE_AFTER_S = 2.0
"""So much silence goes before a sound where nothing was played for so long: headphones on Bluetooth that have
gone to sleep swallow what comes while they wake up."""

_A_WORD_S = 0.5
"""So far back a sound goes on of which it is not known where its words begin."""


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
        self._notice = on_notice or (lambda _sentence: None)
        self._chosen = ChosenDevice("output", device, self._notice, stands_in=stand_in)
        self._fails = False
        self._playback: Playback | None = None
        self._before_s = 0.0
        """What was heard of the present sound before its device was lost."""
        self._idle_since = -math.inf

    @property
    def name(self) -> str:
        """The device's own name once it has played, before that the name it was asked for by."""
        return self._chosen.name

    @property
    def played_s(self) -> float:
        """Seconds of the present (or else the last) sound that have been heard; never more than it has.

        Less again where its device was lost, and it goes on at the beginning of a word.
        """
        return self._before_s + (self._playback.heard_s if self._playback is not None else 0.0)

    def use(self, device: str | None) -> None:
        """Be another device from now on; a sound that is being played goes on there."""
        self._chosen.use(device)

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
            except DeviceChanged:
                rest = self._from_word(rest)
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
        ending: Arrivals[float] = Arrivals()

        def given(start_s: float, end_s: float, heard_at: float) -> None:
            with suppress(RuntimeError):  # the event loop has ended
                loop.call_soon_threadsafe(self._tell, playback, start_s, end_s, heard_at)

        tapped = given if self.on_played is not None else None
        lead_in_s = _LEAD_IN_S if time.monotonic() > self._idle_since + _IDLE_AFTER_S else 0.0
        playback = self._playback = Playback(sound, ending.put, tapped, lead_in_s=lead_in_s)
        if not len(sound.samples):
            return
        async with opened(self._chosen, ending, playback.callback) as stream:
            try:
                await anyio.to_thread.run_sync(playback.prepare, stream)
                await stream.start()
                with anyio.move_on_after(await stream.next()):
                    await ending.next()  # which raises, where it is lost in its last moment
                playback.stop(complete=True)
            finally:
                playback.stop()
                self._idle_since = time.monotonic()
                if self.on_played is not None:
                    self.on_played(np.zeros(0, np.int16), 0.0)

    def _tell(self, playback: Playback, start_s: float, end_s: float, heard_at: float) -> None:
        if self.on_played is not None and not playback.stopped:
            self.on_played(playback.tapped(start_s, end_s), heard_at - time.monotonic())
