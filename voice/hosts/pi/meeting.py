"""The folder in which Pi finds us: for the user alone, with a socket and a token for one meeting."""

from __future__ import annotations

import fcntl
import hmac
import os
import secrets
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
from anyio.abc import SocketListener

from voice.errors import HostError

ENVIRONMENT = "VIVA_VOICE_BRIDGE"
"""The environment variable that names the folder to the bridge; without it that is `rendezvous`."""

_SOCKET, _TOKEN = "socket", "token"
_LONGEST_PATH = 103
"""Bytes: what the name of a socket may have on macOS; Linux allows four more."""


def rendezvous() -> Path:
    """The folder where a Pi with a terminal of its own finds us; the bridge works it out in the same way."""
    if named := os.environ.get(ENVIRONMENT):
        return Path(named)
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(runtime) / "viva-voce" / "pi"
    # Right below a folder where nobody can move what is another's, so that only its owner need be checked.
    return Path(os.environ.get("TMPDIR") or "/tmp") / f"viva-voce-pi-{os.getuid()}"  # noqa: S108


class MeetingPlace:
    """One such folder, while somebody waits in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._token = ""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[SocketListener]:
        """Wait there; raises `HostError` where the folder is not ours alone, or taken."""
        self._own()
        path = self._folder / _SOCKET
        if len(os.fsencode(path)) > _LONGEST_PATH:
            raise HostError(
                f"{path} is too long for the name of a socket.", mend=f"name a folder in {ENVIRONMENT}"
            )
        held = self._lock()
        try:
            try:
                listener = await anyio.create_unix_listener(path, mode=0o600)
                self._write_token()
            except OSError as error:
                raise self._unusable(error) from error
            try:
                async with listener:
                    yield listener
            finally:
                for name in (_TOKEN, _SOCKET):
                    with suppress(OSError):
                        (self._folder / name).unlink()
        finally:
            os.close(held)

    def admits(self, token: object) -> bool:
        """Whether this is the token in the folder, which then is another: it is good for one meeting."""
        said = token.encode(errors="replace") if isinstance(token, str) else b""
        if not hmac.compare_digest(said, self._token.encode()):
            return False
        with suppress(OSError):  # the folder is gone, and with it the way to us
            self._write_token()
        return True

    def _own(self) -> None:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = self._folder.lstat()
        except OSError as error:
            raise HostError(
                f"The folder {self._folder} cannot be made: {error.strerror or error}."
            ) from error
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise HostError(
                f"The folder {self._folder} is not for you alone, so no Pi is waited for in it.",
                mend=f"name one in {ENVIRONMENT} that is, or that does not exist yet",
            )

    def _lock(self) -> int:
        """Of two that come at once one has it, and a dead process has none; close what is returned."""
        held = -1
        try:
            held = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if held >= 0:
                os.close(held)
            if isinstance(error, BlockingIOError):
                raise HostError(
                    f"Another Viva Voce waits for Pi in {self._folder}.",
                    mend=f"end it, or name another folder in {ENVIRONMENT}",
                ) from error
            raise self._unusable(error) from error
        return held

    def _unusable(self, error: OSError) -> HostError:
        return HostError(f"No Pi can be waited for in {self._folder}: {error.strerror or error}.")

    def _write_token(self) -> None:
        self._token = secrets.token_urlsafe(32)
        written = self._folder / f".{_TOKEN}"
        written.touch(mode=0o600)
        written.write_text(self._token)
        written.replace(self._folder / _TOKEN)
