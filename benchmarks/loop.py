"""How well does the loop hear? Its words against the same model's given each clip whole, and its turns.

Run ``python benchmarks/loop.py``; README.md beside it says what it needs and what its table means.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio
from corpus import Clip, CorpusError, corpus_folder, read_corpus
from measuring import (
    Outcome,
    as_a_whole,
    conditions,
    interval,
    percent,
    points,
    progress,
    table,
    through_loop,
)
from turn_counts import TurnCounts, count
from words import Comparison, Score, compare, score

from voice.assembly import find_weights, make_transcriber
from voice.backends.recording import RecordingMicrophone, read_recording
from voice.errors import VoiceError
from voice.settings import Settings

RESULTS = Path(__file__).parent / "results" / "loop.md"


@dataclass(frozen=True)
class Measured:
    """One clip, heard both ways."""

    clip: Clip
    loop: Outcome
    whole: Outcome

    @property
    def turns(self) -> TurnCounts:
        """What became of its turns."""
        return count(self.clip.turns, self.loop.heard, self.loop.ends)

    @property
    def scores(self) -> tuple[Score, Score]:
        """Of the loop and of the whole clip; there must be a transcript."""
        assert self.clip.transcript is not None
        return score(self.clip.transcript, self.loop.text), score(self.clip.transcript, self.whole.text)


async def measure(clips: Sequence[Clip], settings: Settings) -> list[Measured]:
    """Hear all of them, each through the loop and right after it as a whole."""
    measured: list[Measured] = []
    async with make_transcriber(settings.transcription, find_weights(settings.transcription)) as transcriber:
        await transcriber.ready()
        for number, clip in enumerate(clips, start=1):
            progress(f"{number}/{len(clips)} {clip.kind}: {clip.id}")
            loop = await through_loop(RecordingMicrophone(clip.path), transcriber, settings)
            whole = await as_a_whole(read_recording(clip.path), transcriber)
            measured.append(Measured(clip, loop, whole))
    return measured


def report(measured: Sequence[Measured], settings: Settings) -> str:
    """The page of results, in Markdown."""
    spoken = [one for one in measured if one.clip.turns and not one.clip.echo]
    echoes = [one for one in measured if one.clip.echo]
    silent = [one for one in measured if not one.clip.turns]
    lines = ["# The loop on recordings of people", "", *conditions(settings), *_speed(measured), ""]
    if spoken:
        lines += ["## Words", "", *_words(spoken), "", "## Turns", "", *_turns(spoken), ""]
    if echoes:
        lines += [
            "## The agent's own voice in the microphone",
            "",
            "Only the reply counts as right; the narration in it is heard and transcribed either way.",
            "A session does not listen while it narrates. These clips are in no figure above.",
            "",
            *_words(echoes),
            "",
            *_turns(echoes),
            "",
        ]
    if silent:
        lines += ["## Nobody speaks", "", *_silent(silent), ""]
    return "\n".join(lines)


def _speed(measured: Sequence[Measured]) -> list[str]:
    heard_s = sum(one.clip.duration_s for one in measured)
    loop_s = sum(one.loop.wall_s for one in measured)
    whisper_s = sum(one.loop.whisper_s for one in measured)
    whole_s = sum(one.whole.wall_s for one in measured)
    pieces = sum(len(one.loop.pieces) for one in measured)
    factors = (
        f"the loop {loop_s / heard_s:.3f} (Whisper's part, in {pieces} pieces: {whisper_s / heard_s:.3f}),"
        f" the whole clips {whole_s / heard_s:.3f}; ratio {loop_s / whole_s:.2f}"
    )
    return [
        f"* {len(measured)} clips, {heard_s / 60:.1f} minutes.",
        f"* Seconds of work for a second of recording (real-time factor): {factors}.",
    ]


def _by_kind(measured: Iterable[Measured]) -> dict[str, list[Measured]]:
    kinds: dict[str, list[Measured]] = {}
    for one in measured:
        kinds.setdefault(one.clip.kind, []).append(one)
    return dict(sorted(kinds.items(), key=lambda item: -len(item[1])))


def _words(measured: Sequence[Measured]) -> list[str]:
    transcribed = [one for one in measured if one.clip.transcript is not None]
    kinds = _by_kind(transcribed)
    rows = [_word_row(kind, those) for kind, those in kinds.items()]
    if len(kinds) > 1:
        rows.append(_word_row("**all**", transcribed))
    more = [loop.errors - whole.errors for loop, whole in (one.scores for one in transcribed)]
    better, worse = sum(number < 0 for number in more), sum(number > 0 for number in more)
    header = [
        "kind",
        "clips",
        "words",
        "loop %",
        "95 %",
        "whole clip %",
        "95 %",
        "difference, points (95 %)",
    ]
    return [
        *table(header, rows),
        "",
        f"Fewer errors in the loop: {better} clips; as many: {more.count(0)}; more: {worse}.",
    ]


def _word_row(name: str, measured: Sequence[Measured]) -> list[str]:
    compared: Comparison = compare(*zip(*(one.scores for one in measured), strict=True))
    return [
        name,
        str(len(measured)),
        str(compared.first.words),
        percent(compared.first.rate),
        interval(compared.first_interval),
        percent(compared.second.rate),
        interval(compared.second_interval),
        points(compared),
    ]


def _turns(measured: Sequence[Measured]) -> list[str]:
    kinds = _by_kind(measured)
    rows = [_turn_row(kind, those) for kind, those in kinds.items()]
    if len(kinds) > 1:
        rows.append(_turn_row("**all**", measured))
    lines = table(["kind", "turns", "cut", "merged", "missed", "invented", "pieces discarded"], rows)
    for what in ("cut", "merged", "missed", "invented"):
        if those := [one for one in measured if getattr(one.turns, what)]:
            lines += ["", f"{what.capitalize()}:", ""]
            lines += [f"* {one.clip.kind}, {one.clip.id}: {_quoted(one.loop)}" for one in those]
    return lines


def _turn_row(name: str, measured: Sequence[Measured]) -> list[str]:
    counts = sum((one.turns for one in measured), TurnCounts())
    reasons = Counter(event.reason for one in measured for event in one.loop.discarded)
    discarded = ", ".join(f"{number} {reason}" for reason, number in sorted(reasons.items()))
    numbers = (counts.turns, counts.cut, counts.merged, counts.missed, counts.invented)
    return [name, *map(str, numbers), discarded or "0"]


def _quoted(outcome: Outcome) -> str:
    heard = " / ".join(f"“{text}”" for text in outcome.texts) or "nothing"
    dropped = "; ".join(f"{event.reason}: “{event.text}”" for event in outcome.discarded)
    return f"{heard} (discarded {dropped})" if dropped else heard


def _silent(measured: Sequence[Measured]) -> list[str]:
    rows = [
        [
            kind,
            str(len(those)),
            str(sum(bool(one.loop.ends) for one in those)),
            str(sum(bool(one.loop.texts) for one in those)),
            str(sum(bool(one.whole.text) for one in those)),
        ]
        for kind, those in _by_kind(measured).items()
    ]
    lines = table(["kind", "clips", "loop: taken for speech", "loop: message", "whole clip: text"], rows)
    if those := [one for one in measured if one.loop.texts or one.loop.discarded]:
        lines += ["", "What the loop made of them:", ""]
        lines += [f"* {one.clip.kind}, {one.clip.id}: {_quoted(one.loop)}" for one in those]
    return lines


def details(one: Measured) -> str:
    """One clip as a line of JSON, to look at by hand."""
    errors = [a.errors for a in one.scores] if one.clip.transcript is not None else None
    return json.dumps(
        {
            "id": one.clip.id,
            "kind": one.clip.kind,
            "transcript": one.clip.transcript,
            "errors_loop_whole": errors,
            "turns": asdict(one.turns),
            "loop": asdict(one.loop),
            "whole": asdict(one.whole),
        },
        ensure_ascii=False,
    )


def limited(clips: Sequence[Clip], per_kind: int | None) -> list[Clip]:
    """The first clips of each kind."""
    seen: Counter[str] = Counter()
    kept: list[Clip] = []
    for clip in clips:
        seen[clip.kind] += 1
        if per_kind is None or seen[clip.kind] <= per_kind:
            kept.append(clip)
    return kept


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=None, help="a Whisper size or a model folder (default: tiny.en)")
    parser.add_argument("--limit", type=int, metavar="N", help="at most N clips of each kind")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE", help="the page to write")
    parser.add_argument(
        "--details", type=Path, metavar="FILE", help="also write a line of JSON for each clip"
    )
    options = parser.parse_args()
    settings = Settings().changed("transcription", model=options.model)
    try:
        language = settings.transcription.language
        clips = [clip for clip in read_corpus(corpus_folder()) if clip.language == language]
        measured = anyio.run(measure, limited(clips, options.limit), settings)
    except (CorpusError, VoiceError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    progress("")
    if options.details:
        options.details.write_text("".join(f"{details(one)}\n" for one in measured), encoding="utf-8")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(report(measured, settings), encoding="utf-8")
    print(options.out.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
