"""What is remembered from one session to the next: small JSON files that nobody but the user can read.

They are in ``viva-voce`` in the user's folder for state (``$XDG_STATE_HOME`` or ``~/.local/state``). What is
lost with them is measured anew, so one that cannot be read counts as not there.
"""

from __future__ import annotations

import json
import os
import platform
import re
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from voice.errors import SettingsError
from voice.settings import expanded

LAST_SESSION = "last-session"
"""How the last session went: `voice.statistics.SessionStatistics`."""

THREADS = "threads"
"""How many threads were fastest, by a digest of machine and weights."""


def state_folder() -> Path:
    """Where the files are, or would be."""
    state = os.environ.get("XDG_STATE_HOME") or expanded("~/.local/state", "the state")
    return Path(state) / "viva-voce"


def keep(name: str, values: Any) -> None:
    """Write a file beside the old one and put it in its place; raises `OSError`, `SettingsError`."""
    folder = state_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(folder / f"{name}.json", json.dumps(values).encode(), mode=0o600)


def kept(name: str) -> Any:
    """What the file holds, None where there is none that can be read."""
    with suppress(OSError, ValueError, RecursionError, SettingsError):
        return json.loads((state_folder() / f"{name}.json").read_text(encoding="utf-8"))
    return None


def write_whole(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Put a file in its place whole, or leave what is there: nobody sees one that is half written.

    A link stays one. Without a ``mode`` a file that was there keeps its own, and its owner. Raises `OSError`,
    with nothing left behind.
    """
    place = path.resolve()
    draft = place.with_name(f"{place.name}.{os.getpid()}.new")
    made_with = 0o666 if mode is None else mode
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, made_with), "wb") as file:
            if mode is None and place.exists():
                before = place.stat()
                with suppress(PermissionError):
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
                os.fchmod(file.fileno(), before.st_mode & 0o7777)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # else a crash of the machine may leave the name without the content
        draft.replace(place)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def remembered_threads(weights: Path, compute_type: str) -> int | None:
    """How many threads were fastest with these weights on this machine; None where nobody has measured."""
    threads = _measured().get(_key(weights, compute_type))
    return threads if isinstance(threads, int) and 1 <= threads <= 64 else None


def remember_threads(weights: Path, compute_type: str, threads: int) -> None:
    """Keep how many threads were fastest; where it cannot be kept it is measured again."""
    with suppress(OSError, SettingsError):
        keep(THREADS, {**_measured(), _key(weights, compute_type): threads})


_KEY = re.compile("[0-9a-f]{32}")


def _measured() -> dict[str, Any]:
    """The numbers by their keys. A file with other keys names the machine and its folders: it goes."""
    measured = kept(THREADS)
    if isinstance(measured, dict) and all(_KEY.fullmatch(key) for key in measured):
        return measured
    if measured is not None:
        with suppress(OSError):
            (state_folder() / f"{THREADS}.json").unlink()
    return {}


def _key(weights: Path, compute_type: str) -> str:
    """Stands for this machine and these weights, and tells neither: homes are shared, and files sent."""
    try:
        size = (weights / "model.bin").stat().st_size
    except OSError:
        size = 0
    told = (platform.node(), os.cpu_count(), str(weights.resolve()), size, compute_type)
    return sha256(json.dumps(told).encode()).hexdigest()[:32]
