"""Is the right option chosen? Each short reply, against its own words and three that other people said.

Run ``python benchmarks/right_choice.py``; README.md beside it says what it needs and what its tables mean.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

import anyio
from corpus import Clip, CorpusError, corpus_folder, read_corpus
from intervals import of_share
from measuring import conditions, interval, model_name, percent, progress, table
from rehearing import LoopWhisper, Remembering, recorded, rehear
from turns import rules_of
from words import words_of

from questionnaire import Choice, Option, Question
from voice.assembly import find_weights
from voice.errors import VoiceError
from voice.settings import Settings
from voice.spoken_answers import read_spoken

RESULTS = Path(__file__).parent / "results" / "right_choice.md"

KINDS = ("short_reply", "tiny_reply", "command", "digit", "digits", "letters_digits")

WORDS = "short replies and commands"
SPELLED = "letters and digits"
OPTIONS = 4
SEED = 11


class Verdict(StrEnum):
    """What came of a reply."""

    RIGHT = "right"
    UNCLEAR = "unclear"
    WRONG = "wrong"


@dataclass(frozen=True)
class Asked:
    """One reply to one question with four options."""

    clip: Clip
    options: tuple[str, ...]
    heard: str
    confidence: float
    chosen: str | None

    @property
    def verdict(self) -> Verdict:
        """Whether the option that was said was chosen."""
        if self.chosen is None:
            return Verdict.UNCLEAR
        return Verdict.RIGHT if self.chosen == self.options[0] else Verdict.WRONG


def group_of(clip: Clip) -> str:
    """Which of the two groups a reply belongs to: one in which a number or a letter is said is spelled."""
    words = words_of(clip.transcript or "")
    return SPELLED if any(word.isdigit() or len(word) == 1 for word in words) else WORDS


def options_for(clips: Sequence[Clip]) -> list[tuple[str, ...]]:
    """For each clip its own words, first, and three that other clips of its group say; no two alike."""
    draw = random.Random(SEED)
    said = [clip.transcript or "" for clip in clips]
    drawn: list[tuple[str, ...]] = []
    for own in said:
        options, known = [own], {tuple(words_of(own))}
        for other in draw.sample(said, len(said)):
            if len(options) < OPTIONS and tuple(words_of(other)) not in known:
                options.append(other)
                known.add(tuple(words_of(other)))
        drawn.append(tuple(options))
    return drawn


def shown_to(clip: Clip, options: tuple[str, ...]) -> tuple[str, ...]:
    """The options in the order in which they are asked: one of the clip's own."""
    return tuple(random.Random(f"{SEED} {clip.id}").sample(options, len(options)))


def asked(clip: Clip, options: tuple[str, ...], heard: str, confidence: float) -> Asked:
    """Read what was heard as an answer."""
    shown = shown_to(clip, options)
    chosen: str | None = None
    answer = read_spoken(Question("Which one?", tuple(map(Option, shown))), heard, confidence=confidence)
    if isinstance(answer, Choice) and len(answer.selected) == 1 and answer.custom is None:
        chosen = shown[answer.selected[0]]
    return Asked(clip, options, heard, confidence, chosen)


async def measure(clips: Sequence[Clip], settings: Settings, remember: Path | None) -> list[Asked]:
    """Hear all of them."""
    weights = find_weights(settings.transcription)
    whisper = LoopWhisper(weights, settings.transcription.language)
    transcriber = Remembering(whisper, f"{weights} loop", remember)
    found: list[Asked] = []
    for group in (WORDS, SPELLED):
        those = [clip for clip in clips if clip.kind in KINDS and clip.transcript and group_of(clip) == group]
        for number, (clip, options) in enumerate(zip(those, options_for(those), strict=True), 1):
            progress(f"{number}/{len(those)}: {clip.id}")
            heard = await rehear(
                recorded(clip), rules_of(settings)[0], transcriber, settings, options=shown_to(clip, options)
            )
            confidence = min((message.confidence for message in heard.sent), default=0.0)
            found.append(asked(clip, options, heard.text, confidence))
    return found


def _row(name: str, those: Sequence[Asked]) -> list[str]:
    cells = []
    for verdict in Verdict:
        count = sum(one.verdict is verdict for one in those)
        bounds = interval(of_share(count, len(those)))
        cells.append(f"{count}: {percent(count / max(1, len(those)))} ({bounds})")
    return [name, str(len(those)), *cells]


def report(found: Sequence[Asked]) -> list[str]:
    """The tables."""
    head = ["replies", "number", *(f"{verdict} % (95 %)" for verdict in Verdict)]
    rows = []
    for group in (WORDS, SPELLED):
        of_group = [one for one in found if group_of(one.clip) == group]
        rows.append(_row(f"**{group}**", of_group))
        kinds = {kind: [one for one in of_group if one.clip.kind == kind] for kind in KINDS}
        rows += [_row(kind, those) for kind, those in kinds.items() if those]
    lines = [*table(head, rows), ""]
    for verdict in (Verdict.WRONG, Verdict.UNCLEAR):
        those = [one for one in found if one.verdict is verdict]
        lines += [f"## {verdict.capitalize()}", ""]
        cells = [
            [
                one.clip.id,
                one.options[0],
                one.heard,
                f"{one.confidence:.2f}",
                one.chosen or "",
                ", ".join(one.options[1:]),
            ]
            for one in those
        ]
        lines += (
            table(["clip", "said", "heard", "confidence", "chosen", "other options"], cells)
            if cells
            else ["None."]
        )
        lines += [""]
    return lines


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=None, help="a Whisper size or a model folder (default: tiny.en)")
    parser.add_argument("--remember", type=Path, metavar="FILE", help="texts of before, and those of now")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE", help="the page to write")
    options = parser.parse_args()
    settings = Settings().changed("transcription", model=options.model)
    try:
        language = settings.transcription.language
        clips = [clip for clip in read_corpus(corpus_folder()) if clip.language == language and not clip.echo]
        found = anyio.run(partial(measure, clips, settings, options.remember))
    except (CorpusError, VoiceError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    progress("")
    name = model_name(settings)
    page = [f"# The right choice, with {name}", "", *conditions(settings), "", *report(found)]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text("\n".join(page) + "\n", encoding="utf-8")
    print("\n".join(page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
