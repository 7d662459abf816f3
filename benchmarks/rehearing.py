"""Hear recordings again under other rules: the detector hears each once, and Whisper each piece of it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from composing import lasting, quiet_of
from corpus import Clip, Span
from questions import question_for

from voice.assembly import EARLY_S, make_detector, make_patience
from voice.audio import FRAME_S, SAMPLE_RATE, Frame, Framer, Samples, silent_frame, to_float
from voice.backends.recording import read_recording
from voice.backends.whisper import COMPUTE_TYPE, THREADS
from voice.backends.whisper_child import guarded, transcribe
from voice.events import Discarded, SpeechStarted, UserMessage
from voice.listening.endpointing import Endpointer, EndRule, StartRule
from voice.listening.patience import Patience, Wording
from voice.listening.pieces import PieceRule
from voice.listening.utterances import Ear
from voice.listening.vocabulary import Vocabulary
from voice.loop import Hearing
from voice.phrases import phrases_of
from voice.ports import PendingTranscript, SpeechDetector, Transcriber, Transcript, Verdict
from voice.settings import Settings

ROOM_TONE_S = 3.0
"""What follows each clip: long enough for the most patient of the rules."""

WHOLE = PieceRule(pause_s=1e6, tail_s=EARLY_S)
"""An utterance is given to Whisper at once, as those do who wait for a fixed silence, with the tail that a
transcription in the pause has: so both hear the same sound, and it is transcribed once."""


@dataclass(frozen=True)
class Recorded:
    """A recording with its room tone, and what a detector made of each of its frames."""

    id: str
    kind: str
    samples: Samples
    verdicts: tuple[Verdict, ...]
    turns: tuple[Span, ...]
    transcript: str | None
    question: str


@dataclass(frozen=True)
class Rule:
    """When a turn ends, and when its transcription begins."""

    name: str
    silence_s: float
    early: bool
    """Whether it begins in the pause, after `EARLY_S`, and not at the end."""
    patience: Settings | None = None
    """Whose patience decides, None where nothing but the silence does."""
    pieces: PieceRule = WHOLE
    asks: bool = True
    """Whether it is told the question."""
    words: bool = True
    """Whether it goes by words at all."""


@dataclass(frozen=True)
class Sent:
    """One message."""

    text: str
    heard: Span
    decided_at_s: float
    asked_at_s: float
    """When its last piece was given to Whisper."""
    compute_s: float
    """What that piece took, in seconds of real time."""
    confidence: float = 0.0

    @property
    def at_s(self) -> float:
        """When the text was there: transcription may have begun before the decision."""
        return max(self.decided_at_s, self.asked_at_s + self.compute_s)


@dataclass(frozen=True)
class Reheard:
    """What one rule made of one recording."""

    sent: tuple[Sent, ...]
    discarded: tuple[Discarded, ...]
    begun: int
    """How many turns it took somebody to have begun."""

    @property
    def text(self) -> str:
        """All messages as one text."""
        return " ".join(message.text for message in self.sent)


class StoredDetector:
    """A `SpeechDetector` that says what another one has said; behind its end there is silence."""

    def __init__(self, verdicts: Iterable[Verdict] = ()) -> None:
        self.hears(verdicts)

    def hears(self, verdicts: Iterable[Verdict]) -> None:
        """What comes next is another recording, of which it has said this."""
        self._verdicts = iter(verdicts)

    def judge(self, frame: Frame) -> Verdict:  # noqa: ARG002 — it was judged before
        """The next verdict."""
        return next(self._verdicts, Verdict(0.0, -100.0))

    def reset(self) -> None:
        """A recording is one stream: nothing is to be forgotten."""


class Remembering:
    """A `Transcriber` that asks another one once for each sound, and only when the text is wanted.

    With a file it remembers beyond the process; ``name`` says what the texts depend on.
    """

    def __init__(self, inner: Transcriber, name: str, file: Path | None = None) -> None:
        self.inner, self._name, self._file = inner, name, file
        self._known: dict[str, Transcript] = {}
        if file is not None and file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                key, its_name = entry.pop("key"), entry.pop("name")
                if its_name == name:
                    self._known[key] = Transcript(**entry)

    def submit(self, samples: Samples, *, vocabulary: Sequence[str] = ()) -> _Wanted:
        """Ask for a text."""
        return _Wanted(self, samples, tuple(vocabulary))

    async def transcript_of(self, samples: Samples, vocabulary: Sequence[str]) -> Transcript:
        """The text of that sound."""
        key = hashlib.sha256("\n".join(vocabulary).encode() + samples.tobytes()).hexdigest()[:32]
        if key not in self._known:
            transcript = self._known[key] = await self.inner.submit(samples, vocabulary=vocabulary).result()
            if self._file is not None:
                entry = {"name": self._name, "key": key, **asdict(transcript)}
                with self._file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(entry) + "\n")
        return self._known[key]


@dataclass
class _Wanted:
    owner: Remembering
    samples: Samples
    vocabulary: tuple[str, ...]
    done: bool = True

    async def result(self) -> Transcript:
        return await self.owner.transcript_of(self.samples, self.vocabulary)

    def cancel(self) -> None:
        """It has not begun."""


class NoTranscriber:
    """A `Transcriber` that understands everything as one word: for rules whose ends depend on no words."""

    def submit(self, samples: Samples, *, vocabulary: Sequence[str] = ()) -> PendingTranscript:  # noqa: ARG002
        """Ask for a text."""
        return _Always(Transcript("x"))


@dataclass
class _Always:
    transcript: Transcript
    done: bool = True

    async def result(self) -> Transcript:
        return self.transcript

    def cancel(self) -> None:
        """Nothing is under way."""


class LibraryWhisper:
    """A `Transcriber`: faster-whisper as it comes, beam 5 and temperature fallback, the whole window."""

    def __init__(self, weights: Path, language: str) -> None:
        import ctranslate2
        from faster_whisper import WhisperModel

        self._seed = ctranslate2.set_random_seed
        self._language = language
        self._model = WhisperModel(str(weights), device="cpu", compute_type=COMPUTE_TYPE, cpu_threads=THREADS)

    def submit(self, samples: Samples, *, vocabulary: Sequence[str] = ()) -> PendingTranscript:  # noqa: ARG002
        """Ask for a text; the library has no vocabulary as it comes."""
        return _InThread(partial(self._transcribe, samples))

    def _transcribe(self, samples: Samples) -> Transcript:
        self._seed(0)  # where it falls back on another temperature it draws
        began = time.perf_counter()
        segments, _ = self._model.transcribe(to_float(samples), language=self._language)
        text = "".join(segment.text for segment in segments).strip()
        return Transcript(text, compute_s=time.perf_counter() - began)


class LoopWhisper:
    """A `Transcriber`: what the loop's child process does, in this process: nothing but the engine is timed.

    With ``cut`` false it encodes whole windows.
    """

    def __init__(self, weights: Path, language: str, *, cut: bool = True) -> None:
        from voice.backends.whisper_engine import ShortWindowWhisper

        self._language = language
        self._cut = cut
        self._whisper = ShortWindowWhisper(
            str(weights), device="cpu", compute_type=COMPUTE_TYPE, cpu_threads=THREADS
        )

    def submit(self, samples: Samples, *, vocabulary: Sequence[str] = ()) -> PendingTranscript:
        """Ask for a text."""
        return _InThread(partial(self._transcribe, samples, vocabulary))

    def _transcribe(self, samples: Samples, vocabulary: Sequence[str]) -> Transcript:
        if self._cut:
            return Transcript(**guarded(self._whisper, samples, self._language, vocabulary))
        self._whisper.full_window = True
        return Transcript(**transcribe(self._whisper, samples, self._language, vocabulary))


@dataclass
class _InThread:
    work: Callable[[], Transcript]
    done: bool = False

    async def result(self) -> Transcript:
        return await anyio.to_thread.run_sync(self.work)

    def cancel(self) -> None:
        """It has not begun."""


@dataclass
class _Watched:
    """Notes when each piece was asked for."""

    inner: Transcriber
    hearing: Any = None
    asked: list[tuple[float, _Pending]] = field(default_factory=list)

    def submit(self, samples: Samples, *, vocabulary: Sequence[str] = ()) -> _Pending:
        pending = _Pending(self.inner.submit(samples, vocabulary=vocabulary))
        self.asked.append((self.hearing.now_s, pending))
        return pending


@dataclass
class _Pending:
    inner: PendingTranscript
    cancelled: bool = False
    done: bool = True

    async def result(self) -> Transcript:
        return await self.inner.result()

    def cancel(self) -> None:
        self.cancelled = True
        self.inner.cancel()


def frames_of(samples: Samples) -> list[Frame]:
    """Cut into frames; the last one is filled up."""
    framer = Framer()
    return [*framer.push(samples), *framer.flush()]


def verdicts_of(samples: Samples, detector: SpeechDetector | None = None) -> tuple[Verdict, ...]:
    """What a detector makes of them, by default that of the loop."""
    judge = (detector or make_detector()).judge
    return tuple(judge(frame) for frame in frames_of(samples))


def with_room_tone(samples: Samples, turns: Sequence[Span], seconds: float = ROOM_TONE_S) -> Samples:
    """The recording, and behind it noise like its own quiet."""
    start, end = (turns[0][0], turns[-1][1]) if turns else (0.0, 0.0)
    last = min(round(end * SAMPLE_RATE), len(samples))
    quiet = quiet_of(samples, round(start * SAMPLE_RATE), last)
    return np.concatenate([samples, lasting(quiet, round(seconds * SAMPLE_RATE), np.random.default_rng(7))])


def recorded(clip: Clip, detector: SpeechDetector | None = None) -> Recorded:
    """A clip with its room tone."""
    samples = with_room_tone(read_recording(clip.path), clip.turns)
    verdicts = verdicts_of(samples, detector)
    question = question_for(clip.kind)
    return Recorded(clip.id, clip.kind, samples, verdicts, clip.turns, clip.transcript, question)


async def rehear(
    sound: Recorded,
    rule: Rule,
    transcriber: Transcriber,
    settings: Settings,
    *,
    options: Sequence[str] = (),
) -> Reheard:
    """Hear a recording with the loop's own parts, under that rule; in audio time.

    ``options`` are the labels that the question asks to choose from, as a session tells them to the ears.
    Words are known `replay_delay_s` after they were asked for, as in a replay. What Whisper likes to make up
    is looked for by the loop's own rule only: the others leave that to the library.
    """
    watched = _Watched(transcriber)
    hearing = watched.hearing = hearing_of(
        StoredDetector(sound.verdicts), watched, rule, settings, _patience(rule)
    )
    if rule.asks:
        hearing.expect(sound.question, options)
    messages: list[UserMessage] = []
    discarded: list[Discarded] = []
    begun = 0
    frames = iter(frames_of(sound.samples))
    while (frame := next(frames, None)) is not None or hearing.busy:
        for event in await hearing.push(silent_frame() if frame is None else frame):
            match event:
                case UserMessage():
                    messages.append(event)
                case Discarded():
                    discarded.append(event)
                case SpeechStarted():
                    begun += 1
    kept = [(at_s, pending) for at_s, pending in watched.asked if not pending.cancelled]
    sent = tuple([await _sent(message, kept, rule) for message in messages])
    return Reheard(sent, tuple(discarded), begun)


def hearing_of(
    detector: SpeechDetector,
    transcriber: Transcriber,
    rule: Rule,
    settings: Settings,
    patience: Patience | None,
) -> Hearing:
    """The loop's own parts, under that rule, with the detector and the transcriber that are given."""
    hearing, language = settings.hearing, settings.transcription.language
    start = StartRule(hearing.start_threshold, hearing.start_speech_s, hearing.start_within_s)
    end = EndRule(hearing.end_threshold, rule.silence_s, hearing.longest_s, hearing.warn_s)
    # Where no words decide, an early text would only be thrown away: `_sent` reckons with it.
    pieces = replace(rule.pieces, early_s=EARLY_S if rule.early and rule.pieces is not WHOLE else None)
    phantoms = phrases_of(language).get("phantoms", {}).get("texts", ()) if rule.patience else ()
    return Hearing(
        Ear(detector, Endpointer(start, end), pieces),
        transcriber,
        patience=patience,
        transcript_after_s=settings.transcription.replay_delay_s,
        vocabulary=Vocabulary(language=language),
        phantoms=frozenset(phantoms),
    )


def _patience(rule: Rule) -> Patience | None:
    if rule.patience is None:
        return None
    patience = make_patience(rule.patience)
    if rule.words:
        return patience
    asked = ("closed", "begins_closed", "spelled", "several")
    return Patience(patience.rule, Wording(**{name: getattr(patience.wording, name) for name in asked}))


async def _sent(message: UserMessage, kept: Sequence[tuple[float, _Pending]], rule: Rule) -> Sent:
    assert message.heard is not None
    assert message.latency is not None
    decided_at_s = message.heard.end_s + message.latency.endpoint_s
    asked_at_s, pending = [one for one in kept if one[0] <= decided_at_s + FRAME_S / 2][-1]
    if rule.early and rule.pieces is WHOLE:
        asked_at_s = message.heard.end_s + EARLY_S
    return Sent(
        message.text,
        (message.heard.start_s, message.heard.end_s),
        decided_at_s,
        asked_at_s,
        (await pending.result()).compute_s,
        message.confidence or 0.0,
    )
