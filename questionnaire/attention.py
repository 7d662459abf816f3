"""Signals that a person is waited for: the terminal's bell, and herdr, which watches agents in panes."""

import json
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol, Self

import anyio

from questionnaire.display import shortened
from questionnaire.mirrors import BLOCKED, Event, Mirrors

_log = logging.getLogger(__name__)

_LABEL_CELLS = 120
_HERDR_S = 1.0
"""How long herdr may take; whoever waits for a person does not wait for it."""


class Attention(Protocol):
    """A signal that is given when a questionnaire opens, and taken back when it has ended."""

    async def call(self, label: str) -> None:
        """Ask for attention; `label` is what is asked, as hostile as any text of a model's."""
        ...

    async def release(self) -> None:
        """Nobody is waited for any more."""
        ...


class Bell:
    """Rings the terminal's bell, once a questionnaire. `write` writes to the terminal."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    @classmethod
    def of_terminal(cls) -> Self:
        """Return the bell of the controlling terminal, which is silent where there is none."""
        return cls(_to_terminal)

    async def call(self, label: str) -> None:  # noqa: ARG002 - a bell says no words
        """Ring."""
        self._write("\a")

    async def release(self) -> None:
        """Do nothing: what has rung has rung."""


class HerdrEvents:
    """Tells whoever listens to the mirrors, as an extension inside Pi does."""

    def __init__(self, mirrors: Mirrors) -> None:
        self._mirrors = mirrors

    async def call(self, label: str) -> None:
        """Say that the agent is blocked."""
        self._mirrors.emit(Event(BLOCKED, {"active": True, "label": shortened(label, _LABEL_CELLS)}))

    async def release(self) -> None:
        """Say that it goes on."""
        self._mirrors.emit(Event(BLOCKED, {"active": False}))


class HerdrSocket:
    """Tells herdr, outside Pi, through its socket: a line of JSON a report.

    A herdr that is gone, refuses or hangs is logged and holds nothing up.
    """

    def __init__(self, path: str, pane_id: str, agent: str = "questionnaire") -> None:
        self._path, self._pane_id, self._agent = path, pane_id, agent
        self._count = 0

    @classmethod
    def from_environment(
        cls, environ: Mapping[str, str], agent: str = "questionnaire"
    ) -> "HerdrSocket | None":
        """Return the herdr in whose pane this process runs, None where it runs in none."""
        path, pane_id = environ.get("HERDR_SOCKET_PATH"), environ.get("HERDR_PANE_ID")
        if environ.get("HERDR_ENV") != "1" or not path or not pane_id:
            return None
        return cls(path, pane_id, agent)

    async def call(self, label: str) -> None:
        """Report the pane's agent as blocked."""
        await self._report("blocked", label)

    async def release(self) -> None:
        """Report it as working: it goes on with what it got."""
        await self._report("working", "")

    async def _report(self, state: str, message: str) -> None:
        self._count += 1
        source = f"custom:{self._agent}"
        params = {"pane_id": self._pane_id, "source": source, "agent": self._agent, "state": state}
        if message:
            params["message"] = shortened(message, _LABEL_CELLS)
        report = {"id": f"{source}:{self._count}", "method": "pane.report_agent", "params": params}
        try:
            with anyio.fail_after(_HERDR_S):
                async with await anyio.connect_unix(self._path) as stream:
                    await stream.send(json.dumps(report).encode() + b"\n")
                    await stream.receive()  # herdr has taken it; before that, hanging up might undo it
        except (OSError, anyio.EndOfStream, anyio.BrokenResourceError) as error:
            _log.warning("herdr was not told that the agent is %s: %r", state, error)


async def call(attention: Attention, label: str) -> None:
    """Ask for attention. A signal that fails is logged; nobody waits for it."""
    try:
        await attention.call(label)
    except Exception:
        _log.exception("%s could not call", type(attention).__name__)


async def attend(attention: Attention, label: str) -> None:
    """Ask for attention until cancelled, then take the signal back."""
    try:
        await call(attention, label)
        await anyio.sleep_forever()
    finally:
        with anyio.move_on_after(_HERDR_S, shield=True):
            try:
                await attention.release()
            except Exception:
                _log.exception("%s could not be taken back", type(attention).__name__)


def _to_terminal(text: str) -> None:
    """Write to the controlling terminal, unless it takes nothing now: a bell is not waited for."""
    with suppress(OSError):
        terminal = os.open("/dev/tty", os.O_WRONLY | os.O_NONBLOCK)
        try:
            os.write(terminal, text.encode())
        finally:
            os.close(terminal)
