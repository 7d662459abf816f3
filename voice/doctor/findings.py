"""What is found of one part. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voice.errors import (
    DeviceError,
    DeviceLost,
    JournalError,
    ModelBroken,
    ModelNotFound,
    SettingsError,
    SpeechEngineDied,
    TranscriberDied,
    VoiceError,
)


@dataclass(frozen=True)
class Finding:
    """One part, as it was found."""

    part: str
    ok: bool
    detail: str
    """Its version and where it is, or what is wrong with it."""
    mend: str | None = None
    """What to do about it. Of a part that is ok: what would make it better."""
    needed: bool = True
    """Whether the loop cannot run without it."""
    broken: bool = False
    """Whether it is there and does not work; what is not ok and not broken is missing."""
    checked: bool = True
    """Whether it could be tried at all; what could not is not ok, and not broken."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """What was measured, by name; units stand in the names."""
    public: str = ""
    """What of the detail may stand in a bug report: versions and our own words."""
    kind: str = ""
    """The class of the error, where one was raised."""

    @property
    def mark(self) -> str:
        """How it is, in a word: in capitals where the loop cannot run so."""
        if not self.checked:
            return "untried"
        if self.ok:
            return "ok" if self.mend is None else "weak"
        word = "broken" if self.broken else "missing"
        return word.upper() if self.needed else word

    def as_json(self) -> dict[str, Any]:
        """As ``voice doctor --json`` prints it; documented in the README."""
        return {
            "part": self.part,
            "ok": self.ok,
            "detail": self.detail,
            "mend": self.mend,
            "needed": self.needed,
            "broken": self.broken,
            "checked": self.checked,
            "figures": {name: round(value, 3) for name, value in self.figures.items()},
        }


def could_run(findings: list[Finding]) -> bool:
    """Whether the loop could run with a microphone."""
    return all(finding.ok or not finding.needed for finding in findings)


def works(
    part: str,
    told: str,
    *,
    private: str = "",
    mend: str | None = None,
    needed: bool = True,
    figures: Mapping[str, float] | None = None,
    notices: Sequence[str] = (),
) -> Finding:
    """A part that is ok. ``private`` stands behind what is told, on the user's own screen alone.

    So do ``notices``, which it gave meanwhile: something else stands in for what the settings name.
    """
    if notices:
        told, private = f"{told}; with a notice", f": {' '.join(notices)}{private}"
    return Finding(part, True, f"{told}{private}", mend, needed=needed, figures=figures or {}, public=told)


def fails(
    part: str,
    told: str,
    mend: str | None,
    *,
    private: str = "",
    needed: bool = True,
    figures: Mapping[str, float] | None = None,
    kind: str = "",
) -> Finding:
    """A part that is there and does not work."""
    return Finding(
        part,
        False,
        f"{told}{private}",
        mend,
        needed=needed,
        broken=True,
        figures=figures or {},
        public=told,
        kind=kind,
    )


def fault(part: str, error: VoiceError, *, needed: bool = True) -> Finding:
    """A part that raised."""
    there = (DeviceLost, JournalError, ModelBroken, SettingsError, SpeechEngineDied, TranscriberDied)
    # A device that is there may be taken by another program, or its server hang: of these there is one class.
    device = type(error) is DeviceError and not error.sentence.startswith("There is no ")
    return Finding(
        part,
        ok=False,
        detail=error.sentence,
        mend=error.mend,
        needed=needed,
        broken=device or isinstance(error, there),
        # These repeat what a person wrote: settings, names of models. Other sentences are ours.
        public="" if isinstance(error, (SettingsError, ModelBroken, ModelNotFound)) else error.sentence,
        kind=type(error).__name__,
    )


def slow(part: str, limit_s: float, mend: str, *, needed: bool = True) -> Finding:
    """A part that gave no answer within its limit."""
    told = f"There was no answer within {limit_s:g} s."
    return fails(part, told, mend, needed=needed, kind=TimeoutError.__name__)


def unforeseen(part: str, error: Exception, *, needed: bool = True) -> Finding:
    """A part whose check failed in a way that nobody thought of."""
    return fails(
        part,
        "This failed in a way that was not foreseen",
        "tell us: voice doctor --report",
        private=f": {type(error).__name__}: {error}",
        needed=needed,
        kind=type(error).__name__,
    )


def untried(part: str, why: str, mend: str | None = None) -> Finding:
    """A part that could not be tried."""
    return Finding(part, ok=False, detail=why, mend=mend, needed=False, checked=False, public=why)
