"""What a list of likely names does to everything else: each clip through the loop, without and with names.

Run ``python benchmarks/vocabulary.py``; README.md beside it says what it needs and what its table means.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import anyio
from corpus import Clip, CorpusError, corpus_folder, read_corpus
from measuring import conditions, percent, points, progress, table
from words import Score, compare, score

from voice.assembly import find_weights, make_hearing, make_patience, make_transcriber
from voice.backends.recording import RecordingMicrophone
from voice.errors import VoiceError
from voice.events import UserMessage
from voice.loop import Silence, hear
from voice.ports import Transcriber
from voice.settings import Settings

RESULTS = Path(__file__).parent / "results" / "vocabulary.md"

OPTIONS = ("PostgreSQL", "MySQL", "SQLite", "Redis")
"""What a question offers that none of the clips answers."""

PROJECT = (
    "turn_taking.py", "AutonomousVoice", "PostgreSQL", "prompt_toolkit", "whisper_engine.py", "Coordinator",
    "MySQL", "kubectl", "pyproject.toml", "TypeScript", "SpokenPresenter", "webrtcvad", "asyncio", "Redis",
    "main.py", "NarrationEnded", "settings.toml", "useEffect", "OAuth", "GraphQL", "deploy_preview",
    "feature/login-page", "SQLite", "nginx", "TranscriberDied", "constraints.txt", "FastAPI", "Dockerfile",
    "release-2.4", "pytest",
)  # fmt: skip
"""Thirty names of a project, of every form that names have."""

WAYS = ("no names", "four options", "thirty names")
LONGEST_S = 12.0
SEED = 3


async def heard(clip: Clip, transcriber: Transcriber, settings: Settings, way: str) -> str:
    """What the loop hears of a clip; without a question, so that all wait alike."""
    delay_s = settings.transcription.replay_delay_s
    hearing = make_hearing(settings, transcriber, make_patience(settings), transcript_after_s=delay_s)
    if way == "four options":
        hearing.expect("", OPTIONS)
    elif way == "thirty names":
        hearing.know(PROJECT)
    async with RecordingMicrophone(clip.path).open() as frames:
        events = hear(frames, hearing, afterwards=Silence(), end_turn_with_input=False)
        return " ".join([event.text async for event in events if isinstance(event, UserMessage)])


async def measure(clips: Sequence[Clip], settings: Settings) -> dict[str, list[Score]]:
    """The words that are wrong of each clip, by way."""
    scores: dict[str, list[Score]] = defaultdict(list)
    async with make_transcriber(settings.transcription, find_weights(settings.transcription)) as whisper:
        await whisper.ready()
        for number, clip in enumerate(clips, start=1):
            progress(f"{number} of {len(clips)}: {clip.id}")
            for way in WAYS:
                text = await heard(clip, whisper, settings, way)
                scores[way].append(score(clip.transcript or "", text))
    return scores


def page(scores: dict[str, list[Score]], settings: Settings) -> list[str]:
    """The results as Markdown lines."""
    without = scores[WAYS[0]]
    rows = []
    for way in WAYS:
        total = sum(scores[way], Score(0, 0))
        compared = compare(scores[way], without)
        rows.append([way, str(len(scores[way])), percent(total.rate), points(compared)])
    header = ("", "clips", "words wrong, %", "against no names, points (95 % interval)")
    return ["# What names do to everything else", "", *conditions(settings), "", *table(header, rows)]


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="a Whisper size, or a model folder")
    parser.add_argument("--clips", type=int, default=10_000, metavar="N", help="a fixed sample of so many")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    try:
        settings = Settings().changed("transcription", model=given.model)
        clips = [
            clip
            for clip in read_corpus(corpus_folder())
            if clip.transcript and not clip.echo and clip.language == "en" and clip.duration_s <= LONGEST_S
        ]
        random.Random(SEED).shuffle(clips)
        lines = page(anyio.run(measure, clips[: given.clips], settings), settings)
    except (CorpusError, VoiceError) as error:
        sys.exit(str(error))
    given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
