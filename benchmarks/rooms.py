"""A room, made up: what somebody's microphone in it hears of them, and of a narration from a loudspeaker."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from voice.audio import FRAME_S, FRAME_SAMPLES, SAMPLE_RATE, Frame, Samples, Sound, to_float, to_int16
from voice.ears import Ears
from voice.events import Event, SpeechStarted

SPEECH_DBFS = -22.0
"""The level of somebody who talks into the microphone, RMS where they talk."""

NOISE_DBFS = -60.0
"""The hiss of a quiet room and a cheap microphone."""

DEVICE_DELAY_S = 0.08
"""What a device is later than it tells."""

UNSURE_S = 0.04
"""What it is wrong by when it tells when a sound is heard, each time anew: as much as PortAudio was here."""

SILENT_WITHIN_S = 0.1
"""What a speaker takes to fall silent."""

PAUSE_S = 0.1
"""Between sentences."""

_LEAD_S = 1.0


@dataclass(frozen=True)
class Spoken:
    """A narration as the speaker would play it, from `_LEAD_S` on."""

    text: str
    samples: Samples
    sentences: tuple[tuple[str, float, float], ...]
    """Each with its start and end, in seconds."""

    @property
    def start_s(self) -> float:
        """When its first sentence begins."""
        return self.sentences[0][1]

    @property
    def end_s(self) -> float:
        """When the last of it has been played."""
        return self.sentences[-1][2]


def spoken(text: str, sounds: Sequence[tuple[str, Sound]]) -> Spoken:
    """Sentences and their sounds, one after another."""
    import soxr

    parts = [np.zeros(round(_LEAD_S * SAMPLE_RATE), np.int16)]
    sentences: list[tuple[str, float, float]] = []
    for sentence, sound in sounds:
        start_s = sum(map(len, parts)) / SAMPLE_RATE
        samples = to_int16(soxr.resample(to_float(sound.samples), sound.rate, SAMPLE_RATE))
        sentences.append((sentence, start_s, start_s + len(samples) / SAMPLE_RATE))
        parts += [samples, np.zeros(round(PAUSE_S * SAMPLE_RATE), np.int16)]
    return Spoken(text, np.concatenate(parts), tuple(sentences))


def impulse(seed: int, *, reverberation_s: float = 0.35) -> NDArray[np.float64]:
    """The room's answer to a click: the direct sound, six walls, and noise that dies away by 60 dB."""
    random = np.random.default_rng(seed)
    t = np.arange(round(reverberation_s * SAMPLE_RATE)) / SAMPLE_RATE
    answer = random.normal(0, 1, len(t)) * 10 ** (-3 * t / reverberation_s)
    answer *= 0.35 / np.sqrt(np.sum(answer**2))
    direct = round(0.006 * SAMPLE_RATE)
    answer[:direct] = 0
    answer[direct] = 1.0
    for wall_s in random.uniform(0.008, 0.03, 6):
        answer[round(wall_s * SAMPLE_RATE)] += random.choice([-1, 1]) * random.uniform(0.2, 0.5)
    return answer


def loudspeaker(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """A small one: no bass, and what is loud is bent a little."""
    hertz = np.fft.rfftfreq(len(samples), 1 / SAMPLE_RATE)
    thin = np.fft.irfft(np.fft.rfft(samples) * np.clip(hertz / 250, 0, 1), len(samples))
    top = float(np.abs(thin).max()) or 1.0
    return np.asarray(np.tanh(1.2 * thin / top) * top / 1.2)


def at_level(samples: NDArray[np.float64], dbfs: float) -> NDArray[np.float64]:
    """At this level, RMS over where it sounds (within 30 dB of its loudest frame)."""
    power = np.square(samples[: len(samples) // FRAME_SAMPLES * FRAME_SAMPLES]).reshape(-1, FRAME_SAMPLES)
    loudness = power.mean(axis=1)
    sounding = loudness[loudness > loudness.max() / 1000]
    if not len(sounding):
        return samples
    return samples * (32_768 * 10 ** (dbfs / 20) / np.sqrt(sounding.mean()))


@dataclass
class Scene:
    """A narration in a room, and perhaps somebody who talks there; `frames` plays it, frame by frame."""

    narration: Spoken
    echo_db: float | None
    """The level of the echo against `SPEECH_DBFS`; None for headphones, which give none."""
    reply: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """What the person says, as it arrives at the microphone."""
    reply_at_s: float = 0.0
    seed: int = 0
    after_s: float = 3.0
    """How long it goes on after the last sound."""
    stopped_s: float | None = field(default=None, init=False)
    """When the narration was silenced."""

    def __post_init__(self) -> None:
        self.length = self._frames_until(self.narration.end_s)
        self._played = np.zeros(self.length * FRAME_SAMPLES)
        samples = self.narration.samples
        self._played[: len(samples)] = samples
        random = np.random.default_rng(self.seed)
        self._rest = random.normal(0, 32_768 * 10 ** (NOISE_DBFS / 20), len(self._played))
        at = round(self.reply_at_s * SAMPLE_RATE)
        self._rest[at : at + len(self.reply)] += self.reply
        self._room = impulse(self.seed)
        self._echo = self._echoed() if self.echo_db is not None else np.zeros(len(self._played))
        self._gain = 1.0
        if self.echo_db is not None:
            level = at_level(self._echo, SPEECH_DBFS + self.echo_db)
            loudest = int(np.argmax(np.abs(self._echo)))
            self._gain = level[loudest] / self._echo[loudest]

    def silence(self, now_s: float) -> None:
        """The narration stops: the speaker is silent a moment later, the room when it has died away.

        The scene is over the sooner.
        """
        if self.stopped_s is None and now_s < self.narration.end_s:
            self.stopped_s = now_s + SILENT_WITHIN_S
            self.length = min(self.length, self._frames_until(self.stopped_s))
            self._played[round(self.stopped_s * SAMPLE_RATE) :] = 0
            if self.echo_db is not None:
                self._echo = self._echoed()

    def heard(self, index: int) -> Frame:
        """What the microphone hears in this frame."""
        part = slice(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES)
        mixed = self._rest[part] + self._gain * self._echo[part]
        return np.clip(np.rint(mixed), -32_768, 32_767).astype(np.int16)

    def played(self, start_s: float, end_s: float) -> Samples:
        """What the speaker plays between these times."""
        part = slice(round(start_s * SAMPLE_RATE), round(end_s * SAMPLE_RATE))
        return self._played[part].astype(np.int16)

    def _frames_until(self, silent_s: float) -> int:
        """How long it is where the narration ends at this time."""
        end_s = max(silent_s, self.reply_at_s + len(self.reply) / SAMPLE_RATE) + self.after_s
        return round(end_s / FRAME_S)

    def _echoed(self) -> NDArray[np.float64]:
        delay = np.zeros(round(DEVICE_DELAY_S * SAMPLE_RATE))
        sent = np.concatenate([delay, loudspeaker(self._played)])
        size = len(sent) + len(self._room)
        heard = np.fft.irfft(np.fft.rfft(sent, size) * np.fft.rfft(self._room, size), size)
        return np.asarray(heard[: len(self._played)])


async def act(
    scene: Scene,
    ears: Ears,
    *,
    stops: bool,
    tap: bool = True,
    after_frame: Callable[[], Awaitable[float]] | None = None,
) -> list[tuple[float, Event]]:
    """Have the ears hear it; return what happened, each with its audio time.

    With ``stops`` the narration stops as soon as speech is heard, as a session does at a barge-in; with
    ``tap`` the speaker tells what it plays. ``after_frame`` says how much later a frame is heard than its
    place in the scene. At the end not all of it need be a message yet: that is its caller's to wait for.
    """
    happened: list[tuple[float, Event]] = []
    sentences = deque(scene.narration.sentences)
    jitter = np.random.default_rng(scene.seed)
    with ExitStack() as narration:
        narrating = False
        index = 0
        while index < scene.length:
            now_s = index * FRAME_S
            end_s = scene.narration.end_s if scene.stopped_s is None else scene.stopped_s
            if sentences and sentences[0][1] <= now_s < end_s:
                if not narrating:
                    narration.enter_context(ears.narration())
                    narrating = True
                sentence, start_s, sentence_end_s = sentences.popleft()
                ears.on_sentence(sentence)
                if tap:
                    late_s = jitter.uniform(0, UNSURE_S)
                    ears.on_played(scene.played(start_s, sentence_end_s), late_s)
            if narrating and now_s >= end_s:
                narration.close()
                narrating = False
                if tap:
                    ears.on_played(np.zeros(0, np.int16), 0.0)
            late_s = await after_frame() if after_frame is not None else 0.0
            events = await ears.push(scene.heard(index))
            happened += [(now_s + late_s, event) for event in events]
            if stops and any(isinstance(event, SpeechStarted) for event in events):
                scene.silence(now_s)
            index += 1
    return happened
