"""Narration: a text is spoken sentence by sentence, and can be stopped at any moment.

While one sentence is heard the next ones are made, and the rest of the text may still be being written, so
that the first begins at once and none waits for the one after it. What is audible is always the speaker's
business alone; how far it came is asked of the speaker, never of a clock.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import anyio
import numpy as np
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from voice.audio import SAMPLE_RATE, Sound
from voice.errors import DeviceError, VoiceError
from voice.events import NarrationEnded, NarrationEnding
from voice.ports import Speaker, SpeechEngine
from voice.speaking.earcons import Earcon, sound_of
from voice.speaking.excerpt import Excerpt
from voice.speaking.manner import Manner
from voice.speaking.speakable import Sentence, sentences_of, speakable
from voice.speaking.streaming import SpeakableStream

_AHEAD = 1
"""Finished sounds that wait for their turn while one plays and one is made: enough never to run dry, since
an engine is many times faster than speech, and little to throw away at an interruption."""


@dataclass(frozen=True)
class Position:
    """A place in a text: how far a narration came, and where the next one of the same text can go on."""

    sentence: int = 0
    """Index into the sentences; their number when all have been heard."""
    played_s: float = 0.0
    """Seconds of that sentence that were heard, in this narration."""
    character: int = 0
    """Where in that sentence the word begins that was being spoken: as the engine tells, else estimated, as
    if every character took equally long."""


@dataclass(frozen=True)
class Narrated:
    """What became of a narration."""

    ended: NarrationEnded
    sentences: tuple[str, ...]
    """The text as it was to be spoken, as far as it was known when the narration ended."""
    position: Position
    """Where it would go on: `Narrator.narrate` takes it as ``start``, with the same text."""
    broken_off: str = ""
    """What was heard of the sentence in which it was broken off, to the end of the word; "" between two."""
    error: Exception | None = None
    """Why it failed, as it was raised; the notice of ``ended`` says it in words."""

    @property
    def ending(self) -> NarrationEnding:
        """How it ended."""
        return self.ended.ending


class Narrator:
    """Speaks texts through a `SpeechEngine` and a `Speaker`, one at a time, in the order they came.

    Earcons go through the same speaker, and never at the cost of speech: see `earcon`.
    """

    def __init__(
        self,
        engine: SpeechEngine,
        speaker: Speaker,
        *,
        manner: Manner | None = None,
        longest_sentences: int | None = None,
        earcons: Collection[Earcon] = frozenset(Earcon),
        language: str = "en",
    ) -> None:
        """``longest_sentences`` is what `Excerpt` takes; None speaks every text whole.

        ``language`` is that of the words that stand for what is not read out.
        """
        self.manner = manner or Manner()
        """How fast and how loud; another one holds from the next sentence on."""
        self.on_sentence: Callable[[str | None], None] = _nothing
        """Called with a sentence when it begins to be heard, and with None when nothing is heard any more: at
        the end, and where a text that is being written makes us wait. It must neither raise nor block."""
        self._engine = engine
        self._speaker = speaker
        self._longest_sentences = longest_sentences
        self._earcons = frozenset(earcons)
        self._language = language
        self._turn = anyio.Lock()
        self._engine_turn = anyio.Lock()
        self._speaker_turn = anyio.Lock()
        self._asked: list[_Narration] = []
        self._sentence: str | None = None
        self._last: Narrated | None = None
        self._heard_s = 0.0
        self._earcon_scope: anyio.CancelScope | None = None
        self._earcons_asked = 0

    @property
    def narrating(self) -> bool:
        """Whether a text is being spoken or waits to be."""
        return bool(self._asked)

    @property
    def sentence(self) -> str | None:
        """The sentence that is being heard, None while nothing is."""
        return self._sentence

    @property
    def last(self) -> Narrated | None:
        """What became of the narration that ended last, of those of which anything was heard."""
        return self._last

    @property
    def heard_s(self) -> float:
        """Seconds that were heard of the narration that was over last, be it that it was cancelled."""
        return self._heard_s

    async def narrate(
        self,
        text: str | AsyncIterable[str],
        *,
        start: Position | None = None,
        slowly: bool = False,
        whole: bool = False,
    ) -> Narrated:
        """Speak a text, as an agent wrote or is writing it; returns when the last of it has been heard.

        A text that is being written comes as its parts, in a way that never makes its writer wait: that is
        `Writing`. Each sentence is spoken as soon as it is sure to be one. With ``start``, the position of an
        earlier narration of the same text, it goes on from there, at the beginning of a word; ``slowly`` is
        for what is said again, ``whole`` for what is never shortened: a question has its options at its end.

        Waits for its turn behind earlier texts. A failing engine, speaker or writer is no exception but the
        ending ``failed``, with a sentence that says why, after what could be heard. When the caller is
        cancelled the sound stops.
        """
        narration = _Narration(self, text, start or Position(), slowly=slowly, whole=whole)
        self._asked.append(narration)
        try:
            with narration.scope:
                async with self._turn:
                    await narration.speak()
        finally:
            self._asked.remove(narration)
            self._heard_s = narration.heard_s
        narrated = narration.outcome()
        if narrated.ended.played_s:
            self._last = narrated
        return narrated

    def interrupt(self) -> bool:
        """Stop now: what is spoken, and what waits to be, ends as ``interrupted``.

        Returns whether there was anything to stop. To be called in the event loop's thread; silence follows
        within the 200 ms that a `Speaker` has.
        """
        return self._end(NarrationEnding.INTERRUPTED)

    def supersede(self) -> bool:
        """Stop as `interrupt` does, with the ending ``superseded``: something else matters more now."""
        return self._end(NarrationEnding.SUPERSEDED)

    async def earcon(self, earcon: Earcon) -> bool:
        """Play an earcon, now or never; returns whether it was heard to its end.

        It is dropped while a sentence is heard, which says more than it could, and cut off where a sentence
        begins, which never waits for it. One earcon waits for another; when a third is asked for meanwhile
        the one that waits is dropped, for what it would say is past. A speaker that fails is no exception
        here: the next narration tells.
        """
        self._earcons_asked += 1
        asked = self._earcons_asked
        if earcon not in self._earcons or not self.manner.volume or self._sentence is not None:
            return False
        async with self._speaker_turn:
            if self._sentence is not None or asked != self._earcons_asked:
                return False
            with anyio.CancelScope() as self._earcon_scope:
                try:
                    await self._speaker.play(sound_of(earcon, self.manner.volume))
                except DeviceError:
                    return False
                return True
        return False

    def _end(self, ending: NarrationEnding) -> bool:
        for narration in self._asked:
            narration.end(ending)
        return bool(self._asked)

    async def _render(self, sentence: str, rate: float) -> Sound:
        async with self._engine_turn:
            return await self._engine.render(sentence, rate=rate)

    @asynccontextmanager
    async def _speaker_for(self, sentence: str) -> AsyncIterator[Speaker]:
        """The speaker, for a sentence: an earcon that is being played is cut off."""
        self._tell(sentence)
        if self._earcon_scope is not None:
            self._earcon_scope.cancel()
        async with self._speaker_turn:
            yield self._speaker

    def _tell(self, sentence: str | None) -> None:
        if sentence != self._sentence or sentence is not None:
            self._sentence = sentence
            self.on_sentence(sentence)


def _nothing(_sentence: str | None) -> None:
    pass


async def rendered(
    text: str, engine: SpeechEngine, manner: Manner | None = None, language: str = "en"
) -> Sound:
    """All of a text as one sound, for a file; no samples where there is nothing to say.

    Raises `SpeechEngineError`.
    """
    manner = manner or Manner()
    sounds = [await engine.render(sentence, rate=manner.rate) for sentence in speakable(text, language)]
    if not sounds:
        return Sound(np.zeros(0, np.int16), SAMPLE_RATE)
    return Sound(np.concatenate([sound.samples for sound in sounds]), sounds[0].rate).scaled(manner.volume)


@dataclass(frozen=True)
class _Made:
    """A sentence that is ready to be heard."""

    index: int
    """Of the sentence; for what is said instead of the rest, of the first sentence of that rest."""
    text: str
    """What is heard: from its beginning, or from where an earlier narration came to."""
    character: int
    """Where in the whole sentence that begins."""
    after: int
    """The index at which a narration would go on when this has been heard."""
    rate: float
    sound: Sound


class _Narration:
    """One text on its way."""

    def __init__(
        self,
        narrator: Narrator,
        text: str | AsyncIterable[str],
        start: Position,
        *,
        slowly: bool,
        whole: bool,
    ) -> None:
        self.scope = anyio.CancelScope()
        self._narrator = narrator
        self._source = text
        self._start = start
        self._slowly = slowly
        self._longest_sentences = None if whole else narrator._longest_sentences
        self._text = [text] if isinstance(text, str) else []
        self._sentences: list[str] = []
        self._ending: NarrationEnding | None = None
        self._notice = ""
        self._error: Exception | None = None
        self._before_s = 0.0
        self._broken_off = ""
        self._position = Position(start.sentence, 0.0, start.character)

    def end(self, ending: NarrationEnding) -> None:
        """End it early; the first ending stands."""
        if self._ending is None:
            self._ending = ending
            self.scope.cancel()

    def outcome(self) -> Narrated:
        assert self._ending is not None, "a narration that was not cancelled has an ending"
        ended = NarrationEnded("".join(self._text), self._ending, self.heard_s, self._notice)
        broken_off = self._broken_off if self._ending is not NarrationEnding.COMPLETED else ""
        return Narrated(ended, tuple(self._sentences), self._position, broken_off, self._error)

    @property
    def heard_s(self) -> float:
        """Seconds that were heard of it."""
        return self._before_s + self._position.played_s

    async def speak(self) -> None:
        send, receive = anyio.create_memory_object_stream[_Made | Exception](_AHEAD)
        with send, receive:
            try:
                async with anyio.create_task_group() as group:
                    group.start_soon(self._make, send)
                    try:
                        await self._hear_all(receive)
                    except _Failure as failure:
                        self._ending, self._notice = NarrationEnding.FAILED, failure.sentence
                        self._error = failure.error
                    else:
                        self._ending = NarrationEnding.COMPLETED
                    group.cancel_scope.cancel()
            finally:
                self._narrator._tell(None)

    # --- Making ---

    @property
    def _rate(self) -> float:
        manner = self._narrator.manner
        return (manner.slowly() if self._slowly else manner).rate

    async def _make(self, send: MemoryObjectSendStream[_Made | Exception]) -> None:
        """Make the sounds; an error waits in the queue like a sound, so that what came before it is heard."""
        with send:
            try:
                await self._make_all(send)
            except Exception as error:
                await send.send(error)

    async def _make_all(self, send: MemoryObjectSendStream[_Made | Exception]) -> None:
        language = self._narrator._language
        excerpt = Excerpt(self._longest_sentences, self._start.sentence, language)

        async def make(sentences: Iterable[Sentence]) -> None:
            for sentence in sentences:
                self._sentences.append(sentence.text)
                for index in excerpt.take(sentence):
                    begins = self._start.character if index == self._start.sentence else 0
                    await self._make_one(send, index, sentence.text[begins:], begins, index + 1)

        if isinstance(self._source, str):
            await make(sentences_of(self._source, language))
        else:
            reading = SpeakableStream(language)
            async for part in self._source:
                self._text.append(part)
                await make(reading.push(part))
            await make(reading.end())
        for index, text, after in excerpt.end("".join(self._text)):
            begins = self._start.character if index == self._start.sentence else 0
            await self._make_one(send, index, text[begins:], begins, after)

    async def _make_one(
        self,
        send: MemoryObjectSendStream[_Made | Exception],
        index: int,
        text: str,
        character: int,
        after: int,
    ) -> None:
        rate = self._rate
        sound = await self._narrator._render(text, rate)
        await send.send(_Made(index, text, character, after, rate, sound))

    # --- Hearing ---

    async def _hear_all(self, receive: MemoryObjectReceiveStream[_Made | Exception]) -> None:
        with suppress(anyio.EndOfStream):
            while True:
                try:
                    made = receive.receive_nowait()
                except anyio.WouldBlock:
                    self._narrator._tell(None)
                    made = await receive.receive()
                if isinstance(made, Exception):
                    raise _Failure(made) from made
                await self._hear(made)

    async def _hear(self, made: _Made) -> None:
        sound = made.sound
        try:
            if made.rate != self._rate:  # it was changed meanwhile
                sound = await self._narrator._render(made.text, self._rate)
            if len(sound.samples):
                await self._play(made, sound)
        except Exception as error:
            raise _Failure(error) from error
        self._broken_off = ""
        self._before_s += sound.duration_s
        self._position = Position(made.after)

    async def _play(self, made: _Made, sound: Sound) -> None:
        async with self._narrator._speaker_for(made.text) as speaker:
            try:
                await speaker.play(sound.scaled(self._narrator.manner.volume))
            finally:
                heard_s = speaker.played_s
                rest = made.after == made.index  # was told, and is no sentence of the text
                at = word_at(made.text, sound, heard_s)
                self._position = Position(made.index, heard_s, 0 if rest else made.character + at)
                end = made.text.find(" ", at)
                self._broken_off = made.text[: end if end >= 0 else None] if heard_s else ""


class _Failure(Exception):
    """The engine, the speaker or the writer failed, with an error of the port or, in breach of it, any."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error
        named = isinstance(error, VoiceError)
        self.sentence = str(error) if named else f"Narration failed: {type(error).__name__}: {error}"


def word_at(text: str, sound: Sound, heard_s: float) -> int:
    """Where the word begins that is being spoken when so much of the sound has been heard."""
    told = [character for begins_s, character in sound.words if begins_s <= heard_s]
    if told:
        return told[-1]
    at = min(int(len(text) * heard_s / sound.duration_s), len(text) - 1)
    return text.rfind(" ", 0, at + 1) + 1
