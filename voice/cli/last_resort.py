"""The end of a program that cannot end in order: its event loop is stuck in a call.

A library that writes to a terminal that takes nothing is held by it for ever, as it is by a driver that
hangs, and the loop would never hear of the signal.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ENDS_WITHIN_S = 20.0
"""So long an end in order may take after a signal: some seconds, and a loaded machine needs its time."""

SIGNALLED = 128
"""What a shell adds to the number of the signal that ended a process."""


@contextmanager
def ended_by_force(*numbers: signal.Signals, within_s: float = ENDS_WITHIN_S) -> Iterator[None]:
    """End the process so long after one of these signals, with the exit code of that, unless this is left.

    Whoever listens to them has to do so already, in the main thread, and goes on to be told. Children have a
    pipe for a lifeline, and what is to be kept is on disk.
    """
    timers: list[threading.Timer] = []

    def begin(number: int, _: object) -> None:
        timer = threading.Timer(within_s, os._exit, [SIGNALLED + number])
        timer.daemon = True
        timers.append(timer)
        timer.start()

    before = {number: signal.signal(number, begin) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for timer in timers:
            timer.cancel()
