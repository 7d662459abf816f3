"""Answering what is asked in another process: the client of `questionnaire.sockets`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import SocketStream

from questionnaire.answers import Choice, Unclear, read_reply
from questionnaire.errors import NoInterface, SocketUnusable
from questionnaire.mirrors import CLOSED, REQUEST, RESOLVED
from questionnaire.model import Input, Provenance, Questionnaire, Status
from questionnaire.presenters.base import Presenter
from questionnaire.progress import Give, Interview, Shown, Skip
from questionnaire.remote import question_of, response_of
from questionnaire.sockets import HELLO, Lines, mirrored_at

_ELSEWHERE = "it was answered or closed elsewhere"


@dataclass
class Answered:
    """How many answers were accepted, why one was refused, and how the call was closed."""

    accepted: int = 0
    refused: str = ""
    closed: str = ""


class Replies:
    """A presenter whose user has typed all replies in advance, one a question, as in plain lines.

    One more question than there are replies, or a reply that is no choice, raises `NoInterface`.
    """

    def __init__(self, replies: Sequence[str]) -> None:
        self._replies = list(replies)

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

    Without `request_id` it is the oldest request. Ends when the call is closed, there or here. Raises
    `SocketUnusable` where nobody serves there, or nothing (of that id) is pending, and `NoInterface` where
    `presenter` does and no answer was sent.
    """
    async with mirrored_at(path) as stream:
        return await _Answering(stream, presenter, request_id).run()


class _Answering:
    def __init__(self, stream: SocketStream, presenter: Presenter, request_id: str) -> None:
        self._stream = stream
        self._presenter = presenter
        self._request_id = request_id
        self._result = Answered()
        self._open: dict[object, Interview] = {}
        self._sent = 0
        self._over: NoInterface | None = None
        self._surface = anyio.Lock()

    async def run(self) -> Answered:
        async with anyio.create_task_group() as tasks:
            async for line in Lines(self._stream):
                said = json.loads(line)
                data = said.get("data", {})
                if said.get("event") == HELLO:
                    if not self._begin(data["open"]):
                        break
                elif "reply" in said:
                    self._hear(said)
                elif data.get("requestId") == self._request_id:
                    if said["event"] == REQUEST:
                        tasks.start_soon(self._ask, data, tasks.cancel_scope)
                    self._follow(said["event"], data)
                if self._sent == 0 and (self._result.closed or self._over):
                    break
            for interview in self._open.values():
                interview.end(Status.CANCELLED, _ELSEWHERE)
        if not self._request_id:
            raise SocketUnusable("nothing is pending there")
        if self._over is not None and str(self._over):
            raise self._over
        return self._result

    def _begin(self, pending: Sequence[str]) -> bool:
        if self._request_id not in ("", *pending):
            self._request_id = ""
        elif not self._request_id and pending:
            self._request_id = pending[0]
        return bool(self._request_id)

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

    async def _ask(self, data: Mapping[str, Any], life: anyio.CancelScope) -> None:
        index = data["questionIndex"]
        interview = self._open[index] = Interview(Questionnaire((question_of(data),)))
        async with self._surface:
            try:
                if interview.outcome is None:
                    await self._presenter.present(interview)
            except NoInterface as error:
                self._over = error
                if self._sent == 0:
                    life.cancel()
                return
        outcome = interview.outcome
        if outcome is None or outcome.status not in (Status.ANSWERED, Status.DECLINED):
            return
        response = {"source": "remote", "kind": "cancel"}
        if outcome.status is Status.ANSWERED:
            response = response_of(interview.questionnaire.questions[0], outcome.responses[0])
        line = {"id": index, "requestId": self._request_id, "questionIndex": index, "response": response}
        self._sent += 1
        await self._stream.send(json.dumps(line).encode() + b"\n")
