"""One questionnaire at a time, first in, first out; each is settled once, whoever is first.

    async with Coordinator(presenter) as coordinator:
        outcome = await coordinator.ask(questionnaire)

The coordinator has no task of its own: a questionnaire is conducted by the call that waits for it, and by
the next one where several wait for the same and that call is cancelled. The abort signal of a host is the
cancellation of the call.
"""

import logging
import uuid
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

import anyio

from questionnaire.attention import Attention, attend, call
from questionnaire.errors import NoInterface
from questionnaire.limits import Clock, EventLoopClock, TimeOut, hold_to
from questionnaire.mirrors import SESSION_SHUTDOWN, Mirror, Mirrors
from questionnaire.model import Outcome, Questionnaire, Status
from questionnaire.pending import Pending, Store
from questionnaire.presenters.base import Presenter
from questionnaire.progress import Act, Interview, Shown

_log = logging.getLogger(__name__)

GRACE_S = 2.0
"""How long a presenter may take to close once there is an outcome; then it is cancelled."""


class Coordinator:
    """Has `presenter` ask one questionnaire after the other.

    Without a presenter, or where it finds nobody to ask, the listeners of `mirrors` are waited for, if any
    of them may answer; otherwise the outcome is "never shown". `time_out` is the user's setting, never the
    model's. `clock` gives the times that are recorded, in seconds since 1970 where they are to mean
    something outside of this process; waiting is done by `timer`.
    """

    def __init__(
        self,
        presenter: Presenter | None,
        *,
        mirrors: Mirrors | None = None,
        time_out: TimeOut | None = None,
        store: Store | None = None,
        attention: Sequence[Attention] = (),
        clock: Callable[[], float] = anyio.current_time,
        timer: Clock | None = None,
    ) -> None:
        self._presenter = presenter
        self._mirrors = mirrors
        self._time_out = time_out
        self._store = store
        self._attention = attention
        self._clock = clock
        self._timer = timer or EventLoopClock()
        self._queue: deque[_Request] = deque()
        self._requests: dict[str, _Request] = {}
        self._by_key: dict[Hashable, _Request] = {}
        self._left_over: dict[Hashable, Pending] | None = None
        self._disposed = False

    @property
    def pending(self) -> tuple[Pending, ...]:
        """What has no outcome yet, in the order in which it is asked, and how its questions stand now."""
        return tuple(request.pending for request in self._requests.values() if request.outcome is None)

    @property
    def left_over(self) -> tuple[Pending, ...]:
        """What an earlier process was asking when it died, oldest first.

        To offer one again, `ask` its questionnaire: it goes on where it was left, drafts included.
        """
        return tuple(self._found_in_store().values())

    async def ask(self, questionnaire: Questionnaire, *, kind: str = "", tool_call_id: str = "") -> Outcome:
        """Ask when all before it are settled, and return how it ended, once it is off the screen.

        Joins a pending call of the same `kind` that asks the same. Cancelling the last call that waits for
        a questionnaire settles it as cancelled. Never raises for what a presenter does.
        """
        if self._disposed:
            return Outcome(Status.CANCELLED, reason="it was asked after the session had ended")
        request = self._by_key.get((kind, questionnaire))
        if request is None or request.outcome is not None:  # one that is only closing is no longer pending
            request = self._enter(questionnaire, kind, tool_call_id)
        request.callers += 1
        try:
            while not request.settled:
                if self._first() is request and not request.conducted:
                    await self._conduct(request)
                else:
                    await request.moved.wait()
        finally:
            request.callers -= 1
            if not request.callers:
                self._end(request, Status.CANCELLED, "the call was cancelled")
        assert request.outcome is not None
        return request.outcome

    async def cancel(self, request_id: str | None = None, reason: str = "") -> bool:
        """Settle one pending questionnaire as cancelled, or all, and wait until they are off the screen.

        Returns whether any was still to be settled.
        """
        chosen = [request for request in self._requests.values() if request_id in (None, request.request_id)]
        return bool(await self._end_all(chosen, Status.CANCELLED, reason))

    async def hand_over(self, reason: str = "") -> tuple[Pending, ...]:
        """Take all pending questionnaires from the presenter, for something else to ask.

        Their calls end as superseded. Returns them in their order, with what was answered and drafted, once
        they are off the screen. What is risky stays there: whoever asks it elsewhere gets ordinary words, and
        those allow nothing.
        """
        given = [one for one in self._requests.values() if not one.interview.questionnaire.risky]
        return await self._end_all(given, Status.SUPERSEDED, reason)

    async def dispose(self) -> None:
        """Settle everything as cancelled, take no more, and wait until every presenter has finished."""
        self._disposed = True
        for request in self._requests.values():
            if request.mirror is not None:
                request.mirror.closing = SESSION_SHUTDOWN
        await self._end_all(list(self._requests.values()), Status.CANCELLED, "the session ended")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.dispose()

    def _enter(self, questionnaire: Questionnaire, kind: str, tool_call_id: str) -> "_Request":
        left = self._found_in_store().pop((kind, questionnaire), None)
        request = _Request(
            left.request_id if left else uuid.uuid4().hex,
            Interview(questionnaire, left.responses if left else ()),
            kind,
            tool_call_id or (left.tool_call_id if left else ""),
            left.created_at if left else self._clock(),
        )
        request.life.enter_context(request.interview.watch(lambda _: self._keep(request)))
        self._keep(request)
        self._queue.append(request)
        self._requests[request.request_id] = self._by_key[request.key] = request
        return request

    def _first(self) -> "_Request | None":
        while self._queue and self._queue[0].settled:
            self._queue.popleft()
        return self._queue[0] if self._queue else None

    async def _conduct(self, request: "_Request") -> None:
        request.conducted = True
        try:
            await self._present(request)
        finally:
            request.conducted = False
            if request.outcome is not None:
                self._settle(request)
            request.wake()

    async def _present(self, request: "_Request") -> None:
        interview = request.interview
        if request.mirror is None and self._mirrors is not None:
            mirroring = self._mirrors.mirror(
                interview,
                request.request_id,
                tool_call_id=request.tool_call_id,
                created_at=request.created_at,
            )
            request.mirror = request.life.enter_context(mirroring)
        if interview.outcome is not None:
            return  # a listener has answered before it could be drawn
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._accompany, request)
            await conduct(
                self._presenter, interview, request.mirror, timer=self._timer, opened=request.opened
            )
            tasks.cancel_scope.cancel()

    async def _accompany(self, request: "_Request") -> None:
        """Call for attention and watch the time, from when the questions stand before somebody."""
        await request.opened.wait()
        label = request.interview.questionnaire.questions[0].text
        async with anyio.create_task_group() as tasks:
            for attention in self._attention:
                tasks.start_soon(attend, attention, label)
            if self._time_out is not None:

                def remind() -> None:
                    for attention in self._attention:
                        tasks.start_soon(call, attention, label)

                await hold_to(self._time_out, request.interview, self._timer, remind)

    async def _end_all(self, requests: "list[_Request]", status: Status, reason: str) -> tuple[Pending, ...]:
        ended = []
        for request in requests:
            before = request.pending
            if self._end(request, status, reason):
                ended.append(before)
        for request in requests:
            while not request.settled:
                await request.moved.wait()
        return tuple(ended)

    def _end(self, request: "_Request", status: Status, reason: str) -> bool:
        in_time = request.interview.end(status, reason)
        if not request.conducted:
            self._settle(request)
        return in_time

    def _settle(self, request: "_Request") -> None:
        """Let go of a request that has ended, and let the next one begin."""
        if request.settled:
            return
        request.settled = True
        request.life.close()
        del self._requests[request.request_id]
        if self._by_key.get(request.key) is request:  # not the same, asked anew while this one closed
            del self._by_key[request.key]
        self._forget(request.request_id)
        request.wake()
        if (following := self._first()) is not None:
            following.wake()

    def _found_in_store(self) -> dict[Hashable, Pending]:
        if self._left_over is None:
            try:
                found = self._store.left_over() if self._store else ()
            except OSError:
                _log.exception("what was pending before could not be read")
                found = ()
            self._left_over = {(pending.kind, pending.questionnaire): pending for pending in found}
        return self._left_over

    def _keep(self, request: "_Request") -> None:
        """Store how a pending questionnaire stands, where that has changed."""
        if self._store is None or request.outcome is not None or request.stored == request.pending:
            return
        request.stored = request.pending
        try:
            self._store.put(request.pending)
        except OSError:
            _log.exception("a pending questionnaire could not be stored; it is asked all the same")

    def _forget(self, request_id: str) -> None:
        if self._store is not None:
            try:
                self._store.remove(request_id)
            except OSError:
                _log.exception("a settled questionnaire could not be taken out of the store")


class _Request:
    """A questionnaire, from its first call until it is settled and off the screen."""

    def __init__(
        self, request_id: str, interview: Interview, kind: str, tool_call_id: str, created_at: float
    ) -> None:
        self.request_id = request_id
        self.interview = interview
        self.kind = kind
        self.tool_call_id = tool_call_id
        self.created_at = created_at
        self.callers = 0
        self.conducted = False
        self.settled = False
        self.opened = anyio.Event()
        self.moved = anyio.Event()
        self.life = ExitStack()
        self.mirror: Mirror | None = None
        self.stored: Pending | None = None

    @property
    def key(self) -> Hashable:
        return self.kind, self.interview.questionnaire

    @property
    def outcome(self) -> Outcome | None:
        return self.interview.outcome

    @property
    def pending(self) -> Pending:
        return Pending(
            self.request_id,
            self.interview.questionnaire,
            self.interview.step.responses,
            self.kind,
            self.tool_call_id,
            self.created_at,
        )

    def wake(self) -> None:
        """Have all who wait look again."""
        self.moved.set()
        self.moved = anyio.Event()


async def conduct(
    presenter: Presenter | None,
    interview: Interview,
    mirror: Mirror | None = None,
    *,
    timer: Clock | None = None,
    opened: anyio.Event | None = None,
) -> Outcome:
    """Have `presenter` conduct `interview` to its end, and return that; `opened` is set when it is seen.

    A presenter that has closed without an outcome, or that failed, ends it: as never shown where it sent no
    receipt, as cancelled otherwise. One that does not close in time after the end is cancelled.
    """
    ended = anyio.Event()

    def follow(act: Act | None) -> None:
        if isinstance(act, Shown) and opened is not None:
            opened.set()
        if interview.outcome is not None:
            ended.set()

    with interview.watch(follow):
        closed = "there is no presenter"
        nobody = presenter is None
        if presenter is not None and interview.outcome is None:
            try:
                await _present_until(ended, presenter, interview, timer or EventLoopClock())
                closed = "the presenter closed it"
            except NoInterface as error:
                closed, nobody = str(error), True
            except Exception as error:
                _log.exception("a presenter failed")
                closed = f"the presenter failed: {error!r}"
                if mirror is not None and interview.outcome is None:
                    mirror.fail(closed)
        if nobody and mirror is not None:
            if opened is not None:
                opened.set()
            await mirror.until_unanswerable()
        if interview.outcome is None:
            # Where nothing can be shown, a receipt that a presenter sent before it tried is none.
            seen = any(
                response.settled or (response.shown_at is not None and not nobody)
                for response in interview.step.responses
            )
            interview.end(Status.CANCELLED if seen else Status.NEVER_SHOWN, closed)
    assert interview.outcome is not None
    return interview.outcome


async def _present_until(
    ended: anyio.Event, presenter: Presenter, interview: Interview, timer: Clock
) -> None:
    failure: Exception | None = None

    async def close_late() -> None:
        await ended.wait()
        await timer.sleep(GRACE_S)
        _log.warning("%s did not close after the end, and was cancelled", type(presenter).__name__)
        showing.cancel()

    async with anyio.create_task_group() as tasks:
        with anyio.CancelScope() as showing:
            tasks.start_soon(close_late)
            try:
                await presenter.present(interview)
            except Exception as error:  # carried out of the task group, which would wrap it
                failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
