"""The names that are likely to be said: those of the question, of the project, of what the agent wrote. Pure.

They do two things. The transcriber is told them, so that it writes "PostgreSQL" and not "Post-Gor rescue
well". And where it has parted or misspelled one all the same ("post gres"), the text is put right afterwards,
as far as that is certain: a run of a few words that is spelled or sounds nearly like one name, and is no
plain English. It is a list of names and never what was said before: a history led astray makes the next text
go astray as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from voice.phrases import common_words
from voice.wording import Word, distance, located_words, words

MOST_NAMES = 30
MOST_CHARACTERS = 400
"""The list is cut where it is longer: about 150 of the 224 tokens that Whisper takes."""

LONGEST_NAME = 40
"""Longer ones are no names that anybody says."""

LONGEST_TEXT = 20_000
"""Names are looked for in so many characters of a text, at its end: what was written last is talked about."""

LONGEST_RUN = 4
"""So many words, at most, may be one name that was parted: "constraints dot txt", "post gray sequel"."""

PROJECT_FROM_S = 1.0
"""Of less speech the transcriber is told the names of the question alone. Told thirty names of a project it
heard "GraphQL" for "left": 20.6 % of the words of 470 recordings were wrong instead of 19.8 %; told of a
second and more alone, 19.8 %. With the names of four options it is 18.6 % throughout."""

_MISSPELLED_PER = 5
_MOST_MISSPELLED = 2
"""One letter in so many may be another, two at most."""

_SURE_SOUNDS = 6
"""Plain words are taken for a name as well where so many consonants, and all of them, are the same."""

_CODE = re.compile(r"`([^`\s]+)`")
_TOKEN = re.compile(r"[^\W_][\w./-]*\w|[^\W\d_]")
_SENTENCE_ENDS = ".!?\n"
_IDENTIFIER = re.compile(
    r"""
    \w*[^\W_]_[^\W_]\w*        # snake_case
    | [^\W_]\w*[a-z0-9][A-Z]\w*   # camelCase, PostgreSQL
    | [A-Z]{2,}[a-z]\w*        # JSONPath
    | [\w/-]+\.[a-z][a-z0-9]{0,4}   # main.py
    | (?=.*[A-Za-z])(?=.*\d)[\w.-]+   # utf8, release-2.4
    """,
    re.VERBOSE,
)
_PARTED = re.compile(r"[,;:!?]|[.]\s")
"""What stands between two names, and not inside one."""

_SEPARATORS = {"dot", "point", "underscore", "dash", "hyphen", "slash"}
"""What people say where a name has a mark that is not spoken otherwise."""


@dataclass(frozen=True)
class Vocabulary:
    """What is likely to be said now.

    ``asked`` are the names in the question and its options, ``project`` those of everything else, the
    likeliest first.
    """

    asked: tuple[str, ...] = ()
    project: tuple[str, ...] = ()
    language: str = "en"

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, each once, those of the question first, and not too many."""
        return capped((*self.asked, *self.project))

    def told_of(self, speech_s: float) -> tuple[str, ...]:
        """The names that a transcriber is told of a piece with so much speech in it, in seconds."""
        return self.names if speech_s >= PROJECT_FROM_S else capped(self.asked)

    def corrected(self, text: str) -> str:
        """The text with each name that was parted or misspelled written as it is."""
        return corrected(text, self.names, common=common_words(self.language))


def capped(names: Iterable[str]) -> tuple[str, ...]:
    """The names, each once however it is written, without those that are no names, and not too many."""
    kept: dict[tuple[str, ...], str] = {}
    characters = 0
    for name in (" ".join(name.split()) for name in names):
        key = words(name)
        if not key or key in kept or len(name) > LONGEST_NAME:
            continue
        characters += len(name) + 2
        if len(kept) == MOST_NAMES or characters > MOST_CHARACTERS:
            break
        kept[key] = name
    return tuple(kept.values())


def names_in(text: str, language: str = "en") -> tuple[str, ...]:
    """The names in a text, in their order, each once.

    What is written as code, identifiers, files, what has a capital inside a sentence, and words that are not
    common in that language.
    """
    common = common_words(language)
    text = text[-LONGEST_TEXT:]
    found = dict.fromkeys(_CODE.findall(text))
    begins = True
    end = 0
    for match in _TOKEN.finditer(text):
        between = text[end : match.start()]
        begins = begins or any(mark in _SENTENCE_ENDS for mark in between)
        token, end = match[0], match.end()
        if len(token) > LONGEST_NAME:
            continue
        strange = bool(common) and token.isalpha() and len(token) > 3 and token.casefold() not in common
        capital = token[0].isupper() and not begins and token not in ("I", "OK")
        if _IDENTIFIER.fullmatch(token) or capital or strange:
            found.setdefault(token)
        begins = False
    return tuple(name for name in found if len(name) <= LONGEST_NAME and words(name))


def corrected(text: str, names: Sequence[str], *, common: frozenset[str]) -> str:
    """The text with each name that was parted or misspelled written as it is.

    ``common`` are the words that are no misspelled name by themselves; without any, every word is one.
    """
    by_letter: dict[str, list[_Target]] = {}
    for name in names:
        if (target := _Target.of(name)) is not None:
            by_letter.setdefault(target.letters[0], []).append(target)
    heard = located_words(text)
    plain = _Plain(common, {word for name in names for word in words(name)})
    if (whole := _all_of_it(heard, by_letter, plain)) is not None:
        return f"{whole}{text[heard[-1].end :]}"
    parts: list[str] = []
    at = copied = 0
    while at < len(heard):
        targets = by_letter.get(heard[at].text[0], ())
        found, run = _name_at(text, heard, at, targets, plain) if targets else (None, ())
        if found is not None:
            parts += [text[copied : run[0].start], found]
            copied = run[-1].end
        at += max(1, len(run))
    return "".join([*parts, text[copied:]])


def _all_of_it(
    heard: Sequence[Word], by_letter: Mapping[str, Sequence[_Target]], plain: _Plain
) -> str | None:
    """The one name of so many words that all that was said is: a comma in it is how it was spoken."""
    if not 1 < len(heard) <= LONGEST_RUN:
        return None
    targets = by_letter.get(heard[0].text[0], ())
    fitting = {
        target.name
        for target in targets
        if len(words(target.name)) == len(heard) and _is_misheard(heard, target, plain)
    }
    return fitting.pop() if len(fitting) == 1 else None


def recites(text: str, names: Sequence[str]) -> bool:
    """Whether a text is one after another of the names that the transcriber was told, two or more.

    It may have gone on with the list instead of writing what was said; the last name may be cut off.
    """
    heard, known = words(text), [words(name) for name in names]
    at = found = 0
    while at < len(heard):
        left = heard[at:]
        whole = max((len(name) for name in known if name and left[: len(name)] == name), default=0)
        begun = any(" ".join(name).startswith(" ".join(left)) for name in known)
        if not (whole or (begun and found)):
            return False
        at, found = at + (whole or len(left)), found + 1
    return found > 1


@dataclass(frozen=True)
class _Plain:
    """Tells words that somebody may well have meant as such."""

    common: frozenset[str]
    known: set[str]

    def __contains__(self, word: str) -> bool:
        return not self.common or len(word) < 3 or word in self.common or word in self.known


@dataclass(frozen=True)
class _Target:
    name: str
    letters: str
    sounds: str

    @property
    def is_marked(self) -> bool:
        """Whether it is written as no plain word is."""
        return not self.name.isalnum() or self.name[1:] != self.name[1:].lower()

    @classmethod
    def of(cls, name: str) -> _Target | None:
        letters = "".join(words(name))
        return cls(name, letters, sounds_of(letters)) if len(letters) >= 4 and not letters.isdigit() else None


def _name_at(
    text: str, heard: Sequence[Word], at: int, targets: Sequence[_Target], plain: _Plain
) -> tuple[str | None, Sequence[Word]]:
    """The one name that the words from here on are, the longest run first, and that run.

    All ``targets`` begin with the letter with which these words do.
    """
    for count in range(min(LONGEST_RUN, len(heard) - at), 0, -1):
        run = heard[at : at + count]
        between = text[run[0].start : run[-1].end]
        if _PARTED.search(between):
            continue
        if any(target.name == between for target in targets):
            return None, run  # it is written as it should be
        fitting = {target.name for target in targets if _is_misheard(run, target, plain)}
        if len(fitting) == 1:
            return fitting.pop(), run
    return None, ()


def _is_misheard(run: Sequence[Word], target: _Target, plain: _Plain) -> bool:
    spoken = [word.text for word in run]
    bare = [word for word in spoken if word not in _SEPARATORS]
    joined = "".join(bare)
    if not bare or spoken[0] in _SEPARATORS or spoken[-1] in _SEPARATORS:
        return False
    if joined == target.letters and len(bare) < len(spoken):
        return True  # "main dot py"
    if joined == target.letters and target.is_marked and not plain.common.issuperset(bare) and plain.common:
        return True
    all_plain = all(word in plain for word in bare)
    if all_plain:
        sure = len(bare) > 2 and len(target.sounds) >= _SURE_SOUNDS
        return sure and sounds_of(joined) == target.sounds
    if bare[0] in plain and len(bare[0]) >= len(target.letters):
        return False
    if joined.startswith(target.letters):
        return False  # a plural, or another form of it
    limit = min(_MOST_MISSPELLED, len(target.letters) // _MISSPELLED_PER)
    near = distance(joined, target.letters, limit) <= limit
    begun = target.letters.startswith(joined) and len(joined) >= max(5, 0.6 * len(target.letters))
    alike = len(target.sounds) >= 3 and sounds_of(joined) == target.sounds
    return near or begun or alike


_SOUNDS = (
    ("sequel", "skl"), ("sh", "$"), ("ch", "$"), ("sql", "skl"), ("ph", "f"), ("ght", "t"), ("ck", "k"),
    ("qu", "k"), ("q", "k"), ("x", "ks"), ("z", "s"), ("ce", "se"), ("ci", "si"), ("cy", "si"), ("c", "k"),
    ("dge", "j"), ("ge", "je"), ("gi", "ji"), ("w", ""), ("h", ""), ("y", ""),
)  # fmt: skip


def sounds_of(letters: str) -> str:
    """The consonants that one hears, roughly: what two spellings of one sound have in common."""
    for written, spoken in _SOUNDS:
        letters = letters.replace(written, spoken)
    return "".join(_without_doubles(letter for letter in letters if letter not in "aeiou"))


def _without_doubles(letters: Iterable[str]) -> Iterator[str]:
    last = ""
    for letter in letters:
        if letter != last:
            yield letter
        last = letter
