"""Short replies as an engine says them, and sounds without words, through the real detector and Whisper."""

import numpy as np
import pytest

from voice.assembly import find_weights, make_engine, make_hearing, make_patience, make_transcriber
from voice.audio import FRAME_SAMPLES, SAMPLE_RATE, Resampler, to_float
from voice.backends.recording import read_recording
from voice.events import Discarded, UserMessage
from voice.loop import Silence, hear
from voice.settings import Settings

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SETTINGS = Settings()
NAMES = ("PostgreSQL", "MySQL", "SQLite", "Redis", "turn_taking.py", "kubectl")


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
async def whisper():
    weights = find_weights(SETTINGS.transcription, download=False)
    async with make_transcriber(SETTINGS.transcription, weights) as transcriber:
        yield transcriber


@pytest.fixture(scope="module")
async def engine():
    async with make_engine(SETTINGS.speaking) as engine:
        yield engine


async def frames_of(samples):
    for at in range(0, len(samples) - FRAME_SAMPLES + 1, FRAME_SAMPLES):
        yield samples[at : at + FRAME_SAMPLES]


async def heard(whisper, samples):
    """What becomes of it, with a question asked and a project known."""
    hearing = make_hearing(SETTINGS, whisper, make_patience(SETTINGS), transcript_after_s=0.3)
    hearing.expect("Shall I use PostgreSQL, MySQL, SQLite or Redis?")
    hearing.know(NAMES)
    events = hear(frames_of(samples), hearing, afterwards=Silence(), end_turn_with_input=False)
    return [event async for event in events if isinstance(event, UserMessage | Discarded)]


@pytest.mark.parametrize(
    ("said", "text"),
    [("thank you", "thank you"), ("bye", "bye"), ("thanks for watching", "thanks for watching")],
)
async def test_what_whisper_likes_to_make_up_is_kept_where_it_was_said(whisper, engine, said, text):
    sound = await engine.render(said)
    resampler = Resampler(sound.rate)
    room = np.random.default_rng(1).normal(0, 12, SAMPLE_RATE).astype(np.int16)
    spoken = [*resampler.push(to_float(sound.samples)), *resampler.flush()]
    (message,) = await heard(whisper, np.concatenate([room, *spoken, room]))
    assert isinstance(message, UserMessage), message
    assert message.text.lower().strip(".!") == text


@pytest.mark.parametrize("name", ["yes", "no", "no-espeak", "yes-at-sample-0", "low-level-second-one"])
async def test_short_replies_are_kept_whatever_names_are_known(whisper, fixtures_folder, name):
    (message,) = await heard(whisper, read_recording(fixtures_folder / f"{name}.wav"))
    assert isinstance(message, UserMessage), message
    assert message.text.lower().strip(".").split()[-1] in ("yes", "no", "one")


@pytest.mark.parametrize(
    "name", ["silence-digital", "silence-room", "white-noise-35", "white-noise-20", "hum", "key-clicks"]
)
async def test_silence_and_noise_are_no_message_and_never_the_names(whisper, fixtures_folder, name):
    assert await heard(whisper, read_recording(fixtures_folder / f"{name}.wav")) == []


async def test_a_name_is_written_as_the_question_writes_it(whisper, fixtures_folder):
    (message,) = await heard(whisper, read_recording(fixtures_folder / "use-postgresql.wav"))
    assert message.text == "Use PostgreSQL."
