"""What 1,000 questionnaires cost that wait for one person, against what 100 do: linear is a ratio of 10.

    python benchmarks/questionnaire_queue.py

Prints a line a way to settle them, and ends with exit code 1 where a ratio is above 20: twice linear, which
leaves room for the noise of a machine and none for a square.
"""

import sys
import time
from collections.abc import Awaitable, Callable

import anyio

from questionnaire import Answer, Option, Question, Questionnaire
from questionnaire.coordinator import Coordinator
from questionnaire.mirrors import Mirrors
from questionnaire.progress import Give, Interview, Shown
from questionnaire.testing import BY, HeldPresenter

FEW, MANY = 100, 1_000
RUNS = 3
MOST = 20.0


class Quick:
    """Answers at once."""

    async def present(self, interview: Interview) -> None:
        """Answer."""
        interview.send(Shown(0.0, 0))
        interview.send(Give(Answer((0,)), BY))


async def answered(count: int) -> None:
    """A person answers one after the other."""
    await _queued(Coordinator(Quick(), mirrors=Mirrors()), count)


async def cancelled(count: int) -> None:
    """All are cancelled while the first one is open."""
    coordinator = Coordinator(HeldPresenter(), mirrors=Mirrors())
    await _queued(coordinator, count, coordinator.cancel)


async def aborted(count: int) -> None:
    """Each call is aborted by its host."""
    async with anyio.create_task_group() as tasks:
        coordinator = Coordinator(HeldPresenter(), mirrors=Mirrors())
        tasks.start_soon(_queued, coordinator, count)
        while len(coordinator.pending) < count:
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()


async def _queued(
    coordinator: Coordinator, count: int, then: Callable[[], Awaitable[object]] | None = None
) -> None:
    options = (Option("A"), Option("B"))
    async with anyio.create_task_group() as tasks:
        for number in range(count):
            tasks.start_soon(coordinator.ask, Questionnaire((Question(f"{number}?", options),)))
        if then is not None:
            await anyio.lowlevel.checkpoint()
            await then()
    assert coordinator.pending == ()


def seconds(way: Callable[[int], Awaitable[None]], count: int) -> float:
    """Return the best of a few runs."""
    took = []
    for _ in range(RUNS):
        began = time.perf_counter()
        anyio.run(way, count)
        took.append(time.perf_counter() - began)
    return min(took)


def main() -> int:
    """Measure, print, and say by the exit code whether it is linear."""
    worst = 0.0
    for way in (answered, cancelled, aborted):
        few, many = seconds(way, FEW), seconds(way, MANY)
        ratio = many / few
        worst = max(worst, ratio)
        print(f"{way.__name__:10} {FEW}: {few * 1e3:7.1f} ms   {MANY}: {many * 1e3:7.1f} ms   x {ratio:.1f}")
    return int(worst > MOST)


if __name__ == "__main__":
    sys.exit(main())
