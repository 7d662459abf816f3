"""Which device is meant, in one direction, and which is open: asked for, remembered, stood in for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from voice.backends.portaudio.library import Opened, Wanted
from voice.devices import NOUNS, Kind
from voice.errors import DeviceChanged, DeviceError

_IS_USED: dict[Kind, str] = {"input": "is used", "output": "speaks"}


class ChosenDevice:
    """A choice, which stands until the next one, whatever is being opened meanwhile.

    Once its device has been opened it is remembered by its whole name. ``notice`` is given a sentence when
    another one stands in for it, and for a speaker when it is there again: of a microphone its change tells.
    """

    def __init__(
        self, kind: Kind, device: str | None, notice: Callable[[str], None], *, stands_in: bool
    ) -> None:
        self.kind = kind
        self.name = device or f"the default {NOUNS[kind]}"
        """What a person calls what is open, or was last; before that the name it was asked for by."""
        self._wanted = Wanted(kind, device, stands_in)
        self._notice = notice
        self._missing = ""
        self._end: Callable[[DeviceError], None] | None = None

    @property
    def wanted(self) -> Wanted:
        """What is to be opened. It is the same object until another is chosen, or this one is remembered."""
        return self._wanted

    def use(self, device: str | None) -> None:
        """Choose another; what is open of this one is ended with `DeviceChanged`."""
        self._wanted = replace(self._wanted, device=device)
        self._missing = ""
        if self._end is not None:
            self._end(DeviceChanged(f"Another {NOUNS[self.kind]} was chosen."))

    def opened(self, stream: Opened, end: Callable[[DeviceError], None]) -> None:
        """Take what was opened because it is `wanted`; ``end`` is called when it no longer is."""
        self._end = end
        self.name = stream.device.name
        before, self._missing = self._missing, stream.pick.instead_of
        if self._missing:
            if self._missing != before:
                used = f"{self.name} {_IS_USED[self.kind]}"
                self._notice(f"{stream.pick.problem} {used} until {self._missing} is there again.")
            return
        if before and self.kind == "output":
            self._notice(f"{self.name} speaks again.")
        if self._wanted.device is not None:
            self._wanted = replace(self._wanted, device=stream.device.remembered(self._wanted.device))

    def closed(self) -> None:
        """It is open no more."""
        self._end = None
