"""One suite for every presenter: `check_presenter` puts it through all the promises of the port.

The suite says what a person does, and a `Hand` does it in the surface's own way: with keys, with typed
lines, with replies to dialogs. Nothing here knows any surface.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import anyio

from questionnaire.answers import check_outcome
from questionnaire.errors import NoInterface, QuestionnaireError
from questionnaire.model import (
    Answer,
    CustomRow,
    Input,
    Option,
    Outcome,
    Provenance,
    Question,
    Questionnaire,
    Response,
    State,
    Status,
)
from questionnaire.presenters.base import Presenter
from questionnaire.progress import Act, Give, Interview, Shown, Submit

__all__ = ["Abilities", "Hand", "check_presenter"]


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a surface can do, and under which names its answers come.

    `surface` and `input` are what the provenance of every answer says. `review` is false where nothing is
    reviewed: what was answered last is sent by itself. `notes` is false where none can be written, and
    `loss` where the surface cannot go away.
    """

    surface: str
    input: Input = Input.KEY
    review: bool = True
    notes: bool = True
    loss: bool = True


class Hand(Protocol):
    """A person before one surface. Each method waits until the surface takes what is done."""

    @property
    def can(self) -> Abilities:
        """What the surface can do."""
        ...

    async def pick(self, row: int) -> None:
        """Answer the question at hand, which takes one choice, with the option of this index."""
        ...

    async def tick(self, rows: Sequence[int], words: str = "") -> None:
        """Answer the question at hand, which takes several, with these options and words beside them."""
        ...

    async def words(self, text: str) -> None:
        """Answer the question at hand in words: all of a text, or those of the custom row. May be blank."""
        ...

    async def skip(self) -> None:
        """Leave the question at hand, which is optional, unanswered."""
        ...

    async def stop(self) -> None:
        """Decline, as often as it takes."""
        ...

    async def note(self, text: str) -> None:
        """Write a note on the question at hand. Never called where there are none."""
        ...

    async def change(self, index: int) -> None:
        """Go from the review to a question. Never called where there is no review."""
        ...

    async def send(self) -> None:
        """Send all answers from the review. Never called where there is none."""
        ...

    async def lose(self) -> None:
        """Have the surface go away, for good. Never called where it cannot."""
        ...

    def seen(self) -> str:
        """Return all that has come to the surface since it was made, as it came.

        Where it is drawn rather than written, each screen as it looked too.
        """
        ...


Make = Callable[[], AbstractAsyncContextManager[tuple[Presenter, Hand]]]
"""Makes a presenter on a surface of its own, and the hand before it; both are gone at the end."""


async def check_presenter(make: Make, *, within_s: float = 5.0) -> None:
    """Put what `make` makes through the promises of `Presenter`, each on a new surface.

    Raises `AssertionError` with the promise that is not kept; what the surface does not do within
    `within_s` seconds counts as never. A presenter that holds off its cancelling for ever ends this as
    little as it ends any other program.
    """
    for promise in _PROMISES:
        async with make() as (presenter, hand):
            try:
                with anyio.move_on_after(10 * within_s) as patience:
                    await promise(_Room(presenter, hand, within_s))
                assert not patience.cancelled_caught, "a hand waited in vain for its surface"
            except AssertionError as error:
                sentence = (promise.__doc__ or "").removesuffix(".")
                raise AssertionError(f"not kept: {sentence}: {error}") from error


_REMOTE = Provenance("mirror", Input.REMOTE, at=0.0, remote_id="another")
_OWN = CustomRow("Something else")
# No text is part of another, and each is short enough to stand on one line.
_DRINK = Question("Drink?", (Option("Water"), Option("Juice"), Option("Milk")), header="First", custom=_OWN)
_CITY = Question("City?", (Option("Oslo"), Option("Lima"), Option("Rome")), header="Second")
_NAME = Question("Name?", header="Third")
_SPICES = Question(
    "Spices?", (Option("Salt"), Option("Cumin"), Option("Mint")), multi_select=True, custom=_OWN
)
_ALIKE = Question("Alike?", (Option("Tea"), Option("tea"), Option("\uff34\uff25\uff21"), Option("T\u200bea")))


def _one(question: Question) -> Questionnaire:
    return Questionnaire((question,))


class _Room:
    """A presenter, the hand before it, and how long to wait for either."""

    def __init__(self, presenter: Presenter, hand: Hand, within_s: float) -> None:
        self.presenter = presenter
        self.hand = hand
        self.within_s = within_s

    @asynccontextmanager
    async def present(
        self, questionnaire: Questionnaire, responses: Sequence[Response] = ()
    ) -> AsyncIterator["_Talk"]:
        """Present it during the block, which is to bring it to an end; then the presenter has to return."""
        talk = _Talk(self, Interview(questionnaire, responses))
        failure: Exception | None = None  # carried out of the task group, which would wrap it
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk.run)
            try:
                yield talk
                await talk.over()
            except Exception as error:
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def ask(self, questionnaire: Questionnaire, *doings: Callable[[], Awaitable[None]]) -> Outcome:
        """Do one thing a question, send it, and return what came of it."""
        async with self.present(questionnaire) as talk:
            for index, do in enumerate(doings):
                await talk.at(index)
                await do()
            await talk.sent()
        outcome = talk.outcome
        assert outcome.status is Status.ANSWERED, f"it was answered, but ended as {outcome.status}"
        return outcome

    async def check_usable(self, after: str) -> None:
        """Ask one more question on this surface."""
        try:
            outcome = await self.ask(_one(_CITY), partial(self.hand.pick, 1))
        except (AssertionError, QuestionnaireError) as error:
            raise AssertionError(f"after {after} the surface is not usable: {error}") from error
        _same(_answers(outcome), [Answer((1,))])


class _Talk:
    """One questionnaire on its way through a presenter."""

    def __init__(self, room: _Room, interview: Interview) -> None:
        self.interview = interview
        self.receipts: list[int | None] = []
        self.error: Exception | None = None
        self.was_cancelled = False
        self._room = room
        self._calling = anyio.CancelScope()
        self._closed = anyio.Event()

    @property
    def outcome(self) -> Outcome:
        assert self.interview.outcome is not None, "present returned, but there is no outcome"
        return self.interview.outcome

    async def run(self) -> None:
        """Call the presenter, and keep what comes of it."""
        returned = False
        try:
            with self._calling, self.interview.watch(self._hear):
                await self._room.presenter.present(self.interview)
                returned = True
        except Exception as error:
            self.error = error
        self.was_cancelled = not returned and self.error is None
        self._closed.set()

    async def cancel(self) -> None:
        """Cancel the call, as nobody does who waits for an answer."""
        self._calling.cancel()
        await self._until_closed("present did not end when it was cancelled")
        assert self.error is None, f"present raised {self.error!r} when it was cancelled"
        assert self.was_cancelled, "present swallowed that it was cancelled"

    async def until(self, fact: Callable[[], bool], otherwise: str) -> None:
        """Wait until `fact` is one."""
        with anyio.move_on_after(self._room.within_s):
            while not fact():
                assert not self._closed.is_set(), f"{otherwise}: present had {self._ending()}"
                await anyio.sleep(0.002)
            return
        raise AssertionError(otherwise)

    async def receipt_of(self, index: int | None) -> None:
        """Wait until the last receipt is that of a question, or of the review."""
        name = "the review" if index is None else f"question {index + 1}"
        await self.until(lambda: index in self.receipts[-1:], f"no receipt came for {name}")

    async def at(self, index: int | None) -> None:
        """Wait until a question, or the review, stands before the person, by its receipt and by sight."""
        await self.until(
            lambda: self.interview.step.index == index,
            f"{'the review' if index is None else f'question {index + 1}'} did not come",
        )
        await self.receipt_of(index)
        if index is not None:
            text = self.interview.questionnaire.questions[index].text
            await self.until(lambda: text in self._room.hand.seen(), f"there is a receipt, but no {text!r}")

    async def sent(self) -> None:
        """Send all answers, where that takes something."""
        if self.interview.questionnaire.review and self._room.hand.can.review:
            await self.at(None)
            await self._room.hand.send()
        await self.until(lambda: self.interview.outcome is not None, "what was answered did not end it")

    async def over(self) -> None:
        """Wait for the presenter to return, and hold the outcome against the questions."""
        if self.was_cancelled:
            return
        await self._until_closed("there is an outcome, and present did not return")
        if self.error is not None:
            raise AssertionError(f"present raised {self.error!r}") from self.error
        try:
            check_outcome(self.interview.questionnaire, self.outcome)
        except QuestionnaireError as error:
            raise AssertionError(str(error)) from error

    async def _until_closed(self, otherwise: str) -> None:
        with anyio.move_on_after(self._room.within_s):
            await self._closed.wait()
            return
        raise AssertionError(otherwise)

    def _hear(self, act: Act | None) -> None:
        if isinstance(act, Shown):
            self.receipts.append(act.index)

    def _ending(self) -> str:
        ended = f"raised {self.error!r}" if self.error else "returned"
        outcome = self.interview.outcome
        return f"{ended}, {'without an outcome' if outcome is None else f'as {outcome.status}'}"


def _answers(outcome: Outcome) -> list[Answer | None]:
    return [response.answer for response in outcome.responses]


def _same(came: object, expected: object, what: str = "the answers") -> None:
    assert came == expected, f"{what} should be {expected}, and are {came}"


async def _picks(room: _Room) -> None:
    """A pick gives the option by its index, also where labels look alike."""
    for question in (_DRINK, _ALIKE):
        for row in range(len(question.options)):
            outcome = await room.ask(_one(question), partial(room.hand.pick, row))
            _same(_answers(outcome), [Answer((row,))])


async def _words(room: _Room) -> None:
    """A person's own words are the value, as they were typed."""
    for question, text in ((_DRINK, "tap water, please"), (_NAME, "Zoë 京"), (_NAME, "2")):
        outcome = await room.ask(_one(question), partial(room.hand.words, text))
        _same(_answers(outcome), [Answer(custom=text)])


async def _order(room: _Room) -> None:
    """Several questions come in their order, and all are sent together."""
    hand = room.hand
    for review in (False, True):
        async with room.present(Questionnaire((_DRINK, _CITY, _NAME), review=review)) as talk:
            doings = (partial(hand.pick, 2), partial(hand.pick, 0), partial(hand.words, "Ann"))
            for index, do in enumerate(doings):
                await talk.at(index)
                await do()
            await talk.sent()
        _same(_answers(talk.outcome), [Answer((2,)), Answer((0,)), Answer(custom="Ann")])
        _same(talk.outcome.status, Status.ANSWERED, "the status")
        places = list(dict.fromkeys(talk.receipts))
        _same(places, [0, 1, 2, *([None] if review and hand.can.review else [])], "the receipts")


async def _several(room: _Room) -> None:
    """Several options may be taken, and words beside them."""
    for rows, text in (((0, 2), ""), ((1,), "saffron"), ((), "saffron"), ((0, 1, 2), "none of these")):
        outcome = await room.ask(_one(_SPICES), partial(room.hand.tick, rows, text))
        _same(_answers(outcome), [Answer(rows, text or None)])


async def _blank(room: _Room) -> None:
    """A blank answer to a required question is asked again."""
    for question in (_NAME, _DRINK):
        async with room.present(_one(question)) as talk:
            await talk.at(0)
            await room.hand.words("")
            await room.hand.words("filled")
            await talk.sent()
        _same(_answers(talk.outcome), [Answer(custom="filled")])


async def _skipped(room: _Room) -> None:
    """An optional question can be skipped, which is no answer and no end."""
    optional = Question("Extras?", (Option("Ice"), Option("Lemon")), custom=_OWN, required=False)
    asked = Questionnaire((optional, Question("Remarks?", required=False), _CITY))
    hand = room.hand
    outcome = await room.ask(asked, hand.skip, hand.skip, partial(hand.pick, 1))
    states = [response.state for response in outcome.responses]
    _same(states, [State.SKIPPED, State.SKIPPED, State.ANSWERED], "the states")
    _by_hand(room, outcome.responses)


async def _declined(room: _Room) -> None:
    """Declining ends it, and keeps what was answered."""
    async with room.present(_one(_CITY)) as talk:
        await talk.at(0)
        await room.hand.stop()
        await talk.until(lambda: talk.interview.outcome is not None, "declining did not end it")
    _same(talk.outcome.status, Status.DECLINED, "the status")
    async with room.present(Questionnaire((_DRINK, _CITY, _NAME), review=True)) as talk:
        await talk.at(0)
        await room.hand.pick(1)
        await talk.at(1)
        await room.hand.stop()
        await talk.until(lambda: talk.interview.outcome is not None, "declining did not end it")
    _same(talk.outcome.status, Status.DECLINED, "the status")
    _same(_answers(talk.outcome), [Answer((1,)), None, None])
    await room.check_usable("declining")


async def _elsewhere(room: _Room) -> None:
    """An answer from elsewhere moves the surface on, and the last one ends it."""
    for review in (False, True):
        async with room.present(Questionnaire((_DRINK, _CITY, _NAME), review=review)) as talk:
            await talk.at(0)
            talk.interview.send(Give(Answer((0,)), _REMOTE))
            await talk.at(1)
            await room.hand.pick(2)
            await talk.at(2)
            talk.interview.send(Give(Answer(custom="Ann"), _REMOTE))
            if review and room.hand.can.review:
                await talk.at(None)
            talk.interview.send(Submit())
        _same(talk.outcome.status, Status.ANSWERED, "the status")
        _same(_answers(talk.outcome), [Answer((0,)), Answer((2,)), Answer(custom="Ann")])
        _same(talk.outcome.responses[2].by, _REMOTE, "the provenance of an answer from elsewhere")
    async with room.present(Questionnaire((_DRINK, _CITY))) as talk:
        interview = talk.interview
        give = Give(Answer((1,)), _REMOTE, index=0)  # as the receipt comes, before anybody waits for a hand
        with interview.watch(lambda _: interview.step.responses[0].settled or interview.send(give)):
            await talk.at(1)
        await room.hand.pick(2)
        await talk.sent()
    _same(_answers(talk.outcome), [Answer((1,)), Answer((2,))])
    await room.check_usable("an answer from elsewhere")


async def _ended(room: _Room) -> None:
    """An end from outside closes it promptly, keeps what was answered, and leaves the surface usable."""
    for status in (Status.CANCELLED, Status.TIMED_OUT, Status.SUPERSEDED):
        async with room.present(Questionnaire((_DRINK, _CITY))) as talk:
            await talk.at(0)
            await room.hand.pick(1)
            await talk.at(1)
            talk.interview.end(status, "enough")
        _same(talk.outcome.status, status, "the status")
        _same(_answers(talk.outcome), [Answer((1,)), None])
        await room.check_usable(f"an end as {status}")


async def _ended_early(room: _Room) -> None:
    """An end that comes before the first question was shown, or with it, closes it as promptly."""
    interview = Interview(_one(_NAME))
    interview.end(Status.CANCELLED)
    with anyio.move_on_after(room.within_s) as waiting:
        await room.presenter.present(interview)
    assert not waiting.cancelled_caught, "present did not return though it had ended before"
    assert _NAME.text not in room.hand.seen(), "a question was shown that had ended before"
    async with room.present(_one(_DRINK)) as talk:
        interview = talk.interview
        with interview.watch(lambda act: isinstance(act, Shown) and interview.end(Status.TIMED_OUT)):
            await talk.until(lambda: interview.outcome is not None, "no receipt came")
            await talk.over()
    await room.check_usable("an end with the receipt")


async def _cancelled(room: _Room) -> None:
    """Cancelling the call is no end: it can be presented again, and the surface is usable."""
    async with room.present(Questionnaire((_DRINK, _CITY))) as talk:
        await talk.at(0)
        await room.hand.pick(1)
        await talk.at(1)
        await talk.cancel()
    ended = talk.interview.outcome
    assert ended is None, f"cancelling the call ended the questions as {ended and ended.status}"
    responses = talk.interview.step.responses
    _same([response.answer for response in responses], [Answer((1,)), None])
    await room.check_usable("cancelling")
    async with room.present(talk.interview.questionnaire, responses) as talk:
        await talk.at(1)
        await room.hand.pick(0)
        await talk.sent()
    _same(_answers(talk.outcome), [Answer((1,)), Answer((0,))])


async def _receipts(room: _Room) -> None:
    """Each question that was drawn has its receipt, and none that was not."""
    async with room.present(Questionnaire((_DRINK, _CITY, _NAME), review=True)) as talk:
        await talk.at(0)
        await room.hand.words("cocoa")
        await talk.at(1)
        talk.interview.end(Status.CANCELLED)
    for question, response in zip(
        talk.interview.questionnaire.questions, talk.outcome.responses, strict=True
    ):
        drawn = question.text in room.hand.seen()
        receipt = response.shown_at is not None
        assert drawn == receipt, f"{question.text!r}: drawn is {drawn}, its receipt is {receipt}"


async def _provenance(room: _Room) -> None:
    """Each answer says from which surface and by what input it came, after its question was shown."""
    hand = room.hand
    outcome = await room.ask(
        Questionnaire((_DRINK, _SPICES, _NAME), review=True),
        partial(hand.pick, 0),
        partial(hand.tick, (0,), "saffron"),
        partial(hand.words, "Ann"),
    )
    _by_hand(room, outcome.responses)


def _by_hand(room: _Room, responses: Sequence[Response]) -> None:
    for response in responses:
        by, shown_at = response.by, response.shown_at
        assert by is not None, f"nothing says where it came from: {response}"
        came = (by.surface, by.input)
        _same(came, (room.hand.can.surface, room.hand.can.input), "the surface and its input")
        assert shown_at is not None, f"it has no receipt: {response}"
        assert shown_at <= by.at, f"it was answered at {by.at:g} s and shown at {shown_at:g} s"


async def _one_after_the_other(room: _Room) -> None:
    """Two questionnaires one after the other have nothing of each other."""
    first = await room.ask(_one(_SPICES), partial(room.hand.tick, (1,), "saffron"))
    second = await room.ask(_one(_SPICES), partial(room.hand.tick, (2,)))
    _same(_answers(first) + _answers(second), [Answer((1,), "saffron"), Answer((2,))])


async def _review(room: _Room) -> None:
    """From the review each answer can be changed, and nothing counts before it is sent."""
    if not room.hand.can.review:
        return
    async with room.present(Questionnaire((_CITY, _DRINK), review=True)) as talk:
        await talk.at(0)
        await room.hand.pick(0)
        await talk.at(1)
        await room.hand.pick(0)
        await talk.at(None)
        assert talk.interview.outcome is None, "it ended before it was sent"
        await room.hand.change(1)
        await talk.at(1)
        await room.hand.pick(2)
        await talk.sent()
    _same(_answers(talk.outcome), [Answer((0,)), Answer((2,))])


async def _notes(room: _Room) -> None:
    """A note stands beside the answer, and answers nothing."""
    if not room.hand.can.notes:
        return
    async with room.present(_one(_CITY)) as talk:
        await talk.at(0)
        await room.hand.note("by train")
        await talk.until(lambda: bool(talk.interview.step.responses[0].note), "the note did not come")
        await room.hand.pick(1)
        await talk.sent()
    [response] = talk.outcome.responses
    _same((response.answer, response.note), (Answer((1,)), "by train"), "the answer and its note")


_RAW = (
    "\x1b]52;c;SGk=",
    "\x1b[31mred",
    "\x9b31m",
    "\x07bell",
    "\x08\x08",
    "\u202egnp",
    "\u2066",
    "\u200bzero",
)
_FORGED = "\n2. Forged"
_HOSTILE = " ".join(_RAW) + _FORGED + "\r\n[x] Forged\u2028Forged"


async def _hostile(room: _Room) -> None:
    """No text reaches the surface raw, and none can begin a row; the value stays what it was."""
    for multi_select in (False, True):
        question = Question(
            f"Which? {_HOSTILE}",
            (
                Option(f"One {_HOSTILE}", _HOSTILE, f"# {_HOSTILE}", badge=_HOSTILE),
                Option(f"Two {_HOSTILE}", _HOSTILE),
                Option(f"Long {'x' * 10_000}"),
            ),
            header=_HOSTILE,
            multi_select=multi_select,
            custom=CustomRow(f"Own {_HOSTILE}"),
        )
        for listed in (False, True):
            async with room.present(Questionnaire((question, _CITY), review=True, listed=listed)) as talk:
                await talk.receipt_of(0)
                await (room.hand.tick((1,)) if multi_select else room.hand.pick(1))
                await talk.at(1)
                await room.hand.pick(0)
                await talk.sent()
            _same(_answers(talk.outcome), [Answer((1,)), Answer((0,))])
    seen = room.hand.seen()
    for raw in (*_RAW, _FORGED, "\n[x] Forged"):
        assert raw not in seen, f"{raw!r} came to the surface as it is"


async def _lost(room: _Room) -> None:
    """A surface that goes away underway ends it as cancelled, and keeps what was answered."""
    if not room.hand.can.loss:
        return
    async with room.present(Questionnaire((_DRINK, _CITY))) as talk:
        await talk.at(0)
        await room.hand.pick(1)
        await talk.at(1)
        await room.hand.lose()
    _same(talk.outcome.status, Status.CANCELLED, "the status")
    _same(_answers(talk.outcome), [Answer((1,)), None])


async def _nowhere(room: _Room) -> None:
    """Where nothing can be shown it says so, and never that a person was asked."""
    if not room.hand.can.loss:
        return
    await room.hand.lose()
    interview = Interview(_one(_NAME))
    raised = False
    with anyio.move_on_after(room.within_s):
        try:
            await room.presenter.present(interview)
        except NoInterface:
            raised = True
    assert raised, f"the surface is gone, and no NoInterface came; the outcome is {interview.outcome}"
    assert interview.outcome is None, f"it raised NoInterface, and ended it: {interview.outcome}"
    assert _NAME.text not in room.hand.seen(), "it raised NoInterface, but a question was drawn"


_PROMISES = (
    _picks,
    _words,
    _order,
    _several,
    _blank,
    _skipped,
    _declined,
    _elsewhere,
    _ended,
    _ended_early,
    _cancelled,
    _receipts,
    _provenance,
    _one_after_the_other,
    _review,
    _notes,
    _hostile,
    _lost,
    _nowhere,
)
