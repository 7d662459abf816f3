"""A scene is played: the whole session, by a clock that jumps from one moment to the next.

Real are the conversation, the turn-taking, the ears with both stages of the detector, the narrator and the
tools; the air, the speaker and (unless the scene or the caller says otherwise) the transcriber, the engine
and the agent are the scene's. Nothing in it depends on how fast the machine is, so that two runs of a scene
give the same events.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread

from questionnaire import AdjustableToolset, Outcome, Questionnaire
from voice.audio import Samples
from voice.backends.recording import read_recording
from voice.chat import Chat
from voice.errors import RecordingError, SceneError
from voice.events import (
    Emit,
    Event,
    LevelMeasured,
    NarrationEnded,
    NarrationStarted,
    ToolsChanged,
    VoiceState,
)
from voice.faulty import FaultyHost
from voice.hosts.catalog import Ask, Awaited, MakeHost, Prompted
from voice.ports import Host
from voice.scenes import script
from voice.scenes.agent import SceneAgent
from voice.scenes.air import noise
from voice.scenes.clock import in_virtual_time, virtual_loop
from voice.scenes.expecting import Ending, Happened, judged
from voice.scenes.outside import Outside
from voice.scenes.played import Played
from voice.scenes.recorded import RecordedAgent, Recording, read_recorded
from voice.scenes.recorder import RecordedChat, Recorder
from voice.scenes.repeating import Repeating
from voice.scenes.script import EventPattern, Happening, Part, Scene
from voice.scenes.stage import Stage
from voice.tasks import lone_errors

QUIET_S = 3.0
"""A scene that does not say when it ends has ended when nothing has happened for so long …"""

LONGEST_S = 120.0
"""… or so long after its last happening, whatever goes on."""


Lead = Callable[["Play"], Awaitable[None]]
"""Leads a session instead of what a scene says that happens: by `Play.do` and what stands beside it."""


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
    lead: Lead | None = None,
) -> Played:
    """Play a scene in virtual time, in this thread, which must have no event loop.

    With ``make_host`` the agent is that one, run in the loop of the scene, and not the scene's own. While it
    is at work by real means (threads; sockets and pipes, unless it waits for us) the clock stands.
    ``outside`` has what was loaded for other scenes. With ``whisper`` that understands what is said, whatever
    the scene says. ``record`` is a new folder for a recording of it: that can be played without the agent.
    ``lead`` is called in the loop of the scene when what it says has happened; when it returns, all ends.

    Raises `VoiceError` where a recording, a model, the engine or that folder cannot be used.
    """
    if whisper:
        scene = scene.model_copy(update={"words": "whisper"})
    recordings, recording = _recordings(scene), read_recorded(scene)
    with ExitStack() as stack:
        parts = outside or stack.enter_context(Outside())
        parts.end_engines()
        if scene.words == "whisper":
            parts.load(scene.settings.transcription)
        with lone_errors():
            return in_virtual_time(
                lambda: Play(
                    scene, recordings, recording, make_host, parts, record, led=lead is not None
                ).run(lead)
            )


def _recordings(scene: Scene) -> dict[int, Samples]:
    """The recordings of a scene, by the number of the happening."""
    return {
        number: _recording(scene, happening.say)
        for number, happening in enumerate(scene.happens)
        if happening.say is not None
    }


def _recording(scene: Scene, name: Path) -> Samples:
    try:
        return read_recording(scene.path(name))
    except RecordingError as error:
        raise SceneError(f"{scene.file}: {error.sentence}", mend=error.mend) from error


class Play:
    """One run of a scene, and what may be done with it while it runs."""

    def __init__(
        self,
        scene: Scene,
        recordings: dict[int, Samples],
        recording: Recording | None,
        make_host: MakeHost | None,
        outside: Outside,
        record: Path | None,
        *,
        led: bool,
    ) -> None:
        self._scene = scene
        self._may_fail = led or any(
            one.fault is not None and one.fault.part is Part.HOST for one in scene.happens
        )
        """Whether the agent may have to fail."""
        self._mended_s = 0.0
        """When the last of the faults is over that do not last."""
        self._recording = recording
        self._recordings = recordings
        self._happened: list[Happened] = []
        self._changed = anyio.Event()
        self._complaints: list[str] = []
        self._stage = Stage(scene, recording, outside, self._take)
        self._draft = ""
        self._led = 0
        """How many things were done that the scene does not say …"""
        self._since = 0
        """… and how many events were before the last of them."""
        self._narrations = self._asked = 0
        """How many are open: then an agent waits for us, and not for the outside."""
        self._agent: SceneAgent | None = None
        self._recorded_agent: RecordedAgent | None = None
        self._make_host = make_host
        self._host: Host | None = None
        self._faulty_host: FaultyHost | None = None
        self._recorder: Recorder | None = None
        make: MakeHost = self._made_host
        if record is not None:
            self._recorder = Recorder(record, scene.settings, scene.names, self._complaints.append)
            self._recorder.overhear_devices(self._stage.microphone, self._stage.speaker)
            self._stage.overhear = self._recorder.overhear
            make = self._recorder.host(make)
        self._chat = (Chat if record is None else RecordedChat)(
            make,
            self._stage.open,
            scene.settings,
            self._take,
            presenter=self._stage.screen if scene.screen else None,
            names=scene.names,
            journal=self._stage.journal,
        )
        if isinstance(self._chat, RecordedChat) and self._recorder is not None:
            self._chat.recorder = self._recorder

    async def run(self, lead: Lead | None = None) -> Played:
        """Play it to its end."""
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
            if self._recording is not None and self._recorded_agent is not None:
                repeating = Repeating(self._chat, self._stage, self._recorded_agent, self._ask, tasks)
                await repeating.run(self._recording)
            await self._let_happen()
            if lead is not None:
                await lead(self)
            waiting, events = tuple(one.text for one in self._chat.waiting), len(self._happened)
            self._chat.quit()
            await self._over()
            tasks.cancel_scope.cancel()
        if self._recorder is not None:
            self._recorder.close()
        kept = self._stage.kept
        if self._agent is not None and (left := self._agent.turns_left):
            turns = "turn of the agent was" if left == 1 else "turns of the agent were"
            self._complaints.append(f"{left} {turns} never begun.")
        ending = Ending(waiting, kept, events)
        happened = tuple(self._happened)
        verdicts = judged(self._scene.expect, happened, ending)
        return Played(self._scene, happened, ending, verdicts, tuple(self._complaints))

    # --- Leading it ----------------------------------------------------------------------------------------

    @property
    def so_far(self) -> Played:
        """What came of it by now."""
        waiting = tuple(one.text for one in self._chat.waiting)
        ending = Ending(waiting, self._stage.kept)
        return Played(self._scene, tuple(self._happened), ending, (), tuple(self._complaints))

    async def do(self, happening: Happening, samples: Samples | None = None) -> None:
        """Have something happen now, or when it says, and wait until it is over.

        ``samples`` are what is said, where that is no file.
        """
        number = len(self._scene.happens) + self._led
        self._led += 1
        if samples is not None:
            self._recordings[number] = samples
        elif happening.say is not None:
            self._recordings[number] = _recording(self._scene, happening.say)
        over_s, self._since = await self._happen(number, happening, anyio.current_time(), self._since)
        await anyio.sleep_until(over_s)

    async def came(self, pattern: EventPattern, within_s: float) -> bool:
        """Wait for an event, if it has not come since what was done last began; returns whether it came."""
        return await self._came(pattern, self._since, within_s)

    async def settle(self) -> bool:
        """Wait until nothing goes on any more, or nothing but that an answer is waited for.

        For no longer than `LONGEST_S`; returns whether the agent is not at work then.
        """
        await self._settle(anyio.current_time(), asked=True)
        return not self._at_work(asked=True)

    # --- Making it -----------------------------------------------------------------------------------------

    def _made_host(self, tools: AdjustableToolset, ask: Ask, emit: Emit) -> Host:
        async def asked(questionnaire: Questionnaire) -> Outcome:
            self._asked += 1
            try:
                return await ask(questionnaire)
            finally:
                self._asked -= 1

        def make(told: Emit) -> Host:
            self._ask = asked
            if self._make_host is not None:
                return self._make_host(tools, asked, told)
            if self._recording is not None and self._scene.recorded is not None:
                self._recorded_agent = RecordedAgent(self._scene.recorded.first_messages, told)
                return self._recorded_agent
            self._agent = SceneAgent(
                self._scene.agent, tools=tools, ask=asked, emit=told, complain=self._complaints.append
            )
            return self._agent

        if not self._may_fail:
            self._host = make(emit)
            return self._host
        self._faulty_host = FaultyHost(make, emit)
        self._host = self._faulty_host
        if isinstance(self._faulty_host.inner, Prompted | Awaited):
            self._host, self._faulty_host = self._faulty_host.inner, None
        return self._host

    def _agent_is_awaited(self) -> bool:
        """Whether the agent is at work, and not on something that it waits for us with."""
        if not self._scene.awaits_agent or self._host is None or not self._host.busy:
            return False
        return not (self._narrations or self._asked or self._stage.screen.open)

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

    # --- What happens --------------------------------------------------------------------------------------

    async def _let_happen(self) -> None:
        over_s, since = 0.0, 0
        for number, happening in enumerate(self._scene.happens):
            over_s, since = await self._happen(number, happening, over_s, since)
        await anyio.sleep_until(over_s)
        if self._scene.ends_after is not None:
            await anyio.sleep(self._scene.ends_after)
        else:
            await anyio.sleep_until(self._mended_s)
            await self._settle(max(over_s, self._mended_s))

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
                self._stage.hush()
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
                if wrong := self._stage.screen.answer(happening.answer or ""):
                    self._complain(number, wrong)
            case "fault" if happening.fault is not None:
                self._strike(happening.fault)
        return 0.0

    def _sound(self, samples: Samples, happening: Happening) -> float:
        return self._stage.sound(samples, gain_db=happening.gain_db, text=happening.text, sure=happening.sure)

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
        if fault.part is Part.HOST and self._faulty_host is None:
            raise SceneError(
                "This agent cannot be made to fail.", mend="let it fail by itself, or use a scene without it"
            )
        mend = self._stage.strike(fault.part, fault.kind, self._faulty_host)

        async def later(seconds: float) -> None:
            await anyio.sleep(seconds)
            mend()

        if fault.seconds is not None:
            self._mended_s = max(self._mended_s, anyio.current_time() + fault.seconds)
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

    async def _settle(self, over_s: float, *, asked: bool = False) -> None:
        """Wait until nothing has happened for a while, and nothing goes on.

        With ``asked`` an agent that waits for an answer is not at work.
        """
        with anyio.move_on_after(LONGEST_S):
            while True:
                last_s = max(over_s, self._happened[-1].clock_s if self._happened else 0.0)
                await anyio.sleep_until(last_s + QUIET_S)
                if self._stage.playing or self._at_work(asked=asked):
                    await self._changed.wait()
                elif not self._happened or self._happened[-1].clock_s <= last_s:
                    return

    def _at_work(self, *, asked: bool) -> bool:
        if asked and (self._asked or self._stage.screen.open):
            return False
        return self._host is not None and self._host.busy

    async def _over(self) -> None:
        """Wait until the conversation has ended."""
        while self._chat.voice_state not in (VoiceState.INACTIVE, VoiceState.FAILED):
            await self._changed.wait()
        await anyio.sleep(1.0)

    def _complain(self, number: int, what: str) -> None:
        self._complaints.append(f"Happening {number + 1}: {what}.")
