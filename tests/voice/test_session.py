import anyio
import pytest

from voice.events import UserMessage
from voice.session import Session

pytestmark = pytest.mark.anyio


class Host:
    def __init__(self, failures=0):
        self.sent = []
        self.failures = failures

    async def send(self, text):
        await anyio.lowlevel.checkpoint()
        if self.failures:
            self.failures -= 1
            raise ConnectionError("the host is gone")
        self.sent.append(text)


def message(text, source="voice"):
    return UserMessage(text, source, 0.0)


async def test_messages_arrive_in_order_and_as_text_alone():
    host, events = Host(), []
    session = Session(host, events.append)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.run)
        for text, source in (("one", "voice"), ("two", "keyboard"), ("three", "voice")):
            session.put(message(text, source))
        await session.settled()
        tasks.cancel_scope.cancel()
    assert host.sent == ["one", "two", "three"]
    assert [heard.source for heard in session.transcript] == ["voice", "keyboard", "voice"]
    assert list(session.transcript) == events


async def test_white_space_alone_is_never_sent():
    host = Host()
    session = Session(host, lambda event: None)
    assert not session.put(message(" \n\t "))
    await session.settled()
    assert host.sent == []


async def test_a_message_that_the_host_did_not_take_is_kept_for_the_next_run():
    host = Host(failures=1)
    session = Session(host, lambda event: None)
    session.put(message("one"))
    session.put(message("two"))
    with pytest.raises(ConnectionError):
        await session.run()
    assert session.transcript == ()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.run)
        await session.settled()
        tasks.cancel_scope.cancel()
    assert host.sent == ["one", "two"]
