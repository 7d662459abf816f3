"""Are spoken answers understood, and never wrongly? What people really say, held against three questions.

Run ``python benchmarks/spoken_answers.py``; README.md beside it says what it needs and what its table means.
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
from measuring import conditions, progress, table

from questionnaire import Choice, Option, Question
from voice.assembly import find_weights, make_transcriber
from voice.backends.recording import RecordingMicrophone
from voice.errors import VoiceError
from voice.events import UserMessage
from voice.replay import replay
from voice.settings import Settings
from voice.spoken_answers import LEAST_CONFIDENCE, read_spoken

RESULTS = Path(__file__).parent / "results" / "spoken_answers.md"

LONGEST_CLIP_S = 6.0
"""Longer clips hold no answers, and take most of the time."""

LABELS = 15
"""The words that the corpus has most often as a whole reply are the labels of the third question."""

THRESHOLDS = (-0.5, -0.6, -0.7, -0.8, -0.85, -0.9, -1.0, -1.2)
"""Average log probabilities below which nothing counts, to choose `LEAST_CONFIDENCE` from."""

PLACES = Question("Which place?", tuple(Option(f"Alternative {name}") for name in "KLMNPQRST"))
YES_OR_NO = Question("Shall it be done?", (Option("Yes"), Option("No")))


@dataclass(frozen=True)
class Answer:
    """One message, and what it is as an answer, beside what the person really said."""

    clip: str
    said: str
    heard: str
    question: str
    confidence: float
    right: bool
    wrong: bool


def answers(clip: Clip, heard: Sequence[UserMessage], questions: dict[str, Question]) -> Iterable[Answer]:
    """What one recording answers. A reply that was heard as two messages is none that can be compared."""
    if len(heard) > 1 or clip.transcript is None:
        return
    for message in heard:
        for name, question in questions.items():
            meant, chosen = (_chosen(question, text) for text in (clip.transcript, message.text))
            if meant or chosen:
                right, wrong = meant == chosen, bool(chosen) and meant != chosen
                confidence = message.confidence if message.confidence is not None else 0.0
                yield Answer(clip.id, clip.transcript, message.text, name, confidence, right, wrong)


def _chosen(question: Question, text: str) -> tuple[int, ...]:
    heard = read_spoken(question, text)
    return heard.selected if isinstance(heard, Choice) else ()


def questions_of(clips: Sequence[Clip]) -> dict[str, Question]:
    """The three questions."""
    replies = Counter(
        clip.transcript.lower() for clip in clips if clip.transcript and clip.kind == "short_reply"
    )
    labels = [word for word, _ in replies.most_common() if len(word.split()) == 1][:LABELS]
    which = Question("Which word?", tuple(map(Option, labels)))
    return {"nine places": PLACES, "yes or no": YES_OR_NO, f"{len(labels)} labels": which}


async def measure(clips: Sequence[Clip], settings: Settings) -> list[Answer]:
    """Hear all clips, through the whole loop."""
    found: list[Answer] = []
    questions = questions_of(clips)
    async with make_transcriber(settings.transcription, find_weights(settings.transcription)) as transcriber:
        for number, clip in enumerate(clips, 1):
            progress(f"{number} of {len(clips)}: {clip.id}")
            events = replay(RecordingMicrophone(str(clip.path)), transcriber, settings)
            heard = [event async for event in events if isinstance(event, UserMessage)]
            found += answers(clip, heard, questions)
    return found


def report(found: Sequence[Answer], clips: int, settings: Settings) -> str:
    """The page of results."""
    lines = [
        "# Spoken answers",
        "",
        *conditions(settings),
        f"* {clips} clips of at most {LONGEST_CLIP_S:g} s.",
        "",
    ]
    lines += ["## By question, whatever the confidence", ""]
    rows = []
    for question in dict.fromkeys(answer.question for answer in found):
        those = [answer for answer in found if answer.question == question]
        right, wrong = sum(answer.right for answer in those), sum(answer.wrong for answer in those)
        rows.append([question, *map(str, (len(those), right, len(those) - right - wrong, wrong))])
    lines += [*table(["question", "answers", "right", "asked again", "wrong"], rows), ""]
    lines += ["## By the least confidence that counts", ""]
    rights = sum(answer.right for answer in found)
    rows = []
    for least in THRESHOLDS:
        kept = [answer for answer in found if answer.confidence >= least]
        right, wrong = sum(answer.right for answer in kept), sum(answer.wrong for answer in kept)
        chosen = " (set)" if least == LEAST_CONFIDENCE else ""
        rows.append([f"{least:g}{chosen}", f"{right} of {rights}", str(wrong)])
    lines += [*table(["least confidence", "right ones that count", "wrong ones that count"], rows), ""]
    lines += ["## Every wrong one", ""]
    wrong_rows = [
        [answer.clip, answer.said, answer.heard, answer.question, f"{answer.confidence:.2f}"]
        for answer in found
        if answer.wrong
    ]
    lines += (
        table(["clip", "said", "heard", "question", "confidence"], wrong_rows) if wrong_rows else ["None."]
    )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=None, help="a Whisper size or a model folder (default: tiny.en)")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE", help="the page to write")
    parser.add_argument("--details", type=Path, metavar="FILE", help="also write a line of JSON for each")
    options = parser.parse_args()
    settings = Settings().changed("transcription", model=options.model)
    try:
        clips = [
            clip
            for clip in read_corpus(corpus_folder())
            if clip.language == settings.transcription.language
            and clip.duration_s <= LONGEST_CLIP_S
            and not clip.echo
        ]
        found = anyio.run(measure, clips, settings)
    except (CorpusError, VoiceError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    progress("")
    if options.details:
        options.details.write_text("".join(f"{json.dumps(asdict(one))}\n" for one in found), encoding="utf-8")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(report(found, len(clips), settings), encoding="utf-8")
    print(options.out.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
