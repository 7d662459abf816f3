"""Are long replies whole? Pauses inside a reply, two replies in a row, and replies of five minutes.

Run ``python benchmarks/long_replies.py``; README.md beside it says what it needs and what its tables mean.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio
from composing import Composed, by_speaker, compose, long_reply, longest_pause_s, mixed, pairs_of, usable
from corpus import Clip, CorpusError, corpus_folder, read_corpus
from measuring import (
    Outcome,
    SamplesMicrophone,
    as_a_whole,
    conditions,
    percent,
    progress,
    table,
    through_loop,
)
from turn_counts import TurnCounts, count
from words import Score, right_words, score, words_of

from voice.assembly import find_weights, make_transcriber
from voice.backends.recording import read_recording
from voice.errors import VoiceError
from voice.ports import Transcriber
from voice.settings import Settings

RESULTS = Path(__file__).parent / "results" / "long_replies.md"

PAUSE_S = 1.4
"""Inside a reply: shorter than the silence that ends a turn."""

APART_S = 3.0
"""Between two replies: longer than that."""

PAIRS = 20
SHORT_SENTENCE_S = 8.0
REPLIES = 3
FLOWING = {"sentence", "long", "command", "digits", "short_reply"}
"""The kinds of clips that a long reply is made of."""

REPLY_S = 300.0
REPLY_PAUSES_S = (0.3, 1.4)
WITHIN_POINTS = 1.0
"""How much worse a long reply may be than its parts transcribed apart."""

SEED = 1_840


@dataclass(frozen=True)
class Measured:
    """A composed recording, heard in three ways."""

    composed: Composed
    loop: Outcome
    whole: Outcome
    apart: list[str]
    """The text of each of its clips, transcribed by itself and whole."""


class Measuring:
    """Hears composed recordings; a clip that is in several of them is transcribed apart once."""

    def __init__(self, transcriber: Transcriber, settings: Settings) -> None:
        self._transcriber = transcriber
        self._settings = settings
        self._apart: dict[str, str] = {}

    async def measure(self, composed: Composed) -> Measured:
        """Hear one in all three ways."""
        for clip in composed.clips:
            if clip.id not in self._apart:
                alone = await as_a_whole(read_recording(clip.path), self._transcriber)
                self._apart[clip.id] = alone.text
        return Measured(
            composed,
            await through_loop(SamplesMicrophone(composed.samples), self._transcriber, self._settings),
            await as_a_whole(composed.samples, self._transcriber),
            [self._apart[clip.id] for clip in composed.clips],
        )


Groups = dict[str, list[Measured]]


async def measure(
    clips: Sequence[Clip], pairs: int, replies: int, settings: Settings
) -> tuple[Groups, Groups, Groups]:
    """Hear pairs with a pause inside, the same pairs as two replies, and long replies."""
    spoken = [clip for clip in clips if usable(clip)]
    sentences = [clip for clip in spoken if clip.kind == "sentence" and clip.duration_s <= SHORT_SENTENCE_S]
    short = [clip for clip in spoken if clip.kind == "short_reply"]
    flowing = [
        clip
        for clip in spoken
        if clip.kind in FLOWING
        and longest_pause_s(clip) <= REPLY_PAUSES_S[1]
        and len(words_of(clip.transcript or "")) > 1
    ]
    chosen = {
        "two sentences": pairs_of(sentences, pairs, SEED),
        "two short replies": pairs_of(short, pairs, SEED),
    }
    paused: Groups = {}
    apart: Groups = {}
    long: Groups = {}
    async with make_transcriber(settings.transcription, find_weights(settings.transcription)) as transcriber:
        await transcriber.ready()
        measuring = Measuring(transcriber, settings)
        for name, those in chosen.items():
            for groups, pause_s in ((paused, PAUSE_S), (apart, APART_S)):
                progress(f"{len(those)} times {name}, {pause_s:g} s apart")
                groups[name] = [await measuring.measure(compose(pair, [pause_s])) for pair in those]
        for name, order in (("speaker after speaker", by_speaker), ("speakers mixed", mixed)):
            long[name] = []
            for seed in range(SEED, SEED + replies):
                progress(f"{REPLY_S:g} s of {name}, {len(long[name]) + 1} of {replies}")
                reply = long_reply(order(flowing, seed), REPLY_S, REPLY_PAUSES_S, seed)
                long[name].append(await measuring.measure(reply))
    return paused, apart, long


@dataclass(frozen=True)
class Kept:
    """Of the words that are right when the sides are transcribed apart: how many are there, in one text."""

    right_apart: int
    there: int


def kept(one: Measured, text: str) -> Kept:
    """Compare a text with the sides of a pair transcribed apart."""
    sides = [words_of(clip.transcript or "") for clip in one.composed.clips]
    right: set[int] = set()
    offset = 0
    for side, apart in zip(sides, one.apart, strict=True):
        right |= {offset + index for index in right_words(side, words_of(apart))}
        offset += len(side)
    there = right_words([word for side in sides for word in side], words_of(text))
    return Kept(len(right), len(right & there))


def scores(one: Measured) -> tuple[Score, Score, Score]:
    """Of the loop, of the whole recording, and of the clips apart."""
    reference = one.composed.reference
    each = [
        score(clip.transcript or "", text) for clip, text in zip(one.composed.clips, one.apart, strict=True)
    ]
    return score(reference, one.loop.text), score(reference, one.whole.text), sum(each, Score(0, 0))


def report(paused: Groups, apart: Groups, long: Groups, settings: Settings) -> str:
    """The page of results, in Markdown."""
    lines = [
        "# Long replies",
        "",
        *conditions(settings),
        f"* Composed from clips of the corpus, with noise like their quiet between them; seed {SEED}.",
        "",
        f"## A pause of {PAUSE_S:g} s inside a reply",
        "",
        *_paused(paused),
        "",
        f"## Two replies {APART_S:g} s apart",
        "",
        *_apart(apart),
        "",
        f"## Replies of {REPLY_S / 60:g} minutes",
        "",
        *_long(long),
        "",
    ]
    return "\n".join(lines)


def _paused(groups: Groups) -> list[str]:
    rows: list[list[str]] = []
    lost: list[str] = []
    for name, those in groups.items():
        loop = [kept(one, one.loop.text) for one in those]
        whole = [kept(one, one.whole.text) for one in those]
        rates = [sum((score[n] for score in map(scores, those)), Score(0, 0)).rate for n in range(3)]
        rows.append(
            [
                name,
                str(len(those)),
                str(sum(len(one.loop.texts) == 1 for one in those)),
                *(
                    _share(sum(k.there == k.right_apart for k in kinds), len(those))
                    for kinds in (loop, whole)
                ),
                str(sum(k.right_apart for k in loop)),
                *(str(sum(k.there for k in kinds)) for kinds in (loop, whole)),
                *map(percent, rates),
            ]
        )
        for one, its in zip(those, loop, strict=True):
            if its.there < its.right_apart or len(one.loop.texts) != 1:
                apart = " … ".join(one.apart)
                lost.append(f"* “{apart}” became “{' / '.join(one.loop.texts)}”; whole: “{one.whole.text}”")
    lines = table(
        [
            "pairs",
            "number",
            "one message",
            "loop: no word lost",
            "whole: no word lost",
            "words right apart",
            "of them in the loop's",
            "in the whole's",
            "loop %",
            "whole %",
            "apart %",
        ],
        rows,
    )
    return [
        *lines,
        "",
        "Where the loop lacks a word that is right apart, or makes more than one message:",
        "",
        *lost,
    ]


def _apart(groups: Groups) -> list[str]:
    rows = []
    for name, those in groups.items():
        counts = sum(
            (count(one.composed.spans, one.loop.heard, one.loop.ends) for one in those), TurnCounts()
        )
        numbers = (counts.turns, counts.cut, counts.merged, counts.missed, counts.invented)
        rows.append([name, *map(str, numbers)])
    return table(["pairs", "turns", "cut", "merged", "missed", "invented"], rows)


def _long(groups: Groups) -> list[str]:
    rows = []
    named = [(f"{name} {n}", one) for name, those in groups.items() for n, one in enumerate(those, 1)]
    for name, one in named:
        loop, whole, apart = scores(one)
        difference = 100 * (loop.rate - apart.rate)
        rows.append(
            [
                name,
                f"{one.composed.duration_s:.0f}",
                str(len(one.composed.clips)),
                str(len(one.loop.texts)),
                str(len(one.loop.pieces)),
                str(len(one.loop.discarded)),
                str(loop.words),
                percent(loop.rate),
                percent(apart.rate),
                f"{difference:+.1f}",
                "yes" if difference <= WITHIN_POINTS else "**no**",
                percent(whole.rate),
                f"{one.loop.wall_s / one.composed.duration_s:.2f}",
            ]
        )
    return table(
        [
            "reply",
            "s",
            "clips",
            "messages",
            "pieces",
            "discarded",
            "words",
            "loop %",
            "clips apart %",
            "points",
            f"within {WITHIN_POINTS:g}",
            "30 s windows %",
            "real-time factor",
        ],
        rows,
    )


def _share(part: int, of: int) -> str:
    return f"{part} ({100 * part / of:.0f} %)" if of else "0"


def details(name: str, one: Measured) -> str:
    """One recording as a line of JSON, to look at by hand."""
    return json.dumps(
        {
            "group": name,
            "clips": [clip.id for clip in one.composed.clips],
            "spans": one.composed.spans,
            "transcripts": [clip.transcript for clip in one.composed.clips],
            "apart": one.apart,
            "loop": asdict(one.loop),
            "whole": asdict(one.whole),
        },
        ensure_ascii=False,
    )


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=None, help="a Whisper size or a model folder (default: tiny.en)")
    parser.add_argument("--pairs", type=int, default=PAIRS, metavar="N", help="how many pairs of each kind")
    parser.add_argument("--replies", type=int, default=REPLIES, metavar="N", help="how many long replies")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE", help="the page to write")
    parser.add_argument("--details", type=Path, metavar="FILE", help="also write a line of JSON for each")
    options = parser.parse_args()
    settings = Settings().changed("transcription", model=options.model)
    try:
        language = settings.transcription.language
        clips = [clip for clip in read_corpus(corpus_folder()) if clip.language == language]
        paused, apart, long = anyio.run(measure, clips, options.pairs, options.replies, settings)
    except (CorpusError, VoiceError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    progress("")
    if options.details:
        named = [(f"{name}, pause", one) for name, those in paused.items() for one in those]
        named += [(f"{name}, apart", one) for name, those in apart.items() for one in those]
        named += [(name, one) for name, those in long.items() for one in those]
        options.details.write_text("".join(f"{details(*each)}\n" for each in named), encoding="utf-8")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(report(paused, apart, long, settings), encoding="utf-8")
    print(options.out.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
