"""A message that is given to an agent in the moment of its death: it is named, kept, and not sent twice."""

from collections import Counter
from contextlib import asynccontextmanager

import anyio
import pytest

from voice.chat import Chat
from voice.errors import HostDied
from voice.events import Discarded, DiscardReason, HostLost, MessageSent, Notice, UserMessage
from voice.ports import Delivery, Unconfirmed
from voice.session import Session
from voice.settings import Settings
from voice.testing import ScriptedHost, ScriptedJournal, ScriptedParts

pytestmark = pytest.mark.anyio

WAITS = "What waits for the agent is kept, and sent with your next message."


@pytest.fixture(autouse=True)
def soon_over(monkeypatch):
    monkeypatch.setattr("voice.chat.HANDED_OVER_S", 0.2)


class WarilyScriptedHost(ScriptedHost):
    """One whose agent shows nothing of a message before it is told to."""

    def __init__(self, emit=None):
        super().__init__(emit)
        self.unconfirmed = ()

    async def send(self, text, delivery=Delivery.FOLLOW_UP):
        if not self._dead:
            self.unconfirmed = (*self.unconfirmed, Unconfirmed(text))
        await super().send(text, delivery)

    def show(self):
        """The agent shows that it has all that it was given."""
        self.unconfirmed = ()
        self.write("Well")


class Conversation(ScriptedParts):
    def __init__(self, *lines, make_host=WarilyScriptedHost):
        super().__init__(*lines)
        self.events = []
        self.journal = ScriptedJournal()

        def made(_tools, _ask, emit):
            self.host = make_host(emit)
            return self.host

        self.chat = Chat(made, self.open, Settings(), self.events.append, journal=self.journal)

    @asynccontextmanager
    async def going_on(self, *, voice=False):
        async with anyio.create_task_group() as tasks:
            await tasks.start(lambda *, task_status: self.chat.run(voice=voice, task_status=task_status))
            if voice:
                await self.chat.until_voice(on=True)
            yield tasks
            self.chat.quit()

    async def send(self, text):
        self.chat.send(text)
        await anyio.wait_all_tasks_blocked()

    async def die(self):
        self.host.die()
        await anyio.wait_all_tasks_blocked()

    def kept(self):
        return [(entry.text, entry.reason) for entry in self.journal.entries.values()]

    def notices(self):
        return [event.sentence for event in self.events if isinstance(event, Notice)]

    def discarded(self):
        found = [event for event in self.events if isinstance(event, Discarded)]
        return [(event.reason, event.text, event.source) for event in found]

    @property
    def sent(self):
        return [text for text, _ in self.host.sent]


async def test_a_message_is_kept_until_the_agent_shows_that_it_has_it():
    stage = Conversation()
    async with stage.going_on():
        await stage.send("Merge it.")
        assert stage.sent == ["Merge it."]
        assert MessageSent("Merge it.") in stage.events
        assert stage.kept() == [("Merge it.", None)]
        stage.host.show()
        assert stage.kept() == []
        await stage.die()
    assert stage.discarded() == []
    assert stage.notices() == []


async def test_a_message_without_a_sign_when_the_agent_dies_is_named_kept_and_never_sent_again():
    stage = Conversation()
    async with stage.going_on():
        await stage.send("Delete it.")
        await stage.die()
        assert stage.discarded() == [(DiscardReason.UNCONFIRMED, "Delete it.", "keyboard")]
        assert stage.kept() == [("Delete it.", DiscardReason.UNCONFIRMED)]
        assert len(stage.notices()) == 1  # that it is kept
        assert stage.chat.transcript == ()
        stage.host.unconfirmed = ()
        await stage.send("Are you there?")
        assert stage.host.opened == 2
        stage.host.show()
        stage.host.end()
        await anyio.wait_all_tasks_blocked()
    assert stage.sent == ["Delete it.", "Are you there?"]
    assert stage.kept() == [("Delete it.", DiscardReason.UNCONFIRMED)]
    assert [message.text for message in stage.chat.transcript] == ["Are you there?"]


async def test_what_was_said_and_may_not_have_arrived_is_named_aloud():
    stage = Conversation("Delete it.")
    async with stage.going_on(voice=True):
        stage.say()
        with anyio.fail_after(60):
            await stage.microphone.drained()
            await anyio.wait_all_tasks_blocked()
        await stage.die()
        assert stage.discarded() == [(DiscardReason.UNCONFIRMED, "Delete it.", "voice")]
        assert stage.engine.texts == ["The agent has ended.", "This may not have been sent: Delete it."]
    assert stage.kept() == [("Delete it.", DiscardReason.UNCONFIRMED)]


async def test_a_program_that_dies_before_it_has_answered_for_a_message_does_not_get_it_again():
    stage = Conversation()
    async with stage.going_on():
        stage.host.refuse(HostDied("It ended before it had answered."))
        await stage.send("Delete it.")
        assert [lost.sentence for lost in stage.events if isinstance(lost, HostLost)] == [
            "It ended before it had answered."
        ]
        assert stage.discarded() == [(DiscardReason.UNCONFIRMED, "Delete it.", "keyboard")]
        assert stage.chat.waiting == ()
        stage.host.unconfirmed = ()
        await stage.send("Are you there?")
        stage.host.show()
    assert stage.sent == ["Are you there?"]
    assert stage.kept() == [("Delete it.", DiscardReason.UNCONFIRMED)]


async def test_a_program_that_is_lost_while_it_is_given_a_message_does_not_get_it_again():
    stage = Conversation()
    async with stage.going_on():
        stage.host.hold()
        await stage.send("Delete it.")
        await stage.die()
        stage.host.release()
        assert stage.discarded() == [(DiscardReason.UNCONFIRMED, "Delete it.", "keyboard")]
        stage.host.unconfirmed = ()
        await stage.send("Are you there?")
        stage.host.show()
    assert stage.sent == ["Are you there?"]


@pytest.mark.parametrize("make_host", [ScriptedHost, WarilyScriptedHost])
async def test_what_waits_when_the_agent_dies_is_told_of_kept_and_sent_once_with_the_next_message(make_host):
    stage = Conversation(make_host=make_host)
    async with stage.going_on():
        stage.host.begin()
        await stage.send("Merge it.")
        await stage.die()
        assert stage.notices() == [WAITS]
        assert stage.kept() == [("Merge it.", None)]
        assert stage.discarded() == []
        await stage.send("And push.")
        stage.host.unconfirmed = ()
        stage.host.end()
        await anyio.wait_all_tasks_blocked()
    assert stage.sent == ["Merge it.", "And push."]


async def test_what_waits_when_the_agent_dies_is_kept_for_the_next_session():
    stage = Conversation()
    async with stage.going_on():
        stage.host.begin()
        await stage.send("Merge it.")
        await stage.die()
    assert "This was not sent: Merge it." in stage.notices()
    assert stage.kept() == [("Merge it.", None)]


async def test_what_the_host_itself_holds_for_its_next_program_is_kept_and_in_no_doubt():
    stage = Conversation()
    async with stage.going_on():
        await stage.send("Merge it.")
        stage.host.unconfirmed = (Unconfirmed("Merge it.", written=False),)
        await stage.die()
        assert stage.discarded() == []
        assert stage.notices() == [WAITS]
    assert "This was not sent: Merge it." in stage.notices()
    assert stage.kept() == [("Merge it.", None)]


async def test_a_living_agent_that_is_left_in_order_has_a_moment_to_show_what_it_has():
    stage = Conversation()
    async with stage.going_on():
        await stage.send("Merge it.")
        stage.chat.quit()
        await anyio.wait_all_tasks_blocked()
        stage.host.show()
    assert stage.kept() == []
    assert stage.notices() == []


async def test_what_it_shows_no_sign_of_until_then_is_named_and_kept():
    stage = Conversation()
    async with stage.going_on():
        await stage.send("Merge it.")
    assert stage.kept() == [("Merge it.", None)]
    assert any("Merge it." in notice for notice in stage.notices())


async def test_a_session_that_is_broken_off_keeps_what_it_does_not_know_to_have_arrived():
    stage = Conversation()
    async with stage.going_on() as tasks:
        await stage.send("Merge it.")
        tasks.cancel_scope.cancel()
    assert stage.kept() == [("Merge it.", None)]


async def test_with_a_host_that_knows_no_signs_a_message_that_was_accepted_has_arrived():
    stage = Conversation(make_host=ScriptedHost)
    async with stage.going_on():
        await stage.send("Merge it.")
        assert stage.kept() == []
        await stage.die()
    assert stage.discarded() == []
    assert stage.notices() == []


async def test_of_two_messages_with_the_same_words_the_older_one_has_arrived():
    journal, host = ScriptedJournal(), WarilyScriptedHost()
    session = Session(lambda _event: None, journal)
    async with host.open(), anyio.create_task_group() as tasks:
        tasks.start_soon(session.run, host)
        for at_s in (1.0, 2.0):
            session.put(UserMessage("Yes.", "keyboard", at_s), Delivery.STEER)
        await session.settled()
        assert [message.at_s for message in session.unconfirmed] == [1.0, 2.0]
        host.unconfirmed = host.unconfirmed[1:]
        session.confirm(host)
        assert [message.at_s for message in session.unconfirmed] == [2.0]
        assert [message.at_s for message in session.take_doubtful(host)] == [2.0]
        assert session.unconfirmed == ()
        tasks.cancel_scope.cancel()
    assert [message.at_s for message in session.transcript] == [1.0]
    assert Counter(journal.forgotten.values()) == {None: 1}


async def accepted_and_gone_on_with(session, host, journal):
    """A message that the host has accepted, without a sign; and one that holds it, and is not put yet."""
    first = UserMessage("Delete", "voice", 1.0, utterances=(journal.typed("Delete"),))
    both = UserMessage(
        "Delete the log.", "voice", 2.0, utterances=(*first.utterances, journal.typed("the log"))
    )
    async with host.open(), anyio.create_task_group() as tasks:
        tasks.start_soon(session.run, host)
        session.put(first)
        await session.settled()
        tasks.cancel_scope.cancel()
    return first, both


async def test_an_addition_to_what_may_not_have_arrived_holds_it_and_settles_both():
    journal, host = ScriptedJournal(), WarilyScriptedHost()
    session = Session(lambda _event: None, journal)
    first, both = await accepted_and_gone_on_with(session, host, journal)
    assert session.take_doubtful(host) == (first,)
    journal.decided(first.utterances, first.text, DiscardReason.UNCONFIRMED)
    host.unconfirmed = ()
    async with host.open(), anyio.create_task_group() as tasks:
        tasks.start_soon(session.run, host)
        session.put(both, instead_of=first)
        await session.settled()
        host.unconfirmed = ()
        session.confirm(host)
        tasks.cancel_scope.cancel()
    assert session.transcript == (both,)
    assert journal.entries == {}


async def test_what_goes_on_with_a_message_that_may_not_have_arrived_holds_it_and_goes_by_itself():
    journal, host = ScriptedJournal(), WarilyScriptedHost()
    session = Session(lambda _event: None, journal)
    first, both = await accepted_and_gone_on_with(session, host, journal)
    session.put(both, instead_of=first)
    assert session.take_doubtful(host) == ()  # else it would be told as not sent, and sent
    assert session.waiting == (both,)
    host.unconfirmed = ()
    async with host.open(), anyio.create_task_group() as tasks:
        tasks.start_soon(session.run, host)
        await session.settled()
        assert session.unconfirmed == (both,)
        tasks.cancel_scope.cancel()
    assert session.take_doubtful(host) == (both,)
    assert session.transcript == ()
