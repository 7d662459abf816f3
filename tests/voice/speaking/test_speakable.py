"""What is said of what is written: a golden table, and what holds of any text."""

from __future__ import annotations

import re
import subprocess
import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.speaking.speakable import MAX_SENTENCE, speakable

GOLDEN = {
    "nothing": ("", []),
    "white space": (" \n\t\n", []),
    "plain text": ("Shall I go on?", ["Shall I go on?"]),
    # Markdown
    "a heading": ("# Where *we* are\n\nHere.", ["Where we are", "Here."]),
    "an underlined heading": ("Plan\n====\nGo.", ["Plan", "Go."]),
    "emphasis": (
        "**bold**, *italic*, _both_, __two words__ and ~~gone~~",
        ["bold, italic, both, two words and gone"],
    ),
    "emphasis in a word": ("**bold**ly", ["boldly"]),
    "CJK emphasis": ("**「重要」**です。これは*大切*です。", ["「重要」です。", "これは大切です。"]),
    "Hangul emphasis": ("**강조**는 좋다.", ["강조는 좋다."]),
    "escaped marks": (r"\*not emphasis\*", ["*not emphasis*"]),
    "entities": ("R&amp;D &lt; sales", ["R&D < sales"]),
    "bullets": ("- one\n- two\n  * three", ["one", "two", "three"]),
    "numbers": ("3. three\n4. four", ["3. three", "4. four"]),
    "odd numbers": ("5. five\n7) seven", ["5. five", "7) seven"]),
    "repeated numbers": ("1. a\n1. b\n1. c", ["1. a", "2. b", "3. c"]),
    "an item that is empty": ("3.", ["3."]),
    "an item that is code": ("1. ```\n   x\n   ```", ["1. a code block of 1 line"]),
    "tasks": ("- [ ] write\n- [x] read", ["to do: write", "done: read"]),
    "a quotation": ("> Be brief.\n> Be clear.", ["Be brief.", "Be clear."]),
    "a rule": ("above\n\n---\n\nbelow", ["above", "below"]),
    "lines": ("soft\nbreak  \nhard break", ["soft break", "hard break"]),
    "indented text": ("    indented text", ["indented text"]),
    "a note in brackets": ("[note]: mind the gap", ["[note]: mind the gap"]),
    # code
    "a fenced block": (
        "Look:\n```python\na = 1\n\nb = 2\n```\nDone.",
        ["Look:", "a code block of 3 lines of Python", "Done."],
    ),
    "a block of no language": ("```\n" + "x\n" * 12 + "```", ["a code block of 12 lines"]),
    "a block of another language": ("~~~brainfuck\n+\n~~~", ["a code block of 1 line of Brainfuck"]),
    "a block that never ends": ("```js\nlet x", ["a code block of 1 line of JavaScript"]),
    "an empty block": ("```\n```", ["an empty code block"]),
    "a language that is none": ("```\x1b]0;x\x07{.evil}\nx\n```", ["a code block of 1 line"]),
    "inline code": ("Call `run_all(*args)` now.", ["Call run_all(*args) now."]),
    "inline marks": ("`**` and `_x_`", ["** and _x_"]),
    # links
    "a link": ("See [the manual](https://example.com/a).", ["See the manual."]),
    "a reference": ("See [it][1].\n\n[1]: https://example.com", ["See it."]),
    "a reference that is defined nowhere": ("See [it][1] and [that][].", ["See it and that."]),
    "no reference": ("x[0][1], a[i][j] and [0][1]", ["x[0][1], a[i][j] and [0][1]"]),
    "a script as link": ("[click](javascript:alert(1))", ["click"]),
    "a link without text": ("[](https://example.com/a)", ["a link to example.com"]),
    "an image": ("![a cat](cat.png) and ![](dog.png)", ["a cat and an image"]),
    "an address": ("Go to https://www.example.com/a_(b)?c=d.", ["Go to a link to example.com."]),
    "an address in brackets": ("(http://localhost:8080/x)!", ["(a link to localhost:8080)!"]),
    "an address in angles": ("<https://a.example/x>", ["a link to a.example"]),
    "an address in Chinese": ("看https://example.com。好", ["看 a link to example.com。", "好"]),
    "an address with a password": ("postgres://me:hunter2@db.example/x", ["a link to db.example"]),
    "a mail address": ("<me@example.com>", ["me@example.com"]),
    # paths
    "a path": ("Open /home/x/project/src/app.py.", ["Open src/app.py."]),
    "a path with a line": ("/home/x/src/app.py:42:7 fails", ["src/app.py, line 42, column 7 fails"]),
    "a relative path": ("voice/speaking/speakable.py", ["speaking/speakable.py"]),
    "a path below home": ("~/a/b/c/", ["b/c"]),
    "a path on Windows": (r"C:\Users\me\app\main.rs", ["app/main.rs"]),
    "a file's address": ("file:///home/x/y/z.txt", ["y/z.txt"]),
    "a short path": ("/etc/passwd, src/app.py", ["/etc/passwd, src/app.py"]),
    "no path": ("and/or, he/she/they, 1/2/2026, 5 km/h", ["and/or, he/she/they, 1/2/2026, 5 km/h"]),
    # tables
    "a table": (
        "| Name | Age |\n|---|---|\n| Ann | 30 |\n| Bo | |",
        ["Name: Ann, Age: 30", "Name: Bo"],
    ),
    "a long table": (
        "| Name | Age |\n|---|---|\n" + "| Ann | 30 |\n" * 12,
        ["a table of 12 rows and 2 columns: Name, Age"],
    ),
    "a wide table": (
        "|a|b|c|d|e|\n|-|-|-|-|-|\n|1|2|3|4|5|",
        ["a table of 1 row and 5 columns: a, b, c, d, e"],
    ),
    "a table without outer bars": ("Name | Age\n---|---\nAnn | 30", ["Name: Ann, Age: 30"]),
    "a heading with a number": ("No. | Name\n---|---\n1 | Ann", ["No.: 1, Name: Ann"]),
    "sentences before a bar": ("One. Two | three\n---|---", ["One.", "Two | three ---|---"]),
    "a table of headings": ("| a | b |\n|---|---|", ["a, b"]),
    "a tick in a table": ("| ok |\n|---|\n| ✅ |", ["ok: check mark"]),
    # HTML
    "tags": ("<b>bold</b> and <span class='x'>H<sub>2</sub>O</span>", ["bold and H2O"]),
    "blocks of HTML": ("<div>one<br>two</div><p>three</p>", ["one", "two three"]),
    "a comment": (
        "a <!-- never\n\nsaid --> b\n\n<!-- nor\n\nthis --> c",
        ["a <!-- never", "said --> b", "c"],
    ),
    "a script": ("<script>\nalert(1)\n</script>\n\nafter", ["after"]),
    "what is no HTML": ("Vec<T> is 3 < 4 > 2", ["Vec<T> is 3 < 4 > 2"]),
    # what must survive
    "identifiers": (
        "snake_case, __init__, __init__.py, _private, foo__bar__baz",
        ["snake_case, __init__, __init__.py, _private, foo__bar__baz"],
    ),
    "products": ("a*b*c, 2*3*4, 5 * 3, 2**10", ["a*b*c, 2*3*4, 5 * 3, 2**10"]),
    "stars": ("f(*args, **kwargs)", ["f(*args, **kwargs)"]),
    "digits": ("22222", ["22222"]),
    "many digits": ("2" * 40, ["2" * 40]),
    "versions": ("Python 3.11.2 and v2.0.10-rc1.", ["Python 3.11.2 and v2.0.10-rc1."]),
    "comparisons": ("a === b", ["a === b"]),
    "names with marks": ("C++, C#, F# and @me", ["C++, C#, F# and @me"]),
    "a long name": ("a_test_of_the_name_that_goes_on_and_on_2", ["a_test_of_the_name_that_goes_on_and_on_2"]),
    # emoji
    "emoji": ("Done 🎉. Great🎉work ✨!", ["Done.", "Great work!"]),
    "only emoji": ("👍🏽🎉👍", ["thumbs up, party popper"]),
    "a flag": ("🇩🇪", ["a flag"]),
    "a family": ("👨‍👩‍👧", ["man, woman, girl"]),
    "a keycap": ("1️⃣ first", ["1 first"]),
    # what is hostile or secret
    "colours": ("\x1b[1;31mred\x1b[0m \x9b32mgreen", ["red green"]),
    "a title": ("\x1b]0;title\x07after \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", ["after link"]),
    "an endless title": ("\x1b]0;title\nafter", ["after"]),
    "a hidden escape": ("\x1b\u200b[31mred", ["red"]),
    "an escaped escape": ("&#27;&#x202e;x", ["x"]),
    "bidirectional": ("a\u202eb\u2066c\u200bd\u00ade", ["abcde"]),
    "a hidden message": ("hi" + "".join(chr(0xE0000 + ord(c)) for c in "rm -rf"), ["hi"]),
    "control": ("a\x00b\x08c\x7f", ["abc"]),
    "line ends": ("a\r\nb\rc\u2028d", ["a b c d"]),
    "keys": ("sk-proj-abcDEF1234567890xyz, ghp_abcdefghijklmnopqrst.", ["a secret, a secret."]),
    "more keys": ("AKIAIOSFODNN7EXAMPLE and password=hunter22", ["a secret and password=a secret"]),
    "a bearer": ("Bearer abcdefghijklmnopqrstuvwxyz12", ["Bearer a secret"]),
    "a password in digits": ("password=12345678", ["password=a secret"]),
    "named keys": (
        'API_KEY="abcdef" AWS_SECRET_KEY=x/y+zabc',
        ['API_KEY="a secret" AWS_SECRET_KEY=a secret'],
    ),
    "a token": ("access_token=abc.def-1", ["access_token=a secret"]),
    "numbers of tokens": (
        "max_tokens=100000, token=100000 and token_limit=unlimited",
        ["max_tokens=100000, token=100000 and token_limit=unlimited"],
    ),
    "long words": (
        "Basic internationalization of sk_some_long_identifier",
        ["Basic internationalization of sk_some_long_identifier"],
    ),
    "a private key": (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----\ndone",
        ["a secret done"],
    ),
    "a digest": ("d41d8cd98f00b204e9800998ecf8427e", ["a long string of characters"]),
    "a UUID": ("123e4567-e89b-12d3-a456-426614174000", ["a long string of characters"]),
    "Base64": ("aGVsbG8gd29ybGQx/MjM0NTY3ODkw+" * 4, ["a long string of characters"]),
    "drawn lines": ("a ------ b\n\n========\n\n....\n\nwhat!!!!!", ["a b", "what!"]),
    "only marks": ("?! ... —", []),
    # sentences
    "sentences": ('Yes. "No!" Really?! It is... fine.', ["Yes.", '"No!"', "Really?!", "It is... fine."]),
    "abbreviations": (
        "Use e.g. Python. Dr. Smith said no. 5.",
        ["Use e.g. Python.", "Dr. Smith said no. 5."],
    ),
    "initials": ("The U.S. Army. J. Doe left.", ["The U.S. Army.", "J. Doe left."]),
    "a short no": ("No. That was it.", ["No.", "That was it."]),
    "Chinese sentences": ("你好。今天很好！", ["你好。", "今天很好！"]),
}


@pytest.mark.parametrize(("written", "said"), GOLDEN.values(), ids=GOLDEN)
def test_golden(written: str, said: list[str]) -> None:
    assert speakable(written) == said


@pytest.mark.parametrize("written", [text for text, _ in GOLDEN.values()], ids=GOLDEN)
def test_what_is_said_is_safe(written: str) -> None:
    check_safe(speakable(written))


def check_safe(sentences: list[str]) -> None:
    for sentence in sentences:
        assert 1 <= len(sentence) <= MAX_SENTENCE
        assert sentence == " ".join(sentence.split())
        assert not {unicodedata.category(c) for c in sentence} & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


marks = st.text(alphabet="*_`#>-+~|[]()<>!&;:/\\.=\"' \n\t1aZ\x1b\u202e😀重", max_size=200)
hostile = st.lists(
    st.sampled_from(
        [
            "\x1b[",
            "\x1b]0;",
            "\x07",
            "&#27;",
            "&#x202e;",
            "```",
            "<!--",
            "-->",
            "| a ",
            "|---",
            "\n",
            "[x](",
            "![",
            ")",
            "https://",
            "sk-",
            "-----BEGIN PRIVATE KEY-----",
            "**",
            "__",
            "1. ",
            "- ",
            "    ",
            "\u200b",
            "\ud800",
            "\ufffe",
            "\U000e0041",
            "</div>",
            "<b",
            "&amp;",
            "word",
        ]
    ),
    max_size=60,
).map("".join)


@given(st.text(max_size=300) | marks | hostile)
def test_any_text_gives_safe_sentences(text: str) -> None:
    check_safe(speakable(text))


words = st.lists(
    st.from_regex(r"[A-Za-z]{1,12}|[2-9][0-9]{0,5}|[a-z]{1,5}_[a-z]{1,5}", fullmatch=True), max_size=400
)
between = st.sampled_from(
    [" ", "  ", ", ", ". ", "? ", "; ", " - ", " * ", "\n", " (", ") ", "! ", " + ", "*", " _ "]
)


@given(words, st.data())
def test_the_words_of_plain_text_survive_in_order(text: list[str], data: st.DataObject) -> None:
    written = "".join(word + data.draw(between) for word in text)
    assert words_of(" ".join(speakable(written))) == words_of(written)


def words_of(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text) if word != "_"]


@given(st.lists(st.from_regex(r"[A-Z]?[a-z]{1,10}[.,?!]?", fullmatch=True), max_size=60))
def test_what_is_said_is_said_the_same_again(text: list[str]) -> None:
    once = speakable(" ".join(text))
    assert speakable(" ".join(once)) == once


@given(words)
def test_long_sentences_are_split_and_lose_no_word(text: list[str]) -> None:
    sentences = speakable(", ".join(["begin", *text, *["word"] * 1_000]))
    assert " ".join(sentences).split(", ") == ["begin", *text, *["word"] * 1_000]


@pytest.mark.parametrize(
    "text", ["word " * 3_000, "a" * 5_000, "重" * 5_000, "a, " * 3_000, "x" * 2_000 + "."]
)
def test_a_long_sentence_is_split_without_loss(text: str) -> None:
    sentences = speakable(text)
    check_safe(sentences)
    assert "".join(sentences).replace(" ", "") == text.strip().replace(" ", "")


def test_splits_fall_after_clauses_where_there_are_any() -> None:
    first, *_ = speakable(("and so on " * 120 + "here, ") * 3)
    assert first.endswith("here,")


@pytest.mark.parametrize(
    "text",
    [
        "*a " * 20_000,
        "[" * 30_000,
        "[a" * 30_000,
        "[a][" * 10_000,
        "[a\n" * 20_000,
        "![" * 30_000,
        "[a](" * 20_000,
        "a-" * 30_000,
        "<a " * 20_000,
        "`" * 9_999,
        "| a " * 5_000 + "\n" + "|-" * 5_000,
        "> " * 3_000 + "x",
        "www." * 20_000,
        "/a" * 30_000,
        "sk-" * 20_000,
        "__a" * 20_000,
    ],
    ids=lambda text: text[:4],
)
def test_no_text_takes_long(text: str) -> None:
    began = time.monotonic()
    check_safe(speakable(text))
    assert time.monotonic() - began < 60


def test_the_parser_is_imported_when_it_is_needed() -> None:
    code = "import sys, voice.speaking.speakable; sys.exit('markdown_it' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_stands_for_something_is_said_in_the_language() -> None:
    text = (
        "Sieh ![](x.png) in /home/me/app/src/main.py:7 und https://example.com an.\n\n```py\na\nb\n```\n\n🚀"
    )
    assert speakable(text, "de") == [
        "Sieh ein Bild in src/main.py, Zeile 7 und ein Link auf example.com an.",
        "ein Codeblock von 2 Zeilen in Python",
        "ein Emoji",
    ]
    table = "| a | b | c | d | e |\n|---|---|---|---|---|\n| 1 | 2 | 3 | 4 | 5 |"
    assert speakable(table, "de-AT") == ["eine Tabelle mit 1 Zeile und 5 Spalten: a, b, c, d, e"]
    assert speakable("```\na\n```", "fr") == ["a code block of 1 line"]
