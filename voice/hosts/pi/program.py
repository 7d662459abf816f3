"""Finding Pi, its version, and whether the Node there is can run it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from voice.errors import HostMissing

OLDEST = (0, 74, 2)
"""The oldest version with which this has been tried."""

SETTLES_FROM = (0, 80, 4)
"""From this version on Pi tells by itself that it has settled."""

INSTALL = "npm install -g --ignore-scripts @earendil-works/pi-coding-agent"

_PACKAGES = {"@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"}
_ANSWERS_WITHIN_S = 20.0

Version = tuple[int, int, int]


@dataclass(frozen=True)
class Pi:
    """A Pi that can be run."""

    path: str
    version: Version

    @property
    def tells_settled(self) -> bool:
        """Whether it emits `agent_settled`."""
        return self.version >= SETTLES_FROM


def find_pi(environment: Mapping[str, str]) -> Pi:
    """The Pi on the ``PATH`` of this environment.

    Waits for child processes, so it belongs into a thread. Raises `HostMissing`, with the command that mends
    it, where there is none, where it is too old, and where Node is.
    """
    search = environment.get("PATH", "")
    path = shutil.which("pi", path=search)
    if path is None:
        raise HostMissing("Pi is not installed, or not on the PATH.", mend=INSTALL)
    package = _package_of(Path(path))
    if package is not None:
        _check_node(package, search)
    version = _version(package["version"] if package else _said(path, environment))
    if version is None:
        raise HostMissing(f"{path} does not say which version of Pi it is.", mend=INSTALL)
    if version < OLDEST:
        raise HostMissing(
            f"Pi {_dotted(version)} is too old; {_dotted(OLDEST)} or later is needed.", mend=INSTALL
        )
    return Pi(path, version)


def _package_of(program: Path) -> Mapping[str, str] | None:
    """What the package that the program belongs to says of itself: sooner read than asked for."""
    for folder in program.resolve().parents:
        try:
            package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        return package if isinstance(package, dict) and package.get("name") in _PACKAGES else None
    return None


def _check_node(package: Mapping[str, object], search: str) -> None:
    engines = package.get("engines")
    needed = _version(str(engines.get("node"))) if isinstance(engines, dict) else None
    if needed is None:
        return
    node = shutil.which("node", path=search)
    name = f"Pi {package['version']}"
    mend = "install Node from https://nodejs.org or with your system's packages"
    if node is None:
        raise HostMissing(
            f"{name} needs Node {_dotted(needed)} or later, and there is no node on the PATH.", mend=mend
        )
    found = _version(_said(node, {"PATH": search}))
    if found is not None and found < needed:
        raise HostMissing(
            f"{name} needs Node {_dotted(needed)} or later, and {node} is {_dotted(found)}.",
            mend=f"{mend}, or {INSTALL}@{_dotted(OLDEST)}, which runs on Node 20.6",
        )


def _said(program: str, environment: Mapping[str, str]) -> str:
    """What a program prints as its version."""
    try:
        done = subprocess.run(
            [program, "--version"],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ANSWERS_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout or done.stderr


def _version(text: str) -> Version | None:
    """The first version in a text."""
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))
