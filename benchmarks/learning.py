"""Does it learn how somebody pauses? One speaker's replies after each other, with learning and without.

Run ``python benchmarks/learning.py``; README.md beside it says what it needs and what its tables mean.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from pathlib import Path

import anyio
import numpy as np
from composing import compose, usable
from corpus import Clip, CorpusError, Span, corpus_folder, read_corpus
from measuring import conditions, model_name, progress, table
from questions import OPEN
from rehearing import (
    LoopWhisper,
    Recorded,
    Remembering,
    StoredDetector,
    frames_of,
    hearing_of,
    verdicts_of,
    with_room_tone,
)
from turns import rules_of

from voice.assembly import find_weights, make_patience
from voice.audio import silent_frame
from voice.errors import VoiceError
from voice.events import UserMessage
from voice.listening.patience import OwnPauses
from voice.ports import Transcriber
from voice.settings import Settings

RESULTS = Path(__file__).parent / "results" / "learning.md"

SPEAKERS = 8
TURNS = 16
"""So many replies of each, of two clips with a pause between them; the first half teaches the second."""

MANNERS: dict[str, Span] = {
    "pauses of 0.4 to 1.2 s": (0.4, 1.2),
    "pauses of 0.8 to 2.0 s": (0.8, 2.0),
    "pauses of 1.5 to 2.2 s": (1.5, 2.2),
}
"""How somebody pauses: each pause is drawn from there. A wait of 1.6 s is shorter than some of them."""

SEED = 5


@dataclass(frozen=True)
class Reply:
    """What became of one reply."""

    cut: bool
    """Whether the first message went before its end; with no message at all it was not."""
    decided_after_s: float | None
    """From its end to the decision; None where it was cut, or missed."""


class _Deaf(OwnPauses):
    """Learns nothing."""

    def learn(self, pause_s: float) -> None:
        """Forget it."""


def replies_of(clips: Sequence[Clip], pauses_s: Span, number: int, seed: int) -> list[Recorded]:
    """Replies of one speaker: pairs of their clips, with a pause between the two."""
    draw = random.Random(seed)
    pairs = list(permutations(clips, 2))
    draw.shuffle(pairs)
    made: list[Recorded] = []
    for first, second in pairs[:number]:
        composed = compose([first, second], [draw.uniform(*pauses_s)])
        span = (composed.spans[0][0], composed.spans[-1][1])
        samples = with_room_tone(composed.samples, [span])
        name = f"{first.id} + {second.id}"
        made.append(
            Recorded(name, "paused", samples, verdicts_of(samples), (span,), composed.reference, OPEN)
        )
    return made


async def follow(
    replies: Sequence[Recorded], transcriber: Transcriber, settings: Settings, *, learns: bool
) -> list[Reply]:
    """Hear one speaker's replies one after the other, each to a question of its own, with one patience."""
    patience = make_patience(settings)
    if not learns:
        patience.own = _Deaf()
    detector = StoredDetector()
    hearing = hearing_of(detector, transcriber, rules_of(settings)[0], settings, patience)
    found: list[Reply] = []
    for reply in replies:
        hearing.expect(reply.question)
        began_s, end_s = hearing.now_s, reply.turns[-1][1]
        detector.hears(reply.verdicts)
        frames = iter(frames_of(reply.samples))
        decided: list[float] = []
        while (frame := next(frames, None)) is not None or hearing.busy:
            for event in await hearing.push(silent_frame() if frame is None else frame):
                match event:
                    case UserMessage(heard=heard, latency=latency) if (
                        heard is not None and latency is not None
                    ):
                        decided.append(heard.end_s + latency.endpoint_s - began_s)
        cut = bool(decided) and decided[0] < end_s
        found.append(Reply(cut, decided[0] - end_s if decided and not cut else None))
    return found


@dataclass
class Row:
    """One manner of pausing, all speakers."""

    name: str
    without: list[list[Reply]] = field(default_factory=list)
    learned: list[list[Reply]] = field(default_factory=list)


def _cells(replies: Sequence[Sequence[Reply]]) -> list[str]:
    """Cut in the first and in the second half, and the median to the decision in the second."""
    halves = [
        [reply for those in replies for reply in those[half]]
        for half in (slice(TURNS // 2), slice(TURNS // 2, None))
    ]
    cuts = [f"{sum(reply.cut for reply in those)} of {len(those)}" for those in halves]
    waits = [reply.decided_after_s for reply in halves[1] if reply.decided_after_s is not None]
    return [*cuts, f"{1000 * np.median(waits):.0f}" if waits else "-"]


def report(rows: Sequence[Row]) -> list[str]:
    """The table."""
    head = ["speakers with", "learning", "cut, first half", "cut, second half", "to the decision then, ms"]
    cells = [
        [row.name, name, *_cells(replies)]
        for row in rows
        for name, replies in (("no", row.without), ("yes", row.learned))
    ]
    return table(head, cells)


async def measure(clips: Sequence[Clip], settings: Settings, options: argparse.Namespace) -> list[Row]:
    """All speakers, with each manner of pausing."""
    speakers: dict[str, list[Clip]] = {}
    for clip in clips:
        if clip.speaker is not None and usable(clip):
            speakers.setdefault(clip.speaker, []).append(clip)
    # Enough clips that no two replies are of the same two.
    known = [those for those in speakers.values() if len(those) * (len(those) - 1) >= TURNS]
    weights = find_weights(settings.transcription)
    whisper = LoopWhisper(weights, settings.transcription.language)
    transcriber = Remembering(whisper, f"{weights} loop", options.remember)
    rows: list[Row] = []
    for name, pauses_s in MANNERS.items():
        row = Row(name)
        for number, those in enumerate(known[: options.speakers], 1):
            progress(f"{name}: {number}/{min(len(known), options.speakers)}")
            replies = replies_of(those, pauses_s, TURNS, SEED + number)
            row.without.append(await follow(replies, transcriber, settings, learns=False))
            row.learned.append(await follow(replies, transcriber, settings, learns=True))
        rows.append(row)
    return rows


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=None, help="a Whisper size or a model folder (default: tiny.en)")
    parser.add_argument("--speakers", type=int, default=SPEAKERS, metavar="N", help="at most so many")
    parser.add_argument("--remember", type=Path, metavar="FILE", help="texts of before, and those of now")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE", help="the page to write")
    options = parser.parse_args()
    settings = Settings().changed("transcription", model=options.model)
    try:
        language = settings.transcription.language
        clips = [clip for clip in read_corpus(corpus_folder()) if clip.language == language and not clip.echo]
        rows = anyio.run(partial(measure, clips, settings, options))
    except (CorpusError, VoiceError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    progress("")
    counted = (
        f"* {len(rows[0].learned)} speakers, {TURNS} replies of each, with 3 s of their room tone behind it."
    )
    page = [
        f"# Learning how somebody pauses, with {model_name(settings)}", "",
        *conditions(settings), counted, "", *report(rows),
    ]  # fmt: skip
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text("\n".join(page) + "\n", encoding="utf-8")
    print("\n".join(page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
