"""Texts that are still being written: the same sentences as of the whole text, and each of them early."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.speaking.speakable import Sentence, sentences_of, speakable
from voice.speaking.streaming import SpeakableStream


def streamed(parts: list[str]) -> list[Sentence]:
    stream = SpeakableStream()
    sentences = [sentence for part in parts for sentence in stream.push(part)]
    return sentences + stream.end()


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[begin:end] for begin, end in pairwise(ends)]


def after(text: str) -> list[str]:
    """What is given out when so much of a text has been written."""
    return [sentence.text for sentence in SpeakableStream().push(text)]


# --- The same as of the whole ------------------------------------------------------------------------------

PIECES = [
    "word",
    "Word",
    "Two words. ",
    "Sentence one. Sentence two! ",
    "a",
    "A",
    "no. 5",
    "e.g. ",
    "1",
    "12",
    "3. ",
    "1. ",
    "1) ",
    "- ",
    "* ",
    "+ ",
    "  - ",
    "   ",
    "> ",
    "# ",
    "## ",
    "\n",
    "\n\n",
    "\n\n\n",
    "```",
    "```py\n",
    "~~~",
    "`",
    "``",
    "code",
    "**",
    "*",
    "_",
    "__",
    "__init__",
    "snake_case",
    "~~",
    "[",
    "]",
    "](",
    "][",
    "(",
    ")",
    "[x] ",
    "[1]: https://a.example\n",
    "[text][label]",
    "[link](https://a.example/b)",
    "![",
    "https://a.example/b.",
    "/a/b/c.py:7",
    "|",
    " | ",
    "\n|---|---|\n",
    "| a | b |\n",
    "---",
    "===",
    "***",
    "<b>",
    "</b>",
    "<br>",
    "<!--",
    "-->",
    "<script",
    "</script>",
    "<style>",
    "</STYLE>",
    "<",
    ">",
    "&amp;",
    "&",
    "\\",
    "\\*",
    "🎉",
    "👍🏽",
    "‍",
    "你好。",
    "今天",
    "很好！",
    "**「重要」**",
    "。",
    "」",
    ".",
    "!",
    "?",
    "…",
    "...",
    ".....",
    '"',
    "“",
    "”",
    ",",
    ";",
    ": ",
    "-----BEGIN PRIVATE KEY-----",
    "Bearer abcdefghijklmnopqrstuvwxyz12",
    "password=hunter22",
    "d41d8cd98f00b204e9800998ecf8427e",
    "\x1b[31m",
    "\x1b]0;t\x07",
    "\x1b",
    "\r",
    "\r\n",
    "\t",
    "\u2028",
    "\u200b",
    "\x9d",
    "  \n",
    "Done. 🎉 ",
    " 🎉.",
    "\ud800",
]
documents = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join)


@given(documents, st.lists(st.integers(0, 10_000), max_size=12))
def test_however_a_text_is_cut_its_sentences_are_the_same(text: str, places: list[int]) -> None:
    assert streamed(cut(text, places)) == sentences_of(text)


@given(documents)
def test_by_the_character_the_sentences_are_the_same(text: str) -> None:
    assert streamed(list(text)) == sentences_of(text)


# --- As early as can be ------------------------------------------------------------------------------------

EARLY = {
    "a sentence, when the next word is whole": ("One is here. Two ", ["One is here."]),
    "not before: a small letter would go on": ("Use e.g. Tw", []),
    "not in half a word": ("One is here. T", []),
    "a paragraph, when a blank line follows": ("One is here\n\n", ["One is here"]),
    "a heading": ("# One\n\n", ["One"]),
    "with emphasis that is closed": ("**One** is `here`. Two ", ["One is here."]),
    "not with emphasis that is open": ("One **is here. Two three. ", []),
    "not with code that is open": ("One `is here. Two three. ", []),
    "not with a link that is open": ("One [is here. Two three. ", []),
    "not with a tag that is open": ("One <is here. Two three. ", []),
    "not with a key that is open": ("One -----BEGIN PRIVATE KEY----- is here. Two ", []),
    "with a link": ("See [the manual](https://a.example/b). Two ", ["See the manual."]),
    "an item, when the next one begins": ("- One\n- Two", []),
    "and then": ("- One\n- Two\n", ["One"]),
    "not an item that may go on": ("1. One. Here.\n", []),
    "not a fenced block that is open": ("```py\na = 1\nb = 2\n", []),
    "a fenced block, when something follows": (
        "```py\na = 1\n```\n\nTwo ",
        ["a code block of 1 line of Python"],
    ),
    "what stands before a fenced block": ("One is here:\n\n```py\na = 1\n", ["One is here:"]),
    "not a table that may go on": ("| a |\n|---|\n| 1 |\n", []),
    "nor what may be one": ("One is | here. Two | three. ", []),
    "not behind a comment that is open": ("One.\n\n<!-- Two.\n\nThree.\n\nFour.\n\n", ["One."]),
    "Chinese, which has no spaces": ("你好。今天很", ["你好。"]),
    "not a line that may be an item": ("One is here. Two\n1", ["One is here."]),
}


@pytest.mark.parametrize(("written", "said"), EARLY.values(), ids=EARLY)
def test_what_is_sure_is_given_out(written: str, said: list[str]) -> None:
    assert after(written) == said
    assert after(written) == speakable(written)[: len(said)]


def test_each_sentence_tells_its_line() -> None:
    text = "# One\n\nTwo is long\nand goes on. Three\n\n- Four\n- Five\n\n```\nsix\n```\n"
    text += "Seven. Eight\nnine. Ten."
    lines = [("One", 0), ("Two is long and goes on.", 2), ("Three", 3), ("Four", 5), ("Five", 6)]
    lines += [("a code block of 1 line", 8), ("Seven.", 11), ("Eight nine.", 11), ("Ten.", 12)]
    assert [(sentence.text, sentence.line) for sentence in sentences_of(text)] == lines
    assert streamed(list(text)) == sentences_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "word. Next " * 5_000,
        "- item\n" * 1_000,
        "a *b " * 5_000,
        "```\n" + "x\n" * 20_000,
        "<!-- x\n" * 1_500,
        "[a](" * 5_000,
    ],
    ids=lambda text: text[:6],
)
def test_no_text_takes_long(text: str) -> None:
    began = time.monotonic()
    streamed(cut(text, list(range(0, len(text), 4))))
    assert time.monotonic() - began < 60
