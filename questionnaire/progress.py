"""The order of questions, as a generator without I/O.

`progress` yields what is to be shown next and is sent what the user did. The terminal, plain lines, dialogs
and speech all drive it, so that going back, skipping, reviewing and stopping mean the same everywhere.
`Interview` holds one such conversation, for several to drive and watch at once.

    interview = Interview(questionnaire)
    while interview.outcome is None:
        step = interview.step
        draw(step)                                   # a question, or the review where step.index is None
        interview.send(Shown(clock(), step.index))   # the receipt without which no answer counts
        interview.send(act_of_the_user())            # Give, Skip, Back, GoTo, Escape, …
"""

import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from questionnaire.answers import misfit
from questionnaire.model import (
    Answer,
    Input,
    Outcome,
    Provenance,
    Question,
    Questionnaire,
    Response,
    State,
    Status,
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be shown next.

    `index` is a question, or None for the review. `responses` is how all questions stand. `notice` is a
    sentence about the last act where that did not do what it was for. `stopping` says that the user has
    asked once to stop, and that a second `Escape` will.
    """

    index: int | None
    responses: tuple[Response, ...]
    notice: str = ""
    stopping: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """A question stands before a person since `at`; only the first time is kept. None is the review.

    `without` says what of the question the surface cannot show, as nouns.
    """

    at: float
    index: int | None
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Next:
    """Go on to the next question, or from the last one to the review."""


@dataclass(frozen=True, slots=True)
class Back:
    """Go back to the question before."""


@dataclass(frozen=True, slots=True)
class GoTo:
    """Go to a question; None is the review."""

    index: int | None


@dataclass(frozen=True, slots=True)
class Stay:
    """Remain where one is."""


Move = Next | Back | GoTo | Stay


@dataclass(frozen=True, slots=True)
class Give:
    """Answer a question: the one being shown, unless `index` names another.

    `then` is where to go; None goes on as the rules say: to the next question, back to the review if one
    came from there, or to the end.
    """

    answer: Answer
    by: Provenance
    index: int | None = None
    then: Move | None = None


@dataclass(frozen=True, slots=True)
class Skip:
    """Leave a question unanswered on purpose; refused where it is required. Otherwise as `Give`."""

    by: Provenance
    index: int | None = None
    then: Move | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What is typed and ticked on a question now, and not sent. Replaces the draft before."""

    text: str = ""
    ticked: tuple[int, ...] = ()
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """What the user writes about a question, or about one of its options; empty takes it back."""

    text: str
    option: int | None = None
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Submit:
    """Send all answers. Where one is missing, go there instead; from a question, to the review first."""


@dataclass(frozen=True, slots=True)
class Escape:
    """Ask to stop. Once anything was answered or drafted, it takes two in a row."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop at once: an explicit no, which needs no second one."""


@dataclass(frozen=True, slots=True)
class Touch:
    """Anything else the user did: it changes nothing but takes back a first `Escape`."""


Act = Shown | Move | Give | Skip | Draft | Note | Submit | Escape | Stop | Touch

Watcher = Callable[[Act | None], object]


def progress(
    questionnaire: Questionnaire, responses: Sequence[Response] = ()
) -> Generator[Step, Act, Outcome]:
    """Lead through `questionnaire`, from where `responses` left off, and return how it ended.

    It ends as answered, once every question is settled and the user has sent them, or as declined. Other
    ends come from outside: see `Interview.end`. An act that cannot be gets a notice and changes nothing.
    """
    now = list(responses) or [Response() for _ in questionnaire.questions]
    last = len(now) - 1
    place = _first_open(now)
    if place is None and not questionnaire.review:
        place = last
    reviewed, notice, stopping = False, "", False
    while True:
        reviewed = reviewed or place is None
        act = yield Step(place, tuple(now), notice, stopping)
        if isinstance(act, Shown):
            _receive(now, act)
            continue
        notice, stopping, stopped_before = "", False, stopping
        then: Move | Submit | None = Stay()
        match act:
            case Escape():
                if stopped_before or not any(_touched(response) for response in now):
                    return Outcome(Status.DECLINED, tuple(now))
                stopping = True
            case Stop():
                return Outcome(Status.DECLINED, tuple(now))
            case Give() | Skip() | Draft() | Note():
                index = place if act.index is None else act.index
                notice = _objection(questionnaire, index, act)
                if index is not None and not notice:
                    now[index] = _changed(now[index], act)
                    if index == place and isinstance(act, Give | Skip):
                        then = act.then
            case Next() | Back() | GoTo() | Submit():
                then = act
        if then is None:  # on, as the rules say
            then = GoTo(None) if reviewed else Next() if place != last or questionnaire.review else Submit()
        match then:
            case Submit() if place is not None and questionnaire.review:
                place = None
            case Submit():
                place = _first_open(now)
                if place is None:
                    return Outcome(Status.ANSWERED, tuple(now))
                notice = f"Question {place + 1} {_lack(questionnaire.questions[place])}"
            case Next() if place is not None:
                place = place + 1 if place < last else None if questionnaire.review else last
            case Back():
                place = last if place is None else max(0, place - 1)
            case GoTo(index) if (index is None and questionnaire.review) or index in range(last + 1):
                place = index


class Interview:
    """A questionnaire under way: `progress`, for several to drive, watch and end.

    Starts where `responses` left off, which has an entry for each question or none at all.
    """

    def __init__(self, questionnaire: Questionnaire, responses: Sequence[Response] = ()) -> None:
        self.questionnaire = questionnaire
        self._progress = progress(questionnaire, responses)
        self._step = next(self._progress)
        self._outcome: Outcome | None = None
        self._watchers: dict[object, Watcher] = {}

    @property
    def step(self) -> Step:
        """What is to be shown now; after the end, what was shown last."""
        return self._step

    @property
    def outcome(self) -> Outcome | None:
        """How it ended, None while it has not. The first end is final."""
        return self._outcome

    def send(self, act: Act) -> bool:
        """Do what somebody did, and return whether that was in time: false once there is an outcome."""
        if self._outcome is not None:
            return False
        try:
            self._step = self._progress.send(act)
        except StopIteration as end:
            self._outcome = end.value
        self._tell(act)
        return True

    def end(self, status: Status, reason: str = "") -> bool:
        """End it from outside, with what there is, and return whether that was in time.

        No end from outside is an answer: `Status.ANSWERED` raises `ValueError`.
        """
        if status is Status.ANSWERED:
            raise ValueError("only the user's own acts end a questionnaire as answered")
        if self._outcome is not None:
            return False
        self._outcome = Outcome(status, self._step.responses, reason)
        self._progress.close()
        self._tell(None)
        return True

    @contextmanager
    def watch(self, callback: Watcher) -> Iterator[None]:
        """Have `callback(act)` called after each act, and with None after an end from outside.

        A callback may act on the interview itself. One that raises is logged, no more.
        """
        key = object()
        self._watchers[key] = callback
        try:
            yield
        finally:
            del self._watchers[key]

    def _tell(self, act: Act | None) -> None:
        for callback in tuple(self._watchers.values()):
            try:
                callback(act)
            except Exception:
                _log.exception("a watcher of an interview failed")


def _first_open(responses: Sequence[Response]) -> int | None:
    return next((index for index, response in enumerate(responses) if not response.settled), None)


def _touched(response: Response) -> bool:
    return response.state is not State.UNTOUCHED


def _receive(responses: list[Response], receipt: Shown) -> None:
    """Keep when a question was first shown, and without what."""
    index = receipt.index
    if index is not None and 0 <= index < len(responses) and responses[index].shown_at is None:
        responses[index] = replace(responses[index], shown_at=receipt.at, unshown=receipt.without)


def _objection(questionnaire: Questionnaire, index: int | None, act: Give | Skip | Draft | Note) -> str:
    """Return why `act` cannot be done to the question with this index, as a sentence; empty if it can."""
    if index is None:
        return "This is the review: go to a question to change it."
    if not 0 <= index < len(questionnaire.questions):
        return f"There is no question {index + 1}."
    question = questionnaire.questions[index]
    match act:
        case Give(answer) if fault := misfit(question, answer):
            return f"The answer {fault}."
        case Skip() if question.required:
            return "This question needs an answer; it cannot be skipped."
        case Draft(ticked=options) if any(not 0 <= option < len(question.options) for option in options):
            return "There is no such option."
        case Note(option=int(option)) if not 0 <= option < len(question.options):
            return "There is no such option."
    return ""


def _changed(response: Response, act: Give | Skip | Draft | Note) -> Response:
    match act:
        case Give(answer, by):
            # What was sent is no draft any more; words that stand beside a sent pick still are, and so is all
            # that was being typed and ticked here when an answer came from elsewhere.
            remote = by.input is Input.REMOTE
            draft = response.draft if remote or answer.custom is None else ""
            ticked = response.ticked if remote else ()
            return replace(response, answer=answer, skipped=False, by=by, draft=draft, ticked=ticked)
        case Skip(by):
            return replace(response, answer=None, skipped=True, by=by)
        case Draft(text, ticked):
            return replace(response, draft=text, ticked=tuple(sorted(set(ticked))))
        case Note(text, None):
            return replace(response, note=text)
        case Note(text, int(option)):
            kept = {**dict(response.option_notes), option: text}
            return replace(response, option_notes=tuple(sorted(pair for pair in kept.items() if pair[1])))
    raise AssertionError(act)


def _lack(question: Question) -> str:
    if question.required:
        return "has no answer yet."
    return "is optional, but still open: answer it or skip it."
