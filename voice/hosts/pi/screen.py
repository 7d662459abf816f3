"""Questions on Pi's own screen: the dialog drawn there, or Pi's own dialogs where it cannot be."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream

from questionnaire import (
    Canvas,
    CanvasPresenter,
    ClientLost,
    DialogsPresenter,
    Drawn,
    Interview,
    NoInterface,
    Resized,
    Typed,
)
from voice.hosts.pi.bridge import Bridge

_SHOWN_WITHIN_S = 5.0
_GONE = "Pi went away before the user had answered"


class PiScreen:
    """A `questionnaire.Presenter` on the screen of the Pi at the other end of a bridge.

    ``bridge`` is given by the host that has one; without it, and without a Pi, nothing can be shown.
    """

    def __init__(self) -> None:
        self.bridge: Bridge | None = None

    async def present(self, interview: Interview) -> None:
        """Ask there until there is an outcome."""
        if self.bridge is None or not self.bridge.connected:
            raise NoInterface("there is no Pi whose screen could show it")
        bridge = self.bridge
        if bridge.mode == "tui":
            try:
                await CanvasPresenter(lambda: _canvas(bridge)).present(interview)
            except NoInterface:
                if not bridge.connected:
                    raise
            else:
                return
        await DialogsPresenter(_Dialogs(bridge)).present(interview)


@asynccontextmanager
async def _canvas(bridge: Bridge) -> AsyncGenerator[Canvas]:
    """A canvas on Pi's screen. Raises `NoInterface` where that Pi has none."""
    key = f"canvas-{uuid4().hex}"
    async with _heard(bridge, key) as said:
        canvas = _BridgeCanvas(bridge, key, said)
        bridge.put({"type": "canvas.open", "id": key})
        try:
            with anyio.move_on_after(_SHOWN_WITHIN_S) as waiting:
                await canvas.begin()
            if waiting.cancelled_caught:
                raise NoInterface("Pi does not show it")
            yield canvas
        finally:
            bridge.put({"type": "canvas.close", "id": key})


class _BridgeCanvas:
    """A `questionnaire.Canvas` at the other end of the bridge."""

    def __init__(
        self, bridge: Bridge, key: str, said: MemoryObjectReceiveStream[Mapping[str, Any] | None]
    ) -> None:
        self._bridge = bridge
        self._key = key
        self._said = said
        self._first: Resized | Drawn | Typed | None = None
        self._drawn = self._owed = 0

    async def begin(self) -> None:
        """Return when it is there."""
        try:
            self._first = await self.receive()
        except ClientLost as lost:
            raise NoInterface(str(lost)) from lost

    def draw(self, columns: int, lines: list[str]) -> None:
        """Show these lines there."""
        self._drawn += 1
        told = {"type": "canvas.draw", "id": self._key, "n": self._drawn, "columns": columns, "lines": lines}
        self._bridge.put(told)

    async def receive(self) -> Resized | Drawn | Typed:
        """What happens next."""
        if self._first is not None:
            first, self._first = self._first, None
            return first
        while True:
            match await self._said.receive():
                case {"type": "canvas.size", "columns": int(columns), "rows": int(rows)}:
                    return Resized(columns, rows)
                case {"type": "canvas.key", "data": str(data)}:
                    return Typed(data)
                case {"type": "canvas.drawn", "n": int(number)} if number == self._drawn:
                    return Drawn()
                case {"type": "canvas.closed", "shown": False}:
                    raise ClientLost("this Pi has no screen to draw on")
                case None | {"type": "canvas.closed"}:
                    raise ClientLost(_GONE)


class _Dialogs:
    """A `questionnaire.DialogClient`: Pi's own `select` and `input`."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def select(self, title: str, options: list[str], /) -> str | None:
        """Ask for one of ``options``."""
        return await self._ask({"method": "select", "title": title, "options": options})

    async def input(self, title: str, placeholder: str, /) -> str | None:
        """Ask for a text."""
        return await self._ask({"method": "input", "title": title, "placeholder": placeholder})

    async def _ask(self, dialog: Mapping[str, Any]) -> str | None:
        key = f"dialog-{uuid4().hex}"
        async with _heard(self._bridge, key) as said:
            if not self._bridge.put({"type": "dialog.open", "id": key, **dialog}):
                raise NoInterface("there is no Pi whose screen could show it")
            try:
                answer = await said.receive()
            finally:
                self._bridge.put({"type": "dialog.close", "id": key})
        if answer is None:
            raise ClientLost(_GONE)
        if "error" in answer:
            raise NoInterface(f"Pi cannot show it: {answer['error']}")
        value = answer.get("value")
        return value if isinstance(value, str) else None


@asynccontextmanager
async def _heard(
    bridge: Bridge, key: str
) -> AsyncGenerator[MemoryObjectReceiveStream[Mapping[str, Any] | None]]:
    """What the bridge says about one canvas or dialog; None when Pi is gone."""
    send, said = anyio.create_memory_object_stream[Mapping[str, Any] | None](math.inf)
    bridge.hear_with(key, send.send_nowait)
    with send, said:
        try:
            yield said
        finally:
            bridge.hear_with(key, None)
