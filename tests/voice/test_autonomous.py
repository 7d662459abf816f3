"""Autonomous Voice with scripted parts: what is withheld, what is delivered, what comes back."""

from contextlib import asynccontextmanager, suppress

import anyio
import pytest

from questionnaire import AdjustableToolset, FunctionToolset, Tool, ToolResult, Withhold
from voice.audio import FRAME_S
from voice.autonomous import AutonomousVoice, Parts
from voice.errors import DeviceError, DeviceLost, SpeechEngineDied, VoiceError
from voice.events import (
    Discarded,
    NarrationEnded,
    NarrationEnding,
    Notice,
    UserMessage,
    VoiceState,
    VoiceStateChanged,
)
from voice.listening.utterances import Ear
from voice.loop import Hearing
from voice.session import Session
from voice.speaking.narrator import Narrator
from voice.testing import (
    LevelDetector,
    ScriptedEngine,
    ScriptedMicrophone,
    ScriptedSpeaker,
    ScriptedTranscriber,
)
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


class Stage:
    """One conversation with doubles for everything outside."""

    def __init__(self, *lines, failures=None):
        async def called(arguments):
            return ToolResult("shown")

        tools = (Tool(name, "", {"type": "object"}) for name in ALL)
        self.tools = AdjustableToolset(FunctionToolset(*((tool, called) for tool in tools)))
        self.events = []
        self.sent = []
        self.microphone = ScriptedMicrophone()
        self.engine = ScriptedEngine(failures=failures)
        self.speaker = ScriptedSpeaker()
        self.transcriber = ScriptedTranscriber(*lines)
        self.session = Session(self, self.events.append)
        self.voice = AutonomousVoice(self.tools, self.session, self.open_parts, self.events.append)
        self.opening_fails = None

    async def send(self, text):
        self.sent.append(text)

    @asynccontextmanager
    async def open_parts(self):
        if self.opening_fails:
            raise self.opening_fails
        hearing = Hearing(Ear(LevelDetector()), self.transcriber, transcript_after_s=0.3)
        yield Parts(self.microphone, hearing, Narrator(self.engine, self.speaker))

    @asynccontextmanager
    async def on(self):
        """Voice is on inside."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.session.run)
            async with anyio.create_task_group() as voice:
                await voice.start(self.voice.run)
                yield
                self.voice.stop()
            await self.session.settled()
            tasks.cancel_scope.cancel()

    def say(self, seconds=0.5, silence=2.5):
        self.microphone.feed(seconds, spoken=True)
        self.microphone.feed(silence, spoken=False)

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


async def test_what_is_said_arrives_at_the_host_as_ordinary_text():
    stage = Stage("Use the second one.")
    async with stage.on():
        stage.say()
        await stage.microphone.drained()
        await stage.session.settled()
        assert stage.sent == ["Use the second one."]
    (message,) = stage.session.transcript
    assert message.source == "voice"
    assert [event for event in stage.events if isinstance(event, UserMessage)] == [message]


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
    assert stage.sent == ["Yes."]


async def test_speech_that_began_before_a_narration_does_not_pass_as_its_answer():
    stage = Stage()
    stage.speaker.hold()
    async with stage.on():
        stage.microphone.feed(0.5, spoken=True)
        await stage.microphone.drained()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stage.voice.narrate, "Shall I delete it?")
            await stage.speaker.begun()
            stage.microphone.feed(1.0, spoken=True)
            await stage.microphone.drained()
            stage.speaker.release()
        stage.microphone.feed(3.0, spoken=False)
        await stage.microphone.drained()
    assert stage.sent == []
    assert [event.reason for event in stage.events if isinstance(event, Discarded)] == ["talked_over"]


async def test_stopping_in_the_middle_of_a_reply_still_delivers_it():
    stage = Stage("Half a reply")
    async with stage.on():
        stage.microphone.feed(0.5, spoken=True)
        await stage.microphone.drained()
    assert stage.sent == ["Half a reply"]
    assert stage.listed() == ALL


async def test_stopping_restores_the_tools_at_once_however_long_whisper_takes():
    stage = Stage("Half a reply")
    stage.transcriber.hold()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stage.session.run)
        await tasks.start(stage.voice.run)
        stage.microphone.feed(0.5, spoken=True)
        await stage.microphone.drained()
        stage.voice.stop()
        await anyio.wait_all_tasks_blocked()
        assert stage.voice.state is VoiceState.DRAINING
        assert stage.listed() == ALL
        assert not stage.microphone.open_now
        stage.transcriber.release()
        while stage.voice.state is not VoiceState.INACTIVE:  # noqa: ASYNC110
            await anyio.sleep(FRAME_S)
        await stage.session.settled()
        tasks.cancel_scope.cancel()
    assert stage.sent == ["Half a reply"]


async def test_a_host_that_takes_nothing_keeps_nothing_from_coming_back():
    stage = Stage("Never mind.")
    async with anyio.create_task_group() as tasks:  # no session runs: nothing is handed over
        await tasks.start(stage.voice.run)
        stage.say()
        await stage.microphone.drained()
        stage.voice.stop()
    assert stage.listed() == ALL
    assert stage.states()[-1] == "inactive"


async def test_what_was_said_before_the_microphone_was_lost_arrives_while_it_is_away():
    stage = Stage("Before.")
    async with stage.on():
        stage.microphone.feed(0.5, spoken=True)
        stage.microphone.fail(DeviceLost("The microphone is gone."))
        while not stage.sent:  # noqa: ASYNC110
            await anyio.sleep(FRAME_S)
        assert stage.microphone.opened == 1


async def test_stopping_ends_a_narration_as_superseded():
    stage = Stage()
    stage.speaker.hold()
    ended = []

    async def narrate():
        ended.append((await stage.voice.narrate("A long story.")).ending)

    async with anyio.create_task_group() as tasks, stage.on():
        tasks.start_soon(narrate)
        await stage.speaker.begun()
    assert ended == [NarrationEnding.SUPERSEDED]


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


async def test_a_microphone_that_ends_ends_voice_and_loses_nothing():
    stage = Stage("The end.")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stage.session.run)
        stage.microphone.feed(0.5, spoken=True)
        stage.microphone.end()
        await stage.voice.run()
        await stage.session.settled()
        tasks.cancel_scope.cancel()
    assert stage.sent == ["The end."]
    assert stage.states() == ["starting", "active", "draining", "inactive"]
    assert stage.notices() == ["scripted microphone has ended, and with it Voice."]


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


async def test_what_is_typed_is_a_message_like_any_other_and_ends_the_narration():
    stage = Stage()
    stage.speaker.hold()
    async with stage.on(), anyio.create_task_group() as tasks:
        tasks.start_soon(stage.voice.narrate, "A long story.")
        await stage.speaker.begun()
        assert not stage.voice.typed("  ")
        assert stage.voice.typed("the second one")
        await anyio.wait_all_tasks_blocked()
        assert not stage.speaker.playing
    assert stage.sent == ["the second one"]
    assert [message.source for message in stage.session.transcript] == ["keyboard"]


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
    assert stage.sent == ["One.", "Two."]


async def test_it_cannot_be_on_twice_and_the_second_try_changes_nothing():
    stage = Stage()
    async with stage.on():
        with pytest.raises(RuntimeError, match="on already"):
            await stage.voice.run()
        assert stage.listed() == ["other"]
        assert stage.voice.state is VoiceState.ACTIVE


async def test_what_somebody_else_hid_stays_hidden():
    stage = Stage()
    stage.tools.add(Withhold(["user_select"], "no", name="the user"))
    async with stage.on():
        assert stage.listed() == ["other"]
    assert stage.listed() == ["ask_user_question", "other"]


async def test_a_lost_microphone_is_said_once_looked_for_and_loses_nothing():
    stage = Stage("Before.", "After.")
    async with stage.on():
        stage.microphone.feed(0.5, spoken=True)
        stage.microphone.fail(DeviceLost("The microphone is gone."))
        stage.microphone.fail(DeviceLost("The microphone is gone."))
        stage.say()
        with anyio.fail_after(10):
            while stage.sent != ["Before.", "After."]:  # noqa: ASYNC110
                await anyio.sleep(FRAME_S)
    said = stage.notices()
    assert [sentence.split(".")[0] for sentence in said] == [
        "The microphone is gone",
        "scripted microphone is back",
    ]
    assert stage.microphone.opened == 3


async def test_narrate_is_refused_while_it_is_off():
    stage = Stage()
    with pytest.raises(VoiceError, match="not active"):
        await stage.voice.narrate("Hello")
    result = await voice_toolset(stage.voice).call("narrate", {"text": "Hello"})
    assert result.is_error
    assert result.details == {"error": "voice_not_active"}


async def test_the_narrate_tool_waits_until_the_text_was_heard():
    stage = Stage()
    async with stage.on():
        result = await voice_toolset(stage.voice).call("narrate", {"text": "Hello there."})
    assert result.text == "Narration completed."
    assert result.details["status"] == "completed"
    assert not result.is_error
    assert len(stage.speaker.played) == 1


async def test_a_broken_engine_leaves_a_session_that_goes_on_in_text():
    stage = Stage("Yes.", failures={"Hello there.": SpeechEngineDied("The speech engine died.")})
    async with stage.on():
        result = await voice_toolset(stage.voice).call("narrate", {"text": "Hello there."})
        assert result.is_error
        assert "The speech engine died." in result.text
        stage.say()
        await stage.microphone.drained()
    assert stage.sent == ["Yes."]
    (ended,) = [event for event in stage.events if isinstance(event, NarrationEnded)]
    assert ended.ending is NarrationEnding.FAILED


@pytest.mark.parametrize(
    "arguments",
    [{}, {"text": ""}, {"text": " \n"}, {"text": 3}, {"text": "x" * 4097}, {"text": "x", "loud": True}],
)
async def test_narrate_takes_a_text_and_nothing_else(arguments):
    stage = Stage()
    async with stage.on():
        result = await voice_toolset(stage.voice).call("narrate", arguments)
    assert result.is_error
    assert result.details == {"error": "invalid_arguments"}
    assert stage.engine.texts == []
