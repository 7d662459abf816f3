"""A random walk through a conversation, in virtual time: whatever happens, the promises hold.

The parts are the real ones (`Chat`, `AutonomousVoice`, `Ears`, `Hearing`, the turn-taking) up to the ports,
which are doubles. Sounds carry what is said in their loudness, so that the transcriber "understands" exactly
what was heard of it, joined or cut as it was heard.

After each step: what became a message was said or typed by the person, and once only, and is nothing that was
broken off; nothing typed is ever dropped; a line goes to the request that was being asked when it was begun,
else to the agent, and what answers a request is what was typed for it; nobody is talked over; the tools are
withheld exactly while Voice is on and there is an agent; the status is what goes on; and half of what was
said in one breath is never sent while its rest is lost, or sent by itself.
At the end: whatever was said into an open microphone was delivered, waits, or was visibly dropped.

To run a failing walk again: WALK_SEED=<seed> pytest tests/voice/test_walk.py
"""

import itertools
import os
import random
import re
from collections import Counter
from dataclasses import dataclass

import anyio
import numpy as np
import pytest
import trio.testing

from questionnaire import Option, Question, Questionnaire
from questionnaire import Status as Ending
from voice.audio import FRAME_S, FRAME_SAMPLES
from voice.chat import Chat, _Replier
from voice.errors import DeviceChanged, DeviceLost, TranscriberDied
from voice.events import (
    Discarded,
    DiscardReason,
    MessageReopened,
    MessageSent,
    MessageTakenBack,
    NarrationEnded,
    NarrationStarted,
    SpeechStarted,
    Status,
    StatusChanged,
    UserMessage,
    VoiceState,
    VoiceStateChanged,
)
from voice.floor import Duplex
from voice.happenings import Asking, Typed
from voice.ports import Transcript
from voice.reopening import GOES_ON_S, KEPT_S
from voice.settings import Settings
from voice.testing import ScriptedHost, ScriptedMicrophone, ScriptedParts

STEPS = 420
WALKS = [
    *itertools.product(range(3), [Duplex.HALF, Duplex.HEADPHONES]),
    (118, Duplex.HEADPHONES),  # an echo in the first frame of a narration was a message
    (311, Duplex.HEADPHONES),  # what was typed over while we spoke was heard after it
    (315, Duplex.CANCELLED),  # the same
]
if "WALK_SEED" in os.environ:
    WALKS = list(itertools.product([int(os.environ["WALK_SEED"])], Duplex))

NOT_OURS = set(DiscardReason) - {DiscardReason.ECHO}
ALL = ["ask_user_question", "user_select", "narrate"]
CHOOSE = Questionnaire((Question("Merge how?", (Option("Squash"), Option("Rebase"))),))
ALLOW = Questionnaire((Question("May I push?", (Option("Allow once"), Option("Deny"))),), risky=True)
DIGITS = ("1", "2")
PICK = {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}]}
COMMANDS = (
    "Scratch that.", "Stop talking.", "Go on.", "Repeat that.", "Louder.", "Faster.", "Read that back.",
    "Stop listening.", "Wake up.", "Stop voice.", "Mm-hm.",
)  # fmt: skip
STORIES = (
    "The first of the tests is green. Shall I look at the second?",
    "I have renamed three modules. Everything compiles.",
    "Which database do you want?",
)
WORDS = "|".join([r"(Reply \d+\.", *map(re.escape, COMMANDS)]) + ")"
"""What the person says: a control in a longer reply is part of the reply."""
NOISE, ECHO, FIRST_COMMAND, FIRST_REPLY, STEP = 1_500, 1_700, 2_000, 5_000, 60


def sound(seconds, loudness):
    frame = np.tile(np.array([loudness, -loudness], np.int16), FRAME_SAMPLES // 2)
    return [frame] * round(seconds / FRAME_S)


class LoudnessTranscriber:
    """Understands a sound by its loudness: a reply, a control, our own voice, or nothing.

    While it ``fails`` it understands nothing, and takes down what that was.
    """

    def __init__(self):
        self.our_words = ""
        self.fails = False
        self.lost = set()

    def submit(self, samples, *, vocabulary=()):
        text = " ".join(filter(None, self._texts(samples)))
        if not self.fails:
            return Ready(Transcript(text))
        self.lost.update(re.findall(r"Reply \d+", text))
        return Ready(None)

    def _texts(self, samples):
        last = 0
        for loudness in np.abs(samples[:: FRAME_SAMPLES // 2]).tolist():
            if loudness != last and loudness > 1_000:
                yield self._text(loudness)
            last = loudness

    def _text(self, loudness):
        if loudness >= FIRST_REPLY:
            return f"Reply {(loudness - FIRST_REPLY) // STEP}."
        if loudness >= FIRST_COMMAND:
            return COMMANDS[(loudness - FIRST_COMMAND) // STEP]
        return self.our_words if loudness == ECHO else ""


@dataclass
class Ready:
    transcript: Transcript
    done = True

    async def result(self):
        if self.transcript is None:
            raise TranscriberDied("The transcriber has died.")
        return self.transcript

    def cancel(self):
        pass


class LiveMicrophone(ScriptedMicrophone):
    """What is said while it is closed is gone, as with any microphone."""

    def hear(self, frames):
        if self.open_now:
            self._put(*frames)

    async def drained(self):
        while self._frames and self.open_now:
            await anyio.lowlevel.checkpoint()
        self._frames.clear()


class Watching:
    """A person who never answers on the screen."""

    async def present(self, interview):
        ended = anyio.Event()
        with interview.watch(lambda _: interview.outcome and ended.set()):
            await ended.wait()


@dataclass(frozen=True)
class Half:
    """A message whose speaker seems to go on, and that must not be sent if they really do."""

    text: str
    sent: int
    """How many the agent had by then."""
    since_s: float


class Breaths:
    """What was said in one breath, by the sounds and their outcomes alone."""

    def __init__(self, chat, host, requests):
        self.chat, self.host, self.requests = chat, host, requests
        self.newest = ""
        """What was said last to the agent, and nothing else after it."""
        self.newest_at_s = 0.0
        self.open = {}
        """The turns of which nobody knows what was said, and what they may go on with."""
        self.broken = set()
        """Those of which the beginning is lost."""
        self.halves = []
        """What must not be sent any more."""
        self.whole = []
        """What was said after such a half, and belongs to it."""
        heard, take = chat._turns.heard, chat._turns.take

        def watched(events):
            events = list(events)
            self.note(events)
            return heard(events)

        def taken(happening):
            if isinstance(happening, Asking) or (isinstance(happening, Typed) and happening.text.strip()):
                self.newest = ""
            if happening in (VoiceStateChanged(VoiceState.INACTIVE), VoiceStateChanged(VoiceState.FAILED)):
                self.newest = ""
                self.open.clear()
                self.broken.clear()
            return take(happening)

        chat._turns.heard, chat._turns.take = watched, taken

    def note(self, events):
        in_words = {event.heard.start_s for event in events if isinstance(event, UserMessage)}
        for event in events:
            match event:
                case SpeechStarted(at_s):
                    self.open[at_s] = self.waiting_half(at_s)
                case UserMessage(text, _, at_s, heard):
                    half = self.open.pop(heard.start_s)
                    if self.chat._turns.asleep:
                        continue
                    if "Reply" in text and heard.start_s in self.broken:
                        self.is_lost(half)
                    elif "Reply" in text:
                        self.said(text, half, at_s, heard.start_s)
                    elif text != "Mm-hm.":
                        self.newest = ""
                        self.open = dict.fromkeys(self.open)
                case Discarded(reason, text, began_s=began_s) if began_s in self.open:
                    if began_s in in_words:
                        continue
                    half = self.open.pop(began_s)
                    if reason is DiscardReason.NOT_TRANSCRIBED:
                        self.broken.update(self.open)
                    if reason in LOSES or (reason is DiscardReason.TYPED_INSTEAD and text):
                        self.is_lost(half)

    def is_lost(self, half):
        if half is not None:
            self.must_not_be_sent(half)
            self.newest = ""
            self.open = dict.fromkeys(self.open)

    def said(self, text, half, at_s, began_s):
        if self.is_answer(began_s):
            return
        if half is not None and self.must_not_be_sent(half):
            self.whole.append((half.text, text))
            text = f"{half.text} {text}"
        self.newest, self.newest_at_s = text, at_s
        here = Half(text, len(self.host.sent), self.chat.now_s)
        self.open = {other: None if self.is_answer(other) else here for other in self.open}

    def is_answer(self, began_s):
        asked = self.chat._repliers
        return bool(asked) and began_s >= asked[-1].since_s

    def waiting_half(self, began_s):
        sending = self.chat._session._sending
        waits = any(message.text == self.newest for message in self.chat.waiting)
        if sending is not None or not waits or self.is_answer(began_s):
            return None
        soon = began_s <= self.newest_at_s + GOES_ON_S
        return Half(self.newest, len(self.host.sent), self.chat.now_s) if soon else None

    def must_not_be_sent(self, half):
        if half is None or self.chat.now_s - half.since_s >= KEPT_S - 0.1:  # that may be a television
            return False
        self.halves.append(half)
        return True

    def check(self):
        for half in self.halves:
            assert half.text not in [text for text, _ in self.host.sent[half.sent :]], f"half: {half.text!r}"


LOSES = (DiscardReason.CUT_OFF, DiscardReason.NOT_TRANSCRIBED, DiscardReason.TALKED_OVER)


@dataclass(frozen=True)
class RequestEnded:
    """Among the events: a request is not asked any more, and this row was chosen; none where it is None."""

    row: int | None


class Walk(ScriptedParts):
    def __init__(self, seed, duplex):
        super().__init__(duplex=duplex)
        self.random = random.Random(seed)
        self.microphone = LiveMicrophone()
        self.transcriber = LoudnessTranscriber()
        self.transcript_after_s = self.random.choice([0.3, 3.0])
        self.speaker.hold()
        self.events = []
        self.draft = ""
        self.said = 0
        self.audible = set()
        self.told_to_sleep = False
        """The replies of which all was said into a microphone that was open for them."""
        self.open_turn = set()
        """The replies in the turn that is open."""
        self.unsendable = set()
        """The replies that were said while the keyboard held the microphone, or broken off."""
        self.typed = 0
        self.calls = Counter()
        settings = Settings.model_validate(
            {
                "hearing": {"duplex": duplex},
                "conversation": {
                    "answer_within_s": 8,
                    "while_busy": self.random.choice(["follow_up", "steer", "interrupt"]),
                    "quiet_microphone": self.random.choice(["open", "closed"]),
                },
            }
        )

        def make_host(tools, ask, emit):
            self.host, self.ask = ScriptedHost(emit), ask
            return self.host

        self.insisting = None
        self.to_requests = []
        """What a request that insists was given, and how many events were before."""
        self.begun_before = set()
        """The requests that came while the line that stands there now had been begun."""
        self.for_agent = Counter()
        """The lines that were for the agent."""
        self.answers = []
        """What the request that is asked now may be answered with."""
        self.chat = Chat(make_host, self.open, settings, self.take, presenter=Watching())
        self.breaths = Breaths(self.chat, self.host, self.to_requests)

    def take(self, event):
        self.events.append(event)

    def replier(self, *arguments, **named):
        """Make what takes the replies to a request, and note what it takes."""
        walk = self

        class Watched(_Replier):
            def takes(self, message):
                if taken := super().takes(message):
                    walk.to_requests.append((message.text, len(walk.events)))
                return taken

        made = Watched(*arguments, **named)
        if self.draft:
            self.begun_before.add(made)
        return made

    # --- Steps ---

    async def speak(self):
        for _ in range(self.random.choice([0, 6])):  # some wait until we have finished
            await self.narration_goes_on()
            await anyio.wait_all_tasks_blocked()
        await self._reply(self.random.choice([0.2, 0.5, 1.5]), 2.5)

    async def begin_to_speak(self):
        await self._reply(0.4, 0.1)

    async def go_on(self):
        """Say something, and begin to go on when that is over, and perhaps not yet transcribed."""
        await self._reply(0.4, 1.8)
        if self.random.random() < 0.3:
            await self._hear(sound(0.2, NOISE) + sound(1.8, 0))
        await self._reply(0.4, self.random.choice([0.1, 0.1, 1.8]))

    async def transcriber_fails(self):
        self.transcriber.fails = not self.transcriber.fails

    async def control(self):
        asleep = self.chat.status is Status.ASLEEP and self.random.random() < 0.7
        number = COMMANDS.index("Wake up.") if asleep else self.random.randrange(len(COMMANDS))
        self.told_to_sleep = self.told_to_sleep or COMMANDS[number] == "Stop listening."
        await self._hear(sound(0.5, FIRST_COMMAND + STEP * number) + sound(2.5, 0))

    async def noise(self):
        seconds = self.random.choice([0.04, 0.5])
        await self._hear(sound(seconds, NOISE) + sound(2.5, 0))

    async def echo(self):
        parts = self.chat._voice._parts
        if parts is not None and parts.narrator.sentence:
            self.transcriber.our_words = " ".join(parts.narrator.sentence.split()[-1:])
            await self._hear(sound(0.4, ECHO) + sound(2.0, 0))

    async def silence(self):
        await self._hear(sound(self.random.choice([0.5, 3.0, 9.0]), 0))

    async def key(self):
        self.draft = "" if self.draft and self.random.random() < 0.7 else self.random.choice(["x", "xy"])
        if not self.draft:
            self.begun_before.clear()
        self.chat.draft(self.draft)

    async def send(self):
        self._type(f"typed {self.typed}")
        self.typed += 1

    async def send_digit(self):
        self._type(self.random.choice(DIGITS))

    def _type(self, line):
        self._break_off()
        asked = self.chat._repliers[-1] if self.chat._repliers else None
        if asked is None or asked in self.begun_before:
            self.for_agent[line] += 1
        elif line in DIGITS:
            self.answers.append(DIGITS.index(line))
        self.draft = ""
        self.begun_before.clear()
        assert self.chat.send(line)

    async def enter(self):
        self.begun_before.clear()
        self.draft = ""
        self.chat.send("")

    async def toggle(self):
        if self.random.random() < 0.15 or self.chat.voice_state is not VoiceState.ACTIVE:
            self._break_off()
            self.chat.toggle_voice()

    async def stop_key(self):
        self.chat.stop_narration()

    async def interrupt_key(self):
        self.chat.interrupt_agent()

    async def agent_begins(self):
        if self.host.open_now:
            self.host.begin()

    async def agent_ends(self):
        self.host.end(self.random.choice(["", "", "", "It has failed."]))

    async def agent_writes(self):
        if self.host.busy:
            self.host.write(self.random.choice(STORIES), parts=self.random.choice([1, 3]))

    async def agent_narrates(self):
        await self._call("narrate", {"text": self.random.choice(STORIES)})

    async def agent_asks(self):
        await self._call("user_select", PICK)

    async def agent_insists(self):
        """Ask for an answer in its structure, or give up asking."""

        async def insist():
            row = None
            with self.insisting:
                outcome = await self.ask(self.random.choice([CHOOSE, ALLOW]))
                if outcome.status is Ending.ANSWERED:
                    selected = outcome.responses[0].answer.selected
                    assert selected in [(row,) for row in self.answers], f"nobody answered {selected}"
                    (row,) = selected
            self.insisting = None
            self.events.append(RequestEnded(row))

        if self.insisting is not None:
            self.insisting.cancel()
        else:
            self.insisting, self.answers = anyio.CancelScope(), []
            self.tasks.start_soon(insist)

    async def narration_goes_on(self):
        if self.speaker.playing:
            self.speaker.finish()

    async def device_is_lost(self):
        if self.microphone.open_now:
            self._break_off()
            kind = self.random.choice([DeviceLost, DeviceChanged])
            self.microphone.fail(kind("The microphone is gone."))

    async def time_passes(self):
        await anyio.sleep(2.0)

    async def host_crashes(self):
        if self.host.open_now:
            self.host.die()

    WEIGHTS = {  # noqa: RUF012
        "speak": 14, "begin_to_speak": 6, "go_on": 8, "transcriber_fails": 1,
        "control": 8, "noise": 3, "echo": 6, "silence": 6, "key": 6,
        "send": 5, "send_digit": 4, "enter": 1, "toggle": 9, "stop_key": 2, "interrupt_key": 1,
        "agent_begins": 4,
        "agent_ends": 6, "agent_writes": 5, "agent_narrates": 6, "agent_asks": 3, "agent_insists": 3,
        "narration_goes_on": 32,
        "device_is_lost": 2, "time_passes": 6, "host_crashes": 1,
    }  # fmt: skip

    async def _reply(self, seconds, silence):
        number, self.said = self.said, self.said + 1
        heard = self._is_heard()
        if self.draft:
            self.unsendable.add(number)
        self.open_turn = {*(self.open_turn if self._speaks() else ()), number}
        await self._hear(sound(seconds, FIRST_REPLY + STEP * number) + sound(silence, 0))
        if heard and self._is_heard():
            self.audible.add(number)

    def _speaks(self):
        parts = self.chat._voice._parts
        return parts is not None and parts.ears.speaking

    def _break_off(self):
        """What is being said is not finished, and never will be."""
        if self._speaks():
            self.unsendable |= self.open_turn

    def _is_heard(self):
        """Whether a person who speaks now is heard, and meant to be."""
        parts = self.chat._voice._parts
        if parts is None or self.chat.voice_state is not VoiceState.ACTIVE:
            return False
        # What is said after "Stop listening." is not meant, also where that is still being transcribed.
        self.told_to_sleep = self.told_to_sleep and parts.ears.busy
        muffled = parts.ears.duplex is Duplex.HALF and self.speaker.playing  # two echoes make it so
        deaf = self.chat._turns.asleep or self.told_to_sleep or muffled or not self.microphone.open_now
        return not (self.draft or deaf)

    async def _hear(self, frames):
        self.microphone.hear(frames)
        await self.microphone.drained()

    async def _call(self, tool, arguments):
        async def call():
            self.calls[tool] += 1
            try:
                await self.chat.tools.call(tool, arguments)
            finally:
                self.calls[tool] -= 1

        if sum(self.calls.values()) < 4:
            self.tasks.start_soon(call)

    # --- Promises ---

    def of(self, *kinds):
        return [event for event in self.events if isinstance(event, kinds)]

    def check(self):
        state, status = self.chat.voice_state, self.chat.status
        messages = [event.text for event in self.of(UserMessage)]
        for text in messages:
            assert re.fullmatch(rf"[12]|typed \d+|{WORDS}( {WORDS})*", text), f"{text!r} was never said"
        reopened = Counter(event.text for event in self.of(MessageReopened))
        whole = " ".join((Counter(messages) - reopened).elements())
        delivered = Counter(re.findall(r"typed \d+|Reply \d+", whole))
        assert not [one for one, times in delivered.items() if times > 1], "a message was doubled"
        unsendable = {f"Reply {number}" for number in self.unsendable} & delivered.keys()
        assert not unsendable, f"{unsendable} should never have been sent"
        sent = [text for text, _ in self.host.sent]
        waiting = [message.text for message in self.chat.waiting]
        taken_back = [event.text for event in self.of(MessageTakenBack)]
        to_agent, told = Counter(sent + waiting + taken_back), Counter(messages)
        assert not to_agent - told, "the agent got what was never told"
        joined = [event.text for event in self.of(MessageReopened) if not event.sent]
        given = [text for text, _ in self.to_requests]
        assert not told - to_agent - Counter(given + joined), "what was told is nowhere"
        assert not self.for_agent - to_agent, "a line that was for the agent went elsewhere"
        assert [event.text for event in self.of(MessageSent)] == sent
        for number in range(self.typed):
            assert f"typed {number}" in sent + waiting + given, "what was typed is lost"
        replies_dropped = set(re.findall(r"Reply \d+", " ".join(self.dropped(*NOT_OURS))))
        assert not replies_dropped & set(re.findall(r"Reply \d+", " ".join(sent + waiting)))
        self.breaths.check()
        on = state in (VoiceState.STARTING, VoiceState.ACTIVE)
        there = self.host.open_now
        listed = [tool.name for tool in self.chat.tools.tools()]
        assert listed == (["narrate"] if on and there else ALL), (
            f"{listed} while {state}, agent there: {there}"
        )
        told = self.of(StatusChanged)
        assert status is (told[-1].status if told else Status.VOICE_OFF)
        assert status in self.possible(state), f"{status} while {state}"
        open_narrations = len(self.of(NarrationStarted)) - len(self.of(NarrationEnded))
        assert 0 <= open_narrations <= self.calls["narrate"] + 3
        if self._speaks() and state is VoiceState.ACTIVE and not self.chat._turns.asleep:
            assert not self.speaker.playing, "somebody is talked over"
        if state is VoiceState.INACTIVE:
            assert not self.speaker.playing
            assert not self.microphone.open_now

    def check_requests(self):
        """What went to a request answered it, was told to be no answer, or handed to the agent.

        What is no choice may also have been told so by the request itself: what was typed with its words.
        Of the digits each is one of these, and no other.
        """
        for text, at in self.to_requests:
            made_of_it = any(self._makes_something_of(text, event) for event in self.events[at:])
            assert made_of_it, f"{text!r} went to a request, which made nothing of it"
        given = Counter(text for text, _ in self.to_requests)
        sent = Counter(text for text, _ in self.host.sent) - self.for_agent
        told = Counter(self.dropped(DiscardReason.TOO_EARLY))
        rows = Counter(event.row for event in self.of(RequestEnded))
        for row, digit in enumerate(DIGITS):
            assert given[digit] == sent[digit] + told[digit] + rows[row], f"what became of each {digit!r}?"

    def _makes_something_of(self, text, event):
        match event:
            case Discarded() | MessageSent():
                return event.text == text
            case RequestEnded(row):
                return text in DIGITS and row == DIGITS.index(text)
            case NarrationStarted():
                return text not in DIGITS and (text in event.text or not text.startswith("typed"))
        return False

    def dropped(self, *reasons):
        return [event.text for event in self.of(Discarded) if not reasons or event.reason in reasons]

    def possible(self, state):
        if state is VoiceState.STARTING:
            return {Status.STARTING}
        if state is not VoiceState.ACTIVE:
            return {Status.WORKING if self.host.busy else Status.VOICE_OFF}
        if self.chat._voice._microphone_lost:
            return {Status.MICROPHONE_LOST}
        if self.draft:
            return {Status.HELD}
        if self.speaker.playing:
            return {Status.NARRATING}
        works = self.host.busy and not self.chat._repliers  # else it is the user's turn
        idle = {Status.WORKING} if works else {Status.LISTENING, Status.QUIET}
        return {Status.HEARING, Status.TRANSCRIBING, Status.ASLEEP, *idle}

    async def go(self, monkeypatch):
        names, weights = zip(*self.WEIGHTS.items(), strict=True)
        trail = []
        monkeypatch.setattr("voice.chat._Replier", self.replier)
        async with anyio.create_task_group() as self.tasks:
            await self.tasks.start(lambda *, task_status: self.chat.run(task_status=task_status))
            for _ in range(STEPS):
                step = self.random.choices(names, weights)[0]
                trail.append(step)
                try:
                    await getattr(self, step)()
                    await anyio.wait_all_tasks_blocked()
                    self.check()
                except BaseException as error:
                    error.add_note(f"after {len(trail)} steps, the last of them {', '.join(trail[-12:])}")
                    raise
            await self.come_to_an_end()
            self.chat.quit()

    async def come_to_an_end(self):
        """Let everybody finish, and find every reply that was heard."""
        self.draft = ""
        self.chat.draft("")
        if self.insisting is not None:
            self.insisting.cancel()
        self.speaker.release()
        self.transcriber.fails = False
        await anyio.sleep(6.0)  # one that is switched off has delivered what was said last
        await self._hear(sound(8.0, 0))
        self.chat.send(f"typed {self.typed}")  # starts an agent that is not there
        self.typed += 1
        for _ in range(len(self.chat.waiting) + 1):
            await anyio.wait_all_tasks_blocked()
            self.host.end()
        await anyio.wait_all_tasks_blocked()
        self.check()
        assert self.chat.waiting == ()
        self.check_requests()
        given = [text for text, _ in self.to_requests]
        found = " ".join([text for text, _ in self.host.sent] + given + self.dropped())
        not_understood = self.transcriber.lost
        lost = [
            number
            for number in self.audible
            if f"Reply {number}." not in found and f"Reply {number}" not in not_understood
        ]
        assert not lost, f"replies {lost} were heard, and are nowhere"
        assert len(self.audible) > 3, "hardly anything was said: a walk that shows nothing"
        # A sign of listening may be part of a message.
        told = [without_signs(event.text) for event in self.of(UserMessage)]
        for half, rest in self.breaths.whole:
            whole = any(without_signs(half) in text and without_signs(rest) in text for text in told)
            assert whole, f"{rest!r} is told without {half!r}"


def without_signs(text):
    return " ".join(text.replace("Mm-hm.", "").split())


@pytest.mark.parametrize(("seed", "duplex"), WALKS)
def test_whatever_happens_the_promises_hold(seed, duplex, monkeypatch):
    walk = Walk(f"{seed}-{duplex}", duplex)
    clock = trio.testing.MockClock(autojump_threshold=0)
    try:
        anyio.run(walk.go, monkeypatch, backend="trio", backend_options={"clock": clock})
    except BaseException as error:
        error.add_note(f"To run it again: WALK_SEED={seed} pytest {__file__} -k {duplex}")
        raise
