"""One conversation of a person, by voice and keyboard, with one agent.

`Chat` owns what lives as long as the conversation: the host, the inbox, autonomous Voice, the tools. A screen
drives it with keys and shows the events that it emits. What becomes of what is said and typed is decided by
`voice.turn_taking`; here it is carried out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import anyio
from anyio.abc import TaskGroup, TaskStatus
from anyio.streams.memory import MemoryObjectSendStream

from questionnaire import (
    AdjustableToolset,
    Attention,
    CombinedToolset,
    Coordinator,
    FunctionToolset,
    HerdrEvents,
    Interview,
    Mirrors,
    NoInterface,
    Presenter,
    TimeOut,
    TogetherPresenter,
    questionnaire_toolset,
)
from questionnaire import Status as Ending
from voice.autonomous import AutonomousVoice, Parts
from voice.errors import HostDied, HostError
from voice.events import (
    AgentEnded,
    AgentStarted,
    AssistantDelta,
    AssistantText,
    Discarded,
    DiscardReason,
    Emit,
    Event,
    HostLost,
    MessageDelivered,
    MessageQueued,
    MessageSent,
    NarrationEnded,
    NarrationEnding,
    Notice,
    Status,
    StatusChanged,
    ToolCalled,
    ToolsChanged,
    UserMessage,
    VoiceState,
    VoiceStateChanged,
)
from voice.happenings import (
    MANNERS,
    Accepted,
    Act,
    Answering,
    Asked,
    Asking,
    Deliver,
    Do,
    Drafted,
    Drop,
    DropTurn,
    Happening,
    Kind,
    Obeyed,
    Play,
    Say,
    Silenced,
    Tell,
    Typed,
    Verbatim,
    Waiting,
)
from voice.hosts.catalog import Awaited, MakeHost, Mirroring, Prompted
from voice.listening.vocabulary import capped, names_in
from voice.phrases import said
from voice.ports import Delivery, Journal
from voice.reopening import CutOff, Keep
from voice.session import Session, Taken
from voice.settings import Settings
from voice.speaking.earcons import Earcon
from voice.speaking.once import unsaid
from voice.speaking.shortening import shortened
from voice.speaking.writing import Writing
from voice.spoken_presenter import Again, SpokenPresenter
from voice.switch import ON, Switch
from voice.tasks import lone_errors
from voice.tools import voice_toolset
from voice.turn_taking import TurnTaking

LAST_WORDS_S = 2.0
"""How long a conversation that is being ended waits for what was said last to be transcribed."""

HANDED_OVER_S = 2.0
"""How long it then waits for the agent to confirm what it is being given, lest that come twice."""

OpenParts = Callable[[], AbstractAsyncContextManager[Parts]]
"""Opens what Voice hears and speaks with, anew each time that it is switched on."""


class Chat:
    """One conversation of a person, by voice and keyboard, with one agent.

    ``presenter`` shows structured questions on the screen; None where there is no screen to ask on. With
    ``questionnaire`` false the agent has no tools that ask. ``contract`` is what `ask_user_question` means,
    ``time_out`` holds for all that is asked in its structure, and ``attention`` are the signals that call for
    it; with ``notify_herdr`` a host that mirrors the questions tells herdr too. ``names`` are those of the
    project, which are likely to be said. The ``journal`` keeps what the agent has not accepted; what is
    opened by ``open_parts`` should hear with the same one. All methods but `run` return at once, and are to
    be called in the event loop's thread.

    `NarrationStarted` and `NarrationEnded` are emitted for what stands nowhere else: what the agent (or a
    structured request) asks by voice. What the agent wrote and what the session remarks is on the screen as
    `AssistantText` and `Notice`, and is spoken without further events.
    """

    def __init__(
        self,
        make_host: MakeHost,
        open_parts: OpenParts,
        settings: Settings,
        emit: Emit,
        *,
        presenter: Presenter | None = None,
        questionnaire: bool = True,
        contract: Literal["choices", "form"] = "choices",
        time_out: TimeOut | None = None,
        attention: Sequence[Attention] = (),
        notify_herdr: bool = False,
        names: Sequence[str] = (),
        journal: Journal | None = None,
    ) -> None:
        self._settings = settings
        self._emit = emit
        self._turns = TurnTaking(settings)
        self._status = self._turns.status
        self._journal = journal
        self._session = Session(self._session_tells, journal)
        mirrors = Mirrors()
        herdr = [HerdrEvents(mirrors)] if notify_herdr else []
        self._coordinator = Coordinator(
            presenter, mirrors=mirrors, time_out=time_out, attention=(*attention, *herdr)
        )
        by_voice = SpokenPresenter(
            self, settings.speaking.language, answers_in=settings.transcription.language
        )
        spoken = _SpokenWhileOn(self, by_voice, alone=presenter is None)
        together = TogetherPresenter(presenter, spoken) if presenter else spoken
        self._insisting = Coordinator(together, time_out=time_out, attention=attention)
        tools = questionnaire_toolset(self._coordinator, contract=contract)
        asking = tools if questionnaire else FunctionToolset()
        self.tools = AdjustableToolset(CombinedToolset(asking, voice_toolset(self._narrate)))
        """All that the agent may use: `ask_user_question`, `user_select`, `narrate`."""
        self.tools.on_change(lambda tools: self._emit(ToolsChanged(tuple(tool.name for tool in tools))))
        self._voice = AutonomousVoice(
            self.tools,
            open_parts,
            emit=self._voice_tells,
            heard=lambda events: self._act(self._turns.heard(events)),
            happened=self._take,
            coordinator=self._coordinator,
            language=settings.speaking.language,
            is_answer=self._turns.is_answer,
        )
        self._switch = Switch(self._voice, lambda error: self._remark("voice_failed", error=error))
        self._host = make_host(self.tools, self._insisting.ask, self._host_tells)
        if isinstance(self._host, Mirroring):
            self._host.mirrors = mirrors
        self._host_lost = anyio.Event()
        self._host_needed = anyio.Event()
        self._quit = anyio.Event()
        self._tasks: TaskGroup | None = None
        self._draft = ""
        self._written = _Written()
        self._timed: set[UserMessage] = set()
        """The messages on their way that were heard since Voice was switched on: its audio time is theirs."""
        self._waited: list[str] = []
        """The messages that wait for the agent to finish."""
        self._project_names = tuple(names)
        self._names_written: tuple[str, ...] = ()
        self._know_names_of("")
        self._repliers: list[_Replier] = []

    @property
    def status(self) -> Status:
        """What goes on now; `StatusChanged` tells when it is another."""
        return self._status

    @property
    def voice_state(self) -> VoiceState:
        """Whether Voice is on."""
        return self._voice.state

    @property
    def host_name(self) -> str:
        """What a person calls the agent."""
        return self._host.name

    @property
    def waiting(self) -> tuple[UserMessage, ...]:
        """The messages that the agent has not accepted yet."""
        return self._session.waiting

    @property
    def transcript(self) -> tuple[UserMessage, ...]:
        """The messages that it has."""
        return self._session.transcript

    # --- Its life -----------------------------------------------------------------------------------------

    async def run(
        self, *, voice: bool = True, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Open the host and carry the conversation until `quit`, or until cancelled; started when it is open.

        Raises `HostError` where the host cannot be started at all. One that dies later is `HostLost`, and the
        next message starts it again. A Voice that cannot be switched on is a `Notice`, and the conversation
        goes on by keyboard.
        """
        in_doubt: tuple[UserMessage | None, ...] = ()
        with lone_errors():
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                try:
                    async with anyio.create_task_group() as opening:  # which may wait for a program elsewhere
                        opening.start_soon(self._cancel_at_quit, opening.cancel_scope)
                        await tasks.start(self._keep_host)
                        opening.cancel_scope.cancel()
                    if isinstance(self._host, Prompted):
                        for text in self._host.first_messages:
                            self._session.put(UserMessage(text, "keyboard", self._voice.now_s))
                    tasks.start_soon(self._switch.run)
                    task_status.started()
                    if voice and not self._quit.is_set() and self._voice.state is VoiceState.INACTIVE:
                        self.toggle_voice()
                    await self._quit.wait()
                    await self._wind_down()
                    if self._host_lost.is_set():
                        self._tell_what_is_in_doubt()
                    in_doubt = (self._session.sending, *self._session.written(self._host))
                finally:
                    self._tasks = None
                    tasks.cancel_scope.cancel()
        left = (*self._session.unconfirmed, *self._session.waiting)
        for message in left:
            doubtful = any(message is one for one in in_doubt)
            self._remark("perhaps_sent" if doubtful else "never_sent", words=message.text)
        if self._journal is not None and left:
            await self._journal.written()
            if not self._journal.fails:
                self._remark("kept_for_later")

    async def _cancel_at_quit(self, scope: anyio.CancelScope) -> None:
        await self._quit.wait()
        scope.cancel()

    def quit(self) -> None:
        """End the conversation: `run` delivers what had been said, closes everything and returns."""
        self._quit.set()

    async def _wind_down(self) -> None:
        with anyio.move_on_after(LAST_WORDS_S):
            while self._voice.state not in (VoiceState.INACTIVE, VoiceState.FAILED):
                self._switch.turn(on=False)
                await self._switch.changed()
        with anyio.move_on_after(LAST_WORDS_S):
            await self._coordinator.dispose()
            await self._insisting.dispose()
        with anyio.move_on_after(HANDED_OVER_S):
            await self._session.handed_over()
            if not self._host_lost.is_set():
                await self._session.confirmed(self._host)

    async def _keep_host(self, *, task_status: TaskStatus[None]) -> None:
        """Have the agent's program running: from the beginning, and after its death for the next message."""
        opened = False
        while True:
            self._host_lost = anyio.Event()
            failed = False
            try:
                with lone_errors():
                    async with self._host.open():
                        self._voice.agent_back()
                        if not opened:
                            task_status.started()
                            opened = True
                        await self._serve()
            except HostError as error:
                if not opened:
                    raise
                failed = not self._host_lost.is_set()
                if failed:
                    self._host_tells(HostLost(str(error)))
            self._tell_what_is_in_doubt()
            self._tell_what_waits()
            if failed or not isinstance(self._host, Awaited):
                await self._host_needed.wait()

    def _tell_what_is_in_doubt(self) -> None:
        """Tell what the agent's program died with: it is not sent again by itself, and is in the journal."""
        doubtful = self._session.take_doubtful(self._host)
        for message in doubtful:
            self._expect_no_more(message)
            words = said(self._settings.speaking.language, "perhaps_sent", words=message.text)
            drop = Drop(DiscardReason.UNCONFIRMED, message.text, message.utterances, message.source)
            self._act([drop, Play(Earcon.NOT_SENT), Say(words, written=False)])
        if doubtful:
            self._count_waiting()
            if self._journal is not None and not self._journal.fails:
                self._remark("kept_for_later")

    def _expect_no_more(self, message: UserMessage) -> None:
        """It is not delivered, so that its latency and its wait are not counted."""
        self._timed.discard(message)
        if message.text in self._waited:
            self._waited.remove(message.text)

    def _tell_what_waits(self) -> None:
        """Tell that there is something for an agent's program that nobody starts by himself."""
        waiting = self._session.unconfirmed or self._session.waiting
        if waiting and not self._host_needed.is_set() and not isinstance(self._host, Awaited):
            self._act([Say(said(self._settings.speaking.language, "waits_for_next"), written=True)])

    async def _serve(self) -> None:
        """Hand messages over until the host is lost."""
        async with anyio.create_task_group() as serving:
            serving.start_soon(self._hand_over)
            await self._host_lost.wait()
            serving.cancel_scope.cancel()

    async def _hand_over(self) -> None:
        """Hand messages over; one that is refused is the first again when something has changed."""
        while True:
            try:
                await self._session.run(self._host)
            except HostDied:
                raise
            except HostError as error:
                self._remark("message_kept", error=error)
                self._host_needed = anyio.Event()
                await self._host_needed.wait()

    async def until_voice(self, *, on: bool) -> None:
        """Wait until Voice is active, or off; raises the `VoiceError` by which it failed."""
        await self._switch.until(on=on)

    # --- What a person does -------------------------------------------------------------------------------

    def draft(self, text: str) -> None:
        """Tell what stands in the input line now, after each key; "" gives the microphone back."""
        self._draft = text
        if not text:
            self._line_is_over()
        self._take(Drafted(text))

    def send(self, text: str) -> bool:
        """Send a typed message. Sending nothing sends what was spoken and is held for an end word.

        Returns False where there was nothing to send. The line counts as empty afterwards.
        """
        self._draft = ""
        acts = self._turns.take(Typed(text, self._voice.now_s))
        self._act(acts)
        self._line_is_over()
        return any(isinstance(act, Deliver) for act in acts)

    def send_kept(self, message: UserMessage) -> None:
        """Send what was not delivered before: what its `UserMessage.utterances` name is in the journal."""
        self._deliver(replace(message, at_s=self._voice.now_s), self._settings.conversation.while_busy)

    def _line_is_over(self) -> None:
        for replier in self._repliers:
            replier.typing = False

    def toggle_voice(self) -> None:
        """Switch Voice on, or off; while it is starting, off."""
        self._switch.toggle()

    def stop_narration(self) -> bool:
        """Silence what is spoken, and what waits to be; returns whether there was anything."""
        self._take(Silenced())
        return self._voice.silence()

    def interrupt_agent(self) -> None:
        """Have the agent stop what it is at; its narration ends too."""
        self.stop_narration()
        self._interrupt_host()

    def _interrupt_host(self) -> None:
        async def interrupt() -> None:
            try:
                await self._host.interrupt()
            except HostError as error:
                self._emit(Notice(str(error)))

        if self._tasks is not None:
            self._tasks.start_soon(interrupt)

    # --- Speaking and hearing for a structured request ----------------------------------------------------

    @property
    def now_s(self) -> float:
        """Audio time; 0 while Voice is off."""
        return self._voice.now_s

    async def voice_changed(self) -> None:
        """Wait until Voice is in another state, or is to be."""
        await self._switch.changed()

    async def say(
        self, text: str, *, options: Sequence[str] = (), repeats: bool = True, slowly: bool = False
    ) -> NarrationEnding:
        """Narrate what a structured request asks, or remarks; returns how that ended.

        ``options`` are the labels of what can be chosen now. Raises `VoiceError` when Voice is not active.
        """
        ended = await self._voice.narrate(
            text, Kind.QUESTION, options=options, repeats=repeats, slowly=slowly
        )
        return ended.ending

    def takes_own_words(self, on: bool) -> None:
        """What is said next is the answer itself, also where it would else be a spoken control."""
        self._take(Verbatim(on))

    def discard(self, reply: UserMessage) -> None:
        """Tell that what was said (or typed) to a structured request is no reply to what it asks now."""
        reason = DiscardReason.TOO_EARLY
        self._act([Drop(reason, reply.text, reply.utterances, reply.source), Play(Earcon.NOT_SENT)])

    @contextmanager
    def replies(self) -> Iterator[AsyncIterator[UserMessage | Again]]:
        """While it is held, what is said, and sent from the input line, comes here and not to the agent.

        Not what somebody had begun to say before: that was for the agent. To it goes, too, what nobody has
        taken when it ends.
        """
        send, receive = anyio.create_memory_object_stream[UserMessage | Again](float("inf"))
        replier = _Replier(send, self.now_s, typing=bool(self._draft))
        self._repliers.append(replier)
        self._take(Asking(on=True, at_s=replier.since_s))
        try:
            with send:
                yield receive
        finally:
            self._repliers.remove(replier)
            if not self._repliers:
                self._take(Asking(on=False))
            with receive, suppress(anyio.WouldBlock, anyio.EndOfStream):
                while True:
                    left = receive.receive_nowait()
                    if isinstance(left, UserMessage):
                        replier.given.remove(left)
                        self._deliver(left, self._settings.conversation.while_busy, told=True)
            for reply in replier.given:
                self._has(reply)

    def _deliver(
        self,
        message: UserMessage,
        delivery: Delivery,
        *,
        told: bool = False,
        instead_of: UserMessage | None = None,
    ) -> None:
        self._timed = self._timed - {instead_of} | {message}
        self._session.put(message, delivery, told=told, instead_of=instead_of)
        self._count_waiting()
        self._host_needed.set()

    # --- What happens -------------------------------------------------------------------------------------

    def _take(self, happening: Happening) -> None:
        self._act(self._turns.take(happening))

    def _voice_tells(self, event: Event) -> None:
        self._emit(event)
        if isinstance(event, VoiceStateChanged):
            if event.state not in ON:
                self._timed.clear()
            self._take(event)
            self._switch.tell_changed()

    def _session_tells(self, event: Event) -> None:
        self._emit(event)
        if isinstance(event, MessageSent):
            self._was_sent(self._session.transcript[-1])
        elif isinstance(event, MessageQueued):
            self._waited.append(event.text)
            if any(one.source == "voice" and one.text == event.text for one in self._session.waiting):
                self._voice.play(Earcon.HEARD)
        self._count_waiting()

    def _was_sent(self, message: UserMessage) -> None:
        self._take(Accepted(message, self._voice.now_s))
        waited = message.text in self._waited
        still_waiting = {one.text for one in self._session.waiting}
        self._waited = [text for text in self._waited if text in still_waiting]
        if message.source == "voice":
            self._voice.play(Earcon.SENT)
        if message in self._timed and message.latency is not None:
            deliver_s = self._voice.now_s - message.at_s
            self._emit(MessageDelivered(message.latency, max(0.0, deliver_s), waited))
        self._timed.discard(message)

    def _count_waiting(self) -> None:
        self._take(Waiting(len(self._session.waiting), self._session.can_take_back))

    def _host_tells(self, event: Event) -> None:
        """Take an event of the host: show it, and do what follows from it."""
        self._emit(event)
        self._session.confirm(self._host)
        match event:
            case AgentStarted():
                self._written = _Written()
                self._take(event)
            case AgentEnded():
                self._written.end()
                self._take(event)
                self._session.look()
            case AssistantDelta(text):
                self._take(Answering())
                self._being_written(text)
            case AssistantText(text):
                self._take(Answering())
                self._was_written(text)
                self._know_names_of(text)
            case ToolCalled():
                self._take(Answering())
            case HostLost():
                self._written.end()
                self._voice.agent_lost()
                self._take(event)
                self._host_needed = anyio.Event()  # by what comes from now on, also while it is being closed
                self._host_lost.set()

    def _know_names_of(self, text: str) -> None:
        """The names that the agent has written lately are likely to be said, the newest first."""
        found = names_in(text, self._settings.transcription.language)
        self._names_written = capped((*found, *self._names_written))
        self._voice.know((*self._names_written, *self._project_names))

    # --- What the agent says ------------------------------------------------------------------------------

    @property
    def _speaks_text(self) -> bool:
        return self._settings.conversation.narrate_text and self._voice.state is VoiceState.ACTIVE

    def _being_written(self, part: str) -> None:
        """Speak a text while it is being written; not where it may be what was narrated a moment ago."""
        written = self._written
        if written.open is None and self._speaks_text and not written.narrated:
            written.open = Writing()
            self._speak_text(written.open)
        if written.open is not None:
            written.open.add(part)

    def _was_written(self, text: str) -> None:
        written, language = self._written, self._settings.speaking.language
        if written.open is not None:
            written.texts.append(text)
            if text.startswith(written.open.text):
                written.open.add(text[len(written.open.text) :])
            written.end()
        elif self._speaks_text and (new := unsaid(text, written.narrated, language)):
            written.texts.append(text)
            self._speak_text(" ".join(new))

    def _speak_text(self, text: str | Writing) -> None:
        written = self._written
        written.speaking = spoken = anyio.Event()

        async def speak() -> None:
            try:
                if self._voice.state is VoiceState.ACTIVE:
                    written.ended = await self._voice.narrate(text, Kind.TEXT, announced=False)
            finally:
                spoken.set()

        if self._tasks is not None:
            self._tasks.start_soon(speak)

    async def _narrate(self, text: str) -> NarrationEnded:
        """The tool `narrate`: what the agent has written in this turn, and was spoken, is not said again."""
        self._take(Answering())
        written, language = self._written, self._settings.speaking.language
        spoken = [*written.texts, *([written.open.text] if written.open else [])]
        new = unsaid(text, spoken, language)
        if new or written.speaking is None or self._voice.state is not VoiceState.ACTIVE:
            written.narrated.append(text)
            said_in_part = len(new) < len(unsaid(text, (), language))
            return await self._voice.narrate(" ".join(new) if said_in_part else text)
        written.texts.clear()  # told again, it is meant to be said again
        await written.speaking.wait()
        self._take(Asked(text))
        ended = written.ended or NarrationEnded(text, NarrationEnding.SUPERSEDED, 0.0)
        return replace(ended, text=text)

    # --- What is to be done -------------------------------------------------------------------------------

    def _act(self, acts: Iterable[Act]) -> None:
        for act in acts:
            match act:
                case Deliver(message, _) if self._repliers and self._repliers[-1].takes(message):
                    self._emit(message)
                    self._repliers[-1].given.append(message)
                    self._repliers[-1].send.send_nowait(message)
                case Deliver(message, delivery, instead_of):
                    self._deliver(message, delivery, instead_of=instead_of)
                case Drop(reason, text, utterances, source):
                    self._emit(Discarded(reason, text, self._voice.now_s, utterances, source=source))
                    self._decide(utterances, text, reason)
                case Obeyed(utterances):
                    self._decide(utterances, "", DiscardReason.COMMAND)
                case Keep(message):
                    self._session.keep(message)
                case CutOff(message):
                    self._take_out(self._session.take_back(message), DiscardReason.CUT_OFF)
                case DropTurn(reason):
                    self._voice.drop_turn(reason)
                case Say(sentence, written):
                    if written:
                        self._emit(Notice(sentence))
                    self._voice.say(sentence)
                case Play(earcon):
                    self._voice.play(earcon)
                case Tell(event):
                    self._emit(event)
                case Do():
                    self._do(act)
        self._voice.agent_works(self._turns.stops_fast)
        if self._turns.status is not self._status:
            self._status = self._turns.status
            self._emit(StatusChanged(self._status))

    def _do(self, what: Do) -> None:
        voice = self._voice
        match what:
            case Do.HOLD:
                voice.hold()
            case Do.RELEASE:
                voice.release()
            case Do.SILENCE:
                voice.silence()
            case Do.PAUSE:
                voice.pause()
            case Do.RESUME:
                voice.resume()
            case Do.GO_ON:
                voice.go_on()
            case Do.REPEAT | Do.REPEAT_SLOWLY if self._repliers:
                self._repliers[-1].send.send_nowait(Again(slowly=what is Do.REPEAT_SLOWLY))
            case Do.REPEAT:
                voice.repeat()
            case Do.REPEAT_SLOWLY:
                voice.repeat(slowly=True)
            case Do.REPEAT_SHORTER:
                voice.repeat(shorter=partial(shortened, language=self._settings.speaking.language))
            case Do.SLEEP | Do.WAKE:
                voice.sleep(what is Do.SLEEP)
            case Do.CLOSE_MICROPHONE:
                voice.close_microphone()
            case Do.OPEN_MICROPHONE:
                voice.open_microphone()
            case Do.TAKE_BACK:
                self._take_back()
            case Do.INTERRUPT_AGENT:
                self._interrupt_host()
            case Do.SWITCH_OFF:
                self._switch.turn(on=False)
            case Do.LOUDER | Do.QUIETER | Do.FASTER | Do.SLOWER:
                voice.change_manner(MANNERS[what])

    def _take_back(self) -> None:
        if not self._take_out(self._session.take_back(), DiscardReason.TAKEN_BACK):
            self._act([Say(said(self._settings.speaking.language, "nothing_to_take_back"))])

    def _take_out(self, taken: Taken | None, reason: DiscardReason) -> bool:
        """Show that a message waits no longer; returns whether it did, and was not being handed over."""
        if taken is None:
            return False
        self._expect_no_more(taken.message)
        self._count_waiting()
        self._act([Drop(reason, taken.unsent.text, taken.unsent.utterances), Play(Earcon.NOT_SENT)])
        return True

    def _decide(self, utterances: tuple[str, ...], text: str, reason: DiscardReason) -> None:
        if self._journal is not None and utterances:
            self._journal.decided(utterances, text, reason)
            if reason is DiscardReason.NOT_TRANSCRIBED and not self._journal.fails:
                for utterance in utterances:
                    self._remark("kept_untranscribed", entry=utterance)

    def _has(self, reply: UserMessage) -> None:
        """A structured request has had a reply, whatever it has made of it."""
        if self._journal is not None and reply.utterances:
            self._journal.accepted(reply.utterances)

    def _remark(self, name: str, **values: object) -> None:
        """Tell the person a sentence of our own, in writing."""
        self._emit(Notice(said(self._settings.speaking.language, name, **values)))


_NO_SCREEN = "Voice is off, and there is no screen"


class _Written:
    """What the agent has written and narrated in one turn."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        """What it wrote, and is spoken, or was."""
        self.narrated: list[str] = []
        """What it narrated."""
        self.open: Writing | None = None
        """What is being written, and spoken meanwhile."""
        self.speaking: anyio.Event | None = None
        """Set when the text that was written last has been spoken."""
        self.ended: NarrationEnded | None = None

    def end(self) -> None:
        """Nothing more of the present text is written."""
        if self.open is not None:
            self.open.end()
            self.open = None


@dataclass(eq=False)
class _Replier:
    """Where replies go while a structured request is being asked by voice."""

    send: MemoryObjectSendStream[UserMessage | Again]
    since_s: float
    typing: bool
    """Whether the line that had been begun before has not been sent or emptied yet: it is for the agent."""
    given: list[UserMessage] = field(default_factory=list)
    """What came here."""

    def takes(self, message: UserMessage) -> bool:
        """Whether it began while the request was being asked."""
        return not self.typing if message.heard is None else message.heard.start_s >= self.since_s


class _SpokenWhileOn:
    """Asks by voice while Voice is on, beside the screen; ``alone`` says that there is no screen."""

    def __init__(self, chat: Chat, spoken: SpokenPresenter, *, alone: bool) -> None:
        self._chat = chat
        self._spoken = spoken
        self._alone = alone

    async def present(self, interview: Interview) -> None:
        """Ask whenever Voice is on, until there is an outcome. Alone it needs Voice from the beginning."""
        ended = anyio.Event()

        def look(_: object) -> None:
            if interview.outcome is not None:
                ended.set()

        with interview.watch(look):
            look(None)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._ask_while_on, interview, tasks.cancel_scope)
                await ended.wait()
                tasks.cancel_scope.cancel()
        if interview.outcome is None and self._alone:
            if any(response.shown_at is not None for response in interview.step.responses):
                interview.end(Ending.CANCELLED, _NO_SCREEN)
            else:
                raise NoInterface(_NO_SCREEN)

    async def _ask_while_on(self, interview: Interview, over: anyio.CancelScope) -> None:
        while True:
            while self._chat.voice_state is not VoiceState.ACTIVE:
                if self._alone:
                    over.cancel()
                await self._chat.voice_changed()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._cancel_when_off, tasks.cancel_scope)
                try:
                    await self._spoken.present(interview)
                except NoInterface:  # nothing could be narrated: the screen is there
                    if self._alone:
                        over.cancel()
                if interview.outcome is not None:
                    over.cancel()
                await anyio.sleep_forever()

    async def _cancel_when_off(self, scope: anyio.CancelScope) -> None:
        while self._chat.voice_state is VoiceState.ACTIVE:
            await self._chat.voice_changed()
        scope.cancel()
