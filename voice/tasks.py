"""Small helps for task groups, threads and child processes."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from voice.errors import VoiceError

if TYPE_CHECKING:
    from anyio.abc import Process

_T = TypeVar("_T")


@contextmanager
def lone_errors() -> Iterator[None]:
    """Let a lone error out of the group that a task group wraps it in.

    A caller catches `VoiceError`, and never learns whether there was a task group below. Of several of our
    own the first comes out, with the others as notes; several that are not all ours stay a group.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        first, *others = _leaves(group)
        if others and not all(isinstance(error, VoiceError) for error in (first, *others)):
            raise
        for error in others:
            first.add_note(str(error))
        raise first from first.__cause__


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def begin_in_thread(function: Callable[..., _T], *arguments: Any) -> Future[_T]:
    """Call what may hang, in a thread that nothing waits for: neither who gives up, nor the program's end."""
    future: Future[_T] = Future()
    future.set_running_or_notify_cancel()  # from here on it cannot be cancelled, and `run` always sets it

    def run() -> None:
        try:
            future.set_result(function(*arguments))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name=getattr(function, "__name__", None), daemon=True).start()
    return future


async def in_thread(function: Callable[..., _T], *arguments: Any) -> _T:
    """The same, and wait for what it gives; who is cancelled leaves it behind. On asyncio alone."""
    return await asyncio.wrap_future(begin_in_thread(function, *arguments))


KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)
"""The signal that ends a process whatever it is at: without SIGKILL, as on Windows, SIGTERM is that."""


def send_signal(process: Process, number: int) -> None:
    """Signal a child that may have ended by now; nothing then.

    Not by its own methods. On asyncio they look first whether it has ended, and if so they take its exit code
    away from the event loop, which logs "Unknown child process" and takes 255 for it.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)
