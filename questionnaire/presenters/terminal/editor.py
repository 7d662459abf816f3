"""The user's own editor on a text: `$VISUAL`, `$EDITOR`, or vi."""

import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio

NOT_STARTED = "No editor could be started: VISUAL or EDITOR says which."
FAILED = "The editor failed: the text is what it was."

_GRACE_S = 1.0
_LOOK_S = 0.5
"""So often the file is looked at: what was saved there outlives an end that comes from elsewhere."""

_RESCUED = ".save"
"""What nano puts behind the name of a file when it is terminated with changes that were not saved."""


@dataclass(frozen=True, slots=True)
class Edited:
    """What a text became; `notice` is a sentence about an editor that did not do what it was for."""

    text: str
    notice: str = ""


async def edit_text(text: str, read_fd: int, write_fd: int, written: Callable[[str], object]) -> Edited:
    """Open `text` in the user's editor on a terminal and return what it became.

    Where there is no such editor, or where it failed, that is the text as it was. Meanwhile `written` is
    called every now and then with what has been saved so far, and so it is once more where the call is
    cancelled. The one line break that editors put at the end of a file is no part of the text.
    """
    try:
        command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
        folder = Path(tempfile.mkdtemp(prefix="answer-"))  # which nobody else can read
    except (OSError, ValueError):
        return Edited(text, NOT_STARTED)
    path, saved = folder / "answer.md", text
    try:
        path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
        async with await anyio.open_process(
            [*command, str(path)], stdin=read_fd, stdout=write_fd, stderr=write_fd
        ) as process:
            try:
                while True:
                    with anyio.move_on_after(_LOOK_S):
                        code = await process.wait()
                        break
                    # A file that is empty or gone is about to be written.
                    saved = _read(path, text) or saved
                    written(saved)
            except anyio.get_cancelled_exc_class():
                # It then gives the screen back, as it could not if it were killed. By its own method asyncio
                # would take the exit code of one that has just ended away from itself, and log that.
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGTERM)
                with anyio.move_on_after(_GRACE_S, shield=True):
                    await process.wait()
                rescued = path.with_name(path.name + _RESCUED)
                written(_read(rescued, text) or _read(path, text) or saved)
                raise
        if code > 0:
            return Edited(text, FAILED)
        edited = _read(path, text)
        return Edited(saved if edited is None else edited)
    except OSError:
        return Edited(saved, NOT_STARTED)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read(path: Path, before: str) -> str | None:
    """Return the text in a file, None where there is none."""
    try:
        edited = path.read_bytes().decode(errors="replace").replace("\r\n", "\n")
    except OSError:
        return None
    return edited if before.endswith("\n") else edited.removesuffix("\n")
