"""Autonomous Voice: while it runs the agent asks by narrating, and the reply arrives as a user message.

It withholds the tools that ask on a screen (the same thing would be asked twice), takes over what they were
asking when it began, and restores them on every exit: stop, error, cancellation, Ctrl-C, the agent's death.

What an open utterance has got so far when the microphone is lost, or Voice switched off, is never sent: half
a reply may say the contrary of the whole. It is told as `Discarded` (`DiscardReason.CUT_OFF`) with its words,
to be said or sent again. Neither is the other half, when the microphone is back while somebody still speaks.
What had ended before is delivered.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus

from questionnaire import (
    TOOL_NAMES,
    AdjustableToolset,
    Coordinator,
    InvalidQuestionnaire,
    Lift,
    Question,
    ToolResult,
    Withhold,
    read_questionnaire,
)
from voice.audio import FRAME_S, Frame, level_dbfs, silent_frame
from voice.commands import Spoken
from voice.ears import Ears
from voice.errors import DeviceChanged, DeviceError, VoiceError
from voice.events import (
    DevicesInUse,
    DiscardReason,
    Emit,
    Event,
    FramesLost,
    LevelMeasured,
    NarrationEnded,
    NarrationEnding,
    NarrationStarted,
    Notice,
    SpeechStarted,
    VoiceState,
    VoiceStateChanged,
)
from voice.happenings import Happening, Kind, MicrophoneBack, MicrophoneLost, Passed, Silent, Speaking
from voice.phrases import said
from voice.ports import Lossy, Microphone, Speaker
from voice.speaking.earcons import Earcon
from voice.speaking.manner import Manner
from voice.speaking.narrator import Narrator, Position
from voice.speaking.writing import Writing
from voice.spoken_form import LONGEST_LABEL, spoken_questionnaire
from voice.tasks import lone_errors

REOPEN_AFTER_S = 0.5
REOPEN_AT_MOST_S = 2.0
"""A lost microphone is looked for at once, then after the first of these, and then ever less often up to the
second: what has been away for long is looked for at the cost of 1 or 2 % of a processor."""

AT_WORK_S = 1.0
"""A microphone that is heard for so long works, and is looked for at once when it is lost again."""

UNDER_WAY_S = 0.3
"""What begins so soon after the microphone is back had begun before: speech counts as such after 0.1 s …"""

GOES_ON_S = 1.0
"""… and so soon where somebody was cut off and it was back at once: they had taken breath."""

LAST_TEXTS_S = 1.0
"""So long what was said before a microphone was lost may take to become messages, before it is opened again;
what takes longer comes while it is heard."""

LAST_WORDS_S = 0.5
"""How long a cancelled Voice still takes to find out what was said last: Ctrl-C is to be prompt."""

LEVEL_FRAMES = 5
"""Of so many frames the loudest is told: ten times a second."""

REPEATED_OPTIONS = 12
"""Options of a withheld question that its refusal repeats: nobody listens to more."""

HANDED_OVER = "Voice was switched on and narrates the question; the answer will arrive as a user message"
"""Why the call of a questionnaire ends that was open when Voice began."""


@dataclass(frozen=True)
class Parts:
    """What autonomous Voice hears and speaks with."""

    microphone: Microphone
    ears: Ears
    narrator: Narrator
    speaker: str = ""
    """What a person calls the speaker …"""
    output: Speaker | None = None
    """… and the speaker itself, where that changes."""

    @property
    def devices(self) -> DevicesInUse:
        """Which are in use."""
        return DevicesInUse(self.microphone.name, self.output.name if self.output else self.speaker)


class _Job:
    """One text to be narrated, from when it was asked for until it has ended."""

    def __init__(
        self,
        text: str | Writing,
        kind: Kind,
        start: Position | None,
        announced: bool,
        slowly: bool,
        options: Sequence[str],
        *,
        repeats: bool,
    ) -> None:
        self.source = text
        self.kind = kind
        self.position = start
        self.announced = announced
        self.slowly = slowly
        self.options = options
        self.repeats = repeats
        self.whole = kind is not Kind.TEXT
        """Whether it is said whole, however long it is: what is asked is, what is told is not."""
        self.scope = anyio.CancelScope()
        self.ending: NarrationEnding | None = None
        self.notice = ""
        self.played_s = 0.0
        self.audible = False
        """Whether the narrator has it now."""
        self.resumed: anyio.Event | None = None
        """While it is paused: what lets it go on."""

    @property
    def text(self) -> str:
        return self.source if isinstance(self.source, str) else self.source.text


class AutonomousVoice:
    """One session's hands-free mode, switched on and off as often as one likes.

    ``open_parts`` opens the microphone's, the transcriber's and the engine's side of things and closes them
    again; it must not wait for what can load while the first narration plays. What is heard comes to
    ``heard``, all that came of one frame together; who has the turn, and that time passes, to ``happened``;
    everything else to ``emit``. What to do about any of it is their business: this class decides nothing.
    ``coordinator`` is that of the tools that are withheld; what it is asking when Voice begins is narrated.
    ``is_answer`` says which spoken stop is the answer to what is being asked, and is not obeyed.
    """

    def __init__(
        self,
        tools: AdjustableToolset,
        open_parts: Callable[[], AbstractAsyncContextManager[Parts]],
        *,
        emit: Emit,
        heard: Callable[[list[Event]], None],
        happened: Callable[[Happening], None],
        coordinator: Coordinator | None = None,
        language: str = "en",
        is_answer: Callable[[Spoken], bool] = lambda _stop: False,
    ) -> None:
        self._tools = tools
        self._open_parts = open_parts
        self._emit = emit
        self._heard = heard
        self._happened = happened
        self._coordinator = coordinator
        self._language = language
        self._is_answer = is_answer
        self._state = VoiceState.INACTIVE
        self._stop = anyio.Event()
        self._lift: Lift | None = None
        self._agent_lost = self._agent_works = False
        self._parts: Parts | None = None
        self._names: tuple[str, ...] = ()
        self._tasks: TaskGroup | None = None
        self._manner: Manner | None = None
        self._microphone_lost = False
        self._changed = ""
        """Why the microphone is being opened anew, a sentence, until it is heard again."""
        self._look_again_s = 0.0
        """So long it is waited before a lost one is looked for."""
        self._cut_off = False
        """Whether somebody was speaking when it was lost."""
        self._half_until_s = 0.0
        """What begins before this is the other half of something."""
        self._devices = DevicesInUse("", "")
        """What was told last."""
        self._lost_frames = 0
        """How many losses were told, of the microphone in use."""
        self._wanted = anyio.Event()
        """Set while the microphone may be open."""
        self._listening: anyio.CancelScope | None = None
        self._levels: list[float] = []
        self._turn = anyio.Lock()
        self._free = anyio.Event()
        self._waits = False
        """Whether a narration waits until nobody speaks."""
        self._jobs: list[_Job] = []
        self._last: _Job | None = None
        self._unfinished: _Job | None = None

    @property
    def state(self) -> VoiceState:
        """Which of the five states it is in."""
        return self._state

    @property
    def now_s(self) -> float:
        """Audio time; 0 while it is off."""
        return self._parts.ears.now_s if self._parts else 0.0

    @property
    def narrating(self) -> bool:
        """Whether a text is being narrated, is paused, or waits to be."""
        return bool(self._jobs)

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Be on until `stop` is called or the caller is cancelled; started when it is active.

        Raises `VoiceError` where a part cannot be opened. By whatever way it ends, what it withheld is back
        before this returns.
        """
        if self._state not in (VoiceState.INACTIVE, VoiceState.FAILED):
            raise RuntimeError("autonomous Voice is on already")
        self._stop = anyio.Event()
        self._microphone_lost, self._changed, self._look_again_s = False, "", 0.0
        self._cut_off, self._half_until_s = False, 0.0
        self._last = self._unfinished = None
        self.open_microphone()
        ending = VoiceState.FAILED
        try:
            with lone_errors(), ExitStack() as restored:
                restored.callback(self._restore)
                if not self._agent_lost:
                    self._withhold()
                self._enter(VoiceState.STARTING)
                async with self._open_parts() as parts, anyio.create_task_group() as tasks:
                    self._tasks = tasks
                    await self._be_active(parts, task_status)
                    await self._drain(parts.ears)
                    self._tasks = None
            ending = VoiceState.INACTIVE
        except anyio.get_cancelled_exc_class():
            ending = VoiceState.INACTIVE
            raise
        finally:
            self._parts = self._tasks = None
            self._enter(ending)

    def stop(self) -> None:
        """Switch it off: narration ends and the tools are back at once; what had been said is delivered."""
        self._stop.set()
        if self._state in (VoiceState.STARTING, VoiceState.ACTIVE):
            self.silence(NarrationEnding.SUPERSEDED)
            self._restore()  # however long devices take to close, and what was said to be delivered
            self._enter(VoiceState.DRAINING)

    def agent_lost(self) -> None:
        """There is no agent: nothing is withheld, until there is one again."""
        self._agent_lost = True
        self._restore()

    def agent_back(self) -> None:
        """There is an agent: withhold from it what is to be withheld."""
        self._agent_lost = False
        if self._state in (VoiceState.STARTING, VoiceState.ACTIVE):
            self._withhold()

    def agent_works(self, works: bool) -> None:
        """Whether there is work to stop: then a spoken stop has its fast path also while we are silent."""
        self._agent_works = works
        if self._parts is not None:
            self._parts.ears.stop_while_silent = works

    # --- Speaking -----------------------------------------------------------------------------------------

    async def narrate(
        self,
        text: str | Writing,
        kind: Kind = Kind.QUESTION,
        *,
        announced: bool = True,
        start: Position | None = None,
        slowly: bool = False,
        options: Sequence[str] = (),
        repeats: bool = True,
    ) -> NarrationEnded:
        """Speak a text, when nobody is speaking any more; returns when it has been heard, or how it ended.

        A narration that begins waits until the turn of whoever is speaking has been delivered or dropped.
        ``options`` are the labels of what it asks to choose from: they are likely to be said. Unless it
        ``repeats`` something else is repeated where that is wanted: the question that it is a remark on.
        With ``announced`` it is told as `NarrationStarted` and `NarrationEnded`, the second also where the
        caller is cancelled. Raises `VoiceError` when Voice is not active.
        """
        if self._state is not VoiceState.ACTIVE or self._parts is None:
            raise VoiceError("Voice is not active, so nothing can be narrated.")
        job = _Job(text, kind, start, announced, slowly, options, repeats=repeats)
        self._jobs.append(job)
        if announced:
            self._emit(NarrationStarted(job.text))
        ended = None
        try:
            with job.scope:
                async with self._turn:
                    await self._perform(job, self._parts)
        finally:
            self._jobs.remove(job)
            if job.audible:
                self._fell_silent(job, unfinished=True)
            ending = job.ending or NarrationEnding.INTERRUPTED
            ended = NarrationEnded(job.text, ending, job.played_s, job.notice)
            if announced:
                self._emit(ended)
        return ended

    def say(self, sentence: str) -> None:
        """Speak a remark of the session's own, without waiting for it; nothing while Voice is not active."""
        self._start(sentence, Kind.REMARK)

    def pause(self) -> None:
        """Stop what is heard, to go on at the word after `resume`; what waits goes on waiting."""
        if self._parts is not None and (job := self._audible()) is not None:
            job.resumed = anyio.Event()
            self._parts.narrator.interrupt()

    def resume(self) -> None:
        """Go on with what is paused."""
        for job in self._jobs:
            if job.resumed is not None:
                job.resumed.set()

    def silence(self, ending: NarrationEnding = NarrationEnding.INTERRUPTED) -> bool:
        """End what is narrated, and what waits to be; returns whether there was anything."""
        for job in self._jobs:
            job.ending = job.ending or ending
            if not job.audible:
                job.scope.cancel()
        if self._parts is not None and self._audible() is not None:
            self._parts.narrator.interrupt()
        return bool(self._jobs)

    def go_on(self) -> None:
        """Narrate the rest of what was silenced last."""
        if (job := self._unfinished) is not None:
            self._start(job.source, job.kind, start=job.position, options=job.options)

    def repeat(self, *, slowly: bool = False, shorter: Callable[[str], str] | None = None) -> None:
        """Narrate once more what was narrated last; ``shorter`` makes a shorter text of it."""
        if (job := self._last) is not None:
            text = shorter(job.text) if shorter else job.source
            self._start(text, Kind.REPEAT, slowly=slowly, options=job.options)

    def play(self, earcon: Earcon) -> None:
        """Play an earcon, now or never."""
        if self._parts is not None and self._tasks is not None and not self._tasks.cancel_scope.cancel_called:
            self._tasks.start_soon(self._parts.narrator.earcon, earcon)

    def change_manner(self, change: Callable[[Manner], Manner]) -> None:
        """Speak louder, faster and so on from the next sentence on, also when Voice is switched on again."""
        if self._parts is not None:
            self._parts.narrator.manner = self._manner = change(self._parts.narrator.manner)

    # --- Listening ----------------------------------------------------------------------------------------

    def hold(self) -> None:
        """Let the microphone's sound pass unheard; an open turn waits."""
        if self._parts is not None:
            self._parts.ears.hold()

    def release(self) -> None:
        """Hear the microphone again."""
        if self._parts is not None:
            self._parts.ears.release()

    def drop_turn(self, reason: DiscardReason) -> None:
        """End the open turn: it will be no message, and its words are told with this reason."""
        if self._parts is not None:
            self._pass_on(self._parts.ears.drop_turn(reason))

    def sleep(self, asleep: bool) -> None:
        """Transcribe phrases alone, or everything again."""
        if self._parts is not None:
            self._parts.ears.hearing.asleep = asleep

    def know(self, names: Sequence[str]) -> None:
        """Which names are likely to be said, besides those of what is asked; the likeliest first."""
        self._names = tuple(names)
        if self._parts is not None:
            self._parts.ears.hearing.know(self._names)

    def close_microphone(self) -> None:
        """Give the microphone back to the system until `open_microphone`."""
        self._wanted = anyio.Event()
        if self._listening is not None:
            self._listening.cancel()

    def open_microphone(self) -> None:
        """Have it open again."""
        self._wanted.set()

    # --- The life of one session --------------------------------------------------------------------------

    async def _be_active(self, parts: Parts, task_status: TaskStatus[None]) -> None:
        """Speak and listen until it is stopped; by whatever way it ends, our voice falls silent."""
        self._parts = parts
        self._lost_frames = parts.microphone.lost_frames if isinstance(parts.microphone, Lossy) else 0
        parts.narrator.manner = self._manner or parts.narrator.manner
        parts.ears.stop_while_silent = self._agent_works
        parts.ears.is_answer = self._is_answer
        parts.ears.hearing.know(self._names)
        started = False
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._cancel_when_stopped, tasks.cancel_scope)
                await tasks.start(self._listen, parts)
                if not self._stop.is_set():
                    self._tell_devices(parts)
                    self._enter(VoiceState.ACTIVE)
                    task_status.started()
                    started = True
                    if self._coordinator is not None:
                        tasks.start_soon(self._take_over, self._coordinator)
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(LAST_WORDS_S, shield=True):
                await self._drain(parts.ears)
            raise
        finally:
            self.silence(NarrationEnding.SUPERSEDED)
        if not started:  # stopped before it was active
            task_status.started()

    async def _cancel_when_stopped(self, scope: anyio.CancelScope) -> None:
        await self._stop.wait()
        scope.cancel()

    async def _take_over(self, coordinator: Coordinator) -> None:
        """Narrate what is being asked on the screen; the reply will be an ordinary message.

        What a tool asks is never risky, by any contract, so nothing is left there unheard: hosts ask for what
        is, by a coordinator of their own, which is asked aloud as well.
        """
        pending = await coordinator.hand_over(HANDED_OVER)
        for taken in pending:
            asked = taken.questionnaire
            labels = [option.label for question in asked.questions for option in question.options]
            text = spoken_questionnaire(asked, self._language)
            self._start(text, Kind.QUESTION, announced=True, options=labels)

    async def _listen(self, parts: Parts, *, task_status: TaskStatus[None]) -> None:
        """Hear the microphone until cancelled; when it is lost, say so once and look for it again."""
        opened = False
        while True:
            await self._wanted.wait()
            try:
                async with parts.microphone.open() as frames:
                    if not opened:
                        task_status.started()
                        opened = True
                    with anyio.CancelScope() as listening:
                        self._listening = listening
                        if self._wanted.is_set():
                            await self._hear(frames, parts)
            except DeviceError as error:
                if not opened:
                    raise
                self._tell_losses(parts)
                self._tell_lost(error)
                self._cut_off = self._cut_off or parts.ears.speaking
                await self._drain(parts.ears, LAST_TEXTS_S)
                if parts.ears.busy:  # what takes longer is delivered all the same
                    await self._drain(parts.ears, self._look_again_s)
                else:
                    await anyio.sleep(self._look_again_s)
                self._look_again_s = min(self._look_again_s * 2 or REOPEN_AFTER_S, REOPEN_AT_MOST_S)
            else:
                if listening.cancel_called or not self._wanted.is_set():  # it may be wanted again by now
                    await self._drain(parts.ears)
                    continue
                self._pass_on(parts.ears.input_ended())  # whoever ends the source has finished
                self._remark("microphone_ended", microphone=parts.microphone.name)
                self.stop()
                return

    def _tell_lost(self, error: DeviceError) -> None:
        """A device that gives way to another is no loss, as long as that one is heard at once."""
        if isinstance(error, DeviceChanged) and not self._microphone_lost and not self._changed:
            self._changed = error.sentence
            self._look_again_s = 0.0
        elif not self._microphone_lost:
            self._microphone_lost, self._changed = True, ""
            self._happened(MicrophoneLost())
            self._remark("microphone_lost", error=error.sentence)

    async def _hear(self, frames: AsyncIterator[Frame], parts: Parts) -> None:
        heard = 0
        async for frame in frames:
            if self._microphone_lost or self._changed:
                goes_on = self._cut_off and self._look_again_s <= REOPEN_AFTER_S
                self._half_until_s = self.now_s + (GOES_ON_S if goes_on else UNDER_WAY_S)
                self._cut_off = False
            if self._microphone_lost:
                self._microphone_lost = False
                self._remark("microphone_back", microphone=parts.microphone.name)
                self._happened(MicrophoneBack())
            elif self._changed:
                change, self._changed = self._changed, ""
                self._remark("microphone_changed", change=change, microphone=parts.microphone.name)
            heard += 1
            if heard * FRAME_S >= AT_WORK_S:
                self._look_again_s = 0.0
            self._tell_devices(parts)
            self._tell_losses(parts)
            self._measure(frame)
            await self._take(frame, parts.ears)

    def _tell_devices(self, parts: Parts) -> None:
        """Tell which devices are in use, when they are others than were told."""
        if self._state is not VoiceState.DRAINING and (devices := parts.devices) != self._devices:
            self._devices = devices
            self._emit(devices)

    def _tell_losses(self, parts: Parts) -> None:
        """Tell how much sound was lost, when it is more than was told."""
        if not isinstance(parts.microphone, Lossy):
            return
        if (lost := parts.microphone.lost_frames) > self._lost_frames:
            self._emit(FramesLost(lost - self._lost_frames))
            self._lost_frames = lost

    async def _take(self, frame: Frame, ears: Ears) -> None:
        events = await ears.push(frame)
        if any(isinstance(event, SpeechStarted) and event.at_s < self._half_until_s for event in events):
            ears.spoil_turn(DiscardReason.CUT_OFF)
        self._pass_on(events)
        self._happened(Passed(FRAME_S, ears.busy, self._waits))
        if not ears.busy:
            self._free.set()

    async def _drain(self, ears: Ears, at_most_s: float = math.inf) -> None:
        """Let what was said become messages, without a microphone; what is unfinished is cut off."""
        self._pass_on(ears.drop_turn(DiscardReason.CUT_OFF))
        drained_s = 0.0
        while ears.busy:
            if drained_s >= at_most_s:
                return
            drained_s += FRAME_S
            await anyio.sleep(FRAME_S)
            self._pass_on(await ears.push(silent_frame()))
        self._happened(Passed(0.0, busy=False))
        self._free.set()

    def _measure(self, frame: Frame) -> None:
        self._levels.append(level_dbfs(frame))
        if len(self._levels) == LEVEL_FRAMES:
            self._emit(LevelMeasured(max(self._levels), self.now_s))
            self._levels.clear()

    def _remark(self, name: str, **values: str) -> None:
        self._emit(Notice(said(self._language, name, **values)))

    def _pass_on(self, events: list[Event]) -> None:
        if events:
            self._heard(events)

    # --- Narrating ----------------------------------------------------------------------------------------

    def _start(
        self,
        text: str | Writing,
        kind: Kind,
        *,
        announced: bool = False,
        start: Position | None = None,
        slowly: bool = False,
        options: Sequence[str] = (),
    ) -> None:
        """Narrate without waiting for it."""

        async def narrate() -> None:
            if self._state is VoiceState.ACTIVE:
                await self.narrate(
                    text, kind, announced=announced, start=start, slowly=slowly, options=options
                )

        if self._state is VoiceState.ACTIVE and self._tasks is not None:
            self._tasks.start_soon(narrate)

    async def _perform(self, job: _Job, parts: Parts) -> None:
        """Have it heard to its end, through every pause."""
        while job.ending is None:
            await self._until_nobody_speaks(parts.ears)
            job.audible = True
            if job.kind not in (Kind.REMARK, Kind.REPEAT) and job.repeats:
                self._last = job
            self._happened(Speaking(job.text, job.kind, tuple(job.options)))
            with _FloorBySentence(parts, job):
                try:
                    narrated = await parts.narrator.narrate(
                        job.source, start=job.position, slowly=job.slowly, whole=job.whole
                    )
                finally:
                    job.played_s += parts.narrator.heard_s
            if narrated.broken_off:
                parts.ears.cut_short(narrated.broken_off)
            job.position, job.notice = narrated.position, narrated.ended.notice
            paused = job.resumed is not None and narrated.ending is NarrationEnding.INTERRUPTED
            if not paused:
                job.ending = job.ending or narrated.ending
            self._fell_silent(job, unfinished=paused or job.ending is NarrationEnding.INTERRUPTED)
            if job.resumed is not None and paused and job.ending is None:
                await job.resumed.wait()
            job.resumed = None

    def _fell_silent(self, job: _Job, *, unfinished: bool) -> None:
        job.audible = False
        if job.kind is not Kind.REMARK:
            self._unfinished = job if unfinished else None
        self._happened(Silent(unfinished))

    def _audible(self) -> _Job | None:
        return next((job for job in self._jobs if job.audible), None)

    async def _until_nobody_speaks(self, ears: Ears) -> None:
        try:
            while ears.busy:
                self._waits = True
                self._free = anyio.Event()
                await self._free.wait()
        finally:
            self._waits = False

    # --- State --------------------------------------------------------------------------------------------

    def _withhold(self) -> None:
        if self._lift is None:
            self._lift = self._tools.add(Withhold(TOOL_NAMES, refusal_while_on, name="autonomous voice"))

    def _restore(self) -> None:
        lift, self._lift = self._lift, None
        if lift is not None:
            lift.lift()

    def _enter(self, state: VoiceState) -> None:
        before, self._state = self._state, state
        if before is VoiceState.ACTIVE:
            self._devices = DevicesInUse("", "")
            self._emit(self._devices)
        self._emit(VoiceStateChanged(state))


class _FloorBySentence:
    """Has the floor while a text is heard.

    Of one that is still being written only while there is a sentence to hear: a person can speak while its
    writer thinks. What is said from its beginning on is a reply to it, also where it is broken off: the ears
    are told what to expect when it begins, and of one that is being written with each sentence.
    """

    def __init__(self, parts: Parts, job: _Job) -> None:
        self._parts = parts
        self._job = job
        self._whole = isinstance(job.source, str)
        self._floor = ExitStack()
        self._has_it = False

    def __enter__(self) -> None:
        if self._whole:
            self._expect()
            self._take()
        self._parts.narrator.on_sentence = self._on_sentence

    def __exit__(self, *_: object) -> None:
        self._parts.narrator.on_sentence = lambda _sentence: None
        self._floor.close()

    def _on_sentence(self, sentence: str | None) -> None:
        if sentence is not None:
            if not self._whole:
                self._expect()
            self._take()
        self._parts.ears.on_sentence(sentence)
        if sentence is None and not self._whole:
            self._has_it = False
            self._floor.close()

    def _expect(self) -> None:
        if self._job.kind is not Kind.REMARK:
            self._parts.ears.hearing.expect(self._job.text, self._job.options)

    def _take(self) -> None:
        if not self._has_it:
            self._has_it = True
            self._floor.enter_context(self._parts.ears.narration())


def refusal_while_on(
    name: str,
    arguments: Mapping[str, Any],
    *,
    reply: str = "the reply will arrive as an ordinary user message",
) -> ToolResult:
    """What a call of a withheld tool gets: an error that repeats what it asks and says to narrate it.

    ``reply`` says how the answer will come. Of the options it repeats `REPEATED_OPTIONS` a question.
    """
    try:
        asked = " ".join(map(_repeated, read_questionnaire(name, arguments).questions))
    except InvalidQuestionnaire:
        asked = "your question"
    return ToolResult(
        f"{name} is withheld while Voice is on, and the user has not seen it. Ask with narrate instead, and"
        f" {reply}: {asked}",
        {"error": "withheld_while_voice_is_on"},
        is_error=True,
    )


def _repeated(question: Question) -> str:
    """A question with its options, for who has to narrate it."""
    labels = [
        label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"
        for label in (option.label for option in question.options)
    ]
    if not labels:
        return question.text
    more = len(labels) - REPEATED_OPTIONS
    listed = "; ".join([*labels[:REPEATED_OPTIONS], *([f"and {more} more"] if more > 0 else [])])
    return f"{question.text} (options: {listed})"
