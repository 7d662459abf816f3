"""What does listening cost while nobody speaks, and does anything grow? Against two naive loops.

Run ``python benchmarks/idle.py``; README.md beside it says what its tables mean. It needs no corpus.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import numpy as np
import psutil
from measuring import conditions, progress, table
from noises import fan

from voice.assembly import find_weights, make_hearing, make_patience, make_transcriber
from voice.audio import FRAME_S, FRAME_SAMPLES, SAMPLE_RATE, Samples, silent_frame, to_float
from voice.backends.recording import read_recording
from voice.backends.silero import SileroModel
from voice.errors import VoiceError
from voice.events import UserMessage
from voice.listening.detection import TwoStageDetector
from voice.settings import Settings

RESULTS = Path(__file__).parent / "results" / "idle.md"
REPLY = Path(__file__).parents[1] / "audio_fixtures" / "yes.wav"

WINDOW_S = 2.0
"""The naive loop that has no detector gives so much to Whisper at a time."""

TURNS = (10, 100, 500)
PAUSE_S = 3.0
"""Between two of them."""


def rooms(seconds: float) -> dict[str, Samples]:
    """Silence, the hiss of a quiet room, and a fan that opens the cheap gate."""
    draw = np.random.default_rng(5)
    hiss = draw.normal(0, 32_768 * 10 ** (-70 / 20), round(seconds * SAMPLE_RATE))
    return {
        "digital silence": np.zeros(round(seconds * SAMPLE_RATE), np.int16),
        "a quiet room": np.rint(hiss).astype(np.int16),
        "a fan": fan(seconds, draw),
    }


async def loop_hears(samples: Samples, settings: Settings) -> Callable[[], Awaitable[None]]:
    """This loop; Whisper waits in its child process, which has nothing to do."""
    transcriber = make_transcriber(settings.transcription, find_weights(settings.transcription))
    hearing = make_hearing(settings, transcriber, make_patience(settings))
    frames = samples.reshape(-1, FRAME_SAMPLES)

    async def run() -> None:
        for frame in frames:
            await hearing.push(frame)

    return run


async def silero_hears(samples: Samples, settings: Settings) -> Callable[[], Awaitable[None]]:  # noqa: ARG001
    """Silero on every frame."""
    detector = TwoStageDetector(lambda _: True, SileroModel())
    frames = samples.reshape(-1, FRAME_SAMPLES)

    async def run() -> None:
        for frame in frames:
            detector.judge(frame)

    return run


async def whisper_hears(samples: Samples, settings: Settings) -> Callable[[], Awaitable[None]]:
    """Whisper on every window of `WINDOW_S`, as a loop without a detector does; at most 20 windows."""
    from faster_whisper import WhisperModel

    model = WhisperModel(
        str(find_weights(settings.transcription)), device="cpu", compute_type="int8", cpu_threads=1
    )
    length = round(WINDOW_S * SAMPLE_RATE)

    async def run() -> None:
        for start in range(0, len(samples) - length + 1, length):
            segments, _ = model.transcribe(to_float(samples[start : start + length]), language="en")
            list(segments)

    return run


WAYS = {
    "this loop": (loop_hears, 120.0),
    "Silero on every frame": (silero_hears, 120.0),
    f"Whisper on every {WINDOW_S:g} s": (whisper_hears, 16.0),
}
"""Each with the seconds of sound that it is given."""


async def cost(way: str, room: str, settings: Settings) -> dict[str, float]:
    """Processor seconds for a second of sound, and the memory of the process, in MB."""
    make, seconds = WAYS[way]
    run = await make(rooms(seconds)[room], settings)
    began = time.process_time()
    await run()
    memory = psutil.Process().memory_info().rss / 1e6
    return {"share": (time.process_time() - began) / seconds, "memory_mb": memory}


def in_a_process_of_its_own(way: str, room: str, model: str | None) -> dict[str, float]:
    """So that no way pays for what another has loaded."""
    command = [sys.executable, __file__, "--cost", way, room, *(["--model", model] if model else [])]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(answer.stdout)
    return found


async def turns(settings: Settings) -> tuple[list[list[str]], set[str]]:
    """One reply again and again in one session: memory, and the texts that it was heard as."""
    rows: list[list[str]] = []
    texts: set[str] = set()
    reply = read_recording(REPLY)
    pad = -len(reply) % FRAME_SAMPLES
    frames = np.concatenate([reply, np.zeros(pad, np.int16)]).reshape(-1, FRAME_SAMPLES)
    whisper = make_transcriber(settings.transcription, find_weights(settings.transcription))
    async with whisper:
        await whisper.ready()
        assert whisper.pid is not None
        child = psutil.Process(whisper.pid)
        delay_s = settings.transcription.replay_delay_s
        hearing = make_hearing(settings, whisper, make_patience(settings), transcript_after_s=delay_s)
        ends: set[float] = set()
        messages = 0
        for turn in range(1, TURNS[-1] + 1):
            hearing.expect("Is that right?")  # a question is answered once
            for frame in [*frames, *[silent_frame()] * round(PAUSE_S / FRAME_S)]:
                for event in await hearing.push(frame):
                    if isinstance(event, UserMessage) and event.latency is not None:
                        texts.add(event.text)
                        ends.add(round(event.latency.endpoint_s, 2))
                        messages += 1
            if turn % 10 == 0:
                progress(f"turn {turn} of {TURNS[-1]}")
            if turn in TURNS:
                own, theirs = (process.memory_info().rss / 1e6 for process in (psutil.Process(), child))
                waits = ", ".join(f"{1000 * end_s:.0f}" for end_s in sorted(ends))
                rows.append([str(turn), str(messages), f"{own:.1f}", f"{theirs:.1f}", str(len(texts)), waits])
    return rows, texts


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=None, help="a Whisper size or a model folder (default: tiny.en)")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE", help="the page to write")
    parser.add_argument("--cost", nargs=2, metavar=("WAY", "ROOM"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    settings = Settings().changed("transcription", model=options.model)
    try:
        if options.cost:
            print(json.dumps(anyio.run(cost, *options.cost, settings)))
            return 0
        rows = []
        for room in rooms(0.1):
            for way in WAYS:
                progress(f"{way}: {room}")
                found = in_a_process_of_its_own(way, room, options.model)
                rows.append([room, way, f"{100 * found['share']:.2f}", f"{found['memory_mb']:.0f}"])
        grown, texts = anyio.run(turns, settings)
    except VoiceError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    progress("")
    head = ["sound", "way", "processor, % of one core", "memory, MB"]
    page = [
        "# Idle listening",
        "",
        *conditions(settings),
        "",
        *table(head, rows),
        "",
        "## Turn after turn",
        "",
    ]
    head = ["turns", "messages", "memory, MB", "Whisper's process, MB", "different texts", "endpoints, ms"]
    page += [*table(head, grown), "", f"Heard: {', '.join(f'“{text}”' for text in sorted(texts))}.", ""]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text("\n".join(page) + "\n", encoding="utf-8")
    print("\n".join(page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
