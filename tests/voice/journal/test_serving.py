"""`narrate` of the MCP server: what was replied is kept until it is in the result of a call."""

from contextlib import asynccontextmanager

import anyio
import pytest

from questionnaire import FunctionToolset
from voice.errors import TranscriberDied
from voice.events import DiscardReason, NarrationEnded, Notice, UserMessage
from voice.server import VoiceServer
from voice.settings import Settings
from voice.testing import ScriptedJournal, ScriptedParts

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    """The MCP library's; and another one would deliver a cancellation a moment later."""
    return "asyncio"


class Served(ScriptedParts):
    def __init__(self, *lines):
        super().__init__(*lines)
        self.events = []
        self.leaves = None
        """Cancelled when something has been said."""
        self.journal = ScriptedJournal()
        self.server = VoiceServer(
            self.open, Settings(), emit=self.take, asking=FunctionToolset(), journal=self.journal
        )

    @asynccontextmanager
    async def going_on(self):
        over = anyio.Event()

        async def run():
            await self.server.run(over.wait, on=True)

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run)
                await anyio.wait_all_tasks_blocked()
                yield tasks
                over.set()

    def take(self, event):
        self.events.append(event)
        if isinstance(event, UserMessage) and self.leaves is not None:
            self.leaves.cancel()

    async def narrate(self):
        return await self.server.tools.call("narrate", {"text": "Squash or rebase?"})

    async def said(self):
        """Somebody replies to what has been narrated."""
        count = len(self.of(UserMessage))
        while not self.of(NarrationEnded):
            await anyio.lowlevel.checkpoint()
        self.say(0.5, 2.5)
        while len(self.of(UserMessage)) == count:
            await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    def kept(self):
        return [entry.text for entry in self.journal.entries.values()]


async def test_a_reply_that_is_returned_is_forgotten():
    stage = Served("Rebase.")
    results = []

    async def call():
        results.append(await stage.narrate())

    async with stage.going_on() as tasks:
        tasks.start_soon(call)
        await stage.said()
        assert results[0].details["reply"] == "Rebase."
    assert (stage.kept(), list(stage.journal.forgotten.values())) == ([], [None])


async def test_what_could_not_be_transcribed_is_kept_and_it_says_how_to_try_again():
    stage = Served(TranscriberDied("The transcriber has died."))
    told = "What you said is kept: voice journal retry j-1 transcribes it again."
    async with stage.going_on() as tasks:
        tasks.start_soon(stage.narrate)
        while not stage.of(NarrationEnded):
            await anyio.lowlevel.checkpoint()
        stage.say(0.5, 2.5)
        while Notice(told) not in stage.events:
            await anyio.lowlevel.checkpoint()
        assert [entry.reason for entry in stage.journal.entries.values()] == [DiscardReason.NOT_TRANSCRIBED]
        tasks.cancel_scope.cancel()


async def test_a_reply_that_could_not_be_returned_is_kept_until_the_next_result_tells_it():
    stage = Served("Rebase.", "Yes.")
    results = []
    client = anyio.CancelScope()
    stage.leaves = client  # at the moment at which the reply is known

    async def call():
        with client:
            await stage.narrate()

    async def call_again():
        results.append(await stage.narrate())

    async with stage.going_on() as tasks:
        tasks.start_soon(call)
        await stage.said()
        assert stage.kept() == ["Rebase."]
        stage.leaves = None
        stage.events.clear()
        tasks.start_soon(call_again)
        await stage.said()
        assert results[0].details["said_before"] == ["Rebase."]
        assert results[0].details["reply"] == "Yes."
        assert stage.kept() == []
