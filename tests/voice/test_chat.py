"""A whole conversation with doubles for everything outside: one person, one agent, voice and keyboard."""

from contextlib import asynccontextmanager
from itertools import pairwise

import anyio
import pytest

from questionnaire import Option, Question, Questionnaire
from questionnaire import Status as Ending
from questionnaire.testing import ScriptedPresenter
from voice.audio import FRAME_S
from voice.chat import Chat
from voice.errors import DeviceError, DeviceLost, HostDied, HostError, TranscriberDied
from voice.events import (
    AssistantText,
    CommandHeard,
    Discarded,
    DiscardReason,
    HostLost,
    LevelMeasured,
    MessageDelivered,
    MessageQueued,
    MessageReopened,
    MessageSent,
    NarrationEnded,
    NarrationStarted,
    Notice,
    PartialTranscript,
    Status,
    StatusChanged,
    ToolsChanged,
    UserMessage,
    VoiceState,
)
from voice.floor import Duplex
from voice.ports import Delivery
from voice.reopening import GOES_ON_S
from voice.settings import Settings
from voice.testing import ScriptedHost, ScriptedParts

NO_WORDS = "I heard a sound, but no words. I am listening."
NOTHING_TO_TAKE_BACK = "There is nothing to take back: it was sent."
pytestmark = pytest.mark.anyio

PICK = {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}]}


async def settled():
    """Let everybody do what they can."""
    await anyio.wait_all_tasks_blocked()


class Conversation(ScriptedParts):
    """A chat with doubles. Lines are what is understood of what is said, one after the other."""

    def __init__(
        self,
        *lines,
        presenter=None,
        questionnaire=True,
        duplex=Duplex.HALF,
        failures=None,
        names=(),
        **groups,
    ):
        super().__init__(*lines, duplex=duplex, failures=failures)
        self.events = []
        self.host = None
        self.ask = None
        settings = Settings.model_validate(groups)

        def make_host(tools, ask, emit):
            self.host, self.ask = ScriptedHost(emit), ask
            return self.host

        self.chat = Chat(
            make_host,
            self.open,
            settings,
            self.events.append,
            presenter=presenter,
            questionnaire=questionnaire,
            names=names,
        )

    @asynccontextmanager
    async def going_on(self, *, voice=True):
        async with anyio.create_task_group() as tasks:
            await tasks.start(lambda *, task_status: self.chat.run(voice=voice, task_status=task_status))
            if voice:
                await self.chat.until_voice(on=True)
            yield tasks
            self.chat.quit()

    async def hears(self, seconds=0.5, silence=2.5):
        """Somebody speaks; returns when it has been understood."""
        self.say(seconds, silence)
        await self.microphone.drained()
        await settled()

    async def passes(self, seconds):
        self.microphone.feed(seconds, spoken=False)
        await self.microphone.drained()
        await settled()

    def of(self, *kinds):
        return [event for event in self.events if isinstance(event, kinds)]

    @property
    def sent(self):
        return [text for text, _ in self.host.sent]

    def dropped(self):
        return [(event.reason, event.text) for event in self.of(Discarded)]

    def notices(self):
        return [event.sentence for event in self.of(Notice)]

    def listed(self):
        return [tool.name for tool in self.chat.tools.tools()]

    async def narrate(self, text):
        return await self.chat.tools.call("narrate", {"text": text})


ALL = ["ask_user_question", "user_select", "narrate"]

# --- Voice and keyboard -----------------------------------------------------------------------------------


async def test_what_is_said_and_what_is_typed_arrives_as_ordinary_text():
    stage = Conversation("The second one.")
    async with stage.going_on():
        await stage.hears()
        stage.host.end()
        assert stage.chat.send("and the tests")
        await settled()
    assert stage.sent == ["The second one.", "and the tests"]
    assert [message.source for message in stage.chat.transcript] == ["voice", "keyboard"]
    assert [event.text for event in stage.of(MessageSent)] == stage.sent


async def test_what_the_arguments_of_the_agent_say_is_shown_and_sent_first_and_once():
    stage = Conversation()
    stage.host.first_messages = ("fix the bug", "and test it")
    async with stage.going_on(voice=False):
        await settled()
        assert stage.sent == ["fix the bug"]
        stage.host.end()
        await settled()
        stage.host.end()
        stage.host.die()
        await settled()
        stage.chat.send("and on")
        await settled()
    assert stage.sent == ["fix the bug", "and test it", "and on"]
    assert [message.text for message in stage.of(UserMessage)] == stage.sent


async def test_white_space_is_never_sent():
    stage = Conversation()
    async with stage.going_on():
        assert not stage.chat.send(" \n ")
        assert not stage.chat.send("")
        await settled()
    assert stage.sent == []


async def test_the_first_key_holds_the_microphone_and_an_empty_line_gives_it_back():
    stage = Conversation("Hello.")
    async with stage.going_on():
        stage.chat.draft("y")
        assert stage.chat.status is Status.HELD
        await stage.hears()
        assert stage.transcriber.asked == []
        stage.chat.draft("")
        assert stage.chat.status is Status.LISTENING
        await stage.hears()
    assert stage.sent == ["Hello."]


async def test_typed_text_wins_over_a_spoken_reply_that_is_not_finished_which_is_shown():
    stage = Conversation("I think we sh", "After.")
    async with stage.going_on():
        stage.microphone.feed(0.5, spoken=True)
        await stage.microphone.drained()
        stage.chat.draft("no")
        stage.chat.send("no, wait")
        await stage.passes(1.0)
        stage.host.end()
        await stage.hears()
    assert stage.sent == ["no, wait", "After."]
    assert stage.dropped() == [(DiscardReason.TYPED_INSTEAD, "I think we sh")]


async def test_a_key_that_is_taken_back_loses_nothing_of_what_was_being_said():
    stage = Conversation("I think the second one.")
    async with stage.going_on():
        stage.microphone.feed(0.5, spoken=True)
        await stage.microphone.drained()
        stage.chat.draft("x")
        await stage.passes(5.0)
        stage.chat.draft("")
        await stage.hears()
    assert stage.sent == ["I think the second one."]


async def test_typed_text_ends_the_narration():
    stage = Conversation()
    stage.speaker.hold()
    async with stage.going_on() as tasks:
        tasks.start_soon(stage.narrate, "A long story.")
        await stage.speaker.begun()
        assert stage.chat.status is Status.NARRATING
        stage.chat.send("enough")
        await settled()
        assert not stage.speaker.playing
        assert stage.chat.status is Status.WORKING
    assert [event.ending for event in stage.of(NarrationEnded)] == ["interrupted"]


async def test_a_key_silences_narration_and_another_stops_the_agent():
    stage = Conversation()
    stage.speaker.hold()
    async with stage.going_on() as tasks:
        assert not stage.chat.stop_narration()
        stage.host.begin()
        tasks.start_soon(stage.narrate, "A long story.")
        await stage.speaker.begun()
        assert stage.chat.stop_narration()
        await settled()
        assert not stage.speaker.playing
        assert stage.host.busy
        stage.chat.interrupt_agent()
        await settled()
        assert stage.host.interrupted == 1


async def test_a_transcript_that_looks_like_a_command_line_is_text():
    stage = Conversation("/quit")
    async with stage.going_on():
        await stage.hears()
    assert stage.sent == ["/quit"]


async def test_the_language_and_the_levels_and_words_so_far_reach_who_needs_them():
    stage = Conversation("Well,", "yes.")
    async with stage.going_on():
        stage.microphone.feed(0.5, spoken=True)
        await stage.passes(1.2)
        assert [event.text for event in stage.of(PartialTranscript)] == ["Well,"]
        await stage.hears()
        assert stage.of(LevelMeasured)
    assert stage.sent == ["Well, yes."]


# --- While the agent works --------------------------------------------------------------------------------


async def test_what_is_said_while_the_agent_works_waits_and_is_acknowledged_and_never_lost():
    stage = Conversation("And the docs.", "And the tests.", conversation={"reopen_s": 0})
    async with stage.going_on():
        stage.chat.send("begin")
        await settled()
        await stage.hears()
        await stage.hears()
        assert stage.sent == ["begin"]
        assert [event.text for event in stage.of(MessageQueued)] == ["And the docs.", "And the tests."]
        assert [message.text for message in stage.chat.waiting] == ["And the docs.", "And the tests."]
        stage.host.end()
        await settled()
        stage.host.end()
        await settled()
    assert stage.sent == ["begin", "And the docs.", "And the tests."]


@pytest.mark.parametrize("delivery", [Delivery.STEER, Delivery.INTERRUPT])
async def test_by_setting_it_steers_or_interrupts(delivery):
    stage = Conversation("No, the other one.", conversation={"while_busy": delivery})
    async with stage.going_on():
        stage.host.begin()
        await stage.hears()
    assert stage.host.sent == [("No, the other one.", delivery)]


async def test_the_reply_to_a_narrated_question_goes_at_once_though_the_agent_still_works():
    stage = Conversation("The second one.")
    async with stage.going_on():
        stage.host.begin()
        result = await stage.narrate("Which one?")
        assert result.text == "Narration completed."
        await stage.hears()
    assert stage.host.sent == [("The second one.", Delivery.STEER)]


async def test_scratch_that_takes_back_what_waits_and_else_says_that_nothing_does():
    stage = Conversation("And the docs.", "Scratch that.", "Scratch that.")
    async with stage.going_on():
        stage.host.begin()
        await stage.hears()
        await stage.hears()
        assert (DiscardReason.TAKEN_BACK, "And the docs.") in stage.dropped()
        assert stage.chat.waiting == ()
        await stage.hears()
        stage.host.end()
        await settled()
    assert stage.sent == []
    assert NOTHING_TO_TAKE_BACK in stage.notices()
    assert stage.engine.texts[-1] == NOTHING_TO_TAKE_BACK.split(": ")[0] or NOTHING_TO_TAKE_BACK in " ".join(
        stage.engine.texts
    )


async def test_a_spoken_stop_silences_us_and_then_stops_the_agent():
    stage = Conversation("Stop.", duplex=Duplex.HEADPHONES)
    stage.speaker.hold()
    async with stage.going_on():
        stage.host.begin()
        stage.host.write("A long story, and more of it.")
        await stage.speaker.begun()
        await stage.hears()
        assert not stage.speaker.playing
        assert stage.host.interrupted == 0
    assert stage.sent == []
    assert [event.command for event in stage.of(CommandHeard)] == ["stop_talking"]


async def test_a_spoken_stop_stops_an_agent_that_works_in_silence():
    stage = Conversation("Stop.")
    async with stage.going_on():
        stage.host.begin()
        await stage.hears()
        assert stage.host.interrupted == 1
    assert stage.sent == []


# --- Narration --------------------------------------------------------------------------------------------


async def test_the_agent_cannot_forget_to_speak():
    stage = Conversation()
    async with stage.going_on():
        stage.host.begin()
        stage.host.write("The tests pass. Shall I commit?", parts=5)
        stage.host.end()
        await settled()
    assert stage.engine.texts == ["The tests pass.", "Shall I commit?"]
    assert stage.of(NarrationStarted) == []  # it is on the screen as what the agent wrote
    assert len(stage.of(AssistantText)) == 1


async def test_by_setting_what_it_writes_is_not_spoken():
    stage = Conversation(conversation={"narrate_text": False})
    async with stage.going_on():
        stage.host.begin()
        stage.host.write("The tests pass.")
        stage.host.end()
        await settled()
    assert stage.engine.texts == []


async def test_what_was_written_and_is_then_narrated_too_is_said_once_and_still_a_question():
    stage = Conversation("Yes.")
    async with stage.going_on():
        stage.host.begin()
        stage.host.write("The tests pass now. Shall I commit them to the main branch?", parts=4)
        result = await stage.narrate("Shall I commit them to the main branch?")
        assert result.details["status"] == "completed"
        await stage.hears()
    assert stage.engine.texts == ["The tests pass now.", "Shall I commit them to the main branch?"]
    assert stage.host.sent == [("Yes.", Delivery.STEER)]


async def test_what_was_narrated_and_is_then_written_too_is_said_once():
    stage = Conversation()
    async with stage.going_on():
        stage.host.begin()
        await stage.narrate("Shall I commit?")
        stage.host.write("Shall I commit? You can look at the diff.", parts=3)
        stage.host.end()
        await settled()
    assert stage.engine.texts == ["Shall I commit?", "You can look at the diff."]


async def test_in_a_new_turn_the_same_words_are_said_again():
    stage = Conversation()
    async with stage.going_on():
        for _ in range(2):
            stage.host.begin()
            stage.host.write("Done.")
            stage.host.end()
            await settled()
    assert stage.engine.texts == ["Done.", "Done."]


async def test_nothing_is_spoken_while_voice_is_off():
    stage = Conversation()
    async with stage.going_on(voice=False):
        stage.host.begin()
        stage.host.write("Done.")
        stage.host.end()
        result = await stage.narrate("Hello?")
        assert result.details == {"error": "voice_not_active"}
    assert stage.opened == 0


async def test_barge_in_with_words_ends_the_narration_and_arrives():
    stage = Conversation("No, wait.", duplex=Duplex.HEADPHONES)
    stage.speaker.hold()
    async with stage.going_on() as tasks:
        tasks.start_soon(stage.narrate, "Shall I delete all of the old branches now?")
        await stage.speaker.begun()
        stage.microphone.feed(0.5, spoken=True)
        await stage.microphone.drained()
        await settled()
        assert not stage.speaker.playing
        assert stage.of(NarrationEnded) == []  # it may go on
        await stage.passes(2.5)
    assert stage.sent == ["No, wait."]
    assert [event.ending for event in stage.of(NarrationEnded)] == ["interrupted"]


@pytest.mark.parametrize(("heard", "reason"), [("Mm-hm.", "backchannel"), ("", "no_words")])
async def test_a_sign_of_listening_or_a_cough_does_not_end_it(heard, reason):
    stage = Conversation(heard, duplex=Duplex.HEADPHONES)
    stage.speaker.hold()
    async with stage.going_on() as tasks:
        tasks.start_soon(stage.narrate, "Shall I delete it?")
        await stage.speaker.begun()
        await stage.hears(0.3)
        assert stage.speaker.playing
        stage.speaker.release()
        await settled()
    assert stage.sent == []
    assert [event.reason for event in stage.of(Discarded)] == [reason]
    assert [event.ending for event in stage.of(NarrationEnded)] == ["completed"]
    assert NO_WORDS not in stage.notices()


async def test_spoken_controls_change_what_is_heard_and_repeat_it():
    stage = Conversation(
        "Louder.", "Repeat that slowly.", "Stop talking.", "Go on.", duplex=Duplex.HEADPHONES
    )
    async with stage.going_on():
        stage.host.begin()
        await stage.narrate("Which one?")
        await stage.hears()
        await stage.hears()
        assert stage.engine.texts == ["Which one?", "Which one?"]
        stage.speaker.hold()
        stage.host.write("One two three four.")
        await stage.speaker.begun()
        await stage.hears()
        assert not stage.speaker.playing
        stage.speaker.release()
        await stage.hears()
        assert stage.engine.texts[-1] == "One two three four."
    assert stage.sent == []
    assert [event.command for event in stage.of(CommandHeard)] == [
        "louder",
        "repeat_slowly",
        "stop_talking",
        "go_on",
    ]


# --- Silence ----------------------------------------------------------------------------------------------


async def test_a_question_without_an_answer_is_repeated_once_shorter_and_then_it_waits_quietly():
    stage = Conversation("The second one.", conversation={"answer_within_s": 5})
    async with stage.going_on():
        stage.host.begin()
        await stage.narrate("I looked at both of them. Which one shall I take?")
        await stage.passes(30)
        assert stage.chat.status is Status.WORKING  # no time passes while the agent works
        stage.host.end()
        await stage.passes(6)
        assert stage.engine.texts[2:] == ["Which one shall I take?"]
        await stage.passes(60)
        assert stage.chat.status is Status.QUIET
        assert len(stage.engine.texts) == 3
        await stage.hears()
    assert stage.sent == ["The second one."]


async def test_by_setting_the_microphone_is_given_back_then_and_a_key_takes_it_again():
    stage = Conversation(conversation={"answer_within_s": 2, "quiet_microphone": "closed"})
    async with stage.going_on():
        await stage.narrate("Which one?")
        await stage.passes(2.1)
        stage.microphone.feed(2.1, spoken=False)
        await settled()
        assert stage.chat.status is Status.QUIET
        assert not stage.microphone.open_now
        stage.chat.draft("x")
        await settled()
        assert stage.microphone.open_now


async def test_sound_without_words_is_said_once():
    stage = Conversation("", "", "Hello.")
    async with stage.going_on():
        for _ in range(3):
            await stage.hears()
    assert stage.notices() == [NO_WORDS]
    assert stage.sent == ["Hello."]


async def test_what_could_not_be_transcribed_is_told_and_not_sent():
    stage = Conversation(TranscriberDied("Whisper has ended."), "Again.")
    async with stage.going_on():
        await stage.hears()
        await stage.hears()
    assert "Whisper has ended." in stage.notices()
    assert stage.sent == ["Again."]


async def test_asleep_nothing_is_shown_or_sent_until_the_phrase_that_wakes():
    stage = Conversation("Stop listening.", "A private word.", "Wake up.", "Hello.")
    async with stage.going_on():
        await stage.hears()
        assert stage.chat.status is Status.ASLEEP
        await stage.hears()
        await stage.hears(20)  # longer than any phrase: not even transcribed
        await stage.hears()
        await stage.hears()
    assert stage.sent == ["Hello."]
    assert stage.dropped() == [(DiscardReason.ASLEEP, "")] * 2
    assert "private" not in repr(stage.events)


async def test_an_hour_that_is_broken_off_again_and_again_goes_on():
    stage = Conversation(*[f"message {number}" for number in range(30)], duplex=Duplex.HEADPHONES)
    async with stage.going_on():
        for number in range(30):
            stage.host.begin()
            stage.speaker.hold()
            stage.host.write(f"Story {number} goes on and on.")
            await stage.speaker.begun()
            await stage.hears()
            stage.speaker.release()
            await settled()
            stage.host.end()
            await settled()
            stage.host.end()
    assert stage.sent == [f"message {number}" for number in range(30)]


# --- On and off -------------------------------------------------------------------------------------------


async def test_a_key_switches_voice_on_and_off_and_the_tools_follow():
    stage = Conversation("Hello.")
    async with stage.going_on(voice=False):
        assert stage.chat.status is Status.VOICE_OFF
        assert stage.listed() == ALL
        stage.chat.toggle_voice()
        await stage.chat.until_voice(on=True)
        assert stage.listed() == ["narrate"]
        stage.chat.toggle_voice()
        await stage.chat.until_voice(on=False)
        assert stage.listed() == ALL
        stage.chat.toggle_voice()
        stage.chat.toggle_voice()
        await settled()
        assert stage.chat.voice_state is VoiceState.INACTIVE
        stage.chat.toggle_voice()
        await stage.chat.until_voice(on=True)
        await stage.hears()
    assert stage.sent == ["Hello."]
    assert [event.names for event in stage.of(ToolsChanged)][:2] == [("narrate",), tuple(ALL)]


async def test_switched_on_again_while_it_is_still_delivering_it_is_on_again():
    stage = Conversation("The second one.")
    stage.transcript_after_s = None
    stage.transcriber.hold()
    async with stage.going_on():
        stage.say(silence=1.7)
        await stage.microphone.drained()
        stage.chat.toggle_voice()
        await settled()
        assert stage.chat.voice_state is VoiceState.DRAINING
        stage.chat.toggle_voice()
        stage.transcriber.release()
        await stage.chat.until_voice(on=True)
        assert stage.opened == 2
    assert stage.sent == ["The second one."]


async def test_stop_voice_switches_it_off_and_what_was_being_said_is_shown():
    stage = Conversation("Stop voice.")
    async with stage.going_on():
        stage.say()
        await stage.chat.until_voice(on=False)
        assert stage.listed() == ALL
        assert stage.chat.send("still here")
        await settled()
    assert stage.sent == ["still here"]


async def test_a_voice_that_cannot_be_switched_on_is_told_and_the_keyboard_works():
    stage = Conversation()
    stage.opening_fails = DeviceError("There is no microphone.", mend="plug one in")
    async with stage.going_on(voice=False):
        stage.chat.toggle_voice()
        with pytest.raises(DeviceError):
            await stage.chat.until_voice(on=True)
        assert "There is no microphone. To mend it: plug one in" in stage.notices()[0]
        assert stage.listed() == ALL
        stage.chat.send("hello")
        stage.opening_fails = None
        stage.chat.toggle_voice()
        await stage.chat.until_voice(on=True)
    assert stage.sent == ["hello"]


async def test_a_lost_microphone_keeps_half_a_reply_visibly_and_comes_back(monkeypatch):
    monkeypatch.setattr("voice.autonomous.REOPEN_AFTER_S", 0.01)
    stage = Conversation("Yes, delete", "Hello.")
    async with stage.going_on():
        stage.microphone.feed(0.5, spoken=True)
        stage.microphone.fail(DeviceLost("The microphone is gone."))
        stage.microphone.feed(1.5, spoken=False)
        stage.say()
        with anyio.fail_after(60):
            while not stage.sent:  # noqa: ASYNC110
                await anyio.sleep(FRAME_S)
    assert stage.sent == ["Hello."]
    assert (DiscardReason.CUT_OFF, "Yes, delete") in stage.dropped()
    assert Status.MICROPHONE_LOST in [event.status for event in stage.of(StatusChanged)]


async def test_every_change_of_status_is_told_once():
    stage = Conversation("Hello.")
    async with stage.going_on():
        await stage.hears()
        stage.host.end()
    told = [event.status for event in stage.of(StatusChanged)]
    assert all(one is not other for one, other in pairwise(told))
    assert told[:2] == [Status.STARTING, Status.LISTENING]
    assert [status for status in told[2:] if status is not Status.TRANSCRIBING] == [
        Status.HEARING,
        Status.LISTENING,
        Status.WORKING,
        Status.LISTENING,
        Status.VOICE_OFF,
    ]


# --- The host ---------------------------------------------------------------------------------------------


async def test_a_host_that_dies_is_told_and_the_next_message_starts_it_again_and_nothing_is_lost_or_doubled():
    stage = Conversation("Waiting.", "After.")
    async with stage.going_on():
        stage.chat.send("one")
        await settled()
        await stage.hears()
        stage.host.die("It has crashed.")
        await settled()
        assert [event.sentence for event in stage.of(HostLost)] == ["It has crashed."]
        assert stage.listed() == ALL  # there is no agent to withhold from
        assert stage.chat.voice_state is VoiceState.ACTIVE
        assert "It has crashed." in stage.engine.texts
        assert not stage.host.open_now
        await stage.passes(GOES_ON_S)
        await stage.hears()
        assert stage.host.opened == 2
        assert stage.listed() == ["narrate"]
        stage.host.end()
        await settled()
    assert stage.sent == ["one", "Waiting.", "After."]
    assert len(stage.of(HostLost)) == 1


async def test_a_message_that_comes_while_a_dead_host_is_being_closed_starts_it_again():
    stage = Conversation()
    async with stage.going_on(voice=False):
        stage.host.die("It has crashed.")
        stage.chat.send("one")
        await settled()
        assert stage.host.opened == 2
        stage.host.end()
        await settled()
    assert stage.sent == ["one"]


async def test_a_host_that_somebody_else_starts_is_waited_for_at_once():
    stage = Conversation()
    async with stage.going_on(voice=False):
        stage.host.comes_by_itself = True
        stage.host.die()
        await settled()
        assert (stage.host.opened, stage.host.open_now) == (2, True)
        stage.host.fail_to_open(HostError("Another waits."))
        stage.host.die()
        await settled()
        assert not stage.host.open_now  # what fails is not tried without end
        stage.chat.send("one")
        await settled()
        stage.host.end()
        await settled()
    assert stage.sent == ["one"]


async def test_a_host_that_dies_while_it_is_given_a_message_gets_it_when_it_is_started_again():
    stage = Conversation()
    async with stage.going_on():
        stage.host.refuse(HostDied("It broke its protocol."))
        stage.chat.send("one")
        await settled()
        assert stage.sent == []
        stage.chat.send("two")
        await settled()
        stage.host.end()
        await settled()
    assert stage.sent == ["one", "two"]
    assert len(stage.of(HostLost)) == 1


async def test_a_message_that_is_refused_is_kept_and_sent_with_the_next_one():
    stage = Conversation()
    async with stage.going_on():
        stage.host.refuse(HostError("It is compacting."))
        stage.chat.send("one")
        await settled()
        assert any("It is compacting." in sentence for sentence in stage.notices())
        stage.chat.send("two")
        await settled()
        stage.host.end()
        await settled()
    assert stage.sent == ["one", "two"]
    assert stage.of(HostLost) == []


async def test_a_host_that_cannot_be_started_at_all_is_an_error():
    stage = Conversation()
    stage.host.fail_to_open(HostError("It is not installed."))
    with pytest.raises(HostError, match="not installed"):
        await stage.chat.run(voice=False)


async def test_a_host_that_cannot_be_started_again_keeps_the_message():
    stage = Conversation()
    async with stage.going_on(voice=False):
        stage.host.die()
        await settled()
        stage.host.fail_to_open(HostError("There is no room."))
        stage.chat.send("one")
        await settled()
        assert [event.sentence for event in stage.of(HostLost)][-1] == "There is no room."
        stage.chat.send("two")
        await settled()
        stage.host.end()
        await settled()
    assert stage.sent == ["one", "two"]


async def test_what_was_never_sent_is_told_at_the_end():
    stage = Conversation()
    async with stage.going_on(voice=False):
        stage.host.begin()
        stage.chat.send("later")
    assert "This was not sent: later" in stage.notices()


async def test_quitting_shows_half_a_reply_and_closes_everything():
    stage = Conversation("Yes, del")
    async with stage.going_on():
        stage.microphone.feed(0.5, spoken=True)
        await stage.microphone.drained()
    assert stage.dropped() == [(DiscardReason.CUT_OFF, "Yes, del")]
    assert not stage.microphone.open_now
    assert not stage.host.open_now
    assert stage.listed() == ALL


async def test_cancelled_it_restores_the_tools_and_closes_everything():
    stage = Conversation()
    async with stage.going_on() as tasks:
        tasks.cancel_scope.cancel()
    assert stage.listed() == ALL
    assert not stage.host.open_now
    assert not stage.microphone.open_now


# --- Structured questions ---------------------------------------------------------------------------------


async def test_a_structured_question_goes_to_the_screen_while_voice_is_off_and_is_refused_while_it_is_on():
    stage = Conversation(presenter=ScriptedPresenter(["2"]))
    async with stage.going_on(voice=False):
        assert (await stage.chat.tools.call("user_select", PICK)).text == "User selected: 2. Rebase"
        stage.chat.toggle_voice()
        await stage.chat.until_voice(on=True)
        refused = await stage.chat.tools.call("user_select", PICK)
        assert refused.is_error
        assert "narrate" in refused.text


async def test_without_the_questionnaire_there_are_no_tools_that_ask():
    stage = Conversation(questionnaire=False)
    assert stage.listed() == ["narrate"]


CHOOSE = Questionnaire((Question("Merge how?", (Option("Squash"), Option("Rebase"))),))


async def test_a_request_that_insists_is_asked_by_voice_and_what_is_said_is_its_answer_and_no_message():
    stage = Conversation("The second one.", "Hello.")
    async with stage.going_on() as tasks:
        stage.host.begin()
        outcomes = []

        async def insist():
            outcomes.append(await stage.ask(CHOOSE))

        tasks.start_soon(insist)
        await settled()
        assert stage.chat.status is Status.LISTENING  # the agent works, and it is the user's turn
        await stage.hears()
        (outcome,) = outcomes
        assert outcome.status is Ending.ANSWERED
        assert outcome.responses[0].answer.selected == (1,)
        await stage.hears()
        stage.host.end()
        await settled()
    assert stage.sent == ["Hello."]
    assert [event.text for event in stage.of(UserMessage)] == ["The second one.", "Hello."]


async def test_what_somebody_had_begun_to_say_before_the_request_came_is_for_the_agent():
    stage = Conversation("And the docs.", "Squash.")
    async with stage.going_on() as tasks:
        stage.host.begin()
        stage.microphone.feed(0.5, spoken=True)
        await stage.microphone.drained()
        outcomes = []

        async def insist():
            outcomes.append(await stage.ask(CHOOSE))

        tasks.start_soon(insist)
        await settled()
        await stage.passes(2.5)
        assert [message.text for message in stage.chat.waiting] == ["And the docs."]
        assert outcomes == []
        await stage.hears()
        assert outcomes[0].responses[0].answer.selected == (0,)
        stage.host.end()
        await settled()
    assert stage.sent == ["And the docs."]


async def test_what_was_said_after_the_answer_is_for_the_agent_too():
    stage = Conversation()
    async with stage.going_on():
        with stage.chat.replies() as replies:
            stage.chat.send("one")
            stage.chat.send("two")
            assert (await anext(replies)).text == "one"
        await settled()
    assert stage.sent == ["two"]
    assert [event.text for event in stage.of(UserMessage)] == ["one", "two"]


async def test_it_is_asked_by_voice_whenever_voice_is_on():
    stage = Conversation("Rebase.", presenter=Patient())
    async with stage.going_on(voice=False) as tasks:
        outcomes = []

        async def insist():
            outcomes.append(await stage.ask(CHOOSE))

        tasks.start_soon(insist)
        await settled()
        for on in (True, False, True):
            stage.chat.toggle_voice()
            await stage.chat.until_voice(on=on)
            await settled()
        assert outcomes == []
        await stage.hears()
        assert [outcome.status for outcome in outcomes] == [Ending.ANSWERED]
    assert stage.sent == []


async def test_without_a_screen_and_without_voice_it_was_never_shown():
    stage = Conversation()
    async with stage.going_on(voice=False):
        assert (await stage.ask(CHOOSE)).status is Ending.NEVER_SHOWN


async def test_without_a_screen_it_is_cancelled_when_voice_ends():
    stage = Conversation()
    async with stage.going_on() as tasks:
        outcomes = []

        async def insist():
            outcomes.append(await stage.ask(CHOOSE))

        tasks.start_soon(insist)
        await settled()
        stage.chat.toggle_voice()
        await stage.chat.until_voice(on=False)
        await settled()
        assert [outcome.status for outcome in outcomes] == [Ending.CANCELLED]


class Patient:
    """A screen on which nobody does anything."""

    async def present(self, interview):
        ended = anyio.Event()
        with interview.watch(lambda _: interview.outcome and ended.set()):
            await ended.wait()


# --- Going on after a turn, how long it took, and the names that are likely -------------------------------


async def test_a_sentence_that_goes_on_after_a_pause_reaches_the_agent_as_one_message():
    conversation = Conversation("Use Redis", "and Postgres.", "Anything else.")
    async with conversation.going_on():
        await conversation.hears(0.5, silence=2.0)
        await conversation.hears(0.5)
        assert conversation.host.sent == [
            ("Use Redis", Delivery.FOLLOW_UP),
            ("Use Redis and Postgres.", Delivery.INTERRUPT),
        ]
        assert [message.text for message in conversation.chat.transcript] == ["Use Redis and Postgres."]
        conversation.host.write("Done.")
        await settled()
        await conversation.hears(0.5)
        conversation.host.end()
        await settled()
        assert conversation.sent[-1] == "Anything else."
    assert conversation.of(MessageReopened) == [MessageReopened("Use Redis", sent=True)]


async def test_what_the_agent_does_while_its_user_goes_on_does_not_part_the_sentence():
    conversation = Conversation("Use Redis", "and Postgres.")
    async with conversation.going_on():
        await conversation.hears(0.5, silence=2.0)
        conversation.microphone.feed(0.5, spoken=True)
        await conversation.microphone.drained()
        conversation.host.write("I will use Redis.")
        await settled()
        assert conversation.sent == ["Use Redis"], "nobody knows yet what is being said"
        await conversation.passes(2.0)
        assert conversation.host.sent[1:] == [("Use Redis and Postgres.", Delivery.INTERRUPT)]
    assert conversation.of(MessageReopened) == [MessageReopened("Use Redis", sent=True)]


async def test_half_a_sentence_is_not_sent_while_its_speaker_goes_on():
    conversation = Conversation("Use Redis", "and Postgres.", "")
    async with conversation.going_on():
        conversation.host.begin()
        await conversation.hears(0.5)
        conversation.microphone.feed(0.5, spoken=True)
        await conversation.microphone.drained()
        conversation.host.end()
        await settled()
        assert conversation.sent == []
        await conversation.passes(2.5)
        assert conversation.sent == ["Use Redis and Postgres."]
    assert conversation.of(MessageReopened) == [MessageReopened("Use Redis", sent=False)]


async def test_a_sound_after_a_sentence_that_waits_keeps_it_back_no_longer_than_it_lasts():
    conversation = Conversation("Use Redis.", "")
    async with conversation.going_on():
        conversation.host.begin()
        await conversation.hears(0.5)
        conversation.microphone.feed(0.5, spoken=True)
        await conversation.microphone.drained()
        conversation.host.end()
        await settled()
        assert conversation.sent == []
        await conversation.passes(2.5)
        assert conversation.sent == ["Use Redis."]


async def test_what_is_added_while_the_agent_works_on_something_else_waits_as_one_message():
    conversation = Conversation("Use Redis", "and Postgres.")
    async with conversation.going_on():
        conversation.host.begin()
        await conversation.hears(0.5)
        await conversation.hears(0.5)
        assert [message.text for message in conversation.chat.waiting] == ["Use Redis and Postgres."]
        conversation.host.end()
        await settled()
        assert conversation.sent == ["Use Redis and Postgres."]
    waited = conversation.of(MessageDelivered)
    assert [(one.waited, one.deliver_s >= 0) for one in waited] == [(True, True)]


async def test_each_spoken_message_tells_how_long_it_took_until_the_agent_had_it():
    conversation = Conversation("Yes.")
    async with conversation.going_on():
        conversation.host.hold()
        await conversation.hears()
        assert conversation.of(MessageDelivered) == []
        await conversation.passes(0.4)
        released_at_s = conversation.chat.now_s
        conversation.host.release()
        await settled()
        conversation.chat.send("typed")
        await settled()
    (told,) = conversation.of(MessageDelivered)
    (message,) = [one for one in conversation.of(UserMessage) if one.source == "voice"]
    assert told.latency == message.latency
    assert told.deliver_s == pytest.approx(released_at_s - message.at_s)
    assert told.deliver_s >= 0.4
    assert told.total_s == pytest.approx(message.latency.total_s + told.deliver_s)
    assert not told.waited


async def test_the_names_that_the_agent_wrote_and_asks_for_are_told_to_the_transcriber():
    conversation = Conversation("Use kubectl, and then the other one.", names=("turn_taking.py",))
    async with conversation.going_on():
        conversation.host.write("I would deploy it with kubectl.")
        await settled()
        await conversation.hears(1.5)
    assert conversation.transcriber.vocabularies == [("kubectl", "turn_taking.py")]
