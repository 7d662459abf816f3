"""A second, small listener, for phrases alone: fast, and with nothing it hears becoming anything else.

It waits for a short silence only, so that a spoken stop is understood about half a second after its last
sound. What it costs is bounded: one transcription at a time, of a short piece; of those that wait, the newest
is the only one worth having.
"""

from __future__ import annotations

from dataclasses import dataclass

from voice.audio import Frame, Samples
from voice.errors import TranscriberError
from voice.events import EndReason, SpeechEnded, SpeechStarted
from voice.listening.endpointing import Endpointer, EndRule, StartRule
from voice.listening.judging import Piece, judge
from voice.listening.utterances import Ear, PieceReady
from voice.ports import PendingTranscript, SpeechDetector, Transcriber

PHRASE_SILENCE_S = 0.3
"""So much silence ends a phrase: the pauses between the words of one are shorter."""

PHRASE_LONGEST_S = 2.5
"""A phrase is over by then. What is longer is heard in pieces, so that one is found among our own words."""


@dataclass(frozen=True)
class Overheard:
    """What may have been a phrase."""

    text: str
    start_s: float
    end_s: float
    whole: bool
    """Whether silence was on both sides of it."""


@dataclass(frozen=True)
class _Piece:
    samples: Samples
    start_s: float
    end_s: float
    whole: bool


class PhraseListener:
    """Understands short utterances, as fast as can be."""

    def __init__(
        self,
        detector: SpeechDetector,
        transcriber: Transcriber,
        start: StartRule | None = None,
        end_threshold: float = EndRule.threshold,
    ) -> None:
        end = EndRule(end_threshold, PHRASE_SILENCE_S, PHRASE_LONGEST_S, warn_s=PHRASE_LONGEST_S)
        self._ear = Ear(detector, Endpointer(start or StartRule(), end))
        self._transcriber = transcriber
        self._samples: Samples | None = None
        self._started_s = 0.0
        self._goes_on = False
        self._waiting: _Piece | None = None
        self._asked: tuple[_Piece, PendingTranscript] | None = None
        self._resting = True

    @property
    def busy(self) -> bool:
        """Whether a text is awaited."""
        return self._asked is not None

    @property
    def ready(self) -> bool:
        """Whether the text that is awaited is there, and comes with the next frame."""
        return self._asked is not None and self._asked[1].done

    async def push(self, frame: Frame) -> Overheard | None:
        """Hear the next frame; return what was understood, mostly nothing."""
        self._resting = False
        for heard in self._ear.push(frame):
            match heard:
                case SpeechStarted(at_s):
                    self._started_s = at_s
                case PieceReady(samples=samples):
                    self._samples = samples
                case SpeechEnded(at_s, _, reason):
                    self._end(at_s, reason)
        return await self._understood()

    async def skip(self) -> Overheard | None:
        """Let a frame pass unheard."""
        if not self._resting:
            self._goes_on = False
            self._resting = True
        self._ear.forget()
        return await self._understood()

    def _end(self, at_s: float, reason: EndReason) -> None:
        whole = not self._goes_on and reason is not EndReason.CAP
        if self._samples is not None:
            self._waiting = _Piece(self._samples, self._started_s, at_s, whole)
        self._samples = None
        self._goes_on = reason is EndReason.CAP

    async def _understood(self) -> Overheard | None:
        overheard = None
        if self._asked is not None and self._asked[1].done:
            (piece, pending), self._asked = self._asked, None
            try:
                text = judge([Piece(await pending.result())]).text
            except TranscriberError:
                text = ""  # the turn itself will tell
            if text:
                overheard = Overheard(text, piece.start_s, piece.end_s, piece.whole)
        if self._asked is None and self._waiting is not None:
            self._asked = self._waiting, self._transcriber.submit(self._waiting.samples)
            self._waiting = None
        return overheard
