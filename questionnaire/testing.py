"""Doubles for tests: parts that are given their lines, record what they were asked, and complain.

A double fails when it is asked more than it has lines for, and when lines are left at the end of its
`with` block, so that a test cannot pass by doing less.
"""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Generic, Self, TypeVar

from questionnaire.answers import Unclear, read_reply
from questionnaire.model import Answer, Outcome, Questionnaire, Status
from questionnaire.toolset import Toolset

__all__ = ["ScriptedLines", "ScriptedPresenter", "answered", "check_toolset"]

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


class ScriptedPresenter(_Script[Outcome | Sequence[str]]):
    """A presenter that gives the outcomes it was given, in order.

    An outcome may be written as the reply that a person would type, or as the replies, one a question.
    `asked` holds the questionnaires that were presented.
    """

    def __init__(self, *outcomes: Outcome | Sequence[str]) -> None:
        super().__init__(outcomes)
        self.asked: list[Questionnaire] = []

    async def present(self, questionnaire: Questionnaire) -> Outcome:
        """Return the next outcome."""
        self.asked.append(questionnaire)
        outcome = self._next(questionnaire.questions[0].text)
        if isinstance(outcome, Outcome):
            return outcome
        return answered(questionnaire, *([outcome] if isinstance(outcome, str) else outcome))


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


def answered(questionnaire: Questionnaire, *replies: str) -> Outcome:
    """Return the outcome of typing `replies`, one a question, as `questionnaire.answers` judges them."""
    answers = []
    for index, (question, reply) in enumerate(zip(questionnaire.questions, replies, strict=True)):
        choice = read_reply(question, reply)
        assert not isinstance(choice, Unclear), f"{reply!r} to {question.text!r}: {choice.reason}"
        answers.append(Answer(index, choice.selected, choice.custom))
    return Outcome(Status.ANSWERED, tuple(answers))


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
