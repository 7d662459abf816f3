"""Which microphone or speaker is meant: by name, never by number, and what stands in for it. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from voice.errors import DeviceChanged, DeviceError, DeviceLost

Kind = Literal["input", "output"]

NOUNS: dict[Kind, str] = {"input": "microphone", "output": "speaker"}

SOUND_SERVER = "PulseAudio"
"""The host API of devices that are a sound server's own; PipeWire speaks its protocol too."""

_THROUGH_SERVER = {"default", "pulse"}
"""ALSA's names of what leads to a sound server."""


@dataclass(frozen=True)
class DeviceInfo:
    """A device as PortAudio or the sound server describes it."""

    name: str
    host_api: str
    input_channels: int
    output_channels: int
    default_rate: int
    """Hz."""
    is_default_input: bool
    is_default_output: bool
    id: str = ""
    """The sound server's own name of it, which no other has; empty elsewhere."""

    def can(self, kind: Kind) -> bool:
        """Whether it hears, or plays."""
        return bool(self.input_channels if kind == "input" else self.output_channels)

    def is_default(self, kind: Kind) -> bool:
        """Whether it is the system's default for hearing, or playing."""
        return self.is_default_input if kind == "input" else self.is_default_output

    @property
    def full_name(self) -> str:
        """Its name with its host API."""
        return f"{self.name}, {self.host_api}"

    def remembered(self, wanted: str) -> str:
        """As it is asked for again, where it is what ``wanted`` means (`choose`).

        Its full name, or the server's own where it was asked for by that: another may be called the same.
        """
        return self.id if self.id and wanted.casefold() == self.id.casefold() else self.full_name


@dataclass(frozen=True)
class Pick:
    """The device that is taken, and why."""

    index: int
    """Its place in the list."""
    why: str
    """In words, to stand behind "taken: "."""
    instead_of: str = ""
    """The name that was asked for, where this one stands in for it."""
    problem: str = ""
    """Why that one cannot be had, a sentence."""


def choose(devices: Sequence[DeviceInfo], kind: Kind, wanted: str | None) -> int:
    """The place in the list of the device that is meant.

    ``wanted`` is its name or a part of it, in small or capital letters, with or without a comma and the host
    API after it, or the sound server's own name of it; the whole name goes before a part, and of parts those
    of the sound server's devices before others. None means the default device. Where one stands under several
    host APIs the first is taken. Raises `DeviceError` where none or more than one is meant.
    """
    noun = NOUNS[kind]
    usable = {index: device for index, device in enumerate(devices) if device.can(kind)}
    if not usable:
        raise DeviceError(
            f"There is no {noun}: no device that PortAudio knows has {kind} channels.",
            mend="plug one in or start the sound server, then see: voice devices",
        )
    if wanted is None:
        return _no_own_sound(
            devices, kind, next(iter([i for i, d in usable.items() if d.is_default(kind)] or usable))
        )
    found = _meant(devices, kind, wanted)
    names = list(dict.fromkeys(usable[index].name for index in found or usable))
    listed = ", ".join(names)
    if not found:
        close = difflib.get_close_matches(wanted, names, n=1)
        raise DeviceError(
            f"There is no {noun} called {wanted!r}; there are: {listed}.",
            mend=f"did you mean {close[0]!r}?" if close else "use one of these names, or a part of one",
        )
    if len(names) > 1:
        raise DeviceError(f"More than one {noun} is called {wanted!r}: {listed}.", mend="use a whole name")
    twins = [usable[i].id for i in found if usable[i].id and usable[i].host_api == usable[found[0]].host_api]
    if len(twins) > 1:
        raise DeviceError(
            f"More than one {noun} is called {names[0]!r}; the sound server tells them apart as"
            f" {', '.join(twins)}.",
            mend="use one of these names",
        )
    return found[0]


def _meant(devices: Sequence[DeviceInfo], kind: Kind, wanted: str) -> list[int]:
    """The places of all that a name may mean, as `choose` has it."""
    sought = wanted.casefold()
    usable = {index: device for index, device in enumerate(devices) if device.can(kind)}
    whole = [
        index
        for index, device in usable.items()
        if sought in {device.name.casefold(), device.full_name.casefold(), device.id.casefold()}
    ]
    parts = [i for i, d in usable.items() if sought in (d.full_name if "," in sought else d.name).casefold()]
    # The hardware below a sound server stands there too, and is the server's to use.
    return whole or [i for i in parts if usable[i].host_api == SOUND_SERVER] or parts


def _no_own_sound(devices: Sequence[DeviceInfo], kind: Kind, default: int) -> int:
    """The default device, but never what a speaker plays.

    A sound server without a microphone gives that for one. Its microphones are told; if none of them is the
    default, that is no microphone.
    """
    device = devices[default]
    server = [i for i, one in enumerate(devices) if one.host_api == SOUND_SERVER]
    through_server = device.host_api == "ALSA" and device.name in _THROUGH_SERVER
    if kind == "output" or not through_server or not server:
        return default
    microphones = [i for i in server if devices[i].can("input")]
    if not microphones:
        raise DeviceError(
            "There is no microphone: the sound server has none, and would give what the speaker plays.",
            mend="plug one in, then see: voice devices",
        )
    return default if any(devices[i].is_default_input for i in microphones) else microphones[0]


def pick(devices: Sequence[DeviceInfo], kind: Kind, wanted: str | None, *, substitute: bool = False) -> Pick:
    """The device that is taken: the one that is meant, or with ``substitute`` the default one in its place.

    A name that fits several stands for none of them, and is never substituted. Raises as `choose` does.
    """
    if wanted is None:
        index = choose(devices, kind, None)
        default = devices[index].is_default(kind)
        return Pick(index, "the system's default" if default else "the first; there is no default")
    try:
        return Pick(choose(devices, kind, wanted), f"called {wanted!r} in the settings")
    except DeviceError:
        if not substitute or is_meant(devices, kind, wanted):
            raise
        return stand_in(devices, kind, wanted, f"There is no {NOUNS[kind]} called {wanted!r} now.")


def stand_in(devices: Sequence[DeviceInfo], kind: Kind, wanted: str, problem: str) -> Pick:
    """The default device in the place of one that cannot be had; raises `DeviceError` where there is none."""
    index = choose(devices, kind, None)
    return Pick(index, f"the system's default, since {wanted!r} cannot be had", wanted, problem)


def is_meant(devices: Sequence[DeviceInfo], kind: Kind, wanted: str) -> bool:
    """Whether a name means any device that is there, be it more than one."""
    return bool(_meant(devices, kind, wanted))


@dataclass(frozen=True)
class News:
    """What a sound server tells of its devices at one moment."""

    devices: tuple[DeviceInfo, ...]
    source: str = ""
    """The server's own name of what our newest stream records from; empty where that is not known."""
    source_name: str = ""
    """What a person calls that."""
    own_sound: bool = False
    """Whether that is what a speaker plays, and no microphone."""


class Listening:
    """Finds in the news what ends a microphone that is open.

    ``wanted`` is the name that was asked for, ``stands_in`` whether another device is used in its place.
    """

    def __init__(self, wanted: str | None, *, stands_in: bool) -> None:
        self._wanted = wanted
        self._named = wanted is not None and not stands_in
        self._known: News | None = None
        self._was_there: bool | None = None

    @property
    def source_name(self) -> str:
        """What a person calls the device below the one that was opened; empty where that is not known."""
        return self._known.source_name if self._known is not None else ""

    def end(self, news: News) -> DeviceError | None:
        """What ends it; None where it goes on.

        `DeviceChanged` where it is to be opened anew. `DeviceLost` where what is listened to has been what a
        speaker plays from the first, and nobody named that: a server leads a program to where it was led
        once, and would again.
        """
        if self._wanted is not None and not self._named:
            before, self._was_there = self._was_there, is_meant(news.devices, "input", self._wanted)
            if self._was_there and before is False:  # one that was there could not be opened
                return DeviceChanged(f"{self._wanted} is there again.")
        if not news.source:
            return None
        known, self._known = self._known, news
        if known is None:
            return _own_sound(news.source_name) if news.own_sound and not self._named else None
        if known.source == news.source:
            return None
        if not any(device.id == known.source and device.can("input") for device in news.devices):
            return DeviceChanged(f"{known.source_name} is gone.")
        return DeviceChanged(
            "The sound server gave another microphone."
            if self._named
            else "Another microphone is the system's default now."
        )


def _own_sound(name: str) -> DeviceLost:
    return DeviceLost(
        f"The sound server gives what the speaker plays ({name}) instead of a microphone.",
        mend="name a microphone: /mic NAME, or microphone in [hearing], see: voice devices",
    )
