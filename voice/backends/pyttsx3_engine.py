"""Speech from pyttsx3, made in a child process (`voice.backends.pyttsx3_worker`) and never played there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from voice.audio import SAMPLE_RATE, Sound
from voice.backends.pyttsx3_worker import EngineMissing, Pyttsx3Missing, Voice
from voice.backends.worker import Message, Worker, WorkerDied, WorkerFailed
from voice.errors import SpeechEngineDied, SpeechEngineError, SpeechEngineMissing
from voice.speaking.manner import FASTEST, SLOWEST
from voice.speaking.speakable import MAX_SENTENCE

_ATTEMPTS = 2
_ANSWER_WITHIN_S = 5.0
_CHARACTER_WITHIN_S = 0.005
"""Time limits for any answer, and more for each character. They are there for an engine that goes round
without end: a sentence takes 10 to 100 ms."""

_LETTER_S = 0.02
"""Seconds of speech for a letter or digit at rate 1, at least: eSpeak took 0.038 for "the the the", the
shortest of everything tried in three languages."""
_LONG_WORD = 20
"""Letters of one word that are counted: of words longer than any, eSpeak leaves some out."""

_ON_LINUX = sys.platform == "linux"


@dataclass(frozen=True)
class EngineDescription:
    """What speaks: ``str`` of it is a line for a person."""

    pyttsx3: str
    """Its version."""
    engine: str
    """The engine below it, with its version where it tells."""
    voices: tuple[Voice, ...]

    def __str__(self) -> str:
        return f"pyttsx3 {self.pyttsx3}, {self.engine}, {len(self.voices)} voices"


class Pyttsx3Engine:
    """A `SpeechEngine` over pyttsx3; an async context manager that ends its child process.

    The child is started by the first request, and again by the next one after it has died or was killed.
    """

    def __init__(
        self,
        *,
        voice: str | None = None,
        language: str = "en",
        on_notice: Callable[[str], None] | None = None,
    ) -> None:
        """``voice`` is an id or a name, as `describe` lists them; None takes one for ``language``.

        That is a tag such as ``en`` or ``pt-br``. ``on_notice`` is given each of the `notices` when it comes.
        """
        self._settings = {"voice": voice, "language": language}
        self._worker = Worker("voice.backends.pyttsx3_worker")
        self._notices: list[str] = []
        self._on_notice = on_notice
        self._closed = False

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know, each once: another voice speaks, a text has no sound."""
        return tuple(self._notices)

    @property
    def pid(self) -> int | None:
        """The child's process id, None while there is none."""
        return self._worker.pid

    async def __aenter__(self) -> Pyttsx3Engine:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the child process, also in the middle of a request, which then fails; for good."""
        self._closed = True
        await self._worker.close()

    async def render(self, sentence: str, *, rate: float = 1.0) -> Sound:
        """The sound of one sentence of at most `MAX_SENTENCE` characters; empty where it has none ("?!").

        ``rate`` is a factor, `SLOWEST` to `FASTEST`; 1 is 200 words a minute. Raises `SpeechEngineMissing`,
        or `SpeechEngineDied` after a second child has not done it either; `ValueError` for a longer text or
        a rate out of bounds.
        """
        if not SLOWEST <= rate <= FASTEST:
            raise ValueError(f"a rate of {rate:g}; it can be {SLOWEST:g} to {FASTEST:g}")
        if len(sentence) > MAX_SENTENCE:
            raise ValueError(f"a sentence of {len(sentence)} characters; {MAX_SENTENCE} are possible")
        # The engine takes a NUL for the end; nothing unprintable has any business there.
        text = "".join(character if character.isprintable() else " " for character in sentence)
        if not text.strip():
            return Sound(np.zeros(0, np.int16), SAMPLE_RATE)
        within_s = _ANSWER_WITHIN_S + _CHARACTER_WITHIN_S * len(text)
        asked: dict[str, object] = {"do": "render", "rate": rate, **self._settings}
        reply, samples = await self._ask(asked, text.encode(), within_s)
        if 0 < len(samples) < 2 * reply["rate"] * least_s(text, rate):
            # A part of it was skipped, or this is speech like no other: a new engine will tell.
            await self._worker.kill()
            reply, samples = await self._ask(asked, text.encode(), within_s)
        if (notice := reply["notice"]) and notice not in self._notices:
            self._notices.append(notice)
            if self._on_notice is not None:
                self._on_notice(notice)
        words = word_starts(reply["words"], sentence)
        return Sound(np.frombuffer(samples, np.dtype("<i2")).astype(np.int16), reply["rate"], words)

    async def describe(self) -> EngineDescription:
        """What speaks and which voices it has; raises as `render` does."""
        reply, _ = await self._ask({"do": "describe"}, b"", _ANSWER_WITHIN_S)
        voices = tuple(Voice(id_, name, tuple(languages)) for id_, name, languages in reply["voices"])
        return EngineDescription(reply["pyttsx3"], reply["engine"], voices)

    async def _ask(self, header: dict[str, object], payload: bytes, within_s: float) -> Message:
        why = ""
        for _ in range(_ATTEMPTS):
            if self._closed:
                raise SpeechEngineDied("The speech engine has been closed.")
            try:
                return await self._worker.request(header, payload, within_s=within_s)
            except WorkerDied as death:
                why = f"{death}: {death.last_words.splitlines()[-1]}" if death.last_words else str(death)
            except WorkerFailed as failure:
                # Whatever went wrong in there, pyttsx3's run loop may be stuck in it: only a new one will do.
                await self._worker.kill()
                if failure.kind in _MISSING:
                    raise _missing(failure) from None
                why = failure.sentence
        raise SpeechEngineDied(f"The speech engine does not speak ({why}).", mend="voice doctor")


def least_s(text: str, rate: float) -> float:
    """A sound of so many seconds may be the whole of a text; a shorter one is not plausible."""
    letters = sum(min(sum(c.isalnum() for c in word), _LONG_WORD) for word in text.split())
    return letters * _LETTER_S / rate


def word_starts(told: Iterable[tuple[float, int]], text: str) -> tuple[tuple[float, int], ...]:
    """Where the words between spaces begin, of the parts that eSpeak tells ("1,234" is four, "a_b" two).

    ``told`` are seconds and characters, in the order in which they are spoken; so is what is returned. Some
    milliseconds of disorder, which eSpeak has when it speaks fast, are taken out.
    """
    starts: dict[int, float] = {}
    now_s, here = 0.0, 0
    for begins_s, character in told:
        now_s, here = max(begins_s, now_s), max(text.rfind(" ", 0, character) + 1, here)
        starts.setdefault(here, now_s)
    return tuple((begins_s, start) for start, begins_s in starts.items())


_MISSING = (Pyttsx3Missing.__name__, EngineMissing.__name__)


def _missing(failure: WorkerFailed) -> SpeechEngineError:
    if failure.kind == Pyttsx3Missing.__name__:
        packages = "pyttsx3 espeakng-loader" if _ON_LINUX else "pyttsx3"
        return SpeechEngineMissing(
            f"pyttsx3 cannot be loaded ({failure.sentence}).", mend=f"pip install {packages}"
        )
    if _ON_LINUX:
        return SpeechEngineMissing(
            f"pyttsx3 finds no eSpeak NG ({failure.sentence}).",
            mend="pip install espeakng-loader (or: apt install libespeak-ng1)",
        )
    return SpeechEngineMissing(
        f"pyttsx3 finds no speech engine ({failure.sentence}).", mend="pip install --force-reinstall pyttsx3"
    )
