"""Voice for MCP clients, with scripted parts: `narrate` speaks, listens, and returns the reply."""

from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from mcp import Client, types
from mcp.shared.memory import create_client_server_memory_streams

from questionnaire.server import elicited_toolset
from voice.autonomous import Parts
from voice.ears import Ears
from voice.errors import DeviceError, SpeechEngineDied
from voice.events import Discarded, NarrationEnded, Notice, VoiceState, VoiceStateChanged
from voice.listening.utterances import Ear
from voice.loop import Hearing
from voice.ports import Transcript
from voice.server import VoiceServer
from voice.settings import Settings
from voice.speaking.narrator import Narrator
from voice.testing import (
    LevelDetector,
    ScriptedEngine,
    ScriptedMicrophone,
    ScriptedSpeaker,
    ScriptedTranscriber,
)

pytestmark = pytest.mark.anyio

HANG_S = 20.0
MERGE = {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}]}
ASK = "Squash or rebase?"
LISTED = ["narrate", "ask_user_question", "user_select"]


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Stage:
    """A server with doubles for everything outside, and a client of it."""

    def __init__(self, *lines, settings=None, failures=None, opens=True):
        self.microphone = ScriptedMicrophone()
        self.speaker = ScriptedSpeaker()
        self.engine = ScriptedEngine(failures=failures)
        self.transcriber = ScriptedTranscriber(*lines)
        self.opens = opens
        self.events = []
        self._moved = anyio.Event()
        self.changes = 0
        self.voice = VoiceServer(
            self.parts, settings or Settings(), emit=self.take, asking=elicited_toolset(), version="1"
        )

    @asynccontextmanager
    async def parts(self):
        if not self.opens:
            raise DeviceError("There is no microphone.", mend="plug one in")
        ears = Ears(Hearing(Ear(LevelDetector()), self.transcriber))
        yield Parts(self.microphone, ears, Narrator(self.engine, self.speaker, earcons=frozenset()))

    def take(self, event):
        self.events.append(event)
        self._moved.set()
        self._moved = anyio.Event()

    def count(self, kind):
        return sum(isinstance(event, kind) for event in self.events)

    async def until(self, kind, number=1):
        """Wait until so many events of a kind have come."""
        while self.count(kind) < number:
            await self._moved.wait()

    async def until_state(self, state):
        while VoiceStateChanged(state) not in self.events:
            await self._moved.wait()

    def say(self, seconds=1.0):
        self.microphone.feed(0.5, spoken=False)
        self.microphone.feed(seconds, spoken=True)
        self.microphone.feed(2.0, spoken=False)

    async def hear_message(self, message):
        if isinstance(message, types.ToolListChangedNotification):
            self.changes += 1

    @asynccontextmanager
    async def client(self, mode="legacy", *, on=True, person=None):
        with anyio.fail_after(HANG_S):
            async with (
                create_client_server_memory_streams() as (ours, theirs),
                anyio.create_task_group() as tasks,
            ):

                async def serve():
                    await self.voice.server.serve(*theirs)

                @asynccontextmanager
                async def transport():
                    yield ours

                async def run():
                    await self.voice.run(serve, on=on)

                tasks.start_soon(run)
                if on and self.opens:
                    await self.until_state(VoiceState.ACTIVE)
                options = {"message_handler": self.hear_message, "elicitation_callback": person}
                async with Client(transport(), mode=mode, **options) as client:
                    yield client
                tasks.cancel_scope.cancel()

    async def narrated(self, client, meanwhile, text=ASK):
        """What `narrate` returns where the user does something when they have heard it."""
        result = None

        async def call():
            nonlocal result
            result = await client.call_tool("narrate", {"text": text})

        heard = self.count(NarrationEnded)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await self.until(NarrationEnded, heard + 1)
            await meanwhile()
        return result


async def until(so):
    """Wait until something is so that no event tells of."""
    while not so():
        await anyio.lowlevel.checkpoint()


def told(result):
    [content] = result.content
    return content.text


async def listed(client):
    return [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_it_speaks_listens_and_returns_the_reply(mode):
    stage = Stage("The second one.")

    async def reply():
        stage.say()

    async with stage.client(mode) as client:
        result = await stage.narrated(client, reply)
    assert told(result) == "Narration completed. The user replied:\nThe second one."
    assert result.structured_content["reply"] == "The second one."
    assert result.structured_content["reply_status"] == "replied"
    assert not result.is_error
    assert stage.engine.rendered == [ASK]


async def test_how_sure_a_reply_is_is_told_to_programs():
    stage = Stage(Transcript("The second one.", average_log_probability=-0.25))

    async def reply():
        stage.say()

    async with stage.client() as client:
        result = await stage.narrated(client, reply)
    assert result.structured_content["confidence"] == -0.25


async def test_the_microphone_is_open_for_a_call_and_no_longer():
    stage = Stage("Yes.")
    open_meanwhile = []

    async def reply():
        open_meanwhile.append(stage.microphone.open_now)
        stage.say()

    async with stage.client() as client:
        await until(lambda: not stage.microphone.open_now)
        await stage.narrated(client, reply)
        await until(lambda: not stage.microphone.open_now)
    assert open_meanwhile == [True]


class SlowlyClosing(ScriptedMicrophone):
    """A microphone that takes its time to close, as devices do."""

    @asynccontextmanager
    async def open(self):
        async with super().open() as frames:
            yield frames
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.05)


async def test_a_question_that_comes_while_the_microphone_still_closes_is_answered():
    stage = Stage("Yes.", "No.")
    stage.microphone = SlowlyClosing()

    async def reply():
        stage.say()

    async with stage.client() as client:
        replies = [(await stage.narrated(client, reply)).structured_content["reply"] for _ in range(2)]
    assert replies == ["Yes.", "No."]


async def test_ten_questions_in_one_session_are_all_answered():
    stage = Stage(*map(str, range(10)))

    async def reply():
        stage.say()

    async with stage.client() as client:
        replies = [(await stage.narrated(client, reply)).structured_content["reply"] for _ in range(10)]
    assert replies == list(map(str, range(10)))


async def test_silence_is_no_answer_and_the_question_is_repeated_once():
    stage = Stage()

    async def nothing():
        stage.microphone.feed(200.0, spoken=False)

    async with stage.client() as client:
        result = await stage.narrated(client, nothing)
    assert result.structured_content["reply"] is None
    assert result.structured_content["reply_status"] == "no_reply"
    assert "no answer, neither yes nor no" in told(result)
    assert not result.is_error
    assert stage.engine.rendered == [ASK, ASK]


async def test_a_microphone_that_gives_nothing_holds_a_call_up_for_its_limit_and_no_longer():
    settings = Settings.model_validate({"conversation": {"answer_within_s": 0.01}})
    stage = Stage(settings=settings)
    stage.voice._patience_s = 0.05  # what is real time here is audio time elsewhere

    async def nothing():
        pass

    async with stage.client() as client:
        assert (await stage.narrated(client, nothing)).structured_content["reply_status"] == "no_reply"


async def test_voice_that_is_off_refuses_with_a_code_and_a_sentence():
    stage = Stage()
    async with stage.client(on=False) as client:
        result = await client.call_tool("narrate", {"text": ASK})
    assert result.is_error
    assert result.structured_content["error"] == "voice_not_active"
    assert "only the user can switch it on" in told(result)
    assert stage.engine.texts == []


async def test_a_voice_that_cannot_be_switched_on_says_why_and_the_tools_stay():
    stage = Stage(opens=False)
    async with stage.client() as client:
        await stage.until(Notice)
        result = await client.call_tool("narrate", {"text": ASK})
        assert result.is_error
        assert "There is no microphone." in told(result)
        assert await listed(client) == LISTED
        [message] = (await client.get_prompt("on")).messages
        assert "There is no microphone." in message.content.text


@pytest.mark.parametrize(
    "arguments", [{}, {"text": ""}, {"text": 3}, {"text": "x" * 4097}, {"text": "a", "b": 1}]
)
async def test_arguments_that_cannot_be_spoken_are_refused(arguments):
    stage = Stage()
    async with stage.client() as client:
        result = await client.call_tool("narrate", arguments)
    assert result.is_error
    assert result.structured_content["error"] == "invalid_arguments"
    assert stage.engine.texts == []


async def test_the_tools_that_ask_by_forms_are_withheld_while_it_is_on_and_the_client_is_told():
    asked = []

    async def squash(context, params):
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"question_1": "Squash"})

    stage = Stage()
    async with stage.client(on=False, person=squash) as client:
        assert await listed(client) == LISTED
        assert not (await client.call_tool("user_select", MERGE)).is_error
        [message] = (await client.get_prompt("on")).messages
        assert "Voice is on" in message.content.text
        await until(lambda: stage.changes == 1)
        assert await listed(client) == ["narrate"]
        refused = await client.call_tool("user_select", MERGE)
        assert refused.is_error
        assert "narrate" in told(refused)
        assert "it returns the reply: Merge how? (options: Squash; Rebase)" in told(refused)
        [message] = (await client.get_prompt("off")).messages
        assert "Voice is off" in message.content.text
        await until(lambda: stage.changes == 2)
        assert await listed(client) == LISTED
        assert not (await client.call_tool("user_select", MERGE)).is_error
    assert asked == ["Merge how?", "Merge how?"]
    assert stage.changes == 2


async def test_saying_stop_voice_ends_the_wait_and_the_tools_are_back():
    stage = Stage("Stop voice.")

    async def stop():
        stage.say()

    async with stage.client() as client:
        result = await stage.narrated(client, stop)
        assert result.structured_content["reply_status"] == "voice_off"
        assert result.structured_content["reply"] is None
        assert "switched off" in told(result)
        assert await listed(client) == LISTED
        assert (await client.call_tool("narrate", {"text": ASK})).is_error


async def test_switching_it_off_while_it_speaks_ends_the_call():
    stage = Stage()
    stage.speaker.hold()
    async with stage.client() as client, anyio.create_task_group() as tasks:
        results = []

        async def call():
            results.append(await client.call_tool("narrate", {"text": ASK}))

        tasks.start_soon(call)
        await stage.speaker.begun()
        stage.voice.toggle()
        await stage.until_state(VoiceState.DRAINING)
        stage.speaker.release()
        await until(lambda: results)
        assert results[0].structured_content["status"] == "superseded"
        assert results[0].structured_content["reply_status"] == "voice_off"


async def test_a_cancelled_call_falls_silent_gives_the_microphone_back_and_the_next_one_works():
    stage = Stage("Yes.")
    stage.speaker.hold()

    async def reply():
        stage.say()

    async with stage.client() as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "narrate", {"text": "A long story."})
            await stage.speaker.begun()
            tasks.cancel_scope.cancel()
        await stage.until(NarrationEnded)
        await until(lambda: not (stage.microphone.open_now or stage.speaker.playing))
        stage.speaker.release()
        assert (await stage.narrated(client, reply)).structured_content["reply"] == "Yes."


async def test_a_call_that_is_cancelled_while_it_listens_sends_no_half_reply():
    stage = Stage("I would rather", "Yes.")

    async def reply():
        stage.say()

    async with stage.client() as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "narrate", {"text": ASK})
            await stage.until(NarrationEnded)
            stage.microphone.feed(0.5, spoken=False)
            stage.microphone.feed(2.0, spoken=True)
            await stage.microphone.drained()
            tasks.cancel_scope.cancel()
        await stage.until(Discarded)
        result = await stage.narrated(client, reply)
    assert result.structured_content["reply"] == "Yes."
    assert result.structured_content["said_before"] == []


async def test_calls_that_come_at_once_are_spoken_and_answered_one_after_the_other():
    stage = Stage("First.", "Second.")
    replies = {}

    async with stage.client() as client:

        async def call(text):
            replies[text] = (await client.call_tool("narrate", {"text": text})).structured_content["reply"]

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, "One?")
            await stage.until(NarrationEnded)
            tasks.start_soon(call, "Two?")
            stage.say()
            await stage.until(NarrationEnded, 2)
            stage.say()
    assert replies == {"One?": "First.", "Two?": "Second."}


async def test_a_narration_that_fails_is_an_error_that_says_to_write():
    stage = Stage(failures={ASK: SpeechEngineDied("The engine is gone.")})
    async with stage.client() as client:
        result = await client.call_tool("narrate", {"text": ASK})
    assert result.is_error
    assert result.structured_content["status"] == "failed"
    assert "The engine is gone." in told(result)
    assert "Write to them" in told(result)
    assert "on screen" not in told(result)


async def test_our_own_voice_is_no_reply():
    """What is heard while we speak never comes back as the user's."""
    stage = Stage()
    stage.speaker.hold()
    async with stage.client() as client, anyio.create_task_group() as tasks:
        results = []

        async def call():
            results.append(await client.call_tool("narrate", {"text": "Shall I delete it? Say yes."}))

        tasks.start_soon(call)
        await stage.speaker.begun()
        stage.microphone.feed(1.0, spoken=True)
        await stage.microphone.drained()
        stage.speaker.release()
        await stage.until(NarrationEnded)
        stage.microphone.feed(200.0, spoken=False)
        await until(lambda: results)
        assert results[0].structured_content["reply"] is None
    assert stage.transcriber.asked == []


async def test_when_the_client_leaves_everything_is_closed():
    stage = Stage()
    async with stage.client():
        pass
    assert not stage.microphone.open_now
    assert stage.events[-1] == VoiceStateChanged(VoiceState.INACTIVE)
