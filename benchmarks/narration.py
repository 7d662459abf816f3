"""How soon narration begins and falls silent, and at which word it goes on.

Run ``python benchmarks/narration.py``; README.md beside it says what it needs and what its tables mean.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

import anyio
import numpy as np
from measuring import progress, table
from narrations import NARRATIONS

from voice.audio import Sound
from voice.backends.pyttsx3_engine import Pyttsx3Engine
from voice.speaking.narrator import word_at
from voice.speaking.speakable import speakable

RESULTS = Path(__file__).parent / "results" / "narration.md"
CONFTEST = Path(__file__).parents[1] / "tests" / "voice" / "conftest.py"

LOUD = 300
"""Of 32,768: louder than this is speech, on a device that plays nothing else."""

# --- Begin and stop ---------------------------------------------------------------------------------------

PROGRAM = """
from voice.backends.pyttsx3_engine import Pyttsx3Engine
from voice.speaking.narrator import Narrator

async def main():
    times, seed, text = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    chance = __import__("random").Random(seed)
    async with Pyttsx3Engine() as engine:
        await engine.render("Warm.")
        narrator = Narrator(engine, PortAudioSpeaker("vl_spk"))
        for number in range(times):
            async with anyio.create_task_group() as tasks:
                asked = time.monotonic()
                tasks.start_soon(narrator.narrate, text)
                await anyio.sleep(chance.uniform(0.8, 2.0))
                stopped = time.monotonic()
                narrator.interrupt()
            say(asked=asked, stopped=stopped, returned=time.monotonic())
            await anyio.sleep(2.5 if number % 2 else 0.4)

anyio.run(main)
"""


class Recorder:
    """What the speaker plays, in pieces with the time at which each was there."""

    def __init__(self, server: Any) -> None:
        command = ["parec", "--device=spk.monitor", "--latency-msec=10", "--raw", "--format=s16le"]
        command += ["--rate=16000", "--channels=1"]
        self._process = subprocess.Popen(command, env=server.env, stdout=subprocess.PIPE)
        self.loud_at: list[float] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        while piece := self._process.stdout.read(320):  # 10 ms
            if np.abs(np.frombuffer(piece, np.int16)).max(initial=0) > LOUD:
                self.loud_at.append(time.monotonic())

    def end(self) -> None:
        """Stop recording."""
        self._process.kill()
        self._process.wait()


@contextmanager
def sound_server() -> Iterator[Any]:
    """A sound server of our own, that of the tests."""
    spec = importlib.util.spec_from_file_location("sound_server", CONFTEST)
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with tempfile.TemporaryDirectory(prefix="voice-") as folder:
        server = module.SoundServer(Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.close()


def begins_and_stops(times: int) -> list[str]:
    """Narrations on a device that exists in memory, each stopped after 0.8 to 2 s."""
    with sound_server() as server:
        recorder = Recorder(server)
        time.sleep(0.3)
        program = server.program(PROGRAM, times, 1, " ".join(NARRATIONS[:4]))
        printed, errors = program.communicate(timeout=60 + 6 * times)
        time.sleep(0.5)
        recorder.end()
    assert program.returncode == 0, errors
    turns = [json.loads(line) for line in printed.splitlines()]
    ends = [turn["asked"] for turn in turns[1:]] + [float("inf")]
    first, silent, returned = [], [], []
    for turn, end in zip(turns, ends, strict=True):
        loud = [at for at in recorder.loud_at if turn["asked"] <= at < end]
        first.append(loud[0] - turn["asked"])
        silent.append(max(loud[-1] - turn["stopped"], 0.0))
        returned.append(turn["returned"] - turn["stopped"])
    idle = [first[0], *first[2::2]]
    rows = [
        ["narrate() → first sound, after 2.5 s of idleness (0.25 s of lead-in)", *_milliseconds(idle)],
        ["narrate() → first sound, soon after another", *_milliseconds(first[1::2])],
        ["interrupt() → last sound", *_milliseconds(silent)],
        ["interrupt() → narrate() returns", *_milliseconds(returned)],
    ]
    return table(["", "median ms", "worst ms", "of"], rows)


def _milliseconds(values: Sequence[float]) -> list[str]:
    return [f"{1_000 * median(values):.0f}", f"{1_000 * max(values):.0f}", str(len(values))]


# --- Where it goes on -------------------------------------------------------------------------------------


async def positions(rates: Sequence[float]) -> list[str]:
    """The word that eSpeak tells and the one that is estimated, against pauses that can be heard."""
    sentences = [sentence for text in NARRATIONS for sentence in speakable(text) if sentence.count(" ") > 4]
    rows = []
    async with Pyttsx3Engine() as engine:
        for rate in rates:
            told_s: list[float] = []
            estimated_s: list[float] = []
            apart: list[int] = []
            for number, sentence in enumerate(sentences):
                progress(f"rate {rate:g}, sentence {number + 1} of {len(sentences)}")
                sound = await engine.render(sentence, rate=rate)
                if not sound.words:
                    continue
                told_s += _distances(sound, _after_commas(sentence, sound))
                estimated_s += _distances(sound, _estimated_after_commas(sentence, sound))
                apart += _words_apart(sentence, sound)
            if not apart:
                continue
            exact = sum(not words for words in apart) / len(apart)
            near = sum(words <= 1 for words in apart) / len(apart)
            rows.append(
                [
                    f"{rate:g}",
                    _spread(told_s),
                    _spread(estimated_s),
                    str(len(told_s)),
                    f"{exact:.0%}",
                    f"{near:.0%}",
                    str(max(apart)),
                ]
            )
    header = ["rate", "told: ms from a heard onset, median / 90 %", "estimated: the same", "onsets"]
    return table([*header, "estimate is the told word", "… or next to it", "worst, in words"], rows)


def _spread(distances_s: Sequence[float]) -> str:
    """Median and nine in ten; where no pause can be heard there is nothing to tell."""
    if not distances_s:
        return "-"
    return f"{1_000 * median(distances_s):.0f} / {1_000 * float(np.quantile(distances_s, 0.9)):.0f}"


def _after_commas(sentence: str, sound: Sound) -> list[float]:
    return [at for at, place in sound.words if place > 1 and sentence[place - 2] == ","]


def _estimated_after_commas(sentence: str, sound: Sound) -> list[float]:
    """When those words would begin if every character took equally long."""
    places = [place for _, place in sound.words if place > 1 and sentence[place - 2] == ","]
    return [sound.duration_s * place / len(sentence) for place in places]


def _distances(sound: Sound, times: Sequence[float]) -> list[float]:
    """How far each is from the nearest onset of sound after 60 ms of silence."""
    size = sound.rate // 200
    levels = np.abs(sound.samples[: len(sound.samples) // size * size].reshape(-1, size).astype(int)).max(
        axis=1
    )
    loud = levels > LOUD
    onsets = [at / 200 for at in range(12, len(loud)) if loud[at] and not loud[at - 12 : at].any()]
    return [min(abs(at - onset) for onset in onsets) for at in times] if onsets else []


def _words_apart(sentence: str, sound: Sound) -> list[int]:
    """Of each tenth of a second: so many words are between the one that is told and the estimated one."""
    untold = Sound(sound.samples, sound.rate)
    apart = []
    for at_s in np.arange(0.05, sound.duration_s, 0.1):
        places = sorted((word_at(sentence, sound, at_s), word_at(sentence, untold, at_s)))
        apart.append(sentence.count(" ", *places))
    return apart


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--times", type=int, default=20, help="narrations that are stopped")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    random.seed(1)
    lines = ["# Narration", "", "Made by `python benchmarks/narration.py`.", "", "## Begin and stop", ""]
    lines += begins_and_stops(options.times)
    lines += ["", "## Where it goes on", ""]
    lines += anyio.run(positions, (0.5, 1.0, 2.0))
    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
