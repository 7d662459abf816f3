"""Lifecycle events with `respond`: other programs watch what is asked, and answer beside the presenter.

    mirrors = Mirrors()

    def watch(event: Event) -> None:
        if event.name == REQUEST:
            event.respond({"source": "remote", "kind": "select", "optionIndex": 0})

    with mirrors.listen(watch):
        ...

The first valid answer to a question wins, whoever gives it. A question has one request and, once answered,
one `resolved`, which tells the first answer: what the user changes on the review is in the result of the
call. A call has one `closed`. The remote side has no review: when its answer is the last one missing, all
are sent.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import anyio

from questionnaire.model import Answer, Input, Outcome, Provenance, Response, Status
from questionnaire.progress import Act, Draft, Give, Interview, Shown, Skip, Stop, Submit
from questionnaire.remote import (
    ACCEPTED,
    ALREADY_RESOLVED,
    INVALID,
    UNKNOWN,
    Cancel,
    asks_for_words,
    read_response,
    request_data,
    result_data,
)

_log = logging.getLogger(__name__)

REQUEST = "pi-user-select:request"
CUSTOM_INPUT_REQUEST = "pi-user-select:custom-input-request"
RESOLVED = "pi-user-select:resolved"
ERROR = "pi-user-select:error"
CLOSED = "pi-user-select:closed"
BLOCKED = "herdr:blocked"

SESSION_SHUTDOWN = "session_shutdown"

_CLOSED_BECAUSE = {
    Status.ANSWERED: "resolved",
    Status.DECLINED: "resolved",
    Status.CANCELLED: "cancelled",
    Status.TIMED_OUT: "timed_out",
    Status.SUPERSEDED: "superseded",
    Status.NEVER_SHOWN: "error",
}
_REMEMBERED = 1_000
"""How many closed requests are told from those that never were."""


class Respond(Protocol):
    """Answers a request; `remote_id` names who does, for the record."""

    def __call__(self, response: object, *, remote_id: str = "") -> Mapping[str, Any]:
        """Return `{"accepted": true}`, or false with the reason: `already_resolved`, `invalid_response`."""
        ...


@dataclass(frozen=True)
class Event:
    """Something that happened to a question or a call; `data` can be written as JSON."""

    name: str
    data: Mapping[str, Any]
    respond: Respond | None = None


Listener = Callable[[Event], object]


class Mirrors:
    """Everybody who watches what is asked. `clock` gives the times of remote answers."""

    def __init__(self, clock: Callable[[], float] = anyio.current_time) -> None:
        self.clock = clock
        self._listeners: dict[object, tuple[Listener, bool]] = {}
        self._waiting: deque[Event] = deque()
        self._open: dict[str, Mirror] = {}
        self._closed: deque[str] = deque(maxlen=_REMEMBERED)
        self._changed = anyio.Event()

    @contextmanager
    def listen(self, listener: Listener, *, answers: bool = True) -> Iterator[None]:
        """Have `listener(event)` called with each event, on the event loop: it must not wait for anything.

        One that raises is logged and changes nothing. `answers` says that it may answer, so that a question
        is worth asking where no presenter can show it.
        """
        key = object()
        self._listeners[key] = (listener, answers)
        try:
            yield
        finally:
            del self._listeners[key]
            self.wake()

    @property
    def answering(self) -> bool:
        """Whether anybody who listens may answer."""
        return any(answers for _, answers in self._listeners.values())

    @property
    def open(self) -> tuple[Event, ...]:
        """The requests that can be answered now, for one who begins to listen."""
        return tuple(event for mirror in self._open.values() for event in mirror.requests)

    def respond(
        self, request_id: object, index: object, response: object, *, remote_id: str = ""
    ) -> Mapping[str, Any]:
        """Answer a request by its id, as a program must that has no `Event.respond`.

        `index` is that of the question, None for the one that is asked now. A request that never was gets
        the reason `unknown_request`.
        """
        mirror = self._open.get(request_id) if isinstance(request_id, str) else None
        if mirror is not None:
            return mirror.respond(index, response, remote_id)
        return ALREADY_RESOLVED if request_id in self._closed else UNKNOWN

    def emit(self, event: Event) -> None:
        """Tell everybody. All hear the same order, also where one of them answers while being told."""
        self._waiting.append(event)
        if len(self._waiting) > 1:
            return
        stopped: BaseException | None = None
        while self._waiting:
            for listener, _ in tuple(self._listeners.values()):
                try:
                    listener(self._waiting[0])
                except Exception:
                    _log.exception("a listener to %s failed", self._waiting[0].name)
                except BaseException as error:  # an interrupt: the others hear the rest first
                    stopped = stopped or error
            self._waiting.popleft()
        if stopped is not None:
            raise stopped

    @contextmanager
    def mirror(
        self, interview: Interview, request_id: str, *, tool_call_id: str = "", created_at: float
    ) -> "Iterator[Mirror]":
        """Tell of `interview` from now to its end, and let the listeners answer it."""
        mirror = Mirror(self, interview, request_id, tool_call_id, created_at)
        self._open[request_id] = mirror
        with interview.watch(mirror.follow):
            mirror.follow(None)
            try:
                yield mirror
            finally:
                self.forget(request_id)

    def forget(self, request_id: str) -> None:
        """Take a request for closed."""
        if self._open.pop(request_id, None):
            self._closed.append(request_id)
        self.wake()

    def wake(self) -> None:
        """Have those look again who wait for an end, or for somebody who answers."""
        self._changed.set()
        self._changed = anyio.Event()

    async def changed(self) -> None:
        """Return when a listener has left or a request has ended."""
        await self._changed.wait()


class Mirror:
    """One interview, told to everybody who listens. Made by `Mirrors.mirror`."""

    def __init__(
        self, mirrors: Mirrors, interview: Interview, request_id: str, tool_call_id: str, created_at: float
    ) -> None:
        self._mirrors = mirrors
        self._interview = interview
        self._base = {
            "requestId": request_id,
            "kind": "select",
            "toolCallId": tool_call_id,
            "createdAt": datetime.fromtimestamp(created_at, UTC).isoformat(timespec="milliseconds"),
        }
        self._requests: dict[int, Event] = {}
        self._inputs: dict[int, Event] = {}
        self._resolved: set[int] = set()
        self._stopped_remotely = False
        self._closed = False
        self.closing = ""
        """The reason for closing, where another one than the outcome is to be told."""

    @property
    def requests(self) -> Iterator[Event]:
        """The requests that can be answered now."""
        for index, event in self._requests.items():
            if not self._settled(index):
                yield event
                if index in self._inputs:
                    yield self._inputs[index]

    def follow(self, act: Act | None) -> None:
        """Tell what is new, after anybody acted. What happens meanwhile is told by the call it causes."""
        interview = self._interview
        for index in tuple(self._requests):
            if interview.outcome is None and self._responses[index].settled:
                self._resolve(index)
        here = interview.step.index
        if interview.outcome is not None:
            self._end(interview.outcome)
        elif here is not None and not self._responses[here].settled:
            self._request(here)
        if isinstance(act, Draft) and act.text:
            self._ask_for_words(here if act.index is None else act.index)

    async def until_unanswerable(self) -> None:
        """Return when there is an outcome, or nobody is left who could bring one about."""
        while self._interview.outcome is None and self._mirrors.answering:
            await self._mirrors.changed()

    def fail(self, message: str) -> None:
        """Tell that asking failed, before it ends."""
        self.closing = "error"
        self._mirrors.emit(Event(ERROR, self._base | {"error": message}))

    def respond(self, index: object, response: object, remote_id: str) -> Mapping[str, Any]:
        """Answer the question with this index, or the one that is asked now."""
        if index is None:
            index = next((index for index in self._requests if not self._settled(index)), None)
            if index is None:
                return ALREADY_RESOLVED
        if type(index) is not int or index not in self._requests:
            return INVALID
        result = self._respond_to(index, custom_input=False)(response, remote_id=remote_id)
        if result is INVALID and index in self._inputs:
            result = self._respond_to(index, custom_input=True)(response, remote_id=remote_id)
        return result

    @property
    def _responses(self) -> tuple[Response, ...]:
        return (self._interview.outcome or self._interview.step).responses

    def _settled(self, index: int) -> bool:
        return self._interview.outcome is not None or self._responses[index].settled

    def _request(self, index: int) -> None:
        if index in self._requests:
            return
        data = self._base | request_data(self._interview.questionnaire, index)
        self._requests[index] = Event(REQUEST, data, self._respond_to(index, custom_input=False))
        self._mirrors.emit(self._requests[index])
        if asks_for_words(self._interview.questionnaire.questions[index]):
            self._ask_for_words(index)

    def _ask_for_words(self, index: int | None) -> None:
        """Tell that the user writes own words; those of a question that nobody was told of are their own."""
        if index not in self._requests or index in self._inputs or self._settled(index):
            return
        question = self._interview.questionnaire.questions[index]
        if not question.takes_words:
            return
        data = self._base | {"kind": "custom_input", "question": question.text, "questionIndex": index}
        self._inputs[index] = Event(CUSTOM_INPUT_REQUEST, data, self._respond_to(index, custom_input=True))
        self._mirrors.emit(self._inputs[index])

    def _respond_to(self, index: int, *, custom_input: bool) -> Respond:
        def respond(response: object, *, remote_id: str = "") -> Mapping[str, Any]:
            question = self._interview.questionnaire.questions[index]
            read = read_response(question, response, custom_input=custom_input)
            if self._settled(index):
                return ALREADY_RESOLVED
            if read is None:
                return INVALID
            at = self._mirrors.clock()
            by = Provenance("mirror", Input.REMOTE, at, remote_id)
            # Who answers has seen it, but for what no request tells.
            without = ("previews",) if any(option.preview for option in question.options) else ()
            self._interview.send(Shown(at, index, without))
            if isinstance(read, Cancel):
                self._stopped_remotely = True
                self._interview.send(Stop())
            elif isinstance(read, Answer):
                self._interview.send(Give(read, by, index))
            else:
                self._interview.send(Skip(by, index))
            self._send_all()
            return ACCEPTED

        return respond

    def _send_all(self) -> None:
        """Send the answers once none is missing; from a question that leads over the review."""
        while self._interview.outcome is None and all(response.settled for response in self._responses):
            self._interview.send(Submit())

    def _resolve(self, index: int) -> None:
        if index in self._resolved:
            return
        self._resolved.add(index)
        response = self._responses[index]
        remote = self._stopped_remotely if response.by is None else response.by.input is Input.REMOTE
        result = result_data(self._interview.questionnaire.questions[index], response)
        told = {"questionIndex": index, "selectedBy": "remote" if remote else "local", "result": result}
        self._mirrors.emit(Event(RESOLVED, self._base | told))

    def _end(self, outcome: Outcome) -> None:
        if self._closed:
            return
        self._closed = True
        for index in self._requests:
            # Only a person resolves: what was closed from outside is closed, and no more.
            if outcome.status is Status.DECLINED or outcome.responses[index].settled:
                self._resolve(index)
        reason = self.closing or _CLOSED_BECAUSE[outcome.status]
        self._mirrors.emit(Event(CLOSED, self._base | {"reason": reason}))
        self._mirrors.forget(str(self._base["requestId"]))
