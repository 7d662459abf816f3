"""The dialogs presenter: one question at a time, as `select` and `input` dialogs of a session client.

The sequence is that of the contracts, with no dialog of our own between. Nothing is reviewed, since each
dialog is sent by itself; any dialog that is dismissed ends the call, with the answers so far. What rows of
labels cannot show (descriptions, previews) is named in the receipt, so that the model hears of it.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Protocol

from anyio import CancelScope, current_time

from questionnaire.answers import Choice, Unclear, read_picks, row_labels
from questionnaire.display import look, printable, wrapped
from questionnaire.errors import NoInterface, QuestionnaireError
from questionnaire.model import Input, Kind, Option, Provenance, Question, Status
from questionnaire.progress import Act, Draft, Give, Interview, Shown, Skip, Stop, Submit, Touch

NEXT = "Next"
TYPE, TYPE_OR_SKIP = "Type your answer", "Type your answer, or leave it empty to skip"

_LIST_CELLS = 80
_LIST_INDENT = "    "


class DialogClient(Protocol):
    """A session client, which shows dialogs to a person. Cancelling a call closes its dialog there."""

    async def select(self, title: str, options: list[str], /) -> str | None:
        """Return the option that was taken, as it was given, or None where the dialog was dismissed.

        Raises `NoInterface` where the dialog cannot be shown, never None for that; and `ClientLost` where
        the client goes away before it has answered.
        """
        ...

    async def input(self, title: str, placeholder: str, /) -> str | None:
        """Return what was typed, blank or not, or None where the dialog was dismissed.

        Raises as `select` does.
        """
        ...


class _Moved(Exception):
    """Somebody else answered or ended the questions while a dialog was open."""


class DialogsPresenter:
    """Asks through a session client.

    `clock` gives the times of showing and answering; without it they are those of the event loop.
    `remote_id` names the client where the person sits elsewhere.
    """

    def __init__(
        self, client: DialogClient, clock: Callable[[], float] = current_time, *, remote_id: str = ""
    ) -> None:
        self._client = client
        self._clock = clock
        self._remote_id = remote_id

    async def present(self, interview: Interview) -> None:
        """Ask, one question after the other, until there is an outcome."""
        by = Input.REMOTE if self._remote_id else Input.KEY
        call = _Call(
            self._client, interview, self._clock, lambda at: Provenance("dialogs", by, at, self._remote_id)
        )
        try:
            await call.run()
        except QuestionnaireError as error:
            if isinstance(error, NoInterface) and not call.was_shown:
                raise
            interview.end(Status.CANCELLED, str(error))


class _Call:
    """One questionnaire on its way through the dialogs."""

    def __init__(
        self,
        client: DialogClient,
        interview: Interview,
        clock: Callable[[], float],
        by: Callable[[float], Provenance],
    ) -> None:
        self._client = client
        self._interview = interview
        self._clock = clock
        self._by = by
        self._index = 0
        self.was_shown = False

    async def run(self) -> None:
        interview = self._interview
        while interview.outcome is None:
            index = interview.step.index
            if index is None or interview.step.responses[index].settled:
                interview.send(Submit())  # which leads to the next open question, or ends it
                continue
            self._index = index
            question = interview.questionnaire.questions[index]
            without = _unshown(question, listed=interview.questionnaire.listed)
            interview.send(Shown(self._clock(), index, without))
            with suppress(_Moved):
                interview.send(await self._act(question))

    async def _act(self, question: Question) -> Act:
        if question.kind is Kind.TEXT:
            return await self._words(question)
        return await (self._ticks(question) if question.multi_select else self._pick(question))

    async def _pick(self, question: Question) -> Act:
        rows = _rows(question, listed=self._interview.questionnaire.listed)
        row = await self._row(printable(question.text), rows, row_labels(question))
        if row is None:
            return Stop()
        if row == len(question.options):
            return await self._words(question)
        return Give(Choice((row,)).answer, self._by(self._clock()))

    async def _words(self, question: Question) -> Act:
        """Ask for words until there are some, or there need not be any."""
        while (typed := await self._typed(question)) is not None:
            act = self._read(question, (), typed)
            if act is not None:
                return act
        return Stop()

    async def _ticks(self, question: Question) -> Act:
        """Let options be ticked, and words be written beside them, until Next; a draft until then."""
        title = f"{printable(question.text)} (choose options, then {NEXT})"
        labels = (*row_labels(question), NEXT)
        own = ""  # not the draft, which may be older, and is nowhere on these rows
        while True:
            response = self._interview.step.responses[self._index]
            ticked, draft = set(response.ticked), response.draft
            row = await self._row(title, [*_rows(question, response.ticked), NEXT], labels)
            if row is None:
                return Stop()
            if row == len(labels) - 1:
                act = self._read(question, response.ticked, own or None)
                if act is not None:
                    return act
                continue
            if row < len(question.options):
                ticked ^= {row}
            else:
                typed = await self._typed(question)
                if typed is None:
                    return Stop()
                own = draft = typed if look(typed) else ""
            self._interview.send(Draft(draft, tuple(ticked), self._index))

    def _read(self, question: Question, selected: Sequence[int], words: str | None) -> Act | None:
        """Return what a reply means; None where it means nothing, and is asked again."""
        verdict, by = read_picks(question, selected, words), self._by(self._clock())
        if isinstance(verdict, Unclear):
            return None
        return Give(verdict.answer, by) if isinstance(verdict, Choice) else Skip(by)

    async def _row(self, title: str, rows: list[str], labels: Sequence[str]) -> int | None:
        """Return the index of the row that was taken, None where the dialog was dismissed."""
        reply = await self._open(lambda: self._client.select(title, rows))
        if reply is None:
            return None
        row = _index(reply, rows, labels)
        if row is None:
            self._interview.end(Status.CANCELLED, "the client answered with none of the options it was given")
            raise _Moved
        return row

    async def _typed(self, question: Question) -> str | None:
        placeholder = TYPE if question.required else TYPE_OR_SKIP
        return await self._open(lambda: self._client.input(printable(question.text), placeholder))

    async def _open(self, dialog: Callable[[], Awaitable[str | None]]) -> str | None:
        """Return what comes of a dialog. Raises `_Moved` where others were quicker: the first answer wins."""
        reply = None

        def others_acted(*_: object) -> None:
            if self._moved():
                waiting.cancel()

        if not self._moved():
            with CancelScope() as waiting, self._interview.watch(others_acted):
                reply = await dialog()
                self._interview.send(Touch())  # a sign of life, whatever comes of the reply
        self.was_shown = True
        if self._moved():
            raise _Moved
        return reply

    def _moved(self) -> bool:
        step = self._interview.step
        ended = self._interview.outcome is not None
        return ended or step.index != self._index or step.responses[self._index].settled


def _rows(question: Question, ticked: Sequence[int] | None = None, *, listed: bool = False) -> list[str]:
    """Return the rows of a question: its options, marked where `ticked` is given, then the custom row.

    Options are numbered in a list, and where two of them could not be told apart.
    """
    looks = [look(label) for label in (*row_labels(question), *([] if ticked is None else [NEXT]))]
    numbered = listed or len(set(looks)) < len(looks)
    rows = []
    for index, option in enumerate(question.options):
        mark = "" if ticked is None else "[x] " if index in ticked else "[ ] "
        number = f"{index + 1}. " if numbered else ""
        badge = f" ({printable(option.badge)})" if option.badge else ""
        details = _details(option) if listed else ""
        rows.append(f"{mark}{number}{printable(option.label)}{badge}{details}")
    return [*rows, printable(question.custom.label)] if question.custom else rows


def _unshown(question: Question, *, listed: bool) -> tuple[str, ...]:
    """Return what of a question has no place in rows of labels."""
    described = any(option.description for option in question.options) and not listed
    previewed = any(option.preview for option in question.options)
    return (*(["descriptions"] if described else []), *(["previews"] if previewed else []))


def _details(option: Option) -> str:
    """Return the description of an option in a list: set in, with a blank line before and after it."""
    if not option.description:
        return ""
    return "\n".join(["\n", *wrapped(option.description, _LIST_CELLS, _LIST_INDENT), ""])


def _index(reply: str, rows: Sequence[str], labels: Sequence[str]) -> int | None:
    """Return the index of the row that a client answered with, also where it sends the bare label."""
    if reply in rows:
        return rows.index(reply)
    heard = look(reply)
    named = [
        index
        for index, (row, label) in enumerate(zip(rows, labels, strict=True))
        if heard in (look(row), look(label))
    ]
    return named[0] if len(named) == 1 else None
