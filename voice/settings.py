"""The settings, from a TOML file and the environment: frozen, checked, each with its default.

The file is the one that `VIVA_VOICE_SETTINGS` names, else ``viva-voce/settings.toml`` in the user's
configuration folder (``$XDG_CONFIG_HOME`` or ``~/.config``); that it is missing is no error. The group
`[questionnaire]` in it is that package's own.
"""

from __future__ import annotations

import os
import re
import tomllib
from operator import le, lt
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from voice.commands import Command
from voice.errors import SettingsError
from voice.floor import Duplex
from voice.listening.patience import Eagerness
from voice.ports import Delivery
from voice.speaking.earcons import Earcon
from voice.wording import words

ENVIRONMENT = "VIVA_VOICE_SETTINGS"
"""The environment variable that names the settings file."""

_NOT_OURS = "questionnaire"
"""The group of the same file that `questionnaire` reads, and checks, for itself."""

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Probability = Annotated[float, Field(gt=0, lt=1)]


def _language(pattern: str) -> AfterValidator:
    def check(code: str) -> str:
        if not re.fullmatch(pattern, code):
            raise ValueError("should be a code such as en or de")
        return code

    return AfterValidator(check)


def _sayable(phrase: str) -> str:
    if not words(phrase):
        raise ValueError("should hold a word, or be left out")
    return phrase


Phrase = Annotated[str, AfterValidator(_sayable)]
"""What somebody says: of "" or "…" nobody could, and a turn that waits for it would never end."""


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


_ORDER = (
    ("start_speech_s", le, "start_within_s"),
    ("end_threshold", le, "start_threshold"),
    ("warn_s", lt, "longest_s"),
    ("closed_silence_s", le, "end_silence_s"),
    ("end_silence_s", le, "unfinished_silence_s"),
)
"""What is deaf, or never warns, in any other order."""


class HearingSettings(_Group):
    """When somebody has begun, when they have finished, and which microphone."""

    microphone: str | None = None
    """Part of a device's name; None is the system's default."""
    duplex: Duplex = Duplex.HALF
    """What is heard while we speak."""
    start_threshold: Probability = 0.5
    start_speech_s: Seconds = 0.1
    start_within_s: Seconds = 0.3
    end_threshold: Probability = 0.35
    end_silence_s: Seconds = 1.6
    """After words that might be all; changed by the user's own pauses."""
    closed_silence_s: Seconds = 0.44
    """After a short answer to a question that has a closed one."""
    unfinished_silence_s: Seconds = 2.4
    """After words that want more."""
    patience: Eagerness = Eagerness.BALANCED
    """Makes all three shorter or longer."""
    longest_s: Seconds = 600.0
    warn_s: Seconds = 540.0

    @model_validator(mode="after")
    def _can_hear(self) -> Self:
        for less, in_order, more in _ORDER:
            if not in_order(getattr(self, less), getattr(self, more)):
                bound = "at most" if in_order is le else "less than"
                raise ValueError(f"{self._told(less)} should be {bound} {self._told(more)}")
        return self

    def _told(self, name: str) -> str:
        default = "" if name in self.model_fields_set else ", the default"
        return f"{name} ({getattr(self, name):g}{default})"


class TranscriptionSettings(_Group):
    """How speech becomes text."""

    model: Annotated[str, Field(min_length=1)] = "tiny.en"
    """A Whisper size, a folder with a CTranslate2 model, or a repository of the model hub."""
    language: Annotated[str, _language("[a-z]{2,3}")] = "en"
    """Fixed: to detect it would double the time and now and then be wrong."""
    threads: Annotated[int, Field(ge=1, le=64)] | None = None
    """CPU threads for Whisper; None measures once which number is faster."""
    compute_type: Literal["int8", "float32"] = "int8"
    """How Whisper computes: `voice calibrate` measures which is faster here."""
    device: Literal["cpu", "cuda", "auto"] = "cpu"
    """Where: the processor, or a graphics card; what that needs (cuBLAS, cuDNN) is not installed with us."""
    replay_delay_s: Annotated[float, Field(ge=0, le=60)] = 0.24
    """In a replay: the audio time after which a transcription's text is taken."""


class SpeakingSettings(_Group):
    """How the agent's words are spoken."""

    speaker: str | None = None
    """Part of a device's name; None is the system's default."""
    rate: Annotated[float, Field(ge=0.5, le=3.0)] = 1.0
    """1 is the engine's normal speed."""
    voice: str | None = None
    """The engine's name of a voice; None takes one that fits the language."""
    language: Annotated[str, _language("[a-z]{2,3}(-[A-Za-z0-9]+)*")] = "en"
    volume: Annotated[float, Field(ge=0.0, le=1.0)] = 1.0
    """Of narration and earcons; 1 is as loud as the engine made it."""
    longest_sentences: Annotated[int, Field(ge=1)] = 6
    """Of a long text so many sentences are spoken; the rest is on the screen."""
    earcons: frozenset[Earcon] = frozenset(Earcon)
    """The short sounds that are played."""


class ConversationSettings(_Group):
    """How the session takes turns."""

    while_busy: Delivery = Delivery.FOLLOW_UP
    """What a message does that comes while the agent works."""
    narrate_text: bool = True
    """Whether what the agent writes is spoken while Voice is on."""
    answer_within_s: Seconds = 60.0
    """Nobody has begun to answer for so long: the question is repeated once, shorter, then it is quiet."""
    quiet_microphone: Literal["open", "closed"] = "open"
    """Whether the microphone stays open when nobody has answered the repeated question either."""
    resume_after_s: Seconds = 2.0
    """Narration that a sound has interrupted goes on after so long without words."""
    reopen_s: Annotated[float, Field(ge=0, le=10)] = 1.0
    """Who speaks on so soon after a message was sent adds to it, and the agent gets both as one; 0: never."""
    show_latency: bool = False
    """Whether the screen shows how long each spoken message took."""


class ControlSettings(_Group):
    """Spoken controls: what is obeyed when it is all that was said."""

    enabled: bool = True
    end_word: Phrase | None = None
    """Without it a turn ends with silence; with it, only when this was said last, or "send it"."""
    phrases: dict[Command, tuple[Phrase, ...]] = {}
    """Instead of the language's own phrases for that command; none switches it off."""


class JournalSettings(_Group):
    """What is kept until the agent has it, and how long what it never got."""

    enabled: bool = True
    keep_delivered: bool = False
    """Whether sound and text are kept of what the agent has, too."""
    longest_days: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 7.0
    largest_mb: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 200.0
    """Where there is more, the oldest goes first."""


class Settings(_Group):
    """All of them."""

    hearing: HearingSettings = HearingSettings()
    transcription: TranscriptionSettings = TranscriptionSettings()
    speaking: SpeakingSettings = SpeakingSettings()
    conversation: ConversationSettings = ConversationSettings()
    controls: ControlSettings = ControlSettings()
    journal: JournalSettings = JournalSettings()

    def changed(self, group: str, **values: object) -> Settings:
        """These settings with some values of one group changed; a value of None changes nothing.

        Raises `SettingsError` for a value that cannot be used.
        """
        given = {name: value for name, value in values.items() if value is not None}
        written = self.model_dump(exclude_unset=True)
        merged = {**written, group: {**written.get(group, {}), **given}}
        return _validated(merged, "the command line")


def settings_path() -> Path:
    """Where the settings file is, or would be."""
    if named := os.environ.get(ENVIRONMENT):
        return expanded(named, ENVIRONMENT)
    config = os.environ.get("XDG_CONFIG_HOME") or expanded("~/.config", "the settings")
    return Path(config) / "viva-voce" / "settings.toml"


def expanded(path: str, named_by: str) -> Path:
    """A path that a person wrote, ``~`` and all; raises `SettingsError` where that home is not known."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise SettingsError(
            f"The path {path}, from {named_by}, begins with a home folder that is not known.",
            mend="write it out, beginning with /",
        ) from None


def load_settings() -> Settings:
    """The user's settings.

    Raises `SettingsError` for a file that is not TOML, an unknown name, or a value out of its range; and for
    a file that `VIVA_VOICE_SETTINGS` names and that is not there.
    """
    path = settings_path()
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if os.environ.get(ENVIRONMENT):
            raise SettingsError(
                f"The settings file {path}, from {ENVIRONMENT}, does not exist.",
                mend=f"name another file, or unset {ENVIRONMENT}",
            ) from None
        return Settings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SettingsError(f"The settings file {path} cannot be read: {why}.") from error
    return _validated({name: group for name, group in written.items() if name != _NOT_OURS}, str(path))


def _validated(values: dict[str, object], source: str) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(_in_words(**problem) for problem in error.errors(include_url=False))
        raise SettingsError(f"In {source}, {problems}.") from error


def _in_words(*, type: str, loc: tuple[int | str, ...], msg: str, input: Any, **_: Any) -> str:  # noqa: A002
    """One of pydantic's findings, for a person."""
    name = ".".join(map(str, loc))
    if type == "extra_forbidden":
        return f"{name} is no setting"
    if type == "model_type":
        return f"{name} should be a group of settings, [{name}], and is {input!r}"
    if isinstance(input, dict):
        return f"group {name}: {msg.removeprefix('Value error, ')}"
    return f"{name} {re.sub('^(Value error,|Input|String) ', '', msg)}, and is {input!r}"
