"""The switch of autonomous Voice: what is wanted of it, and by what it failed last."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from voice.autonomous import AutonomousVoice
from voice.errors import VoiceError
from voice.events import VoiceState

ON = (VoiceState.STARTING, VoiceState.ACTIVE)
"""The states in which it is on, or about to be."""


class Switch:
    """Switches a Voice on and off while `run` runs; ``failed`` is told why it could not be on.

    Whoever sees that something has changed that is waited for here, above all the state of Voice, is to call
    `tell_changed`.
    """

    def __init__(self, voice: AutonomousVoice, failed: Callable[[VoiceError], None]) -> None:
        self._voice = voice
        self._failed = failed
        self._wanted = False
        self._changed = anyio.Event()
        self.error: VoiceError | None = None
        """By what it failed last, None since it was to be switched on again."""

    @property
    def on(self) -> bool:
        """Whether Voice is on, or is to be."""
        return self._wanted or self._voice.state in ON

    def turn(self, *, on: bool) -> None:
        """Have it on, or off; one that is still being switched off is on again after that.

        It is being switched off from here on, however long its devices take to close.
        """
        self._wanted = on and self._voice.state not in ON
        if not on and self._voice.state in ON:
            self._voice.stop()
        self.tell_changed()

    def toggle(self) -> None:
        """Switch it on, or off; while it is starting, off."""
        self.turn(on=not self.on)

    async def run(self) -> None:
        """Have Voice as it is wanted, until cancelled."""
        while True:
            while not self._wanted:
                await self._changed.wait()
            self._wanted, self.error = False, None
            try:
                await self._voice.run()
            except VoiceError as error:
                self.error = error
                self._failed(error)
            self.tell_changed()

    async def until(self, *, on: bool) -> None:
        """Wait until Voice is active, or off; raises the `VoiceError` by which it failed."""
        wanted = VoiceState.ACTIVE if on else VoiceState.INACTIVE
        while self._wanted or self._voice.state is not wanted:
            if self.error is not None and not self._wanted:
                raise self.error
            await self._changed.wait()

    async def settled(self) -> None:
        """Wait until Voice is on or off, and not on the way."""
        while self._wanted or self._voice.state in (VoiceState.STARTING, VoiceState.DRAINING):
            await self._changed.wait()

    async def changed(self) -> None:
        """Wait until something is told to have changed."""
        await self._changed.wait()

    def tell_changed(self) -> None:
        """Have everybody who waits look again."""
        self._changed.set()
        self._changed = anyio.Event()
