"""What was spelled: digits and letters, for programs that know that they asked for them."""

from __future__ import annotations

from voice.spoken_answers.lexicon import lexicon_of
from voice.wording import words


def spoken_digits(text: str, language: str = "en") -> str:
    """The digits that were spelled, "" where anything else was said: "4, 2. 7-1", "four two 71" are 4271."""
    lexicon = lexicon_of(language)
    spelled, times, sure = "", 1, False
    # "Oh" is a sigh before digits, and a zero behind them.
    for word in lexicon.bare(words(text), keep_last=lexicon.zero):
        if word in lexicon.times and times == 1:
            times = lexicon.times[word]
            continue
        digits = lexicon.digits(word)
        if digits is None or (times > 1 and len(digits) > 1):
            return ""
        spelled, times = spelled + digits * times, 1
        sure = sure or lexicon.number(word) is not None
    return spelled if sure and times == 1 else ""  # "oh" alone is no number


def spoken_letters(text: str, language: str = "en") -> str:
    """The letters that were spelled, in capitals; "" where anything else was said: "B, D, F" is BDF."""
    lexicon = lexicon_of(language)
    spelled = [lexicon.letter_sounds.get(word, word) for word in words(text)]
    return "".join(spelled).upper() if all(len(word) == 1 and word.isalpha() for word in spelled) else ""
