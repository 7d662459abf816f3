"""What a screen drives, and what both kinds of screen do alike."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import anyio

from questionnaire import Interview
from voice.screen.keys import Order

NOBODY_HEEDS: Mapping[Order, str] = {
    Order.JOURNAL: "Nothing is kept here.",
    Order.MIC: "This conversation has no microphone that could be another one.",
    Order.SPEAKER: "This conversation has no speaker that could be another one.",
}
"""What is told where nothing heeds an order."""

LEFT, INTERRUPTED, HUNG_UP = 0, 130, 129
"""Exit codes: the user has quit, with Ctrl-C, or the terminal is gone."""


class Talk(Protocol):
    """The conversation, as a screen needs it: `voice.chat.Chat`. Nothing here waits."""

    @property
    def waiting(self) -> Sequence[object]:
        """The messages that the agent has not accepted yet."""
        ...

    def quit(self) -> None:
        """End it."""
        ...

    def draft(self, text: str) -> None:
        """Tell what stands in the input line now; "" gives the microphone back."""
        ...

    def send(self, text: str) -> bool:
        """Send a typed message; returns whether there was anything to send."""
        ...

    def toggle_voice(self) -> None:
        """Switch Voice on, or off."""
        ...

    def stop_narration(self) -> bool:
        """Silence what is spoken; returns whether there was anything."""
        ...

    def interrupt_agent(self) -> None:
        """Have the agent stop what it is at."""
        ...


class Turns:
    """One questionnaire at a time on a screen that several may ask on."""

    def __init__(self) -> None:
        self._lock = anyio.Lock()

    @asynccontextmanager
    async def turn(self, interview: Interview) -> AsyncGenerator[bool]:
        """Wait until the screen is free; gives false where the interview came to its end meanwhile."""
        ours = await self._acquired(interview)
        try:
            yield ours and interview.outcome is None
        finally:
            if ours:
                self._lock.release()

    async def _acquired(self, interview: Interview) -> bool:
        def look(_: object) -> None:
            if interview.outcome is not None:
                waiting.cancel()

        with anyio.CancelScope() as waiting, interview.watch(look):
            if interview.outcome is None:
                await self._lock.acquire()
                return True
        return False


class Armed:
    """A first Ctrl-C: a second one soon after it, with no other key between, is meant to quit."""

    def __init__(self, seconds: float, changed: Callable[[bool], None]) -> None:
        self._seconds = seconds
        self._changed = changed
        self._until: float | None = None

    def press(self) -> bool:
        """Ctrl-C; returns whether it is the second one."""
        again = self._until is not None and anyio.current_time() < self._until
        self._until = anyio.current_time() + self._seconds
        self._changed(True)
        return again

    def forget(self) -> None:
        """Another key."""
        if self._until is not None:
            self._until = None
            self._changed(False)

    async def watch(self) -> None:
        """Forget it when it is too long ago, until cancelled."""
        while True:
            left = self._seconds if self._until is None else self._until - anyio.current_time()
            if left <= 0:
                self.forget()
                left = self._seconds
            await anyio.sleep(min(left, self._seconds / 4) + 0.01)
