"""The ports: what the loop needs from the outside, as narrow as can be.

Each is implemented in ``voice.backends`` (one outside library a file) or ``voice.hosts``, and doubled in
``voice.testing``. Errors named here are the only ones that an implementation lets out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from voice.audio import Frame, Samples, Sound
from voice.events import DiscardReason


class Microphone(Protocol):
    """A source of sound: a device, a recording, raw samples on standard input."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    @property
    def live(self) -> bool:
        """True where sound comes whether anyone listens or not; a recording waits for its listener."""
        ...

    def open(self) -> AbstractAsyncContextManager[AsyncIterator[Frame]]:
        """Open it; the frames end when the source does.

        Raises `RecordingError` or `DeviceError` on opening or later, among the frames.
        """
        ...


@runtime_checkable
class Lossy(Protocol):
    """A microphone whose sound does not wait for ever."""

    @property
    def lost_frames(self) -> int:
        """How many frames were lost since it was made."""
        ...


@runtime_checkable
class Changeable(Protocol):
    """A microphone or a speaker that can be another device from now on, also while it is open."""

    def use(self, device: str | None) -> None:
        """Be the device of this name, None for the system's default."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a detector makes of one frame."""

    probability: float
    """That the frame holds speech, 0 to 1."""
    level_dbfs: float
    """How loud it is."""


class SpeechDetector(Protocol):
    """Tells speech from everything else, frame by frame; keeps state between frames."""

    def judge(self, frame: Frame) -> Verdict:
        """The verdict on the next frame of the stream."""
        ...

    def reset(self) -> None:
        """Forget the stream so far: the next frame does not follow the last one."""
        ...


@dataclass(frozen=True)
class Transcript:
    """What a transcriber made of a piece of speech."""

    text: str
    no_speech_probability: float = 0.0
    """Whisper's own estimate that there was no speech, 0 to 1."""
    average_log_probability: float = 0.0
    """Of the tokens; nearer to 0 is surer."""
    compression_ratio: float = 1.0
    """Of the text under zlib; high for text that repeats itself."""
    ran_on: bool = False
    """Whether it came to no end by itself, and was stopped at more words than anybody says in that time."""
    compute_s: float = 0.0
    """How long the engine worked, in seconds."""


class PendingTranscript(Protocol):
    """A transcription that was asked for."""

    @property
    def done(self) -> bool:
        """Whether `result` would return or raise at once."""
        ...

    async def result(self) -> Transcript:
        """Wait for the transcript.

        Raises `TranscriberError` when it cannot be had; the sound is still the caller's.
        """
        ...

    def cancel(self) -> None:
        """Say that nobody wants it any more; work not yet begun is never begun."""
        ...


class Transcriber(Protocol):
    """Turns pieces of speech into text, in the order in which they were asked for."""

    def submit(self, samples: Samples, *, vocabulary: Sequence[str] = ()) -> PendingTranscript:
        """Ask for the text of up to 30 s of sound at SAMPLE_RATE; returns at once, never raises.

        ``vocabulary`` are names that are likely in it, at most those of `voice.listening.vocabulary.capped`.
        """
        ...


class SpeechEngine(Protocol):
    """Turns text into sound; it never plays it."""

    async def render(self, sentence: str, *, rate: float = 1.0) -> Sound:
        """The sound of one sentence, at most 2,000 characters of speakable text.

        ``rate`` is a factor of the normal speed, 0.5 to 3; the pitch stays. Raises `SpeechEngineError`. When
        cancelled it leaves the engine fit for the next call.
        """
        ...


class Speaker(Protocol):
    """Plays sound, knows how much of it has been heard, and stops when told."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    @property
    def played_s(self) -> float:
        """Seconds of the present (or else the last) sound that have been heard."""
        ...

    async def play(self, sound: Sound) -> None:
        """Play it to its end: returns when the last sample has been heard.

        When cancelled, it is silent within 200 ms and `played_s` says how far it came. Raises `DeviceError`.
        """
        ...


class Journal(Protocol):
    """Where what a person says and types is kept until the host has accepted it.

    Each utterance and each typed message is an entry with an id. What nobody has decided, or what was decided
    for one of `KEPT_REASONS`, stays when a session ends, however it ends, and is offered by the next one.
    All methods return at once (but `written`) and never raise: a journal that cannot be written tells so by
    itself, once. An id whose entry is forgotten already is no error, in any of them.
    """

    def begin(self, samples: Samples) -> str:
        """Begin an utterance with what was heard of it so far, at SAMPLE_RATE; returns its id."""
        ...

    def append(self, utterance: str, samples: Samples) -> None:
        """Keep what was heard next of it; of one that is decided nothing more is kept."""
        ...

    async def written(self) -> None:
        """Wait until all that was given is where a crash does not reach it; half a second at most."""
        ...

    def typed(self, text: str) -> str:
        """Keep a typed message that is to be sent; returns its id."""
        ...

    def decided(self, utterances: Sequence[str], text: str, reason: DiscardReason | None = None) -> None:
        """Say what became of them: a message on its way to the host, or no message, for this reason.

        Where that is none of `KEPT_REASONS` they are forgotten. Of several ``text`` is what was made of them
        together: each keeps the words that it was decided with before.
        """
        ...

    @property
    def fails(self) -> bool:
        """Whether the disk did not take what it was given last, or does not answer."""
        ...

    def accepted(self, utterances: Sequence[str]) -> None:
        """Say that the host has the message that was made of them: they are forgotten."""
        ...


KEPT_REASONS = frozenset(
    {
        DiscardReason.NOT_TRANSCRIBED,
        DiscardReason.CUT_OFF,
        DiscardReason.TALKED_OVER,
        DiscardReason.UNCONFIRMED,
    }
)
"""Why something is not sent that may be what a person wanted to say, and said in vain."""


class EchoCanceller(Protocol):
    """Takes our own voice out of what the microphone hears."""

    def cancel(self, near: Frame, far: Frame) -> Frame:
        """The microphone's frame without the speaker's.

        ``far`` is what the speaker played at that time, silence where it played nothing; every frame of the
        stream must be given, in order. The delay between the two is the canceller's to find.
        """
        ...


class Delivery(StrEnum):
    """What a message that comes while the agent works does to that work."""

    FOLLOW_UP = "follow_up"
    """It waits until the agent has finished."""
    STEER = "steer"
    """The agent reads it at its next step."""
    INTERRUPT = "interrupt"
    """The agent stops what it is at, and then reads it."""


class Host(Protocol):
    """An agent's program, as the session sees it.

    What the agent does it tells as events, to the `Emit` that it was made with: `AgentStarted` and
    `AgentEnded` around each of its turns, `AssistantDelta` and `AssistantText` for what it writes,
    `ToolCalled`, `HostLost`. Where the program is lost in a turn, that turn ends too, and `HostLost` alone
    carries the sentence: both are shown and spoken.
    """

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    @property
    def busy(self) -> bool:
        """Whether the agent is at work on a turn."""
        ...

    def open(self) -> AbstractAsyncContextManager[None]:
        """Start the agent's program; on leaving it is ended, with whatever it had open.

        Raises `HostError` where it cannot be started. One that dies later emits `HostLost`.
        """
        ...

    async def send(self, text: str, delivery: Delivery = Delivery.FOLLOW_UP) -> None:
        """Hand over one ordinary user message; returns when the host has accepted it.

        ``delivery`` says what it does where the agent is busy; an idle agent begins a turn with it. A text
        that begins with ``/`` runs no command. Raises `HostError` where it was not accepted.
        """
        ...

    async def interrupt(self) -> None:
        """Have the agent stop what it is at; nothing where it is idle. Raises `HostError`."""
        ...


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """A message that a host was given, and of which its agent has shown no sign."""

    text: str
    written: bool = True
    """Whether it went to the agent's program; else the host has it still, and gives it to the next one."""


@runtime_checkable
class Confirming(Protocol):
    """A host that knows more of a message than that its program was given it.

    Until the agent shows a sign of a message that was accepted, it counts as on its way. Where the program is
    lost before, one that was written to it is in doubt: the person is told, and it is not sent again by
    itself, since the agent may have begun to act on it.
    """

    @property
    def unconfirmed(self) -> tuple[Unconfirmed, ...]:
        """Those without a sign, the oldest first; of a program that was lost until the next one is opened.

        One whose sending failed is among them where it was written. What changes it is followed by an event
        of the host's, or by the end of `send`.
        """
        ...
