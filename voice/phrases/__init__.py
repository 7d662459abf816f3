"""What people say to a session, a file a language: the words are data, the rules that read them are not.

A file is TOML; ``en.toml`` says what each list is for. A language without a file has no phrases, so that what
was said in it is never taken for a command by accident; numerals and labels are understood all the same.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any


def languages() -> tuple[str, ...]:
    """The codes of the languages that there are phrases for."""
    return tuple(sorted(item.name[:-5] for item in files(__name__).iterdir() if item.name.endswith(".toml")))


@cache
def phrases_of(language: str) -> Mapping[str, Any]:
    """The phrases of a language, by its code (``en``, ``en-GB``); empty where there are none."""
    code = language.partition("-")[0].lower()
    if code not in languages():
        return MappingProxyType({})
    text = files(__name__).joinpath(f"{code}.toml").read_text(encoding="utf-8")
    return MappingProxyType(tomllib.loads(text))


@cache
def common_words(language: str) -> frozenset[str]:
    """Words of a language that are no names, in small letters; empty where there is no list of them."""
    listed = files(__name__).joinpath("common", f"{language.partition('-')[0].lower()}.txt")
    if not listed.is_file():
        return frozenset()
    lines = listed.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def said(language: str, name: str, /, **values: object) -> str:
    """A sentence of our own, in a language or else in English; ``values`` stand in it."""
    sentence = phrases_of(language).get("says", {}).get(name) or phrases_of("en")["says"][name]
    return str(sentence).format(**values)


def counted(language: str, name: str, number: int) -> str:
    """A number of things: "1 line", "12 lines". Of a language without that noun, in English."""
    nouns = phrases_of(language).get("counts", {}).get(name) or phrases_of("en")["counts"][name]
    return f"{number} {nouns[0 if number == 1 else 1]}"
