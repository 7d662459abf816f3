"""Which settings fit what was measured, and why. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voice.audio import SILENCE_DBFS

BUDGET_S = 0.24
"""So long a transcription may take without being waited for: it begins 0.2 s into a silence, and the shortest
silence that ends a turn is 0.44 s."""

WORTH = 0.8
"""A second thread, or another way to compute, is taken where it takes at most this share of the time, or is
ready in time and the simplest way is not."""

LOUD_DBFS = -40.0
"""A room with a louder floor makes quiet replies hard to hear."""

CLEAR_OF = 0.05
"""So far above all that a quiet moment was taken for the threshold should lie."""

HIGHEST_THRESHOLD = 0.9
"""A higher one would miss too much of what people say: what is like speech itself no threshold keeps out."""

FALSE_SPEECH = 0.02
"""So much of a quiet moment may be taken for speech before the threshold should be higher."""


@dataclass(frozen=True)
class Cost:
    """What one way to transcribe a short reply takes."""

    model: str
    size: int
    """Of its weights, in bytes: among models of one family the larger one hears better."""
    threads: int
    compute_type: str
    seconds: float
    """The median of some."""


@dataclass(frozen=True)
class Room:
    """A moment in which nobody spoke."""

    floor_dbfs: float
    """The median level of its frames."""
    loudest_dbfs: float
    false_speech: float
    """The share of frames that were taken for speech."""
    highest_probability: float
    """The highest probability of speech in it."""


@dataclass(frozen=True)
class Advice:
    """Settings, and why."""

    reasons: tuple[str, ...]
    """Sentences for a person."""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Group → name → value."""


def choose(costs: Sequence[Cost], budget_s: float = BUDGET_S) -> Advice:
    """The largest model that is fast enough, in its best way; where none is, the fastest one."""
    if not costs:
        return Advice(("There is no model here to measure.",))
    best = [
        _best_way([cost for cost in costs if cost.model == model], budget_s)
        for model in dict.fromkeys(cost.model for cost in costs)
    ]
    fitting = [cost for cost in best if cost.seconds <= budget_s]
    chosen = max(fitting, key=lambda cost: cost.size) if fitting else min(best, key=lambda cost: cost.seconds)
    way = f"with {chosen.compute_type} and {_threads(chosen.threads)}"
    if fitting:
        reason = (
            f"{chosen.model} {way} takes {chosen.seconds:.2f} s for a short reply: the largest model here"
            f" that is ready within {budget_s:g} s."
        )
    else:
        reason = (
            f"No model here is ready within {budget_s:g} s; {chosen.model} is the fastest: {way} it takes"
            f" {chosen.seconds:.2f} s for a short reply, and you will wait for it."
        )
    larger = [cost for cost in best if cost.size > chosen.size]
    reasons = [reason, *(f"{cost.model} would take {cost.seconds:.2f} s." for cost in larger)]
    values = {"model": chosen.model, "threads": chosen.threads, "compute_type": chosen.compute_type}
    return Advice(tuple(reasons), {"transcription": values})


def judge_room(room: Room, start_threshold: float, end_threshold: float = 0.35, usual: float = 0.5) -> Advice:
    """What a quiet moment says about the microphone and the thresholds.

    A threshold is raised where the room was taken for speech, and a higher one keeps that out. One that is
    higher than the ``usual`` one and that this room does not need is lowered again, though not below the
    usual one, which fits most rooms, nor below the ``end_threshold``.
    """
    if room.loudest_dbfs <= SILENCE_DBFS:
        return Advice(("The microphone gives no sound at all: it is muted, or this program may not use it.",))
    floor = f"The room is at {room.floor_dbfs:.0f} dBFS"
    if room.false_speech > FALSE_SPEECH:
        threshold = round(room.highest_probability + CLEAR_OF, 2)
        taken = f"{floor}, and {room.false_speech:.0%} of it was taken for speech although you were silent"
        if threshold > HIGHEST_THRESHOLD:
            reason = (
                f"{taken}: something speaks or sings there that no threshold keeps out. Switch it off, or"
                " take a microphone that is nearer to you, and calibrate again."
            )
            return Advice((reason,))
        reason = f"{taken}: the threshold should be higher."
        return Advice((reason,), {"hearing": {"start_threshold": threshold}})
    if room.floor_dbfs > LOUD_DBFS:
        return Advice((f"{floor}, which is loud: speak near the microphone, or turn it down.",))
    enough = max(usual, end_threshold, round(room.highest_probability + CLEAR_OF, 2))
    if enough < start_threshold:
        reason = (
            f"{floor}, and nothing in it was near speech: a start_threshold of {start_threshold:g} may miss"
            f" quiet words, and {enough:g} is enough here. Where it is there for a noise that is silent now,"
            " keep it."
        )
        return Advice((reason,), {"hearing": {"start_threshold": enough}})
    return Advice((f"{floor}, and nothing in it was taken for speech: the thresholds fit.",))


def together(*advice: Advice) -> Advice:
    """All of it as one."""
    reasons = [reason for one in advice for reason in one.reasons]
    settings: dict[str, Mapping[str, Any]] = {}
    for one in advice:
        for group, of in one.settings.items():
            settings[group] = {**settings.get(group, {}), **of}
    return Advice(tuple(reasons), settings)


def _best_way(ways: Sequence[Cost], budget_s: float) -> Cost:
    """The simplest way (one thread, int8) unless another is clearly faster, or alone ready in time."""
    simplest = min(ways, key=lambda cost: (cost.compute_type != "int8", cost.threads))
    fastest = min(ways, key=lambda cost: cost.seconds)
    worth_it = fastest.seconds <= WORTH * simplest.seconds
    return fastest if worth_it or fastest.seconds <= budget_s < simplest.seconds else simplest


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"
