"""Does what was transcribed become a message? Transcripts in; the words, and what was thrown away, out.

The real gate stands before Whisper: only what the detector calls speech is transcribed. This is the net
behind it, for the texts that Whisper makes up when a sound is like speech and holds no words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from voice.events import DiscardReason
from voice.listening.pieces import Evidence
from voice.ports import Transcript
from voice.wording import located_words, words

NO_SPEECH_LIMIT = 0.8
"""A text with a higher probability of no speech is made up. Whisper's own 0.6 dropped 16 of 586 short human
replies."""

COMPRESSION_LIMIT = 2.4
"""A text that compresses better repeats itself: the threshold of Whisper's reference implementation. People
repeat themselves too ("stop, stop, stop"); made up is what does so and comes to no end."""

DOUBTFUL_NO_SPEECH = 0.6
"""From this probability on a text that Whisper likes to make up is made up: it gave real ones of that kind
("thank you", "you", "bye") up to 0.54, and sounds without words 0.67 to 0.95."""

DOUBTFUL_LOG_PROBABILITY = -1.5
"""The same for a log probability below this: of a real "you" it was -1.38."""

SURE_LOG_PROBABILITY = -0.6
"""One name that the transcriber was told, and nothing else, is kept from here on up to `NO_SPEECH_LIMIT`.
Told four options base gave real answers ("yes", "help", "go") a probability of no speech up to 0.64, of these
none below -0.56. What it made up of 43 sounds without words was several of the names, and below -0.63.
tiny.en made one name alone of 270 stretches of noise, at -2.17."""

FASTEST_LETTERS = 30.0
"""Nobody says more letters in a second of what the detector calls speech; a "thanks for watching" has 19."""

SLOWEST_LETTERS = 2.5
LONG_S = 1.5
"""And of so much speech no less than this a second comes: a sound of 3 s is no "you"."""

LOOP_LONGEST = 6
LOOP_TIMES = 4
"""So many words, at most, said so often in a row or more, are a loop where the text came to no end."""

_WORD = re.compile(r"\w")
_ASIDE = re.compile(r"\[[^\]]*\]|\([^)]*\)|[♪♫]+")
"""What Whisper writes of sounds that are not words: [Music], (coughs), ♪."""


@dataclass(frozen=True)
class Rejected:
    """A piece that does not become part of a message, and why."""

    reason: DiscardReason
    text: str


@dataclass(frozen=True)
class Judgement:
    """What is left of an utterance."""

    text: str
    """The words, "" where there are none."""
    rejected: tuple[Rejected, ...]


@dataclass(frozen=True)
class Piece:
    """What there is to be judged of one piece of an utterance."""

    transcript: Transcript
    evidence: Evidence | None = None
    """What the detector found in it; None where nobody knows."""
    vocabulary: Sequence[str] = ()
    """The names that the transcriber was told."""


def judge(pieces: Iterable[Piece], phantoms: Collection[str] = ()) -> Judgement:
    """Judge the pieces of one utterance, each by itself, and join what is kept.

    ``phantoms`` are the texts that the transcriber likes to make up, as their words are compared.
    """
    kept: list[str] = []
    rejected: list[Rejected] = []
    for piece in pieces:
        text = clean(piece.transcript.text)
        if piece.transcript.ran_on:
            text = unlooped(text)
        reason = _reason_against(piece, text, phantoms)
        if reason is None:
            kept.append(text)
        else:
            rejected.append(Rejected(reason, text))
    return Judgement(joined(kept), tuple(rejected))


def clean(text: str) -> str:
    """One line, without control and format characters, with single spaces."""
    visible = "".join(" " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char for char in text)
    return " ".join("".join(char for char in visible if unicodedata.category(char) != "Cf").split())


def joined(pieces: Sequence[str]) -> str:
    """The pieces of a text as one.

    Whisper ends each with a full stop; where the next one begins in lower case the sentence goes on.
    """
    text = ""
    for piece in pieces:
        if piece[0].islower() and text.endswith(".") and not text.endswith(".."):
            text = text[:-1]
        text = f"{text} {piece}" if text else piece
    return text


def unlooped(text: str) -> str:
    """A text with what repeats itself in it said once; "" where there is nothing else in it.

    For a text that came to no end by itself. Digits and letters are left: people spell "0 0 0 0".
    """
    heard = located_words(text)
    for length in range(1, LOOP_LONGEST + 1):
        for at in range(len(heard) - length):
            part = [word.text for word in heard[at : at + length]]
            times = 1
            while [word.text for word in heard[at + times * length :][:length]] == part:
                times += 1
            if times < LOOP_TIMES or all(len(word) == 1 or word.isdigit() for word in part):
                continue
            rest = heard[at + times * length :]
            if at == 0 and len(rest) <= length:
                return ""  # its end may be cut in the middle of one
            once = text[: heard[at + length - 1].end]
            goes_on = len(rest) > length
            return unlooped(f"{once} {text[rest[0].start :]}" if goes_on else f"{once}.")
    return text


def _reason_against(piece: Piece, text: str, phantoms: Collection[str]) -> DiscardReason | None:
    transcript = piece.transcript
    if not _WORD.search(_ASIDE.sub("", text)):
        # What was nothing but a loop had words, of a sort.
        had_words = transcript.ran_on and _WORD.search(transcript.text) is not None
        return DiscardReason.PHANTOM if had_words else DiscardReason.NO_WORDS
    silent = transcript.no_speech_probability >= NO_SPEECH_LIMIT
    loops = transcript.ran_on and transcript.compression_ratio > COMPRESSION_LIMIT
    looped = loops and text == clean(transcript.text)
    liked = " ".join(words(text)) in phantoms or _recited(text, piece.vocabulary)
    return DiscardReason.PHANTOM if silent or looped or (liked and _doubtful(piece, text)) else None


def _recited(text: str, vocabulary: Sequence[str]) -> bool:
    """Whether it is nothing but names that the transcriber was told."""
    told = {word for name in vocabulary for word in words(name)}
    return bool(told) and set(words(text)) <= told | {"glossary"}


def _doubtful(piece: Piece, text: str) -> bool:
    """Whether the sound does not bear out a text that is easily made up."""
    transcript, evidence = piece.transcript, piece.evidence
    one_name = words(text) in {words(name) for name in piece.vocabulary}
    sure = one_name and transcript.average_log_probability >= SURE_LOG_PROBABILITY
    like_silence = transcript.no_speech_probability >= DOUBTFUL_NO_SPEECH and not sure
    unsure = like_silence or transcript.average_log_probability < DOUBTFUL_LOG_PROBABILITY
    if unsure or evidence is None:
        return unsure
    letters = len("".join(words(text)))
    too_fast = letters > FASTEST_LETTERS * evidence.speech_s
    return too_fast or (evidence.speech_s >= LONG_S and letters < SLOWEST_LETTERS * evidence.speech_s)
