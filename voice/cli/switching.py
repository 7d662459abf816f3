"""What `/mic` and `/speaker` do in a conversation: list the devices, or take another one from now on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

import anyio

from voice.backends.device_scan import scan_devices
from voice.devices import NOUNS, DeviceInfo, Kind, choose
from voice.errors import DeviceError
from voice.ports import Changeable
from voice.screen.keys import Order


class Switching:
    """The devices of one conversation; `ask` returns at once, and `run` does what it asks for.

    ``parts`` are the microphone and the speaker; what is no `Changeable` is a recording, or skips all sound.
    ``say`` takes lines about the program, ``notice`` a sentence on what went wrong.
    """

    def __init__(
        self, parts: Mapping[Kind, object], say: Callable[..., None], notice: Callable[[str], None]
    ) -> None:
        self._parts = parts
        self._say = say
        self._notice = notice
        self._asked: deque[tuple[Kind, str]] = deque()
        self._news = anyio.Event()

    def ask(self, kind: Kind, name: str) -> None:
        """List the devices, or with a name (or a part of one) take that from now on."""
        self._asked.append((kind, name.strip()))
        self._news.set()

    async def run(self) -> None:
        """Do what is asked for, one after the other, until cancelled."""
        while True:
            while self._asked:
                try:
                    await self._do(*self._asked.popleft())
                except DeviceError as error:
                    self._notice(str(error))
            self._news = anyio.Event()
            await self._news.wait()

    async def _do(self, kind: Kind, name: str) -> None:
        part, noun = self._parts.get(kind), NOUNS[kind]
        if not isinstance(part, Changeable):
            raise DeviceError(f"This conversation has no {noun} that could be another one.")
        devices = await scan_devices()
        if name:
            device = devices[choose(devices, kind, name)]
            part.use(device.remembered(name))
            self._say(f"{device.name} is the {noun} from now on.")
        else:
            line = Order.MIC if kind == "input" else Order.SPEAKER
            self._say(*device_lines(devices, kind), f"/{line} NAME takes one of them.")


def device_lines(devices: list[DeviceInfo], kind: Kind) -> list[str]:
    """The devices of a kind, a line each."""
    return [
        f"{device.name}, {device.host_api}{' (default)' if device.is_default(kind) else ''}"
        for device in devices
        if device.can(kind)
    ] or [f"There is no {NOUNS[kind]}."]
