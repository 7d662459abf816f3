"""What a scene says: the models of its fields, frozen and checked. Pure.

`voice.scenes.reading` makes them of a file; what the fields mean stands in `voice.scenes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from voice.events import DiscardReason, Status
from voice.scenes.patterns import fits, misfit
from voice.settings import Settings

Seconds = Annotated[float, Field(ge=0, le=36_000, allow_inf_nan=False)]
Level = Annotated[float, Field(ge=-96, le=0)]
"""dBFS."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)


class _OneOf(_Model):
    """A thing of which exactly one kind of doing is said."""

    DOINGS: ClassVar[tuple[str, ...]] = ()
    BELONGS: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Fields that say more about some doings, and nothing about the others."""

    @property
    def doing(self) -> str:
        """The field that says what is done."""
        return next(name for name in self.DOINGS if name in self.model_fields_set)

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        said = [name for name in self.DOINGS if name in self.model_fields_set]
        if len(said) != 1:
            what = f"{' and '.join(said)} stand in one" if said else "nothing is said to be done"
            raise ValueError(f"{what}; say one of {', '.join(self.DOINGS)}")
        if getattr(self, said[0]) is None:
            raise ValueError(f"{said[0]!r} has no value")
        for name in self.BELONGS:
            if name in self.model_fields_set and said[0] not in self.BELONGS[name]:
                raise ValueError(f"{name} belongs to {' or '.join(self.BELONGS[name])}")
        return self


class EventPattern(_Model):
    """An event, by its name, with the fields that it must have."""

    model_config = ConfigDict(frozen=True, extra="allow")

    event: str

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: object) -> object:
        return {"event": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _can_come(self) -> Self:
        if wrong := misfit(self.event, self.fields):
            raise ValueError(wrong)
        return self

    @property
    def fields(self) -> Mapping[str, Any]:
        """What its other fields must be."""
        return self.model_extra or {}

    def fits(self, event: Mapping[str, Any]) -> bool:
        """Whether an event, as `as_json` gives it, is one of these; a text may be a part of the field."""
        return event["event"] == self.event and all(
            fits(wanted, event.get(name)) for name, wanted in self.fields.items()
        )

    def __str__(self) -> str:
        fields = "".join(f" {name}={value!r}" for name, value in self.fields.items())
        return f"{self.event}{fields}"


class Part(StrEnum):
    """What can be at fault."""

    TRANSCRIBER = "transcriber"
    ENGINE = "engine"
    MICROPHONE = "microphone"
    SPEAKER = "speaker"
    HOST = "host"
    JOURNAL = "journal"


class Fault(_Model):
    """A part that fails, as those of `voice.faulty` do."""

    part: Part
    kind: Literal["dies", "hangs", "errors", "slow"]
    """It is gone; gives no answer and no error; answers with errors; or does everything late."""
    seconds: Seconds | None = None
    """For so long; None: to the end."""


class Noise(_Model):
    """A sound that nobody speaks."""

    kind: Literal["white", "pink", "tone", "hum", "clicks", "silence"]
    dbfs: Level = -40.0
    """RMS; of clicks the peak."""
    seconds: Annotated[float, Field(gt=0, le=3_600)] = 1.0
    hertz: Annotated[float, Field(gt=0, lt=8_000)] = 440.0
    """Of a tone."""

    @model_validator(mode="before")
    @classmethod
    def _of_its_kind(cls, value: object) -> object:
        return {"kind": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _has_a_pitch(self) -> Self:
        if self.kind != "tone" and "hertz" in self.model_fields_set:
            raise ValueError("hertz belongs to tone")
        return self


class Understood(_Model):
    """How sure the transcriber is of the words that a scene gives it."""

    no_speech_probability: Annotated[float, Field(ge=0, le=1)] = 0.0
    average_log_probability: Annotated[float, Field(le=0)] = 0.0
    compression_ratio: Annotated[float, Field(gt=0)] = 1.0
    ran_on: bool = False


class Happening(_OneOf):
    """Something that a person, a room or a part does."""

    DOINGS: ClassVar[tuple[str, ...]] = (
        "say", "sound", "pause", "hush", "type", "send", "key", "stop", "interrupt", "voice", "answer",
        "fault",
    )  # fmt: skip
    BELONGS: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "text": ("say", "sound"), "sure": ("say", "sound"), "gain_db": ("say",), "over": ("type", "send"),
    }  # fmt: skip

    at: Seconds | None = None
    """When, in seconds since the beginning; without it (and ``after``) when the one before is over."""
    after: EventPattern | None = None
    """Which event is waited for, if it has not come since the one before began."""
    plus: Seconds = 0.0
    """So many seconds later."""
    within: Seconds = 60.0
    """How long the event is waited for."""

    say: Path | None = None
    """A recording, relative to the scene."""
    text: str | None = None
    """What the transcriber understands of the sound, where words are scripted; ``…`` stands for a pause."""
    sure: Understood = Understood()
    """How sure it is of that."""
    gain_db: Annotated[float, Field(ge=-60, le=40)] = 0.0
    """How much louder the recording is played."""
    sound: Noise | None = None
    pause: Seconds | None = None
    """Nothing, for so long."""
    hush: Literal[True] | None = None
    """What is being said, or sounds, breaks off."""
    type: str | None = None
    """Keys on the input line; it is added to what stands there."""
    over: Seconds = 0.0
    """For so long it is typed."""
    send: str | None = None
    """A line is typed and sent at once."""
    key: Literal["F2", "F3", "Esc", "Enter", "Ctrl-C", "Ctrl-D"] | None = None
    stop: Literal[True] | None = None
    """The narration is silenced, as by F3."""
    interrupt: Literal[True] | None = None
    """The agent is interrupted, as by Ctrl-C."""
    voice: Literal["on", "off"] | None = None
    answer: str | None = None
    """A reply to the question that stands on the screen."""
    fault: Fault | None = None

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: object) -> object:
        return {value: True} if value in ("stop", "interrupt", "hush") else value

    @model_validator(mode="after")
    def _is_timed_once(self) -> Self:
        if self.at is not None and self.after is not None:
            raise ValueError("at and after are both said; one is enough")
        if self.after is None and {"plus", "within"} & self.model_fields_set:
            raise ValueError("plus and within belong to after")
        if self.text is None and "sure" in self.model_fields_set:
            raise ValueError("sure belongs to a text")
        return self


class Question(_Model):
    """What the agent needs an answer to, as the tool of that name is given it."""

    tool: str
    arguments: dict[str, Any] = {}
    expect_text: str | None = None
    """What stands in the result."""


class Call(Question):
    """A tool call of the agent's."""

    expect_error: bool | None = None
    """Whether the result is to be an error; None: it may be either."""


class Step(_OneOf):
    """One thing that the agent does in a turn."""

    DOINGS: ClassVar[tuple[str, ...]] = ("writes", "narrates", "calls", "asks", "works", "fails", "dies")
    BELONGS: ClassVar[Mapping[str, tuple[str, ...]]] = {"over": ("writes",), "risky": ("asks",)}

    writes: str | None = None
    """A text for the user, spoken where Voice is on."""
    over: Seconds = 0.0
    """For so long it is written, word by word."""
    narrates: str | None = None
    """It calls the tool `narrate`, and waits until that was heard."""
    calls: Call | None = None
    asks: Question | None = None
    """It needs an answer in the structure of that question, on the screen or aloud …"""
    risky: bool = False
    """… and it is a permission."""
    works: Seconds | None = None
    """It thinks, for so long."""
    fails: str | None = None
    """The turn ends with this error."""
    dies: str | None = None
    """Its program ends; the next message starts it again."""


class Turn(_Model):
    """What the agent does in one turn: when the next message comes, or at a time of its own."""

    at: Seconds | None = None
    """When it begins of its own accord, in seconds since the beginning."""
    after: EventPattern | None = None
    """After which event it begins of its own accord."""
    plus: Seconds = 0.0
    does: tuple[Step, ...]

    @model_validator(mode="before")
    @classmethod
    def _of_steps(cls, value: object) -> object:
        if isinstance(value, list):
            return {"does": value}
        if isinstance(value, dict) and "does" not in value:
            timing = {name: value[name] for name in ("at", "after", "plus") if name in value}
            step = {name: given for name, given in value.items() if name not in timing}
            return {**timing, "does": [step] if step else []}
        return value

    @model_validator(mode="after")
    def _is_timed_once(self) -> Self:
        if self.at is not None and self.after is not None:
            raise ValueError("at and after are both said; one is enough")
        if self.after is None and "plus" in self.model_fields_set:
            raise ValueError("plus belongs to after")
        return self

    @property
    def by_itself(self) -> bool:
        """Whether no message begins it."""
        return self.at is not None or self.after is not None


class Bound(_Model):
    """A number that is to be on one side of another, as in ``<= 2.0``."""

    relation: Literal["<=", "<", ">=", ">", "=="]
    value: float

    @model_validator(mode="before")
    @classmethod
    def _written(cls, value: object) -> object:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return {"relation": "<=", "value": value}
        if isinstance(value, str):
            for relation in ("<=", ">=", "==", "<", ">"):
                if value.startswith(relation):
                    return {"relation": relation, "value": value.removeprefix(relation).strip()}
            raise ValueError(f'{value!r} is no bound such as "<= 2.0"')
        return value

    def holds(self, found: float) -> bool:
        """Whether a number is within it; a thousandth is forgiven, for times are rounded to that."""
        match self.relation:
            case "<=":
                return found <= self.value + 0.001
            case "<":
                return found < self.value
            case ">=":
                return found >= self.value - 0.001
            case ">":
                return found > self.value
            case _:
                return abs(found - self.value) <= 0.001

    def __str__(self) -> str:
        return f"{self.relation} {self.value:g}"


class Dropped(_Model):
    """Something heard that became no message."""

    reason: DiscardReason
    text: str | None = None
    """Its words, case and punctuation aside; None: any."""

    @model_validator(mode="before")
    @classmethod
    def _by_reason(cls, value: object) -> object:
        return {"reason": value} if isinstance(value, str) else value


class Tools(_Model):
    """Which tools the agent has at one time."""

    at: Seconds | None = None
    after: EventPattern | None = None
    """Right after the first such event. Without ``at`` and ``after``: at the end."""
    are: tuple[str, ...]

    @model_validator(mode="after")
    def _is_timed_once(self) -> Self:
        if self.at is not None and self.after is not None:
            raise ValueError("at and after are both said; one is enough")
        return self


class Between(_Model):
    """How long it takes from one event to the next other one."""

    start: EventPattern = Field(alias="from")
    end: EventPattern = Field(alias="to")
    seconds: Bound


class Expected(_Model):
    """What must have come of it. Texts are compared by their words: case and punctuation do not count."""

    messages: tuple[str, ...] | None = None
    """All that the agent accepted, in order."""
    waiting: tuple[str, ...] | None = None
    """The messages that it has not accepted at the end."""
    discarded: tuple[Dropped, ...] | None = None
    """All that was heard and not delivered, in order."""
    kept: tuple[str, ...] | None = None
    """What the journal still has at the end, by its words so far: what a next session would offer."""
    tools: tuple[Tools, ...] = ()
    said: tuple[str, ...] | None = None
    """Runs of words that were spoken, in this order, in sentences that were heard to their end."""
    never_said: tuple[str, ...] = ()
    """Words that are in nothing that was spoken."""
    notices: tuple[str, ...] = ()
    """For each of them some notice holds it."""
    events: tuple[EventPattern, ...] = ()
    """Events in this order; others may stand between them."""
    never: tuple[EventPattern, ...] = ()
    """Events that do not come."""
    no_messages_while: tuple[Status, ...] = ()
    """While this goes on, nothing becomes a message."""
    latency: dict[Literal["endpoint_s", "transcribe_s", "total_s", "deliver_s"], Bound] = {}
    """Of every spoken message."""
    between: tuple[Between, ...] = ()
    status: Status | None = None
    """What goes on at the end."""

    @field_validator("no_messages_while", mode="before")
    @classmethod
    def _several(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value


class Room(_Model):
    """What there is to hear besides."""

    noise_dbfs: Level | None = None
    """White noise, all the while; None: digital silence."""
    echo_db: Annotated[float, Field(ge=-90, le=0)] | None = None
    """How loud the microphone hears the speaker; None: not at all, as with headphones."""
    echo_delay_s: Annotated[float, Field(ge=0, le=2)] = 0.06


class Recorded(_Model):
    """The files of a session that was recorded with ``voice chat --record``."""

    log: Path = Path("log.jsonl")
    microphone: Path = Path("microphone.wav")
    speaker: Path = Path("speaker.wav")
    speaker_tells: bool = False
    """Whether the speaker told what it played; else nothing of it could be heard."""
    first_messages: tuple[str, ...] = ()
    """What the agent was told first, by its arguments."""


class Scene(_Model):
    """One scene. ``file`` is where it was read from, and paths in it are relative to that folder."""

    title: str = ""
    about: str = ""
    """What it shows, or where it comes from."""
    settings: Settings = Settings()
    names: tuple[str, ...] = ()
    """Those of the project, which are likely to be said."""
    words: Literal["scripted", "whisper", "recorded"] = "scripted"
    """Who understands: the scene (each ``say`` has its text), Whisper, or who did when it was recorded."""
    engine: Literal["scripted", "real", "recorded"] = "scripted"
    """What speaks: silence as long as the text, the speech engine, or silence as long as it took then."""
    recorded: Recorded | None = None
    """A session that was recorded, and is played again."""
    room: Room = Room()
    voice: bool = True
    """Whether Voice is on at the beginning."""
    screen: bool = True
    """Whether there is a screen on which structured questions are asked."""
    awaits_agent: bool = True
    """Whether the clock stands while an agent of the caller's is at work through sockets and pipes. One that
    waits by the clock itself, with a connection open, needs false."""
    agent: tuple[Turn, ...] = ()
    happens: tuple[Happening, ...] = ()
    ends_after: Annotated[float, Field(gt=0, le=3_600)] | None = None
    """So many seconds after the last happening it ends; without it when nothing goes on any more."""
    expect: Expected = Expected()

    file: Path = Field(default=Path("scene.yaml"), exclude=True)

    @model_validator(mode="after")
    def _has_what_it_plays(self) -> Self:
        if self.recorded is None and "recorded" in (self.words, self.engine):
            raise ValueError("words or engine are recorded, and nothing is said to be recorded")
        return self

    def path(self, name: Path) -> Path:
        """Where a file lies that the scene names."""
        return self.file.parent / name
