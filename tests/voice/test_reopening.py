"""What was said in one breath reaches the agent as one message, or not at all: whole conversations."""

from contextlib import asynccontextmanager

import anyio
import pytest

from voice.chat import Chat
from voice.errors import DeviceChanged, DeviceLost, TranscriberDied
from voice.events import Discarded, DiscardReason, MessageReopened
from voice.ports import Delivery
from voice.settings import Settings
from voice.testing import ScriptedHost, ScriptedJournal, ScriptedParts

pytestmark = pytest.mark.anyio

DEAD = TranscriberDied("The transcriber has died.")
GONE, CHANGED = DeviceLost("The microphone is gone."), DeviceChanged("Another microphone was chosen.")


class Conversation(ScriptedParts):
    """A chat whose transcriber is as slow as a test has it."""

    def __init__(self, *lines, **groups):
        super().__init__(*lines)
        self.transcript_after_s = None
        self.journal = ScriptedJournal()
        self.events = []

        def make_host(_tools, _ask, emit):
            self.host = ScriptedHost(emit)
            return self.host

        settings = Settings.model_validate(groups)
        self.chat = Chat(make_host, self.open, settings, self.events.append, journal=self.journal)

    @asynccontextmanager
    async def going_on(self):
        async with anyio.create_task_group() as tasks:
            await tasks.start(self.chat.run)
            await self.chat.until_voice(on=True)
            yield
            self.chat.quit()

    async def hears(self, seconds, *, spoken):
        self.microphone.feed(seconds, spoken=spoken)
        await self.rest()

    async def rest(self):
        with anyio.fail_after(60):
            await self.microphone.drained()
            await anyio.wait_all_tasks_blocked()

    async def is_transcribed(self):
        self.transcriber.release()
        await anyio.wait_all_tasks_blocked()

    @property
    def sent(self):
        return [text for text, _ in self.host.sent]

    def dropped(self):
        return [(event.reason, event.text) for event in self.events if isinstance(event, Discarded)]

    def kept(self):
        return [(entry.text, entry.reason) for entry in self.journal.entries.values()]


async def test_nothing_is_sent_of_what_goes_on_while_its_beginning_is_being_transcribed():
    stage = Conversation("Delete the", "old branch only.")
    async with stage.going_on():
        stage.transcriber.hold()
        await stage.hears(1.0, spoken=True)
        await stage.hears(1.9, spoken=False)
        await stage.hears(0.6, spoken=True)
        await stage.is_transcribed()
        await stage.hears(0.4, spoken=True)
        assert stage.sent == []
        await stage.hears(2.5, spoken=False)
        assert stage.host.sent == [("Delete the old branch only.", Delivery.FOLLOW_UP)]
        assert stage.kept() == []
    reopened = [event for event in stage.events if isinstance(event, MessageReopened)]
    assert reopened == [MessageReopened("Delete the", sent=False)]


async def test_a_cough_before_somebody_goes_on_does_not_part_the_two():
    stage = Conversation("Delete the", "", "old branch only.")
    async with stage.going_on():
        stage.host.begin()
        await stage.hears(0.5, spoken=True)
        await stage.hears(1.9, spoken=False)
        stage.transcriber.hold()
        await stage.hears(0.3, spoken=True)
        await stage.hears(1.9, spoken=False)
        await stage.hears(0.5, spoken=True)
        await stage.is_transcribed()
        await stage.hears(0.1, spoken=True)
        stage.host.end()
        await stage.rest()
        assert stage.sent == []
        await stage.hears(2.5, spoken=False)
        assert stage.sent == ["Delete the old branch only."]


@pytest.mark.parametrize("error", [GONE, CHANGED], ids=["lost", "changed"])
@pytest.mark.parametrize("slow", [False, True], ids=["known", "being transcribed"])
async def test_half_is_not_sent_where_the_microphone_is_lost_before_the_rest_was_said(error, slow):
    stage = Conversation("Delete the branch.", "no wait,")
    async with stage.going_on():
        stage.host.begin()
        if slow:
            stage.transcriber.hold()
        await stage.hears(0.5, spoken=True)
        await stage.hears(1.9, spoken=False)
        await stage.hears(0.5, spoken=True)
        stage.microphone.fail(error)
        await stage.rest()
        await stage.is_transcribed()
        with anyio.fail_after(60):
            while len(stage.dropped()) < 2:  # noqa: ASYNC110 — the events are a list
                await anyio.sleep(0.02)
        stage.host.end()
        await stage.rest()
        assert (stage.sent, stage.chat.waiting) == ([], ())
        halves = [(DiscardReason.CUT_OFF, "no wait,"), (DiscardReason.CUT_OFF, "Delete the branch.")]
        assert sorted(stage.dropped()) == sorted(halves)
        assert stage.kept() == [(text, reason) for reason, text in halves[::-1]]


async def test_half_is_not_sent_where_the_rest_could_not_be_transcribed_nor_the_rest_without_it():
    stage = Conversation("Delete the branch.", DEAD, DEAD, "delete it.")
    async with stage.going_on():
        stage.host.begin()
        for _ in range(2):
            await stage.hears(0.5, spoken=True)
            await stage.hears(1.9, spoken=False)
        stage.host.end()
        await stage.rest()
        assert stage.kept() == [
            ("Delete the branch.", DiscardReason.CUT_OFF),
            ("", DiscardReason.NOT_TRANSCRIBED),
        ]
        await stage.hears(6.0, spoken=False)
        stage.transcriber.hold()
        await stage.hears(0.5, spoken=True)
        await stage.hears(1.9, spoken=False)
        await stage.hears(0.5, spoken=True)
        await stage.is_transcribed()
        await stage.hears(2.5, spoken=False)
        assert stage.kept()[2:] == [
            ("", DiscardReason.NOT_TRANSCRIBED),
            ("delete it.", DiscardReason.CUT_OFF),
        ]
        assert stage.sent == []


async def test_half_is_not_sent_where_voice_is_switched_off_before_the_rest_was_said():
    stage = Conversation("Delete the branch.", "no wait,")
    async with stage.going_on():
        stage.host.begin()
        await stage.hears(0.5, spoken=True)
        await stage.hears(1.9, spoken=False)
        await stage.hears(0.5, spoken=True)
        stage.chat.toggle_voice()
        await stage.chat.until_voice(on=False)
        stage.host.end()
        await stage.rest()
        assert stage.sent == []
        assert [reason for _, reason in stage.kept()] == [DiscardReason.CUT_OFF] * 2


async def test_what_was_said_to_its_end_when_voice_is_switched_off_is_sent_whole():
    stage = Conversation("Delete the", "old branch only.")
    async with stage.going_on():
        stage.host.begin()
        await stage.hears(0.5, spoken=True)
        await stage.hears(1.9, spoken=False)
        stage.transcriber.hold()
        await stage.hears(0.5, spoken=True)
        await stage.hears(1.9, spoken=False)
        stage.chat.toggle_voice()
        await stage.rest()
        stage.host.end()
        await stage.rest()
        assert stage.sent == []
        await stage.is_transcribed()
        await stage.chat.until_voice(on=False)
        await stage.rest()
        assert stage.sent == ["Delete the old branch only."]


@pytest.mark.parametrize(
    ("rest", "sent"),
    [("no wait,", ["typed"]), ("", ["Delete the branch.", "typed"])],
    ids=["words", "clatter"],
)
async def test_half_is_not_sent_where_the_rest_was_typed_over(rest, sent):
    stage = Conversation("Delete the branch.", rest)
    async with stage.going_on():
        stage.host.begin()
        await stage.hears(0.5, spoken=True)
        await stage.hears(1.9, spoken=False)
        await stage.hears(0.5, spoken=True)
        stage.chat.send("typed")
        await stage.rest()
        await stage.hears(0.5, spoken=False)
        for _ in range(2):
            stage.host.end()
            await stage.rest()
        assert stage.sent == sent
