"""Virtual time: an asyncio event loop whose clock jumps to the next time that somebody waits for.

Everything that waits by the loop's clock (anyio's sleeps and time limits too) waits as long as it says, and
an hour of it takes the machine some seconds. Only what really takes time outside the loop holds the clock:
work in threads, what is awaited by `VirtualLoop.outside`, and, while `VirtualLoop.awaits` says so, what comes
through sockets and pipes. So no time limit runs out because a machine is slow.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import selectors
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
import anyio.to_thread

_T = TypeVar("_T")

STANDS_STILL_S = 60.0
"""So many real seconds the clock stands at most while nothing comes from outside."""


class _Selector(selectors.DefaultSelector):
    """Waits as long as there is something to wait for, and else lets the clock jump."""

    def __init__(self) -> None:
        super().__init__()
        self.loop: VirtualLoop | None = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready. Without anything, so many virtual seconds have passed."""
        if timeout is None or timeout <= 0 or self.loop is None:
            return super().select(timeout)
        ready = super().select(0)
        if not ready and self.loop.stopped:
            return super().select(None)
        if not ready and self.loop.held:
            ready = super().select(self.loop.stands_still_s)
        if not ready:
            self.loop.pass_by(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with a clock of its own, which begins at 0."""

    def __init__(self) -> None:
        selector = _Selector()
        self._now_s = 0.0
        self._in_flight = 0
        self._limiter: anyio.CapacityLimiter | None = None
        self.awaits: Callable[[], bool] = lambda: False
        """Whether what may come through sockets and pipes is waited for."""
        self.stands_still_s = STANDS_STILL_S
        """So many real seconds it stands at most for what is outside."""
        self.stopped = False
        """Whether it stands, for as long as it takes."""
        super().__init__(selector)
        selector.loop = self

    def time(self) -> float:
        """The virtual time in seconds."""
        return self._now_s

    def pass_by(self, seconds: float) -> None:
        """Let so much time pass."""
        self._now_s += seconds

    @property
    def held(self) -> bool:
        """Whether something outside is under way that has to come before time goes on."""
        if self._in_flight or (self._limiter is not None and self._limiter.borrowed_tokens):
            return True
        return self._reaches_outside and self.awaits()

    @property
    def _reaches_outside(self) -> bool:
        """Whether anything can come but the wake-up of a thread, which has one descriptor in each loop."""
        registered = self._selector.get_map()  # type: ignore[attr-defined]
        return len(registered) > 1

    def watch_threads(self) -> None:
        """Hold the clock while `anyio.to_thread` is at work; to be called in a task."""
        self._limiter = anyio.to_thread.current_default_thread_limiter()

    async def outside(self, future: concurrent.futures.Future[_T]) -> _T:
        """The result of what another thread does; the clock stands meanwhile."""
        self._in_flight += 1
        try:
            return await asyncio.wrap_future(future, loop=self)
        finally:
            self._in_flight -= 1

    async def stop_until(self, future: concurrent.futures.Future[_T]) -> _T:
        """The result of what another thread does, however long that takes; the clock stands meanwhile."""
        self.stopped = True
        try:
            return await asyncio.wrap_future(future, loop=self)
        finally:
            self.stopped = False

    def run_in_executor(  # type: ignore[override]  # typeshed has it with a type variable of its own
        self, executor: Any, func: Callable[..., _T], *args: Any
    ) -> asyncio.Future[_T]:
        """As every loop does; the clock stands meanwhile."""
        future = super().run_in_executor(executor, func, *args)
        self._in_flight += 1
        future.add_done_callback(self._landed)
        return future

    def _landed(self, _: object) -> None:
        self._in_flight -= 1


def in_virtual_time(main: Callable[[], Awaitable[_T]]) -> _T:
    """Run a coroutine function to its end by a clock of its own; returns what it returns.

    Not to be called where an event loop runs in the same thread.
    """

    async def watched() -> _T:
        virtual_loop().watch_threads()
        return await main()

    return anyio.run(watched, backend="asyncio", backend_options={"loop_factory": VirtualLoop})


def virtual_loop() -> VirtualLoop:
    """The loop that runs here. Raises `RuntimeError` where it is another kind, or none."""
    loop = asyncio.get_running_loop()
    if not isinstance(loop, VirtualLoop):
        raise RuntimeError("this runs in virtual time only: in_virtual_time(main)")  # noqa: TRY004
    return loop
