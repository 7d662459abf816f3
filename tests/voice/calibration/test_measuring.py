"""Real Whisper and the real engine; the microphone is a recording."""

import numpy as np
import pytest

from voice.audio import SAMPLE_RATE
from voice.backends.recording import RecordingMicrophone
from voice.backends.whisper import WhisperTranscriber
from voice.backends.whisper_models import find_model
from voice.calibration import measuring
from voice.calibration.measuring import costs, listen_to_the_room, models_here, spoken_reply
from voice.settings import Settings, TranscriptionSettings

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def anyio_backend():
    return "asyncio"


def test_the_models_on_this_machine_are_found_and_only_those_that_know_the_language(tmp_path):
    assert models_here(Settings()).get("tiny.en") == find_model(download=False).resolve()
    german = Settings().changed("transcription", model="tiny", language="de")
    assert "tiny.en" not in models_here(german)


@pytest.mark.parametrize("name", ["models/mine", "./models/mine"])
def test_a_folder_is_named_from_the_root_since_the_settings_are_read_anywhere(tmp_path, monkeypatch, name):
    (tmp_path / "models").mkdir()
    (tmp_path / "models/mine").symlink_to(find_model(download=False))
    monkeypatch.chdir(tmp_path)
    models = models_here(Settings().changed("transcription", model=name))
    assert models == {str(tmp_path / "models/mine"): find_model(download=False).resolve()}


def test_a_folder_of_the_environment_leaves_the_name_of_the_size(monkeypatch):
    monkeypatch.setenv("VIVA_VOICE_MODEL", str(find_model(download=False)))
    assert list(models_here(Settings())) == ["tiny.en"]


async def test_what_a_reply_takes_is_measured_in_each_way():
    reply = await spoken_reply(Settings())
    assert len(reply) > SAMPLE_RATE
    models = {"tiny.en": find_model(download=False)}
    measuring = costs(
        models, reply, TranscriptionSettings(), budget_s=60.0, on_notice=print, thread_counts=(1,)
    )
    measured = [cost async for cost in measuring]
    assert [(cost.model, cost.threads, cost.compute_type) for cost in measured] == [
        ("tiny.en", 1, "int8"),
        ("tiny.en", 1, "float32"),
    ]
    assert all(cost.seconds > 0 and cost.size > 10_000_000 for cost in measured)


async def test_broken_weights_are_left_out_and_that_is_said_once_for_each_way_to_compute(tmp_path):
    models, reply, told = {"broken": tmp_path}, np.zeros(SAMPLE_RATE, np.int16), []
    measuring = costs(models, reply, TranscriptionSettings(), budget_s=60.0, on_notice=told.append)
    assert [cost async for cost in measuring] == []
    assert [sentence.partition(":")[0] for sentence in told] == [
        "broken with int8 is left out",
        "broken with float32 is left out",
    ]


async def test_it_is_measured_where_the_settings_have_it_computed(tmp_path, monkeypatch):
    devices = []

    class Watched(WhisperTranscriber):
        def __init__(self, model, *, device, **options):
            devices.append(device)
            super().__init__(model, device=device, **options)

    monkeypatch.setattr(measuring, "WhisperTranscriber", Watched)
    models, reply = {"broken": tmp_path}, np.zeros(SAMPLE_RATE, np.int16)
    settings = TranscriptionSettings(device="auto")
    assert [cost async for cost in costs(models, reply, settings, budget_s=60.0, on_notice=print)] == []
    assert set(devices) == {"auto"}


async def test_hopelessly_slow_ones_are_measured_once():
    reply = await spoken_reply(Settings())
    models = {"tiny.en": find_model(download=False)}
    measuring = costs(models, reply, TranscriptionSettings(), budget_s=1e-6, on_notice=print)
    measured = [cost async for cost in measuring]
    assert len(measured) == 1


@pytest.mark.parametrize(("recording", "speaks"), [("silence-room", False), ("sentence-server", True)])
async def test_the_room_is_heard(monkeypatch, fixtures_folder, recording, speaks):
    microphone = RecordingMicrophone(fixtures_folder / f"{recording}.wav")

    monkeypatch.setattr(measuring, "make_microphone", lambda settings, on_notice: microphone)
    levels = []
    room = await listen_to_the_room(Settings(), levels.append, print, seconds=3.0)
    assert levels
    assert (room.false_speech > 0.2) is speaks
    assert room.floor_dbfs < room.loudest_dbfs
