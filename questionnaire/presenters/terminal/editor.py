"""The user's own editor on a text: `$VISUAL`, `$EDITOR`, or vi."""

import os
import shlex
import tempfile
from pathlib import Path

import anyio

_GRACE_S = 1.0


async def edit_text(text: str, read_fd: int, write_fd: int) -> str | None:
    """Open `text` in the user's editor on a terminal and return what it became.

    None where there is no such editor, or where it failed: then nothing is changed. The one line break
    that editors put at the end of a file is no part of the text.
    """
    try:
        command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
        path = _written(text)
    except (OSError, ValueError):
        return None
    try:
        async with await anyio.open_process(
            [*command, str(path)], stdin=read_fd, stdout=write_fd, stderr=write_fd
        ) as process:
            try:
                failed = await process.wait()
            except anyio.get_cancelled_exc_class():
                process.terminate()  # it then gives the screen back, as it could not if it were killed
                with anyio.move_on_after(_GRACE_S, shield=True):
                    await process.wait()
                raise
        return None if failed else _read(path, text)
    except OSError:
        return None
    finally:
        _remove(path)


def _written(text: str) -> Path:
    """Return a new file that holds `text`, readable by the user alone."""
    handle, name = tempfile.mkstemp(prefix="answer-", suffix=".md")
    with open(handle, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:  # noqa: PTH123
        file.write(text)
    return Path(name)


def _read(path: Path, before: str) -> str:
    edited = path.read_bytes().decode(errors="replace").replace("\r\n", "\n")
    return edited if before.endswith("\n") else edited.removesuffix("\n")


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
