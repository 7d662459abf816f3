"""Where keyboard, voice and host meet: messages in, in their order; ordinary text out."""

from __future__ import annotations

from collections import deque

import anyio

from voice.events import Emit, UserMessage
from voice.ports import Host


class Session:
    """The inbox of one conversation. The host sees text, and never whether it was spoken or typed."""

    def __init__(self, host: Host, emit: Emit) -> None:
        self._host = host
        self._emit = emit
        self._inbox: deque[UserMessage] = deque()
        self._changed = anyio.Event()
        self._delivered: list[UserMessage] = []

    @property
    def transcript(self) -> tuple[UserMessage, ...]:
        """The messages that the host has accepted."""
        return tuple(self._delivered)

    def put(self, message: UserMessage) -> bool:
        """Take a message for the host; False for one of white space alone, which is never sent."""
        if not message.text.strip():
            return False
        self._inbox.append(message)
        self._tell()
        self._emit(message)
        return True

    async def run(self) -> None:
        """Hand messages over, one after another, until cancelled.

        A message leaves the inbox when the host has accepted it: what the host raises comes out here, and the
        message is still the first that the next run hands over.
        """
        while True:
            while self._inbox:
                await self._host.send(self._inbox[0].text)
                self._delivered.append(self._inbox.popleft())
                self._tell()
            await self._changed.wait()

    async def settled(self) -> None:
        """Wait until the host has accepted all that was put."""
        while self._inbox:
            await self._changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
