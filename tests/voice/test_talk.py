"""A spoken conversation in code: recordings, real Whisper, a real engine, and an agent on a test model."""

from pathlib import Path

import anyio
import pytest

pytest.importorskip("pydantic_ai")
from pydantic_ai import Agent, ModelRequest
from pydantic_ai.models.function import FunctionModel

from voice.assembly import make_speaker
from voice.backends.recording import RecordingMicrophone
from voice.errors import DeviceError
from voice.events import AssistantText, UserMessage
from voice.settings import Settings
from voice.talk import run
from voice.testing import ScriptedMicrophone

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

FIXTURES = Path(__file__).parents[2] / "audio_fixtures"


@pytest.fixture
def anyio_backend():
    return "asyncio"


def said(messages):
    return [
        part.content
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if part.part_kind == "user-prompt"
    ]


async def count(messages, info):
    yield f"That was message {len(said(messages))}."


async def test_a_conversation_is_spoken_and_goes_on_from_its_history():
    agent = Agent(FunctionModel(stream_function=count))
    speaker = make_speaker(Settings().speaking, heard=False)
    events, messages = [], []
    for recording, prompt in (("use-postgresql.wav", "Begin."), ("yes-please.wav", "")):
        with anyio.fail_after(60):
            messages = await run(
                agent,
                prompt=prompt,
                history=messages,
                microphone=RecordingMicrophone(FIXTURES / recording),
                speaker=speaker,
                emit=events.append,
            )
    heard = [event.text for event in events if isinstance(event, UserMessage)]
    assert len(heard) == 3
    assert said(messages) == heard
    assert heard[0] == "Begin."
    assert "postgres" in heard[1].lower()
    assert [event.text for event in events if isinstance(event, AssistantText)] == [
        "That was message 1.",
        "That was message 2.",
        "That was message 3.",
    ]


async def test_a_first_message_can_be_given_and_a_lost_microphone_is_an_error_where_there_never_was_one():
    class Missing(ScriptedMicrophone):
        def open(self):
            raise DeviceError("There is no microphone.")

    with pytest.raises(DeviceError, match="There is no microphone"):
        await run(
            Agent(FunctionModel(stream_function=count)),
            prompt="Begin.",
            microphone=Missing(),
            speaker=make_speaker(Settings().speaking, heard=False),
        )
