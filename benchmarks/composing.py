"""Longer replies put together from recordings, with the quiet of the same room between them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from corpus import Clip, Span

from voice.audio import FRAME_S, FRAME_SAMPLES, FULL_SCALE, SAMPLE_RATE, Samples, level_dbfs, to_int16
from voice.backends.recording import read_recording

MARGIN_S = 0.1
"""Kept around the bounds of speech, which may lie inside a soft consonant."""

BREATH_DB = 20.0
"""So far below the loud parts of a clip its speech neither begins nor ends. Bounds that were measured by
energy take a breath of 0.3 s for speech, and a pause beside it would be longer than it is said to be."""

CLICK_FRAMES = 3
"""Nor does it with a sound of fewer frames than this: that is a click."""

EDGE_S = 0.5
"""Quiet before the first part and after the last."""

_QUIET_S = 0.1
"""How long a stretch the quiet of a room is made from."""

_EDGE_S = 0.05
"""Speech that is said to begin nearer to the start of a clip is cut off there, or begins elsewhere."""


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
    draw = np.random.default_rng(len(clips))

    def add(samples: Samples) -> None:
        nonlocal length
        parts.append(samples)
        length += len(samples)

    befores = [EDGE_S, *(pause_s / 2 for pause_s in pauses_s)]
    afters = [*(pause_s / 2 for pause_s in pauses_s), EDGE_S]
    for clip, before_s, after_s in zip(clips, befores, afters, strict=True):
        samples = read_recording(clip.path)
        start, end = speech_of(samples, clip.turns[0][0], clip.turns[-1][1])
        room = partial(lasting, quiet_of(samples, start, end), draw=draw)
        before, after = round(before_s * SAMPLE_RATE), round(after_s * SAMPLE_RATE)
        margin = round(MARGIN_S * SAMPLE_RATE)
        kept_before, kept_after = min(margin, start, before), min(margin, len(samples) - end, after)
        add(room(before - kept_before))
        spoken_at = (length + kept_before) / SAMPLE_RATE
        add(samples[start - kept_before : end + kept_after])
        spans.append((spoken_at, spoken_at + (end - start) / SAMPLE_RATE))
        add(room(after - kept_after))
    return Composed(tuple(clips), np.concatenate(parts), tuple(spans))


def speech_of(samples: Samples, start_s: float, end_s: float) -> tuple[int, int]:
    """Where speech begins and ends inside such bounds, without the breaths around it; in samples."""
    first, last = round(start_s / FRAME_S), round(end_s / FRAME_S)
    levels = [level_dbfs(samples[at * FRAME_SAMPLES : (at + 1) * FRAME_SAMPLES]) for at in range(first, last)]
    loud = float(np.percentile(levels, 95)) - BREATH_DB
    spoken = [level >= loud for level in levels]
    places = range(len(spoken) - CLICK_FRAMES + 1)
    runs = [at for at in places if all(spoken[at : at + CLICK_FRAMES])] or [0]
    start, end = first + runs[0], first + runs[-1] + CLICK_FRAMES
    return start * FRAME_SAMPLES, min(end * FRAME_SAMPLES, len(samples))


def quiet_of(samples: Samples, start: int, end: int) -> Samples:
    """The quietest short stretch of a recording whose speech lies from ``start`` to ``end``.

    Outside the speech if there is room, and else anywhere.
    """
    margin, length = round(MARGIN_S * SAMPLE_RATE / 4), round(_QUIET_S * SAMPLE_RATE)
    step = length // 4
    outside = [*range(0, start - margin - length, step), *range(end + margin, len(samples) - length, step)]
    places = outside or range(0, max(1, len(samples) - length), step)
    return min((samples[at : at + length] for at in places), key=level_dbfs)


def lasting(quiet: Samples, length: int, draw: np.random.Generator) -> Samples:
    """Noise with the spectrum and the level of a short stretch, so long.

    To repeat the stretch would make a rhythm of it, which detectors take for speech: so its spectrum gets new
    phases again and again, in blocks that overlap.
    """
    if not length:
        return quiet[:0]
    block = len(quiet)
    hann = np.hanning(block + 1)[:-1]
    spectrum = np.abs(np.fft.rfft(quiet * hann)) / np.sqrt(np.mean(np.square(hann)))
    noise = np.zeros(length + 2 * block)
    for start in range(0, length + block, block // 2):
        turned = spectrum * np.exp(2j * np.pi * draw.random(len(spectrum)))
        noise[start : start + block] += np.fft.irfft(turned, block) * np.sqrt(hann)
    return to_int16((noise[block : block + length] / FULL_SCALE).astype(np.float32))


def usable(clip: Clip) -> bool:
    """Whether longer recordings can be made from it: one turn, known words, bounds that can be believed."""
    whole = len(clip.turns) == 1 and clip.turns[0][0] >= _EDGE_S
    return whole and bool(clip.transcript) and not clip.composed and not clip.echo


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
    """One speaker after another, those with a single clip last; speakers and their clips in some order."""
    speakers: dict[str, list[Clip]] = {}
    for clip in mixed(clips, seed):
        if clip.speaker is not None:
            speakers.setdefault(clip.speaker, []).append(clip)
    return [clip for those in sorted(speakers.values(), key=lambda those: len(those) == 1) for clip in those]


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
        start, end = speech_of(read_recording(clips[number].path), *clips[number].turns[0])
        total_s += (end - start) / SAMPLE_RATE
        number += 1
    return compose(clips[:number], pauses)
