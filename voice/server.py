"""Voice for agents that cannot be sent a message: MCP clients, whose users alone begin a turn.

There `narrate` does both: it speaks, listens, and returns what was replied. The microphone is open for that
long and no longer, since nothing tells a server whether the agent still works or has ended its turn. Voice
is switched by the user, never by a tool: at the start, by a prompt that they choose in their client, by a
signal, or off by saying so. While it is on, the tools that ask by forms are withheld, and clients are told.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from typing import Any

import anyio

from questionnaire import (
    TOOL_NAMES,
    AdjustableToolset,
    CombinedToolset,
    FunctionToolset,
    Lift,
    ToolResult,
    Toolset,
    Withhold,
)
from questionnaire.server import ServedPrompt, ToolServer
from voice.autonomous import AutonomousVoice, Parts, refusal_while_on
from voice.errors import VoiceError
from voice.events import (
    Discarded,
    DiscardReason,
    Emit,
    Event,
    NarrationEnded,
    NarrationEnding,
    Notice,
    Status,
    UserMessage,
    VoiceState,
    VoiceStateChanged,
)
from voice.happenings import (
    MANNERS,
    Act,
    Deliver,
    Do,
    Drop,
    DropTurn,
    Happening,
    Kind,
    Obeyed,
    Play,
    Say,
    Speaking,
    Tell,
)
from voice.phrases import said
from voice.ports import Journal
from voice.settings import Settings
from voice.speaking.earcons import Earcon
from voice.speaking.shortening import shortened
from voice.switch import Switch
from voice.tools import NARRATE, voice_toolset
from voice.turn_taking import TurnTaking

LONGER_S = 10.0
"""How much longer than the user's own limits a call waits for a reply, where those do not end it."""

INSTRUCTIONS = (
    "While Voice is on, the user is away from the screen: ask with narrate, which speaks your question and"
    " returns the spoken reply. The other tools that ask are withheld meanwhile. Only the user switches Voice"
    " on and off."
)

_NARRATE = replace(
    NARRATE,
    description=(
        "Speak a text aloud to the user, then listen, and return what they reply. While Voice is on this is"
        " how you ask: narrate the question, with its options if it has any. What you only want to tell goes"
        " into the narration of your next question, since each call waits for a reply. That nobody replied is"
        " no answer. Write as one speaks: short sentences, no Markdown, no code, no long paths. While Voice"
        " is off a call is an error, and nothing is said."
    ),
)

_VOICE_OFF = "Voice is off, and only the user can switch it on."
_SILENT = (
    "{text} Nobody replied. That is no answer, neither yes nor no: do without, or write to the user and wait."
)
_SWITCHED_OFF = "{text} Voice was switched off before there was a reply. Write to the user instead."
_FAILED = "Narration failed ({notice}), and the user may have heard nothing of it. Write to them instead."

_TALKING = (Status.HEARING, Status.TRANSCRIBING, Status.HELD)


class VoiceServer:
    """`narrate` and the tools of ``asking``, for MCP clients; `server` serves them while `run` runs.

    ``emit`` is told what happens, for the user's eyes. The ``journal`` keeps what was said until it is in the
    result of a call.
    """

    def __init__(
        self,
        open_parts: Callable[[], AbstractAsyncContextManager[Parts]],
        settings: Settings,
        *,
        emit: Emit,
        asking: Toolset,
        version: str = "",
        journal: Journal | None = None,
    ) -> None:
        self._emit = emit
        self._journal = journal
        self._language = settings.speaking.language
        # A call returns its reply at once: what its speaker goes on with cannot be added to it any more.
        self._turns = TurnTaking(settings.changed("conversation", reopen_s=0.0))
        self._patience_s = 2 * settings.conversation.answer_within_s + LONGER_S
        self._speaks = voice_toolset(self._speak)
        self.tools = AdjustableToolset(
            CombinedToolset(FunctionToolset((_NARRATE, self._narrate)), asking),
        )
        """All that is served: `narrate`, and while Voice is off what asks by forms."""
        self.server = ToolServer(
            "voice",
            self.tools,
            version=version,
            instructions=INSTRUCTIONS,
            prompts=(
                ServedPrompt("on", "Switch Voice on: be asked aloud, and answer aloud.", self._switched_on),
                ServedPrompt("off", "Switch Voice off: be asked on the screen again.", self._switched_off),
            ),
        )
        self._voice = AutonomousVoice(
            self.tools,
            open_parts,
            emit=self._voice_tells,
            heard=lambda events: self._act(self._turns.heard(events)),
            happened=self._take,
            language=settings.speaking.language,
            is_answer=self._turns.is_answer,
        )
        self._withheld: Lift | None = None
        self._switch = Switch(
            self._voice, lambda error: emit(Notice(said(self._language, "voice_failed", error=error)))
        )
        self._narrating = anyio.Lock()
        self._asked_at_s: float | None = None
        """In audio time, since when the question of the present call has been heard; None before that."""
        self._replies: list[UserMessage] = []
        self._said_before: list[UserMessage] = []
        """What was said before the question that it came with was heard, and has not been told yet."""
        self._ended: NarrationEnded | None = None

    async def run(self, serve: Callable[[], Awaitable[None]], *, on: bool = False) -> None:
        """Be there for as long as ``serve`` serves, with Voice ``on`` from the beginning or not."""
        self._switch.turn(on=on)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._switch.run)
            await serve()
            tasks.cancel_scope.cancel()

    def toggle(self) -> None:
        """Switch Voice on, or off; while it is starting, off."""
        self._switch.toggle()

    # --- Switching ----------------------------------------------------------------------------------------

    async def _switched_on(self) -> str:
        if self._voice.state is not VoiceState.ACTIVE:
            self._switch.turn(on=True)
            await self._switch.settled()
        if self._voice.state is not VoiceState.ACTIVE:
            return f"I tried to switch Voice on, and it is off. {self._switch.error or ''}".rstrip()
        return "Voice is on. From now on ask me with narrate and in no other way, until I switch it off."

    async def _switched_off(self) -> str:
        self._switch.turn(on=False)
        await self._switch.settled()
        return "Voice is off. I am at the screen again: write to me, and do not narrate."

    # --- The tool -----------------------------------------------------------------------------------------

    async def _narrate(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Speak, listen, and tell what was replied; calls that come at once do so one after the other."""
        async with self._narrating:
            self._ended, self._asked_at_s = None, None
            self._said_before += self._replies  # of a call that was cancelled meanwhile
            self._replies.clear()
            try:
                result = await self._speaks.call(_NARRATE.name, arguments)
            finally:
                self._voice.close_microphone()
            if self._ended is None:  # refused: nothing was said
                return result
            told, self._said_before = self._said_before, []
            if self._journal is not None:
                self._journal.accepted([one for said in (*told, *self._replies) for one in said.utterances])
            before = [message.text for message in told]
            return _with_reply(result, self._ended, self._replies, before, off=self._is_off)

    async def _speak(self, text: str) -> NarrationEnded:
        """Speak a text, and wait for a reply. Raises `VoiceError` where Voice is off."""
        await self._switch.settled()
        if self._voice.state is not VoiceState.ACTIVE:
            raise VoiceError(f"{_VOICE_OFF} {self._switch.error or ''}".rstrip())
        self._voice.open_microphone()
        self._ended = await self._voice.narrate(text)
        if self._ended.ending is not NarrationEnding.FAILED:
            await self._reply_or_silence()
        return self._ended

    async def _reply_or_silence(self) -> None:
        """Wait for a reply, until nobody has replied to the repeated question either, or Voice is off."""
        while True:
            with anyio.move_on_after(self._patience_s) as waiting:
                while not (self._replies or self._is_off or self._turns.status is Status.QUIET):
                    await self._switch.changed()
            if not waiting.cancelled_caught or self._turns.status not in _TALKING:
                return

    @property
    def _is_off(self) -> bool:
        return self._voice.state in (VoiceState.INACTIVE, VoiceState.FAILED)

    # --- What happens, and what is to be done ---------------------------------------------------------------

    def _voice_tells(self, event: Event) -> None:
        self._emit(event)
        if isinstance(event, VoiceStateChanged):
            if event.state is VoiceState.STARTING:
                refusal = partial(refusal_while_on, reply="it returns the reply")
                self._withheld = self.tools.add(Withhold(TOOL_NAMES, refusal, name="voice"))
            elif event.state is not VoiceState.ACTIVE and self._withheld is not None:
                self._withheld.lift()
            elif not self._narrating.locked():
                self._voice.close_microphone()
            self._take(event)
            self._switch.tell_changed()

    def _take(self, happening: Happening) -> None:
        if isinstance(happening, Speaking) and happening.kind is Kind.QUESTION and self._asked_at_s is None:
            self._asked_at_s = self._voice.now_s
        self._act(self._turns.take(happening))

    def _said(self, message: UserMessage) -> None:
        self._emit(message)
        asked_at_s = self._asked_at_s
        replies = asked_at_s is not None and (message.heard is None or message.heard.end_s > asked_at_s)
        if replies:
            self._replies.append(message)
        else:
            self._said_before.append(message)
        self._voice.play(Earcon.SENT)

    def _act(self, acts: Iterable[Act]) -> None:
        for act in acts:
            match act:
                case Deliver(message):
                    self._said(message)
                case Drop(reason, text, utterances):
                    self._emit(Discarded(reason, text, self._voice.now_s, utterances))
                    self._decide(utterances, text, reason)
                case Obeyed(utterances):
                    self._decide(utterances, "", DiscardReason.COMMAND)
                case DropTurn(reason):
                    self._voice.drop_turn(reason)
                case Say(sentence):
                    self._emit(Notice(sentence))
                    self._voice.say(sentence)
                case Play(earcon):
                    self._voice.play(earcon)
                case Tell(event):
                    self._emit(event)
                case Do():
                    self._do(act)
        self._switch.tell_changed()

    def _decide(self, utterances: tuple[str, ...], text: str, reason: DiscardReason) -> None:
        if self._journal is not None and utterances:
            self._journal.decided(utterances, text, reason)
            if reason is DiscardReason.NOT_TRANSCRIBED and not self._journal.fails:
                for utterance in utterances:
                    self._emit(Notice(said(self._language, "kept_untranscribed", entry=utterance)))

    def _do(self, what: Do) -> None:
        """Do what needs nothing more said. There is no keyboard, nor an agent that could be interrupted."""
        voice = self._voice
        acts: Mapping[Do, Callable[[], object]] = {
            Do.SILENCE: voice.silence,
            Do.PAUSE: voice.pause,
            Do.RESUME: voice.resume,
            Do.GO_ON: voice.go_on,
            Do.REPEAT: voice.repeat,
            Do.REPEAT_SLOWLY: lambda: voice.repeat(slowly=True),
            Do.REPEAT_SHORTER: lambda: voice.repeat(shorter=partial(shortened, language=self._language)),
            Do.SWITCH_OFF: lambda: self._switch.turn(on=False),
            Do.SLEEP: lambda: voice.sleep(True),
            Do.WAKE: lambda: voice.sleep(False),
            Do.CLOSE_MICROPHONE: voice.close_microphone,
            Do.OPEN_MICROPHONE: voice.open_microphone,
        }
        if what in MANNERS:
            voice.change_manner(MANNERS[what])
        elif what in acts:
            acts[what]()


def _with_reply(
    spoken: ToolResult, ended: NarrationEnded, replies: list[UserMessage], before: list[str], *, off: bool
) -> ToolResult:
    """The result of a narration with what was replied, or that nothing was.

    `confidence` is that of the least sure reply, as an average log probability: nearer to 0 is surer.
    """
    sure = [reply.confidence for reply in replies if reply.confidence is not None]
    details = {
        **spoken.details,
        "reply": "\n".join(reply.text for reply in replies) or None,
        "confidence": min(sure, default=None),
        "reply_status": "replied" if replies else "voice_off" if off else "no_reply",
        "said_before": before,
    }
    text = spoken.text
    if replies:
        text = f"{text} The user replied:\n{details['reply']}"
    elif ended.ending is NarrationEnding.FAILED:
        text = _FAILED.format(notice=ended.notice)
    else:
        text = (_SWITCHED_OFF if off else _SILENT).format(text=text)
    if before:
        text += "\nBefore they had heard the question they had said:\n" + "\n".join(before)
    return replace(spoken, text=text, details=details)
