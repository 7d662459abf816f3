"""Settings, terminal, and the folder in which things are kept."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voice.doctor.findings import Finding, fails, fault, works
from voice.errors import LibraryMissing, SettingsError, VoiceError

if TYPE_CHECKING:
    from voice.settings import Settings

LEAST_FREE = 100_000_000
"""Bytes: an hour of sound in the journal."""

LEAST_COLUMNS, LEAST_ROWS = 40, 12
"""Of the screen: with less, questions and the lines below them do not fit."""

_QUICK_ESCAPE_MS = 100
"""How long tmux may wait for what follows Esc before a person notices."""

_ANSWERS_WITHIN_S = 2.0


def read_settings() -> tuple[Finding, Settings | None]:
    """The settings file, read and checked; None where it cannot be."""
    try:
        from voice.settings import load_settings, settings_path

        where, settings = settings_path(), load_settings()
    except SettingsError as error:
        return fault("settings", error), None
    except ImportError as error:
        return fault("settings", LibraryMissing(error)), None
    if where.exists():
        return Finding("settings", ok=True, detail=str(where), public="a file"), settings
    return works("settings", "defaults", private=f"; no {where}"), settings


def last_session() -> Mapping[str, Any] | None:
    """What was kept of the last conversation, summed up; None where there is none that can be read."""
    try:
        from voice.keeping import LAST_SESSION, kept
        from voice.statistics import SessionStatistics

        return SessionStatistics.from_json(kept(LAST_SESSION)).summary()
    except (ImportError, ValueError):
        return None


@dataclass(frozen=True)
class Terminal:
    """What standard input and output are."""

    interactive: bool
    name: str
    """The variable `TERM`."""
    columns: int
    rows: int
    colours: str
    encoding: str
    escape_ms: int | None = None
    """How long tmux waits behind Esc; None where that is not known, or there is none."""

    @classmethod
    def here(cls) -> Terminal:
        """The one that this program runs in."""
        interactive = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
        # The screen draws by what the terminal says, whatever COLUMNS and LINES do.
        size = os.get_terminal_size(sys.stdout.fileno()) if interactive else os.terminal_size((0, 0))
        term = os.environ.get("TERM", "")
        if "NO_COLOR" in os.environ:
            colours = "no"
        elif os.environ.get("COLORTERM", "") in ("truecolor", "24bit"):
            colours = "16 million"
        else:
            colours = "256" if "256" in term else "16"
        return cls(
            interactive=interactive,
            name=term,
            columns=size.columns,
            rows=size.lines,
            colours=colours,
            encoding=(sys.stdout.encoding if sys.stdout is not None else None) or "ascii",
            escape_ms=_escape_ms(),
        )


def terminal_fits(terminal: Terminal) -> Finding:
    """Whether `voice chat` can show its screen, and Esc acts at once."""

    def found(detail: str, mend: str | None = None) -> Finding:
        return works("terminal", detail, mend=mend, needed=False)

    if not terminal.interactive:
        return found("none here: voice chat would read and print lines")
    if terminal.name in ("", "dumb", "unknown"):
        return found(
            f"TERM is {terminal.name or 'not set'}: voice chat reads and prints lines",
            "for a screen, run it in a terminal that sets TERM, such as xterm-256color",
        )
    told = f"{terminal.name}, {terminal.columns} by {terminal.rows}, {terminal.colours} colours"
    if terminal.columns < LEAST_COLUMNS or terminal.rows < LEAST_ROWS:
        return found(
            f"{told}: small for a screen",
            f"make it at least {LEAST_COLUMNS} by {LEAST_ROWS}, or: voice chat --plain",
        )
    if "utf" not in terminal.encoding.lower():
        return found(
            f"{told}, {terminal.encoding}: some characters are shown as codes", "export LANG=C.UTF-8"
        )
    if terminal.escape_ms is not None and terminal.escape_ms > _QUICK_ESCAPE_MS:
        return found(
            f"{told}: tmux holds Esc back for {terminal.escape_ms / 1000:g} s",
            "tmux set -s escape-time 20",
        )
    return found(told)


def _escape_ms() -> int | None:
    if not os.environ.get("TMUX") or (tmux := shutil.which("tmux")) is None:
        return None
    try:
        told = subprocess.run(
            [tmux, "show-options", "-sv", "escape-time"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ANSWERS_WITHIN_S,
            check=False,
        ).stdout
        return int(told)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def journal_kept() -> Finding:
    """The folder of the journal and of what is remembered: writable, nobody else's, with room, what waits."""
    try:
        from voice.assembly import journal_folder

        folder = journal_folder()
    except ImportError as error:
        return fault("journal", LibraryMissing(error), needed=False)
    except VoiceError as error:
        return fault("journal", error, needed=False)
    return examine_folder(folder)


def examine_folder(folder: Path) -> Finding:
    """The same for this folder; what is not there yet is looked for where it would be made."""

    def found(detail: str, mend: str | None = None, *, ok: bool = True, pending: int = 0) -> Finding:
        figures = {"pending": float(pending), "free_mb": free / 1e6}
        if ok:
            return works("journal", detail, private=where, mend=mend, needed=False, figures=figures)
        return fails("journal", detail, mend, private=where, needed=False, figures=figures)

    there, free, where = folder, 0, f" ({folder})"
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        free = shutil.disk_usage(there).free
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        return found(
            f"nothing can be kept: {error.strerror}",
            f"make {there} a folder that you can write into, or export XDG_STATE_HOME=FOLDER",
            ok=False,
        )
    pending = 0
    if folder.is_dir():
        at = folder.lstat()
        # What is a link, or somebody else's, is not used at all, and is nothing to be closed to others.
        ours = stat.S_ISDIR(at.st_mode) and at.st_uid == os.getuid()
        if ours and stat.S_IMODE(at.st_mode) & 0o077:
            return found("others can read what is kept", f"chmod 700 '{folder}'", ok=True)
        try:
            pending = _pending(folder)
        except (VoiceError, OSError) as error:
            what = error.sentence if isinstance(error, VoiceError) else f"it cannot be read: {error.strerror}"
            mend = error.mend if isinstance(error, VoiceError) else None
            return found(what, mend or f"make {folder} yours: chown, chmod 700", ok=False)
    if free < LEAST_FREE:
        return found(f"only {free / 1e6:.0f} MB are free", "free some space", pending=pending)
    if pending:
        return found(
            f"{pending} not delivered", "hear, send or forget it: voice journal list", pending=pending
        )
    return found("writable, nothing waits")


def _pending(folder: Path) -> int:
    from voice.journal.store import Store

    with Store(folder, create=False) as store:
        return len(store.found().pending)
