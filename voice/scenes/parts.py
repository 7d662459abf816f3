"""What a session of a scene hears and speaks with: implementations of the ports by the scene's clock."""

from __future__ import annotations

import concurrent.futures
import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

import anyio
import numpy as np

from voice.audio import FRAME_S, SAMPLE_RATE, Frame, Resampler, Samples, Sound, to_float
from voice.errors import TranscriberError
from voice.events import Emit
from voice.ports import PendingTranscript, Transcript
from voice.scenes.air import Air
from voice.scenes.clock import virtual_loop
from voice.scenes.script import Understood
from voice.scenes.sentences import SentenceBegun, SentenceHeard
from voice.scenes.wording import Wording

SECONDS_PER_CHARACTER = 0.065
"""Of a scripted voice: 200 words a minute, as eSpeak NG speaks."""

RENDER_S = 0.05
"""What an engine takes to render a sentence: by the scene's clock always the same."""


@dataclass(frozen=True)
class SpokenSound(Sound):
    """A sound that knows what it says."""

    text: str = ""


class SceneMicrophone:
    """Hears what is in the air, a frame each 20 ms; what sounds while it is closed is gone."""

    name = "the microphone of the scene"
    live = True

    def __init__(self, air: Air, wording: Wording) -> None:
        self._air = air
        self._wording = wording

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[AsyncIterator[Frame]]:
        """Open it; its frames have no end."""
        async with aclosing(self._frames()) as frames:
            yield frames

    async def _frames(self) -> AsyncGenerator[Frame]:
        number = math.ceil(anyio.current_time() / FRAME_S - 1e-6)
        while True:
            await anyio.sleep_until((number + 1) * FRAME_S)
            frame = self._air.frame(number)
            self._wording.heard(number, frame)
            yield frame
            number += 1


class SceneSpeaker:
    """Plays a sound for as long as it lasts; a person hears it, and nobody else."""

    name = "the speaker of the scene"

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._begun_s: float | None = None
        self._length_s = self._heard_s = 0.0

    @property
    def played_s(self) -> float:
        """Seconds of the present (or else the last) sound that have been heard."""
        if self._begun_s is None:
            return self._heard_s
        return min(anyio.current_time() - self._begun_s, self._length_s)

    @property
    def playing(self) -> bool:
        """Whether something is heard now."""
        return self._begun_s is not None

    async def play(self, sound: Sound) -> None:
        """Play it to its end; stops at once where it is cancelled."""
        self._begun_s, self._length_s = anyio.current_time(), sound.duration_s
        text = sound.text if isinstance(sound, SpokenSound) else ""
        if text:
            self._emit(SentenceBegun(text))
        self.begins(sound)
        whole = False
        try:
            await anyio.sleep(self.takes_s(sound))
            whole = True
        finally:
            self._heard_s = self._length_s if whole else self.played_s
            self._begun_s = None
            if not whole:
                self.breaks_off()
            if text:
                self._emit(SentenceHeard(text, self._heard_s, whole))

    def takes_s(self, sound: Sound) -> float:
        """For how long a sound is played."""
        return sound.duration_s

    def begins(self, sound: Sound) -> None:
        """A sound begins."""

    def breaks_off(self) -> None:
        """It has ended before its end."""


class AudibleSpeaker(SceneSpeaker):
    """One that the microphone hears, too, and that tells what it plays."""

    def __init__(self, emit: Emit, air: Air, wording: Wording, *, echo_db: float, delay_s: float) -> None:
        super().__init__(emit)
        self._air, self._wording = air, wording
        self._echo_db, self._delay_s = echo_db, delay_s
        self.on_played: Callable[[Samples, float], None] = lambda _samples, _in_s: None

    def begins(self, sound: Sound) -> None:
        """It goes into the air, a little later."""
        resampler = Resampler(sound.rate)
        frames = [*resampler.push(to_float(sound.samples)), *resampler.flush()]
        samples = np.concatenate(frames) if frames else np.zeros(0, np.int16)
        at_s = anyio.current_time() + self._delay_s
        self._air.put(at_s, samples, self._echo_db, ours=True)
        if isinstance(sound, SpokenSound):
            self._wording.put(sound.text, samples, at_s)
        self.on_played(samples, self._delay_s)

    def breaks_off(self) -> None:
        """What was not heard yet never is."""
        at_s = anyio.current_time() + self._delay_s
        self._air.cut(at_s, ours=True)
        self.on_played(np.zeros(0, np.int16), self._delay_s)


class QuietEngine:
    """A `SpeechEngine` whose sounds are silence, as long as their text takes to be said."""

    async def render(self, sentence: str, *, rate: float = 1.0) -> Sound:
        """Silence that knows its text."""
        await anyio.sleep(RENDER_S)
        count = round(len(sentence) * SECONDS_PER_CHARACTER * SAMPLE_RATE / rate)
        return SpokenSound(np.zeros(count, np.int16), SAMPLE_RATE, text=sentence)


class OutsideEngine:
    """A real engine, which takes no time of the scene but `RENDER_S`."""

    def __init__(self, render: Callable[[str, float], concurrent.futures.Future[Sound]]) -> None:
        self._render = render

    async def render(self, sentence: str, *, rate: float = 1.0) -> Sound:
        """The sound that the engine makes. Raises what it raises."""
        await anyio.sleep(RENDER_S)
        sound = await virtual_loop().outside(self._render(sentence, rate))
        return SpokenSound(sound.samples, sound.rate, sound.words, text=sentence)


Understand = Callable[[Samples, Sequence[str]], concurrent.futures.Future[Transcript] | Transcript]
"""Gives the transcript of a piece, or what another thread will have of it."""


class SceneTranscriber:
    """A `Transcriber` whose texts are there a fixed time after they were asked for, by the scene's clock."""

    def __init__(self, understand: Understand, delay_s: float) -> None:
        self._understand = understand
        self._delay_s = delay_s

    def submit(self, samples: Samples, *, vocabulary: Sequence[str] = ()) -> PendingTranscript:
        """Take a piece."""
        due_s = anyio.current_time() + self._delay_s
        return Due(self._understand(samples, vocabulary), due_s)


class Due:
    """A `PendingTranscript` that is there, or has failed, at a time of the scene's clock."""

    def __init__(
        self, made: concurrent.futures.Future[Transcript] | Transcript | TranscriberError, due_s: float
    ) -> None:
        self._made = made
        self._due_s = due_s

    @property
    def done(self) -> bool:
        """Whether it is time."""
        return anyio.current_time() >= self._due_s - FRAME_S / 2

    async def result(self) -> Transcript:
        """The transcript, when it is time."""
        await anyio.sleep_until(self._due_s)
        match self._made:
            case Transcript():
                return self._made
            case TranscriberError():
                raise self._made
            case _:
                return await virtual_loop().outside(self._made)

    def cancel(self) -> None:
        """Have nobody make it any more."""
        if isinstance(self._made, concurrent.futures.Future):
            self._made.cancel()


def scripted_words(wording: Wording, sure: dict[int, Understood]) -> Understand:
    """What is understood where the scene says it: the words whose places are in the piece.

    ``sure`` says how sure it is of each text.
    """

    def understand(samples: Samples, _vocabulary: Sequence[str]) -> Transcript:
        text, says = wording.understood(samples)
        doubts = [sure[say] for say in says if say in sure] or [Understood()]
        return Transcript(
            text,
            max(doubt.no_speech_probability for doubt in doubts),
            min(doubt.average_log_probability for doubt in doubts),
            max(doubt.compression_ratio for doubt in doubts),
            any(doubt.ran_on for doubt in doubts),
        )

    return understand
