"""What is remembered from one session to the next: small JSON files that nobody but the user can read.

They are in ``viva-voce`` in the user's folder for state (``$XDG_STATE_HOME`` or ``~/.local/state``). What is
lost with them is measured anew, so one that cannot be read counts as not there.
"""

from __future__ import annotations

import json
import os
import platform
from contextlib import suppress
from pathlib import Path
from typing import Any

from voice.settings import expanded

LAST_SESSION = "last-session"
"""How the last session went: `voice.statistics.SessionStatistics`."""

THREADS = "threads"
"""How many threads were fastest, by machine and model."""


def state_folder() -> Path:
    """Where the files are, or would be."""
    state = os.environ.get("XDG_STATE_HOME") or expanded("~/.local/state", "the state")
    return Path(state) / "viva-voce"


def keep(name: str, values: Any) -> None:
    """Write a file beside the old one and put it in its place; raises `OSError`."""
    folder = state_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = folder / f"{name}.{os.getpid()}.new"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(values, file)
    draft.replace(folder / f"{name}.json")


def kept(name: str) -> Any:
    """What the file holds, None where there is none that can be read."""
    with suppress(OSError, ValueError):
        return json.loads((state_folder() / f"{name}.json").read_text(encoding="utf-8"))
    return None


def remembered_threads(weights: Path, compute_type: str) -> int | None:
    """How many threads were fastest with these weights on this machine; None where nobody has measured."""
    measured = kept(THREADS)
    threads = measured.get(_key(weights, compute_type)) if isinstance(measured, dict) else None
    return threads if isinstance(threads, int) and 1 <= threads <= 64 else None


def remember_threads(weights: Path, compute_type: str, threads: int) -> None:
    """Keep how many threads were fastest; where it cannot be kept it is measured again."""
    measured = kept(THREADS)
    others = measured if isinstance(measured, dict) else {}
    with suppress(OSError):
        keep(THREADS, {**others, _key(weights, compute_type): threads})


def _key(weights: Path, compute_type: str) -> str:
    return f"{platform.node()}, {os.cpu_count()} cores, {weights.resolve()}, {compute_type}"
