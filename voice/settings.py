"""The settings, from a TOML file and the environment: frozen, checked, each with its default.

The file is the one that `VIVA_VOICE_SETTINGS` names, else ``viva-voce/settings.toml`` in the user's
configuration folder (``$XDG_CONFIG_HOME`` or ``~/.config``); that it is missing is no error. The group
`[questionnaire]` in it is that package's own.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from voice.errors import SettingsError

ENVIRONMENT = "VIVA_VOICE_SETTINGS"
"""The environment variable that names the settings file."""

_NOT_OURS = "questionnaire"
"""The group of the same file that `questionnaire` reads, and checks, for itself."""

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Probability = Annotated[float, Field(gt=0, lt=1)]


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class HearingSettings(_Group):
    """When somebody has begun, when they have finished, and which microphone."""

    microphone: str | None = None
    """Part of a device's name; None is the system's default."""
    start_threshold: Probability = 0.5
    start_speech_s: Seconds = 0.1
    start_within_s: Seconds = 0.3
    end_threshold: Probability = 0.35
    end_silence_s: Seconds = 1.6
    longest_s: Seconds = 600.0
    warn_s: Seconds = 540.0


class TranscriptionSettings(_Group):
    """How speech becomes text."""

    model: str = "tiny.en"
    """A Whisper size, a folder with a CTranslate2 model, or a repository of the model hub."""
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")] = "en"
    """Fixed: to detect it would double the time and now and then be wrong."""
    threads: Annotated[int, Field(ge=1, le=64)] | None = None
    """CPU threads for Whisper; None chooses."""
    replay_delay_s: Annotated[float, Field(ge=0, le=60)] = 0.3
    """In a replay: the audio time after which a transcription's text is taken."""


class SpeakingSettings(_Group):
    """How the agent's words are spoken."""

    speaker: str | None = None
    """Part of a device's name; None is the system's default."""
    rate: Annotated[float, Field(ge=0.5, le=3.0)] = 1.0
    """1 is the engine's normal speed."""
    voice: str | None = None
    """The engine's name of a voice; None takes one that fits the language."""
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]+)*$")] = "en"


class Settings(_Group):
    """All of them."""

    hearing: HearingSettings = HearingSettings()
    transcription: TranscriptionSettings = TranscriptionSettings()
    speaking: SpeakingSettings = SpeakingSettings()

    def changed(self, group: str, **values: object) -> Settings:
        """These settings with some values of one group changed; a value of None changes nothing.

        Raises `SettingsError` for a value that cannot be used.
        """
        given = {name: value for name, value in values.items() if value is not None}
        merged = {**self.model_dump(), group: {**self.model_dump()[group], **given}}
        return _validated(merged, "the command line")


def settings_path() -> Path:
    """Where the settings file is, or would be."""
    if named := os.environ.get(ENVIRONMENT):
        return Path(named).expanduser()
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "viva-voce" / "settings.toml"


def load_settings() -> Settings:
    """The user's settings.

    Raises `SettingsError` for a file that is not TOML, an unknown name, or a value out of its range; and for
    a file that `VIVA_VOICE_SETTINGS` names and that is not there.
    """
    path = settings_path()
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if ENVIRONMENT in os.environ:
            raise SettingsError(f"The settings file {path}, from {ENVIRONMENT}, does not exist.") from None
        return Settings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"The settings file {path} cannot be read: {error}.") from error
    return _validated({name: group for name, group in written.items() if name != _NOT_OURS}, str(path))


def _validated(values: dict[str, object], source: str) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg'].lower()} (it is {problem['input']!r})"
            for problem in error.errors(include_url=False)
        ]
        raise SettingsError(f"In {source}, {'; '.join(problems)}.") from error
