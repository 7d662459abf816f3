"""Recordings through the loop: the same one twice, and nothing done where one of them is bad."""

import pytest

from voice import assembly
from voice.backends.recording import RecordingMicrophone
from voice.errors import RecordingError
from voice.events import NoSpeech
from voice.listening.utterances import Ear
from voice.replay import replay_all
from voice.settings import Settings
from voice.testing import LevelDetector, ScriptedTranscriber

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def no_model(monkeypatch):
    monkeypatch.setattr(assembly, "make_ear", lambda settings: Ear(LevelDetector()))


async def test_a_recording_that_is_there_twice_is_heard_twice(fixtures_folder):
    silence = fixtures_folder / "silence-digital.wav"
    files = [("a", RecordingMicrophone(silence)), ("a", RecordingMicrophone(silence))]
    with ScriptedTranscriber() as transcriber:
        heard = [(file, type(event)) async for file, event in replay_all(files, transcriber, Settings())]
    assert heard == [("a", NoSpeech), ("a", NoSpeech)]


async def test_a_bad_one_is_refused_before_the_first_is_heard(fixtures_folder, tmp_path):
    files = [
        (path.name, RecordingMicrophone(path))
        for path in (fixtures_folder / "yes.wav", tmp_path / "none.wav")
    ]
    with ScriptedTranscriber() as transcriber, pytest.raises(RecordingError):
        await anext(replay_all(files, transcriber, Settings()))
