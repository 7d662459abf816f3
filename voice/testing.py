"""Doubles of the ports, for tests of everything that stands on them.

A double is given its lines, records what it was asked, and complains by raising `Misuse` when it is used in
a way that the port forbids. None of them reads a clock: a test says when time passes.
"""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import anyio
import anyio.lowlevel
import numpy as np

from voice.audio import FRAME_S, FRAME_SAMPLES, SAMPLE_RATE, Frame, Samples, Sound, level_dbfs, silent_frame
from voice.autonomous import Parts
from voice.ears import Ears
from voice.errors import HostDied, HostError, TranscriberError
from voice.events import (
    AgentEnded,
    AgentStarted,
    AssistantDelta,
    AssistantText,
    DiscardReason,
    Emit,
    HostLost,
)
from voice.floor import Duplex
from voice.listening.patience import Patience
from voice.listening.pieces import PieceRule
from voice.listening.utterances import Ear
from voice.loop import Hearing
from voice.ports import KEPT_REASONS, Delivery, Journal, Transcript, Verdict
from voice.speaking.earcons import Earcon
from voice.speaking.narrator import Narrator


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

    async def render(self, sentence: str, *, rate: float = 1.0) -> Sound:
        """A `Sound` of silence; complains of what a real engine should never be given."""
        if self._busy:
            raise Misuse(f"{sentence!r} was to be rendered while another sentence still was")
        if not 1 <= len(sentence) <= 2_000:
            raise Misuse(f"a sentence of {len(sentence)} characters")
        if any(unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in sentence):
            raise Misuse(f"control characters in {sentence!r}")
        if not 0.5 <= rate <= 3:
            raise Misuse(f"a rate of {rate}")
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
        return Sound(np.zeros(round(self._samples(sentence) / rate), np.int16), self._rate)

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


# --- Listening --------------------------------------------------------------------------------------------


class ScriptedTranscriber:
    """A `Transcriber` that is given its lines; each is a text, a `Transcript` or an error to raise.

    As a context manager it complains of lines that nobody asked for. `hold` makes texts wait until `release`.
    """

    def __init__(self, *lines: str | Transcript | TranscriberError) -> None:
        self.asked: list[Samples] = []
        """Every piece that was submitted, in order."""
        self.vocabularies: list[tuple[str, ...]] = []
        """The names that came with each of them."""
        self._lines = deque(lines)
        self._gate = _Gate()

    def hold(self) -> None:
        """From now on no text is there before `release`."""
        self._gate.close()

    def release(self) -> None:
        """Let held texts be there."""
        self._gate.open()

    def submit(self, samples: Samples, *, vocabulary: Sequence[str] = ()) -> _ScriptedTranscript:
        """Take a piece; its text is the next line."""
        if not self._lines:
            raise Misuse(f"piece {len(self.asked) + 1} was submitted, and there is no line for it")
        if not 0 < len(samples) <= 30 * SAMPLE_RATE:
            raise Misuse(f"a piece of {len(samples)} samples")
        self.asked.append(samples)
        self.vocabularies.append(tuple(vocabulary))
        line = self._lines.popleft()
        return _ScriptedTranscript(Transcript(line) if isinstance(line, str) else line, self._gate)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None and self._lines:
            raise Misuse(f"{len(self._lines)} lines were never asked for: {list(self._lines)}")


class _ScriptedTranscript:
    def __init__(self, line: Transcript | TranscriberError, gate: _Gate) -> None:
        self.cancelled = False
        self._line = line
        self._gate = gate

    @property
    def done(self) -> bool:
        return not self._gate.closed

    async def result(self) -> Transcript:
        await self._gate.wait()
        if isinstance(self._line, TranscriberError):
            raise self._line
        return self._line

    def cancel(self) -> None:
        self.cancelled = True


class LevelDetector:
    """A `SpeechDetector` that takes every frame louder than a threshold for speech."""

    def __init__(self, threshold_dbfs: float = -50.0) -> None:
        self._threshold_dbfs = threshold_dbfs

    def judge(self, frame: Frame) -> Verdict:
        """Speech or not, by the level of this frame alone."""
        level = level_dbfs(frame)
        return Verdict(1.0 if level > self._threshold_dbfs else 0.0, level)

    def reset(self) -> None:
        """It remembers nothing."""


def spoken_frame() -> Frame:
    """A frame that a `LevelDetector` takes for speech: a tone at -12 dBFS."""
    return np.tile(np.array([8_000, -8_000], np.int16), FRAME_SAMPLES // 2)


class ScriptedMicrophone:
    """A live `Microphone` that gives the frames it is fed, in no time, and then waits for more.

    `end` ends them; `fail` raises an error among them, once.
    """

    name = "scripted microphone"
    live = True

    def __init__(self) -> None:
        self.opened = 0
        """How often it was opened."""
        self.open_now = False
        self._frames: deque[Frame | Exception | None] = deque()
        self._fed = anyio.Event()

    def feed(self, seconds: float, *, spoken: bool) -> None:
        """So much speech (a tone), or silence."""
        self._put(*([spoken_frame() if spoken else silent_frame()] * round(seconds / FRAME_S)))

    def end(self) -> None:
        """No frame follows those that were fed."""
        self._put(None)

    def fail(self, error: Exception) -> None:
        """The source fails when it has given what was fed."""
        self._put(error)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[AsyncIterator[Frame]]:
        """Open it; complains when it is open."""
        if self.open_now:
            raise Misuse("the microphone was opened while it was open")
        self.open_now = True
        self.opened += 1
        try:
            async with aclosing(self._heard()) as frames:
                yield frames
        finally:
            self.open_now = False

    async def drained(self) -> None:
        """Wait until all that was fed has been heard."""
        while self._frames:
            await anyio.lowlevel.checkpoint()
        for _ in range(3):
            await anyio.lowlevel.checkpoint()

    async def _heard(self) -> AsyncGenerator[Frame]:
        while True:
            while self._frames:
                match self._frames.popleft():
                    case None:
                        return
                    case Exception() as error:
                        raise error
                    case frame:
                        yield frame
                await anyio.lowlevel.checkpoint()
            self._fed = anyio.Event()
            await self._fed.wait()

    def _put(self, *frames: Frame | Exception | None) -> None:
        self._frames.extend(frames)
        self._fed.set()


# --- The journal ------------------------------------------------------------------------------------------


@dataclass
class ScriptedEntry:
    """What a `ScriptedJournal` keeps of one utterance or typed message."""

    typed: bool = False
    samples: list[Samples] = field(default_factory=list)
    text: str = ""
    decided: bool = False
    reason: DiscardReason | None = None
    """Why it is not sent, None where it is on its way."""

    @property
    def seconds(self) -> float:
        """How much sound there is of it."""
        return sum(map(len, self.samples)) / SAMPLE_RATE


class ScriptedJournal:
    """A `Journal` in memory. It complains of ids that it never gave, and of sound that comes too late.

    `hold` has `written` wait until `release`: what was given meanwhile is not `on_disk`.
    """

    def __init__(self) -> None:
        self.entries: dict[str, ScriptedEntry] = {}
        """What is kept, by id: what would be offered after a crash now."""
        self.forgotten: dict[str, DiscardReason | None] = {}
        """Why what was kept is not any more; None: the host has it."""
        self.fails = False
        """Whether it says that the disk takes nothing."""
        self._gate = _Gate()

    def hold(self) -> None:
        """From now on nothing is written before `release`."""
        self._gate.close()

    def release(self) -> None:
        """Let everything be written."""
        self._gate.open()

    def begin(self, samples: Samples) -> str:
        """Begin an utterance, which has sound from its first moment."""
        if not len(samples):
            raise Misuse("an utterance was begun without sound")
        return self._add(ScriptedEntry(samples=[samples]))

    def append(self, utterance: str, samples: Samples) -> None:
        """Keep more of an utterance, unless it is decided; a typed message has no sound."""
        entry = self._known(utterance)
        if entry is not None and entry.typed:
            raise Misuse(f"{utterance} is typed, and was given sound")
        if entry is not None and not entry.decided:
            entry.samples.append(samples)

    async def written(self) -> None:
        """Wait until it is released."""
        await anyio.lowlevel.checkpoint()
        await self._gate.wait()

    def typed(self, text: str) -> str:
        """Keep a typed message; complains of a blank one."""
        if not text.strip():
            raise Misuse("a blank message was kept")
        return self._add(ScriptedEntry(typed=True, text=text, decided=True))

    def decided(self, utterances: Sequence[str], text: str, reason: DiscardReason | None = None) -> None:
        """Take note of a message on its way, or of what is none."""
        for utterance in utterances:
            entry = self._known(utterance)
            if entry is None:
                continue
            if reason is not None and reason not in KEPT_REASONS:
                self._forget(utterance, reason)
            else:
                entry.text = text if len(utterances) == 1 else entry.text
                entry.reason, entry.decided = reason, True

    def accepted(self, utterances: Sequence[str]) -> None:
        """Forget what the host has; complains where nobody had said that it is a message."""
        for utterance in utterances:
            entry = self._known(utterance)
            if entry is None:
                continue
            if not entry.decided:
                raise Misuse(f"{utterance} was accepted before it was decided")
            self._forget(utterance, None)

    def _add(self, entry: ScriptedEntry) -> str:
        name = f"j-{len(self.entries) + len(self.forgotten) + 1}"
        self.entries[name] = entry
        return name

    def _known(self, utterance: str) -> ScriptedEntry | None:
        if utterance not in self.entries and utterance not in self.forgotten:
            raise Misuse(f"{utterance} was never begun")
        return self.entries.get(utterance)

    def _forget(self, utterance: str, reason: DiscardReason | None) -> None:
        del self.entries[utterance]
        self.forgotten[utterance] = reason


# --- The agent --------------------------------------------------------------------------------------------


class ScriptedHost:
    """A `Host` whose agent does what the test says.

    A message to an idle agent begins a turn, which `end` ends; with ``busy_after_send`` false every turn is
    over when its message is accepted. `hold` makes sending wait until `release`, `refuse` has the next one
    fail, and `die` loses the program until it is opened again. It complains of what a session must not do.
    """

    name = "the scripted agent"

    def __init__(self, emit: Emit | None = None, *, busy_after_send: bool = True) -> None:
        self.sent: list[tuple[str, Delivery]] = []
        """What was accepted, in order, with what it was to do to the turn that it met."""
        self.opened = 0
        """How often it was opened."""
        self.open_now = False
        self.interrupted = 0
        """How often a turn was interrupted."""
        self.busy = False
        self._emit = emit or (lambda _event: None)
        self._busy_after_send = busy_after_send
        self._refusal: HostError | None = None
        self._opening_fails: HostError | None = None
        self._gate = _Gate()
        self._dead = False

    def hold(self) -> None:
        """From now on no message is accepted before `release`."""
        self._gate.close()

    def release(self) -> None:
        """Let held messages be accepted."""
        self._gate.open()

    def refuse(self, error: HostError) -> None:
        """The next message is not accepted."""
        self._refusal = error

    def fail_to_open(self, error: HostError) -> None:
        """The next time it cannot be opened."""
        self._opening_fails = error

    def begin(self) -> None:
        """The agent begins a turn of its own accord, or by the message that was accepted."""
        if not self.busy:
            self.busy = True
            self._emit(AgentStarted())

    def end(self, error: str = "") -> None:
        """The agent's turn ends."""
        if self.busy:
            self.busy = False
            self._emit(AgentEnded(error))

    def write(self, text: str, *, parts: int = 1) -> None:
        """The agent writes a text, in so many parts and then whole."""
        size = -(-len(text) // parts)
        for start in range(0, len(text), size):
            self._emit(AssistantDelta(text[start : start + size]))
        self._emit(AssistantText(text))

    def die(self, sentence: str = "The agent has ended.") -> None:
        """The program ends; what is sent to it is refused until it is opened anew."""
        self._dead, self.busy = True, False
        self._emit(HostLost(sentence))

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Start it; complains when it runs."""
        if self.open_now:
            raise Misuse("the host was opened while it was open")
        error, self._opening_fails = self._opening_fails, None
        if error is not None:
            raise error
        self.open_now, self._dead = True, False
        self.opened += 1
        try:
            yield
        finally:
            self.open_now = self.busy = False

    async def send(self, text: str, delivery: Delivery = Delivery.FOLLOW_UP) -> None:
        """Accept a message, as the test wants; complains of a blank one and of one before it was opened."""
        if not self.open_now:
            raise Misuse(f"{text!r} was sent to a host that is not open")
        if not text.strip():
            raise Misuse("a message of white space alone was sent")
        await anyio.lowlevel.checkpoint()
        await self._gate.wait()
        error, self._refusal = self._refusal, None
        if error is not None:
            raise error
        if self._dead:
            raise HostDied("The agent has ended.")
        if delivery is Delivery.INTERRUPT:
            self.end()
        self.sent.append((text, delivery))
        self.begin()
        if not self._busy_after_send:
            self.end()

    async def interrupt(self) -> None:
        """End the present turn."""
        await anyio.lowlevel.checkpoint()
        if self.busy:
            self.interrupted += 1
            self.end()


# --- All of it --------------------------------------------------------------------------------------------


class ScriptedParts:
    """What Voice hears and speaks with, made of doubles; `open` is what a `Chat` takes as ``open_parts``.

    ``lines`` are what the transcriber makes of one piece of speech after the other.
    """

    def __init__(
        self,
        *lines: str | Transcript | TranscriberError,
        duplex: Duplex = Duplex.HALF,
        failures: Mapping[str, Exception] | None = None,
        earcons: Collection[Earcon] = (),
    ) -> None:
        self.microphone = ScriptedMicrophone()
        self.engine = ScriptedEngine(failures=failures)
        self.speaker = ScriptedSpeaker()
        self.transcriber = ScriptedTranscriber(*lines)
        self.opened = 0
        """How often they were opened."""
        self.opening_fails: Exception | None = None
        """What opening raises."""
        self.transcript_after_s: float | None = 0.3
        """The audio time that a transcription takes; None: a text is there when the transcriber has it."""
        self.longest_sentences: int | None = None
        """Of what the agent writes so many sentences are spoken; None: all."""
        self.journal: Journal | None = None
        """Where what is heard is kept; a `Chat` is to be given the same."""
        self.patience: Patience | None = None
        """How long a silence ends a turn, by its words, which are then transcribed in pauses; None: a fixed
        time."""
        self._duplex = duplex
        self._earcons = earcons

    def say(self, seconds: float = 0.5, silence: float = 2.5) -> None:
        """Somebody speaks for so long, and is silent for so long."""
        self.microphone.feed(seconds, spoken=True)
        self.microphone.feed(silence, spoken=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Parts]:
        """Open them, with ears that are new."""
        if self.opening_fails is not None:
            raise self.opening_fails
        self.opened += 1
        ear = Ear(LevelDetector(), rule=PieceRule(early_s=0.2 if self.patience is not None else None))
        hearing = Hearing(
            ear,
            self.transcriber,
            patience=self.patience,
            transcript_after_s=self.transcript_after_s,
            partials=True,
            journal=self.journal,
        )
        canceller = _NoEcho() if self._duplex is Duplex.CANCELLED else None
        ears = Ears(hearing, duplex=self._duplex, canceller=canceller)
        if self._duplex is not Duplex.HALF:
            ears.plays_nothing()  # its speaker cannot be heard by its microphone
        narrator = Narrator(
            self.engine, self.speaker, longest_sentences=self.longest_sentences, earcons=self._earcons
        )
        yield Parts(self.microphone, ears, narrator, self.speaker.name)


class _NoEcho:
    """An `EchoCanceller` for a room without echo."""

    def cancel(self, near: Frame, far: Frame) -> Frame:  # noqa: ARG002 — nothing of it is in the other
        return near
