"""The names in the working folder that somebody may say: its branch, and its files, the newest first.

Looked at once, when a conversation begins, and never deep: a folder of any size takes some milliseconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

MOST_ENTRIES = 200
"""Of one folder no more entries are looked at."""

MOST_FOLDERS = 20
"""Nor into more folders below it."""

MOST_NAMES = 30

MADE = frozenset({"__pycache__", "node_modules", "dist", "build", "target", "venv"})
"""Folders of what programs have made: nobody says those names."""


def names_of_folder(folder: Path) -> tuple[str, ...]:
    """The branch that is checked out in a folder, and the names of its files, hidden ones aside.

    What cannot be read is left out; without the right to read anything there are no names.
    """
    files: list[tuple[float, str]] = []
    below: list[Path] = []
    for entry in _entries(folder):
        with suppress(OSError):
            if entry.name in MADE:
                continue
            if entry.is_dir(follow_symlinks=False):
                below.append(Path(entry.path))
            else:
                files.append((entry.stat(follow_symlinks=False).st_mtime, entry.name))
    for deeper in below[:MOST_FOLDERS]:
        for entry in _entries(deeper):
            with suppress(OSError):
                if entry.is_file(follow_symlinks=False):
                    files.append((entry.stat(follow_symlinks=False).st_mtime, entry.name))
    newest = [name for _, name in sorted(files, reverse=True)]
    branch = branch_of(folder)
    return tuple(islice(dict.fromkeys([*([branch] if branch else []), *newest]), MOST_NAMES))


def branch_of(folder: Path) -> str | None:
    """The branch that Git has checked out in a folder; None where there is none."""
    try:
        git = folder / ".git"
        if git.is_file():  # a worktree, or a submodule
            git = folder / git.read_text(encoding="utf-8").strip().removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    reference = head.removeprefix("ref: refs/heads/")
    return reference if reference != head else None


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as entries:
        yield from (entry for entry in islice(entries, MOST_ENTRIES) if not entry.name.startswith("."))
