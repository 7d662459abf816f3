"""Doubles of the ports, for tests of everything that stands on them.

A double is given its lines, records what it was asked, and complains by raising `Misuse` when it is used in
a way that the port forbids. None of them reads a clock: a test says when time passes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

import anyio
import anyio.lowlevel
import numpy as np

from voice.audio import SAMPLE_RATE, Sound


class Misuse(BaseException):
    """A double was used against its port's contract.

    No `Exception`, so that code which copes with failing parts cannot swallow it.
    """


# --- Speaking ---------------------------------------------------------------------------------------------


class ScriptedEngine:
    """A `SpeechEngine` whose sounds last as long as their text is long.

    ``failures`` says which texts fail, and how; ``checkpoints`` is how often a rendering lets others run
    before it is ready. `hold` makes renderings wait until `release`.
    """

    def __init__(
        self,
        *,
        seconds_per_character: float = 0.05,
        rate: int = SAMPLE_RATE,
        checkpoints: int = 1,
        failures: Mapping[str, Exception] | None = None,
    ) -> None:
        self.texts: list[str] = []
        """Every text asked for, in order, whether its rendering came to an end or not."""
        self.rendered: list[str] = []
        """The texts whose sound was handed out."""
        self._seconds_per_character = seconds_per_character
        self._rate = rate
        self._checkpoints = checkpoints
        self._failures = dict(failures or {})
        self._gate = _Gate()
        self._busy = False

    def hold(self) -> None:
        """From now on no rendering is ready before `release`."""
        self._gate.close()

    def release(self) -> None:
        """Let held renderings be ready."""
        self._gate.open()

    def duration_s(self, text: str) -> float:
        """How long the sound of a text is, in seconds."""
        return self._samples(text) / self._rate

    async def render(self, sentence: str) -> Sound:
        """A `Sound` of silence; complains of what a real engine should never be given."""
        if self._busy:
            raise Misuse(f"{sentence!r} was to be rendered while another sentence still was")
        if not 1 <= len(sentence) <= 2_000:
            raise Misuse(f"a sentence of {len(sentence)} characters")
        if any(unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in sentence):
            raise Misuse(f"control characters in {sentence!r}")
        self.texts.append(sentence)
        self._busy = True
        try:
            for _ in range(self._checkpoints):
                await anyio.lowlevel.checkpoint()
            await self._gate.wait()
        finally:
            self._busy = False
        if sentence in self._failures:
            raise self._failures[sentence]
        self.rendered.append(sentence)
        return Sound(np.zeros(self._samples(sentence), np.int16), self._rate)

    def _samples(self, text: str) -> int:
        return round(len(text) * self._seconds_per_character * self._rate)


class ScriptedSpeaker:
    """A `Speaker` that plays in no time, or, after `hold`, for as long as the test wants.

    While it holds, `hear` moves the position, `finish` ends the present sound, and `release` ends it and
    every later one. `fail` makes the next sound break off where it is.
    """

    name = "scripted speaker"

    def __init__(self) -> None:
        self.played: list[Sound] = []
        """The sounds that were heard to their end."""
        self.broken_off: list[Sound] = []
        """The sounds that were not."""
        self._present: Sound | None = None
        self._played_s = 0.0
        self._gate = _Gate()
        self._finish = anyio.Event()
        self._begun = anyio.Event()
        self._failure: Exception | None = None

    @property
    def played_s(self) -> float:
        """Seconds of the present (or else the last) sound that have been heard."""
        return self._played_s

    @property
    def playing(self) -> bool:
        """Whether there is a sound that has begun and not ended."""
        return self._present is not None

    def hold(self) -> None:
        """From now on each sound lasts until it is told to end."""
        self._gate.close()

    def release(self) -> None:
        """End the present sound, and let all others play in no time."""
        self._gate.open()
        self._finish.set()

    def hear(self, seconds: float) -> None:
        """Let this many seconds of the present sound pass."""
        sound = self._now()
        self._played_s = min(self._played_s + seconds, sound.duration_s)

    def finish(self) -> None:
        """End the present sound; the next one is held again."""
        self._now()
        self._finish.set()

    def fail(self, error: Exception) -> None:
        """The present sound, or else the next one, fails with ``error`` where it is."""
        self._failure = error
        self._finish.set()

    async def begun(self) -> None:
        """Wait until a sound is being played."""
        while self._present is None:
            await self._begun.wait()

    async def play(self, sound: Sound) -> None:
        """Play, as the test wants; complains of two sounds at once and of empty ones."""
        if self._present is not None:
            raise Misuse("a sound was to be played while another still was")
        if not len(sound.samples):
            raise Misuse("an empty sound was to be played")
        self._present, self._played_s = sound, 0.0
        if self._failure is None:
            self._finish = anyio.Event()
        self._begun.set()
        try:
            await self._listen(sound)
        except BaseException:
            self.broken_off.append(sound)
            raise
        finally:
            self._present = None
            self._begun = anyio.Event()
        self.played.append(sound)

    async def _listen(self, sound: Sound) -> None:
        await anyio.lowlevel.checkpoint()
        if self._gate.closed:
            await self._finish.wait()
        error, self._failure = self._failure, None
        if error is not None:
            raise error
        self._played_s = sound.duration_s

    def _now(self) -> Sound:
        if self._present is None:
            raise Misuse("no sound is being played")
        return self._present


class _Gate:
    """Open, or closed until somebody opens it."""

    def __init__(self) -> None:
        self._opened: anyio.Event | None = None

    @property
    def closed(self) -> bool:
        return self._opened is not None

    def close(self) -> None:
        self._opened = self._opened or anyio.Event()

    def open(self) -> None:
        if self._opened is not None:
            self._opened.set()
            self._opened = None

    async def wait(self) -> None:
        if self._opened is not None:
            await self._opened.wait()
