"""The log of a recorded session, played: everything happens as it did, and when it did."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import anyio
from anyio.abc import TaskGroup

from voice.chat import Chat
from voice.hosts.catalog import Ask
from voice.scenes import log
from voice.scenes.recorded import RecordedAgent, Recording
from voice.scenes.screen import questionnaire_of
from voice.scenes.stage import Stage

GIVEN_UP_AFTER_S = 0.5
"""What a recorded agent waited for is taken from it so long after its end: narration may end a little later
than it did."""

IN_ITS_PLACE = (
    log.MicrophoneOpened,
    log.MicrophoneFailed,
    log.Understood,
    log.Rendered,
    log.PlayedBack,
)
"""What the recorded parts take from the log by themselves."""


class Repeating:
    """One run of it. The recorded ``agent`` asks with ``ask``, and waits in ``tasks``."""

    def __init__(self, chat: Chat, stage: Stage, agent: RecordedAgent, ask: Ask, tasks: TaskGroup) -> None:
        self._chat, self._stage, self._agent, self._ask, self._tasks = chat, stage, agent, ask, tasks
        self._calls: dict[int, anyio.CancelScope] = {}
        """What the agent waits for."""

    async def run(self, recording: Recording) -> None:
        """Let it happen."""
        for line in recording.lines:
            if not isinstance(line, IN_ITS_PLACE):
                await anyio.sleep_until(line.at)
                await self._repeat(line, recording)

    async def _repeat(self, line: log.LogLine, recording: Recording) -> None:
        chat = self._chat
        match line:
            case log.Drafted(text=text):
                chat.draft(text)
            case log.LineSent(text=text):
                chat.send(text)
            case log.Pressed(key=key):
                getattr(chat, key)()
            case log.Accepted():
                await self._agent.accept()
            case log.HostTold(event=values):
                self._agent.tell(values)
            case log.ToolCall(id=number, name=name, arguments=arguments):
                self._tasks.start_soon(self._wait_for, number, partial(chat.tools.call, name, arguments))
            case log.Asked(id=number, questionnaire=values):
                self._tasks.start_soon(self._wait_for, number, partial(self._ask, questionnaire_of(values)))
            case log.Returned(id=number, by_voice=by_voice):
                self._tasks.start_soon(self._give_up, number, GIVEN_UP_AFTER_S if by_voice else 0.0)
            case log.Announced(first=first, count=count, in_s=in_s) if self._stage.ears is not None:
                self._stage.ears.on_played(recording.announced[first : first + count], in_s)

    async def _wait_for(self, number: int, call: Callable[[], Awaitable[object]]) -> None:
        """What the agent waited for, and in vain where it gave up."""
        with anyio.CancelScope() as self._calls[number]:
            await call()

    async def _give_up(self, number: int, after_s: float) -> None:
        """It had its answer, or gave up; what ended by voice may still end by itself."""
        await anyio.sleep(after_s)
        if (waiting := self._calls.pop(number, None)) is not None:
            waiting.cancel()
