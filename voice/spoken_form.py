"""A question as it is spoken: what is narrated when a questionnaire is handed over, or asked by voice. Pure.

    Question 1: Merge how? Options: 1, Squash; 2, Rebase. Please choose one option.

The wording of each language is data (`voice.phrases`). Nothing that should not be heard in a room is in it:
no path, secret, code or control character. `heard_whole` tells where that, or the length, left something out:
who only hears a question cannot allow what was not in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import punctuation

from questionnaire import Kind, Question, Questionnaire
from voice.phrases import said
from voice.speaking.speakable import speakable

LONGEST_QUESTION = 240
"""Characters of a question that are spoken, at most."""
LONGEST_LABEL = 80
"""Characters of a label that are spoken, at most."""

_READ = 4_000
"""Characters that are looked at: what is spoken of a text stands at its beginning."""
_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_PLAIN_NAME = re.compile(r"\s*[\w.@+-]+\s*")
_PATH = re.compile(
    r"""
    (?<! [\w.@+~%:/\\-] )
    (?: (?: [A-Za-z]: | ~ | \.{1,2} )? [\\/] [\w.@+~%-]+ (?: [\\/] [\w.@+~%-]* )*  # rooted: one name will do
      | [\w.@+~%-]+ (?: [\\/] [\w.@+~%-]+ )* [\\/] [\w@+~%-]* \. [A-Za-z]\w{0,7}    # down to a file
      | [\w.@+~%-]+ (?: [\\/] [\w.@+~%-]+ ){2,} [\\/]? )                            # or through three folders
    (?: : \d+ ){0,2}
    """,
    re.VERBOSE,
)


def spoken_questionnaire(questionnaire: Questionnaire, language: str = "en") -> str:
    """All questions of a questionnaire, one after the other."""
    return " ".join(
        spoken_question(question, number, language)
        for number, question in enumerate(questionnaire.questions, 1)
    )


def spoken_question(question: Question, number: int = 1, language: str = "en") -> str:
    """One question with its options, and how it may be answered."""
    parts = [said(language, "question", number=number, question=_ended(spoken_text(question, language)))]
    if question.kind is Kind.TEXT:
        parts.append(said(language, "in_own_words"))
    else:
        parts.append(spoken_options(question, language))
        parts.append(said(language, "choose_several" if question.multi_select else "choose_one"))
        if question.custom:
            parts.append(said(language, "or_own_words"))
    return " ".join(parts)


def spoken_options(question: Question, language: str = "en") -> str:
    """The options of a question, numbered from 1."""
    numbered = (f"{index + 1}, {label}" for index, label in enumerate(spoken_labels(question, language)))
    return said(language, "options", options="; ".join(numbered))


def spoken_text(question: Question, language: str = "en") -> str:
    """The words of a question, without its options."""
    return _shortened(_heard(question.text, language), LONGEST_QUESTION) or said(language, "unspeakable")


def spoken_labels(question: Question, language: str = "en") -> tuple[str, ...]:
    """The labels of the options, each as one phrase: a semicolon in one would pass for the next option."""
    return tuple(
        _shortened(_heard(option.label, language).replace(";", ",").rstrip(" .,"), LONGEST_LABEL)
        or said(language, "unspeakable")
        for option in question.options
    )


def heard_whole(question: Question, selected: Iterable[int], language: str = "en") -> bool:
    """Whether all of a question, and of the labels of these options, is in its spoken form.

    Letters, digits and the punctuation of ASCII count; backticks, spaces and emoji do not. A mark that may
    mean something in a command counts also where it is but layout: rather once too often no than yes.
    """
    return _holds(spoken_text(question, language), question.text) and _labels_whole(
        question, selected, language
    )


def left_out(question: Question, language: str = "en") -> tuple[str, ...]:
    """What of a question is not in its spoken form, as nouns."""
    everything = range(len(question.options))
    details = {
        "parts of the text": not _holds(spoken_text(question, language), question.text),
        "parts of labels": not _labels_whole(question, everything, language),
        "descriptions": any(option.description for option in question.options),
        "previews": any(option.preview for option in question.options),
    }
    return tuple(name for name, there in details.items() if there)


def _labels_whole(question: Question, selected: Iterable[int], language: str) -> bool:
    labels = spoken_labels(question, language)
    return all(
        _holds(labels[index].replace(";", ","), question.options[index].label.replace(";", ",").rstrip(" .,"))
        for index in selected
    )


def spoken_words(text: str, language: str = "en") -> str:
    """What somebody has written or said, as it is read back in a sentence; no longer than a question."""
    return _shortened(_heard(text, language), LONGEST_QUESTION).rstrip(" .") or said(language, "unspeakable")


def listed(items: Iterable[str], language: str = "en") -> str:
    """Items in a row, the last after "and"."""
    *first, last = items
    return said(language, "and", first=", ".join(first), last=last) if first else last


def _heard(text: str, language: str) -> str:
    """A text as one line of speech."""

    def code(found: re.Match[str]) -> str:
        return found[2] if _PLAIN_NAME.fullmatch(found[2]) else said(language, "code")

    text = _PATH.sub(said(language, "path"), _CODE.sub(code, text[:_READ]))
    return " ".join(" ".join(speakable(text, language)).split())


def _holds(spoken: str, written: str) -> bool:
    """Whether all that is written is spoken, in its order, with only ends of sentences between."""
    heard = iter(_counted(spoken))
    wanted = _counted(written)
    for character in wanted:
        for other in heard:
            if other == character:
                break
            if other not in ".,:":
                return False
        else:
            return False
    return bool(wanted)


def _counted(text: str) -> list[str]:
    return [c for c in text if c.isalnum() or (c in punctuation and c != "`")]


def _shortened(line: str, longest: int) -> str:
    """A line in at most ``longest`` characters, cut between words where it has any."""
    if len(line) <= longest:
        return line
    cut = line[: longest - 1]
    words, space, _ = cut.rpartition(" ")
    return (words if space and not line[longest - 1].isspace() else cut).rstrip(" ,.;:") + "…"


def _ended(line: str) -> str:
    return line if line.rstrip("\"'”’»)")[-1:] in ".?!…。？！" else f"{line}."  # noqa: RUF001
