"""Does what was transcribed become a message? Transcripts in; the words, and what was thrown away, out.

The real gate stands before Whisper: only what the detector calls speech is transcribed. This is the net
behind it, for the texts that Whisper makes up when a sound is like speech and holds no words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from voice.events import DiscardReason
from voice.ports import Transcript

NO_SPEECH_LIMIT = 0.8
"""A text with a higher probability of no speech is made up. Whisper's own 0.6 dropped 16 of 586 short human
replies."""

COMPRESSION_LIMIT = 2.4
"""A text that compresses better repeats itself: the threshold of Whisper's reference implementation. People
repeat themselves too ("stop, stop, stop"); made up is what does so and comes to no end."""

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


def judge(transcripts: Iterable[Transcript]) -> Judgement:
    """Judge the pieces of one utterance, each by itself, and join what is kept."""
    kept: list[str] = []
    rejected: list[Rejected] = []
    for transcript in transcripts:
        text = clean(transcript.text)
        reason = _reason_against(transcript, text)
        if reason is None:
            kept.append(text)
        else:
            rejected.append(Rejected(reason, text))
    return Judgement(_joined(kept), tuple(rejected))


def clean(text: str) -> str:
    """One line, without control and format characters, with single spaces."""
    visible = "".join(" " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char for char in text)
    return " ".join("".join(char for char in visible if unicodedata.category(char) != "Cf").split())


def _joined(pieces: list[str]) -> str:
    """The pieces as one text.

    Whisper ends each with a full stop; where the next one begins in lower case the sentence goes on.
    """
    text = ""
    for piece in pieces:
        if piece[0].islower() and text.endswith(".") and not text.endswith(".."):
            text = text[:-1]
        text = f"{text} {piece}" if text else piece
    return text


def _reason_against(transcript: Transcript, text: str) -> DiscardReason | None:
    if not _WORD.search(_ASIDE.sub("", text)):
        return DiscardReason.NO_WORDS
    silent = transcript.no_speech_probability >= NO_SPEECH_LIMIT
    loops = transcript.ran_on and transcript.compression_ratio > COMPRESSION_LIMIT
    return DiscardReason.PHANTOM if silent or loops else None
