"""Values put into a settings file that a person wrote, without changing anything else in it. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from voice.errors import SettingsError

_HEADER = re.compile(r"\s*\[")


def with_settings(text: str, settings: Mapping[str, Mapping[str, Any]]) -> str:
    """The TOML text with these values, by group and name; numbers and strings alone.

    Raises `SettingsError` where the text is written in a way that this cannot change, such as a group in one
    line.
    """
    lines = text.splitlines()
    for group, values in settings.items():
        for name, value in values.items():
            _put(lines, group, name, f"{name} = {json.dumps(value)}")
    changed = "\n".join(lines) + "\n"
    try:
        read = tomllib.loads(changed)
    except tomllib.TOMLDecodeError:
        read = {}
    if any(read.get(group, {}).get(name) != of[name] for group, of in settings.items() for name in of):
        raise SettingsError(
            "The settings file is written in a way that this cannot change.",
            mend="put these values into it by hand",
        )
    return changed


def in_toml(settings: Mapping[str, Mapping[str, Any]]) -> str:
    """These values as a settings file of their own."""
    return with_settings("", settings)


def _put(lines: list[str], group: str, name: str, line: str) -> None:
    header = f"[{group}]"
    at = next((at for at, one in enumerate(lines) if one.split("#")[0].strip() == header), None)
    if at is None:
        lines += [*([""] if lines else []), header, line]
        return
    end = next((later for later in range(at + 1, len(lines)) if _HEADER.match(lines[later])), len(lines))
    for place in range(at + 1, end):
        if re.match(rf"\s*{re.escape(name)}\s*=", lines[place]):
            lines[place] = line
            return
    while not lines[end - 1].strip():
        end -= 1
    lines.insert(end, line)
