"""The ear: frames in; what was heard, in pieces that are ready for transcription, out.

It joins the detector, the endpointer and the memory of the last moment. It keeps no clock and opens nothing;
time is the number of frames it was given.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from voice.audio import FRAME_S, Frame, Samples
from voice.events import EndReason, SpeechEnded, SpeechStarted, UtteranceNearCap
from voice.listening.endpointing import Began, Decision, Endpointer, Finished, NearCap
from voice.listening.pieces import Evidence, PieceRule, best_cut, evidence_of
from voice.ports import SpeechDetector, Verdict

PRE_ROLL_S = 1.0
"""How much of the moment before the onset belongs to the utterance: no first syllable is lost."""


@dataclass(frozen=True)
class PieceReady:
    """A piece of the open utterance will not change any more."""

    samples: Samples
    evidence: Evidence
    foretold: bool = False
    """Whether the last `PieceSoFar` holds all that is said in it."""


@dataclass(frozen=True)
class PieceSoFar:
    """The open piece, in a pause: all of it, if nothing more is said."""

    samples: Samples
    evidence: Evidence


@dataclass(frozen=True)
class WentOn:
    """After a `PieceSoFar` more is said: it does not hold all of the piece."""


Heard = SpeechStarted | PieceReady | PieceSoFar | WentOn | UtteranceNearCap | SpeechEnded


@dataclass
class Ear:
    """Tell what is said from the frames of one microphone.

    The pieces of an utterance follow each other without a gap, and come between its `SpeechStarted` and its
    `SpeechEnded`; the last one may come before the end is decided, since a pause that ends a piece is shorter
    than the silence that ends a turn.
    """

    detector: SpeechDetector
    endpointer: Endpointer = field(default_factory=Endpointer)
    rule: PieceRule = field(default_factory=PieceRule)

    def __post_init__(self) -> None:
        self._frames: list[Frame] = []
        self._verdicts: list[Verdict] = []
        self._first = 0
        """The number of the first frame that is kept: the start of the open piece, or of the pre-roll."""
        self._foretold_end: int | None = None
        """Where the speech ended of which the last `PieceSoFar` was told, None while that does not count."""

    @property
    def now_s(self) -> float:
        """Audio time: how much it has heard."""
        return self.endpointer.frames * FRAME_S

    @property
    def speaking(self) -> bool:
        """Whether an utterance is open."""
        return self.endpointer.onset is not None

    @property
    def undecided(self) -> bool:
        """Whether what comes next still decides something: an utterance is open, or is perhaps beginning."""
        return self.endpointer.undecided

    @property
    def kept(self) -> Samples:
        """The sound that is still kept: the open piece with what came before it, or the pre-roll alone."""
        return np.concatenate(self._frames) if self._frames else np.zeros(0, np.int16)

    def push(self, frame: Frame) -> list[Heard]:
        """Hear the next frame; return what it decides, mostly nothing."""
        verdict = self.detector.judge(frame)
        self._frames.append(frame)
        self._verdicts.append(verdict)
        heard = self._heard(self.endpointer.push(verdict))
        if self.speaking:
            heard += self._foretell()
            heard += self._close_piece_if_due()
        else:
            # An onset may turn out to lie as far back as the start rule looks.
            kept_s = PRE_ROLL_S + self.endpointer.start.within_s
            self._drop_before(self.endpointer.frames - round(kept_s / FRAME_S))
        return heard

    def input_ended(self) -> list[Heard]:
        """No frame will follow: end what is open."""
        return self._heard(self.endpointer.input_ended())

    def cut(self) -> list[Heard]:
        """End what is open from outside; the next frame follows the last one."""
        return self._heard(self.endpointer.input_ended(EndReason.CUT_OFF))

    def forget(self) -> list[SpeechEnded]:
        """Let the next frame pass unheard: what is open is dropped, and so is the pre-roll."""
        heard: list[SpeechEnded] = []
        if self.speaking:
            end_s = self.endpointer.speech_end * FRAME_S
            heard.append(SpeechEnded(end_s, self.now_s, EndReason.TALKED_OVER))
        self.detector.reset()
        self.endpointer.forget()
        self._drop_before(self.endpointer.frames)
        self._first = self.endpointer.frames
        return heard

    def rewind(self, frames: int) -> None:
        """Go back before the last frames, which have passed unheard: they are heard now. Nothing is open."""
        assert not self._frames, "only what was forgotten can be heard again"
        self.endpointer.forget(-frames)
        self._first = self.endpointer.frames

    def _heard(self, decisions: list[Decision]) -> list[Heard]:
        heard: list[Heard] = []
        for decision in decisions:
            match decision:
                case Began(onset):
                    self._foretold_end = None
                    self._drop_before(onset - round(PRE_ROLL_S / FRAME_S))
                    heard.append(SpeechStarted(onset * FRAME_S))
                case NearCap(remaining_s):
                    heard.append(UtteranceNearCap(self.now_s, remaining_s))
                case Finished(_, speech_end, reason):
                    if speech_end > self._first:
                        tail = self.rule.tail_s if reason is EndReason.SILENCE else PRE_ROLL_S
                        heard += self._close_piece(speech_end + round(tail / FRAME_S))
                    heard.append(SpeechEnded(speech_end * FRAME_S, self.now_s, reason))
        return heard

    def _foretell(self) -> list[Heard]:
        """Give out the open piece early, once a pause; say when the speaker goes on after all."""
        speech_end = self.endpointer.speech_end
        if self._foretold_end is not None and speech_end > self._foretold_end:
            self._foretold_end = None
            return [WentOn()]
        early_s = self.rule.early_s
        pausing = early_s is not None and self.endpointer.silence_s >= early_s - FRAME_S / 2
        if not pausing or self._foretold_end is not None or speech_end <= self._first:
            return []
        self._foretold_end = speech_end
        evidence = self._evidence(len(self._frames))
        return [PieceSoFar(np.concatenate(self._frames), evidence)] if self._holds_word(evidence) else []

    def _close_piece_if_due(self) -> list[Heard]:
        speech_end, now = self.endpointer.speech_end, self.endpointer.frames
        pausing = speech_end <= self._first
        if not pausing and now - speech_end >= round(self.rule.pause_s / FRAME_S):
            return self._close_piece(speech_end + round(self.rule.tail_s / FRAME_S))
        if not pausing and len(self._frames) >= round(self.rule.longest_s / FRAME_S):
            return self._close_piece(self._first + best_cut(self._verdicts, self.rule))
        return []

    def _close_piece(self, end: int) -> list[Heard]:
        """Close the open piece in front of frame ``end``; the next one begins with it.

        A piece with less speech than it takes to begin an utterance holds no word, only what flickered in a
        pause, and Whisper would make one up. What counts is what kept the turn open: a quiet word after a
        pause is one.
        """
        count = min(end, self.endpointer.frames) - self._first
        foretold = self._foretold_end == self.endpointer.speech_end < end
        ready: list[Heard] = []
        evidence = self._evidence(count)
        if self._holds_word(evidence):
            ready.append(PieceReady(np.concatenate(self._frames[:count]), evidence, foretold))
        if not foretold:
            self._foretold_end = None
        self._drop_before(self._first + count)
        return ready

    def _evidence(self, count: int) -> Evidence:
        """What was found in so many of the frames that are kept."""
        return evidence_of(self._verdicts[:count], self.endpointer.end.threshold)

    def _holds_word(self, evidence: Evidence) -> bool:
        return evidence.speech_s >= self.endpointer.start.speech_s

    def _drop_before(self, frame: int) -> None:
        count = frame - self._first
        if count > 0:
            del self._frames[:count], self._verdicts[:count]
            self._first = frame
