"""A Pi with a terminal of its own as a host: it runs elsewhere, and its bridge comes to us."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio

from questionnaire import AdjustableToolset, Mirrors
from voice.errors import HostDied, HostError
from voice.events import Emit, Event, Notice
from voice.hosts.pi.bridge import Bridge
from voice.hosts.pi.meeting import rendezvous
from voice.hosts.pi.screen import PiScreen
from voice.hosts.pi.turns import Turns
from voice.ports import Delivery
from voice.tasks import lone_errors

HOW = 'pi -e "$(voice bridge-path)"'
"""How a Pi is started that we can be attached to."""

_RETURNS_WITHIN_S = 3.0
"""A Pi that reloads, or begins another session, hangs up and comes back; one that ends does not."""

_STOPS_WITHIN_S = 10.0

_PULSE_S = 2.0
"""How often Pi is asked for a sign of life."""
_ANSWERS_WITHIN_S = 4.0
"""A Pi that gives none for so long is suspended, or hangs: at work it answers at once."""


class PiAttachedHost:
    """A `voice.ports.Host` for the Pi that somebody has started in another terminal.

    Opening it waits for that Pi. ``screen`` is given the bridge, to ask on Pi's screen. The dialogs of Pi's
    other extensions stand there as well, so nothing is asked through ``ask``.
    """

    comes_by_itself: Literal[True] = True

    def __init__(
        self,
        *,
        tools: AdjustableToolset,
        emit: Emit,
        screen: PiScreen | None = None,
        mirrors: Mirrors | None = None,
        folder: Path | None = None,
    ) -> None:
        self.mirrors = mirrors
        self._bridge = Bridge(tools, relay=self._hear, refused=self._refused)
        if screen is not None:
            screen.bridge = self._bridge
        self._emit = emit
        self._folder = folder or rendezvous()
        self._turns = Turns(self._bridge.ours)
        self._open = self._lost = self._silent = False

    @property
    def name(self) -> str:
        """What a person calls it."""
        return "Pi"

    @property
    def busy(self) -> bool:
        """Whether Pi is at work on a turn."""
        return self._turns.busy

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Wait for Pi, and stay with it; Pi itself goes on when this is left.

        Raises `HostError` where nothing can be waited for, because somebody else does.
        """
        self._turns = Turns(self._bridge.ours)
        self._lost = self._silent = False
        with lone_errors():
            self._bridge.mirrors = self.mirrors
            async with self._bridge.serve(self._folder):
                if not self._bridge.connected:
                    with anyio.move_on_after(_RETURNS_WITHIN_S / 2):
                        await self._met()
                if not self._bridge.connected:
                    self._emit(Notice(f"Waiting for Pi. Start it in another terminal: {HOW}"))
                    await self._met()
                await self._bridge.settled()
                self._open = True
                self._tell(*self._bridge.faults())
                if self._bridge.working:
                    self._tell(*self._turns.started())
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._watch)
                    tasks.start_soon(self._feel_the_pulse)
                    try:
                        yield
                    finally:
                        self._tell(*self._turns.settled())
                        self._open = False
                        tasks.cancel_scope.cancel()

    async def send(self, text: str, delivery: Delivery = Delivery.FOLLOW_UP) -> None:
        """Have Pi take a user message, in which no command is expanded. Raises `HostError` where not."""
        if not self._open:
            raise HostError("No Pi has been waited for.")
        if self._lost:
            raise HostDied("Pi has ended.")
        if self._silent:  # what was put now would be taken when it is no longer expected
            raise HostError("Pi does not answer.")
        if delivery is Delivery.INTERRUPT:
            await self.interrupt()
        await self._bridge.settled()
        idle, begun = not self._turns.busy, self._turns.count
        behaviour: Literal["steer", "followUp"] = "followUp" if delivery is Delivery.FOLLOW_UP else "steer"
        await self._bridge.say(text, behaviour)
        if idle and self._turns.count == begun:
            self._tell(*self._turns.started())

    async def interrupt(self) -> None:
        """Have Pi stop what it is at. Raises `HostError` where it does not."""
        if not self._turns.busy or not self._bridge.put({"type": "stop"}):
            return
        with anyio.move_on_after(_STOPS_WITHIN_S):
            while self._turns.busy:
                await self._bridge.changed()
            return
        raise HostError("Pi does not stop what it is at.")

    async def _met(self) -> None:
        while not self._bridge.connected:
            await self._bridge.changed()

    async def _watch(self) -> None:
        """See that Pi is there; tell once when it is not."""
        while True:
            while self._bridge.connected:
                await self._bridge.changed()
            with anyio.move_on_after(_RETURNS_WITHIN_S):
                await self._met()
            if not self._bridge.connected:
                self._lost = True
                sentence = "Pi has ended, or was started anew without the bridge."
                self._tell(*self._turns.lost(sentence))
                return
            if not self._bridge.working:  # it came back with another session
                self._tell(*self._turns.settled())

    async def _feel_the_pulse(self) -> None:
        """Tell when Pi gives no sign of life, and when it gives one again."""
        while True:
            await anyio.sleep(_PULSE_S)
            if not self._bridge.connected:
                self._silent = False
                continue
            silent = not await self._bridge.answers(_ANSWERS_WITHIN_S)
            if silent and not self._silent:
                self._tell(
                    Notice("Pi does not answer: it is suspended, or hangs. Look at its terminal (fg).")
                )
            elif self._silent and not silent:
                self._tell(Notice("Pi answers again."))
            self._silent = silent

    def _hear(self, event: Mapping[str, Any]) -> None:
        self._tell(*self._turns.take(event))

    def _refused(self, key: str, text: str | None) -> None:
        self._tell(*self._turns.refused(key, text))

    def _tell(self, *events: Event) -> None:
        if self._open:
            for event in events:
                self._emit(event)
