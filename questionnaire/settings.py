"""The questionnaire's settings: the group `[questionnaire]` of the settings file that `voice` reads too.

The file is the one that `VIVA_VOICE_SETTINGS` names, else ``viva-voce/settings.toml`` in the user's
configuration folder (``$XDG_CONFIG_HOME`` or ``~/.config``); that it is missing is no error. Each package
reads its own groups and leaves the other's alone. A model that asks can set none of this.
"""

import json
import logging
import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from questionnaire.errors import BadSettings

__all__ = ["QuestionnaireSettings", "load_settings"]

ENVIRONMENT = "VIVA_VOICE_SETTINGS"
"""The environment variable that names the settings file."""

PI_ENVIRONMENT = "PI_CODING_AGENT_DIR"
"""The environment variable that names Pi's own folder."""

GROUP = "questionnaire"

_log = logging.getLogger(__name__)


class QuestionnaireSettings(BaseModel):
    """How the user wants to be asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    contract: Literal["choices", "form"] = "choices"
    """What the name `ask_user_question` means to a model."""
    timeout_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """How long the user may do nothing once a question stands before them; None is for ever."""
    timeout_action: Literal["wait", "cancel", "unanswered"] = "unanswered"
    """What happens then: a reminder by the signals set here and more waiting, or the questions end as
    cancelled, or as unanswered. Never an answer."""
    bell: bool = False
    """Whether the terminal rings when a question comes up."""
    notify_herdr: bool = False
    """Whether herdr is told that the session waits for the user. Where it is not set, Pi's settings say."""
    modes_file: Path | None = None
    """The composition file, from the folder of the settings file; None is the project's `.po/modes.yaml`."""


def settings_path() -> Path:
    """Return where the settings file is, or would be."""
    if named := os.environ.get(ENVIRONMENT):
        return Path(named).expanduser()
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "viva-voce" / "settings.toml"


def load_settings() -> QuestionnaireSettings:
    """Return the user's settings.

    Raises `BadSettings`, one sentence, for a file that is not TOML, an unknown name in the group, or a
    value out of its range; and for a file that `VIVA_VOICE_SETTINGS` names and that is not there.
    """
    path = settings_path()
    written = {"notify_herdr": pi_notifies_herdr(), **_group(path)}
    try:
        settings = QuestionnaireSettings.model_validate(written)
    except ValidationError as error:
        problems = [
            f"{GROUP}.{'.'.join(map(str, found['loc']))}: {found['msg'].lower()} (it is {found['input']!r})"
            for found in error.errors(include_url=False)
        ]
        raise BadSettings(f"In {path}, {'; '.join(problems)}.") from error
    if settings.modes_file is None:
        return settings
    return settings.model_copy(update={"modes_file": path.parent / settings.modes_file.expanduser()})


def pi_notifies_herdr() -> bool:
    """Return whether `userSelect.notifyHerdr` is true in Pi's `settings.json`.

    That file is in the folder that `PI_CODING_AGENT_DIR` names, else in `~/.pi/agent`. It is not ours: one
    that is missing or broken says nothing.
    """
    named = os.environ.get(PI_ENVIRONMENT)
    path = (Path(named).expanduser() if named else Path.home() / ".pi" / "agent") / "settings.json"
    try:
        written = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return False
    except (OSError, ValueError, RecursionError) as error:
        _log.warning("Pi's settings %s cannot be read: %s", path, error)
        return False
    group = written.get("userSelect") if isinstance(written, dict) else None
    return isinstance(group, dict) and group.get("notifyHerdr") is True


def _group(path: Path) -> dict[str, Any]:
    """Return what the file says of the questionnaire."""
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if ENVIRONMENT in os.environ:
            raise BadSettings(f"The settings file {path}, from {ENVIRONMENT}, does not exist.") from None
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise BadSettings(f"The settings file {path} cannot be read: {error}.") from error
    group = written.get(GROUP, {})
    if not isinstance(group, dict):
        raise BadSettings(f"In {path}, {GROUP} is no group of settings (it is {group!r}).")
    return group
