"""Calls into PortAudio from the event loop, each within a limit; streams, and the signs of life they give."""

from __future__ import annotations

import asyncio
import concurrent.futures
import math
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Generic, TypeVar

import anyio

from voice.backends.arrivals import Arrivals
from voice.backends.portaudio.chosen import ChosenDevice
from voice.backends.portaudio.heartbeat import GRACE_S, Heartbeat
from voice.backends.portaudio.library import Callbacks, Library, Opened
from voice.devices import DeviceInfo, choose
from voice.errors import DeviceError, DeviceLost
from voice.tasks import begin_in_thread, in_thread

_OPEN_LIMIT_S = 5.0
"""What has not opened by then hangs; Bluetooth takes a second or two."""

_CLOSE_LIMIT_S = 0.25
"""What has not closed by then is left behind: Ctrl-C ends the program within a second, whatever is open."""

_PATIENCE_S = 1.0
"""So long a stream waits to be opened while something else hangs, before it is given up."""

_LOOK_S = 0.1
"""How often a stream that gives nothing is looked at."""

_T = TypeVar("_T")


class _Hanging:
    """The call that was left behind last."""

    def __init__(self) -> None:
        self._call: Future[None] | Future[Opened] | None = None
        self._until = 0.0

    def left_behind(self, call: Future[None] | Future[Opened], for_s: float = math.inf) -> None:
        """Take note of a call that is past its limit: for so long another one would only wait behind it."""
        self._call, self._until = call, time.monotonic() + for_s

    async def over(self) -> None:
        """Return when no call hangs; raises `DeviceError` where one does for a second more."""
        call = self._call
        if call is None or call.done() or time.monotonic() > self._until:
            return
        # Waited for in a thread, which leaves nothing behind at a call that may hang for hours.
        await in_thread(concurrent.futures.wait, [call], _PATIENCE_S)
        if not call.done():
            raise _no_answer()


_LIBRARY = Library()
_HANGING = _Hanging()


def list_devices() -> list[DeviceInfo]:
    """The devices that are there now, none where there are none.

    While a stream is open the list is as old as the stream. Raises `PortAudioMissing`, and `DeviceError`
    where there is no answer within 5 s.
    """
    try:
        return begin_in_thread(_LIBRARY.devices).result(_OPEN_LIMIT_S)
    except TimeoutError:
        raise _no_answer() from None


def find_output(wanted: str | None) -> DeviceInfo:
    """The speaker that a name means, as `choose` finds it; raises as `choose` and `list_devices` do."""
    devices = list_devices()
    return devices[choose(devices, "output", wanted)]


class Stream(Generic[_T]):
    """A stream of the chosen device; what its callback puts into ``arrived`` is taken here.

    `start` and `close` never take longer than their limits.
    """

    def __init__(
        self, opened: Opened, chosen: ChosenDevice, arrived: Arrivals[_T], heartbeat: Heartbeat
    ) -> None:
        self.name = opened.device.name
        self.stands_in = bool(opened.pick.instead_of)
        self.rate = round(opened.raw.samplerate)
        self.channels: int = opened.raw.channels
        self.latency_s: float = opened.raw.latency
        self._opened = opened
        self._chosen = chosen
        self._arrived = arrived
        self._heartbeat = heartbeat
        self._starting: Future[None] | None = None

    async def start(self) -> None:
        """Have it call back from now on; raises `DeviceError`."""
        self._starting = begin_in_thread(_LIBRARY.start, self._opened)
        await _within(GRACE_S, self._starting)

    async def next(self) -> _T:
        """What comes next; raises what ended the stream, after all that came before."""
        while (item := await self._arrived.next(_LOOK_S)) is None:
            if self._heartbeat.stopped(time.monotonic()):
                self._arrived.end(_lost(self._chosen.name))
        return item

    async def close(self) -> None:
        """End it, or leave it behind where that hangs."""
        closing = begin_in_thread(_close, self._opened, self._starting)
        with anyio.CancelScope(shield=True):
            try:
                await _within(_CLOSE_LIMIT_S, closing)
            except DeviceError:
                # Mostly the server hangs. A broken driver may never return, and then there are other devices.
                _HANGING.left_behind(closing, _OPEN_LIMIT_S)


@asynccontextmanager
async def opened(
    chosen: ChosenDevice, arrived: Arrivals[_T], callback: Callable[..., None]
) -> AsyncIterator[Stream[_T]]:
    """Open the chosen device, be it chosen while another one was being opened.

    ``callback`` is PortAudio's, called from its thread. ``arrived`` is ended when the device is lost, and
    when another one is chosen. Raises `PortAudioMissing`, and `DeviceError` where it cannot be had.
    """
    heartbeat = Heartbeat()

    def block(*told: object) -> None:
        heartbeat.felt()
        callback(*told)

    def finished() -> None:
        arrived.end(_lost(chosen.name))

    async with AsyncExitStack() as closing:
        while True:
            wanted = chosen.wanted
            try:
                found = await _open(chosen, Callbacks(block, finished))
            except DeviceError:
                if wanted is chosen.wanted:
                    raise
                continue
            stream = Stream(found, chosen, arrived, heartbeat)
            closing.push_async_callback(stream.close)
            if wanted is chosen.wanted:
                break
            await closing.aclose()
        chosen.opened(found, arrived.end)
        closing.callback(chosen.closed)
        yield stream


async def _open(chosen: ChosenDevice, callbacks: Callbacks) -> Opened:
    await _HANGING.over()
    opening = begin_in_thread(_LIBRARY.open, chosen.wanted, callbacks)
    try:
        return await _within(_OPEN_LIMIT_S, opening)
    except BaseException as error:
        opening.add_done_callback(_discard)
        if isinstance(error, DeviceError):
            _HANGING.left_behind(opening)
        raise


def _discard(opening: Future[Opened]) -> None:
    """Close a stream that opened after its owner had given up."""
    if opening.exception() is None:
        begin_in_thread(_close, opening.result(), None)


def _close(stream: Opened, starting: Future[None] | None) -> None:
    if starting is not None:
        # PortAudio ends the whole program where a stream is closed that is still starting.
        starting.exception()
    _LIBRARY.close(stream)


async def _within(limit_s: float, call: Future[_T]) -> _T:
    try:
        with anyio.fail_after(limit_s):
            return await asyncio.wrap_future(call)
    except TimeoutError:
        raise _no_answer() from None


def _no_answer() -> DeviceError:
    return DeviceError(
        "The sound server does not answer.",
        mend="restart it: pulseaudio --kill, or systemctl --user restart pipewire",
    )


def _lost(name: str) -> DeviceLost:
    return DeviceLost(
        f"{name} is gone: it was pulled out, or its sound server ended or hangs.",
        mend="plug it in or restart the sound server, and start again",
    )
