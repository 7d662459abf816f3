"""Whole conversations with real ACP agents: recordings, real Whisper, a real engine, their own questions."""

from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

pytest.importorskip("acp")
from voice.assembly import find_weights, make_speaker, make_transcriber, open_parts
from voice.backends.cues import CuedMicrophone
from voice.backends.recording import RecordingMicrophone
from voice.chat import Chat
from voice.events import (
    AgentEnded,
    AgentStarted,
    AssistantText,
    NarrationEnded,
    NarrationEnding,
    Status,
    StatusChanged,
    ToolCalled,
)
from voice.hosts.acp.host import AcpHost
from voice.settings import Settings

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

FIXTURES = Path(__file__).parents[4] / "audio_fixtures"
WITHIN_S = 60.0


class Conversation:
    """A chat with an agent, and a recorded person who says the next thing when told to."""

    def __init__(self, agent, replies, **conversation):
        command, environment = agent
        settings = Settings.model_validate({"conversation": conversation})
        transcriber = make_transcriber(settings.transcription, find_weights(settings.transcription))
        speaker = make_speaker(settings.speaking, heard=False)
        self.microphone = CuedMicrophone([RecordingMicrophone(FIXTURES / reply) for reply in replies])
        self.events = []
        self.chat = Chat(
            lambda tools, ask, emit: AcpHost(command, tools=tools, ask=ask, emit=emit, env=environment),
            lambda: open_parts(settings, transcriber, self.microphone, speaker),
            settings,
            self.events.append,
        )

    @asynccontextmanager
    async def going_on(self):
        async with anyio.create_task_group() as tasks:
            await tasks.start(self.chat.run)
            await self.chat.until_voice(on=True)
            yield self
            self.chat.quit()

    def speak(self):
        assert self.microphone.cue()

    def narrated(self, words):
        """How often what has these words in it was heard to its end."""
        ended = [event for event in self.events if isinstance(event, NarrationEnded)]
        return sum(words in event.text and event.ending is NarrationEnding.COMPLETED for event in ended)

    def count(self, kind, since=0):
        return sum(isinstance(event, kind) for event in self.events[since:])

    async def until(self, fact):
        with anyio.fail_after(WITHIN_S):
            while not fact():  # noqa: ASYNC110
                await anyio.sleep(0.02)

    async def idle(self):
        await self.until(lambda: self.count(AgentStarted) == self.count(AgentEnded) > 0)


async def test_speech_reaches_pi_through_its_adapter_and_its_choice_is_made_by_voice(pi_acp, openai_model):
    replies = ["use-postgresql.wav", "second-one.wav"]
    async with Conversation(pi_acp, replies).going_on() as at:
        at.speak()
        await at.until(lambda: any("postgres" in text.lower() for text in openai_model.read))
        await at.idle()
        assert at.count(AssistantText) == 1

        at.chat.send("call choose_color {}")
        await at.until(lambda: at.count(NarrationEnded))
        spoken = next(event.text for event in at.events if isinstance(event, NarrationEnded))
        assert "Which color should it be?" in spoken
        assert "2, Green" in spoken
        at.speak()
        await at.until(lambda: openai_model.told)
        assert openai_model.told == ["chosen: Green"]
        await at.idle()


async def test_barging_in_cancels_what_pi_is_at(pi_acp, openai_model):
    async with Conversation(pi_acp, ["sentence-server.wav"], while_busy="interrupt").going_on() as at:
        at.chat.send("work")
        await at.until(lambda: openai_model.read[-1:] == ["work"])
        at.speak()
        await at.until(lambda: "server" in openai_model.read[-1].lower())
        await at.idle()
        assert at.count(AgentEnded) == 2
        assert all(ended.error == "" for ended in at.events if isinstance(ended, AgentEnded))


QUESTION = (
    'call AskUserQuestion {"questions": [{"header": "Database", "question": "Which database?",'
    ' "multiSelect": false, "options": [{"label": "SQLite", "description": "A file."},'
    ' {"label": "PostgreSQL", "description": "A server."}]}]}'
)


async def test_a_question_of_the_claude_agents_own_is_answered_by_voice(claude_acp, claude_model):
    async with Conversation(claude_acp, ["second-one.wav"]).going_on() as at:
        at.chat.send(QUESTION)
        await at.until(lambda: at.count(NarrationEnded))
        at.speak()
        await at.until(lambda: claude_model.told)
        assert '\\"Which database?\\"=\\"PostgreSQL\\"' in claude_model.told[0]
        await at.idle()


async def test_the_claude_agent_cannot_ask_on_the_screen_while_voice_is_on(claude_acp, claude_model):
    async with Conversation(claude_acp, ["yes.wav"]).going_on() as at:
        at.chat.send('call mcp__viva-voce__user_select {"question": "So?", "options": [{"label": "Yes"}]}')
        await at.idle()
        assert "user_select" in claude_model.told[0]
        assert "User selected" not in claude_model.told[0]

        since = len(at.events)
        at.chat.send('call mcp__viva-voce__narrate {"text": "Shall I go on?"}')
        await at.until(lambda: at.count(NarrationEnded, since))
        at.speak()
        await at.until(lambda: claude_model.read[-1].lower().startswith("yes"))
        await at.idle()
        assert at.count(ToolCalled, since)


async def test_the_claude_agent_is_allowed_something_by_two_phrases_and_by_nothing_less(
    claude_acp, claude_model, recording_of
):
    """Symptom: a "yes" that was meant for somebody else, a sentence, or silence runs a command."""
    made = anyio.Path("made")
    replies = ["yes.wav", "sentence-server.wav", await recording_of("Confirm, please.")]
    async with Conversation(claude_acp, replies, answer_within_s=2.5).going_on() as at:
        at.chat.send('call Bash {"command": "touch made", "description": "Make a file"}')
        await at.until(lambda: at.narrated("touch made"))
        at.speak()  # yes
        await at.until(lambda: at.narrated("You chose 1, Yes."))
        await at.until(lambda: StatusChanged(Status.QUIET) in at.events)  # for long nothing was said
        at.speak()  # a sentence
        await at.until(lambda: at.narrated("You chose 1, Yes.") == 2)
        assert not claude_model.told
        assert not await made.exists()
        at.speak()  # the second phrase
        await at.until(lambda: claude_model.told)
        assert "refused" not in claude_model.told[0]
        assert await made.exists()
        await at.idle()
