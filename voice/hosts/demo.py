"""The demo's agent: scripted, so it needs no model and no key, but a host like any other.

It sees a tool set with two doors and gets user messages as text. It knows nothing of microphones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio

from questionnaire import ToolResult, Toolset
from voice.events import AssistantText, Emit, ToolCalled
from voice.ports import Delivery
from voice.spoken_answers import choice_of, spoken_digits, yes_or_no

ASK = "ask_user_question"

KIND_OF_PROJECT: Mapping[str, Any] = {
    "questions": [
        {
            "header": "Project",
            "question": "What kind of project do you want to set up?",
            "options": [
                {"label": "A web service", "description": "It answers requests, and keeps data."},
                {"label": "A library", "description": "Other programs import it."},
            ],
        }
    ]
}

KEEP_IT: Mapping[str, Any] = {
    "questions": [
        {
            "header": "Finish",
            "question": "Shall I write this down as the project's plan?",
            "options": [
                {"label": "Write it down", "description": "Into PLAN.md, to be changed later."},
                {"label": "Forget it", "description": "Nothing is kept."},
            ],
        }
    ]
}

SHALL_WE_TALK = "Shall we go through the rest by voice? Please say yes or no."
DATABASES = ("SQLite", "PostgreSQL")
WHICH_DATABASE = (
    "Question 1: Which database should it use? Options: 1, SQLite; 2, PostgreSQL. Please choose one option."
    " You may also answer in your own words."
)
WHICH_TESTS = "And what should I know about your tests? Answer in your own words."
WHICH_PORT = "Last question: on which port should it listen? Please spell it, digit by digit."


class DemoAgent:
    """A `voice.ports.Host` that asks four questions by voice, and two on the screen.

    ``tools`` is what it may use, given before its first act.
    """

    tools: Toolset

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._messages: deque[str] = deque()
        self._came = anyio.Event()
        self._plan: dict[str, str] = {}

    @property
    def name(self) -> str:
        """What a person calls it."""
        return "the demo agent"

    @property
    def busy(self) -> bool:
        """Never: it waits for each reply."""
        return False

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Nothing has to be started."""
        yield

    async def interrupt(self) -> None:
        """Nothing has to be stopped."""

    async def send(self, text: str, delivery: Delivery = Delivery.FOLLOW_UP) -> None:  # noqa: ARG002
        """Take a user message; it is read when the agent's turn to read comes."""
        self._messages.append(text)
        self._came.set()

    async def before_voice(self) -> None:
        """Ask on the screen what kind of project it is."""
        result = await self._call(ASK, KIND_OF_PROJECT)
        self._plan["kind"] = _answer(result) or "something you have not told me"
        self._say(f"So it is: {self._plan['kind']}.")

    async def with_voice(self) -> None:
        """Ask four questions by narrating them, and say what was understood."""
        willing = yes_or_no(await self._ask_aloud(SHALL_WE_TALK))
        heard = {True: "Good.", False: "Quickly, then.", None: "I take that as a maybe."}[willing]
        await self._call(ASK, KIND_OF_PROJECT)  # a model may try: it is told to narrate instead
        reply = await self._ask_aloud(f"{heard} {WHICH_DATABASE}")
        chosen = choice_of(DATABASES, reply)
        self._plan["database"] = reply if chosen is None else DATABASES[chosen]
        self._plan["tests"] = await self._ask_aloud(f"{self._plan['database']}. {WHICH_TESTS}")
        reply = await self._ask_aloud(f"I have noted that. {WHICH_PORT}")
        self._plan["port"] = spoken_digits(reply) or reply
        await self._narrate(f"Port {', '.join(self._plan['port'])}. Thank you, that was all.")

    async def after_voice(self) -> None:
        """Say what was understood, and ask on the screen whether to keep it."""
        plan = self._plan
        self._say(
            f"This is what I understood: {plan['kind']}, with {plan['database']}, on port {plan['port']}."
            f" About the tests you said: {plan['tests']}."
        )
        answer = _answer(await self._call(ASK, KEEP_IT))
        self._say(f"{answer or 'No answer'}: very well. Good-bye!")

    async def _ask_aloud(self, question: str) -> str:
        await self._narrate(question)
        while not self._messages:
            self._came = anyio.Event()
            await self._came.wait()
        return self._messages.popleft().rstrip(".")

    async def _narrate(self, text: str) -> None:
        await self.tools.call("narrate", {"text": text})

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        result = await self.tools.call(name, arguments)
        self._emit(ToolCalled(name, result.text, result.is_error))
        return result

    def _say(self, text: str) -> None:
        self._emit(AssistantText(text))


def _answer(result: ToolResult) -> str | None:
    """The first answer of a structured result, None where there is none."""
    answers = result.details.get("answers") or [{}]
    answer = answers[0].get("answer")
    return str(answer) if answer is not None else None
