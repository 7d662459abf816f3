"""The agent of a scene: a host that does what was written, turn by turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

import anyio

from questionnaire import InvalidQuestionnaire, Outcome, Questionnaire, Toolset, read_questionnaire
from voice.events import Emit, ToolCalled
from voice.hosts.acting import ActedHost
from voice.hosts.catalog import Ask
from voice.scenes.script import Call, Question, Step, Turn

_BY_ITSELF = "\0"
"""What begins a message that is none: a turn that the agent begins of its own accord."""


class SceneAgent(ActedHost):
    """A `voice.ports.Host`. Each message begins the next turn of the scene; without one more it is taken.

    ``complain`` is told, in a sentence, of a tool that gave something else than was expected.
    """

    name = "the agent of the scene"

    def __init__(
        self, turns: Sequence[Turn], *, tools: Toolset, ask: Ask, emit: Emit, complain: Callable[[str], None]
    ) -> None:
        super().__init__(tools, emit)
        self._ask, self._complain = ask, complain
        self._left = deque(turn for turn in turns if not turn.by_itself)
        self._own: list[Turn] = []
        self._own_left = sum(turn.by_itself for turn in turns)

    @property
    def turns_left(self) -> int:
        """How many turns have not begun."""
        return len(self._left) + self._own_left

    def begin(self, turn: Turn) -> None:
        """Begin a turn of its own accord, after those that wait."""
        if self._turns is not None:
            self._turns.put(f"{_BY_ITSELF}{len(self._own)}")
            self._own.append(turn)

    def _steer(self, text: str) -> None:
        """Nothing comes of it: it is at what was written."""

    async def _turn(self, text: str) -> str:
        if text.startswith(_BY_ITSELF):
            turn = self._own[int(text.removeprefix(_BY_ITSELF))]
            self._own_left -= 1
        elif self._left:
            turn = self._left.popleft()
        else:
            return ""
        for step in turn.does:
            if (error := await self._do(step)) is not None:
                return error
        return ""

    async def _do(self, step: Step) -> str | None:
        """Take one step; returns how the turn ends, where it does with this."""
        if step.writes is not None:
            await self._write_over(step.writes, step.over)
        elif step.narrates is not None:
            await self._call("narrate", {"text": step.narrates})
        elif step.calls is not None:
            await self._try(step.calls)
        elif step.asks is not None:
            await self._insist(step.asks, risky=step.risky)
        elif step.works is not None:
            await anyio.sleep(step.works)
        elif step.dies is not None:
            self._die(step.dies)
            return ""
        return step.fails

    async def _write_over(self, text: str, over_s: float) -> None:
        parts = [f"{word} " for word in text.split(" ")]
        parts[-1] = parts[-1][:-1]
        for part in parts if over_s else [text]:
            self._write(part)
            await anyio.sleep(over_s / len(parts))
        self._finish_text()

    async def _try(self, call: Call) -> None:
        result = await self._call(call.tool, call.arguments)
        if call.expect_error is not None and result.is_error is not call.expect_error:
            was = "an error" if result.is_error else "no error"
            self._complain(f"The tool {call.tool} gave {was}: {result.text}")
        self._compare(call, result.text)

    async def _insist(self, asked: Question, *, risky: bool) -> None:
        try:
            questionnaire = read_questionnaire(asked.tool, asked.arguments)
        except InvalidQuestionnaire as error:
            self._complain(f"The agent cannot ask that: {error}")
            return
        outcome = await self._ask(replace(questionnaire, risky=risky))
        told = f"{outcome.status}: {_answers(questionnaire, outcome)}"
        self._emit(ToolCalled(asked.tool, told, is_error=False))
        self._compare(asked, told)

    def _compare(self, call: Question, text: str) -> None:
        if call.expect_text is not None and call.expect_text not in text:
            self._complain(f"The tool {call.tool} gave {text!r}, and {call.expect_text!r} is not in it.")


def _answers(questionnaire: Questionnaire, outcome: Outcome) -> str:
    """What was answered, by the labels."""
    answers = []
    for question, response in zip(questionnaire.questions, outcome.responses, strict=False):
        if response.answer is not None:
            labels = [question.options[row].label for row in response.answer.selected]
            answers.append(", ".join([*labels, *filter(None, [response.answer.custom])]))
    return "; ".join(answers)
