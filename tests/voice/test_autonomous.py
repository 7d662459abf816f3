"""Autonomous Voice with scripted parts: what is withheld, what is heard and spoken, what comes back."""

from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import anyio
import pytest

import questionnaire.contracts
from questionnaire import (
    AdjustableToolset,
    Coordinator,
    FunctionToolset,
    Tool,
    ToolResult,
    Withhold,
    questionnaire_toolset,
)
from questionnaire.testing import ScriptedPresenter
from voice.audio import FRAME_S
from voice.autonomous import AutonomousVoice, refusal_while_on
from voice.errors import DeviceChanged, DeviceError, DeviceLost, SpeechEngineDied, VoiceError
from voice.events import (
    DevicesInUse,
    Discarded,
    DiscardReason,
    FramesLost,
    LevelMeasured,
    NarrationEnded,
    NarrationEnding,
    NarrationStarted,
    Notice,
    UserMessage,
    VoiceState,
    VoiceStateChanged,
)
from voice.floor import Duplex
from voice.happenings import Kind, MicrophoneBack, MicrophoneLost, Passed, Silent, Speaking
from voice.listening.patience import Patience, Wording
from voice.phrases import phrases_of
from voice.speaking.earcons import Earcon
from voice.speaking.manner import Manner
from voice.speaking.writing import Writing
from voice.testing import ScriptedParts
from voice.tools import voice_toolset

pytestmark = pytest.mark.anyio

ALL = ["ask_user_question", "user_select", "other"]
QUESTION = {
    "questions": [
        {
            "header": "Deploy",
            "question": "Where to?",
            "options": [{"label": "Here", "description": ""}, {"label": "There", "description": ""}],
        }
    ]
}


class Stage(ScriptedParts):
    """One Voice with doubles for everything outside."""

    def __init__(self, *lines, coordinator=None, **options):
        super().__init__(*lines, **options)

        async def called(arguments):
            return ToolResult("shown")

        tools = (Tool(name, "", {"type": "object"}) for name in ALL)
        self.tools = AdjustableToolset(FunctionToolset(*((tool, called) for tool in tools)))
        self.events = []
        self.happenings = []
        self.voice = AutonomousVoice(
            self.tools,
            self.open,
            emit=self.events.append,
            heard=self.events.extend,
            happened=self.happenings.append,
            coordinator=coordinator,
        )

    @asynccontextmanager
    async def on(self):
        """Voice is on inside."""
        async with anyio.create_task_group() as voice:
            await voice.start(self.voice.run)
            yield
            self.voice.stop()

    @property
    def said(self):
        return [event.text for event in self.events if isinstance(event, UserMessage)]

    def of(self, kind):
        return [event for event in [*self.events, *self.happenings] if isinstance(event, kind)]

    def dropped(self):
        return [(event.reason, event.text) for event in self.of(Discarded)]

    def listed(self):
        return [tool.name for tool in self.tools.tools()]

    def states(self):
        return [event.state for event in self.events if isinstance(event, VoiceStateChanged)]

    def notices(self):
        return [event.sentence for event in self.events if isinstance(event, Notice)]


async def test_the_tools_that_ask_are_withheld_while_it_is_on_and_come_back():
    stage = Stage()
    async with stage.on():
        assert stage.listed() == ["other"]
        assert stage.voice.state is VoiceState.ACTIVE
    assert stage.listed() == ALL
    assert stage.states() == ["starting", "active", "draining", "inactive"]
    assert not stage.microphone.open_now


async def test_a_call_of_a_withheld_tool_is_told_to_narrate_the_question():
    stage = Stage()
    async with stage.on():
        result = await stage.tools.call("ask_user_question", QUESTION)
        assert result.is_error
        assert "narrate" in result.text
        assert "Where to?" in result.text
        nonsense = await stage.tools.call("user_select", {"x": 1})
        assert nonsense.is_error
        assert "narrate" in nonsense.text
        assert (await stage.tools.call("other", {})).text == "shown"
    assert (await stage.tools.call("ask_user_question", QUESTION)).text == "shown"


async def settled():
    """Let everybody do what they can."""
    await anyio.wait_all_tasks_blocked()


# --- What is heard ----------------------------------------------------------------------------------------


async def test_what_is_said_is_heard():
    stage = Stage("Use the second one.")
    async with stage.on():
        stage.say()
        await stage.microphone.drained()
    assert stage.said == ["Use the second one."]


async def test_ten_turns_one_after_the_other_are_all_heard():
    stage = Stage(*map(str, range(10)))
    async with stage.on():
        for _ in range(10):
            await stage.voice.narrate("And now?")
            stage.say(0.3)
            await stage.microphone.drained()
    assert stage.said == [str(number) for number in range(10)]


async def test_what_is_heard_while_we_narrate_never_becomes_a_message():
    stage = Stage("Yes.")
    stage.speaker.hold()
    async with stage.on():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stage.voice.narrate, "Shall I go on?")
            await stage.speaker.begun()
            stage.say()
            await stage.microphone.drained()
            stage.speaker.release()
        assert stage.transcriber.asked == []
        stage.say()
        await stage.microphone.drained()
    assert stage.said == ["Yes."]


async def test_a_narration_waits_until_whoever_speaks_has_finished():
    stage = Stage("Use the other one.")
    stage.speaker.hold()
    async with stage.on(), anyio.create_task_group() as tasks:
        stage.microphone.feed(0.5, spoken=True)
        await stage.microphone.drained()
        tasks.start_soon(stage.voice.narrate, "Shall I delete it?")
        await settled()
        assert not stage.speaker.playing
        assert stage.of(NarrationStarted) == [NarrationStarted("Shall I delete it?")]
        stage.microphone.feed(0.5, spoken=True)
        stage.microphone.feed(2.5, spoken=False)
        await stage.speaker.begun()
        assert stage.said == ["Use the other one."]
        stage.speaker.release()
    (ended,) = stage.of(NarrationEnded)
    assert ended.ending is NarrationEnding.COMPLETED


async def test_time_passes_by_the_frame_and_levels_are_told_ten_times_a_second():
    stage = Stage("Yes.")
    async with stage.on():
        stage.microphone.feed(1.0, spoken=False)
        stage.microphone.feed(1.0, spoken=True)
        await stage.microphone.drained()
        assert stage.voice.now_s == pytest.approx(2.0)
    passed = stage.of(Passed)
    assert sum(event.seconds for event in passed) == pytest.approx(2.0)
    assert not passed[0].busy
    assert any(event.busy for event in passed)
    levels = stage.of(LevelMeasured)
    assert len(levels) == 20
    assert levels[-1].level_dbfs > -20 > levels[0].level_dbfs


async def test_it_tells_which_devices_are_in_use():
    stage = Stage()
    async with stage.on():
        assert stage.of(DevicesInUse) == [DevicesInUse("scripted microphone", "scripted speaker")]
    assert stage.of(DevicesInUse)[-1] == DevicesInUse("", "")


async def test_the_devices_are_told_again_whenever_they_are_others():
    stage = Stage()
    async with stage.on():
        stage.microphone.feed(0.1, spoken=False)
        await stage.microphone.drained()
        stage.microphone.name = "headset"
        stage.microphone.feed(0.1, spoken=False)
        await stage.microphone.drained()
    names = [devices.microphone for devices in stage.of(DevicesInUse)]
    assert names == ["scripted microphone", "headset", ""]


async def test_a_microphone_that_gives_way_to_another_is_no_loss_and_cuts_an_open_turn_off():
    stage = Stage("Half", "Whole.")
    async with stage.on():
        stage.microphone.feed(0.5, spoken=True)
        stage.microphone.fail(DeviceChanged("Headset is gone."))
        stage.microphone.feed(2.0, spoken=False)
        stage.say()
        with anyio.fail_after(60):
            while not stage.said:  # noqa: ASYNC110
                await anyio.sleep(FRAME_S)
    assert stage.said == ["Whole."]
    assert stage.dropped() == [(DiscardReason.CUT_OFF, "Half")]
    assert stage.notices() == ["Headset is gone. The microphone is scripted microphone now."]
    assert stage.of(MicrophoneLost) == stage.of(MicrophoneBack) == []


async def test_one_that_gives_way_and_does_not_open_again_is_lost(monkeypatch):
    monkeypatch.setattr("voice.autonomous.REOPEN_AFTER_S", 0.01)
    stage = Stage("After.")
    async with stage.on():
        stage.microphone.fail(DeviceChanged("Headset is gone."))
        stage.microphone.fail(DeviceError("There is no microphone."))
        stage.microphone.feed(2.0, spoken=False)
        stage.say()
        with anyio.fail_after(60):
            while not stage.said:  # noqa: ASYNC110
                await anyio.sleep(FRAME_S)
    lost, back = stage.notices()
    assert lost.startswith("There is no microphone.")
    assert back == "scripted microphone is back."
    assert len(stage.of(MicrophoneLost)) == len(stage.of(MicrophoneBack)) == 1


async def test_frames_that_were_lost_are_told_once():
    stage = Stage()
    stage.microphone.lost_frames = 5
    async with stage.on():
        stage.microphone.lost_frames = 12
        stage.microphone.feed(0.1, spoken=False)
        await stage.microphone.drained()
        stage.microphone.lost_frames = 15
        stage.microphone.feed(0.1, spoken=False)
        await stage.microphone.drained()
    assert stage.of(FramesLost) == [FramesLost(7), FramesLost(3)]


async def test_while_it_is_held_nothing_is_heard_and_an_open_turn_goes_on_afterwards():
    stage = Stage("The second one.")
    async with stage.on():
        stage.microphone.feed(0.5, spoken=True)
        await stage.microphone.drained()
        stage.voice.hold()
        stage.microphone.feed(5.0, spoken=False)
        await stage.microphone.drained()
        assert stage.said == []
        stage.voice.release()
        stage.say()
        await stage.microphone.drained()
    assert stage.said == ["The second one."]


async def test_a_dropped_turn_is_shown_with_its_words():
    stage = Stage("The sec")
    async with stage.on():
        stage.microphone.feed(0.5, spoken=True)
        await stage.microphone.drained()
        stage.voice.drop_turn(DiscardReason.TYPED_INSTEAD)
        stage.microphone.feed(1.0, spoken=False)
        await stage.microphone.drained()
    assert stage.dropped() == [(DiscardReason.TYPED_INSTEAD, "The sec")]
    assert stage.said == []


async def test_a_closed_microphone_is_given_back_and_can_be_opened_again():
    stage = Stage("Hello.")
    async with stage.on():
        stage.voice.close_microphone()
        await settled()
        assert not stage.microphone.open_now
        assert stage.voice.state is VoiceState.ACTIVE
        stage.voice.open_microphone()
        await settled()
        stage.say()
        await stage.microphone.drained()
    assert stage.said == ["Hello."]


# --- Stopping ---------------------------------------------------------------------------------------------


async def test_half_a_reply_is_never_sent_when_it_is_stopped_and_is_shown():
    stage = Stage("Yes, delete")
    async with stage.on():
        stage.microphone.feed(0.5, spoken=True)
        await stage.microphone.drained()
    assert stage.said == []
    assert stage.dropped() == [(DiscardReason.CUT_OFF, "Yes, delete")]
    assert stage.listed() == ALL


async def test_half_a_reply_is_shown_also_when_it_is_cancelled():
    stage = Stage("Yes, delete")
    async with anyio.create_task_group() as tasks:
        await tasks.start(stage.voice.run)
        stage.microphone.feed(0.5, spoken=True)
        await stage.microphone.drained()
        tasks.cancel_scope.cancel()
    assert stage.dropped() == [(DiscardReason.CUT_OFF, "Yes, delete")]


async def test_what_had_ended_when_it_is_stopped_is_delivered_and_the_tools_are_back_before_that():
    stage = Stage("The second one.")
    stage.transcript_after_s = None
    stage.transcriber.hold()
    async with anyio.create_task_group() as tasks:
        await tasks.start(stage.voice.run)
        stage.say(silence=1.7)
        await stage.microphone.drained()
        stage.voice.stop()
        await anyio.wait_all_tasks_blocked()
        assert stage.voice.state is VoiceState.DRAINING
        assert stage.listed() == ALL
        assert not stage.microphone.open_now
        stage.transcriber.release()
    assert stage.said == ["The second one."]


async def test_what_had_ended_before_the_microphone_was_lost_arrives_and_what_had_not_is_shown():
    stage = Stage("Before.", "Half")
    async with stage.on():
        stage.say()
        stage.microphone.feed(0.5, spoken=True)
        stage.microphone.fail(DeviceLost("The microphone is gone."))
        with anyio.fail_after(60):
            while not stage.dropped():  # noqa: ASYNC110
                await anyio.sleep(FRAME_S)
    assert stage.said == ["Before."]
    assert stage.dropped() == [(DiscardReason.CUT_OFF, "Half")]


async def test_a_lost_microphone_is_said_once_looked_for_and_works_again(monkeypatch):
    monkeypatch.setattr("voice.autonomous.REOPEN_AFTER_S", 0.01)
    stage = Stage("After.")
    async with stage.on():
        stage.microphone.fail(DeviceLost("The microphone is gone."))
        stage.microphone.fail(DeviceLost("The microphone is gone."))
        stage.microphone.feed(1.0, spoken=False)
        stage.say()
        with anyio.fail_after(60):
            while not stage.said:  # noqa: ASYNC110
                await anyio.sleep(FRAME_S)
    assert [sentence.split(".")[0] for sentence in stage.notices()] == [
        "The microphone is gone",
        "scripted microphone is back",
    ]
    assert stage.microphone.opened == 3
    assert len(stage.of(MicrophoneLost)) == len(stage.of(MicrophoneBack)) == 1


@pytest.mark.parametrize("pause_s", [0.0, 0.8])
async def test_who_speaks_on_when_the_microphone_is_back_is_not_understood_by_halves(pause_s):
    stage = Stage("Do not", "delete it.", "Wait.")
    stage.transcript_after_s = None
    async with stage.on():
        stage.microphone.feed(0.5, spoken=True)
        stage.microphone.fail(DeviceLost("The microphone is gone."))
        stage.microphone.feed(pause_s, spoken=False)
        stage.say()
        stage.say()
        with anyio.fail_after(60):
            while not stage.said:  # noqa: ASYNC110
                await anyio.sleep(FRAME_S)
    assert stage.said == ["Wait."]
    assert stage.dropped() == [(DiscardReason.CUT_OFF, "Do not"), (DiscardReason.CUT_OFF, "delete it.")]


async def test_who_speaks_when_the_microphone_comes_back_had_begun_before():
    stage = Stage("delete it.", "Wait.")
    stage.transcript_after_s = None
    async with stage.on():
        stage.microphone.fail(DeviceLost("The microphone is gone."))
        stage.say()
        stage.say()
        with anyio.fail_after(60):
            while not stage.said:  # noqa: ASYNC110
                await anyio.sleep(FRAME_S)
    assert stage.said == ["Wait."]
    assert stage.dropped() == [(DiscardReason.CUT_OFF, "delete it.")]


async def test_a_source_that_ends_ends_voice_and_its_last_words_are_heard():
    stage = Stage("The end.")
    stage.microphone.feed(0.5, spoken=True)
    stage.microphone.end()
    await stage.voice.run()
    assert stage.said == ["The end."]
    assert stage.states() == ["starting", "active", "draining", "inactive"]
    assert stage.notices() == ["scripted microphone has ended, and with it Voice."]


async def test_stopping_ends_a_narration_and_what_waits_as_superseded():
    stage = Stage()
    stage.speaker.hold()
    async with anyio.create_task_group() as tasks, stage.on():
        tasks.start_soon(stage.voice.narrate, "A long story.")
        await stage.speaker.begun()
        tasks.start_soon(stage.voice.narrate, "And another.")
        await settled()
    endings = [event.ending for event in stage.of(NarrationEnded)]
    assert endings == [NarrationEnding.SUPERSEDED] * 2


@pytest.mark.parametrize("ending", ["failure", "cancellation"])
async def test_our_voice_falls_silent_by_whatever_way_it_ends(ending):
    stage = Stage()
    stage.speaker.hold()
    ended = []

    async def narrate():
        ended.append((await stage.voice.narrate("A long story.")).ending)

    async def voice(*, task_status):
        with suppress(RuntimeError):
            await stage.voice.run(task_status=task_status)

    async with anyio.create_task_group() as host, anyio.create_task_group() as tasks:
        await tasks.start(voice)
        host.start_soon(narrate)
        await stage.speaker.begun()
        if ending == "failure":
            stage.microphone.fail(RuntimeError("a bug"))
        else:
            tasks.cancel_scope.cancel()
    assert ended == [NarrationEnding.SUPERSEDED]
    assert not stage.speaker.playing


async def test_it_can_be_stopped_while_it_is_still_starting():
    stage = Stage()
    opening = anyio.Event()

    @asynccontextmanager
    async def never():
        opening.set()
        await anyio.sleep_forever()
        yield

    stage.microphone.open = never
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(opening_then_stop, opening, stage.voice)
        await tasks.start(stage.voice.run)
    assert stage.listed() == ALL
    assert stage.states() == ["starting", "draining", "inactive"]


async def opening_then_stop(opening, voice):
    await opening.wait()
    voice.stop()


async def test_cancelling_restores_the_tools_before_it_returns():
    stage = Stage()
    async with anyio.create_task_group() as tasks:
        await tasks.start(stage.voice.run)
        assert stage.listed() == ["other"]
        tasks.cancel_scope.cancel()
    assert stage.listed() == ALL
    assert stage.states()[-1] == "inactive"
    assert not stage.microphone.open_now


@pytest.mark.parametrize("error", [DeviceError("There is no microphone."), RuntimeError("a bug")])
async def test_an_error_while_it_starts_comes_out_as_itself_and_restores_the_tools(error):
    stage = Stage()
    stage.opening_fails = error
    with pytest.raises(type(error), match=str(error)):
        await stage.voice.run()
    assert stage.listed() == ALL
    assert stage.states() == ["starting", "failed"]


async def test_an_error_while_it_is_on_comes_out_as_itself_and_restores_the_tools():
    stage = Stage()
    stage.microphone.fail(RuntimeError("a bug"))
    with pytest.raises(RuntimeError, match="a bug"):
        await stage.voice.run()
    assert stage.listed() == ALL
    assert stage.states()[-1] == "failed"


async def test_it_can_be_started_again_after_every_ending():
    stage = Stage("One.", "Two.")
    async with stage.on():
        stage.say()
        await stage.microphone.drained()
    stage.opening_fails = DeviceError("gone")
    with pytest.raises(DeviceError):
        await stage.voice.run()
    stage.opening_fails = None
    async with stage.on():
        stage.say()
        await stage.microphone.drained()
    assert stage.said == ["One.", "Two."]


async def test_it_cannot_be_on_twice_and_the_second_try_changes_nothing():
    stage = Stage()
    async with stage.on():
        with pytest.raises(RuntimeError, match="on already"):
            await stage.voice.run()
        assert stage.listed() == ["other"]
        assert stage.voice.state is VoiceState.ACTIVE


# --- What is withheld -------------------------------------------------------------------------------------


async def test_what_somebody_else_hid_stays_hidden():
    stage = Stage()
    stage.tools.add(Withhold(["user_select"], "no", name="the user"))
    async with stage.on():
        assert stage.listed() == ["other"]
    assert stage.listed() == ["ask_user_question", "other"]


async def test_what_somebody_else_hides_or_shows_meanwhile_is_as_they_left_it():
    stage = Stage()
    early = stage.tools.add(Withhold(["user_select"], "no", name="the user"))
    async with stage.on():
        early.lift()
        late = stage.tools.add(Withhold(["ask_user_question", "other"], "no", name="another"))
        assert stage.listed() == []
    assert stage.listed() == ["user_select"]
    late.lift()
    assert stage.listed() == ALL


async def test_nothing_is_withheld_while_there_is_no_agent():
    stage = Stage()
    async with stage.on():
        stage.voice.agent_lost()
        assert stage.listed() == ALL
        stage.voice.agent_back()
        stage.voice.agent_back()
        assert stage.listed() == ["other"]
    assert stage.listed() == ALL
    stage.voice.agent_lost()
    stage.voice.agent_back()
    assert stage.listed() == ALL
    stage.voice.agent_lost()
    async with stage.on():
        assert stage.listed() == ALL
        stage.voice.agent_back()
        assert stage.listed() == ["other"]
    assert stage.listed() == ALL


def test_a_withheld_question_is_repeated_with_its_options():
    asked = {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}]}
    refused = refusal_while_on("user_select", asked)
    assert refused.is_error
    assert refused.text.endswith(
        "the reply will arrive as an ordinary user message: Merge how? (options: Squash; Rebase)"
    )
    many = {"question": "Which?", "options": [{"label": f"{n} {'x' * 200}"} for n in range(1, 16)]}
    text = refusal_while_on("user_select", many, reply="it returns the reply").text
    assert "and it returns the reply: Which? (options: 1 xxx" in text
    assert text.endswith("x…; and 3 more)")
    assert "13 xxx" not in text
    assert len(text) < 1_300
    assert refusal_while_on("user_select", {"question": 5}).text.endswith("message: your question")


QUESTION_ON_SCREEN = {
    "question": "Merge how?",
    "options": [{"label": "Squash"}, {"label": "Rebase"}],
    "allowCustom": True,
}


class Staring(ScriptedPresenter):
    """A person who looks at the question and does nothing."""

    def __init__(self):
        super().__init__([])
        self.shown = anyio.Event()

    async def present(self, interview):
        self.shown.set()
        ended = anyio.Event()
        with interview.watch(lambda _: interview.outcome and ended.set()):
            await ended.wait()


def test_no_tool_asks_what_is_risky_and_would_be_left_on_the_screen_unheard():
    contracts = Path(questionnaire.contracts.__file__).parent
    assert [path.name for path in contracts.glob("*.py") if "risky" in path.read_text()] == []


async def test_an_open_questionnaire_is_narrated_and_its_call_says_where_the_answer_comes():
    person = Staring()
    coordinator = Coordinator(person)
    stage = Stage(coordinator=coordinator)
    results = []

    async def call():
        results.append(await questionnaire_toolset(coordinator).call("user_select", QUESTION_ON_SCREEN))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await person.shown.wait()
        async with stage.on():
            with anyio.fail_after(60):
                while not stage.of(NarrationEnded):  # noqa: ASYNC110
                    await anyio.sleep(0.001)
    (started,) = stage.of(NarrationStarted)
    assert started.text == (
        "Question 1: Merge how? Options: 1, Squash; 2, Rebase. Please choose one option. You may also answer"
        " in your own words."
    )
    assert stage.of(Speaking) == [Speaking(started.text, Kind.QUESTION, ("Squash", "Rebase"))]
    (result,) = results
    assert not result.is_error
    assert result.details["answer"] is None
    assert result.details["cancelled"] is True
    assert result.details["status"] == "superseded"
    assert "the answer will arrive as a user message" in result.text


async def test_a_questionnaire_stays_on_the_screen_where_voice_cannot_begin():
    person = Staring()
    coordinator = Coordinator(person)
    stage = Stage(coordinator=coordinator)
    stage.opening_fails = DeviceError("There is no microphone.")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(questionnaire_toolset(coordinator).call, "user_select", QUESTION_ON_SCREEN)
        await person.shown.wait()
        with pytest.raises(DeviceError):
            await stage.voice.run()
        assert len(coordinator.pending) == 1
        await coordinator.dispose()


# --- Narrating --------------------------------------------------------------------------------------------


async def test_narrate_is_refused_while_it_is_off():
    stage = Stage()
    with pytest.raises(VoiceError, match="not active"):
        await stage.voice.narrate("Hello")
    result = await voice_toolset(stage.voice.narrate).call("narrate", {"text": "Hello"})
    assert result.is_error
    assert result.details == {"error": "voice_not_active"}


async def test_the_narrate_tool_waits_until_the_text_was_heard():
    stage = Stage()
    async with stage.on():
        result = await voice_toolset(stage.voice.narrate).call("narrate", {"text": "Hello there."})
    assert result.text == "Narration completed."
    assert result.details["status"] == "completed"
    assert not result.is_error
    assert len(stage.speaker.played) == 1


async def test_a_broken_engine_leaves_a_session_that_goes_on_in_text():
    stage = Stage("Yes.", failures={"Hello there.": SpeechEngineDied("The speech engine died.")})
    async with stage.on():
        result = await voice_toolset(stage.voice.narrate).call("narrate", {"text": "Hello there."})
        assert result.is_error
        assert "The speech engine died." in result.text
        stage.say()
        await stage.microphone.drained()
    assert stage.said == ["Yes."]
    (ended,) = stage.of(NarrationEnded)
    assert ended.ending is NarrationEnding.FAILED


async def test_what_was_heard_is_told_whole_also_where_the_caller_is_cancelled_after_a_pause():
    stage = Stage()
    stage.speaker.hold()
    async with stage.on(), anyio.create_task_group() as tasks:
        with anyio.CancelScope() as caller:
            tasks.start_soon(_cancel_after_a_pause, stage, caller)
            await stage.voice.narrate("One two three four five.")
    (ended,) = stage.of(NarrationEnded)
    assert ended.played_s == pytest.approx(0.4 + 0.3)


async def _cancel_after_a_pause(stage, caller):
    await stage.speaker.begun()
    stage.speaker.hear(0.4)
    stage.voice.pause()
    await anyio.wait_all_tasks_blocked()
    stage.voice.resume()
    await anyio.wait_all_tasks_blocked()
    stage.speaker.hear(0.3)
    caller.cancel()


async def test_every_narration_that_is_told_to_begin_is_told_to_end_also_where_its_caller_is_cancelled():
    stage = Stage()
    stage.speaker.hold()
    async with stage.on():
        async with anyio.create_task_group() as callers:
            callers.start_soon(stage.voice.narrate, "One.")
            await stage.speaker.begun()
            callers.start_soon(stage.voice.narrate, "Two.")
            await settled()
            callers.cancel_scope.cancel()
        stage.speaker.release()
        await stage.voice.narrate("Three.")
    assert [event.text for event in stage.of(NarrationStarted)] == ["One.", "Two.", "Three."]
    endings = {event.text: event.ending for event in stage.of(NarrationEnded)}
    assert endings == {
        "One.": NarrationEnding.INTERRUPTED,
        "Two.": NarrationEnding.INTERRUPTED,
        "Three.": NarrationEnding.COMPLETED,
    }
    assert len(stage.of(Speaking)) == len(stage.of(Silent)) == 2
    assert not stage.voice.narrating


async def test_what_is_paused_goes_on_at_the_word_and_is_one_narration():
    stage = Stage(duplex=Duplex.HEADPHONES)
    stage.speaker.hold()
    text = "One two three four five."
    async with stage.on(), anyio.create_task_group() as tasks:
        tasks.start_soon(stage.voice.narrate, text)
        await stage.speaker.begun()
        stage.speaker.hear(stage.engine.duration_s("One two thr"))
        stage.voice.pause()
        await settled()
        assert not stage.speaker.playing
        assert stage.happenings[-1] == Silent(unfinished=True)
        stage.voice.resume()
        await stage.speaker.begun()
        stage.speaker.release()
    assert stage.engine.texts == [text, "three four five."]
    (ended,) = stage.of(NarrationEnded)
    assert ended.ending is NarrationEnding.COMPLETED
    assert ended.played_s == pytest.approx(stage.engine.duration_s("One two thr" + "three four five."))


async def test_of_a_sentence_that_is_broken_off_the_ears_know_which_words_were_heard():
    stage = Stage("Hotel India.", duplex=Duplex.HEADPHONES)
    stage.speaker.hold()
    heard = "Alpha bravo charlie delta echo foxtrot golf hotel india"
    rest = " juliet kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey."
    async with stage.on(), anyio.create_task_group() as tasks:
        tasks.start_soon(stage.voice.narrate, heard + rest)
        await stage.speaker.begun()
        spoken_s = stage.engine.duration_s(heard)
        stage.microphone.feed(spoken_s - 0.4, spoken=False)
        stage.microphone.feed(0.4, spoken=True)
        await stage.microphone.drained()
        stage.speaker.hear(spoken_s)
        stage.voice.pause()
        await settled()
        stage.microphone.feed(2.5, spoken=False)
        await stage.microphone.drained()
        stage.voice.silence()
    assert stage.said == []
    assert stage.dropped() == [(DiscardReason.ECHO, "Hotel India.")]


async def test_what_is_paused_can_be_silenced_and_what_waits_behind_it_with_it():
    stage = Stage()
    stage.speaker.hold()
    async with stage.on(), anyio.create_task_group() as tasks:
        tasks.start_soon(stage.voice.narrate, "One two three.")
        await stage.speaker.begun()
        tasks.start_soon(stage.voice.narrate, "Four.")
        stage.voice.pause()
        await settled()
        assert stage.engine.texts == ["One two three."]  # what waits does not overtake what is paused
        assert stage.voice.silence()
        await settled()
        assert not stage.voice.narrating
        assert not stage.voice.silence()
    assert [event.ending for event in stage.of(NarrationEnded)] == [NarrationEnding.INTERRUPTED] * 2


async def test_what_was_silenced_can_go_on_and_what_was_said_can_be_repeated():
    stage = Stage()
    stage.speaker.hold()
    text = "One two three four five."
    async with stage.on(), anyio.create_task_group() as tasks:
        tasks.start_soon(stage.voice.narrate, text)
        await stage.speaker.begun()
        stage.speaker.hear(stage.engine.duration_s("One two thr"))
        stage.voice.silence()
        await settled()
        stage.voice.go_on()
        await stage.speaker.begun()
        stage.speaker.release()
        await settled()
        stage.voice.go_on()
        await settled()
        stage.voice.repeat()
        await settled()
        stage.voice.repeat(shorter=lambda text: text[:7])
        await settled()
    assert stage.engine.texts == [text, "three four five.", text, "One two"]
    kinds = [event.kind for event in stage.of(Speaking)]
    assert kinds == [Kind.QUESTION, Kind.QUESTION, Kind.REPEAT, Kind.REPEAT]


async def test_what_is_asked_is_said_whole_and_what_is_told_is_shortened():
    stage = Stage()
    stage.longest_sentences = 2
    text = "One. Two. Three. Four. Which one?"
    async with stage.on():
        await stage.voice.narrate(text, Kind.QUESTION)
        assert stage.engine.texts == ["One.", "Two.", "Three.", "Four.", "Which one?"]
        await stage.voice.narrate(text, Kind.TEXT)
        told = ["One.", "Two.", "and 2 more sentences on the screen", "Which one?"]
        assert stage.engine.texts[5:] == told


async def test_remarks_are_neither_told_as_narrations_nor_repeated():
    stage = Stage()
    async with stage.on():
        await stage.voice.narrate("Which one?")
        stage.voice.say("I heard a sound.")
        await settled()
        stage.voice.repeat()
        await settled()
    assert stage.engine.texts == ["Which one?", "I heard a sound.", "Which one?"]
    assert [event.text for event in stage.of(NarrationStarted)] == ["Which one?"]


async def test_while_the_writer_of_a_text_thinks_a_person_is_heard():
    stage = Stage("Wait.")
    writing = Writing()
    async with stage.on(), anyio.create_task_group() as tasks:
        tasks.start_soon(partial(stage.voice.narrate, writing, Kind.TEXT, announced=False))
        writing.add("I look at the tests. Now ")
        await settled()
        assert stage.engine.texts == ["I look at the tests."]
        stage.say()
        await stage.microphone.drained()
        assert stage.said == ["Wait."]
        writing.end()
    assert stage.of(NarrationStarted) == []


def in_headphones(*lines):
    """Voice that hears while it speaks, with the patience of a user of English."""
    stage = Stage(*lines, duplex=Duplex.HEADPHONES)
    stage.patience = Patience(wording=Wording.of(phrases_of("en")["patience"]))
    stage.speaker.hold()
    return stage


async def answered(stage, seconds=0.7):
    """Somebody speaks and is silent for so long; what has become a message by then."""
    stage.say(0.5, silence=seconds)
    await stage.microphone.drained()
    await settled()
    return stage.said


async def test_who_answers_before_the_question_is_over_is_waited_for_as_it_asks():
    stage = in_headphones("Yes.", "Yes.")
    async with stage.on(), anyio.create_task_group() as tasks:
        tasks.start_soon(stage.voice.narrate, "Shall I go on, and delete all of the old files?")
        await stage.speaker.begun()
        during = list(await answered(stage))
        stage.voice.silence()
        await settled()
        afterwards = list(await answered(stage))
        stage.microphone.feed(1.5, spoken=False)
        await stage.microphone.drained()
    assert (during, afterwards, stage.said) == (["Yes."], ["Yes."], ["Yes."] * 2)


async def test_a_question_that_was_broken_off_is_still_what_is_answered():
    stage = in_headphones("Yes.")
    async with stage.on(), anyio.create_task_group() as tasks:
        tasks.start_soon(stage.voice.narrate, "Shall I go on, and delete all of the old files?")
        await stage.speaker.begun()
        stage.voice.silence()
        await settled()
        said = list(await answered(stage))
    assert said == ["Yes."]


async def test_of_a_text_that_is_being_written_what_is_there_so_far_says_what_is_expected():
    stage = in_headphones("Yes.", "Yes.")
    writing = Writing()
    async with stage.on(), anyio.create_task_group() as tasks:
        tasks.start_soon(partial(stage.voice.narrate, writing, Kind.TEXT, announced=False))
        writing.add("I have looked at the tests. Now ")
        await stage.speaker.begun()
        told = list(await answered(stage))
        stage.microphone.feed(1.5, spoken=False)
        await stage.microphone.drained()
        writing.add("what? Shall I mend them? Or ")
        for _ in range(2):
            stage.speaker.finish()
            await settled()
        asked = list(await answered(stage))
        stage.voice.silence()
    assert (told, asked) == ([], ["Yes."] * 2)


async def test_a_remark_of_the_session_does_not_change_what_is_expected():
    stage = in_headphones("Yes.")
    stage.speaker.release()
    async with stage.on():
        await stage.voice.narrate("Shall I go on?")
        stage.voice.say("I heard a sound, but no words.")
        await settled()
        assert await answered(stage) == ["Yes."]


async def test_how_it_speaks_can_change_and_stays_so_when_it_is_switched_on_again():
    stage = Stage()
    async with stage.on():
        stage.voice.change_manner(Manner.quieter)
        stage.voice.change_manner(Manner.faster)
    quieter = Manner().quieter().faster()
    async with stage.on():
        assert stage.voice._parts.narrator.manner == quieter


async def test_earcons_are_played_beside_it_also_for_the_end():
    stage = Stage(earcons=list(Earcon))
    async with anyio.create_task_group() as tasks:
        await tasks.start(stage.voice.run)
        stage.voice.play(Earcon.LISTENING)
        await settled()
        stage.voice.stop()
        stage.voice.play(Earcon.OFF)
    assert len(stage.speaker.played) == 2
    stage.voice.play(Earcon.OFF)  # off: nothing to play it with


async def test_interrupted_again_and_again_it_still_speaks_and_listens():
    stage = Stage("Still here.", duplex=Duplex.HEADPHONES)
    async with stage.on():
        for number in range(20):
            stage.speaker.hold()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(stage.voice.narrate, f"Story {number}, and more of it.")
                await stage.speaker.begun()
                stage.voice.pause()
                await settled()
                if number % 2:
                    stage.voice.resume()
                    await settled()
                stage.voice.silence()
            stage.speaker.release()
        ended = await stage.voice.narrate("Are you there?")
        stage.say()
        await stage.microphone.drained()
    assert ended.ending is NarrationEnding.COMPLETED
    assert stage.said == ["Still here."]


@pytest.mark.parametrize(
    "arguments",
    [{}, {"text": ""}, {"text": " \n"}, {"text": 3}, {"text": "x" * 4097}, {"text": "x", "loud": True}],
)
async def test_narrate_takes_a_text_and_nothing_else(arguments):
    stage = Stage()
    async with stage.on():
        result = await voice_toolset(stage.voice.narrate).call("narrate", arguments)
    assert result.is_error
    assert result.details == {"error": "invalid_arguments"}
    assert stage.engine.texts == []
