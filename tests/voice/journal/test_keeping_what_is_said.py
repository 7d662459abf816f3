"""What a session tells its journal: nothing is forgotten before the agent has it, and nothing kept after."""

from contextlib import asynccontextmanager

import anyio
import pytest

from questionnaire import Option, Question, Questionnaire
from questionnaire import Status as Ending
from questionnaire.testing import ScriptedPresenter
from voice.chat import Chat
from voice.errors import HostError, TranscriberDied
from voice.events import CommandHeard, Discarded, DiscardReason, Notice, UserMessage
from voice.ports import Delivery
from voice.settings import Settings
from voice.testing import ScriptedHost, ScriptedJournal, ScriptedParts

pytestmark = pytest.mark.anyio

DEAD = TranscriberDied("The transcriber has died.")
CHOOSE = Questionnaire((Question(id="q1", text="Merge how?", options=(Option("Squash"), Option("Rebase"))),))


class Conversation(ScriptedParts):
    def __init__(self, *lines, presenter=None, make_host=ScriptedHost, **groups):
        super().__init__(*lines)
        self.events = []
        self.journal = ScriptedJournal()

        def made(tools, ask, emit):
            self.host, self.ask = make_host(emit), ask
            return self.host

        settings = Settings.model_validate(groups)
        self.chat = Chat(
            made, self.open, settings, self.events.append, presenter=presenter, journal=self.journal
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
        self.say(seconds, silence)
        await self.rest()

    async def rest(self):
        with anyio.fail_after(60):
            await self.microphone.drained()
            await anyio.wait_all_tasks_blocked()

    def kept(self):
        return [(entry.text, entry.reason) for entry in self.journal.entries.values()]

    def forgotten(self):
        return list(self.journal.forgotten.values())

    def of(self, *kinds):
        return [event for event in self.events if isinstance(event, kinds)]


async def test_what_is_said_is_kept_from_its_pre_roll_on_until_the_agent_has_it():
    stage = Conversation("Merge it.")
    stage.transcript_after_s = None
    stage.transcriber.hold()
    async with stage.going_on():
        stage.host.hold()
        stage.microphone.feed(2.0, spoken=False)
        stage.say(0.5, 0.0)
        await stage.rest()
        (entry,) = stage.journal.entries.values()
        assert entry.seconds == pytest.approx(1.5, abs=0.03)  # a second before it, and all of it
        assert not entry.decided
        stage.microphone.feed(2.5, spoken=False)
        await stage.rest()
        assert not entry.decided  # it is over, and being transcribed
        assert entry.seconds >= 1.5 + 1.6
        stage.transcriber.release()
        await anyio.wait_all_tasks_blocked()
        stage.microphone.feed(0.1, spoken=False)
        await stage.rest()
        assert stage.kept() == [("Merge it.", None)]
        stage.host.release()
        await anyio.wait_all_tasks_blocked()
        assert stage.kept() == []
        assert stage.forgotten() == [None]
    (message,) = stage.of(UserMessage)
    assert message.utterances == ("j-1",)


async def test_a_piece_is_on_disk_before_it_is_given_to_the_transcriber():
    stage = Conversation("Yes.")
    stage.journal.hold()
    async with stage.going_on():
        stage.say(0.5, 2.5)
        await anyio.wait_all_tasks_blocked()
        assert stage.transcriber.asked == []
        stage.journal.release()
        await stage.rest()
        assert len(stage.transcriber.asked) == 1
        assert [message.text for message in stage.chat.transcript] == ["Yes."]


async def test_a_typed_message_is_kept_until_the_agent_has_it():
    stage = Conversation()
    async with stage.going_on(voice=False):
        stage.host.hold()
        stage.chat.send("Merge it.")
        await anyio.wait_all_tasks_blocked()
        assert stage.kept() == [("Merge it.", None)]
        stage.host.release()
        await anyio.wait_all_tasks_blocked()
        assert (stage.kept(), stage.forgotten()) == ([], [None])


async def test_what_waits_for_the_agent_at_the_end_is_kept_and_that_is_told():
    stage = Conversation()
    async with stage.going_on(voice=False):
        stage.host.begin()
        stage.chat.send("Do that.")
        await anyio.wait_all_tasks_blocked()
    assert stage.kept() == [("Do that.", None)]
    assert [notice.sentence for notice in stage.of(Notice)] == [
        "This was not sent: Do that.",
        "It is kept, and offered the next time: voice journal shows it.",
    ]


async def test_what_a_disk_did_not_take_is_not_said_to_be_kept():
    stage = Conversation(DEAD)
    async with stage.going_on():
        stage.journal.fails = True
        await stage.hears()
        stage.host.begin()
        stage.chat.send("Do that.")
        await anyio.wait_all_tasks_blocked()
    assert [notice.sentence for notice in stage.of(Notice)] == [
        DEAD.sentence,
        "This was not sent: Do that.",
    ]


class Slow(ScriptedHost):
    """An agent that gets a message at once, and confirms it later."""

    def __init__(self, emit):
        super().__init__(emit)
        self.got = []
        self.getting = anyio.Event()

    async def send(self, text, delivery=Delivery.FOLLOW_UP):
        self.got.append(text)
        self.getting.set()
        await super().send(text, delivery)


@pytest.mark.parametrize("began", [False, True])
async def test_what_the_agent_got_in_the_last_moment_is_not_offered_again(began):
    stage = Conversation(make_host=Slow)
    async with stage.going_on(voice=False) as tasks:
        stage.host.hold()
        stage.chat.send("Delete it.")
        if began:
            await anyio.wait_all_tasks_blocked()
        stage.chat.quit()

        async def confirms():
            await stage.host.getting.wait()
            await anyio.wait_all_tasks_blocked()
            stage.host.release()

        tasks.start_soon(confirms)
    assert (stage.host.got, stage.kept(), stage.of(Notice)) == (["Delete it."], [], [])


async def test_the_last_words_go_to_the_agent_where_they_are_understood_in_time():
    stage = Conversation("Merge it.", make_host=Slow)
    stage.transcript_after_s = None
    async with stage.going_on() as tasks:
        stage.transcriber.hold()
        stage.host.hold()
        await stage.hears()
        stage.chat.quit()
        await anyio.wait_all_tasks_blocked()
        stage.transcriber.release()

        async def confirms():
            await stage.host.getting.wait()
            await anyio.wait_all_tasks_blocked()
            stage.host.release()

        tasks.start_soon(confirms)
    assert (stage.host.got, stage.kept()) == (["Merge it."], [])


@pytest.mark.parametrize("anyio_backend", ["virtual"], indirect=True)
@pytest.mark.parametrize("how", ["busy", "refuses", "dies"])
async def test_an_agent_that_takes_nothing_more_is_not_waited_for_at_the_end(how):
    stage = Conversation(make_host=Slow)
    async with stage.going_on(voice=False):
        if how == "busy":
            stage.host.begin()
        stage.host.hold()
        if how == "refuses":
            stage.host.refuse(HostError("It does not want that."))
        stage.chat.send("Delete it.")
        await anyio.wait_all_tasks_blocked()
        began_s = anyio.current_time()
        stage.chat.quit()
        await anyio.wait_all_tasks_blocked()
        if how == "dies":
            stage.host.die()
        stage.host.release()
    assert anyio.current_time() == began_s
    assert stage.kept() == [("Delete it.", None)]
    assert "This was not sent: Delete it." in [notice.sentence for notice in stage.of(Notice)]


@pytest.mark.parametrize("anyio_backend", ["virtual"], indirect=True)
async def test_an_agent_that_confirms_nothing_does_not_keep_it_from_ending_and_nothing_untrue_is_told():
    stage = Conversation(make_host=Slow)
    async with stage.going_on(voice=False):
        stage.host.hold()
        stage.chat.send("Delete it.")
    assert stage.kept() == [("Delete it.", None)]
    assert [notice.sentence for notice in stage.of(Notice)] == [
        "This may not have been sent: Delete it.",
        "It is kept, and offered the next time: voice journal shows it.",
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [("", DiscardReason.NO_WORDS), ("Stop.", DiscardReason.COMMAND), ("Louder.", DiscardReason.COMMAND)],
)
async def test_what_is_no_message_is_forgotten(line, reason):
    stage = Conversation(line)
    async with stage.going_on():
        stage.chat.send("Work.")  # there is something to stop
        await anyio.wait_all_tasks_blocked()
        await stage.hears()
        assert stage.kept() == []
        assert stage.forgotten() == [None, reason]


async def test_what_is_said_while_it_is_asleep_is_nowhere():
    stage = Conversation("Stop listening.", "My secret.", "Wake up.", "Back again.")
    async with stage.going_on():
        stage.host.hold()
        await stage.hears()
        count = len(stage.journal.forgotten)
        await stage.hears()
        assert (stage.kept(), len(stage.journal.forgotten)) == ([], count)
        await stage.hears()
        await stage.hears()
        assert stage.kept() == [("Back again.", None)]
        assert [event.command for event in stage.of(CommandHeard)] == ["pause", "wake"]
        stage.host.release()
        await anyio.wait_all_tasks_blocked()


async def test_a_failed_transcription_does_not_lose_the_recording_and_says_how_to_try_again():
    stage = Conversation(DEAD)
    async with stage.going_on():
        await stage.hears()
        assert stage.kept() == [("", DiscardReason.NOT_TRANSCRIBED)]
        assert stage.journal.entries["j-1"].seconds > 0.5
    (dropped,) = stage.of(Discarded)
    assert dropped.utterances == ("j-1",)
    told = [notice.sentence for notice in stage.of(Notice)]
    assert told == [DEAD.sentence, "What you said is kept: voice journal retry j-1 transcribes it again."]


async def test_what_is_cut_off_when_voice_is_switched_off_is_kept_with_its_words():
    stage = Conversation("Delete the")
    async with stage.going_on():
        stage.say(0.5, 0.0)
        await stage.rest()
        stage.chat.toggle_voice()
        await stage.chat.until_voice(on=False)
        assert stage.kept() == [("Delete the", DiscardReason.CUT_OFF)]


async def test_what_a_narration_talks_over_is_kept():
    stage = Conversation("Half of")
    async with stage.going_on() as tasks:
        stage.speaker.hold()
        stage.say(0.5, 0.0)
        await stage.rest()
        stage.chat.draft("a line")  # holds the microphone, and stands there
        stage.microphone.feed(3.5, spoken=False)
        await stage.rest()
        tasks.start_soon(stage.chat.tools.call, "narrate", {"text": "Listen."})
        await anyio.wait_all_tasks_blocked()
        stage.microphone.feed(3.5, spoken=False)
        await stage.rest()
        stage.speaker.release()
        stage.chat.draft("")
        stage.microphone.feed(2.0, spoken=False)
        await stage.rest()
        assert stage.kept() == [("Half of", DiscardReason.TALKED_OVER)]


async def test_what_was_typed_instead_of_is_forgotten_at_once():
    stage = Conversation("Maybe")
    stage.transcript_after_s = None
    stage.transcriber.hold()
    async with stage.going_on():
        stage.say(0.5, 0.0)
        await stage.rest()
        stage.chat.send("No.")
        await anyio.wait_all_tasks_blocked()
        assert stage.forgotten() == [DiscardReason.TYPED_INSTEAD, None]
        stage.transcriber.release()
        stage.microphone.feed(1.0, spoken=False)
        await stage.rest()
        assert (stage.kept(), stage.forgotten()) == ([], [DiscardReason.TYPED_INSTEAD, None])


async def test_a_message_that_was_added_to_is_both_utterances():
    stage = Conversation("Merge it", "and push.")
    async with stage.going_on():
        stage.host.begin()
        await stage.hears(silence=1.7)
        await stage.hears()
        assert [text for text, _ in stage.kept()] == ["Merge it", "and push."]
        stage.host.end()
        await anyio.wait_all_tasks_blocked()
        assert [message.utterances for message in stage.chat.transcript] == [("j-1", "j-2")]
        assert stage.kept() == []


async def test_what_is_taken_back_is_forgotten():
    stage = Conversation("Merge it.", "Scratch that.")
    async with stage.going_on():
        stage.host.begin()
        await stage.hears(silence=8.0)
        await stage.hears()
        assert stage.kept() == []
        assert set(stage.forgotten()) == {DiscardReason.TAKEN_BACK, DiscardReason.COMMAND}


async def test_what_waits_for_the_end_word_is_kept_until_it_is_sent():
    stage = Conversation("Merge it.", "Then push.", "Over.", controls={"end_word": "over"})
    async with stage.going_on():
        await stage.hears()
        await stage.hears()
        assert [text for text, _ in stage.kept()] == ["Merge it.", "Then push."]
        await stage.hears()
        assert stage.kept() == []
        assert stage.chat.transcript[0].utterances == ("j-1", "j-2")
        assert sorted(map(str, stage.forgotten())) == ["None", "None", "command"]


@pytest.mark.parametrize("how", ["Stop listening.", "toggle_voice"])
async def test_what_waits_for_the_end_word_and_is_never_sent_is_kept_once_each(how):
    stage = Conversation("Merge it.", "Then push.", how, controls={"end_word": "over"})
    async with stage.going_on():
        await stage.hears()
        await stage.hears()
        if how == "toggle_voice":
            stage.chat.toggle_voice()
            await stage.chat.until_voice(on=False)
        else:
            await stage.hears()
        cut_off = DiscardReason.CUT_OFF
        assert stage.kept() == [("Merge it.", cut_off), ("Then push.", cut_off)]
    assert [drop.text for drop in stage.of(Discarded)] == ["Merge it. Then push."]


async def test_the_answer_to_a_structured_request_is_kept_until_that_is_over():
    stage = Conversation("The second one.", presenter=ScriptedPresenter([]))
    outcomes = []

    async def ask():
        outcomes.append(await stage.ask(CHOOSE))

    async with stage.going_on() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        await stage.hears()
        assert [outcome.status for outcome in outcomes] == [Ending.ANSWERED]
        assert (stage.kept(), stage.forgotten()) == ([], [None])


async def test_what_was_kept_is_sent_as_what_it_was_and_forgotten_then():
    stage = Conversation()
    async with stage.going_on(voice=False):
        kept = stage.journal.typed("From before.")
        stage.chat.send_kept(UserMessage("From before.", "keyboard", 0.0, utterances=(kept,)))
        await anyio.wait_all_tasks_blocked()
        assert [text for text, _ in stage.host.sent] == ["From before."]
        assert (stage.kept(), stage.forgotten()) == ([], [None])


async def test_one_without_a_journal_keeps_nothing_and_names_nothing():
    stage = Conversation("Yes.")
    stage.journal = None
    events = []
    chat = Chat(lambda _tools, _ask, emit: ScriptedHost(emit), stage.open, Settings(), events.append)
    async with anyio.create_task_group() as tasks:
        await tasks.start(chat.run)
        await chat.until_voice(on=True)
        await stage.hears()
        chat.quit()
    assert [message.utterances for message in chat.transcript] == [()]
