"""How a session went, in numbers: what each message took, what was added to, what was thrown away. Pure.

`SessionStatistics` takes the events of a session and keeps numbers alone, never a word that was said.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, isfinite
from typing import Any

from voice.audio import FRAME_S
from voice.events import (
    AgentEnded,
    Discarded,
    DiscardReason,
    Event,
    FramesLost,
    HostLost,
    MessageDelivered,
    MessageReopened,
    MessageTakenBack,
    NarrationEnded,
    NarrationEnding,
    Status,
    StatusChanged,
    UserMessage,
    VoiceState,
    VoiceStateChanged,
)

MOST_KEPT = 5_000
"""Of more messages than these the newest count: a day of talking."""

PARTS = ("endpoint_s", "transcribe_s", "deliver_s", "total_s")
"""What the wait between the last sound and the agent is made of, and their sum."""

FAILURES = ("agent_failed", "agent_lost", "microphone_lost", "narration_failed", "voice_failed")
"""What can go wrong in a session, by name: a turn of the agent, its program, a device, a narration, Voice."""

_COUNTS = ("spoken", "typed", "reopened_sent", "reopened_waiting", "waited", "frames_lost")
_VERSION = 1


def _kept() -> deque[float]:
    return deque(maxlen=MOST_KEPT)


@dataclass
class SessionStatistics:
    """Counts what happens in one session."""

    spoken: int = 0
    """Messages that were said; one that was added to counts once, one that was taken back not at all."""
    typed: int = 0
    reopened_sent: int = 0
    """Messages whose end was decided too early, so that the agent was interrupted …"""
    reopened_waiting: int = 0
    """… or that could be added to while they still waited."""
    waited: int = 0
    """Messages that waited for the agent to finish; how long is no latency of ours, and is left out."""
    frames_lost: int = 0
    """So many frames of sound did not arrive."""
    discarded: Counter[str] = field(default_factory=Counter)
    """What was heard and not delivered, by the value of its `DiscardReason`."""
    failures: Counter[str] = field(default_factory=Counter)
    """What went wrong, by its name in `FAILURES`."""
    parts: dict[str, deque[float]] = field(default_factory=lambda: {part: _kept() for part in PARTS})

    @property
    def counted(self) -> bool:
        """Whether there is anything to sum up: a message, what was heard for nothing, or a failure."""
        return bool(self.spoken or self.typed or self.discarded or self.failures)

    def take(self, event: Event) -> None:
        """Take note of an event of the session."""
        match event:
            case UserMessage(source="voice"):
                self.spoken += 1
            case UserMessage():
                self.typed += 1
            case MessageReopened(sent=sent):
                self.spoken -= 1  # the message that follows is counted
                if sent:
                    self.reopened_sent += 1
                else:
                    self.reopened_waiting += 1
            case MessageTakenBack(added=added):
                self.spoken -= not added  # where the agent keeps an earlier part, that is the message
            case Discarded(source="keyboard"):
                self.typed -= 1  # it was a message, to be a reply
            case Discarded(reason=reason):
                self.spoken -= reason in (DiscardReason.TOO_EARLY, DiscardReason.UNCONFIRMED)  # the same
                self.discarded[reason.value] += 1
            case FramesLost(frames):
                self.frames_lost += frames
            case HostLost():
                self.failures["agent_lost"] += 1
            case AgentEnded(error) if error:
                self.failures["agent_failed"] += 1
            case StatusChanged(Status.MICROPHONE_LOST):
                self.failures["microphone_lost"] += 1
            case NarrationEnded(ending=NarrationEnding.FAILED):
                self.failures["narration_failed"] += 1
            case VoiceStateChanged(VoiceState.FAILED):
                self.failures["voice_failed"] += 1
            case MessageDelivered(waited=True):
                self.waited += 1
            case MessageDelivered(latency, deliver_s):
                for part, seconds in zip(
                    PARTS,
                    (latency.endpoint_s, latency.transcribe_s, deliver_s, event.total_s),
                    strict=True,
                ):
                    self.parts[part].append(round(seconds, 3))

    def summary(self) -> dict[str, Any]:
        """The session summed up, as JSON; a median or 95th percentile is None where nothing was measured."""
        return {
            "spoken": self.spoken,
            "typed": self.typed,
            "reopened": {"sent": self.reopened_sent, "waiting": self.reopened_waiting},
            "waited": self.waited,
            "latency": {
                part: {
                    "count": len(seconds),
                    "median": percentile(seconds, 0.5),
                    "p95": percentile(seconds, 0.95),
                }
                for part, seconds in self.parts.items()
            },
            "discarded": dict(sorted(self.discarded.items())),
            "frames_lost": self.frames_lost,
            "failures": dict(sorted(self.failures.items())),
        }

    def as_json(self) -> dict[str, Any]:
        """All of it, to be kept; `from_json` reads it."""
        return {
            "version": _VERSION,
            **{name: getattr(self, name) for name in _COUNTS},
            "discarded": dict(self.discarded),
            "failures": dict(self.failures),
            "parts": {part: list(seconds) for part, seconds in self.parts.items()},
        }

    @classmethod
    def from_json(cls, kept: object) -> SessionStatistics:
        """What `as_json` gave; raises `ValueError` for anything else."""
        if not isinstance(kept, Mapping) or kept.get("version") != _VERSION:
            raise ValueError("these are no statistics of a session")
        parts, discarded, failures = kept.get("parts"), kept.get("discarded"), kept.get("failures", {})
        if not (
            isinstance(parts, Mapping) and isinstance(discarded, Mapping) and isinstance(failures, Mapping)
        ):
            raise ValueError("the statistics lack a part")  # noqa: TRY004 — what is wrong is the file
        statistics = cls()
        for name in _COUNTS:
            setattr(statistics, name, _count(kept.get(name, 0)))
        for reason, times in discarded.items():
            statistics.discarded[DiscardReason(reason).value] = _count(times)
        for name, times in failures.items():
            statistics.failures[_failure(name)] = _count(times)
        for part in PARTS:
            statistics.parts[part].extend(_seconds(parts.get(part)))
        return statistics


def percentile(values: Collection[float], share: float) -> float | None:
    """The least of the values that no less than this share of them do not exceed; None of none."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)] if values else None


def table(summary: Mapping[str, Any]) -> list[str]:
    """A `SessionStatistics.summary` as lines for a person."""
    reopened, latency = summary["reopened"], summary["latency"]
    lines = [
        f"{'spoken messages':24}{summary['spoken']:6}",
        f"{'typed messages':24}{summary['typed']:6}",
        f"{'cut and reopened':24}{reopened['sent']:6}  (and {reopened['waiting']} before they were sent)",
        f"{'waited for the agent':24}{summary['waited']:6}",
        "",
        f"{'seconds':24}{'count':>6}{'median':>9}{'p95':>9}",
    ]
    names = zip(("endpoint", "transcribe", "deliver", "all of it"), PARTS, strict=True)
    for name, part in names:
        of = latency[part]
        lines.append(f"{name:24}{of['count']:6}{_shown(of['median']):>9}{_shown(of['p95']):>9}")
    for title, counts in (
        ("heard and not delivered", summary["discarded"]),
        ("went wrong", summary["failures"]),
    ):
        if counts:
            lines += ["", title]
            lines += [f"{name.replace('_', ' '):24}{times:6}" for name, times in counts.items()]
    if summary["frames_lost"]:
        lines += ["", f"{'sound that was lost':24}{summary['frames_lost'] * FRAME_S:6.2f} s"]
    return lines


def _shown(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.2f}"


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value


def _failure(name: object) -> str:
    if name not in FAILURES:
        raise ValueError(f"{name!r} is no failure of a session")
    return str(name)


def _seconds(values: object) -> Sequence[float]:
    if not isinstance(values, list) or not all(_is_seconds(value) for value in values):
        raise ValueError("these are no seconds")
    return values


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
