"""How much of Whisper's window is needed? Time by the length of a reply, and words, for windows cut shorter.

Run ``python benchmarks/whisper_window.py``; README.md beside it says what it needs and what its tables mean.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import anyio
import numpy as np
from corpus import Clip, CorpusError, corpus_folder, read_corpus, stratified
from measuring import conditions, interval, model_name, percent, points, progress, table
from rehearing import Rule, recorded, rehear
from words import Score, compare, score

from voice.assembly import EARLY_S, find_weights
from voice.audio import SAMPLE_RATE, Samples
from voice.backends.whisper import COMPUTE_TYPE, THREADS
from voice.backends.whisper_child import guarded, transcribe
from voice.backends.whisper_engine import WINDOW_FRAMES, ShortWindowWhisper
from voice.errors import VoiceError
from voice.listening.judging import clean
from voice.listening.pieces import PieceRule
from voice.listening.utterances import PRE_ROLL_S
from voice.ports import PendingTranscript, Transcript
from voice.settings import Settings

RESULTS = Path(__file__).parent / "results" / "whisper_window.md"

LENGTHS_S = (1.0, 2.0, 4.0, 10.0)
REPLIES = 12
"""Of each length so many are timed …"""

NEAR = 0.3
"""… whose length is no further off than by this share."""

WINDOWS_S = (8.0, 12.0, 15.0, 20.0, 30.0)
"""The shortest windows that are compared; the last is the whole one."""

RULE = Rule("the pieces of the loop", 1.6, early=True, pieces=PieceRule())


@dataclass(frozen=True)
class Heard:
    """One clip by each window: its words, and how often the guard made a text again."""

    clip: Clip
    texts: tuple[str, ...]
    again: tuple[int, ...]


@dataclass(frozen=True)
class Timed:
    """Pieces of one length: seconds by each window, one list a window."""

    length_s: float
    seconds: tuple[tuple[float, ...], ...]


@dataclass
class _Collecting:
    """Keeps the pieces that the loop would have transcribed, less those that it took back."""

    pieces: list[Samples]

    def submit(self, samples: Samples, *, vocabulary: Sequence[str] = ()) -> PendingTranscript:  # noqa: ARG002
        self.pieces.append(samples)
        return _Kept(self.pieces, samples)


@dataclass
class _Kept:
    pieces: list[Samples]
    samples: Samples
    done: bool = True

    async def result(self) -> Transcript:
        return Transcript("x")

    def cancel(self) -> None:
        self.pieces[:] = [piece for piece in self.pieces if piece is not self.samples]


async def pieces_of(clip: Clip, settings: Settings) -> list[Samples]:
    """What the loop gives to Whisper of a clip, where nothing but silence ends a turn."""
    pieces: list[Samples] = []
    await rehear(recorded(clip), RULE, _Collecting(pieces), settings)
    return pieces


class Windows:
    """One model with any window."""

    def __init__(self, weights: Path, language: str) -> None:
        self._whisper = ShortWindowWhisper(
            str(weights), device="cpu", compute_type=COMPUTE_TYPE, cpu_threads=THREADS
        )
        self._language = language
        self.default_s = self._whisper.least_frames / 100

    def hear(self, samples: Samples, window_s: float) -> tuple[Transcript, bool]:
        """The text, and whether the guard had to make it again; the whole window has no guard."""
        self._whisper.least_frames = round(window_s * 100)
        if self._whisper.least_frames >= WINDOW_FRAMES:
            self._whisper.full_window = True
            return Transcript(**transcribe(self._whisper, samples, self._language)), False
        transcript = Transcript(**guarded(self._whisper, samples, self._language))
        return transcript, self._whisper.full_window


def timed(pieces: Sequence[Samples], windows: Windows, windows_s: Sequence[float]) -> list[Timed]:
    """Time pieces of each length, by one window after the other."""
    rows: list[Timed] = []
    for length_s in LENGTHS_S:
        those = nearest(pieces, length_s)
        progress(f"timing {len(those)} replies of {length_s:g} s")
        seconds = [[windows.hear(piece, window_s)[0].compute_s for window_s in windows_s] for piece in those]
        rows.append(Timed(length_s, tuple(zip(*seconds, strict=True))))
    return rows


def nearest(pieces: Sequence[Samples], length_s: float) -> list[Samples]:
    """The pieces with about so much speech in them; where there are none, pieces joined to as much."""

    def off(piece: Samples) -> float:
        return abs(len(piece) / SAMPLE_RATE - PRE_ROLL_S - EARLY_S - length_s)

    near = [piece for piece in sorted(pieces, key=off)[:REPLIES] if off(piece) < length_s * NEAR]
    length = round((PRE_ROLL_S + length_s + EARLY_S) * SAMPLE_RATE)
    everything = np.concatenate(pieces)
    starts = range(0, len(everything) - length + 1, length)
    return near or [everything[start : start + length] for start in starts[:REPLIES]]


def report(
    heard: Sequence[Heard], times: Sequence[Timed], windows_s: Sequence[float], chosen_s: float
) -> list[str]:
    """The tables; the last window is the one that the others are compared with."""
    head = ["reply", "number", *(f"{window_s:g} s" for window_s in windows_s), "ratio of the one that is set"]
    rows = []
    for row in times:
        middle = [median(seconds) for seconds in row.seconds]
        ratio = middle[windows_s.index(chosen_s)] / middle[-1] if middle and chosen_s in windows_s else 0.0
        cells = [f"{1000 * seconds:.0f}" for seconds in middle] or ["-"] * len(windows_s)
        number = len(row.seconds[0]) if row.seconds else 0
        rows.append([f"{row.length_s:g} s", str(number), *cells, f"{ratio:.2f}" if ratio else "-"])
    lines = [
        "Median milliseconds of real time, for windows that are at least so long:",
        "",
        *table(head, rows),
        "",
    ]
    scores = [[score(one.clip.transcript or "", text) for text in one.texts] for one in heard]
    head = ["window", "word error %", "95 %", "against the whole one, points (95 %)", "made again"]
    rows = []
    for number, window_s in enumerate(windows_s):
        both = compare([one[number] for one in scores], [one[-1] for one in scores])
        name = f"{window_s:g} s" + (" (set)" if window_s == chosen_s else "")
        again = sum(one.again[number] for one in heard)
        rows.append([name, percent(both.first.rate), interval(both.first_interval), points(both), str(again)])
    words = sum((one[-1] for one in scores), Score(0, 0)).words
    lines += [f"{len(heard)} clips, {words} words:", "", *table(head, rows), ""]
    kinds = [kind for kind, _ in Counter(one.clip.kind for one in heard).most_common()]
    rows = []
    for kind in kinds:
        those = [each for one, each in zip(heard, scores, strict=True) if one.clip.kind == kind]
        rates = [sum((each[n] for each in those), Score(0, 0)).rate for n in range(len(windows_s))]
        rows.append([kind, str(len(those)), *map(percent, rates)])
    head = ["kind", "clips", *(f"{window_s:g} s" for window_s in windows_s)]
    return [*lines, "Word error rate in percent, by kind:", "", *table(head, rows), ""]


async def measure(clips: Sequence[Clip], settings: Settings, windows_s: Sequence[float]) -> list[str]:
    """Hear the clips with each window, and time them."""
    windows = Windows(find_weights(settings.transcription), settings.transcription.language)
    chosen_s = windows.default_s
    heard: list[Heard] = []
    everything: list[Samples] = []
    for number, clip in enumerate(clips, 1):
        progress(f"{number}/{len(clips)} {clip.kind}: {clip.id}")
        pieces = await pieces_of(clip, settings)
        everything += pieces
        results = [[windows.hear(piece, window_s) for piece in pieces] for window_s in windows_s]
        texts = tuple(" ".join(clean(transcript.text) for transcript, _ in row) for row in results)
        heard.append(Heard(clip, texts, tuple(sum(again for _, again in row) for row in results)))
    return report(heard, timed(everything, windows, windows_s), windows_s, chosen_s)


def main() -> int:
    """Measure, and write the page or a part of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=None, help="a Whisper size or a model folder (default: tiny.en)")
    parser.add_argument("--clips", type=int, metavar="N", help="a stratified sample of at most N clips")
    parser.add_argument(
        "--windows", type=float, nargs="+", default=WINDOWS_S, metavar="S", help="seconds; the last is 30"
    )
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE", help="the page to write")
    parser.add_argument("--add", action="store_true", help="add to the page, for a second model")
    options = parser.parse_args()
    settings = Settings().changed("transcription", model=options.model)
    name = model_name(settings)
    try:
        clips = [
            clip
            for clip in read_corpus(corpus_folder())
            if clip.language == settings.transcription.language and clip.transcript and not clip.echo
        ]
        sample = stratified(clips, options.clips) if options.clips else clips
        lines = anyio.run(measure, sample, settings, tuple(options.windows))
        page = [f"## {name}", "", *conditions(settings)[:2], "", *lines]
    except (CorpusError, VoiceError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    progress("")
    before = options.out.read_text(encoding="utf-8") if options.add else "# Whisper's window, cut\n\n"
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(before + "\n".join(page) + "\n", encoding="utf-8")
    print("\n".join(page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
