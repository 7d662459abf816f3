"""What both benchmarks do: hear a sound through the loop and as a whole, and say under what conditions."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from corpus import Span
from turn_counts import Ended
from words import Comparison

from voice.assembly import find_weights
from voice.audio import SAMPLE_RATE, Frame, Framer, Samples
from voice.backends.whisper import COMPUTE_TYPE
from voice.backends.whisper_child import TIMESTAMPS_FROM_S
from voice.events import Discarded, SpeechEnded, UserMessage
from voice.ports import Microphone, PendingTranscript, Transcriber, Transcript
from voice.replay import replay
from voice.settings import Settings

WINDOW_S = 30
"""What Whisper hears at a time. Without timestamps it goes through a longer recording in steps of this."""


class SamplesMicrophone:
    """A `voice.ports.Microphone` that hears samples."""

    name = "samples"
    live = False

    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[Frame]]:
        """Open it; never raises."""
        yield self._frames()

    async def _frames(self) -> AsyncIterator[Frame]:
        framer = Framer()
        for frame in framer.push(self._samples):
            yield frame
        for frame in framer.flush():
            yield frame


@dataclass
class WatchedTranscriber:
    """A `voice.ports.Transcriber` that remembers what another one was asked."""

    inner: Transcriber
    asked: list[tuple[Samples, PendingTranscript]] = field(default_factory=list)

    def submit(self, samples: Samples, *, vocabulary: Sequence[str] = ()) -> PendingTranscript:
        """Pass it on."""
        pending = self.inner.submit(samples, vocabulary=vocabulary)
        self.asked.append((samples, pending))
        return pending


@dataclass(frozen=True)
class Piece:
    """What Whisper was given at a time, and what it made of it."""

    length_s: float
    transcript: Transcript


@dataclass(frozen=True)
class Outcome:
    """What became of a sound."""

    texts: list[str]
    heard: list[Span]
    """Where each message was spoken; as many as ``texts``, or none."""
    ends: list[Ended]
    discarded: list[Discarded]
    pieces: list[Piece]
    wall_s: float

    @property
    def text(self) -> str:
        """All messages as one text."""
        return " ".join(self.texts)

    @property
    def whisper_s(self) -> float:
        """How much of the time was Whisper's."""
        return sum(piece.transcript.compute_s for piece in self.pieces)


async def through_loop(microphone: Microphone, transcriber: Transcriber, settings: Settings) -> Outcome:
    """Hear it as the loop does, in a replay."""
    watched = WatchedTranscriber(transcriber)
    messages: list[UserMessage] = []
    ends: list[Ended] = []
    discarded: list[Discarded] = []
    began = time.perf_counter()
    async with aclosing(replay(microphone, watched, settings)) as events:
        async for event in events:
            match event:
                case UserMessage():
                    messages.append(event)
                case SpeechEnded(at_s, decided_at_s, _):
                    ends.append(Ended(at_s, decided_at_s))
                case Discarded():
                    discarded.append(event)
    wall_s = time.perf_counter() - began
    # What was begun in a pause and taken back may never have been transcribed: nobody may wait for it.
    made = [(samples, pending) for samples, pending in watched.asked if pending.done]
    pieces = [Piece(len(samples) / SAMPLE_RATE, await pending.result()) for samples, pending in made]
    heard = [(message.heard.start_s, message.heard.end_s) for message in messages if message.heard]
    return Outcome([message.text for message in messages], heard, ends, discarded, pieces, wall_s)


async def as_a_whole(samples: Samples, transcriber: Transcriber) -> Outcome:
    """Give the transcriber all of it at once: no detector, no judgement, no cut but Whisper's own window."""
    began = time.perf_counter()
    window = WINDOW_S * SAMPLE_RATE
    pieces: list[Piece] = []
    for start in range(0, len(samples), window):
        part = samples[start : start + window]
        pieces.append(Piece(len(part) / SAMPLE_RATE, await transcriber.submit(part).result()))
    texts = [piece.transcript.text for piece in pieces if piece.transcript.text]
    return Outcome(texts, [], [], [], pieces, time.perf_counter() - began)


def conditions(settings: Settings) -> list[str]:
    """What a reader must know to compare figures, as Markdown lines."""
    packages = ["viva-voce", "faster-whisper", "ctranslate2", "onnxruntime", "webrtcvad-wheels", "numpy"]
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages)
    hearing, transcription = settings.hearing, settings.transcription
    with (find_weights(transcription) / "model.bin").open("rb") as weights:
        digest = hashlib.file_digest(weights, "sha256").hexdigest()
    machine = f"Python {platform.python_version()}, {platform.machine()}"
    whisper = (
        f"Whisper {model_name(settings)} ({COMPUTE_TYPE}, `model.bin` sha256 {digest[:16]}…),"
        f" language {transcription.language}, beam 1, timestamps from pieces of {TIMESTAMPS_FROM_S:g} s"
    )
    turns = (
        f"A turn begins with {hearing.start_speech_s * 1000:g} ms of speech"
        f" and ends after {hearing.end_silence_s:g} s of silence"
        f" ({hearing.closed_silence_s:g} s after a short answer to a question that has a closed one,"
        f" {hearing.unfinished_silence_s:g} s after words that want more)"
    )
    return [f"* {datetime.now(UTC):%Y-%m-%d}; {machine}; {versions}.", f"* {whisper}.", f"* {turns}."]


def model_name(settings: Settings) -> str:
    """What a page calls the model: its size, or the name of its folder."""
    return Path(settings.transcription.model).name


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table; all columns but the first are aligned right."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return [f"| {' | '.join(row)} |" for row in (header, rule, *rows)]


def percent(rate: float) -> str:
    """``12.3``."""
    return f"{100 * rate:.1f}"


def interval(bounds: Span) -> str:
    """``1.2 to 3.4``."""
    return f"{100 * bounds[0]:.1f} to {100 * bounds[1]:.1f}"


def points(compared: Comparison) -> str:
    """A difference and its interval."""
    low, high = compared.difference_interval
    return f"{100 * compared.difference:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"


def progress(text: str) -> None:
    """Say on standard error how far it is."""
    end = "" if sys.stderr.isatty() else "\n"
    print(f"\r\033[K{text}" if sys.stderr.isatty() else text, end=end, file=sys.stderr, flush=True)


def joined(parts: Sequence[Samples]) -> Samples:
    """One after another."""
    return np.concatenate(parts)
