"""Longer replies put together from recordings, with the quiet of the same room between them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from corpus import Clip, Span

from voice.audio import FRAME_S, FRAME_SAMPLES, SAMPLE_RATE, Samples, level_dbfs
from voice.backends.recording import read_recording

MARGIN_S = 0.1
"""Kept around the bounds of speech, which may lie inside a soft consonant."""

BREATH_DB = 24.0
"""So far below the loud parts of a clip its speech neither begins nor ends. Bounds that were measured by
energy take a breath of 0.3 s for speech, and a pause beside it would be longer than it is said to be."""

EDGE_S = 0.5
"""Quiet before the first part and after the last."""

_QUIET_S = 0.2
"""How long a stretch the quiet of a room is made from."""


@dataclass(frozen=True)
class Composed:
    """A recording that was put together."""

    clips: tuple[Clip, ...]
    samples: Samples
    spans: tuple[Span, ...]
    """Where each clip's speech lies."""

    @property
    def duration_s(self) -> float:
        """Its length in seconds."""
        return len(self.samples) / SAMPLE_RATE

    @property
    def reference(self) -> str:
        """The words of all of it."""
        return " ".join(clip.transcript or "" for clip in self.clips)


def compose(clips: Sequence[Clip], pauses_s: Sequence[float]) -> Composed:
    """The clips one after another; ``pauses_s[i]`` passes between the speech of clip i and the next one's."""
    parts: list[Samples] = []
    spans: list[Span] = []
    length = 0

    def add(samples: Samples) -> None:
        nonlocal length
        parts.append(samples)
        length += len(samples)

    befores = [EDGE_S, *(pause_s / 2 for pause_s in pauses_s)]
    afters = [*(pause_s / 2 for pause_s in pauses_s), EDGE_S]
    for clip, before_s, after_s in zip(clips, befores, afters, strict=True):
        samples = read_recording(clip.path)
        start, end = speech_of(samples, clip.turns[0][0], clip.turns[-1][1])
        room = quiet_of(samples, start, end)
        before, after = round(before_s * SAMPLE_RATE), round(after_s * SAMPLE_RATE)
        margin = round(MARGIN_S * SAMPLE_RATE)
        kept_before, kept_after = min(margin, start, before), min(margin, len(samples) - end, after)
        add(lasting(room, before - kept_before))
        spoken_at = (length + kept_before) / SAMPLE_RATE
        add(samples[start - kept_before : end + kept_after])
        spans.append((spoken_at, spoken_at + (end - start) / SAMPLE_RATE))
        add(lasting(room, after - kept_after))
    return Composed(tuple(clips), np.concatenate(parts), tuple(spans))


def speech_of(samples: Samples, start_s: float, end_s: float) -> tuple[int, int]:
    """Where speech begins and ends inside such bounds, without the breaths around it; in samples."""
    first, last = round(start_s / FRAME_S), round(end_s / FRAME_S)
    levels = [level_dbfs(samples[at * FRAME_SAMPLES : (at + 1) * FRAME_SAMPLES]) for at in range(first, last)]
    loud = float(np.percentile(levels, 95)) - BREATH_DB
    spoken = [at for at, level in enumerate(levels, start=first) if level >= loud]
    return spoken[0] * FRAME_SAMPLES, min((spoken[-1] + 1) * FRAME_SAMPLES, len(samples))


def quiet_of(samples: Samples, start: int, end: int) -> Samples:
    """The quietest short stretch of a recording whose speech lies from ``start`` to ``end``.

    Outside the speech if there is room, and else anywhere.
    """
    margin, length = round(MARGIN_S * SAMPLE_RATE / 2), round(_QUIET_S * SAMPLE_RATE)
    step = length // 4
    outside = [*range(0, start - margin - length, step), *range(end + margin, len(samples) - length, step)]
    places = outside or range(0, max(1, len(samples) - length), step)
    return min((samples[at : at + length] for at in places), key=level_dbfs)


def lasting(quiet: Samples, length: int) -> Samples:
    """A short stretch made longer, to and fro, so that there is no click where it repeats."""
    period = np.concatenate([quiet, quiet[::-1]])
    return np.resize(period, length)


def pairs_of(clips: Sequence[Clip], number: int, seed: int) -> list[tuple[Clip, Clip]]:
    """So many pairs of clips at most, each of one speaker, no clip twice."""
    draw = random.Random(seed)
    waiting: dict[str, Clip] = {}
    pairs: list[tuple[Clip, Clip]] = []
    for clip in draw.sample(list(clips), len(clips)):
        if clip.speaker is None:
            continue
        if (first := waiting.pop(clip.speaker, None)) is None:
            waiting[clip.speaker] = clip
        else:
            pairs.append((first, clip))
    return pairs[:number]


def longest_pause_s(clip: Clip) -> float:
    """The longest pause inside a clip, 0 where none is known."""
    return max((after[0] - before[1] for before, after in pairwise(clip.segments)), default=0.0)


def mixed(clips: Sequence[Clip], seed: int) -> list[Clip]:
    """The clips in some order."""
    return random.Random(seed).sample(list(clips), len(clips))


def by_speaker(clips: Sequence[Clip], seed: int) -> list[Clip]:
    """One speaker after another, those with one clip left out; speakers and their clips in some order."""
    speakers: dict[str, list[Clip]] = {}
    for clip in mixed(clips, seed):
        if clip.speaker is not None:
            speakers.setdefault(clip.speaker, []).append(clip)
    return [clip for those in speakers.values() if len(those) > 1 for clip in those]


def long_reply(clips: Sequence[Clip], length_s: float, pauses_s: Span, seed: int) -> Composed:
    """The clips in their order, until it is at least so long (or there are no more)."""
    draw = random.Random(seed)
    pauses: list[float] = []
    total_s = 2 * EDGE_S
    number = 0
    while number < len(clips) and total_s < length_s:
        if number:
            pauses.append(draw.uniform(*pauses_s))
            total_s += pauses[-1]
        total_s += clips[number].turns[-1][1] - clips[number].turns[0][0]
        number += 1
    return compose(clips[:number], pauses)
