"""A folder of recordings to measure on: ``manifest.jsonl`` and what it names (see README.md here)."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENVIRONMENT = "VIVA_VOICE_CORPUS"
"""The environment variable that names the folder; nothing else does."""

MANIFEST = "manifest.jsonl"

Span = tuple[float, float]
"""Start and end, in seconds from the start of the recording."""


class CorpusError(Exception):
    """There is no corpus, or its manifest cannot be used; the text is a sentence for a person."""


@dataclass(frozen=True)
class Clip:
    """One recording."""

    id: str
    path: Path
    kind: str
    duration_s: float
    transcript: str | None
    """The words; "" where nobody speaks, None where nobody wrote them down."""
    language: str
    turns: tuple[Span, ...]
    """What is said, a turn each; empty without speech. The whole clip where no bounds are known."""
    segments: tuple[Span, ...]
    """The stretches of speech inside the turns, if they are known."""
    speaker: str | None
    composed: bool
    """Whether a program put it together from other clips."""
    echo: bool
    """Whether the agent's own narration is heard in it, which is not part of the transcript."""


def corpus_folder() -> Path:
    """The folder that the environment names; raises `CorpusError` without one."""
    named = os.environ.get(ENVIRONMENT)
    if not named:
        raise CorpusError(
            f"Set {ENVIRONMENT} to a folder of recordings with a {MANIFEST} (see benchmarks/README.md)."
        )
    return Path(named).expanduser()


def read_corpus(folder: Path) -> list[Clip]:
    """The clips of a corpus, in the order of its manifest; raises `CorpusError`."""
    manifest = folder / MANIFEST
    try:
        lines = manifest.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"The manifest {manifest} cannot be read: {error}.") from error
    clips: list[Clip] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                clips.append(_clip(folder, json.loads(line)))
            except KeyError as error:
                raise CorpusError(f"{manifest}, line {number}: the field {error} is missing.") from error
            except (TypeError, ValueError, AttributeError) as error:
                raise CorpusError(f"{manifest}, line {number}: {error}.") from error
    if not clips:
        raise CorpusError(f"The manifest {manifest} names no recording.")
    if lost := [clip.path for clip in clips if not clip.path.is_file()]:
        raise CorpusError(f"{len(lost)} recordings of {manifest} are missing, the first {lost[0]}.")
    return clips


def stratified(clips: Sequence[Clip], number: int, seed: int = 1) -> list[Clip]:
    """At most so many clips, each kind with its share and with one at least, in the order of the corpus.

    Where there are more kinds than that, those with the most clips have none.
    """
    kinds: dict[str, list[Clip]] = {}
    for clip in clips:
        kinds.setdefault(clip.kind, []).append(clip)
    draw = random.Random(seed)
    kept: set[str] = set()
    left, of = number, len(clips)
    for those in sorted(kinds.values(), key=len):
        share = max(1, int(left * len(those) / of)) if left else 0
        kept.update(clip.id for clip in draw.sample(those, min(share, len(those))))
        left, of = left - share, of - len(those)
    return [clip for clip in clips if clip.id in kept]


def _clip(folder: Path, entry: dict[str, Any]) -> Clip:
    transcript: str | None = entry["transcript"]
    if transcript is not None and not isinstance(transcript, str):
        raise TypeError(f"a transcript is text or null, not {transcript!r}")
    duration_s = float(entry["duration_s"])
    return Clip(
        id=entry.get("id") or entry["file"],
        path=folder / entry["file"],
        kind=str(entry["kind"]),
        duration_s=duration_s,
        transcript=transcript,
        language=entry.get("language", "en"),
        turns=() if transcript == "" else _turns(entry, duration_s),
        segments=_spans(entry.get("segments", ())),
        speaker=entry.get("speaker"),
        composed=bool(entry.get("composed", False)),
        echo=bool(entry.get("echo_segments")),
    )


def _turns(entry: dict[str, Any], duration_s: float) -> tuple[Span, ...]:
    if "turns" in entry:
        return _spans(entry["turns"])
    return _spans([(entry.get("start_s", 0.0), entry.get("end_s", duration_s))])


def _spans(pairs: Sequence[Sequence[float]]) -> tuple[Span, ...]:
    spans = tuple((float(start), float(end)) for start, end in pairs)
    if any(end < start for start, end in spans):
        raise ValueError("a span ends before it starts")
    return spans
