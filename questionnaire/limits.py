"""The time-out: none, unless the user's own settings say otherwise. No end of time picks an answer.

Only what the person does counts as a sign of life; that a question was drawn anew does not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import anyio

from questionnaire.model import Status
from questionnaire.progress import Act, Interview, Shown

Then = Literal["wait", "cancel", "unanswered"]
"""What follows when the time is over: a reminder by the signals for attention and more waiting, or the end as
cancelled, or as unanswered (`Status.TIMED_OUT`)."""


class Clock(Protocol):
    """Time that only goes forward, in seconds, and a way to wait for it."""

    def now(self) -> float:
        """Return the time."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return once that many seconds have gone by."""
        ...


class EventLoopClock:
    """The clock of the event loop."""

    def now(self) -> float:
        """Return the time."""
        return anyio.current_time()

    async def sleep(self, seconds: float) -> None:
        """Return once that many seconds have gone by."""
        await anyio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class TimeOut:
    """What the user's settings say of a questionnaire at which nobody does anything for `after_s` seconds.

    Raises `ValueError` where that is no time, or `then` is none of its three meanings.
    """

    after_s: float
    then: Then = "unanswered"

    def __post_init__(self) -> None:
        if not 0 < self.after_s < float("inf"):
            raise ValueError(f"a time-out needs a number of seconds above 0, and {self.after_s} came")
        if self.then not in get_args(Then):
            raise ValueError(f"a time-out ends as one of {', '.join(get_args(Then))}, not {self.then!r}")


async def hold_to(
    time_out: TimeOut, interview: Interview, clock: Clock, remind: Callable[[], object] = lambda: None
) -> None:
    """End `interview`, which is open from now on, when nobody acts on it for too long; or `remind` of it."""
    last = clock.now()

    def sign_of_life(act: Act | None) -> None:
        nonlocal last
        if not isinstance(act, Shown):
            last = clock.now()

    with interview.watch(sign_of_life):
        while interview.outcome is None:
            left = last + time_out.after_s - clock.now()
            if left > 0:
                await clock.sleep(left)
                continue
            reason = f"nobody did anything for {time_out.after_s:g} s, the limit in the user's settings"
            match time_out.then:
                case "wait":
                    last = clock.now()
                    remind()
                case "cancel":
                    interview.end(Status.CANCELLED, reason)
                case "unanswered":
                    interview.end(Status.TIMED_OUT, reason)
