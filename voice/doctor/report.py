"""All that was found as a text for a bug report: what helps to find the fault, and nothing private.

Only what is listed here is put in: versions, what kind of machine it is, the settings that are numbers or
choices, the findings in our own words, the numbers of the last session. Never a path, a phrase, a transcript,
the folder it was started in, or what the agent is told.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from voice import __version__
from voice.doctor.findings import Finding
from voice.doctor.libraries import LIBRARIES
from voice.doctor.private import Private

if TYPE_CHECKING:
    from voice.devices import DeviceInfo
    from voice.settings import Settings

_BESIDES = ("ctranslate2", "mcp", "agent-client-protocol", "pydantic-ai-slim", "pywebrtc-audio")
_OPEN_TEXTS = {("transcription", "language"), ("speaking", "language")}
"""Settings that are texts, and of which only codes are taken."""
_KNOWN_DEVICES = {"default", "jack", "null", "oss", "pipewire", "pulse", "sysdefault"}
"""Names that are the same everywhere; any other may be a person's."""
_SET = "(set)"
_FOLDERS = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "HF_HOME", "VIRTUAL_ENV")
_VARIABLES = ("VIVA_VOICE_SETTINGS", "VIVA_VOICE_MODEL", "VIVA_VOICE_BRIDGE", "VIVA_VOICE_TOKEN")
_SESSION = ("XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "TERM", "TERM_PROGRAM", "COLORTERM", "LANG")


def report(
    findings: Sequence[Finding],
    settings: Settings | None,
    session: Mapping[str, Any] | None,
    private: Private,
) -> str:
    """The text, in Markdown. ``session`` is the summary of the last one; None where there is none."""
    parts: list[tuple[str, Iterable[str]]] = [
        ("Versions", _versions()),
        ("Machine", _machine()),
        ("Settings that are not the defaults", _settings(settings)),
        ("Findings", (line for finding in findings for line in _finding(finding, private))),
        ("Last session", _session(session)),
    ]
    lines = ["# Viva Voce: report for a bug", ""]
    for title, told in parts:
        lines += [f"## {title}", "", *(private.hidden(line) for line in told), ""]
    lines.append("Names, paths, texts and keys are left out. Read it before you send it.")
    return "\n".join(lines) + "\n"


def _versions() -> Iterator[str]:
    yield f"* viva-voce {__version__}"
    yield f"* Python {platform.python_version()} ({platform.python_implementation()})"
    installed = []
    for distribution in (*LIBRARIES, *_BESIDES):
        try:
            installed.append(f"{distribution} {version(distribution)}")
        except PackageNotFoundError:
            continue
    yield f"* {', '.join(installed)}"


def _machine() -> Iterator[str]:
    yield f"* {_system()}, {platform.machine()}, {os.cpu_count()} processors"
    libc = " ".join(platform.libc_ver()) if sys.platform == "linux" else ""
    if libc.strip():
        yield f"* {libc}"
    told = [f"{name}={os.environ[name]}" for name in _SESSION if os.environ.get(name)]
    if os.environ.get("TMUX"):
        told.append("tmux")
    if os.environ.get("SSH_CONNECTION"):
        told.append("ssh")
    yield f"* {', '.join(told) or 'no session variables'}"
    named = [name for name in _VARIABLES if os.environ.get(name)]
    yield f"* set: {', '.join(named) or 'none of our variables'}"


def _system() -> str:
    try:
        distribution = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.release()}"
    return f"{distribution}, {platform.system()} {platform.release()}"


def _settings(settings: Settings | None) -> Iterator[str]:
    if settings is None:
        yield "* they cannot be read; the defaults were tried"
        return
    changed = False
    for group, defaults in type(settings)():
        for name, default in defaults:
            value = getattr(getattr(settings, group), name)
            if value != default:
                changed = True
                yield f"* {group}.{name} = {_shown(group, name, value)}"
    if not changed:
        yield "* none"


def _shown(group: str, name: str, value: object) -> str:
    """A setting as it may be shown: a text that somebody wrote is not."""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, frozenset) and all(isinstance(one, Enum) for one in value):
        return ", ".join(sorted(one.value for one in value)) or "none"
    if isinstance(value, str) and ((group, name) in _OPEN_TEXTS or value in _choices(group, name)):
        return value
    return _SET


def _choices(group: str, name: str) -> tuple[object, ...]:
    """The values among which a setting chooses, and the sizes of Whisper that have names."""
    from voice.settings import Settings

    if (group, name) == ("transcription", "model"):
        try:
            from voice.calibration.measuring import SIZES
        except ImportError:  # a library is missing, of which a finding tells
            return ()
        return (*SIZES, *(f"{size}.en" for size in SIZES))
    annotation = type(getattr(Settings(), group)).model_fields[name].annotation
    return getattr(annotation, "__args__", ())


def _finding(finding: Finding, private: Private) -> Iterator[str]:
    """One part: how it is, in our own words."""
    told = private.sentence(finding.public)
    kind = f" [{finding.kind}]" if finding.kind else ""
    yield f"* {finding.part}: {finding.mark}{kind} {told}".rstrip()
    if finding.figures:
        yield f"  * {', '.join(f'{name} {value:.3g}' for name, value in finding.figures.items())}"


def _session(session: Mapping[str, Any] | None) -> Iterator[str]:
    if session is None:
        yield "* none was kept"
        return
    counts = ("spoken", "typed", "waited", "frames_lost")
    yield f"* {', '.join(f'{name} {session[name]}' for name in counts)}"
    reopened = session["reopened"]
    yield f"* reopened: {reopened['sent']} sent, {reopened['waiting']} waiting"
    for part, of in session["latency"].items():
        yield f"* {part}: {of['count']} times, median {of['median']}, p95 {of['p95']}"
    for title in ("discarded", "failures"):
        counted = ", ".join(f"{name} {times}" for name, times in session[title].items())
        yield f"* {title}: {counted or 'none'}"


def kinds_of(devices: Iterable[DeviceInfo]) -> dict[str, str]:
    """What a report says in place of the name of a device, which is often a person's: what kind it is."""
    return {
        name: f"({device.host_api}, {device.default_rate} Hz, {device.input_channels} in,"
        f" {device.output_channels} out)"
        for device in devices
        for name in (device.name, device.id)
        if name and name not in _KNOWN_DEVICES
    }


def names_here() -> Iterator[str]:
    """Those of the user and of the machine, as far as they are known."""
    import getpass
    import pwd

    yield platform.node()
    yield os.path.basename(os.path.expanduser("~"))  # noqa: PTH111, PTH119 — a Path would raise without a home
    for variable in ("USER", "LOGNAME", "SUDO_USER", "HOSTNAME"):
        yield os.environ.get(variable, "")
    try:
        yield getpass.getuser()
        yield pwd.getpwuid(os.getuid()).pw_gecos
    except (KeyError, OSError):
        return  # a user without an entry, as in a container


def texts_here(settings: Settings | None) -> Iterator[str]:
    """What the user wrote into the settings, and the paths that are used here."""
    yield os.path.expanduser("~")  # noqa: PTH111 — see above
    with suppress(OSError):  # the folder it was started in is gone
        yield os.getcwd()  # noqa: PTH109
    yield from (os.environ.get(name, "") for name in (*_VARIABLES, *_FOLDERS))
    if settings is None:
        return
    for group, of in settings:
        for name, value in of:
            if _shown(group, name, value) == _SET:
                yield from (text for text in _texts_in(value) if text not in _KNOWN_DEVICES)


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str) and not isinstance(value, Enum):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts_in(tuple(value.values()))
    elif isinstance(value, tuple | list | frozenset):
        for one in value:
            yield from _texts_in(one)
