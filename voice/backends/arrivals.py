"""Sound on its way from a device's thread into the event loop: so much of it may wait, and no more.

A listener that lags takes what has waited for it, however long. Where more comes than may wait, it is lost,
and all that follows with it until the listener has caught up: one hole, and not one in every word. Which
words stood in it nobody knows, so it ends the stream: what is said next is heard by a new one.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

import anyio

from voice.errors import DeviceError, DeviceLost

_T = TypeVar("_T")


def _lost(blocks: int) -> DeviceError:
    return DeviceLost(f"{blocks} blocks of sound are lost.")


class Arrivals(Generic[_T]):
    """Blocks of sound, or what else a device tells, put by any thread and taken by the event loop's.

    Up to ``most`` of them wait. ``overrun`` makes the error that ends it where that is not enough, of the
    number of blocks that were lost.
    """

    def __init__(self, most: float = math.inf, overrun: Callable[[int], DeviceError] = _lost) -> None:
        self._loop = asyncio.get_running_loop()
        self._most = most
        self._overrun = overrun
        self._lock = threading.Lock()
        self._blocks: deque[_T] = deque()
        self._error: DeviceError | None = None
        self._news = asyncio.Event()
        self._told = False
        self.lost = 0
        """Blocks that came when too many waited."""

    def put(self, block: _T) -> None:
        """Add a block; where it does not fit it is lost."""
        with self._lock:
            if self._error is not None:
                return
            if self.lost or len(self._blocks) >= self._most:
                self.lost += 1
                return
            self._blocks.append(block)
        self._tell()

    def end(self, error: DeviceError) -> None:
        """End it with this error, after what waits. The first one stands."""
        with self._lock:
            self._error = self._error or error
        self._tell()

    async def next(self, wait_s: float = math.inf) -> _T | None:
        """The next block, None where there is none within this time; raises the error that ended it."""
        while True:
            with self._lock:
                self._told = False
                self._news.clear()
                if self._blocks:
                    return self._blocks.popleft()
                if self.lost:
                    raise self._overrun(self.lost)
                if self._error is not None:
                    raise self._error
            with anyio.move_on_after(wait_s):
                await self._news.wait()
                continue
            return None

    def _tell(self) -> None:
        """Wake the taker, once: a loop that lags is not given a call for every block."""
        with self._lock:
            if self._told:
                return
            self._told = True
        with suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(self._news.set)
