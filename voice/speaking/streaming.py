"""A text that is still being written, turned into sentences as soon as they are sure. Pure.

Sure is what no continuation can change, so that the sentences are those of the whole text (`sentences_of`),
however it was cut into parts:

* Markdown is made of lines, and a line that comes changes no block but the last: what stands before the last
  block is sure. So a table, a fenced block and an item of a list are spoken when they are whole.
* A paragraph that is plainly one (it begins with a word, and no line of it could be the heading of a table)
  is spoken by the sentence: as long as nothing in it is open (emphasis, code, a link, a tag), and when the
  next word is whole, for it tells whether the sentence has ended.
* Behind a comment, a script or a style that is not closed nothing is sure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voice.speaking.speakable import (
    INVISIBLE_HTML,
    OPEN_DELIMITERS,
    Sentence,
    blocks,
    clean,
    last_closings,
    parsed,
    sentences_in,
)

if TYPE_CHECKING:
    from markdown_it.token import Token

_SELDOM = 8
"""The text since the last sure block is looked at again when it has grown by one part in so many: so a long
table or list does not cost the square of its length."""

_TEXT_LINE = re.compile(r"""(?:\*{1,3}|_{1,2}|`|["'“(])?[^\W\d_]|\d+(?:[ ]|[^\W\d])""")
"""The beginning of a line that is text, whatever follows in it: no list, heading, fence, rule or table."""
_INVISIBLE_LINE = re.compile(rf"[\s>*+\-.)\d]*{INVISIBLE_HTML}", re.IGNORECASE | re.ASCII)
_MAY_GROW = re.compile(r"`|\]\(|<[a-zA-Z/!?]|-----BEGIN")
"""In text that is parsed: what could still become code, a link, a tag, a private key."""


class SpeakableStream:
    """The sentences of a text that comes in parts."""

    def __init__(self, language: str = "en") -> None:
        """``language`` is what `sentences_of` takes."""
        self._language = language
        self._lines = ""  # clean and whole, from the beginning of the first block that is not sure
        self._begun = ""  # what there is of the line after them
        self._line = 0  # the number of their first line in the text
        self._given = 0  # so many of their sentences have been given out
        self._seen = 0  # so much of them had come when they were last looked at

    def push(self, part: str) -> list[Sentence]:
        """Take the next part of the text; return the sentences that have become sure."""
        self._begun += part
        if "\n" in part:
            whole, _, self._begun = self._begun.rpartition("\n")
            self._lines += clean(whole + "\n")
        grown = len(self._lines) + len(self._begun) - self._seen
        if grown * _SELDOM < self._seen or not grown:
            return []
        self._seen += grown
        return self._sure()

    def end(self) -> list[Sentence]:
        """The text is whole; return the rest of its sentences."""
        said = blocks(parsed(self._lines + clean(self._begun)), self._language)
        return self._new([sentence for block in said for sentence in sentences_in(block)])

    def _sure(self) -> list[Sentence]:
        text = self._lines + _settled(self._begun)
        if not text:
            return []
        env: dict[str, Any] = {}
        tokens = parsed(text, env)
        lines = text.split("\n")
        last = _last_block(tokens)
        sure_until = min(len(lines) if _is_closed(tokens, lines) else last, _unclosed_html(lines))
        sentences: list[Sentence] = []
        until_top = 0
        top = _last_top_block(tokens)
        said = list(blocks(tokens, self._language))
        for block in said:
            if block.after > sure_until:
                break
            sentences += sentences_in(block)
            if block.after <= top:
                until_top = len(sentences)
        if sure_until == last and _is_plain_paragraph(tokens, lines, env):
            sentences += sentences_in(said[-1], growing=True)
        new = self._new(sentences)
        if 0 < top <= sure_until:
            self._lines = "\n".join(self._lines.split("\n")[top:])
            self._line += top
            self._given -= until_top
            self._seen = len(self._lines) + len(self._begun)
        return new

    def _new(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        new = sentences[self._given :]
        self._given += len(new)
        return [replace(sentence, line=self._line + sentence.line) for sentence in new]


def _settled(line: str) -> str:
    """What there is of a line, as far as it is text for sure and its words are whole; else nothing."""
    if not _TEXT_LINE.match(line) or any(_breaks(c) for c in line):
        return ""
    end = len(line) - 1
    while end > 0 and not (line[end].isspace() or (_ideographic(line[end - 1]) and _ideographic(line[end]))):
        end -= 1
    return clean(line[:end]) if _TEXT_LINE.match(line[:end]) else ""


def _breaks(character: str) -> bool:
    """Whether it may be part of a line break or an escape sequence, which `clean` takes out."""
    return character != "\t" and unicodedata.category(character) in ("Cc", "Zl", "Zp")


def _ideographic(character: str) -> bool:
    """Whether words are written without spaces around it: Chinese, Japanese, Korean."""
    return unicodedata.east_asian_width(character) in "WF" and unicodedata.category(character)[0] in "LP"


def _last_block(tokens: Sequence[Token]) -> int:
    """The line in which the last block begins that holds no others; a row of a table is none."""
    line, in_table = 0, False
    for token in tokens:
        if token.map and not in_table:
            line = token.map[0]
        in_table = token.type == "table_open" or (in_table and token.type != "table_close")
    return line


def _last_top_block(tokens: Sequence[Token]) -> int:
    """The line in which the last block begins that no other holds."""
    return max((token.map[0] for token in tokens if token.level == 0 and token.map), default=0)


def _is_closed(tokens: Sequence[Token], lines: Sequence[str]) -> bool:
    """Whether the last block is a paragraph or heading that a blank line has ended."""
    ended = len(lines) > 2 and not lines[-1] and not lines[-2].strip()
    texts = [token for token in tokens if token.type == "inline"]
    return ended and bool(texts) and texts[-1].map is not None and texts[-1].map[0] == _last_block(tokens)


def _is_plain_paragraph(tokens: Sequence[Token], lines: Sequence[str], env: dict[str, Any]) -> bool:
    """Whether the last block is a paragraph of which the words so far are sure."""
    if len(tokens) < 3 or tokens[-1].type != "paragraph_close" or tokens[-1].level or env[OPEN_DELIMITERS]:
        return False
    begin, after = tokens[-3].map or (0, 0)
    if any("|" in line or not _TEXT_LINE.match(line) for line in lines[begin:after]):
        return False
    text = "".join(token.content for token in tokens[-2].children or [] if token.type == "text")
    return _MAY_GROW.search(text) is None and text.count("[") == text.count("]")


def _unclosed_html(lines: Sequence[str]) -> int:
    """The first line that would begin invisible HTML if that were closed; the number of lines without one."""
    closings = last_closings("\n".join(lines))
    begin = 0
    for number, line in enumerate(lines):
        if (opening := _INVISIBLE_LINE.match(line)) and closings[opening[1].lower()] <= begin:
            return number
        begin += len(line) + 1
    return len(lines)
