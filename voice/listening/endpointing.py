"""When has somebody begun to speak, and when have they finished? Verdicts in, named events out.

Pure: it counts frames and reads no clock, so a recording gives the same events on any machine. "Has the user
begun" and "has the user finished" are judged by settings of their own.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from voice.audio import FRAME_S
from voice.events import EndReason
from voice.ports import Verdict


@dataclass(frozen=True)
class StartRule:
    """The user has begun when enough of the last moment was speech.

    On 498 human clips the defaults miss the same three very faint words as 80 ms do, and keep what 160 ms
    loses; of 30 clips of noise they start on those that hold voices.
    """

    threshold: float = 0.5
    """The least probability of a frame that counts as speech."""
    speech_s: float = 0.1
    """So much speech …"""
    within_s: float = 0.3
    """… within so long."""


@dataclass(frozen=True)
class EndRule:
    """The user has finished when nothing was speech for long enough, or after the greatest length."""

    threshold: float = 0.35
    """The least probability of a frame that goes on with speech once it has begun."""
    silence_s: float = 1.6
    """So much silence ends the turn: with less, people who think while they speak are cut off."""
    longest_s: float = 600.0
    """No utterance is longer; what follows the cap is the next one."""
    warn_s: float = 540.0
    """When to say that the cap is near."""


@dataclass(frozen=True)
class Began:
    """Speech has begun at frame ``onset``, known only now."""

    onset: int


@dataclass(frozen=True)
class NearCap:
    """The utterance is about to reach its greatest length."""

    remaining_s: float


@dataclass(frozen=True)
class Finished:
    """The turn is over: its last frame of speech was the one before ``speech_end``."""

    onset: int
    speech_end: int
    reason: EndReason


Decision = Began | NearCap | Finished


@dataclass
class Endpointer:
    """Frames are numbered from 0; the verdicts must come in order, one a frame."""

    start: StartRule = field(default_factory=StartRule)
    end: EndRule = field(default_factory=EndRule)
    frames: int = field(default=0, init=False)
    """How many verdicts it has seen."""
    onset: int | None = field(default=None, init=False)
    """The first frame of the utterance that is open, None between utterances."""
    speech_end: int = field(default=0, init=False)
    """The frame after the last one that held speech."""
    wait_s: float = field(default=0.0, init=False)
    """So much silence ends the open turn; each begins with that of ``end``, and patience may change it."""
    pauses_s: list[float] = field(default_factory=list, init=False)
    """The silences inside the turn that is open, or was last, after which something like a word was heard."""

    def __post_init__(self) -> None:
        self.wait_s = self.end.silence_s
        self._recent: deque[bool] = deque(maxlen=_frames(self.start.within_s))
        self._word_end = 0
        """The frame after the last one of something like a word: a flicker in a pause is none."""

    @property
    def undecided(self) -> bool:
        """Whether a turn is open, or a beginning that may become one was heard a moment ago."""
        return self.onset is not None or any(self._recent)

    @property
    def silence_s(self) -> float:
        """How long the open turn has been silent by now."""
        return (self.frames - self.speech_end) * FRAME_S

    def push(self, verdict: Verdict) -> list[Decision]:
        """Take the verdict on the next frame; return what it decides, mostly nothing."""
        self.frames += 1
        if self.onset is None:
            return self._wait_for_speech(verdict)
        return self._wait_for_end(verdict, self.onset)

    def input_ended(self, reason: EndReason = EndReason.INPUT_ENDED) -> list[Decision]:
        """End what is open, whatever follows: mostly because no frame will."""
        return [] if self.onset is None else [self._finish(self.onset, reason)]

    def forget(self, frames: int = 1) -> None:
        """Let frames pass unheard: an open utterance is dropped, and nothing of before counts."""
        self.frames += frames
        self.onset = None
        self._recent.clear()

    def _wait_for_speech(self, verdict: Verdict) -> list[Decision]:
        speech = verdict.probability >= self.start.threshold
        self._recent.append(speech)
        if not speech or sum(self._recent) < _frames(self.start.speech_s):
            return []
        self.onset = self.frames - len(self._recent) + self._recent.index(True)
        self.speech_end = self._word_end = self.frames
        self.wait_s = self.end.silence_s
        self.pauses_s = []
        self._recent.clear()
        return [Began(self.onset)]

    def _wait_for_end(self, verdict: Verdict, onset: int) -> list[Decision]:
        speech = verdict.probability >= self.end.threshold
        if speech:
            self.speech_end = self.frames
        self._note_pause(speech)
        length = self.frames - onset
        if self.frames - self.speech_end >= _frames(self.wait_s):
            return [self._finish(onset, EndReason.SILENCE)]
        if length >= _frames(self.end.longest_s):
            return [self._finish(onset, EndReason.CAP)]
        if length == _frames(self.end.warn_s):
            return [NearCap(self.end.longest_s - self.end.warn_s)]
        return []

    def _note_pause(self, speech: bool) -> None:
        self._recent.append(speech)
        if not speech or sum(self._recent) < _frames(self.start.speech_s):
            return
        began = self.frames - len(self._recent) + self._recent.index(True)
        if began > self._word_end:
            self.pauses_s.append((began - self._word_end) * FRAME_S)
        self._word_end = self.frames

    def _finish(self, onset: int, reason: EndReason) -> Finished:
        self.onset = None
        self._recent.clear()
        return Finished(onset, self.speech_end, reason)


def _frames(seconds: float) -> int:
    """So many whole frames, at least one."""
    return max(1, round(seconds / FRAME_S))
