"""Every part fails in every way at every moment, in virtual time: nothing is lost, and nothing is doubled.

Each cell brings a real conversation (`Chat`, `AutonomousVoice`, `Ears`, `Hearing`, `Session`, the tools) with
doubles at the ports into a state; a fault strikes, is borne for a while, and is over. A person speaks, types
and speaks again; an agent answers aloud. Sounds carry their words in their loudness, so that the transcriber
"understands" exactly what was heard.

What happened stands in words in `matrix.md`, which is held by the last test. To write it anew:
REWRITE_MATRIX=1 pytest tests/voice/faults/test_matrix.py
"""

import functools
import itertools
import os
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import numpy as np
import pytest

from voice.audio import FRAME_S, FRAME_SAMPLES
from voice.autonomous import Parts
from voice.chat import Chat
from voice.ears import Ears
from voice.events import (
    AgentEnded,
    Discarded,
    HostLost,
    MessageSent,
    NarrationEnded,
    Notice,
    Status,
    StatusChanged,
    VoiceState,
)
from voice.faulty import (
    Fault,
    FaultyEngine,
    FaultyHost,
    FaultyJournal,
    FaultyMicrophone,
    FaultySpeaker,
    FaultyTranscriber,
)
from voice.listening.endpointing import Endpointer, EndRule, StartRule
from voice.listening.patience import Patience
from voice.listening.pieces import PieceRule
from voice.listening.utterances import Ear
from voice.loop import Hearing
from voice.ports import KEPT_REASONS, Transcript
from voice.scenes.clock import in_virtual_time
from voice.settings import Settings
from voice.speaking.narrator import Narrator
from voice.testing import LevelDetector, Misuse, ScriptedEngine, ScriptedHost, ScriptedJournal

TABLE = Path(__file__).parent / "matrix.md"
PARTS = ("transcriber", "engine", "microphone", "speaker", "host", "disk", "terminal")
STATES = {
    "idle": Status.VOICE_OFF,
    "listening": Status.LISTENING,
    "hearing": Status.HEARING,
    "transcribing": Status.TRANSCRIBING,
    "narrating": Status.NARRATING,
    "agent working": Status.WORKING,
}
CELLS = list(itertools.product(PARTS, STATES, Fault))
ALL = ["ask_user_question", "user_select", "narrate"]
QUESTION = "I have looked at all of the tests. Shall I merge it now, or do you want to see them?"
WORDS = ("Reply one begins", "and ends.", "Reply two begins", "and ends well.")
FIRST, SECOND = " ".join(WORDS[:2]), " ".join(WORDS[2:])
QUIETEST, STEP = 4_000, 500
HALF_S = 1.0
"""How long one half of a reply is spoken."""
TYPED_AFTER_S, BORNE_S = 5.0, 9.0
"""When something is typed after the fault has struck, or when nobody speaks any more; and when it is over,
but not within 2 s of that."""
ON = (VoiceState.STARTING, VoiceState.ACTIVE)
CAN_BE_SPOKEN_TO = (Status.LISTENING, Status.WORKING, Status.QUIET)


HEAD = """# What happens when a part fails

Made by `test_matrix.py` beside it, which brings a conversation into each state and has each part fail in each
way for 9 s of virtual time or more; what is told is what a person sees. In that time somebody says a reply
(where they have not begun or finished it before) and types a line, and the agent answers aloud; afterwards
the next reply and the next line are delivered in every cell, once, and everything is closed once.

* **killed**: it has ended and cannot be had again; **hangs**: neither answer nor error; **errors**: an answer
  that is an error (a device once, the others each time); **slow**: it does what it should, late.
* **our voice**: how the narrations ended, from the fault to the end of the conversation.
* **tools**: whether the tools that ask on a screen are withheld, or there, from the fault to the next reply.
* Where the terminal is killed (it hangs up) or errs (the screen breaks) the conversation ends; the typed line
  and the next reply go to the next one.
"""
COLUMNS = ("when", "fault", "the reply", "what is typed", "our voice", "tools", "told")


# --- What is outside --------------------------------------------------------------------------------------


class Contexts:
    """What is open, and in which order it was closed."""

    def __init__(self):
        self.open = []
        self.closed = []

    @contextmanager
    def of(self, name):
        assert name not in self.open, f"{name} was opened twice"
        self.open.append(name)
        try:
            yield
        finally:
            self.open.remove(name)
            self.closed.append(name)


class Room:
    """A microphone in a room where somebody speaks, or not; it gives sound at the pace of the clock."""

    name = "the microphone"
    live = True

    def __init__(self, contexts):
        self.loudness = 0
        self._contexts = contexts

    @asynccontextmanager
    async def open(self):
        with self._contexts.of("microphone"):
            async with aclosing(self._frames()) as frames:
                yield frames

    async def _frames(self):
        while True:
            await anyio.sleep(FRAME_S)
            yield np.tile(np.array([self.loudness, -self.loudness], np.int16), FRAME_SAMPLES // 2)


@dataclass
class Text:
    """A pending transcript that is there at some moment."""

    transcript: Transcript
    ready_s: float

    @property
    def done(self):
        return anyio.current_time() >= self.ready_s

    async def result(self):
        await anyio.sleep_until(self.ready_s)
        return self.transcript

    def cancel(self):
        pass


class Listener:
    """A transcriber that takes its time and understands loudness."""

    def __init__(self, takes_s):
        self._takes_s = takes_s

    def submit(self, samples, *, vocabulary=()):
        levels = np.abs(samples[:: FRAME_SAMPLES // 2])
        spoken = [level for level, _ in itertools.groupby(levels.tolist()) if level >= QUIETEST]
        text = " ".join(WORDS[(level - QUIETEST) // STEP] for level in spoken)
        return Text(Transcript(text), anyio.current_time() + self._takes_s)


class Loudspeaker:
    """A speaker that plays for as long as a sound is."""

    name = "the speaker"

    def __init__(self):
        self.playing = False
        self.played_s = 0.0

    async def play(self, sound):
        if self.playing:
            raise Misuse("two sounds at once")
        self.playing, began_s = True, anyio.current_time()
        try:
            await anyio.sleep(sound.duration_s)
        finally:
            self.playing = False
            self.played_s = min(anyio.current_time() - began_s, sound.duration_s)


class Agent(ScriptedHost):
    def __init__(self, emit, contexts):
        super().__init__(emit)
        self._contexts = contexts

    @asynccontextmanager
    async def open(self):
        with self._contexts.of("host"):
            async with super().open():
                yield


class Screen:
    """A terminal, as the conversation sees it: it shows, it brings lines, and it ends.

    A screen that is gone has the conversation end (`Chat.quit`); one that breaks has it cancelled.
    """

    def __init__(self, stage):
        self._stage = stage
        self.fault = None
        self.met = 0
        self._waiting = []

    def strike(self, fault):
        self.fault = fault
        if fault in (Fault.KILLED, Fault.ERRORS):
            self.met += 1
            self._stage.chat.quit() if fault is Fault.KILLED else self._stage.running.cancel()

    def mend(self):
        self.fault = None
        waiting, self._waiting = self._waiting, []
        for line in waiting:
            self._stage.chat.draft(line)
            self._stage.chat.send(line)

    async def type(self, line):
        """Type a line and send it; where nobody is there to take it, keep it."""
        self.met += self.fault is not None
        if self.fault is Fault.HANGS:
            self._waiting.append(line)
            return
        if self.fault is Fault.SLOW:
            for end in range(len(line)):
                self._stage.chat.draft(line[: end + 1])
                await anyio.sleep(0.2)
        self._stage.chat.draft(line)
        assert self._stage.chat.send(line)


# --- The stage --------------------------------------------------------------------------------------------


@dataclass
class Told:
    """An event, and when it came."""

    at_s: float
    event: object


@dataclass
class Story:
    """What became of a cell."""

    reply: str
    typed: str
    our_voice: str
    tools: str
    told: list[str]
    met: bool


class Stage:
    """One conversation, its person and its agent."""

    def __init__(self, part, state, fault):
        self.part, self.state, self.kind = part, state, fault
        self.contexts = Contexts()
        self.room = Room(self.contexts)
        self.loudspeaker = Loudspeaker()
        self.listener = FaultyTranscriber(Listener(2.5 if state == "transcribing" else 0.5))
        self.engine = FaultyEngine(ScriptedEngine(seconds_per_character=0.03))
        self.microphone = FaultyMicrophone(self.room)
        self.speaker = FaultySpeaker(self.loudspeaker)
        self.kept = ScriptedJournal()
        self.journal = FaultyJournal(self.kept, lambda sentence: self.take(Notice(sentence)))
        self.screen = Screen(self)
        self.settings = Settings()
        self.told = []
        self.agents = []
        self.withheld = []
        self.running = None
        self.struck_s = self.mended_s = self.spoken_s = None
        self.spoken = self.replied = False
        self.silent_s = 0.0
        self.start_anew()

    def start_anew(self):
        self.host = None
        self.chat = Chat(self.make_host, self.open_parts, self.settings, self.take, journal=self.journal)

    def make_host(self, tools, ask, emit):
        def make(inner_emit):
            self.agents.append(Agent(inner_emit, self.contexts))
            return self.agents[-1]

        self.host = FaultyHost(make, emit)
        return self.host

    @asynccontextmanager
    async def open_parts(self):
        with self.contexts.of("parts"):
            rules = self.settings.hearing
            start = StartRule(rules.start_threshold, rules.start_speech_s, rules.start_within_s)
            end = EndRule(rules.end_threshold, rules.end_silence_s, rules.longest_s, rules.warn_s)
            ear = Ear(LevelDetector(), Endpointer(start, end), PieceRule(early_s=0.2))
            ears = Ears(Hearing(ear, self.listener, patience=Patience(), partials=True, journal=self.journal))
            ears.plays_nothing()
            narrator = Narrator(self.engine, self.speaker, earcons=())
            yield Parts(self.microphone, ears, narrator, self.speaker.name)
            assert "microphone" not in self.contexts.open, "it outlives the parts that it is one of"

    def take(self, event):
        self.told.append(Told(anyio.current_time(), event))

    def of(self, *kinds):
        return [told.event for told in self.told if isinstance(told.event, kinds)]

    @property
    def faulty(self):
        return {
            "transcriber": self.listener,
            "engine": self.engine,
            "microphone": self.microphone,
            "speaker": self.speaker,
            "host": self.host,
            "disk": self.journal,
            "terminal": self.screen,
        }[self.part]

    @property
    def ends(self):
        """Whether the fault is the end of the conversation."""
        return self.part == "terminal" and self.kind in (Fault.KILLED, Fault.ERRORS)

    # --- The agent ---

    @property
    def agent(self):
        return self.agents[-1]

    async def works(self):
        """Be the agent: answer each message aloud, or in writing; a program that dies does no more."""
        answered = 0
        while True:
            await anyio.sleep(0.1)
            if len(self.agent.sent) > answered and self.agent.busy:
                answered = len(self.agent.sent)
                await self.says_while_it_lives(f"Noted, number {answered}.")

    async def says_while_it_lives(self, text):
        agent = self.agent
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.cancel_at_death, tasks.cancel_scope)
            result = await self.chat.tools.call("narrate", {"text": text})
            if result.is_error and agent.open_now:
                agent.write(text)
            tasks.cancel_scope.cancel()
        agent.end()

    async def cancel_at_death(self, scope):
        while self.host.busy:  # noqa: ASYNC110
            await anyio.sleep(0.1)
        scope.cancel()

    # --- The person ---

    async def says(self, reply):
        """Say a reply of two halves."""
        if reply == 0:
            self.spoken, self.spoken_s = True, anyio.current_time()
        for half in (2 * reply, 2 * reply + 1):
            self.room.loudness = QUIETEST + STEP * half
            await anyio.sleep(HALF_S)
        self.room.loudness = 0
        self.silent_s = anyio.current_time()

    def has_finished(self):
        """Whether whoever has said something has been silent for a while: nobody types while they speak."""
        silent = not self.room.loudness and anyio.current_time() > self.silent_s + 3
        return silent and self.chat.status is not Status.HEARING

    async def until(self, fact, limit_s, what=None):
        """Wait for a fact in virtual time; returns whether it came, and complains where ``what`` names it."""
        with anyio.move_on_after(limit_s):
            while not fact():  # noqa: ASYNC110
                await anyio.sleep(FRAME_S)
        assert fact() or what is None, f"{what} did not come; it is {self.chat.status}"
        return fact()

    # --- What holds at every moment ---

    async def watches(self):
        """The tools that ask are withheld exactly while Voice is on and there is an agent."""
        while True:
            await anyio.sleep(0.25)
            if self.ending:
                return
            there = self.agent.open_now and not self.host.dead
            withheld = self.chat.voice_state in ON and there
            listed = [tool.name for tool in self.chat.tools.tools()]
            assert listed == (["narrate"] if withheld else ALL), f"{listed} while {self.chat.voice_state}"
            self.withheld.append((anyio.current_time(), withheld, there))

    # --- The cell ---

    async def play(self):
        async with anyio.create_task_group() as tasks:
            await self.starts(tasks, voice=self.state != "idle")
            await getattr(self, self.state.replace(" ", "_"))(tasks)
            await self.until(lambda: self.chat.status is STATES[self.state], 10, f"to be {self.state}")
            if self.state in ("hearing", "narrating"):
                await anyio.sleep(0.5)
            assert self.chat.status is STATES[self.state]
            self.struck_s = anyio.current_time()
            self.ending = self.ends
            self.faulty.strike(self.kind)
            if self.part == "host" and self.kind is Fault.ERRORS:
                self.agent.end("The model is overloaded.")
            tasks.start_soon(self.speaks_in_the_fault)
            await anyio.sleep(TYPED_AFTER_S)
            if self.ends:
                await self.has_ended(in_order=self.kind is Fault.KILLED)
                self.start_anew()
                await self.starts(tasks, voice=True)
            await self.until(self.has_finished, 8)
            await self.screen.type("typed in the fault")
            await anyio.sleep(max(2, BORNE_S - (anyio.current_time() - self.struck_s)))
            self.mended_s = anyio.current_time()
            self.faulty.mend()
            await anyio.sleep(1)
            await self.until(lambda: self.replied and self.has_finished() and not self.host.busy, 20, "rest")
            await self.goes_on()
            self.ending = True
            self.chat.quit()
            await self.has_ended(in_order=True)
            tasks.cancel_scope.cancel()
        return self.story()

    async def has_ended(self, *, in_order):
        await self.until(lambda: not self.on, 10, "the end")
        assert not self.contexts.open
        assert [tool.name for tool in self.chat.tools.tools()] == ALL
        if in_order:
            assert self.contexts.closed[-1] == "host", "the agent was ended before Voice"

    async def starts(self, tasks, *, voice):
        self.running = anyio.CancelScope()
        self.on, self.ending = True, False

        async def carry(*, task_status):
            async with anyio.create_task_group() as beside:
                beside.start_soon(self.works)
                beside.start_soon(self.watches)
                with self.running:
                    await self.chat.run(voice=voice, task_status=task_status)
                beside.cancel_scope.cancel()
            self.on = False

        await tasks.start(carry)
        if voice:
            await self.chat.until_voice(on=True)
        await anyio.sleep(1)

    async def idle(self, tasks):
        pass

    async def listening(self, tasks):
        pass

    async def hearing(self, tasks):
        tasks.start_soon(self.says, 0)

    async def transcribing(self, tasks):
        await self.says(0)

    async def narrating(self, tasks):
        self.agent.begin()
        tasks.start_soon(self.says_while_it_lives, QUESTION)

    async def agent_working(self, tasks):
        self.agent.begin()
        tasks.start_soon(self.tells_of_its_work, self.agent)

    async def tells_of_its_work(self, agent):
        """Say how far it is while the fault lasts, and end the turn before it is over."""
        await self.until(lambda: self.struck_s is not None, 20)
        await anyio.sleep(3)
        if self.host.busy and self.host.fault is not Fault.HANGS:
            await self.chat.tools.call("narrate", {"text": "The tests are next."})
        await anyio.sleep(max(0, self.struck_s + 7 - anyio.current_time()))
        agent.end()

    async def speaks_in_the_fault(self):
        """Say the first reply, where it is not said yet, as soon as there is somebody to speak to."""
        await anyio.sleep(0.5)
        if not self.spoken:
            if self.state == "idle":
                self.chat.toggle_voice()
            while not self.spoken and await self.until(self.listens, BORNE_S + 3):
                await anyio.sleep(0.5)  # before they see it, and begin
                if self.listens():
                    await self.says(0)
        self.replied = True

    def listens(self):
        return self.chat.voice_state is VoiceState.ACTIVE and self.chat.status in CAN_BE_SPOKEN_TO

    async def goes_on(self):
        """After the fault: the next reply arrives, and what is typed."""
        if self.chat.voice_state not in ON:
            self.chat.toggle_voice()
        await self.until(lambda: self.chat.status is Status.LISTENING, 10, "to be listening again")
        await anyio.sleep(0.5)
        await self.says(1)
        await self.until(lambda: SECOND in self.sent(), 10, "the next reply")
        await self.until(lambda: not self.agent.busy, 10, "the end of the agent's turn")
        await self.screen.type("typed afterwards")
        await self.until(lambda: "typed afterwards" in self.sent(), 10, "what is typed afterwards")
        await self.until(lambda: not self.agent.busy, 10, "the end of the agent's turn")

    def sent(self):
        return " | ".join(text for agent in self.agents for text, _ in agent.sent)

    # --- What became of it ---

    def story(self):
        """What happened, in words; what must not happen is an error."""
        sent = self.sent()
        told_sent = [told for told in self.told if isinstance(told.event, MessageSent)]
        assert " | ".join(told.event.text for told in told_sent) == sent
        for text in (SECOND, "typed in the fault", "typed afterwards"):
            assert sent.count(text) == 1, f"{text!r} was sent {sent.count(text)} times: {sent}"
        for begins, ends in (WORDS[:2], WORDS[2:]):
            assert sent.count(begins) == sent.count(f"{begins} {ends}") == sent.count(ends), f"half: {sent}"
        typed_sent_s = next(told.at_s for told in told_sent if told.event.text == "typed in the fault")
        if self.part not in ("host", "terminal") and self.state != "agent working":
            assert typed_sent_s < self.mended_s, "what was typed waited for a part that it does not need"
        return Story(
            self.fate_of_the_reply(sent, told_sent),
            self.when(typed_sent_s),
            self.our_voice(),
            self.tools_in_the_fault(),
            self.sentences(),
            met=self.faulty.met > 0,
        )

    def when(self, at_s):
        return "delivered" if at_s < self.mended_s else "delivered when it is over"

    def fate_of_the_reply(self, sent, told_sent):
        assert sent.count(FIRST) <= 1, f"the reply was doubled: {sent}"
        fates = [self.when(told.at_s) for told in told_sent if FIRST in told.event.text]
        kept = dict(self.kept.entries)
        for dropped in self.of(Discarded):
            words = f"“{dropped.text}”" if dropped.text else "its words are not known"
            fates.append(f"not sent, and shown as {dropped.reason}: {words}")
            for utterance in dropped.utterances:
                entry = kept.pop(utterance, None)
                assert (dropped.reason in KEPT_REASONS) is (entry is not None), f"in the journal: {entry}"
                if entry is not None:
                    assert entry.seconds > HALF_S / 2, "its sound is lost"
                    fates[-1] += "; its sound is in the journal"
        if self.ends and self.kind is Fault.ERRORS:  # as if it had crashed
            fates += ["not told; its sound is in the journal" for entry in kept.values() if not entry.typed]
            kept = {name: entry for name, entry in kept.items() if entry.typed}
        assert not kept, f"in the journal is what is delivered: {[entry.text for entry in kept.values()]}"
        lost = [told.at_s for told in self.told if told.event == StatusChanged(Status.MICROPHONE_LOST)]
        if not fates and not self.spoken:
            fates.append("not said: nobody listens")
        assert fates or not self.spoken or (lost and lost[-1] > self.spoken_s), "the reply is lost"
        if not fates and lost and lost[-1] > self.spoken_s:
            fates.append("unheard, and the loss of the microphone is told")
        assert len(fates) == 1 or not any("delivered" in fate for fate in fates), f"the reply: {fates}"
        return "; ".join(fates)

    def after_strike(self, kind):
        return [
            told.event for told in self.told if isinstance(told.event, kind) and told.at_s >= self.struck_s
        ]

    def our_voice(self):
        return ", ".join(
            dict.fromkeys(
                f"{ended.ending}{f' ({ended.notice})' if ended.notice else ''}"
                for ended in self.after_strike(NarrationEnded)
            )
        )

    def tools_in_the_fault(self):
        """When the tools that ask were there, from the strike to the next reply."""
        words = {
            (True, True): "withheld",
            (False, True): "there: Voice is off",
            (False, False): "there: no agent",
        }
        named = [words[tuple(these)] for at_s, *these in self.withheld if at_s > self.struck_s]
        return ", then ".join(name for name, _ in itertools.groupby(named))

    def sentences(self):
        told = []
        for event in self.after_strike(Notice | HostLost | AgentEnded):
            sentence = event.error if isinstance(event, AgentEnded) else event.sentence
            if sentence and sentence not in told:
                told.append(sentence)
        return told


@functools.cache
def story_of(part, state, fault):
    return in_virtual_time(Stage(part, state, fault).play)


@pytest.mark.parametrize(("part", "state", "fault"), CELLS)
def test_nothing_is_lost_or_doubled(part, state, fault):
    story_of(part, state, fault)


def test_every_fault_is_met():
    """A cell in which nobody meets the fault would mean nothing; there is none."""
    assert [cell for cell in CELLS if not story_of(*cell).met] == []


def test_the_table_says_what_happens():
    table = as_table()
    if "REWRITE_MATRIX" in os.environ:
        TABLE.write_text(table, encoding="utf-8")
    assert table == TABLE.read_text(encoding="utf-8")


def as_table():
    lines = [HEAD]
    for part in PARTS:
        lines += [f"## The {part}", "", f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
        for state, fault in itertools.product(STATES, Fault):
            story = story_of(part, state, fault)
            told = "<br>".join(story.told) or "nothing"
            cells = (state, fault, story.reply, story.typed, story.our_voice, story.tools, told)
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)
