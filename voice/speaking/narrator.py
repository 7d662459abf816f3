"""Narration: a text is spoken sentence by sentence, and can be stopped at any moment.

While one sentence is heard the next ones are made, so that the first begins at once and none waits for the
one after it. What is audible is always the speaker's business alone; how far it came is asked of the speaker,
never of a clock.
"""

from __future__ import annotations

from dataclasses import dataclass

import anyio
import numpy as np
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from voice.audio import SAMPLE_RATE, Sound
from voice.errors import VoiceError
from voice.events import NarrationEnded, NarrationEnding
from voice.ports import Speaker, SpeechEngine
from voice.speaking.speakable import speakable

_AHEAD = 1
"""Finished sounds that wait for their turn while one plays and one is made: enough never to run dry, since
an engine is many times faster than speech, and little to throw away at an interruption."""


@dataclass(frozen=True)
class Position:
    """How far a narration came: the place at which it would go on."""

    sentence: int
    """Index into the sentences; their number when all have been heard."""
    played_s: float = 0.0
    """Seconds of that sentence that were heard."""
    character: int = 0
    """Where in that sentence the word begins that was being spoken: estimated, as if every character took
    equally long."""


@dataclass(frozen=True)
class Narrated:
    """What became of a narration."""

    ended: NarrationEnded
    sentences: tuple[str, ...]
    """The text as it was to be spoken."""
    position: Position
    error: Exception | None = None
    """Why it failed, as it was raised; the notice of ``ended`` says it in words."""

    @property
    def ending(self) -> NarrationEnding:
        """How it ended."""
        return self.ended.ending


class Narrator:
    """Speaks texts through a `SpeechEngine` and a `Speaker`, one at a time, in the order they came."""

    def __init__(self, engine: SpeechEngine, speaker: Speaker) -> None:
        self._engine = engine
        self._speaker = speaker
        self._turn = anyio.Lock()
        self._asked: list[_Narration] = []

    @property
    def narrating(self) -> bool:
        """Whether a text is being spoken or waits to be."""
        return bool(self._asked)

    async def narrate(self, text: str) -> Narrated:
        """Speak a text, as an agent wrote it, to its end; returns when the last of it has been heard.

        Waits for its turn behind earlier texts. A failing engine or speaker is no exception but the ending
        ``failed``, with a sentence that says why, after what could be heard. When the caller is cancelled
        the sound stops.
        """
        narration = _Narration(text)
        self._asked.append(narration)
        try:
            with narration.scope:
                async with self._turn:
                    await narration.speak(self._engine, self._speaker)
        finally:
            self._asked.remove(narration)
        return narration.outcome()

    def interrupt(self) -> bool:
        """Stop now: what is spoken, and what waits to be, ends as ``interrupted``.

        Returns whether there was anything to stop. To be called in the event loop's thread; silence follows
        within the 200 ms that a `Speaker` has.
        """
        return self._end(NarrationEnding.INTERRUPTED)

    def supersede(self) -> bool:
        """Stop as `interrupt` does, with the ending ``superseded``: something else matters more now."""
        return self._end(NarrationEnding.SUPERSEDED)

    def _end(self, ending: NarrationEnding) -> bool:
        for narration in self._asked:
            narration.end(ending)
        return bool(self._asked)


async def rendered(text: str, engine: SpeechEngine) -> Sound:
    """All of a text as one sound, for a file; no samples where there is nothing to say.

    Raises `SpeechEngineError`.
    """
    sounds = [await engine.render(sentence) for sentence in speakable(text)]
    if not sounds:
        return Sound(np.zeros(0, np.int16), SAMPLE_RATE)
    return Sound(np.concatenate([sound.samples for sound in sounds]), sounds[0].rate)


class _Narration:
    """One text on its way."""

    def __init__(self, text: str) -> None:
        self.scope = anyio.CancelScope()
        self._text = text
        self._sentences = tuple(speakable(text))
        self._ending: NarrationEnding | None = None
        self._notice = ""
        self._error: Exception | None = None
        self._before_s = 0.0
        self._position = Position(0)

    def end(self, ending: NarrationEnding) -> None:
        """End it early; the first ending stands."""
        if self._ending is None:
            self._ending = ending
            self.scope.cancel()

    def outcome(self) -> Narrated:
        assert self._ending is not None, "a narration that was not cancelled has an ending"
        played_s = self._before_s + self._position.played_s
        ended = NarrationEnded(self._text, self._ending, played_s, self._notice)
        return Narrated(ended, self._sentences, self._position, self._error)

    async def speak(self, engine: SpeechEngine, speaker: Speaker) -> None:
        send, receive = anyio.create_memory_object_stream[Sound | Exception](_AHEAD)
        with send, receive:
            async with anyio.create_task_group() as group:
                group.start_soon(self._render, engine, send)
                try:
                    for index, sentence in enumerate(self._sentences):
                        self._position = Position(index)
                        await self._hear(sentence, await _made(receive), speaker)
                except _Failure as failure:
                    self._ending, self._notice = NarrationEnding.FAILED, failure.sentence
                    self._error = failure.error
                else:
                    self._position = Position(len(self._sentences))
                    self._ending = NarrationEnding.COMPLETED
                group.cancel_scope.cancel()

    async def _render(self, engine: SpeechEngine, send: MemoryObjectSendStream[Sound | Exception]) -> None:
        """Make the sounds; an error waits in the queue like a sound, so that what came before it is heard."""
        for sentence in self._sentences:
            try:
                sound = await engine.render(sentence)
            except Exception as error:
                await send.send(error)
                return
            await send.send(sound)

    async def _hear(self, sentence: str, sound: Sound, speaker: Speaker) -> None:
        if not len(sound.samples):
            return
        try:
            await speaker.play(sound)
        except Exception as error:
            raise _Failure(error) from error
        finally:
            heard_s = speaker.played_s
            word = _word_at(sentence, heard_s / sound.duration_s)
            self._position = Position(self._position.sentence, heard_s, word)
        self._before_s += sound.duration_s


class _Failure(Exception):
    """The engine or the speaker failed, with an error of the port or, in breach of it, with any other."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error
        named = isinstance(error, VoiceError)
        self.sentence = str(error) if named else f"Narration failed: {type(error).__name__}: {error}"


async def _made(receive: MemoryObjectReceiveStream[Sound | Exception]) -> Sound:
    made = await receive.receive()
    if isinstance(made, Exception):
        raise _Failure(made) from made
    return made


def _word_at(sentence: str, share: float) -> int:
    """Where the word begins that stands at this share (0 to 1) of the sentence."""
    at = min(int(len(sentence) * share), len(sentence) - 1)
    return sentence.rfind(" ", 0, at + 1) + 1
