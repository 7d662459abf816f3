"""What is asked in its structure while a conversation goes on, with doubles for everything outside."""

from contextlib import asynccontextmanager

import anyio
import pytest

from questionnaire import Option, Question, Questionnaire, TimeOut
from questionnaire import Status as Ending
from questionnaire.testing import HeldPresenter
from voice.chat import Chat
from voice.settings import Settings
from voice.testing import ScriptedHost, ScriptedParts

pytestmark = pytest.mark.anyio

CHOOSE = Questionnaire((Question("Merge how?", "", (Option("Squash"), Option("Rebase"))),))
FORM = {"questions": [{"id": "how", "question": "Merge how?", "type": "text"}]}


async def settled():
    """Let everybody do what they can."""
    await anyio.wait_all_tasks_blocked()


class Stage(ScriptedParts):
    """A conversation in which the agent can ask; lines are what is understood of what is said."""

    def __init__(self, *lines, presenter=None, settings=None, **how):
        super().__init__(*lines)
        self.events = []
        self.outcomes = []
        self.host = self.ask = None

        def make_host(_tools, ask, emit):
            self.host, self.ask = ScriptedHost(emit), ask
            return self.host

        settings = Settings.model_validate(settings or {})
        self.chat = Chat(make_host, self.open, settings, self.events.append, presenter=presenter, **how)

    @asynccontextmanager
    async def going_on(self, *, voice=True):
        async with anyio.create_task_group() as tasks:
            await tasks.start(lambda *, task_status: self.chat.run(voice=voice, task_status=task_status))
            if voice:
                await self.chat.until_voice(on=True)
            yield tasks
            self.chat.quit()

    async def insist(self, questionnaire=CHOOSE):
        """The host asks what must be answered in its structure."""
        self.outcomes.append(await self.ask(questionnaire))

    async def hears(self, seconds=0.5, silence=2.5):
        """Somebody speaks; returns when it has been understood."""
        self.say(seconds, silence)
        await self.microphone.drained()
        await settled()

    def of(self, *kinds):
        return [event for event in self.events if isinstance(event, kinds)]


class Signals:
    """Signals for attention that note themselves."""

    def __init__(self):
        self.given = []

    async def call(self, label):
        self.given.append(label)

    async def release(self):
        self.given.append("")


# --- As the user has set it -------------------------------------------------------------------------------


async def test_what_the_agent_asks_calls_for_attention_and_ends_when_the_time_is_over():
    signals = Signals()
    asking = {"contract": "form", "time_out": TimeOut(0.05), "attention": (signals,)}
    stage = Stage(presenter=HeldPresenter(), **asking)
    async with stage.going_on(voice=False):
        result = await stage.chat.tools.call("ask_user_question", FORM)
    assert result.details["cancelled"] is True
    assert result.details["status"] == Ending.TIMED_OUT
    assert signals.given == ["Merge how?", ""]


async def test_what_the_host_insists_on_does_so_too():
    signals = Signals()
    stage = Stage(presenter=HeldPresenter(), time_out=TimeOut(0.05), attention=(signals,))
    async with stage.going_on(voice=False):
        await stage.insist()
    assert [outcome.status for outcome in stage.outcomes] == [Ending.TIMED_OUT]
    assert signals.given == ["Merge how?", ""]
