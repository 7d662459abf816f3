"""A second, small listener, for phrases alone: fast, and with nothing it hears becoming anything else.

It waits for a short silence only, so that a spoken stop is understood about half a second after its last
sound; where our own voice lets no silence come, it listens without one. What it costs is bounded: one
transcription at a time, of a short piece. Of those that were asked for without a silence, the newest is the
only one worth having.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from voice.audio import FRAME_S, Frame, Samples
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

EAGER_EVERY_S = 0.4
EAGER_LONGEST_S = 1.6
"""Where no silence is waited for, the last sound is transcribed anew after so much speech, and so much of
it."""

MOST_WAITING = 3
"""So many pieces may wait for the transcriber: of more, the oldest are too late to be worth anything."""


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
        vocabulary: Iterable[str] = (),
    ) -> None:
        end = EndRule(end_threshold, PHRASE_SILENCE_S, PHRASE_LONGEST_S, warn_s=PHRASE_LONGEST_S)
        self._ear = Ear(detector, Endpointer(start or StartRule(), end))
        self._transcriber = transcriber
        self._vocabulary = tuple(vocabulary)
        self._last: deque[Frame] = deque(maxlen=round(EAGER_LONGEST_S / FRAME_S))
        self._eager_at_s = 0.0
        self._samples: Samples | None = None
        self._started_s = 0.0
        self._goes_on = False
        self._waiting: deque[_Piece] = deque(maxlen=MOST_WAITING)
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

    async def push(self, frame: Frame, *, eager: bool = False) -> Overheard | None:
        """Hear the next frame; return what was understood, mostly nothing.

        With ``eager`` what is being said is transcribed before it is over, again and again, as no whole
        piece.
        """
        self._resting = False
        self._last.append(frame)
        for heard in self._ear.push(frame):
            match heard:
                case SpeechStarted(at_s):
                    self._started_s = at_s
                    self._eager_at_s = at_s + EAGER_EVERY_S
                case PieceReady(samples=samples):
                    self._samples = samples
                case SpeechEnded(at_s, _, reason):
                    self._end(at_s, reason)
        now_s = self._ear.now_s
        if eager and self._ear.speaking and now_s >= self._eager_at_s and not self.busy and not self._waiting:
            self._eager_at_s = now_s + EAGER_EVERY_S
            start_s = max(self._started_s, now_s - len(self._last) * FRAME_S)
            self._waiting.append(_Piece(np.concatenate(self._last), start_s, now_s, whole=False))
        return await self._understood()

    async def skip(self) -> Overheard | None:
        """Let a frame pass unheard."""
        if not self._resting:
            self._goes_on = False
            self._resting = True
            self._last.clear()
            self._waiting.clear()
        self._ear.forget()
        return await self._understood()

    def _end(self, at_s: float, reason: EndReason) -> None:
        whole = not self._goes_on and reason is not EndReason.CAP
        if self._samples is not None:
            self._waiting.append(_Piece(self._samples, self._started_s, at_s, whole))
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
        if self._asked is None and self._waiting:
            piece = self._waiting.popleft()
            self._asked = piece, self._transcriber.submit(piece.samples, vocabulary=self._vocabulary)
        return overheard
