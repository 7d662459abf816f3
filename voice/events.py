"""What happens, by name: the values that the loop gives out and that screens, logs and tests read.

Times are seconds of audio time: samples heard since the microphone was opened, divided by the rate. No event
carries a wall clock. `as_json` gives the stable machine form; its fields are documented in the README.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal


@dataclass(frozen=True)
class Event:
    """The base of all events."""


Emit = Callable[[Event], None]
"""Takes an event; it must neither raise nor block."""


class EndReason(StrEnum):
    """Why an utterance is over."""

    SILENCE = "silence"
    """The speaker was quiet for the end silence."""
    INPUT_ENDED = "input_ended"
    """The source of the sound ended."""
    CAP = "cap"
    """The utterance reached its greatest length; what follows is a new utterance, nothing is lost."""
    TALKED_OVER = "talked_over"
    """A narration began while somebody was speaking."""
    CUT_OFF = "cut_off"
    """It was ended from outside: something was typed instead, the microphone was lost, Voice switched off."""


class DiscardReason(StrEnum):
    """Why something heard did not become a message."""

    NO_WORDS = "no_words"
    """The transcriber found no words in the sound."""
    PHANTOM = "phantom"
    """The transcriber found words that the sound does not bear out."""
    NOT_TRANSCRIBED = "not_transcribed"
    """The transcriber failed on a part of it. The text is what it made of the others: half a reply may say
    the contrary of the whole, so none of it is delivered."""
    TALKED_OVER = "talked_over"
    """We spoke meanwhile: words of it may be lost, or be our own. Half a reply may say the contrary of the
    whole, so none of it is delivered."""
    ECHO = "echo"
    """The words are those that we had just said."""
    BACKCHANNEL = "backchannel"
    """A sign that somebody listens ("mm-hm"), while we narrate."""
    COMMAND = "command"
    """It was a spoken control."""
    TYPED_INSTEAD = "typed_instead"
    """A typed message was sent before the spoken one was finished."""
    TAKEN_BACK = "taken_back"
    """The speaker took it back before it was sent."""
    CUT_OFF = "cut_off"
    """The microphone was lost, or Voice switched off, before the speaker had finished, or another part of
    what they said in one breath is lost. The text is what was said so far: half a reply may say the contrary
    of the whole, so it is shown and not sent."""
    TOO_EARLY = "too_early"
    """It was said to a structured request, and began before what is asked now was asked: it is no answer to
    that, and what it may have answered is settled. Or it was typed, and would have allowed something risky
    that had not been told whole, or sent answers that had not. Or what it was to answer was settled, or was
    asked aloud no more, in that moment."""
    UNCONFIRMED = "unconfirmed"
    """The agent's program ended after it was given this message, spoken or typed, and before it showed that
    it has it. It may have begun to act on it, so it is not sent again by itself."""
    ASLEEP = "asleep"
    """Listening was paused, and it was not the phrase that wakes it."""


@dataclass(frozen=True)
class SpeechStarted(Event):
    """Somebody began to speak."""

    at_s: float
    """The first frame of speech, a little before the moment of this event."""


@dataclass(frozen=True)
class UtteranceNearCap(Event):
    """The utterance is about to reach its greatest length."""

    at_s: float
    remaining_s: float


@dataclass(frozen=True)
class SpeechEnded(Event):
    """The turn is over."""

    at_s: float
    """The end of the last frame of speech."""
    decided_at_s: float
    reason: EndReason


@dataclass(frozen=True)
class Span:
    """A stretch of audio time."""

    start_s: float
    end_s: float


@dataclass(frozen=True)
class Latency:
    """The parts of the wait between the last sound and the message."""

    endpoint_s: float
    """From the end of the last frame of speech to the decision that the turn is over."""
    transcribe_s: float
    """From the decision to the text: the wait that transcription adds, not its cost."""
    total_s: float


@dataclass(frozen=True)
class UserMessage(Event):
    """An ordinary user message; a host sees nothing but ``text``."""

    text: str
    source: Literal["voice", "keyboard"]
    at_s: float
    heard: Span | None = None
    """Where it was spoken; None for the keyboard."""
    latency: Latency | None = None
    confidence: float | None = None
    """Of a spoken one: the least average log probability of its pieces; nearer to 0 is surer."""
    utterances: tuple[str, ...] = ()
    """What it was made of, by its ids in the journal; empty where there is none."""


@dataclass(frozen=True)
class PartialTranscript(Event):
    """The words so far of an utterance that is not over; nothing is decided by it."""

    text: str
    at_s: float


@dataclass(frozen=True)
class LevelMeasured(Event):
    """How loud the microphone is, about ten times a second: for a meter on a screen."""

    level_dbfs: float
    at_s: float


@dataclass(frozen=True)
class CommandHeard(Event):
    """A spoken control was heard, and is obeyed."""

    command: str
    """The name of a `voice.commands.Command`."""
    phrase: str
    at_s: float


@dataclass(frozen=True)
class Discarded(Event):
    """Something was heard, and is not delivered."""

    reason: DiscardReason
    text: str
    at_s: float
    utterances: tuple[str, ...] = ()
    """What is not delivered with it, by its ids in the journal; empty where there is none."""
    began_s: float | None = field(default=None, compare=False)
    """When the turn began that it was, or that it was a part of; None where it was none."""
    source: Literal["voice", "keyboard"] = "voice"
    """A typed line is told so too where it is no answer to the structured request that it came to."""


@dataclass(frozen=True)
class NoSpeech(Event):
    """A recording has ended and nobody spoke in it."""

    at_s: float


class VoiceState(StrEnum):
    """The five states of autonomous Voice."""

    INACTIVE = "inactive"
    """It does not run; the tools are as they were."""
    STARTING = "starting"
    """The tools are withheld; devices and engines are being opened."""
    ACTIVE = "active"
    """It speaks and listens."""
    DRAINING = "draining"
    """It was stopped; what was said before that is still being delivered."""
    FAILED = "failed"
    """It ended by an error; the tools are as they were, and it can be started again."""


@dataclass(frozen=True)
class VoiceStateChanged(Event):
    """Autonomous Voice went from one state to another."""

    state: VoiceState


@dataclass(frozen=True)
class ToolsChanged(Event):
    """The set of tools that the agent may use is now this one."""

    names: tuple[str, ...]


class Status(StrEnum):
    """What goes on, for a status line: one thing at a time."""

    VOICE_OFF = "voice_off"
    STARTING = "starting"
    LISTENING = "listening"
    HEARING = "hearing"
    """Somebody is speaking."""
    TRANSCRIBING = "transcribing"
    WORKING = "working"
    """The agent is at work; what is said meanwhile is heard all the same."""
    NARRATING = "narrating"
    HELD = "held"
    """Something is being typed, so the microphone is held."""
    ASLEEP = "asleep"
    """Listening is paused until the phrase that wakes it."""
    QUIET = "quiet"
    """Nobody has answered for long: the session waits without asking again."""
    MICROPHONE_LOST = "microphone_lost"


@dataclass(frozen=True)
class StatusChanged(Event):
    """What goes on is now this."""

    status: Status


@dataclass(frozen=True)
class DevicesInUse(Event):
    """Which microphone and which speaker Voice uses; both empty when it is off."""

    microphone: str
    speaker: str


@dataclass(frozen=True)
class FramesLost(Event):
    """The microphone gave sound that was not taken: nobody has heard what was said in it."""

    frames: int
    """How many, of 20 ms each, since the last time that this was told."""


@dataclass(frozen=True)
class MessageQueued(Event):
    """A message waits until the agent has finished."""

    text: str


@dataclass(frozen=True)
class MessageSent(Event):
    """The agent has accepted a message."""

    text: str


@dataclass(frozen=True)
class MessageReopened(Event):
    """The speaker of a message went on: the `UserMessage` that follows holds it, and what was added."""

    text: str
    """Of the message that is replaced."""
    sent: bool
    """Whether the agent had got it: then it is interrupted."""


@dataclass(frozen=True)
class MessageTakenBack(Event):
    """A message that waited was taken out again, and the agent does not get it; a `Discarded` follows."""

    text: str
    added: bool
    """Whether it held an earlier message that the agent got: what it added to that is taken back."""


@dataclass(frozen=True)
class MessageDelivered(Event):
    """How long a spoken message took, from the last sound to the agent; comes after its `MessageSent`."""

    latency: Latency
    deliver_s: float
    """From the text to the agent's acceptance; where it ``waited`` for the agent, that is most of it."""
    waited: bool

    @property
    def total_s(self) -> float:
        """From the last sound to the agent's acceptance."""
        return self.latency.total_s + self.deliver_s


@dataclass(frozen=True)
class AgentStarted(Event):
    """The agent began to work on a turn."""


@dataclass(frozen=True)
class AgentEnded(Event):
    """The agent has finished a turn: it is the user's."""

    error: str = ""
    """A sentence, where the turn ended by an error; empty where `HostLost` says why."""


@dataclass(frozen=True)
class HostLost(Event):
    """The agent's program has ended, hangs or broke its protocol, and with it its turn, wordlessly."""

    sentence: str


@dataclass(frozen=True)
class AssistantDelta(Event):
    """A further part of what the agent is writing; an `AssistantText` with the whole follows."""

    text: str


@dataclass(frozen=True)
class AssistantText(Event):
    """The agent wrote this for the user, whole."""

    text: str


@dataclass(frozen=True)
class ToolCalled(Event):
    """The agent called a tool, and this came back."""

    name: str
    text: str
    is_error: bool


@dataclass(frozen=True)
class NarrationStarted(Event):
    """A text is about to be spoken; ``text`` is as the agent wrote it."""

    text: str


class NarrationEnding(StrEnum):
    """How a narration ended."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    SUPERSEDED = "superseded"
    FAILED = "failed"


@dataclass(frozen=True)
class NarrationEnded(Event):
    """A narration is over."""

    text: str
    ending: NarrationEnding
    played_s: float
    """Seconds of sound that were played."""
    notice: str = ""
    """Why it failed, in words for a person."""


@dataclass(frozen=True)
class Notice(Event):
    """One sentence that the person should see: a part is missing, a device is gone."""

    sentence: str


def event_name(event: Event) -> str:
    """The name of an event in machine output: ``SpeechStarted`` is ``speech_started``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()


def as_json(event: Event) -> dict[str, Any]:
    """An event as a JSON object: ``event`` is its name, seconds are rounded to the millisecond.

    Ids of the journal are left out, and which turn it was: they mean nothing elsewhere.
    """
    fields = {name: value for name, value in asdict(event).items() if name not in INSIDE}
    return {"event": event_name(event), **_rounded(fields)}


INSIDE = {"utterances", "began_s"}
"""Fields that mean nothing elsewhere."""


def _rounded(fields: Mapping[str, Any]) -> dict[str, Any]:
    def shown(value: Any) -> Any:
        if isinstance(value, float):
            return round(value, 3)
        return _rounded(value) if isinstance(value, Mapping) else value

    return {name: shown(value) for name, value in fields.items()}
