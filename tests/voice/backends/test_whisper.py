"""Real Whisper, in its real child, on the project's recordings."""

import os
import signal
import sys

import anyio
import numpy as np
import psutil
import pytest

from voice.assembly import make_hearing, make_patience
from voice.audio import FRAME_S, FRAME_SAMPLES, SAMPLE_RATE, silent_frame
from voice.backends import whisper_child
from voice.backends.recording import read_recording
from voice.backends.whisper import WhisperTranscriber
from voice.backends.whisper_models import find_model
from voice.errors import ModelBroken, TranscriberError
from voice.events import SpeechStarted, UserMessage
from voice.listening.judging import Piece, judge
from voice.settings import Settings

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SILENCE = np.zeros(SAMPLE_RATE, np.int16)


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
async def whisper():
    async with WhisperTranscriber(find_model(download=False)) as transcriber:
        yield transcriber


async def test_a_recording_becomes_its_words(whisper, fixtures_folder):
    samples = read_recording(fixtures_folder / "sentence-commit.wav")
    transcript = await whisper.submit(samples).result()
    assert transcript.text == "I want all the tests to run before every commit."
    assert transcript.no_speech_probability < 0.5
    assert transcript.compute_s > 0


async def test_pieces_are_answered_in_order_and_the_same_sound_gives_the_same_text(whisper, fixtures_folder):
    names = ["yes.wav", "no.wav", "second-one.wav"]
    sounds = [read_recording(fixtures_folder / name) for name in names]
    pending = [whisper.submit(sound) for sound in sounds * 2]
    texts = [(await one.result()).text.rstrip(".") for one in pending]
    assert texts == ["Yes", "No", "The second one"] * 2


async def test_a_cancelled_piece_is_never_begun(whisper, fixtures_folder):
    sound = read_recording(fixtures_folder / "yes.wav")
    first, second, third = (whisper.submit(sound) for _ in range(3))
    second.cancel()
    await first.result()
    await third.result()
    assert not second.done


async def test_leaving_does_not_wait_for_the_model_and_leaves_no_child():
    before = set(psutil.Process().children(recursive=True))
    with anyio.fail_after(60):
        async with WhisperTranscriber(find_model(download=False)):
            await anyio.sleep(0.3)
        while not set(psutil.Process().children(recursive=True)) <= before:  # noqa: ASYNC110
            await anyio.sleep(0.01)


async def test_weights_that_are_no_weights_are_one_sentence(tmp_path):
    source = find_model(download=False)
    for path in source.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes() if path.suffix == ".json" else b"rubbish")
    async with WhisperTranscriber(tmp_path) as transcriber:
        with pytest.raises(ModelBroken, match="cannot use the model folder"):
            await transcriber.ready()
        with pytest.raises(ModelBroken):
            await transcriber.submit(SILENCE).result()


async def test_what_is_left_unanswered_at_the_end_fails(fixtures_folder):
    async with WhisperTranscriber(find_model(download=False)) as transcriber:
        pending = [transcriber.submit(SILENCE) for _ in range(2)]
    with anyio.fail_after(60):
        for one in [*pending, transcriber.submit(SILENCE)]:
            with pytest.raises(TranscriberError, match="stopped"):
                await one.result()
        with pytest.raises(TranscriberError, match="stopped"):
            await transcriber.ready()


async def test_after_a_failure_it_can_be_used_again_and_holds_nothing_of_the_time_before(
    tmp_path, fixtures_folder
):
    weights = tmp_path / "weights"
    weights.mkdir()
    transcriber = WhisperTranscriber(weights)
    async with transcriber:
        with pytest.raises(ModelBroken) as caught:
            await transcriber.ready()
        assert caught.value.mend
        transcriber.submit(SILENCE)
    weights.rmdir()
    weights.symlink_to(find_model(download=False))
    async with transcriber:
        await transcriber.ready()
        samples = read_recording(fixtures_folder / "yes.wav")
        assert (await transcriber.submit(samples).result()).text == "Yes."


async def test_a_broken_library_is_named_and_the_model_is_not_accused(tmp_path, monkeypatch):
    (tmp_path / "ctranslate2.py").write_text("raise ImportError('libgomp.so.1: cannot open shared object')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    async with WhisperTranscriber(find_model(download=False)) as transcriber:
        with pytest.raises(TranscriberError, match="ctranslate2 cannot be loaded: libgomp") as caught:
            await transcriber.ready()
    assert not isinstance(caught.value, ModelBroken)
    assert "pip install" in caught.value.mend


NAMES = ("PostgreSQL", "MySQL", "SQLite", "Redis", "turn_taking.py", "kubectl", "pyproject.toml", "FastAPI")


@pytest.mark.parametrize(
    "name",
    ["silence-digital", "silence-room", "white-noise-35", "white-noise-20", "hum", "key-clicks"],
)
async def test_silence_and_noise_never_return_the_names_that_it_was_told(whisper, fixtures_folder, name):
    sound = read_recording(fixtures_folder / f"{name}.wav")[: 10 * SAMPLE_RATE]
    transcript = await whisper.submit(sound, vocabulary=NAMES).result()
    text = judge([Piece(transcript, vocabulary=NAMES)]).text.lower()
    assert not [one for one in NAMES if one.lower() in text]


async def test_the_names_it_was_told_are_written_as_they_are_and_other_words_stay(whisper, fixtures_folder):
    sound = read_recording(fixtures_folder / "use-postgresql.wav")
    assert "PostgreSQL" in (await whisper.submit(sound, vocabulary=NAMES).result()).text
    for name, text in (("yes", "Yes."), ("sentence-server", "The database should live on its own server.")):
        sound = read_recording(fixtures_folder / f"{name}.wav")
        assert (await whisper.submit(sound, vocabulary=NAMES).result()).text == text


async def test_the_real_engine_says_why_there_is_no_card_and_the_processor_hears_as_well(fixtures_folder):
    ctranslate2 = pytest.importorskip("ctranslate2")
    if ctranslate2.get_cuda_device_count():
        pytest.skip("there is a card")
    told = []
    async with WhisperTranscriber(
        find_model(download=False), device="cuda", on_notice=told.append
    ) as transcriber:
        sound = read_recording(fixtures_folder / "yes.wav")
        assert (await transcriber.submit(sound).result()).text == "Yes."
    assert len(told) == 1
    assert "cannot use the graphics card (" in told[0]
    assert "CUDA" in told[0]


async def test_the_real_engine_is_measured_with_one_thread_and_with_two(monkeypatch):
    rounds = []

    def chosen(measured, several, processors):
        rounds.extend(measured)
        return 1

    monkeypatch.setattr(whisper_child, "chosen_threads", chosen)
    answer = whisper_child.prepare(str(find_model(download=False)), "en", 2, "int8", "cpu", lambda: True)
    assert answer({"do": "measure"}, b"") == ({"threads": 1}, b"")
    assert len(rounds) == 2
    assert all(one.one_s > 0 and one.several_s > 0 for one in rounds)
    if sys.platform == "linux":
        assert all(0 <= one.others < 10_000 for one in rounds)


async def heard_through(hearing, samples, meanwhile):
    """Let somebody say this, and be silent until it is a message; return that."""
    frames = [*samples[: len(samples) // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)]
    with anyio.fail_after(60):
        while True:
            frame = frames.pop(0) if frames else silent_frame()
            for event in await hearing.push(frame):
                meanwhile(event)
                if isinstance(event, UserMessage):
                    return event
            if not frames:
                await anyio.sleep(FRAME_S)


@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_reply_arrives_although_its_child_is_killed_or_stopped(whisper, fixtures_folder, fault):
    if sys.platform != "linux" and fault is signal.SIGSTOP:
        pytest.skip("only Linux tells how another process does")
    struck = []

    def strike(event):
        if isinstance(event, SpeechStarted):
            struck.append(whisper.pid)
            os.kill(whisper.pid, fault)

    settings = Settings()
    await whisper.ready()
    hearing = make_hearing(settings, whisper, make_patience(settings))
    message = await heard_through(hearing, read_recording(fixtures_folder / "sentence-server.wav"), strike)
    assert message.text == "The database should live on its own server."
    assert struck
    assert whisper.pid not in struck
