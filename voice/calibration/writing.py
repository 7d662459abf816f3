"""Values put into a settings file that a person wrote, without changing anything else in it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from voice.errors import SettingsError

if TYPE_CHECKING:
    from tomlkit.items import AbstractTable


def with_settings(text: str, settings: Mapping[str, Mapping[str, Any]]) -> str:
    """The TOML text with these values, by group and name; comments, order and line ends stay as they are.

    Raises `SettingsError` where the text is no TOML, or has something else in a group's place.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError
    from tomlkit.items import AbstractTable

    try:
        wanted = tomllib.loads(text)
        document = tomlkit.parse(text)
        for group, values in settings.items():
            if group not in document:
                document.append(group, tomlkit.table())
            table = document[group]
            if not isinstance(table, AbstractTable):
                raise _unchangeable()
            wanted[group] = {**wanted.get(group, {}), **values}
            for name, value in values.items():
                if name in table:
                    table[name] = value
                else:
                    _append(table, name, value)
        changed = tomlkit.dumps(document)
        read = tomllib.loads(changed)
    except (TOMLKitError, tomllib.TOMLDecodeError):
        raise _unchangeable() from None
    if read != wanted:
        raise _unchangeable()
    if text.count("\n") == text.count("\r\n") > 0:
        changed = changed.replace("\r\n", "\n").replace("\n", "\r\n")
    return changed


def in_toml(settings: Mapping[str, Mapping[str, Any]]) -> str:
    """These values as a settings file of their own."""
    return with_settings("", settings)


def _append(table: AbstractTable, name: str, value: object) -> None:
    """Put a new name at the end of its group, and not behind the comment on the next one."""
    from tomlkit.items import Whitespace

    body = table.value.body
    behind_names = next((at for at in range(len(body), 0, -1) if body[at - 1][0] is not None), 0)
    blank = next((at for at in range(behind_names, len(body)) if isinstance(body[at][1], Whitespace)), None)
    rest = body[blank:] if blank is not None else []
    del body[len(body) - len(rest) :]
    table.append(name, value)
    body.extend(rest)


def _unchangeable() -> SettingsError:
    return SettingsError(
        "The settings file is written in a way that this cannot change.",
        mend="put these values into it by hand",
    )
