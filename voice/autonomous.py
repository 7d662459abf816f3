"""Autonomous Voice: while it runs the agent asks by narrating, and the reply arrives as a user message.

It withholds the tools that ask on a screen (the same thing would be asked twice), and restores them on every
exit: stop, error, cancellation, Ctrl-C.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import TaskStatus

from questionnaire import (
    TOOL_NAMES,
    AdjustableToolset,
    InvalidQuestionnaire,
    ToolResult,
    Withhold,
    read_questionnaire,
)
from voice.audio import FRAME_S, Frame, silent_frame
from voice.errors import DeviceError, VoiceError
from voice.events import (
    Emit,
    Event,
    NarrationEnded,
    NarrationStarted,
    Notice,
    UserMessage,
    VoiceState,
    VoiceStateChanged,
)
from voice.floor import Floor
from voice.loop import Hearing
from voice.ports import Microphone
from voice.session import Session
from voice.speaking.narrator import Narrator
from voice.tasks import lone_errors

REOPEN_AFTER_S = 1.0
"""How long to wait before a lost microphone is looked for again."""


@dataclass(frozen=True)
class Parts:
    """What autonomous Voice hears and speaks with."""

    microphone: Microphone
    hearing: Hearing
    narrator: Narrator


class AutonomousVoice:
    """One session's hands-free mode, switched on and off as often as one likes.

    ``open_parts`` opens the microphone's, the transcriber's and the engine's side of things and closes them
    again; it must not wait for what can load while the first narration plays.
    """

    def __init__(
        self,
        tools: AdjustableToolset,
        session: Session,
        open_parts: Callable[[], AbstractAsyncContextManager[Parts]],
        emit: Emit,
    ) -> None:
        self._tools = tools
        self._session = session
        self._open_parts = open_parts
        self._emit = emit
        self._floor = Floor()
        self._state = VoiceState.INACTIVE
        self._stop = anyio.Event()
        self._microphone_lost = False
        self._narrator: Narrator | None = None
        self._hearing: Hearing | None = None

    @property
    def state(self) -> VoiceState:
        """Which of the five states it is in."""
        return self._state

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Be on until `stop` is called or the caller is cancelled; started when it is active.

        Raises `VoiceError` where a part cannot be opened. By whatever way it ends, what it withheld is back
        before this returns.
        """
        if self._state not in (VoiceState.INACTIVE, VoiceState.FAILED):
            raise RuntimeError("autonomous Voice is on already")
        self._stop = anyio.Event()
        self._microphone_lost = False
        ending = VoiceState.FAILED
        try:
            withheld = Withhold(TOOL_NAMES, refusal_while_on, name="autonomous voice")
            with lone_errors(), self._tools.add(withheld) as lift:
                self._enter(VoiceState.STARTING)
                async with self._open_parts() as parts:
                    await self._be_active(parts, task_status)
                    lift.lift()  # at once, however long it takes to deliver what was said
                    await self._drain(parts.hearing)
            ending = VoiceState.INACTIVE
        except anyio.get_cancelled_exc_class():
            ending = VoiceState.INACTIVE
            raise
        finally:
            self._narrator = self._hearing = None
            self._enter(ending)

    def stop(self) -> None:
        """Switch it off: narration ends and the tools are back at once; what was said is still delivered."""
        self._stop.set()

    async def narrate(self, text: str) -> NarrationEnded:
        """Speak a text; returns when it has been heard, or how else it ended.

        Raises `VoiceError` when Voice is not active.
        """
        if self._state is not VoiceState.ACTIVE or self._narrator is None:
            raise VoiceError("Voice is not active, so nothing can be narrated.")
        with self._floor.narration():
            self._emit(NarrationStarted(text))
            ended = (await self._narrator.narrate(text)).ended
            self._emit(ended)
            return ended

    def typed(self, text: str) -> bool:
        """Take a line as a message; narration ends. False for white space alone, which is never sent."""
        sent = self._session.put(UserMessage(text, "keyboard", self._hearing.now_s if self._hearing else 0.0))
        if sent and self._narrator is not None:
            self._narrator.interrupt()
        return sent

    async def _be_active(self, parts: Parts, task_status: TaskStatus[None]) -> None:
        """Speak and listen until it is stopped; by whatever way it ends, our voice falls silent."""
        self._narrator, self._hearing = parts.narrator, parts.hearing
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._cancel_when_stopped, tasks.cancel_scope)
                await tasks.start(self._listen, parts)
                self._enter(VoiceState.ACTIVE)
                task_status.started()
        finally:
            parts.narrator.supersede()
        if self._state is VoiceState.STARTING:  # stopped before it was active
            task_status.started()
        self._enter(VoiceState.DRAINING)

    async def _cancel_when_stopped(self, scope: anyio.CancelScope) -> None:
        await self._stop.wait()
        scope.cancel()

    async def _listen(self, parts: Parts, *, task_status: TaskStatus[None]) -> None:
        """Hear the microphone until cancelled; when it is lost, say so once and look for it again."""
        opened = False
        while True:
            try:
                async with parts.microphone.open() as frames:
                    if not opened:
                        task_status.started()
                        opened = True
                    await self._hear(frames, parts)
            except DeviceError as error:
                if not opened:
                    raise
                if not self._microphone_lost:
                    self._emit(Notice(f"{error.sentence} What was said is kept; looking for it again."))
                self._microphone_lost = True
                await self._drain(parts.hearing)
                await anyio.sleep(REOPEN_AFTER_S)
            else:
                self._emit(Notice(f"{parts.microphone.name} has ended, and with it Voice."))
                self.stop()
                return

    async def _hear(self, frames: AsyncIterator[Frame], parts: Parts) -> None:
        async for frame in frames:
            if self._microphone_lost:
                self._emit(Notice(f"{parts.microphone.name} is back."))
                self._microphone_lost = False
            theirs = self._floor.hears_next_frame()
            self._take(await (parts.hearing.push(frame) if theirs else parts.hearing.skip()))

    async def _drain(self, hearing: Hearing) -> None:
        """Let what was said become messages, without a microphone."""
        self._take(hearing.input_ended())
        while hearing.busy:
            await anyio.sleep(FRAME_S)
            self._take(await hearing.push(silent_frame()))

    def _take(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, UserMessage):
                self._session.put(event)
            else:
                self._emit(event)

    def _enter(self, state: VoiceState) -> None:
        self._state = state
        self._emit(VoiceStateChanged(state))


def refusal_while_on(name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """What a call of a withheld tool gets: an error that repeats the question and says to narrate it."""
    try:
        asked = " ".join(question.text for question in read_questionnaire(name, arguments).questions)
    except InvalidQuestionnaire:
        asked = "your question"
    return ToolResult(
        f"{name} is withheld while Voice is on, and the user has not seen it. Ask with narrate instead, and"
        f" the reply will arrive as an ordinary user message: {asked}",
        {"error": "withheld_while_voice_is_on"},
        is_error=True,
    )
