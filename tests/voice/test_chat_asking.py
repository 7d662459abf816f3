"""What is asked in its structure while a conversation goes on, with doubles for everything outside."""

from contextlib import asynccontextmanager

import anyio
import pytest

from questionnaire import Option, Question, Questionnaire, TimeOut
from questionnaire import Status as Ending
from questionnaire.testing import HeldPresenter
from voice.chat import Chat
from voice.events import Discarded, DiscardReason
from voice.settings import Settings
from voice.testing import ScriptedHost, ScriptedParts

pytestmark = pytest.mark.anyio

CHOOSE = Questionnaire((Question("Merge how?", (Option("Squash"), Option("Rebase"))),))
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

    async def passes(self, seconds):
        self.microphone.feed(seconds, spoken=False)
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


# --- What is said to it -----------------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["Stop", "Repeat", "Continue", "Undo", "Louder"])
async def test_an_option_wins_over_the_control_of_its_name_also_while_the_agent_works(label):
    stage = Stage(f"{label}.")
    async with stage.going_on() as tasks:
        stage.host.begin()
        tasks.start_soon(
            stage.insist, Questionnaire((Question("What now?", (Option("Wait"), Option(label))),))
        )
        await stage.passes(0.1)
        await stage.hears()
        assert [outcome.responses[0].answer.selected for outcome in stage.outcomes] == [(1,)]
        assert stage.host.interrupted == 0
        assert stage.host.sent == []


async def test_repeat_says_the_whole_question_and_never_the_remark_that_came_last():
    stage = Stage("I like trains.", "Say that again slowly.", "Say it again.", "Squash.")
    async with stage.going_on() as tasks:
        tasks.start_soon(stage.insist)
        await stage.passes(0.1)
        question = list(stage.engine.texts)
        for _ in range(3):
            await stage.hears()
        assert stage.engine.texts[-2 * len(question) :] == question * 2
        assert stage.engine.texts[: -2 * len(question)] != question
        await stage.hears()
    assert [outcome.status for outcome in stage.outcomes] == [Ending.ANSWERED]


async def test_a_question_that_nobody_answers_is_repeated_itself_and_not_the_remark_on_it():
    stage = Stage("I like trains.", settings={"conversation": {"answer_within_s": 5.0}})
    async with stage.going_on() as tasks:
        tasks.start_soon(stage.insist)
        await stage.passes(0.1)
        await stage.hears()
        told = len(stage.engine.texts)
        await stage.passes(6.0)
        repeated = " ".join(stage.engine.texts[told:])
        assert "Merge how?" in repeated
        assert "Options: 1, Squash; 2, Rebase." in repeated


async def test_what_was_begun_before_the_next_question_is_shown_as_no_answer():
    two = Questionnaire((*CHOOSE.questions, Question("Which name?")))
    stage = Stage("Squash.", "Or no, rebase.")
    stage.transcript_after_s = 2.0
    async with stage.going_on() as tasks:
        tasks.start_soon(stage.insist, two)
        await stage.passes(1.0)
        stage.say(0.5, 1.7)
        stage.say(0.5, 2.5)
        await stage.passes(4.0)
        assert (DiscardReason.TOO_EARLY, "Or no, rebase.") in [
            (event.reason, event.text) for event in stage.of(Discarded)
        ]
        assert stage.host.sent == []
        assert stage.outcomes == []


# --- Beside the keyboard ----------------------------------------------------------------------------------


async def test_what_the_agent_asks_is_narrated_though_a_line_stands_that_was_typed_into_what_was_being_said():
    stage = Stage("I think the sec", "The first.")
    async with stage.going_on() as tasks:
        stage.microphone.feed(0.5, spoken=True)
        await stage.microphone.drained()
        stage.chat.draft("no")
        tasks.start_soon(stage.chat.tools.call, "narrate", {"text": "Which one?"})
        await stage.passes(2.5)
        assert stage.engine.texts == []
        await stage.passes(2.0)
        assert stage.engine.texts == ["Which one?"]
        stage.chat.draft("")
        await stage.passes(3.0)
        assert stage.host.sent == []
        await stage.hears()
    assert [text for text, _ in stage.host.sent] == ["The first."]
    dropped = [(event.reason, event.text) for event in stage.of(Discarded)]
    assert dropped == [(DiscardReason.TALKED_OVER, "I think the sec")]


async def test_a_line_that_was_begun_before_the_request_came_is_for_the_agent_and_allows_nothing():
    allow = Questionnaire((Question("May I?", (Option("Allow once"), Option("Deny"))),), risky=True)
    stage = Stage(presenter=HeldPresenter())
    async with stage.going_on() as tasks:
        stage.host.begin()
        stage.chat.draft("1")
        tasks.start_soon(stage.insist, allow)
        await settled()
        stage.chat.send("1")
        await settled()
        assert stage.outcomes == []
        stage.chat.draft("2")
        stage.chat.send("2")
        await settled()
        assert [outcome.responses[0].answer.selected for outcome in stage.outcomes] == [(1,)]
        stage.host.end()
        await settled()
    assert [text for text, _ in stage.host.sent] == ["1"]
