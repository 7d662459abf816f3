"""The agent that `voice chat` talks with unless another is named: a script, no model and no key behind it.

It shows what can happen in a session: it asks on the screen or by voice, works for a while, wants a
permission, and breaks down when it is told to.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import anyio

from questionnaire import (
    AdjustableToolset,
    Option,
    Question,
    Questionnaire,
    Status,
    Unclear,
    read_questionnaire,
)
from voice.errors import SettingsError
from voice.events import Emit
from voice.hosts.acting import ActedHost
from voice.hosts.catalog import Ask
from voice.hosts.demo import ASK, KIND_OF_PROJECT
from voice.spoken_answers import Wish, read_spoken
from voice.spoken_form import spoken_questionnaire

WORK_S = 6.0
"""How long its work takes."""

STEPS = ("the folders", "the tests", "the checks")

HELP = """I am a script, and know five words:

- **ask** has me ask you something, on the screen or aloud
- **work** has me work for a while: talk to me meanwhile, or stop me
- **delete** has me ask for a permission
- **crash** has me break down; your next message starts me again
- **help** is this
"""

PERMISSION = Questionnaire(
    (
        Question(
            "May I delete the folder build?",
            (Option("Allow once", "Everything in it is gone then."), Option("Deny", "It stays as it is.")),
            header="Permission",
        ),
    ),
    risky=True,
)

_OWN_WORDS = {"ask", "work", "delete", "crash", "help"}
_CALL = re.compile(r"call (\w+) (\{.*\})", re.DOTALL)


class DemoHost(ActedHost):
    """A `voice.ports.Host` around the script; ``pause`` is what its work waits with."""

    name = "the demo agent"

    def __init__(
        self,
        *,
        tools: AdjustableToolset,
        ask: Ask,
        emit: Emit,
        pause: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        super().__init__(tools, emit)
        self._ask = ask
        self._pause = pause
        self._steering: deque[str] = deque()
        self._asked: Question | None = None
        """What was asked in words; the next message is the reply."""
        self._greeted = False

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Begin to take messages, with nothing steered and nothing asked."""
        self._steering.clear()
        self._asked = None
        async with super().open():
            yield

    def _steer(self, text: str) -> None:
        self._steering.append(text)

    async def _turn(self, text: str) -> str:
        try:
            await self._read(text)
            while self._steering:
                await self._read(self._steering.popleft())
        finally:
            if self._turns is not None:
                self._turns.put_back(*self._steering)
                self._steering.clear()
        return ""

    async def _read(self, text: str) -> None:
        """Do what a message says."""
        said = re.findall(r"[a-z]+", text.lower())
        words = set(said)
        if called := _CALL.fullmatch(text.strip()):
            await self._call_as_told(called[1], called[2])
        elif self._asked is not None and not (len(said) == 1 and words <= _OWN_WORDS):
            self._take_reply(self._asked, text)
        elif "crash" in words:
            self._die("The demo agent has crashed, as it was told. Your next message starts it again.")
        elif "help" in words:
            self._write(HELP)
        elif words & {"work", "working", "build"}:
            await self._work()
        elif words & {"delete", "permission"}:
            await self._want_permission()
        elif words & {"ask", "question"} or not self._greeted:
            await self._ask_kind()
        else:
            self._write(f"You said: {text}\n\nI am only a script. Say help, and I tell what I know.")
        self._finish_text()

    async def _ask_kind(self) -> None:
        """Ask with the tool where it is active, else aloud, else in writing."""
        if not self._greeted:
            self._write("Hello! Let us set up a project.")
            self._finish_text()
        self._greeted = True
        questionnaire = read_questionnaire(ASK, KIND_OF_PROJECT)
        if ASK in {tool.name for tool in self._tools.tools()}:
            result = await self._call(ASK, KIND_OF_PROJECT)
            if result.details.get("status") == Status.SUPERSEDED:
                self._asked = questionnaire.questions[0]  # Voice began meanwhile: the reply is a message
                return
            answers = result.details.get("answers") or [{}]
            self._decide(answers[0].get("answer"))
            return
        self._asked = questionnaire.questions[0]
        text = spoken_questionnaire(questionnaire)
        if (await self._call("narrate", {"text": text})).details.get("error") == "voice_not_active":
            self._write(text)

    def _take_reply(self, asked: Question, text: str) -> None:
        match read_spoken(asked, text):
            case Unclear(reason):
                self._write(f"{reason} Which is it: {' or '.join(option.label for option in asked.options)}?")
            case Wish():
                self._asked = None
                self._write("Very well, later.")
            case choice:
                self._asked = None
                labels = [asked.options[index].label for index in choice.selected]
                self._decide(labels[0] if labels else choice.custom)

    def _decide(self, kind: str | None) -> None:
        told = f"So it is: {kind.rstrip('.')}." if kind else "Undecided, then."
        self._write(f"{told} Say work, and I set it up.")

    async def _work(self) -> None:
        self._write("I set it up, which takes a while. Talk to me meanwhile.\n\n")
        for number, step in enumerate(STEPS, 1):
            await self._pause(WORK_S / len(STEPS))
            self._write(f"{number}. I have made {step}.\n")
            while self._steering:
                self._write(f"   You told me: {self._steering.popleft()}\n")
        self._write("\nDone. Say delete, and I clean up, if you allow it.")

    async def _want_permission(self) -> None:
        outcome = await self._ask(PERMISSION)
        answer = outcome.responses[0].answer if outcome.responses else None
        allowed = outcome.status is Status.ANSWERED and answer is not None and answer.selected == (0,)
        self._write(
            "I have deleted it. (I am a script: nothing was touched.)" if allowed else "I leave it, then."
        )

    async def _call_as_told(self, name: str, arguments: str) -> None:
        try:
            given = json.loads(arguments)
        except (ValueError, RecursionError) as error:
            self._write(f"I cannot call {name}: its arguments are no JSON ({error}).")
        else:
            await self._call(name, given)


def make_host(arguments: Sequence[str], *, tools: AdjustableToolset, ask: Ask, emit: Emit) -> DemoHost:
    """The demo agent; it takes no arguments. Raises `SettingsError` for any."""
    if arguments:
        raise SettingsError(f"The demo agent takes no arguments, and {' '.join(arguments)} came.")
    return DemoHost(tools=tools, ask=ask, emit=emit)
