"""A whole conversation with the real Pi: recordings, real Whisper, a real engine, and Pi's own tools."""

from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from questionnaire.testing import HeldPresenter
from voice.assembly import find_weights, make_speaker, make_transcriber, open_parts
from voice.backends.cues import CuedMicrophone
from voice.backends.recording import RecordingMicrophone
from voice.chat import Chat
from voice.events import AgentEnded, MessageQueued, NarrationEnded, NarrationEnding, ToolCalled, VoiceState
from voice.hosts.pi.host import PiHost
from voice.settings import Settings

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

FIXTURES = Path(__file__).parents[4] / "audio_fixtures"
WITHIN_S = 60.0

ASK = (
    'call ask_user_question {"questions": [{"header": "Merge", "question": "Merge how?", "options":'
    ' [{"label": "Squash", "description": "One."}, {"label": "Rebase", "description": "Each."}]}]}'
)


@asynccontextmanager
async def a_chat(model, environment, arguments, presenter, *replies):
    settings = Settings()
    microphone = CuedMicrophone([RecordingMicrophone(FIXTURES / reply) for reply in replies])
    speaker = make_speaker(settings.speaking, heard=False)
    transcriber = make_transcriber(settings.transcription, find_weights(settings.transcription))
    events = []
    chat = Chat(
        lambda tools, ask, emit: PiHost(arguments, tools=tools, ask=ask, emit=emit, environment=environment),
        lambda: open_parts(settings, transcriber, microphone, speaker),
        settings,
        events.append,
        presenter=presenter,
    )
    async with anyio.create_task_group() as tasks:
        await tasks.start(chat.run)
        await chat.until_voice(on=True)
        yield chat, microphone, events
        chat.quit()


async def until(fact):
    with anyio.fail_after(WITHIN_S):
        while not fact():  # noqa: ASYNC110
            await anyio.sleep(0.02)


def of(events, kind):
    return [event for event in events if isinstance(event, kind)]


async def test_speech_reaches_pi_idle_and_busy_and_the_tool_is_away_while_voice_is_on(
    model, pi_environment, pi_arguments, tmp_path
):
    presenter, log = HeldPresenter(), tmp_path / "events"
    pi_environment["GATE_LOG"] = str(log)
    async with a_chat(
        model, pi_environment, pi_arguments, presenter, "use-postgresql.wav", "sentence-server.wav", "yes.wav"
    ) as (chat, microphone, events):
        microphone.cue()
        await until(lambda: any("postgres" in text.lower() for text in model.read))
        await until(lambda: of(events, AgentEnded) and not chat._host.busy)
        assert {"narrate", "gate"} <= model.listed
        assert not {"ask_user_question", "user_select"} & model.listed

        chat.send("work")
        await until(lambda: chat._host.busy and model.read[-1] == "work")
        microphone.cue()
        await until(lambda: of(events, MessageQueued))
        assert model.read[-1] == "work"  # it waits
        await anyio.to_thread.run_sync(model.finish)
        await until(lambda: "server" in model.read[-1].lower())
        await until(lambda: not chat._host.busy)

        chat.send(ASK)
        await until(lambda: of(events, ToolCalled))
        refused = of(events, ToolCalled)[-1]
        await until(lambda: model.told and not chat._host.busy)
        assert "narrate" in model.told[-1]
        assert refused.is_error
        assert presenter.asked == []

        chat.send('call narrate {"text": "Shall I go on?"}')
        await until(lambda: of(events, NarrationEnded))
        microphone.cue()
        await until(lambda: model.read[-1].lower().startswith("yes"))
        await until(lambda: not chat._host.busy)

        chat.toggle_voice()
        await until(lambda: chat.voice_state is VoiceState.INACTIVE)
        chat.send(ASK)
        await until(lambda: presenter.open)
        assert {"ask_user_question", "user_select"} <= model.listed
        # Other extensions in Pi hear of it, and answer.
        await until(lambda: log.exists() and '"name":"request"' in log.read_text())


@pytest.mark.parametrize("pi_path", ["1.6.0"], indirect=True)
async def test_a_dialog_of_pi_is_confirmed_by_two_phrases_and_by_nothing_less(
    model, pi_environment, pi_arguments, recording_of
):
    """Symptom: a "yes" that was not meant for it lets an extension go on."""
    replies = ["yes.wav", "no.wav", "yes.wav", await recording_of("Confirm, please.")]
    async with a_chat(model, pi_environment, pi_arguments, HeldPresenter(), *replies) as (
        chat,
        microphone,
        events,
    ):

        def narrated(words):
            ended = [
                event for event in of(events, NarrationEnded) if event.ending is NarrationEnding.COMPLETED
            ]
            return sum(words in event.text for event in ended)

        for count, came in enumerate(["came: false", "came: true"], 1):
            chat.send('call gate {"method": "confirm"}')
            await until(lambda count=count: narrated("May I?") == count)
            microphone.cue()  # yes
            await until(lambda count=count: narrated("Only if you say confirm") == count)
            assert len(of(events, ToolCalled)) == count - 1
            microphone.cue()  # no, and the second phrase
            await until(lambda count=count: len(of(events, ToolCalled)) == count)
            assert of(events, ToolCalled)[-1].text == came
            await until(lambda: not chat._host.busy)
