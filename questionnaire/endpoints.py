"""Where clients come in, and how serving ends: standard input, a port behind a token, and signals."""

import os
import secrets
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import TaskStatus

from questionnaire.errors import PortUnusable

__all__ = [
    "TOKEN",
    "Port",
    "StandardInput",
    "check_streams",
    "open_port",
    "until_signalled",
    "waiting_told",
    "with_token",
]

LOOPBACK = "127.0.0.1"
PATH = "/mcp"

TOKEN = "VIVA_VOICE_TOKEN"  # noqa: S105 - its name
"""The environment variable that holds the token: on the command line everybody could read it."""

SHORTEST_TOKEN = 16
"""Characters of a token: fewer can be guessed."""

LONGEST_LINE = 64 << 20
"""Bytes of a line that are kept: no message is longer, and a peer that never ends one fills no memory."""

_READ = 1 << 16

_App = Callable[[Any, Any, Any], Awaitable[None]]


class StandardInput:
    """The lines of standard input, decoded, without their ends; waiting for one can be cancelled.

    While they are read nobody else gets any of it: children and libraries find standard input empty. A line
    that is longer than `LONGEST_LINE` comes cut off.
    """

    async def __aiter__(self) -> AsyncIterator[str]:
        """Give the lines until the other side ends; what it had begun last comes as well."""
        if sys.stdin is None:  # it was closed before we began, and its number may be something else's by now
            return
        own = os.dup(0)
        with open(os.devnull, "rb") as nothing:  # noqa: ASYNC230, PTH123 - it opens at once
            os.dup2(nothing.fileno(), 0)
        begun = bytearray()
        try:
            while block := await _block(own):
                first, *others = block.split(b"\n")
                begun += first[: max(0, LONGEST_LINE - len(begun))]
                for line in others:
                    yield begun.decode(errors="replace")
                    begun = bytearray(line)
            if begun:
                yield begun.decode(errors="replace")
        finally:
            os.dup2(own, 0)
            os.close(own)


def check_streams() -> None:
    """Make sure that there is a client on standard input and output. Raises `PortUnusable`."""
    if sys.stdin is None or sys.stdout is None:
        raise PortUnusable("Standard input or standard output is closed, so there is no client to serve.")


def waiting_told(command: str) -> str:
    """Return what somebody is told who starts a server by hand and would see nothing; empty for a client."""
    if sys.stdin is None or not sys.stdin.isatty():
        return ""
    return (
        f"{command}: waiting for an MCP client on standard input; this command is for a client to start."
        " Ctrl-C ends it."
    )


async def _block(descriptor: int) -> bytes:
    """Return some bytes, none at the end."""
    while True:
        with suppress(PermissionError):  # of a plain file, which can always be read
            await anyio.wait_readable(descriptor)
        with suppress(BlockingIOError):
            return os.read(descriptor, _READ)


@dataclass(frozen=True)
class Port:
    """A port of this machine to serve at, and the token that its clients need; `made` where it is new."""

    listening: socket.socket
    token: str
    made: bool

    @property
    def address(self) -> str:
        """Where clients find the server."""
        return f"http://{LOOPBACK}:{self.listening.getsockname()[1]}{PATH}"


def open_port(number: int, environ: Mapping[str, str]) -> Port:
    """Listen on this machine alone; 0 takes any port that is free.

    The token is the environment's, or a new one. Raises `PortUnusable`.
    """
    given = environ.get(TOKEN)
    if given is not None and (len(given) < SHORTEST_TOKEN or not given.isascii() or not given.isprintable()):
        raise PortUnusable(
            f"The token in {TOKEN} has to be {SHORTEST_TOKEN} plain characters or more."
            " Without that variable one is made."
        )
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LOOPBACK, number))
        listening.listen()
    except OSError as error:
        listening.close()
        raise PortUnusable(f"Port {number} of {LOOPBACK} cannot be used: {error.strerror}.") from error
    return Port(listening, given or secrets.token_urlsafe(), made=given is None)


def with_token(app: _App, token: str) -> _App:
    """Return the ASGI application `app` behind a token: a request without it gets 401, whatever it wants."""
    wanted = token.encode()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            scheme, _, given = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
            known = scheme.lower() == b"bearer" and secrets.compare_digest(given.strip(), wanted)
            if scope["type"] != "http" or not known:
                headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b"This needs the token of the server.\n"})
                return
        await app(scope, receive, send)

    return guarded


async def until_signalled(serve: Callable[[], Awaitable[None]]) -> signal.Signals | None:
    """Serve until that ends, or until SIGINT, SIGTERM or SIGHUP comes; returns which one came.

    Only the first one is taken: a second one ends the process as if nobody had handled it.
    """
    came: signal.Signals | None = None

    async def end_on_signal(*, task_status: TaskStatus[None]) -> None:
        nonlocal came
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
            task_status.started()
            came = await anext(aiter(signals))
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        await tasks.start(end_on_signal)
        await serve()
        tasks.cancel_scope.cancel()
    return came
