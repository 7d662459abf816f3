"""A scene is played: the whole session, by a clock that jumps from one moment to the next.

Real are the conversation, the turn-taking, the ears with both stages of the detector, the narrator and the
tools; the air, the speaker and (unless the scene or the caller says otherwise) the transcriber, the engine
and the agent are the scene's. Nothing in it depends on how fast the machine is, so that two runs of a scene
give the same events.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import anyio.abc
import anyio.lowlevel
import anyio.to_thread

from questionnaire import AdjustableToolset, Outcome, Questionnaire
from voice.assembly import make_ears, make_narrator
from voice.audio import SAMPLE_RATE, Samples
from voice.autonomous import Parts
from voice.backends.recording import read_recording
from voice.chat import Chat
from voice.ears import Ears
from voice.errors import RecordingError, SceneError
from voice.events import (
    Event,
    LevelMeasured,
    MessageSent,
    NarrationEnded,
    NarrationStarted,
    Notice,
    ToolsChanged,
    VoiceState,
)
from voice.faulty import (
    Fault,
    Faulty,
    FaultyEngine,
    FaultyHost,
    FaultyMicrophone,
    FaultySpeaker,
    FaultyTranscriber,
)
from voice.hosts.catalog import Ask, MakeHost
from voice.ports import Host, SpeechEngine, Transcriber
from voice.scenes import log, script
from voice.scenes.agent import SceneAgent
from voice.scenes.air import Air, noise
from voice.scenes.clock import in_virtual_time, virtual_loop
from voice.scenes.expecting import Ending, Happened, Verdict, judged
from voice.scenes.outside import Outside
from voice.scenes.parts import (
    AudibleSpeaker,
    OutsideEngine,
    QuietEngine,
    SceneMicrophone,
    SceneSpeaker,
    SceneTranscriber,
    scripted_words,
)
from voice.scenes.recorded import (
    RecordedAgent,
    RecordedEngine,
    RecordedMicrophone,
    RecordedSpeaker,
    RecordedTranscriber,
    Recording,
    read_recorded,
)
from voice.scenes.recorder import RecordedChat, Recorder
from voice.scenes.screen import SceneScreen, questionnaire_of
from voice.scenes.script import EventPattern, Happening, Part, Scene, Understood
from voice.scenes.sentences import SentenceHeard
from voice.scenes.wording import Wording
from voice.tasks import lone_errors
from voice.testing import ScriptedJournal

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

QUIET_S = 3.0
"""A scene that does not say when it ends has ended when nothing has happened for so long …"""

LONGEST_S = 120.0
"""… or so long after its last happening, whatever goes on."""


@dataclass(frozen=True)
class Played:
    """What came of a scene."""

    scene: Scene
    happened: tuple[Happened, ...]
    """All events but `LevelMeasured`, in order."""
    ending: Ending
    verdicts: tuple[Verdict, ...]
    """On each of its expectations."""
    complaints: tuple[str, ...] = ()
    """What could not be played as the scene says it, in sentences."""

    @property
    def events(self) -> tuple[Event, ...]:
        """The events without their times."""
        return tuple(one.event for one in self.happened)

    @property
    def messages(self) -> tuple[str, ...]:
        """What the agent accepted, in order."""
        return tuple(event.text for event in self.events if isinstance(event, MessageSent))

    @property
    def waiting(self) -> tuple[str, ...]:
        """The messages that it had not accepted at the end."""
        return self.ending.waiting

    @property
    def said(self) -> tuple[str, ...]:
        """The sentences that were heard to their end."""
        return tuple(event.text for event in self.events if isinstance(event, SentenceHeard) and event.whole)

    @property
    def notices(self) -> tuple[str, ...]:
        """What the person was told in writing."""
        return tuple(event.sentence for event in self.events if isinstance(event, Notice))

    @property
    def tools(self) -> tuple[tuple[float, tuple[str, ...]], ...]:
        """Which tools the agent had, each time with when that began, in seconds of the scene."""
        changes = [one for one in self.happened if isinstance(one.event, ToolsChanged)]
        return tuple((one.clock_s, one.event.names) for one in changes if isinstance(one.event, ToolsChanged))

    @property
    def failures(self) -> tuple[str, ...]:
        """What is not as it should be, a sentence each; empty where the scene is as expected."""
        return (*self.complaints, *(f"{one.expected}: {one.failure}" for one in self.verdicts if not one.met))

    @property
    def lines(self) -> tuple[str, ...]:
        """What happened, as lines of JSON: those of two runs are the same."""
        return tuple(json.dumps(one.fields, ensure_ascii=False) for one in self.happened)


async def play(
    scene: Scene,
    *,
    make_host: MakeHost | None = None,
    outside: Outside | None = None,
    whisper: bool = False,
    record: Path | None = None,
) -> Played:
    """Play a scene beside whatever else goes on; see `perform`."""
    return await anyio.to_thread.run_sync(
        partial(perform, scene, make_host=make_host, outside=outside, whisper=whisper, record=record)
    )


def perform(
    scene: Scene,
    *,
    make_host: MakeHost | None = None,
    outside: Outside | None = None,
    whisper: bool = False,
    record: Path | None = None,
) -> Played:
    """Play a scene in virtual time, in this thread, which must have no event loop.

    With ``make_host`` the agent is that one, run in the loop of the scene, and not the scene's own. While it
    is at work by real means (threads; sockets and pipes, unless it waits for us) the clock stands.
    ``outside`` has what was loaded for other scenes. With ``whisper`` that understands what is said, whatever
    the scene says. ``record`` is a new folder for a recording of it: that can be played without the agent.

    Raises `VoiceError` where a recording, a model, the engine or that folder cannot be used.
    """
    if whisper:
        scene = scene.model_copy(update={"words": "whisper"})
    recordings, recording = _recordings(scene), read_recorded(scene)
    with ExitStack() as stack:
        parts = outside or stack.enter_context(Outside())
        if scene.words == "whisper":
            parts.load(scene.settings.transcription)
        with lone_errors():
            return in_virtual_time(
                lambda: _Play(scene, recordings, recording, make_host, parts, record).run()
            )


def _recordings(scene: Scene) -> dict[int, Samples]:
    """The recordings of a scene, by the number of the happening."""
    read: dict[int, Samples] = {}
    for number, happening in enumerate(scene.happens):
        if happening.say is not None:
            try:
                read[number] = read_recording(scene.path(happening.say))
            except RecordingError as error:
                raise SceneError(f"{scene.file}: {error.sentence}", mend=error.mend) from error
    return read


class _Play:
    """One run of a scene."""

    def __init__(
        self,
        scene: Scene,
        recordings: Mapping[int, Samples],
        recording: Recording | None,
        make_host: MakeHost | None,
        outside: Outside,
        record: Path | None,
    ) -> None:
        self._scene = scene
        self._recording = recording
        self._recordings = recordings
        self._happened: list[Happened] = []
        self._changed = anyio.Event()
        self._complaints: list[str] = []
        self._air = Air(scene.room.noise_dbfs)
        self._wording = Wording()
        self._sure: dict[int, Understood] = {}
        self._screen = SceneScreen()
        self._journal = ScriptedJournal()
        self._draft = ""
        self._narrations = self._asked = 0
        """How many are open: then an agent waits for us, and not for the outside."""
        self._agent: SceneAgent | None = None
        self._ears: Ears | None = None
        self._calls: dict[int, anyio.CancelScope] = {}
        """What the recorded agent waits for."""
        self._recorded_agent: RecordedAgent | None = None
        self._make_host = make_host
        self._speaker = self._made_speaker()
        self._transcriber = FaultyTranscriber(self._made_transcriber(outside))
        self._engine = FaultyEngine(self._made_engine(outside))
        self._microphone = FaultyMicrophone(
            SceneMicrophone(self._air, self._wording)
            if recording is None
            else RecordedMicrophone(recording, self._wording)
        )
        self._player = FaultySpeaker(self._speaker)
        self._host: FaultyHost | None = None
        self._recorder: Recorder | None = None
        make: MakeHost = self._made_host
        if record is not None:
            self._recorder = Recorder(record, scene.settings, scene.names, self._complaints.append)
            self._recorder.overhear_devices(self._microphone, self._player)
            make = self._recorder.host(make)
        self._chat = (Chat if record is None else RecordedChat)(
            make,
            self._opened,
            scene.settings,
            self._take,
            presenter=self._screen if scene.screen else None,
            names=scene.names,
            journal=self._journal,
        )
        if isinstance(self._chat, RecordedChat) and self._recorder is not None:
            self._chat.recorder = self._recorder

    async def run(self) -> Played:
        virtual_loop().awaits = self._agent_is_awaited
        self._take(ToolsChanged(tuple(tool.name for tool in self._chat.tools.tools())))
        async with anyio.create_task_group() as tasks:
            await tasks.start(partial(self._chat.run, voice=self._scene.voice))
            self._tasks = tasks
            if self._scene.voice:
                await self._chat.until_voice(on=True)
            for turn in self._scene.agent:
                if turn.by_itself:
                    tasks.start_soon(self._begin_turn, turn)
            if self._recording is not None:
                await self._play_log(self._recording)
            await self._let_happen()
            waiting, events = tuple(one.text for one in self._chat.waiting), len(self._happened)
            self._chat.quit()
            await self._over()
            tasks.cancel_scope.cancel()
        if self._recorder is not None:
            self._recorder.close()
        kept = tuple(entry.text for entry in self._journal.entries.values())
        if self._agent is not None and self._agent.turns_left:
            self._complaints.append(f"{self._agent.turns_left} turns of the agent were never begun.")
        ending = Ending(waiting, kept, events)
        happened = tuple(self._happened)
        verdicts = judged(self._scene.expect, happened, ending)
        return Played(self._scene, happened, ending, verdicts, tuple(self._complaints))

    # --- Making it -----------------------------------------------------------------------------------------

    def _made_speaker(self) -> SceneSpeaker:
        room = self._scene.room
        if self._recording is not None:
            return RecordedSpeaker(self._take, self._recording)
        if room.echo_db is None:
            return SceneSpeaker(self._take)
        return AudibleSpeaker(
            self._take, self._air, self._wording, echo_db=room.echo_db, delay_s=room.echo_delay_s
        )

    def _made_transcriber(self, outside: Outside) -> Transcriber:
        settings = self._scene.settings.transcription
        if self._scene.words == "recorded" and self._recording is not None:
            return RecordedTranscriber(self._recording, self._wording, settings.replay_delay_s)
        return SceneTranscriber(
            partial(outside.transcribe, settings)
            if self._scene.words == "whisper"
            else scripted_words(self._wording, self._sure),
            settings.replay_delay_s,
        )

    def _made_engine(self, outside: Outside) -> SpeechEngine:
        if self._scene.engine == "recorded" and self._recording is not None:
            return RecordedEngine(self._recording)
        if self._scene.engine == "real":
            return OutsideEngine(partial(outside.render, self._scene.settings.speaking))
        return QuietEngine()

    def _made_host(self, tools: AdjustableToolset, ask: Ask, emit: Callable[[Event], None]) -> Host:
        async def asked(questionnaire: Questionnaire) -> Outcome:
            self._asked += 1
            try:
                return await ask(questionnaire)
            finally:
                self._asked -= 1

        def make(told: Callable[[Event], None]) -> Host:
            self._ask = asked
            if self._make_host is not None:
                return self._make_host(tools, asked, told)
            if self._recording is not None and self._scene.recorded is not None:
                prompts = self._scene.recorded.first_messages
                self._recorded_agent = RecordedAgent(prompts, told)
                return self._recorded_agent
            self._agent = SceneAgent(
                self._scene.agent, tools=tools, ask=asked, emit=told, complain=self._complaints.append
            )
            return self._agent

        self._host = FaultyHost(make, emit)
        return self._host

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Parts]:
        settings = self._scene.settings
        self._ears = ears = make_ears(settings, self._transcriber, self._journal)
        if self._recorder is not None:
            self._recorder.overhear(self._transcriber, self._engine, ears)
        recorded = self._scene.recorded
        if isinstance(self._speaker, AudibleSpeaker):
            self._speaker.on_played = ears.on_played
        elif recorded is None or not recorded.speaker_tells:
            ears.plays_nothing()
        narrator = make_narrator(settings.speaking, self._engine, self._player)
        yield Parts(self._microphone, ears, narrator, self._speaker.name)

    def _agent_is_awaited(self) -> bool:
        """Whether the agent is at work, and not on something that it waits for us with."""
        waits_for_us = self._narrations or self._asked or self._screen.open
        return self._host is not None and self._host.busy and not waits_for_us

    def _take(self, event: Event) -> None:
        if isinstance(event, LevelMeasured):
            return
        if isinstance(event, NarrationStarted):
            self._narrations += 1
        elif isinstance(event, NarrationEnded):
            self._narrations -= 1
        if self._recorder is not None:
            self._recorder.take(event)
        self._happened.append(Happened(anyio.current_time(), event))
        self._changed.set()
        self._changed = anyio.Event()

    # --- What was recorded ---------------------------------------------------------------------------------

    async def _play_log(self, recording: Recording) -> None:
        """Let everything happen as it did, and when it did."""
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
            case log.Accepted() if self._recorded_agent is not None:
                await self._recorded_agent.accept()
            case log.HostTold(event=values) if self._recorded_agent is not None:
                self._recorded_agent.tell(values)
            case log.ToolCall(id=number, name=name, arguments=arguments):
                self._tasks.start_soon(self._wait_for, number, partial(chat.tools.call, name, arguments))
            case log.Asked(id=number, questionnaire=values):
                self._tasks.start_soon(self._wait_for, number, partial(self._ask, questionnaire_of(values)))
            case log.Returned(id=number):
                self._tasks.start_soon(self._give_up, number)
            case log.Announced(first=first, count=count, in_s=in_s) if self._ears is not None:
                self._ears.on_played(recording.announced[first : first + count], in_s)

    async def _wait_for(self, number: int, call: Callable[[], Awaitable[object]]) -> None:
        """What the agent waited for, and in vain where it gave up."""
        with anyio.CancelScope() as self._calls[number]:
            await call()

    async def _give_up(self, number: int) -> None:
        """It had its answer, or gave up; what is just being heard to its end may still end by itself."""
        await anyio.sleep(GIVEN_UP_AFTER_S)
        self._calls.pop(number).cancel()

    # --- What happens --------------------------------------------------------------------------------------

    async def _let_happen(self) -> None:
        over_s, since = 0.0, 0
        for number, happening in enumerate(self._scene.happens):
            over_s, since = await self._happen(number, happening, over_s, since)
        await anyio.sleep_until(over_s)
        if self._scene.ends_after is not None:
            await anyio.sleep(self._scene.ends_after)
        else:
            await self._settle(over_s)

    async def _happen(
        self, number: int, happening: Happening, over_s: float, since: int
    ) -> tuple[float, int]:
        """Do one, at its time; returns when it is over, and how many events were before it."""
        if happening.at is not None:
            if happening.at < anyio.current_time() - 1e-6:
                self._complain(number, f"at {happening.at:g} s came what is before it")
            await anyio.sleep_until(happening.at)
        elif happening.after is not None:
            if not await self._came(happening.after, since, happening.within):
                self._complain(number, f"{happening.after} did not come within {happening.within:g} s")
            await anyio.sleep(happening.plus)
        else:
            await anyio.sleep_until(over_s)
        begun = len(self._happened)
        lasts_s = await self._do(number, happening)
        over_s = max(over_s, anyio.current_time()) if happening.at is not None else anyio.current_time()
        return max(over_s, anyio.current_time() + lasts_s), begun

    async def _do(self, number: int, happening: Happening) -> float:
        """Do it; returns for how many seconds it goes on by itself."""
        chat, doing = self._chat, happening.doing
        match doing:
            case "say":
                return self._sound(self._recordings[number], happening)
            case "sound" if (made := happening.sound) is not None:
                samples = noise(made.kind, made.dbfs, made.seconds, str(number), made.hertz)
                return self._sound(samples, happening)
            case "pause":
                return happening.pause or 0.0
            case "hush":
                self._air.cut(anyio.current_time())
                self._wording.cut(anyio.current_time())
            case "type":
                await self._type(happening.type or "", happening.over)
            case "send":
                await self._type(happening.send or "", happening.over)
                self._press("Enter")
            case "key":
                self._press(happening.key or "")
            case "stop":
                chat.stop_narration()
            case "interrupt":
                chat.interrupt_agent()
            case "voice":
                if (happening.voice == "on") is not (
                    chat.voice_state in (VoiceState.ACTIVE, VoiceState.STARTING)
                ):
                    chat.toggle_voice()
            case "answer":
                await anyio.lowlevel.checkpoint()
                if wrong := self._screen.answer(happening.answer or ""):
                    self._complain(number, wrong)
            case "fault" if happening.fault is not None:
                self._strike(happening.fault)
        return 0.0

    def _sound(self, samples: Samples, happening: Happening) -> float:
        now_s = anyio.current_time()
        self._air.put(now_s, samples, happening.gain_db)
        if happening.text is not None:
            self._sure[self._wording.put(happening.text, samples, now_s)] = happening.sure
        return len(samples) / SAMPLE_RATE

    async def _type(self, text: str, over_s: float) -> None:
        for character in text:
            self._draft += character
            self._chat.draft(self._draft)
            await anyio.sleep(over_s / len(text))

    def _press(self, key: str) -> None:
        chat = self._chat
        match key:
            case "Enter":
                line, self._draft = self._draft, ""
                chat.send(line)
            case "Esc" if self._draft:
                self._draft = ""
                chat.draft("")
            case "Esc" | "F3":
                chat.stop_narration()
            case "F2":
                chat.toggle_voice()
            case "Ctrl-C":
                chat.interrupt_agent()
            case _:
                chat.quit()

    def _strike(self, fault: script.Fault) -> None:
        kind = Fault.KILLED if fault.kind == "dies" else Fault(fault.kind)
        parts: dict[Part, Faulty | None] = {
            Part.TRANSCRIBER: self._transcriber,
            Part.ENGINE: self._engine,
            Part.MICROPHONE: self._microphone,
            Part.SPEAKER: self._player,
            Part.HOST: self._host,
        }
        part = parts.get(fault.part)
        if part is None:
            self._journal.hold()
            mend = self._journal.release
        else:
            part.strike(kind)
            mend = part.mend

        async def later(seconds: float) -> None:
            await anyio.sleep(seconds)
            mend()

        if fault.seconds is not None:
            self._tasks.start_soon(later, fault.seconds)

    async def _begin_turn(self, turn: script.Turn) -> None:
        if turn.at is not None:
            await anyio.sleep_until(turn.at)
        elif turn.after is not None:
            if not await self._came(turn.after, 0, 36_000.0):
                return
            await anyio.sleep(turn.plus)
        if self._agent is not None:
            self._agent.begin(turn)

    async def _came(self, pattern: EventPattern, since: int, within_s: float) -> bool:
        with anyio.move_on_after(within_s):
            while True:
                changed = self._changed
                for at in range(since, len(self._happened)):
                    if pattern.fits(self._happened[at].fields):
                        return True
                since = len(self._happened)
                await changed.wait()
        return False

    async def _settle(self, over_s: float) -> None:
        """Wait until nothing has happened for a while, and nothing goes on."""
        with anyio.move_on_after(LONGEST_S):
            while True:
                last_s = max(over_s, self._happened[-1].clock_s if self._happened else 0.0)
                await anyio.sleep_until(last_s + QUIET_S)
                going_on = self._speaker.playing or (self._host is not None and self._host.busy)
                if going_on:
                    await self._changed.wait()
                elif not self._happened or self._happened[-1].clock_s <= last_s:
                    return

    async def _over(self) -> None:
        """Wait until the conversation has ended."""
        while self._chat.voice_state not in (VoiceState.INACTIVE, VoiceState.FAILED):
            await self._changed.wait()
        await anyio.sleep(1.0)

    def _complain(self, number: int, what: str) -> None:
        self._complaints.append(f"Happening {number + 1}: {what}.")
