"""What a recorded session is made of: the lines of ``log.jsonl``, in the order in which they came. Pure.

Times are seconds of the session's clock: frames of the microphone while it is open, and real time between.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    at: float


class MicrophoneOpened(_Line):
    """What is heard now begins with this frame of ``microphone.wav``."""

    what: Literal["opened"] = "opened"
    frame: int


class MicrophoneFailed(_Line):
    """It could not be opened, or was lost; so many frames there were before."""

    what: Literal["failed"] = "failed"
    frame: int
    error: str
    """Which of `voice.errors` it was."""
    sentence: str
    opening: bool


class Drafted(_Line):
    """What stood in the input line."""

    what: Literal["draft"] = "draft"
    text: str


class LineSent(_Line):
    """A line was sent."""

    what: Literal["send"] = "send"
    text: str


class Pressed(_Line):
    """A key, by what it does."""

    what: Literal["key"] = "key"
    key: Literal["toggle_voice", "stop_narration", "interrupt_agent", "quit"]


class HostTold(_Line):
    """The agent's program told this: an event, as `voice.events.as_json` gives it."""

    what: Literal["event"] = "event"
    event: dict[str, Any]


class ToolCall(_Line):
    """The agent called a tool."""

    what: Literal["call"] = "call"
    id: int
    name: str
    arguments: dict[str, Any]


class Asked(_Line):
    """It needs an answer in the structure of a questionnaire."""

    what: Literal["ask"] = "ask"
    id: int
    questionnaire: dict[str, Any]


class Returned(_Line):
    """A call, or a question, is over."""

    what: Literal["returned"] = "returned"
    id: int
    by_voice: bool
    """Whether it ended by what was heard or spoken; else elsewhere, or because the agent gave it up."""
    text: str = ""
    is_error: bool = False


class Accepted(_Line):
    """The agent accepted a message."""

    what: Literal["accepted"] = "accepted"
    text: str


class Understood(_Line):
    """What the transcriber made of a piece; ``first`` and ``last`` are its frames in ``microphone.wav``."""

    what: Literal["understood"] = "understood"
    first: int
    last: int
    after_s: float
    text: str = ""
    no_speech_probability: float = 0.0
    average_log_probability: float = 0.0
    compression_ratio: float = 1.0
    ran_on: bool = False
    error: str = ""


class Rendered(_Line):
    """What the engine made of a sentence."""

    what: Literal["rendered"] = "rendered"
    text: str
    seconds: float
    after_s: float
    error: str = ""


class PlayedBack(_Line):
    """How long a sentence was played."""

    what: Literal["played"] = "played"
    text: str
    took_s: float
    whole: bool
    """Whether it was played to its end; else it was broken off, or failed."""
    error: str = ""


class Announced(_Line):
    """What the speaker told that it plays: samples of ``speaker.wav`` that are heard in so many seconds."""

    what: Literal["announced"] = "announced"
    first: int
    count: int
    in_s: float


LogLine = (
    MicrophoneOpened
    | MicrophoneFailed
    | Drafted
    | LineSent
    | Pressed
    | HostTold
    | ToolCall
    | Asked
    | Returned
    | Accepted
    | Understood
    | Rendered
    | PlayedBack
    | Announced
)

_KINDS: dict[str, type[LogLine]] = {kind.model_fields["what"].default: kind for kind in get_args(LogLine)}


def read_log(lines: Iterable[str]) -> Iterator[LogLine]:
    """The lines of a log. The last one may be cut short, as by a crash, and is then left out.

    Raises `ValueError` with the number of a line that cannot be used; kinds that are not known are passed
    over.
    """
    broken = 0
    for number, line in enumerate(lines, 1):
        if broken:
            raise ValueError(f"line {broken} is not whole")
        try:
            values = json.loads(line)
            kind = _KINDS.get(values.get("what", ""))
            if kind is not None:
                yield kind.model_validate(values)
        except (ValidationError, ValueError, AttributeError):
            broken = number
