"""The agent of a scene: a host that does what was written, turn by turn."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import anyio.lowlevel

from questionnaire import InvalidQuestionnaire, Outcome, Questionnaire, Toolset, read_questionnaire
from voice.errors import HostDied
from voice.events import Emit, HostLost, ToolCalled
from voice.hosts.catalog import Ask
from voice.hosts.turns import Turns
from voice.ports import Delivery
from voice.scenes.script import Call, Question, Step, Turn

_BY_ITSELF = "\0"
"""What begins a message that is none: a turn that the agent begins of its own accord."""


class SceneAgent:
    """A `voice.ports.Host`. Each message begins the next turn of the scene; without one more it is taken.

    ``complain`` is told, in a sentence, of a tool that gave something else than was expected.
    """

    name = "the agent of the scene"

    def __init__(
        self, turns: Sequence[Turn], *, tools: Toolset, ask: Ask, emit: Emit, complain: Callable[[str], None]
    ) -> None:
        self._tools, self._ask, self._emit, self._complain = tools, ask, emit, complain
        self._left = deque(turn for turn in turns if not turn.by_itself)
        self._own: list[Turn] = []
        self._own_left = sum(turn.by_itself for turn in turns)
        self._turns: Turns | None = None
        self._stopping = anyio.CancelScope()

    @property
    def turns_left(self) -> int:
        """How many turns have not begun."""
        return len(self._left) + self._own_left

    @property
    def busy(self) -> bool:
        """Whether a turn goes on, or is about to begin."""
        return self._turns is not None and self._turns.busy

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Begin to take messages."""
        self._turns = Turns(self._emit)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._turns.run, self._turn)
                yield
                tasks.cancel_scope.cancel()
        finally:
            self._turns = None

    async def send(self, text: str, delivery: Delivery = Delivery.FOLLOW_UP) -> None:
        """Take a message. Raises `HostDied` where its program has ended."""
        if self._turns is None:
            raise HostDied("The agent of the scene does not run.")
        if not self._turns.open or delivery is Delivery.FOLLOW_UP:
            self._turns.put(text)
        elif delivery is Delivery.INTERRUPT:
            self._turns.put_first(text)
            self._stopping.cancel()

    async def interrupt(self) -> None:
        """Stop what it is at."""
        if self._turns is not None:
            await self._turns.begun()
            if self._turns.open:
                self._stopping.cancel()

    def begin(self, turn: Turn) -> None:
        """Begin a turn of its own accord, after those that wait."""
        if self._turns is not None:
            self._turns.put(f"{_BY_ITSELF}{len(self._own)}")
            self._own.append(turn)

    async def _turn(self, text: str) -> str:
        if text.startswith(_BY_ITSELF):
            turn = self._own[int(text.removeprefix(_BY_ITSELF))]
            self._own_left -= 1
        elif self._left:
            turn = self._left.popleft()
        else:
            return ""
        with anyio.CancelScope() as self._stopping:
            for step in turn.does:
                if (error := await self._do(step)) is not None:
                    return error
        return ""

    async def _do(self, step: Step) -> str | None:
        """Take one step; returns how the turn ends, where it does with this."""
        if step.writes is not None:
            await self._write(step.writes, step.over)
        elif step.narrates is not None:
            await self._call(Call(tool="narrate", arguments={"text": step.narrates}))
        elif step.calls is not None:
            await self._call(step.calls)
        elif step.asks is not None:
            await self._insist(step.asks, risky=step.risky)
        elif step.works is not None:
            await anyio.sleep(step.works)
        elif step.dies is not None:
            self._die(step.dies)
            return ""
        return step.fails

    async def _write(self, text: str, over_s: float) -> None:
        parts = [f"{word} " for word in text.split(" ")]
        parts[-1] = parts[-1][:-1]
        for part in parts if over_s else [text]:
            if self._turns is not None:
                self._turns.write(part)
            await anyio.sleep(over_s / len(parts))
        if self._turns is not None:
            self._turns.written()

    async def _call(self, call: Call) -> None:
        await anyio.lowlevel.checkpoint()  # whoever speaks what was written begins with it before this
        result = await self._tools.call(call.tool, call.arguments)
        self._emit(ToolCalled(call.tool, result.text, result.is_error))
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

    def _die(self, sentence: str) -> None:
        self._turns, turns = None, self._turns
        if turns is not None:
            turns.close()
        self._emit(HostLost(sentence))


def _answers(questionnaire: Questionnaire, outcome: Outcome) -> str:
    """What was answered, by the labels."""
    answers = []
    for question, response in zip(questionnaire.questions, outcome.responses, strict=False):
        if response.answer is not None:
            labels = [question.options[row].label for row in response.answer.selected]
            answers.append(", ".join([*labels, *filter(None, [response.answer.custom])]))
    return "; ".join(answers)
