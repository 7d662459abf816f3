"""The inbox: what goes at once, what waits, what is taken back, and what a host that fails does to it."""

from contextlib import asynccontextmanager

import anyio
import pytest

from voice.errors import HostDied
from voice.events import MessageQueued, MessageReopened, MessageSent, MessageTakenBack, UserMessage
from voice.ports import Delivery
from voice.session import Session
from voice.testing import ScriptedHost

pytestmark = pytest.mark.anyio


def message(text, source="voice"):
    return UserMessage(text, source, 0.0)


@asynccontextmanager
async def running(session, host):
    async with host.open(), anyio.create_task_group() as tasks:
        tasks.start_soon(session.run, host)
        await anyio.wait_all_tasks_blocked()
        yield
        tasks.cancel_scope.cancel()


def end_turn(session, host):
    host.end()
    session.look()


async def test_messages_arrive_in_order_and_as_text_alone():
    events = []
    host, session = ScriptedHost(busy_after_send=False), Session(events.append)
    async with running(session, host):
        for text, source in (("one", "voice"), ("two", "keyboard"), ("three", "voice")):
            session.put(message(text, source))
        await session.settled()
    assert [text for text, _ in host.sent] == ["one", "two", "three"]
    assert [heard.source for heard in session.transcript] == ["voice", "keyboard", "voice"]
    assert [event for event in events if isinstance(event, UserMessage)] == list(session.transcript)
    assert [event.text for event in events if isinstance(event, MessageSent)] == ["one", "two", "three"]


async def test_white_space_alone_is_never_sent():
    session = Session(lambda event: None)
    assert not session.put(message(" \n\t "))
    await session.settled()
    assert session.waiting == ()


async def test_what_comes_while_the_host_works_waits_until_it_is_idle_and_is_acknowledged():
    events = []
    host, session = ScriptedHost(), Session(events.append)
    async with running(session, host):
        session.put(message("one"))
        await anyio.wait_all_tasks_blocked()
        session.put(message("two"))
        session.put(message("three", "keyboard"))
        await anyio.wait_all_tasks_blocked()
        assert [text for text, _ in host.sent] == ["one"]
        assert [event.text for event in events if isinstance(event, MessageQueued)] == ["two", "three"]
        end_turn(session, host)
        await anyio.wait_all_tasks_blocked()
        assert [text for text, _ in host.sent] == ["one", "two"]
        end_turn(session, host)
        await session.settled()
    assert [text for text, _ in host.sent] == ["one", "two", "three"]


@pytest.mark.parametrize("delivery", [Delivery.STEER, Delivery.INTERRUPT])
async def test_what_steers_or_interrupts_goes_at_once_and_overtakes_what_waits(delivery):
    host, session = ScriptedHost(), Session(lambda event: None)
    async with running(session, host):
        session.put(message("one"))
        await anyio.wait_all_tasks_blocked()
        session.put(message("later"))
        session.put(message("now"), delivery)
        await anyio.wait_all_tasks_blocked()
        assert host.sent == [("one", Delivery.FOLLOW_UP), ("now", delivery)]
        assert [waiting.text for waiting in session.waiting] == ["later"]


async def test_the_newest_spoken_message_that_waits_can_be_taken_back():
    host, session = ScriptedHost(), Session(lambda event: None)
    async with running(session, host):
        session.put(message("one"))
        await anyio.wait_all_tasks_blocked()
        assert session.take_back() is None
        for text, source in (("two", "voice"), ("three", "voice"), ("four", "keyboard")):
            session.put(message(text, source))
        assert session.can_take_back
        assert session.take_back().unsent.text == "three"
        end_turn(session, host)
        await anyio.wait_all_tasks_blocked()
        end_turn(session, host)
        await session.settled()
    assert [text for text, _ in host.sent] == ["one", "two", "four"]


async def test_that_a_message_was_taken_back_is_told_and_whether_the_host_keeps_a_part_of_it():
    told = []
    host, session = ScriptedHost(), Session(told.append)
    async with running(session, host):
        one = message("one")
        session.put(one)
        await session.settled()
        session.put(message("two"))
        session.take_back()
        longer = message("one more")
        session.put(longer, instead_of=one)
        taken = session.take_back()
    assert taken.message is longer
    assert taken.unsent.text == "more"
    assert [event for event in told if isinstance(event, MessageTakenBack)] == [
        MessageTakenBack("two", added=False),
        MessageTakenBack("one more", added=True),
    ]


async def test_what_is_being_handed_over_cannot_be_taken_back():
    host, session = ScriptedHost(), Session(lambda event: None)
    host.hold()
    async with running(session, host):
        session.put(message("one"))
        await anyio.wait_all_tasks_blocked()
        assert not session.can_take_back
        assert session.take_back() is None
        host.release()
        await session.settled()
    assert [text for text, _ in host.sent] == ["one"]


async def test_a_message_that_the_host_did_not_take_is_the_first_of_the_next_run_and_never_doubled():
    session = Session(lambda event: None)
    session.put(message("one"))
    session.put(message("two"))
    dying = ScriptedHost()
    dying.refuse(HostDied("It died."))
    async with dying.open():
        with pytest.raises(HostDied):
            await session.run(dying)
    assert session.transcript == ()
    host = ScriptedHost(busy_after_send=False)
    async with running(session, host):
        await session.settled()
    assert [text for text, _ in host.sent] == ["one", "two"]
    assert dying.sent == []


async def test_a_message_that_holds_an_earlier_one_takes_its_place_while_it_waits():
    events = []
    host, session = ScriptedHost(), Session(events.append)
    async with running(session, host):
        session.put(message("one"))
        await anyio.wait_all_tasks_blocked()
        first = message("Use Redis")
        session.put(first)
        session.put(message("typed", "keyboard"))
        session.put(message("Use Redis and Postgres."), Delivery.STEER, instead_of=first)
        assert [waiting.text for waiting in session.waiting] == ["Use Redis and Postgres.", "typed"]
        assert MessageReopened("Use Redis", sent=False) in events
        assert [text for text, _ in host.sent] == ["one"], "it waits as the first one did"


async def test_a_message_that_holds_one_that_was_sent_interrupts_and_stands_for_both_in_the_transcript():
    events = []
    host, session = ScriptedHost(), Session(events.append)
    async with running(session, host):
        first, both = message("Use Redis"), message("Use Redis and Postgres.")
        session.put(first)
        await session.settled()
        session.put(both, instead_of=first)
        await session.settled()
        assert session.transcript == (both,)
    assert MessageReopened("Use Redis", sent=True) in events
    assert host.sent == [(first.text, Delivery.FOLLOW_UP), (both.text, Delivery.INTERRUPT)]


async def test_a_message_that_is_being_handed_over_when_it_is_added_to_is_neither_lost_nor_sent_twice():
    host, session = ScriptedHost(), Session(lambda event: None)
    first, both = message("Use Redis"), message("Use Redis and Postgres.")
    host.hold()
    host.refuse(HostDied("It died."))
    session.put(first)

    async def add_to_it():
        await anyio.wait_all_tasks_blocked()
        session.put(both, instead_of=first)
        host.release()

    async with host.open(), anyio.create_task_group() as tasks:
        tasks.start_soon(add_to_it)
        with pytest.raises(HostDied):
            await session.run(host)
    assert session.waiting == (both,)


async def test_what_replaces_a_message_that_is_nowhere_any_more_is_a_message_of_its_own():
    host, session = ScriptedHost(), Session(lambda event: None)
    async with running(session, host):
        session.put(message("both"), instead_of=message("taken back"))
        await session.settled()
    assert host.sent == [("both", Delivery.FOLLOW_UP)]
