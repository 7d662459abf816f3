"""Listen → transcribe → judge: from the frames of a microphone to messages, in audio time.

A transcription takes compute, not audio. In a live session its text is taken when it is there. In a replay
it is taken a fixed amount of audio time after it was asked for, however long the machine needed: so a
recording gives the same events on any machine, faster than real time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import anyio.lowlevel

from voice.audio import FRAME_S, SAMPLE_RATE, Frame, Samples, silent_frame
from voice.errors import TranscriberError, VoiceError
from voice.events import (
    Discarded,
    DiscardReason,
    Event,
    Latency,
    Notice,
    PartialTranscript,
    Span,
    SpeechEnded,
    SpeechStarted,
    UserMessage,
    UtteranceNearCap,
)
from voice.listening.judging import Judgement, Piece, judge
from voice.listening.patience import Patience
from voice.listening.pieces import Evidence
from voice.listening.utterances import Ear, Heard, PieceReady, PieceSoFar, WentOn
from voice.listening.vocabulary import Vocabulary, names_in
from voice.ports import Journal, PendingTranscript, Transcriber

SAME_BREATH_S = 0.5
"""Who goes on to speak so soon after what they were saying was typed over is still saying it: a pause inside
a clause is shorter, and nobody begins to answer sooner."""

ASLEEP_LONGEST_S = 4.0
"""While it is asleep, a piece longer than this is not even transcribed: a phrase of a few words, said slowly,
takes 2 s, and the pre-roll and the tail of a piece 1.3 s more."""


@dataclass(frozen=True)
class _Asked:
    """A piece that was given to the transcriber."""

    pending: PendingTranscript
    evidence: Evidence
    vocabulary: tuple[str, ...]
    at_s: float

    async def piece(self) -> Piece:
        """What there is to be judged; raises `TranscriberError`."""
        return Piece(await self.pending.result(), self.evidence, self.vocabulary)


@dataclass
class _Turn:
    """One utterance on its way to a message."""

    started: SpeechStarted
    utterances: tuple[str, ...] = ()
    """Its id in the journal, where it is kept in one."""
    pieces: list[_Asked] = field(default_factory=list)
    early: _Asked | None = None
    """Its open piece, transcribed in a pause, before it is known that no more will be said."""
    pauses_s: tuple[float, ...] = ()
    """The silences inside it."""
    ended: SpeechEnded | None = None
    fate: DiscardReason | None = None
    """Why it will not become a message, whatever its words."""
    goes_on: bool = False
    """Whether it is the rest of one that was dropped: without words it is not worth telling."""
    words: str | None = None
    """What was said so far, None while that is not known."""
    told: str = ""
    """What the last `PartialTranscript` told."""


class Hearing:
    """One listener's turns, from the first frame to the message; they are delivered in their order.

    ``transcript_after_s`` is the audio time that a transcription takes; with None a text is taken when it is
    there. With ``partials`` the words of an open turn are told as they come. Without ``patience`` a turn ends
    after the silence that the ear was given; with it, after what it says of the words so far, which takes an
    ear that tells a piece early (`PieceRule.early_s`). ``vocabulary`` is what is likely to be said from the
    beginning; ``phantoms`` are the texts that are taken for made up where the sound does not bear them out.
    What is said is kept in the ``journal`` before it is transcribed, but while it is asleep: not even its
    sound is anybody's business then. Why it is no message is for whoever takes the events to tell there.
    """

    def __init__(
        self,
        ear: Ear,
        transcriber: Transcriber,
        *,
        patience: Patience | None = None,
        transcript_after_s: float | None = None,
        partials: bool = False,
        vocabulary: Vocabulary | None = None,
        phantoms: Collection[str] = (),
        journal: Journal | None = None,
    ) -> None:
        self._ear = ear
        self._transcriber = transcriber
        self._patience = patience
        self._transcript_after_s = transcript_after_s
        self._partials = partials
        self._vocabulary = vocabulary or Vocabulary()
        self._phantoms = phantoms
        self._journal = journal
        self._turns: deque[_Turn] = deque()
        self._before: tuple[SpeechEnded, str] | None = None
        """The end and the words of the last message, where nothing was narrated after it."""
        self._frozen_s = 0.0
        self._typed_over_s = 0.0
        """What begins before then belongs to what was typed over."""
        self.asleep = False
        """Whether only what is short enough to be a phrase is transcribed; the rest is discarded unread."""

    @property
    def now_s(self) -> float:
        """Audio time: how much sound there has been."""
        return self._ear.now_s + self._frozen_s

    @property
    def busy(self) -> bool:
        """Whether somebody is speaking or perhaps begins to, or something said is not yet a message."""
        return bool(self._turns) or self._ear.undecided

    @property
    def speaking(self) -> bool:
        """Whether somebody is speaking."""
        return self._ear.speaking

    def expect(self, question: str, options: Sequence[str] = ()) -> None:
        """Say what was narrated last, and the labels of its options, where it has some.

        Patience, and the names that are likely to be said, depend on it.
        """
        if self._patience is not None:
            self._patience.expect(question, options)
        self._before = None
        named = names_in(question, self._vocabulary.language)
        self._vocabulary = replace(self._vocabulary, asked=(*options, *named))

    def know(self, names: Sequence[str]) -> None:
        """Say which other names may be said, the likeliest first."""
        self._vocabulary = replace(self._vocabulary, project=tuple(names))

    async def push(self, frame: Frame) -> list[Event]:
        """Hear the next frame; return what happened."""
        self._keep(frame)
        heard = self._ear.push(frame)
        if self._journal is not None and any(isinstance(what, PieceSoFar | PieceReady) for what in heard):
            # Before a transcription, and not for each frame: a disk that takes 0.1 s would never catch up.
            await self._journal.written()
        return self._took(heard) + await self._delivered()

    async def skip(self, *, keep: bool = False) -> list[Event]:
        """Let a frame pass unheard: time goes on, and what has ended is delivered all the same.

        An open turn is dropped; with ``keep`` it waits, and goes on with the next frame that is heard.
        """
        events: list[Event] = []
        if keep and self.speaking:
            self._frozen_s += FRAME_S
        else:
            for ended in self._ear.forget():
                turn = self._turns[-1]
                self._forget_early(turn)
                for piece in turn.pieces:
                    piece.pending.cancel()
                turn.pieces.clear()
                turn.fate = turn.fate or DiscardReason.TALKED_OVER
                events += self._took([ended])
        return events + await self._delivered()

    def recall(self, frames: Sequence[Frame]) -> list[Event]:
        """Hear late, and at once, the frames that were skipped last; no turn may be open."""
        self._ear.rewind(len(frames))
        events: list[Event] = []
        for frame in frames:
            self._keep(frame)
            events += self._took(self._ear.push(frame))
        return events

    def drop(self, reason: DiscardReason) -> list[Event]:
        """End the open turn, if there is one: it will be no message.

        Its words come with later frames, as `Discarded` for this reason: they can be shown, and said again.
        What is typed over is so to its end: what follows in the same breath is dropped as well, for half a
        reply may say the contrary of the whole.
        """
        if not self.speaking:
            return []
        turn = self._turns[-1]
        turn.fate = turn.fate or reason
        self._decide(turn, "", turn.fate)
        ended = self._took(self._ear.cut())
        if turn.fate is DiscardReason.TYPED_INSTEAD:
            self._typed_over_s = self.now_s + SAME_BREATH_S
        return ended

    def spoil(self, reason: DiscardReason) -> None:
        """Have the open turn, if there is one, go on to its end and be no message, for this reason."""
        if self.speaking:
            self._turns[-1].fate = self._turns[-1].fate or reason

    def input_ended(self) -> list[Event]:
        """End an open turn: its source gives no more sound. Its message comes with later frames."""
        return self._took(self._ear.input_ended())

    def _keep(self, frame: Frame) -> None:
        """Have the next frame of an open turn in the journal, before it is known what it decides."""
        if self._journal is not None and self.speaking:
            for utterance in self._turns[-1].utterances:
                self._journal.append(utterance, frame)

    def _begun(self) -> tuple[str, ...]:
        """The id of the utterance that has begun, with the sound before its onset."""
        if self._journal is None or self.asleep:
            return ()
        return (self._journal.begin(self._ear.kept),)

    def _decide(self, turn: _Turn, text: str, reason: DiscardReason | None = None) -> None:
        if self._journal is not None and turn.utterances:
            self._journal.decided(turn.utterances, text, reason)

    def _dropped(self, turn: _Turn, text: str, reason: DiscardReason) -> Discarded:
        return Discarded(reason, text, self.now_s, turn.utterances, turn.started.at_s)

    def _took(self, heard: list[Heard]) -> list[Event]:
        later = self._frozen_s  # the ear does not count the frames that an open turn waited through
        events: list[Event] = []
        for what in heard:
            match what:
                case PieceSoFar(samples, evidence):
                    self._ask_early(samples, evidence, self._turns[-1])
                case WentOn():
                    self._forget_early(self._turns[-1])
                case PieceReady():
                    self._ask_for(what, self._turns[-1])
                case SpeechStarted(at_s):
                    events.append(SpeechStarted(at_s + later))
                    self._turns.append(_Turn(SpeechStarted(at_s + later), self._begun()))
                    if at_s + later < self._typed_over_s:
                        self._turns[-1].fate, self._turns[-1].goes_on = DiscardReason.TYPED_INSTEAD, True
                case SpeechEnded(at_s, decided_at_s, reason):
                    self._turns[-1].ended = SpeechEnded(at_s + later, decided_at_s + later, reason)
                    self._turns[-1].pauses_s = tuple(self._ear.endpointer.pauses_s)
                    events.append(self._turns[-1].ended)
                case UtteranceNearCap(at_s, remaining_s):
                    events.append(UtteranceNearCap(at_s + later, remaining_s))
        return events

    def _ask_early(self, samples: Samples, evidence: Evidence, turn: _Turn) -> None:
        """Begin with what will be needed if nothing more is said; the newest is the only one that counts."""
        self._forget_early(turn)
        if not self.asleep and turn.fate is None:
            turn.early = self._asked(samples, evidence)

    def _forget_early(self, turn: _Turn) -> None:
        if turn.early is not None:
            turn.early.pending.cancel()
        turn.early = turn.words = None

    def _asked(self, samples: Samples, evidence: Evidence) -> _Asked:
        names = self._vocabulary.told_of(evidence.speech_s)
        return _Asked(self._transcriber.submit(samples, vocabulary=names), evidence, names, self.now_s)

    def _ask_for(self, ready: PieceReady, turn: _Turn) -> None:
        if ready.foretold and turn.early is not None and turn.fate is None:
            turn.pieces.append(replace(turn.early, evidence=ready.evidence))
            turn.early = None
            return
        self._forget_early(turn)
        if self.asleep and (turn.pieces or len(ready.samples) > ASLEEP_LONGEST_S * SAMPLE_RATE):
            turn.fate = DiscardReason.ASLEEP
        if turn.fate is DiscardReason.ASLEEP:
            for piece in turn.pieces:
                piece.pending.cancel()
            turn.pieces.clear()
        else:
            turn.pieces.append(self._asked(ready.samples, ready.evidence))

    async def _delivered(self) -> list[Event]:
        """Take the texts that are due, first turn first."""
        events: list[Event] = []
        while (
            self._turns and (ended := self._turns[0].ended) is not None and self._known(self._turns[0].pieces)
        ):
            events += await self._made_of(self._turns.popleft(), ended)
        if self.speaking and not self.asleep and self._turns[-1].fate is None:
            events += await self._understood_so_far(self._turns[-1])
        return events

    async def _understood_so_far(self, turn: _Turn) -> list[Event]:
        """Take the words of an open turn when they are known, for patience and for a screen.

        An error waits for the turn's end.
        """
        pieces = [*turn.pieces, turn.early] if turn.early is not None else turn.pieces
        if turn.words is None and pieces and self._known(pieces):
            with suppress(TranscriberError):
                turn.words = self._judged([await asked.piece() for asked in pieces]).text
        if self._patience is not None:
            self._ear.endpointer.wait_s = self._patience.wait_s(turn.words)
        if not self._partials or not turn.words or turn.words == turn.told:
            return []
        turn.told = turn.words
        return [PartialTranscript(turn.words, self.now_s)]

    def _judged(self, pieces: Sequence[Piece]) -> Judgement:
        judgement = judge(pieces, self._phantoms)
        return replace(judgement, text=self._vocabulary.corrected(judgement.text))

    def _known(self, pieces: Sequence[_Asked]) -> bool:
        if self._transcript_after_s is None or not pieces:
            return all(asked.pending.done for asked in pieces)
        return self.now_s >= pieces[-1].at_s + self._transcript_after_s - FRAME_S / 2

    async def _made_of(self, turn: _Turn, ended: SpeechEnded) -> list[Event]:
        """What becomes of a turn: mostly a message."""
        at_s = self.now_s
        pieces: list[Piece] = []
        failure: TranscriberError | None = None
        for asked in turn.pieces:
            try:
                pieces.append(await asked.piece())
            except TranscriberError as error:
                failure = error
        judgement = self._judged(pieces)
        failed: list[Event] = [Notice(failure.sentence)] if failure is not None else []
        if turn.fate is not None:
            dropped = self._dropped(turn, judgement.text, turn.fate)
            return [*failed, *([] if turn.goes_on and not judgement.text else [dropped])]
        if failed:
            return [*failed, self._dropped(turn, judgement.text, DiscardReason.NOT_TRANSCRIBED)]
        nothing_said = None if judgement.text else DiscardReason.NO_WORDS
        self._decide(turn, judgement.text, nothing_said)
        lost = turn.utterances if nothing_said else ()
        events: list[Event] = [
            Discarded(piece.reason, piece.text, at_s, lost, turn.started.at_s) for piece in judgement.rejected
        ]
        if judgement.text:
            latency = Latency(
                endpoint_s=ended.decided_at_s - ended.at_s,
                transcribe_s=at_s - ended.decided_at_s,
                total_s=at_s - ended.at_s,
            )
            heard = Span(turn.started.at_s, ended.at_s)
            confidence = min(piece.transcript.average_log_probability for piece in pieces)
            events.append(
                UserMessage(judgement.text, "voice", at_s, heard, latency, confidence, turn.utterances)
            )
            if self._patience is not None:
                if not judgement.rejected:  # a sound without words ends no pause
                    self._learn(self._patience, turn, judgement.text)
                self._before = ended, judgement.text
                self._patience.expect("")  # a question is answered once
        return events

    def _learn(self, patience: Patience, turn: _Turn, text: str) -> None:
        """Take from a turn that is a message how this user pauses."""
        patience.learn(turn.pauses_s)
        if self._before is not None:
            before, words = self._before
            patience.learn_from_what_followed(
                words, text,
                pause_s=turn.started.at_s - before.at_s, waited_s=before.decided_at_s - before.at_s,
            )  # fmt: skip


class Silence:
    """Silence without end, as an iterator of frames."""

    def __aiter__(self) -> AsyncIterator[Frame]:
        """Itself."""
        return self

    async def __anext__(self) -> Frame:
        """One more silent frame."""
        return silent_frame()


async def hear(
    frames: AsyncIterator[Frame],
    hearing: Hearing,
    *,
    afterwards: AsyncIterator[Frame],
    end_turn_with_input: bool,
) -> AsyncGenerator[Event]:
    """Hear a source to its end, and then ``afterwards`` until each turn has been decided and delivered.

    With ``end_turn_with_input`` an open turn ends where the source does (`EndReason.INPUT_ENDED`); else it
    goes on in ``afterwards``. Errors of the source come out when what was heard before them is delivered.
    """
    failure: VoiceError | None = None
    while True:
        try:
            frame = await anext(frames)
        except StopAsyncIteration:
            break
        except VoiceError as error:
            failure = error  # raised below: first, nothing said is lost
            break
        await anyio.lowlevel.checkpoint()
        for event in await hearing.push(frame):
            yield event
    if end_turn_with_input or failure is not None:
        for event in hearing.input_ended():
            yield event
    if hearing.busy:
        async for frame in afterwards:
            await anyio.lowlevel.checkpoint()
            for event in await hearing.push(frame):
                yield event
            if not hearing.busy:
                break
    if failure is not None:
        raise failure
