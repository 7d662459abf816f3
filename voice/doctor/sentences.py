"""The sentence that is spoken and heard again, and whether it came back. Pure."""

from __future__ import annotations

from difflib import SequenceMatcher

from voice.wording import words

SENTENCES = {
    "en": "I would like to use the second one, please.",
    "de": "Ich möchte bitte die zweite davon nehmen.",
}
"""By the language: what Whisper's smallest models understand of eSpeak's voice."""

COMES_BACK = 0.6
"""So large a share of the words, in their order, must come back: a small model mishears a synthetic voice now
and then, and something else than what was said has next to none of them."""


def sentence_for(spoken: str, heard: str) -> str | None:
    """What is spoken in one language and heard in another; None where they are not one, or none of ours."""
    language = spoken.partition("-")[0]
    return SENTENCES.get(language) if language == heard else None


def share_back(said: str, text: str) -> float:
    """The share of the words that came back, 0 to 1."""
    expected, found = words(said), words(text)
    pairs = SequenceMatcher(None, expected, found, autojunk=False).get_matching_blocks()
    return sum(pair.size for pair in pairs) / len(expected)
