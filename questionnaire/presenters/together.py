"""Several presenters with one interview at once: on the screen and by voice, and the first answer counts."""

from collections.abc import Iterator
from contextlib import contextmanager

from anyio import create_task_group

from questionnaire.errors import NoInterface
from questionnaire.model import Outcome, Status
from questionnaire.presenters.base import Presenter
from questionnaire.presenters.terminal.presenter import INTERRUPTED
from questionnaire.progress import Act, Interview, Step, Watcher


class TogetherPresenter:
    """Presents each questionnaire on several surfaces at once.

    Each of them shows what the others do, as every presenter does for an interview that others act on. One
    that finds nobody, or whose surface goes away, leaves the rest going; the last one ends the interview as
    it would alone. A person's Ctrl-C on any of them ends it on all. Raises `NoInterface` where none of them
    could show anything.
    """

    def __init__(self, *presenters: Presenter) -> None:
        if not presenters:
            raise ValueError("there should be at least one presenter")
        self._presenters = presenters

    async def present(self, interview: Interview) -> None:
        """Show it on all surfaces until there is an outcome."""
        seats = [_Seat(interview) for _ in self._presenters]
        failures: list[Exception] = []

        async def sit(presenter: Presenter, seat: _Seat) -> None:
            try:
                await presenter.present(seat)
            except Exception as failure:  # a fault of one surface is no reason to take the others away
                failures.append(failure)

        async with create_task_group() as tasks:
            for presenter, seat in zip(self._presenters, seats, strict=True):
                tasks.start_soon(sit, presenter, seat)
        if interview.outcome is not None:
            return
        left = [seat.left for seat in seats if seat.left is not None]
        if left:  # some showed it, and none can go on
            interview.end(*left[-1])
        elif failures:
            faults = [failure for failure in failures if not isinstance(failure, NoInterface)]
            raise (faults or failures)[0]


class _Seat(Interview):
    """The interview, as one of several presenters has it: what it ends is over for that one alone."""

    def __init__(self, interview: Interview) -> None:
        self.questionnaire = interview.questionnaire
        self.left: tuple[Status, str] | None = None
        self._interview = interview

    @property
    def step(self) -> Step:
        return self._interview.step

    @property
    def outcome(self) -> Outcome | None:
        if self._interview.outcome is None and self.left is not None:
            return Outcome(self.left[0], self._interview.step.responses, self.left[1])
        return self._interview.outcome

    def send(self, act: Act) -> bool:
        return self.left is None and self._interview.send(act)

    def end(self, status: Status, reason: str = "") -> bool:
        if status is Status.ANSWERED:
            raise ValueError("only the user's own acts end a questionnaire as answered")
        if self.outcome is not None:
            return False
        if reason == INTERRUPTED:
            return self._interview.end(status, reason)
        self.left = status, reason
        return True

    @contextmanager
    def watch(self, callback: Watcher) -> Iterator[None]:
        with self._interview.watch(callback):
            yield
