"""Listen → transcribe → judge: from the frames of a microphone to messages, in audio time.

A transcription takes compute, not audio. In a live session its text is taken when it is there. In a replay
it is taken a fixed amount of audio time after it was asked for, however long the machine needed: so a
recording gives the same events on any machine, faster than real time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field

import anyio.lowlevel

from voice.audio import FRAME_S, Frame, silent_frame
from voice.errors import TranscriberError, VoiceError
from voice.events import (
    Discarded,
    DiscardReason,
    Event,
    Latency,
    Notice,
    Span,
    SpeechEnded,
    SpeechStarted,
    UserMessage,
)
from voice.listening.judging import judge
from voice.listening.utterances import Ear, Heard, PieceReady
from voice.ports import PendingTranscript, Transcriber, Transcript


@dataclass
class _Turn:
    """One utterance on its way to a message."""

    started: SpeechStarted
    pieces: list[PendingTranscript] = field(default_factory=list)
    asked_at_s: float = 0.0
    """When the last of its pieces was given to the transcriber."""
    ended: SpeechEnded | None = None


class Hearing:
    """One listener's turns, from the first frame to the message; they are delivered in their order.

    ``transcript_after_s`` is the audio time that a transcription takes; with None a text is taken when it is
    there.
    """

    def __init__(
        self, ear: Ear, transcriber: Transcriber, *, transcript_after_s: float | None = None
    ) -> None:
        self._ear = ear
        self._transcriber = transcriber
        self._transcript_after_s = transcript_after_s
        self._turns: deque[_Turn] = deque()

    @property
    def now_s(self) -> float:
        """Audio time: how much sound there has been."""
        return self._ear.now_s

    @property
    def busy(self) -> bool:
        """Whether somebody is speaking or perhaps begins to, or something said is not yet a message."""
        return bool(self._turns) or self._ear.undecided

    @property
    def speaking(self) -> bool:
        """Whether somebody is speaking."""
        return self._ear.speaking

    async def push(self, frame: Frame) -> list[Event]:
        """Hear the next frame; return what happened."""
        events = self._took(self._ear.push(frame))
        return events + await self._delivered()

    async def skip(self) -> list[Event]:
        """Let a frame pass unheard: time goes on, an open turn is dropped, one that has ended is not."""
        events: list[Event] = []
        for ended in self._ear.forget():
            for piece in self._turns.pop().pieces:
                piece.cancel()
            events += [ended, Discarded(DiscardReason.TALKED_OVER, "", self.now_s)]
        return events + await self._delivered()

    def input_ended(self) -> list[Event]:
        """End an open turn: its source gives no more sound. Its message comes with later frames."""
        return self._took(self._ear.input_ended())

    def _took(self, heard: list[Heard]) -> list[Event]:
        events: list[Event] = []
        for what in heard:
            match what:
                case PieceReady(samples):
                    turn = self._turns[-1]
                    turn.pieces.append(self._transcriber.submit(samples))
                    turn.asked_at_s = self.now_s
                    continue
                case SpeechStarted():
                    self._turns.append(_Turn(what))
                case SpeechEnded():
                    self._turns[-1].ended = what
            events.append(what)
        return events

    async def _delivered(self) -> list[Event]:
        """Take the texts that are due, first turn first."""
        events: list[Event] = []
        while self._turns and (ended := self._turns[0].ended) is not None and self._due(self._turns[0]):
            events += await self._made_of(self._turns.popleft(), ended)
        return events

    def _due(self, turn: _Turn) -> bool:
        if self._transcript_after_s is None:
            return all(piece.done for piece in turn.pieces)
        return self.now_s >= turn.asked_at_s + self._transcript_after_s - FRAME_S / 2

    async def _made_of(self, turn: _Turn, ended: SpeechEnded) -> list[Event]:
        """What becomes of a turn: mostly a message."""
        at_s = self.now_s
        transcripts: list[Transcript] = []
        failure: TranscriberError | None = None
        for piece in turn.pieces:
            try:
                transcripts.append(await piece.result())
            except TranscriberError as error:
                failure = error
        judgement = judge(transcripts)
        if failure is not None:
            reason = DiscardReason.NOT_TRANSCRIBED
            return [Notice(failure.sentence), Discarded(reason, judgement.text, at_s)]
        events: list[Event] = [Discarded(piece.reason, piece.text, at_s) for piece in judgement.rejected]
        if judgement.text:
            latency = Latency(
                endpoint_s=ended.decided_at_s - ended.at_s,
                transcribe_s=at_s - ended.decided_at_s,
                total_s=at_s - ended.at_s,
            )
            heard = Span(turn.started.at_s, ended.at_s)
            events.append(UserMessage(judgement.text, "voice", at_s, heard, latency))
        return events


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
