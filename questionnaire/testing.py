"""Doubles for tests: parts that are given their lines, record what they were asked, and complain.

A double fails when it is asked more than it has lines for, and when lines are left at the end of its
`with` block, so that a test cannot pass by doing less.
"""

from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Generic, Self, TypeVar

import anyio
from anyio.lowlevel import checkpoint

from questionnaire.answers import Choice, Unclear, read_reply
from questionnaire.checks import Abilities, Hand, check_presenter
from questionnaire.model import Input, Outcome, Provenance, Questionnaire, Status
from questionnaire.progress import Act, Give, Interview, Shown, Skip, Submit
from questionnaire.toolset import Toolset

__all__ = [
    "BY",
    "Abilities",
    "FakeClock",
    "Hand",
    "HeldPresenter",
    "ScriptedDialogs",
    "ScriptedLines",
    "ScriptedPresenter",
    "all_quiet",
    "answered",
    "check_presenter",
    "check_toolset",
    "outcome_of",
]

BY = Provenance("scripted", Input.KEY, at=0.0)
"""Where the answers of a scripted user come from."""

_Line = TypeVar("_Line")


class _Script(Generic[_Line]):
    """Lines that are handed out one by one."""

    def __init__(self, lines: Sequence[_Line]) -> None:
        self._lines = list(lines)

    def _next(self, asked: str) -> _Line:
        assert self._lines, f"{type(self).__name__} has no line left for: {asked}"
        return self._lines.pop(0)

    def finish(self) -> None:
        """Fail where lines are left."""
        assert not self._lines, f"{type(self).__name__} was never asked for: {self._lines}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.finish()


class ScriptedPresenter(_Script[str | Status | Sequence[str | Act]]):
    """A presenter whose user does what was written, one line a questionnaire.

    A line is the reply that a person would type, or what they do one after the other, replies and acts;
    the review at the end is then sent. Or it is a status, with which somebody else ends the questionnaire.
    `asked` holds the questionnaires that were presented.
    """

    def __init__(self, *lines: str | Status | Sequence[str | Act]) -> None:
        super().__init__(lines)
        self.asked: list[Questionnaire] = []

    async def present(self, interview: Interview) -> None:
        """Do what the next line says."""
        self.asked.append(interview.questionnaire)
        line = self._next(interview.questionnaire.questions[0].text)
        _play(interview, [] if isinstance(line, Status) else [line] if isinstance(line, str) else line)
        if isinstance(line, Status):
            interview.end(line)


class HeldPresenter:
    """A presenter whose user is the test: it shows each question, and waits for somebody else to act.

    `open` is the interview on its surface, None while there is none; it fails where a second one comes.
    `asked` holds all that were presented, `cancelled` how many of them were cancelled.
    """

    def __init__(self) -> None:
        self.open: Interview | None = None
        self.asked: list[Questionnaire] = []
        self.cancelled = 0

    async def present(self, interview: Interview) -> None:
        """Show the steps of `interview` until there is an outcome."""
        assert self.open is None, "two questionnaires are on one surface"
        self.open = interview
        self.asked.append(interview.questionnaire)
        try:
            while interview.outcome is None:
                moved = anyio.Event()
                with interview.watch(partial(_unless_shown, moved)):
                    interview.send(Shown(BY.at, interview.step.index))
                    await moved.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise
        finally:
            self.open = None


def _unless_shown(moved: anyio.Event, act: Act | None) -> None:
    if not isinstance(act, Shown):
        moved.set()


class FakeClock:
    """A `Clock` that stands still until the test moves it on."""

    def __init__(self) -> None:
        self._now = 0.0
        self._sleepers: dict[anyio.Event, float] = {}

    def now(self) -> float:
        """Return the time."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Return once the clock has been moved on that far."""
        woken = anyio.Event()
        self._sleepers[woken] = self._now + seconds
        try:
            await woken.wait()
        finally:
            self._sleepers.pop(woken, None)

    async def advance(self, seconds: float) -> None:
        """Move on, and let everybody act whose time has come."""
        self._now += seconds
        for woken, due in tuple(self._sleepers.items()):
            if due <= self._now:
                woken.set()
        await all_quiet()


async def all_quiet() -> None:
    """Let every task do what it can do now, without waiting for time or for the outside."""
    for _ in range(30):
        await checkpoint()


class ScriptedLines(_Script[str | None]):
    """A `LineTerminal` on which the given lines are typed; None is the end of input.

    `lines` holds what was written, the prompts with the replies that followed them included.
    """

    def __init__(self, *replies: str | None, width: int = 80) -> None:
        super().__init__(replies)
        self.width = width
        self.lines: list[str] = []

    def write_line(self, line: str) -> None:
        """Keep one line."""
        self.lines.append(line)

    async def read_line(self, prompt: str) -> str | None:
        """Return the next reply."""
        reply = self._next(self.lines[-1] if self.lines else prompt)
        self.lines.append(prompt + (reply or ""))
        return reply


class ScriptedDialogs(_Script[str | None]):
    """A session client whose dialogs get the given replies; None dismisses the dialog.

    `asked` holds the dialogs as they came: the method, the title, and the options or the placeholder.
    """

    def __init__(self, *replies: str | None) -> None:
        super().__init__(replies)
        self.asked: list[tuple[str, str, list[str] | str]] = []

    async def select(self, title: str, options: list[str], /) -> str | None:
        """Return the next reply."""
        self.asked.append(("select", title, options))
        return self._next(title)

    async def input(self, title: str, placeholder: str, /) -> str | None:
        """Return the next reply."""
        self.asked.append(("input", title, placeholder))
        return self._next(title)


def answered(questionnaire: Questionnaire, *doings: str | Act) -> Outcome:
    """Return the outcome of typing replies, one a question, as `questionnaire.answers` judges them.

    Acts may stand among the replies; the review at the end is sent.
    """
    outcome = outcome_of(questionnaire, *doings)
    assert outcome.status is Status.ANSWERED, f"{doings} do not answer it: {outcome}"
    return outcome


def outcome_of(
    questionnaire: Questionnaire, *doings: str | Act, end: Status = Status.CANCELLED, reason: str = ""
) -> Outcome:
    """Return how `questionnaire` ends when a user does this and no more, and `end` comes from outside."""
    interview = Interview(questionnaire)
    _play(interview, doings)
    interview.end(end, reason)
    assert interview.outcome is not None
    return interview.outcome


def _play(interview: Interview, doings: Sequence[str | Act]) -> None:
    """Show each question as it comes up, and do what is written; a review that is reached is sent."""
    for doing in doings:
        assert interview.outcome is None, f"it had ended before {doing!r}"
        interview.send(Shown(BY.at, interview.step.index))
        interview.send(_act(interview, doing) if isinstance(doing, str) else doing)
        assert not interview.step.notice, f"{doing!r}: {interview.step.notice}"
    if interview.outcome is None:
        interview.send(Shown(BY.at, interview.step.index))
        if doings and interview.step.index is None and isinstance(doings[-1], str | Give):
            interview.send(Submit())


def _act(interview: Interview, reply: str) -> Act:
    index = interview.step.index
    assert index is not None, f"{reply!r} was typed on the review"
    question = interview.questionnaire.questions[index]
    verdict = read_reply(question, reply)
    assert not isinstance(verdict, Unclear), f"{reply!r} to {question.text!r}: {verdict.reason}"
    return Give(verdict.answer, BY) if isinstance(verdict, Choice) else Skip(BY)


async def check_toolset(make: Callable[[], Toolset]) -> None:
    """Put what `make` makes through the promises that every tool set gives. No listed tool is run."""
    toolset = make()
    tools = toolset.tools()
    names = [tool.name for tool in tools]
    assert toolset.tools() == tools, "two reads without a change between them differ"
    assert len(set(names)) == len(names), f"tools share a name: {names}"
    for tool in tools:
        assert tool.name, "a tool has no name"
        assert tool.description, f"{tool.name} has no description"
        assert tool.parameters.get("type") == "object", f"the arguments of {tool.name} are no object"
    unknown = "no_such_tool_" + "_".join(names)
    result = await toolset.call(unknown, {})
    assert result.is_error, "a tool that is not listed was run"
    for name in names:
        assert name in result.text, f"the error for an unknown tool does not name {name}"
    assert toolset.tools() == tools, "a refused call changed what is listed"
