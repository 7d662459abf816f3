"""Real Whisper, in its real child, on the project's recordings."""

import anyio
import numpy as np
import psutil
import pytest

from voice.audio import SAMPLE_RATE
from voice.backends.recording import read_recording
from voice.backends.whisper import WhisperTranscriber
from voice.backends.whisper_models import find_model
from voice.errors import ModelBroken, TranscriberDied, TranscriberError
from voice.listening.judging import Piece, judge

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


async def test_a_child_that_is_killed_in_the_middle_loses_nothing(fixtures_folder):
    sound = read_recording(fixtures_folder / "sentence-server.wav")
    async with WhisperTranscriber(find_model(download=False)) as transcriber:
        await transcriber.ready()
        pending = [transcriber.submit(sound) for _ in range(2)]
        await anyio.sleep(0.05)
        psutil.Process(transcriber.pid).kill()
        for one in pending:
            assert (await one.result()).text == "The database should live on its own server."


async def test_leaving_does_not_wait_for_the_model_and_leaves_no_child():
    before = set(psutil.Process().children(recursive=True))
    with anyio.fail_after(2):
        async with WhisperTranscriber(find_model(download=False)):
            await anyio.sleep(0.3)
    assert set(psutil.Process().children(recursive=True)) <= before


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
    with anyio.fail_after(1):
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


async def test_a_child_that_dies_each_time_is_given_up(monkeypatch):
    async with WhisperTranscriber(find_model(download=False)) as transcriber:
        await transcriber.ready()
        monkeypatch.setattr(transcriber._worker, "_command", ["false"])
        await transcriber._worker.kill()
        with pytest.raises(TranscriberDied, match="3 times"):
            await transcriber.submit(SILENCE).result()


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


async def test_without_a_number_of_threads_it_measures_which_is_faster_and_tells(fixtures_folder):
    told = []
    async with WhisperTranscriber(
        find_model(download=False), threads=None, on_threads=told.append
    ) as transcriber:
        await transcriber.ready()
        assert told in ([1], [2])
        sound = read_recording(fixtures_folder / "yes.wav")
        assert (await transcriber.submit(sound).result()).text == "Yes."
