"""How soon is a turn answered, and how often is somebody cut off? This loop against fixed silences.

Run ``python benchmarks/turns.py``; README.md beside it says what it needs and what its tables mean.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import anyio
import numpy as np
from composing import compose, pairs_of, usable
from corpus import Clip, CorpusError, corpus_folder, read_corpus, stratified
from intervals import of_median, of_share
from measuring import conditions, interval, model_name, percent, progress, table
from picture import Point, scatter
from questions import OPEN
from rehearing import (
    LibraryWhisper,
    LoopWhisper,
    NoTranscriber,
    Recorded,
    Reheard,
    Remembering,
    Rule,
    recorded,
    rehear,
    verdicts_of,
    with_room_tone,
)
from words import Score, compare, score

from voice.assembly import find_weights
from voice.audio import Frame, level_dbfs
from voice.backends.silero import SileroModel
from voice.backends.webrtc_vad import WebRtcGate
from voice.errors import VoiceError
from voice.listening.detection import TwoStageDetector
from voice.listening.pieces import PieceRule
from voice.ports import SpeechDetector, Transcriber, Verdict
from voice.settings import Settings

RESULTS = Path(__file__).parent / "results"

SAMPLE = 120
"""So many clips at most are transcribed in real time by every rule, for its latency and its words."""

SHORT = ("short_reply", "tiny_reply")

PAUSES_S = (2.0, 2.5)
"""Longer pauses inside a turn than the corpus has."""

PAIRS = 24
SEED = 3

GONE_ON_S = 1.0
"""Who goes on so soon after the decision could be joined to what was sent, if the host can take it back."""


@dataclass(frozen=True)
class Judged:
    """What one rule made of one recording with speech."""

    sound: Recorded
    heard: Reheard
    worded: bool
    """Whether it was really transcribed, and not only decided."""

    @property
    def end_s(self) -> float:
        """The reference end of speech."""
        return self.sound.turns[-1][1]

    @property
    def cut(self) -> bool:
        """Whether the first message went before the end of speech."""
        return bool(self.heard.sent) and self.heard.sent[0].decided_at_s < self.end_s

    @property
    def gone_on(self) -> bool:
        """Whether the speaker went on soon after being cut."""
        first, *others = self.heard.sent
        return self.cut and bool(others) and others[0].heard[0] - first.decided_at_s <= GONE_ON_S

    @property
    def decided_after_s(self) -> float:
        """From the end of speech to the decision; there must be a message."""
        return self.heard.sent[0].decided_at_s - self.end_s

    @property
    def sent_after_s(self) -> float:
        """From the end of speech to the message, transcription included."""
        return self.heard.sent[0].at_s - self.end_s

    @property
    def score(self) -> Score:
        """Of all its messages; there must be a transcript."""
        return score(self.sound.transcript or "", self.heard.text)


@dataclass(frozen=True)
class Row:
    """One rule on all recordings."""

    name: str
    spoken: tuple[Judged, ...]
    silent: tuple[Judged, ...]
    paused: tuple[tuple[Judged, ...], ...] = ()
    """One list for each length of `PAUSES_S`."""

    @property
    def whole(self) -> list[Judged]:
        """The turns that were not cut, and not missed."""
        return [one for one in self.spoken if one.heard.sent and not one.cut]


def rules_of(settings: Settings) -> list[Rule]:
    """This loop, and those that wait for a fixed silence."""
    own = Rule("this loop", settings.hearing.end_silence_s, True, patience=settings, pieces=PieceRule())
    return [
        own,
        Rule("1,000 ms, then transcribe", 1.0, early=False),
        Rule("700 ms, then transcribe", 0.7, early=False),
        Rule("600 ms, transcribed early", 0.6, early=True),
        Rule("1,600 ms, then transcribe", 1.6, early=False),
    ]


class _SileroOnly(TwoStageDetector):
    def __init__(self) -> None:
        super().__init__(lambda _: True, SileroModel())


class _WebRtcOnly:
    def __init__(self) -> None:
        self._gate = WebRtcGate(mode=3)

    def judge(self, frame: Frame) -> Verdict:
        return Verdict(float(self._gate(frame)), level_dbfs(frame))

    def reset(self) -> None:
        """It remembers nothing of interest."""


PARTS = ("early", "words", "question", "window", "gate", "model")
"""What can be taken out of the loop: early transcription; the words, and the question, that patience goes by;
the cut window; the cheap gate before the detector's model; that model, which leaves the gate in its strictest
mode."""


def without(rule: Rule, parts: Sequence[str]) -> Rule:
    """The loop's rule with parts of it taken out."""
    return replace(
        rule,
        name="without " + " and ".join(parts),
        early=rule.early and "early" not in parts,
        words="words" not in parts,
        asks="question" not in parts,
    )


def detector_without(parts: Sequence[str]) -> SpeechDetector | None:
    """The detector that is left, None for the loop's own."""
    if "model" in parts:
        return _WebRtcOnly()
    return _SileroOnly() if "gate" in parts else None


def paused(clips: Sequence[Clip], pause_s: float) -> list[Recorded]:
    """Pairs of clips of one speaker as one turn with such a pause in it."""
    made: list[Recorded] = []
    for first, second in pairs_of([clip for clip in clips if usable(clip)], PAIRS, SEED):
        composed = compose([first, second], [pause_s])
        span = (composed.spans[0][0], composed.spans[-1][1])
        samples = with_room_tone(composed.samples, [span])
        name = f"{first.id} + {second.id}"
        made.append(
            Recorded(name, "paused", samples, verdicts_of(samples), (span,), composed.reference, OPEN)
        )
    return made


@dataclass
class Measuring:
    """The recordings, and what transcribes them."""

    settings: Settings
    sounds: Sequence[Recorded]
    paused: Sequence[Sequence[Recorded]]
    sample: frozenset[str]
    """Recordings that every rule transcribes."""
    own: Transcriber
    library: Transcriber
    library_hears_all: bool

    async def row(self, rule: Rule, own: Transcriber | None = None, *, only_sample: bool = False) -> Row:
        """One rule."""
        spoken: list[Judged] = []
        silent: list[Judged] = []
        sounds = [sound for sound in self.sounds if not only_sample or sound.id in self.sample]
        for number, sound in enumerate(sounds, 1):
            if number % 20 == 0:
                progress(f"{rule.name}: {number}/{len(sounds)}")
            judged = await self._judged(sound, rule, own)
            (spoken if sound.turns else silent).append(judged)
        pauses = (
            []
            if only_sample
            else [[await self._judged(one, rule, own) for one in those] for those in self.paused]
        )
        return Row(rule.name, tuple(spoken), tuple(silent), tuple(map(tuple, pauses)))

    async def _judged(self, sound: Recorded, rule: Rule, own: Transcriber | None) -> Judged:
        transcriber: Transcriber = own or self.own
        worded = True
        if rule.patience is None:
            worded = not sound.turns or self.library_hears_all or sound.id in self.sample
            worded = worded and sound.kind != "paused"
            transcriber = self.library if worded else NoTranscriber()
        return Judged(sound, await rehear(sound, rule, transcriber, self.settings), worded)


def _in_ms(values: Sequence[float]) -> str:
    if not values:
        return "-"
    low, high = of_median(values)
    middle, late = np.median(values), np.percentile(values, 95)
    return f"{1000 * middle:.0f} ({1000 * low:.0f} to {1000 * high:.0f}) / {1000 * late:.0f}"


def _of_all(row: Row) -> list[str]:
    heard = [one for one in row.spoken if one.heard.sent]
    cut = sum(one.cut for one in heard)
    gone_on = sum(one.gone_on for one in heard)
    share = f"{percent(cut / len(heard))} ({interval(of_share(cut, len(heard)))})" if heard else "-"
    phantoms = sum(len(one.heard.sent) for one in row.silent)
    decided = [one.decided_after_s for one in row.whole]
    missed = len(row.spoken) - len(heard)
    return [
        row.name,
        str(len(heard)),
        str(cut),
        share,
        str(gone_on),
        _in_ms(decided),
        str(missed),
        str(phantoms),
    ]


OF_ALL = [
    "rule", "turns", "cut", "cut % (95 %)", "of these gone on within 1 s",
    "to the decision, ms: median (95 %) / p95", "missed", "phantom messages",
]  # fmt: skip


def _of_sample(row: Row, own: Row, sample: frozenset[str], library: Row) -> list[str]:
    def ms(these: Callable[[Judged], bool]) -> list[float]:
        return [one.sent_after_s for one in row.whole if one.sound.id in sample and one.worded and these(one)]

    everything, short = ms(lambda _: True), ms(lambda one: one.sound.kind in SHORT)
    reference = [
        one.sent_after_s for one in library.whole if one.sound.id in sample and one.sound.kind in SHORT
    ]
    ratio = f"{np.median(short) / np.median(reference):.2f}" if short and reference else "-"
    computed = [one.heard.sent[0].compute_s for one in row.whole if one.sound.id in sample and one.worded]
    scored = {
        one.sound.id: one.score for one in row.spoken if one.sound.id in sample and one.sound.transcript
    }
    theirs = {one.sound.id: one.score for one in own.spoken if one.sound.id in scored}
    both = compare(list(scored.values()), [theirs[name] for name in scored])
    return [
        row.name, str(len(everything)), _in_ms(everything), _in_ms(short), ratio,
        f"{1000 * np.median(computed):.0f}" if computed else "-",
        f"{percent(both.first.rate)} ({interval(both.first_interval)})",
    ]  # fmt: skip


OF_SAMPLE = [
    "rule", "messages", "to the message, ms: median (95 %) / p95", "short replies, the same",
    "short replies against 1,000 ms", "a transcription, ms", "word error % (95 %)",
]  # fmt: skip


def _readiness(own: Row, sample: frozenset[str]) -> str:
    those = [one.heard.sent[0] for one in own.whole if one.sound.id in sample]
    late = [message.at_s - message.decided_at_s for message in those]
    soon = sum(wait <= 0.05 for wait in late)
    in_time = [message for message in those if message.asked_at_s + message.compute_s <= message.decided_at_s]
    return (
        f"This loop's text was there within 50 ms of the decision in {soon} of {len(late)} messages of the"
        f" sample ({len(in_time)} were transcribed before it)."
    )


def report(rows: Sequence[Row], parts: Sequence[Row], sample: frozenset[str]) -> list[str]:
    """The tables; the first row is this loop, the second the one that it is compared with."""
    own = rows[0]
    lines = ["### Every clip, in audio time", "", *table(OF_ALL, [_of_all(row) for row in rows]), ""]
    kinds = dict.fromkeys(one.sound.kind for one in own.spoken)
    by_kind = []
    for kind in kinds:
        cells = []
        for row in rows:
            those = [one for one in row.spoken if one.sound.kind == kind and one.heard.sent]
            whole = [one.decided_after_s for one in those if not one.cut]
            middle = f"{1000 * np.median(whole):.0f}" if whole else "-"
            cells.append(f"{sum(one.cut for one in those)} / {middle}")
        by_kind.append([kind, str(sum(one.sound.kind == kind for one in own.spoken)), *cells])
    head = ["kind", "clips", *(row.name for row in rows)]
    lines += ["Cut, and the median to the decision in ms, by kind:", "", *table(head, by_kind), ""]
    lines += ["### The sample, in real time", "", _readiness(own, sample), ""]
    lines += [*table(OF_SAMPLE, [_of_sample(row, own, sample, rows[1]) for row in rows]), ""]
    if own.paused:
        head = ["rule", *(f"cut at {pause_s:g} s" for pause_s in PAUSES_S)]
        cells = [[row.name, *(_cuts(those) for those in row.paused)] for row in rows]
        lines += ["### Longer pauses, composed", "", *table(head, cells), ""]
    lines += ["### Turns that this loop cut, and what it made of silence", ""]
    lines += [
        f"* {one.sound.kind}, {one.sound.id}: “{one.sound.transcript}”: "
        + " / ".join(f"“{message.text}”" for message in one.heard.sent)
        for one in own.spoken
        if one.cut
    ] or ["No turn was cut."]
    lines += [
        f"* {one.sound.kind}, {one.sound.id}: “{one.heard.text}”" for one in own.silent if one.heard.sent
    ]
    if parts:
        lines += [
            "",
            "### What each part bought",
            "",
            *table(OF_ALL, [_of_all(row) for row in (own, *parts)]),
        ]
        lines += ["", *table(OF_SAMPLE, [_of_sample(row, own, sample, rows[1]) for row in (own, *parts)])]
    return [*lines, ""]


def _cuts(those: Sequence[Judged]) -> str:
    heard = [one for one in those if one.heard.sent]
    return f"{sum(one.cut for one in heard)} of {len(heard)}"


def picture(rows: Sequence[Row], sample: frozenset[str], model: str) -> str:
    """Latency against cut-offs."""
    points: list[Point] = []
    for row in rows:
        heard = [one for one in row.spoken if one.heard.sent]
        cut = sum(one.cut for one in heard)
        waits = [one.sent_after_s for one in row.whole if one.sound.id in sample and one.worded]
        low, high = of_share(cut, len(heard))
        share = 100 * cut / len(heard)
        middle = float(np.median(waits))
        points.append(
            Point(row.name, share, middle, (100 * low, 100 * high), of_median(waits), row is rows[0])
        )
    title = f"From the last sound to the message ({model})"
    return scatter(title, "turns cut, % of all clips (95 %)", "median, seconds (95 %)", points)


async def measure(
    clips: Sequence[Clip], settings: Settings, parts: Sequence[Sequence[str]], options: argparse.Namespace
) -> tuple[list[Row], list[Row], frozenset[str]]:
    """All rules, and the loop without some of its parts."""
    weights, language = find_weights(settings.transcription), settings.transcription.language
    spoken = [clip for clip in clips if clip.turns]
    sample = frozenset(clip.id for clip in stratified(spoken, SAMPLE))

    def remembering(inner: Transcriber, name: str) -> Remembering:
        return Remembering(inner, f"{weights} {name}", options.remember)

    progress("listening")
    sounds = [recorded(clip) for clip in clips]
    worded = [clip for clip in spoken if clip.transcript]
    measuring = Measuring(
        settings,
        sounds,
        [paused(worded, pause_s) for pause_s in PAUSES_S],
        sample,
        remembering(LoopWhisper(weights, language), "loop"),
        remembering(LibraryWhisper(weights, language), "library"),
        not options.only_sample,
    )
    own, *fixed = rules_of(settings)
    rows = [await measuring.row(rule) for rule in (own, *fixed)]
    taken: list[Row] = []
    for without_these in parts:
        rule = without(own, without_these)
        left = measuring
        if (detector := detector_without(without_these)) is not None:
            remade = [
                recorded(clip, detector_without(without_these)) for clip in clips if detector is not None
            ]
            left = replace(measuring, sounds=remade)
        whole = remembering(LoopWhisper(weights, language, cut=False), "whole window")
        window = "window" in without_these
        taken.append(await left.row(rule, whole if window else None, only_sample=window))
    return rows, taken, sample


def details(rows: Iterable[Row]) -> str:
    """A line of JSON for each rule and recording, to look at by hand."""
    lines = [
        {
            "rule": row.name,
            "id": one.sound.id,
            "kind": one.sound.kind,
            "end_s": one.end_s if one.sound.turns else None,
            "sent": [(message.text, message.decided_at_s, message.compute_s) for message in one.heard.sent],
        }
        for row in rows
        for one in chain(row.spoken, row.silent, *row.paused)
    ]
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def main() -> int:
    """Measure; write the page and the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=None, help="a Whisper size or a model folder (default: tiny.en)")
    parser.add_argument(
        "--without", action="append", default=[], metavar="PART[+PART]",
        help=f"also the loop without parts of it, of {', '.join(PARTS)}; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--only-sample", action="store_true", help="transcribe by the fixed rules no more than the sample"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="a stratified sample of N clips of the corpus")
    parser.add_argument("--remember", type=Path, metavar="FILE", help="texts of before, and those of now")
    parser.add_argument("--details", type=Path, metavar="FILE", help="also write a line of JSON for each")
    parser.add_argument(
        "--out", type=Path, default=RESULTS / "turns.md", metavar="FILE", help="the page to write"
    )
    parser.add_argument("--add", action="store_true", help="add to the page, for a second model")
    options = parser.parse_args()
    settings = Settings().changed("transcription", model=options.model)
    name = model_name(settings)
    parts = [given.split("+") for given in options.without]
    if unknown := {part for given in parts for part in given} - {*PARTS}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    try:
        language = settings.transcription.language
        clips = [clip for clip in read_corpus(corpus_folder()) if clip.language == language and not clip.echo]
        clips = stratified(clips, options.limit) if options.limit else clips
        rows, taken, sample = anyio.run(partial(measure, clips, settings, parts, options))
    except (CorpusError, VoiceError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    progress("")
    pictured = options.out.with_name(f"{options.out.stem}-{name}.svg")
    counted = (
        f"* {len(rows[0].spoken)} clips with speech and {len(rows[0].silent)} without, each with 3 s of its"
        f" own room tone behind it; the sample has {len(sample)}."
    )
    page = [
        f"## {name}", "", *conditions(settings), counted, "",
        f"![Latency against cut-offs]({pictured.name})", "", *report(rows, taken, sample),
    ]  # fmt: skip
    before = options.out.read_text(encoding="utf-8") if options.add else "# Turns\n\n"
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(before + "\n".join(page) + "\n", encoding="utf-8")
    pictured.write_text(picture(rows, sample, name), encoding="utf-8")
    if options.details:
        options.details.write_text(details([*rows, *taken]), encoding="utf-8")
    print("\n".join(page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
