"""That the settings arrive where they are meant for."""

import anyio
import numpy as np
import pytest

from voice.assembly import make_ears, make_narrator, make_transcriber
from voice.audio import SAMPLE_RATE
from voice.floor import Duplex
from voice.settings import Settings
from voice.speaking.earcons import Earcon
from voice.testing import ScriptedEngine, ScriptedSpeaker, ScriptedTranscriber

pytestmark = pytest.mark.anyio

TELLS_THE_LANGUAGE = """
import sys, types
from types import SimpleNamespace

class ShortWindowWhisper:
    def __init__(self, *_, **__):
        pass

    def transcribe(self, samples, *, language, **_):
        part = SimpleNamespace(
            text=f"language {language}", seek=0, tokens=[1], no_speech_prob=0.0, avg_logprob=0.0,
            compression_ratio=1.0,
        )
        return [part], None

sys.modules["voice.backends.whisper_engine"] = types.SimpleNamespace(ShortWindowWhisper=ShortWindowWhisper)
"""


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_the_language_of_the_settings_arrives_at_transcribe(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(TELLS_THE_LANGUAGE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    settings = Settings.model_validate({"transcription": {"language": "de"}})
    async with make_transcriber(settings.transcription, tmp_path) as transcriber:
        with anyio.fail_after(60):
            transcript = await transcriber.submit(np.zeros(SAMPLE_RATE, np.int16)).result()
    assert transcript.text == "language de"


async def test_hearing_and_speaking_are_tuned_apart():
    settings = Settings.model_validate(
        {
            "hearing": {
                "start_threshold": 0.8,
                "end_threshold": 0.2,
                "end_silence_s": 2.0,
                "duplex": "headphones",
            },
            "speaking": {"rate": 1.5, "volume": 0.5, "earcons": ["sent"]},
        }
    )
    ears = make_ears(settings, ScriptedTranscriber())
    endpointer = ears.hearing._ear.endpointer
    assert ears.duplex is Duplex.HEADPHONES
    assert (endpointer.start.threshold, endpointer.end.threshold, endpointer.end.silence_s) == (0.8, 0.2, 2.0)
    speaker = ScriptedSpeaker()
    narrator = make_narrator(settings.speaking, ScriptedEngine(), speaker)
    assert (narrator.manner.rate, narrator.manner.volume) == (1.5, 0.5)
    assert not await narrator.earcon(Earcon.HEARD)
    assert await narrator.earcon(Earcon.SENT)
