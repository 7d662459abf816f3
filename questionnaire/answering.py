"""Answering what is asked in another process: the client of `questionnaire.sockets`."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import SocketStream, TaskGroup

from questionnaire.answers import Choice, Unclear, read_reply
from questionnaire.errors import NoInterface, SocketUnusable
from questionnaire.mirrors import CLOSED, REQUEST, RESOLVED
from questionnaire.model import Input, Provenance, Questionnaire, Status
from questionnaire.presenters.base import Presenter
from questionnaire.progress import Give, Interview, Shown, Skip
from questionnaire.remote import question_of, response_of
from questionnaire.sockets import HELLO, LONGEST_EVENT, LONGEST_LINE, Lines, mirrored_at

_ELSEWHERE = "it was answered or closed elsewhere"


@dataclass
class Answered:
    """How many answers were accepted, why one was refused, and how the call was closed.

    `left` says why the user's own side ended before that, where it did: the presenter's reason, such as a
    key or a terminal that was lost.
    """

    accepted: int = 0
    refused: str = ""
    closed: str = ""
    left: str = ""


class Replies:
    """A presenter whose user has typed all replies in advance, one a question, as in plain lines.

    One more question than there are replies, or a reply that is no choice, raises `NoInterface`.
    """

    def __init__(self, replies: Sequence[str]) -> None:
        self.count = len(replies)
        self._replies = list(replies)

    @property
    def left(self) -> int:
        """How many have met no question yet."""
        return len(self._replies)

    async def present(self, interview: Interview) -> None:
        """Answer with the next reply."""
        if not self._replies:
            raise NoInterface("")
        by = Provenance("replies", Input.REMOTE, at=0.0)
        question = interview.questionnaire.questions[0]
        verdict = read_reply(question, self._replies.pop(0))
        if isinstance(verdict, Unclear):
            raise NoInterface(verdict.reason)
        if isinstance(verdict, Choice) and verdict.opens_custom:
            raise NoInterface("Type the answer itself, and not the number of the row for it.")
        interview.send(Shown(by.at, 0))
        interview.send(Give(verdict.answer, by) if isinstance(verdict, Choice) else Skip(by))


async def answer_at(path: Path, presenter: Presenter, request_id: str = "") -> Answered:
    """Have `presenter` ask what is pending at `path`, question by question, and send what the user says.

    Without `request_id` it is the oldest request. Ends when the call is closed, there or here, and when the
    user leaves (see `Answered.left`). Raises `SocketUnusable` where nobody serves there, nothing (of that
    id) is pending, what serves there speaks something else, or it is gone before the call is closed; and
    `NoInterface` where `presenter` does and no answer was sent.
    """
    async with mirrored_at(path) as stream:
        return await _Answering(path, stream, presenter, request_id).run()


class _Answering:
    def __init__(self, path: Path, stream: SocketStream, presenter: Presenter, request_id: str) -> None:
        self._path = path
        self._stream = stream
        self._presenter = presenter
        self._request_id = request_id
        self._result = Answered()
        self._open: dict[object, Interview] = {}
        self._sent = 0
        self._over: NoInterface | None = None
        self._unusable: SocketUnusable | None = None
        self._surface = anyio.Lock()

    async def run(self) -> Answered:
        async with anyio.create_task_group() as tasks:
            try:
                await self._converse(tasks)
            except SocketUnusable as error:  # carried out of the task group, which would wrap it
                self._unusable = error
            for interview in self._open.values():
                interview.end(Status.CANCELLED, _ELSEWHERE)
        if self._unusable is not None:
            raise self._unusable
        if self._over is not None and str(self._over):
            raise self._over
        if isinstance(self._presenter, Replies) and self._presenter.left and not self._result.refused:
            self._result.refused = f"closed before {self._presenter.left} of the replies met their question"
        return self._result

    async def _converse(self, tasks: TaskGroup) -> None:
        lines = Lines(self._stream, LONGEST_EVENT)
        try:
            async for line in lines:
                self._take(json.loads(line), tasks)
                if self._sent == 0 and (self._result.closed or self._over):
                    return
        except (
            anyio.DelimiterNotFound,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            RecursionError,
        ) as error:
            raise SocketUnusable(f"what serves {os.fspath(self._path)} speaks something else") from error
        if not (self._result.closed or self._result.refused or self._over):
            raise SocketUnusable(f"what serves {os.fspath(self._path)} hung up before the call was closed")

    def _take(self, said: Mapping[str, Any], tasks: TaskGroup) -> None:
        """Do what one line asks for. Raises one of many errors where the line is none of the server's."""
        if "error" in said:  # an answer that the server does not take as a line, such as a very long one
            self._sent -= 1
            self._result.refused = str(said["error"])
        elif "reply" in said:
            self._hear(said)
        elif said["event"] == HELLO:
            self._begin(said["data"]["open"])
        elif said["data"].get("requestId") == self._request_id:
            if said["event"] == REQUEST:
                self._open_question(said["data"], tasks)
            self._follow(said["event"], said["data"])

    def _begin(self, pending: Sequence[str]) -> None:
        if not pending or self._request_id not in ("", *pending):
            raise SocketUnusable("nothing is pending there")
        self._request_id = self._request_id or pending[0]

    def _hear(self, said: Mapping[str, Any]) -> None:
        self._sent -= 1
        if said["accepted"]:
            self._result.accepted += 1
        else:
            self._result.refused = said["reason"]

    def _follow(self, name: str, data: Mapping[str, Any]) -> None:
        if name == RESOLVED and (interview := self._open.get(data["questionIndex"])):
            interview.end(Status.CANCELLED, _ELSEWHERE)
        elif name == CLOSED:
            self._result.closed = data["reason"]

    def _open_question(self, data: Mapping[str, Any], tasks: TaskGroup) -> None:
        index, question = data["questionIndex"], question_of(data)
        if isinstance(self._presenter, Replies) and self._presenter.count > data["questionCount"]:
            count, asked = self._presenter.count, data["questionCount"]
            self._over = NoInterface(f"There are more replies ({count}) than questions ({asked}).")
            return
        self._open[index] = Interview(Questionnaire((question,)))
        tasks.start_soon(self._ask, index, self._open[index], tasks.cancel_scope)

    async def _ask(self, index: object, interview: Interview, life: anyio.CancelScope) -> None:
        async with self._surface:
            try:
                if interview.outcome is None and not self._result.left:
                    await self._presenter.present(interview)
            except NoInterface as error:
                self._over = error
        outcome = interview.outcome
        if outcome is None or (outcome.status is Status.CANCELLED and outcome.reason != _ELSEWHERE):
            if self._over is None:
                self._result.left = (outcome.reason if outcome else "") or "the presenter closed it"
                self._over = NoInterface("")
            if self._sent == 0:
                life.cancel()
            return
        if outcome.status not in (Status.ANSWERED, Status.DECLINED):
            return
        response = {"source": "remote", "kind": "cancel"}
        if outcome.status is Status.ANSWERED:
            response = response_of(interview.questionnaire.questions[0], outcome.responses[0])
        said = {"id": index, "requestId": self._request_id, "questionIndex": index, "response": response}
        line = json.dumps(said).encode() + b"\n"
        if len(line) > LONGEST_LINE:  # the server would hang up on it, and the reason might get lost
            self._result.refused = f"The answer has {len(line)} bytes, and {LONGEST_LINE} are taken."
            self._over = NoInterface("")
            if self._sent == 0:
                life.cancel()
            return
        self._sent += 1
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # whoever reads will notice
            await self._stream.send(line)
