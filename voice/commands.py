"""Spoken controls: which whole utterance is a command. Pure.

A phrase counts when it is all that was said, filler ("um, please …, thanks") and repetition ("stop, stop!")
aside; inside a longer reply it is part of the reply. The phrases of a language are data (`voice.phrases`).

    controls = Controls("en", settings.controls.phrases, settings.controls.end_word)
    if heard := controls.command_in("Okay, stop talking, please."):
        obey(heard.command)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from voice.phrases import phrases_of
from voice.wording import distance, find, located_words, words

_PAUSES = ",.;:!?-\N{EN DASH}\N{EM DASH}\N{HORIZONTAL ELLIPSIS}"
"""How a transcriber writes that somebody paused."""
_LEADS_ON = " \t\n,;:-\N{EN DASH}\N{EM DASH}\N{HORIZONTAL ELLIPSIS}"
LONGEST_FILLER = 4
"""So many words of filler, at most, stand around a command: with more of them somebody is talking."""
LONGEST_REMAINDER = 2
"""So many words that are neither ours nor filler, at most, stand around a stop that is heard through our own
narration: what Whisper makes of two voices at once is not clean, and a whole sentence is no command."""


class Command(StrEnum):
    """What can be said to the session itself, and never reaches the agent."""

    STOP_VOICE = "stop_voice"
    PAUSE = "pause"
    WAKE = "wake"
    REPEAT = "repeat"
    REPEAT_SLOWLY = "repeat_slowly"
    STOP_TALKING = "stop_talking"
    GO_ON = "go_on"
    SCRATCH = "scratch"
    SEND = "send"
    READ_BACK = "read_back"
    LOUDER = "louder"
    QUIETER = "quieter"
    FASTER = "faster"
    SLOWER = "slower"


STOPS = frozenset({Command.STOP_TALKING, Command.STOP_VOICE})
"""The commands that have a path of their own, and are heard while we speak."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A command that was said."""

    command: Command
    phrase: str
    """The phrase that was recognised, in small letters."""


class Controls:
    """The spoken controls of one language, as they are configured.

    ``phrases`` stand instead of the language's own for their commands; none switches that command off.
    ``end_word`` is what ends a turn where one is configured. Immutable.
    """

    def __init__(
        self,
        language: str = "en",
        phrases: Mapping[Command, Sequence[str]] | None = None,
        end_word: str | None = None,
    ) -> None:
        own = phrases_of(language)
        self._phrases = _compiled(own.get("commands", {}), phrases or {})
        around, listening = own.get("around", {}), own.get("listening", {})
        self._filler = _by_length(around.get("filler", ()))
        self._negation = _by_length(around.get("negation", ()))
        self._backchannels = _by_length(listening.get("backchannels", ()))
        self._end_word = words(end_word or "")
        self._sends = [phrase for phrase, command in self._phrases if command is Command.SEND]

    def command_in(self, text: str, among: Collection[Command] = frozenset(Command)) -> Spoken | None:
        """The command that an utterance is, None where it is none.

        ``among`` are the commands that mean something now: "go on" is one only while there is something to go
        on with, and else an answer like any other.
        """
        said = words(text)
        for phrase, command in self._phrases:
            if command in among and self._is(phrase, said):
                return Spoken(command, " ".join(phrase))
        return None

    def stop_phrase_in(self, text: str, spoken_now: str = "") -> Spoken | None:
        """The stop in what was heard, None where there is none.

        ``spoken_now`` is what we are saying ourselves (the sentence, and the one before it where that has
        only just ended): its words may stand around the phrase, and a phrase that is itself in them is ours.
        While we say nothing a stop is a whole utterance, like every command.
        """
        ours = words(spoken_now)
        if not ours:
            return self.command_in(text, STOPS)
        heard = words(text)
        for phrase, command in self._phrases:
            if command not in STOPS or _says(ours, phrase):
                continue
            at = find(phrase, heard)
            while at >= 0:
                before, after = heard[:at], heard[at + len(phrase) :]
                if (
                    not self._negated(before)
                    and self._remainder(before + after, ours, phrase) <= LONGEST_REMAINDER
                ):
                    return Spoken(command, " ".join(phrase))
                at = find(phrase, heard, at + 1)
        return None

    @property
    def shortest_stop(self) -> str:
        """What a transcriber that listens for a stop is told to expect; "" where there is none."""
        stops = [" ".join(phrase) for phrase, command in self._phrases if command in STOPS]
        return min(stops, key=lambda phrase: len(phrase.split()), default="")

    def is_backchannel(self, text: str) -> bool:
        """Whether all that was said is a sign of listening ("mm-hm"); to be asked only while we narrate."""
        said: Sequence[str] = words(text)
        if not said or len(said) > LONGEST_FILLER:
            return False
        while said:
            begun = next((phrase for phrase in self._backchannels if _starts(said, phrase)), None)
            if begun is None:
                return False
            said = said[len(begun) :]
        return True

    def without_end_word(self, text: str) -> str | None:
        """The text before the end word (or "send it"), where one is configured and was said last; else None.

        The text is as it was written, without the comma that led to the word; empty where nothing else was
        said. Before "send it" there has to be a pause, so that "write the mail and send it" goes on.
        """
        if not self._end_word:
            return None
        located = located_words(text)
        said = tuple(word.text for word in located)
        for phrase in (self._end_word, *self._sends):
            before = len(said) - len(phrase)
            if before < 0 or said[before:] != phrase:
                continue
            gap = text[located[before - 1].end : located[before].start] if before else _PAUSES
            if phrase == self._end_word or any(mark in gap for mark in _PAUSES):
                return text[: located[before].start].rstrip(_LEADS_ON)
        return None

    def _is(self, phrase: Sequence[str], said: Sequence[str]) -> bool:
        """Whether ``said`` is the phrase, once or several times, with filler before, between and after."""
        places, after_one = self._past_filler(said, {(0, 0)}), set[tuple[int, int]]()
        while places:
            ends = {(at + len(phrase), used) for at, used in places if _starts(said[at:], phrase)}
            places = self._past_filler(said, ends) - after_one
            after_one |= places
        return any(at == len(said) for at, _ in after_one)

    def _past_filler(self, said: Sequence[str], places: set[tuple[int, int]]) -> set[tuple[int, int]]:
        """These places, and those behind any filler that begins there, each with the filler used so far."""
        found, new = set[tuple[int, int]](), places
        while new:
            found |= new
            new = {
                (at + len(filler), used + len(filler))
                for at, used in new
                for filler in self._filler
                if used + len(filler) <= LONGEST_FILLER and _starts(said[at:], filler)
            } - found
        return found

    def _negated(self, before: Sequence[str]) -> bool:
        return any(before[-len(negation) :] == negation for negation in self._negation)

    def _remainder(self, said: Sequence[str], ours: Sequence[str], phrase: Sequence[str]) -> int:
        """How many words are neither ours nor filler nor the phrase once more."""
        filler = {word for words_ in self._filler for word in words_} | set(phrase)
        return sum(word not in filler and not any(_alike(word, own) for own in ours) for word in said)


def _compiled(
    own: Mapping[str, Sequence[str]], instead: Mapping[Command, Sequence[str]]
) -> list[tuple[tuple[str, ...], Command]]:
    """The phrases as words, the longest first: "say that again slowly" before "say that again"."""
    said = {**{Command(name): phrases for name, phrases in own.items()}, **instead}
    pairs = [(words(phrase), command) for command, phrases in said.items() for phrase in phrases]
    return sorted((pair for pair in pairs if pair[0]), key=lambda pair: -len(pair[0]))


def _by_length(phrases: Iterable[str]) -> list[tuple[str, ...]]:
    return sorted(filter(None, map(words, phrases)), key=len, reverse=True)


def _starts(said: Sequence[str], phrase: Sequence[str]) -> bool:
    return tuple(said[: len(phrase)]) == tuple(phrase)


def _says(ours: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether we say the phrase, or a form of it: "stopped" may be heard as "stop"."""
    return any(
        all(own.startswith(word) for own, word in zip(ours[at:], phrase, strict=False))
        for at in range(len(ours) - len(phrase) + 1)
    )


def _alike(word: str, own: str) -> bool:
    """Whether one word may have been heard as the other: a letter in four may differ."""
    limit = max(len(word), len(own)) // 4
    return word == own or (limit > 0 and distance(word, own, limit) <= limit)
