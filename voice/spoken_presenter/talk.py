"""What the parts of a spoken interview share: what is said, what comes back, and what is done with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from questionnaire import Input, Interview, Provenance, Shown
from voice.errors import VoiceError
from voice.events import NarrationEnding, UserMessage
from voice.phrases import said
from voice.wording import find, words

SURFACE = "voice"
"""The name of this surface in the provenance of its answers."""

ASKED_AGAIN = 2
"""So often an unclear reply is answered with what is possible; then the person knows it."""


@dataclass(frozen=True)
class Again:
    """A reply: what is asked is to be said once more, all of it."""

    slowly: bool = False


class Ear(Protocol):
    """The session, as this presenter sees it."""

    @property
    def now_s(self) -> float:
        """Seconds of audio time, as in `voice.events`."""
        ...

    async def say(
        self, text: str, *, options: Sequence[str] = (), repeats: bool = True, slowly: bool = False
    ) -> NarrationEnding:
        """Narrate a text and return how that ended; when cancelled, the sound stops.

        ``options`` are the labels of what can be chosen in reply. Unless it ``repeats`` it is a remark on
        what was asked: that, and not the remark, is repeated where nobody answers. Raises `VoiceError` where
        Voice is off.
        """
        ...

    def takes_own_words(self, on: bool) -> None:
        """Whether what is said next is the answer itself, in whatever words."""
        ...

    def discard(self, reply: UserMessage) -> None:
        """Show that a reply is taken for no answer, since it began before what is asked now."""
        ...

    def replies(self) -> AbstractContextManager[AsyncIterator[UserMessage | Again]]:
        """During the block what is said, and sent from the input line, comes here and not to the agent.

        The replies end where no more can come.
        """
        ...


class Talk:
    """One interview, and the air between the person and us."""

    def __init__(
        self,
        interview: Interview,
        ear: Ear,
        replies: AsyncIterator[UserMessage | Again],
        language: str,
        clock: Callable[[], float],
        answers_in: str = "",
    ) -> None:
        self.interview = interview
        self.language = language
        """In which we speak."""
        self.answers_in = answers_in or language
        """In which what is said is transcribed."""
        self.options: tuple[str, ...] = ()
        """The labels of what can be chosen in reply to what is asked now."""
        self.shown_any = False
        self._own_words = False
        self._ear = ear
        self._replies = replies
        self._clock = clock
        self._asked_at_s = 0.0
        self._spoken_until_s = 0.0
        self._said_last = ""
        self._unsettled: UserMessage | None = None
        """A reply of which nothing has been made yet."""

    def begin(self) -> None:
        """Ask something new: what began before now is no reply to it."""
        self._asked_at_s = self._ear.now_s

    async def reply(self) -> UserMessage | Again:
        """The next reply to what is asked now. Raises `VoiceError` where none can come any more."""
        async for reply in self._replies:
            if isinstance(reply, Again):
                return reply
            if self._ear.now_s < self._asked_at_s:  # Voice was started anew, and its time with it
                self._asked_at_s = self._spoken_until_s = 0.0
            if _began_s(reply) >= self._asked_at_s:
                self._unsettled = reply
                return reply
            self.discard(reply)
        raise VoiceError("Voice ended before the question was answered.")

    def discard(self, reply: UserMessage) -> None:
        """Show that a reply is no answer, since it came before what is asked now had been told."""
        self.settle()
        self._ear.discard(reply)

    def settle(self) -> None:
        """The last reply is an answer, or the person is told what it is instead."""
        self._unsettled = None

    def let_go(self) -> None:
        """What was being asked is over: a reply of which nothing was made is shown as no answer."""
        if self._unsettled is not None:
            self.discard(self._unsettled)

    def takes_own_words(self, on: bool) -> None:
        """Whether what is said next is the answer itself, in whatever words."""
        self._own_words = on
        self._ear.takes_own_words(on)

    async def ask(self, *parts: str, slowly: bool = False) -> bool:
        """Narrate what is asked, as `say` does a remark on it."""
        return await self._narrate(parts, repeats=True, slowly=slowly)

    async def say(self, *parts: str) -> bool:
        """Narrate, and return whether it came to its end. Raises `VoiceError` where nothing can be heard."""
        return await self._narrate(parts, repeats=False)

    async def _narrate(self, parts: tuple[str, ...], *, repeats: bool, slowly: bool = False) -> bool:
        text = " ".join(filter(None, parts))
        if not text:
            return True
        self._said_last = text
        options = () if self._own_words else self.options
        unsettled = self._unsettled
        self.settle()  # by what is said now, which is written at once, also where its sound is cut short
        try:
            ending = await self._ear.say(text, options=options, repeats=repeats, slowly=slowly)
        except VoiceError:
            self._unsettled = unsettled
            raise
        self._spoken_until_s = self._ear.now_s
        if ending is NarrationEnding.FAILED:
            raise VoiceError("The question could not be spoken.")
        return ending is NarrationEnding.COMPLETED

    def began_over_us(self, reply: UserMessage) -> bool:
        """Whether a reply began while we were still speaking."""
        return _began_s(reply) < self._spoken_until_s

    def repeats_us(self, reply: UserMessage) -> bool:
        """Whether a reply that began over us is nothing but words of ours in their order."""
        return self.began_over_us(reply) and find(words(reply.text), words(self._said_last)) >= 0

    def shown(self, index: int | None, without: tuple[str, ...] = ()) -> None:
        """Note that it was narrated."""
        self.shown_any = True
        self.interview.send(Shown(self._clock(), index, without))

    def by(self, means: Input) -> Provenance:
        """Where an answer comes from."""
        return Provenance(SURFACE, means, self._clock())

    def said(self, name: str, **values: object) -> str:
        """A sentence of our own."""
        return said(self.language, name, **values)


def _began_s(reply: UserMessage) -> float:
    return reply.heard.start_s if reply.heard else reply.at_s
