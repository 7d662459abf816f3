r"""Text as an agent writes it, turned into sentences to be spoken.

What becomes of what:

=====================================  ===================================================================
headings, emphasis, bullets, quotes    their words; the marks go
numbered lists                         keep their numbers
a fenced block                         "a code block of 12 lines of Python"
inline code                            its words
links and images                       their text; without one, "a link to example.com" and "an image"
a bare address                         "a link to example.com"
a path of three parts or more          its last two: ``/home/me/app/src/main.py:7`` is "src/main.py, line 7"
a table of up to 4 rows and columns    row by row, each cell after the heading of its column
a larger table                         "a table of 12 rows and 3 columns: Name, Age, City"
HTML tags and comments                 nothing; what is no HTML (``Vec<T>``) stays
emoji                                  nothing; their names where a piece of text holds nothing else
keys, tokens, passwords                "a secret"
digests, other long random strings     "a long string of characters"
lines drawn with one character         nothing
escape sequences, control, zero-width  nothing
and bidirectional characters
=====================================  ===================================================================

All other text survives: identifiers (``snake_case``, ``__init__``), products (``a*b*c``), version numbers.
The words that stand for something are those of a language (`voice.phrases`); here they are English.
Blocks are found by markdown-it-py as CommonMark has them, except that indented text is text, for a message
is far more often indented than it is code without a fence. Emphasis follows a rule of its own (`_emphasis`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import islice, pairwise, takewhile
from typing import TYPE_CHECKING, Any

from voice.phrases import counted, said

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

OPEN_DELIMITERS = "open_delimiters"
"""Key in what `parsed` tells."""

MAX_SENTENCE = 2_000
"""Characters in one sentence, at most. eSpeak NG crashes from about 15,000 on; and less is thrown away when
somebody interrupts."""

READ_ROWS = READ_COLUMNS = 4
"""The largest table that is read out: beyond it nobody remembers what stood where."""

_BRACKETS = _LONGEST_LINK_TEXT = 300
"""The brackets of a paragraph that may begin a link are its first so many, and a link's text has at most so
many characters: the parser looks for the end of each anew, and would take for ever."""


@dataclass(frozen=True)
class Sentence:
    """A sentence to be spoken."""

    text: str
    """1 to `MAX_SENTENCE` characters on one line."""
    line: int
    """The line of the text in which it begins; the first is 0."""


def speakable(text: str, language: str = "en") -> list[str]:
    """The sentences of a text in order, each of 1 to `MAX_SENTENCE` characters on one line.

    Never raises; a text without anything to say has no sentences. A sentence that is too long is split after
    a clause, else between words, else (inside a word longer than `MAX_SENTENCE`) anywhere: no word is lost.
    ``language`` is that of the words that stand for what is not read out.
    """
    return [sentence.text for sentence in sentences_of(text, language)]


def sentences_of(text: str, language: str = "en") -> list[Sentence]:
    """The same sentences, each with the line of the text in which it begins."""
    return [sentence for block in blocks(parsed(clean(text)), language) for sentence in sentences_in(block)]


def lines_with_words(text: str, first: int, before: int | None = None) -> int:
    """How many lines of a text show something, from the line ``first`` on, and ``before`` another.

    Fences and blank lines do not.
    """
    lines = clean(text).split("\n")[first:before]
    return sum(_says_something(line) and not _FENCE.match(line) for line in lines)


# --- Characters -------------------------------------------------------------------------------------------

_LINE_BREAK = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_ESCAPE = re.compile(
    r"""
      (?: \x1b\[ | \x9b ) [0-?]* [ -/]* [@-~]?          # CSI: colours, cursor
    | (?: \x1b[\]PX^_] | [\x9d\x90\x98\x9e\x9f] )       # OSC, DCS, SOS, PM, APC, each with a string,
      [^\x07\x1b\x9c\n]* (?: \x07 | \x1b\\ | \x9c )?    #   or with what there is of it on the line
    | \x1b [ -/]* [0-~]?
    """,
    re.VERBOSE,
)
_NO_SPEECH = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Unicode categories: control, format (bidirectional, zero-width, tags), surrogate, private, unassigned."""
_EMOJI_GLUE = frozenset(map(chr, [0x20E3, 0xFFFC, 0xFFFD, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))
"""The frame of a keycap, stand-ins for what was not text, variation selectors."""


def clean(text: str) -> str:
    r"""Without anything that a person would not call a character; lines end in ``\n``.

    Invisible characters go first: they could hide an escape sequence from the pattern.
    """
    text = "".join(c for c in text if unicodedata.category(c) == "Cc" or not _unspeakable(c))
    text = _LINE_BREAK.sub("\n", _ESCAPE.sub("", text))
    return "".join(c for c in text if c in "\n\t" or not _unspeakable(c))


@cache
def _unspeakable(character: str) -> bool:
    return unicodedata.category(character) in _NO_SPEECH or character in _EMOJI_GLUE


_EMOJI = "[\U0001f000-\U0001faff\u2600-\u2775\u2794-\u27bf\u2b00-\u2bff\u231a\u231b\u23e9-\u23fa\u25b6\u25c0]"
_EMOJI_RUN = re.compile(rf"[ \t]*{_EMOJI}(?:[ \t]*{_EMOJI})*[ \t]*")
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_SKIN_TONES = range(0x1F3FB, 0x1F400)


def _without_emoji(text: str, language: str) -> str:
    spoken = _EMOJI_RUN.sub(lambda run: "" if text[run.end() : run.end() + 1] in ".,;:!?" else " ", text)
    if _says_something(spoken):
        return spoken
    emoji = (c for c in text if re.match(_EMOJI, c) and ord(c) not in _SKIN_TONES)
    return ", ".join(dict.fromkeys(_emoji_name(c, language) for c in emoji))


def _emoji_name(emoji: str, language: str) -> str:
    if ord(emoji) in _FLAG_LETTERS:
        return said(language, "flag")
    if language.partition("-")[0] != "en":  # Unicode has no names in other languages
        return said(language, "emoji")
    name = unicodedata.name(emoji, said(language, "emoji")).lower()
    return re.sub(r"^(?:(?:white|black|heavy) )+| sign$", "", name)


def _says_something(text: str) -> bool:
    return any(c.isalnum() or c in "+=%&@#" or unicodedata.category(c) in ("Sc", "So") for c in text)


# --- Markdown ---------------------------------------------------------------------------------------------


@cache
def _parser() -> MarkdownIt:
    """The parser; made when it is first needed, for its import costs 40 ms."""
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import html_block, reference, table
    from markdown_it.rules_inline import image, link

    def definition(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        """``[label]: target``, where the target is one; ``[note]: mind the gap`` is text.

        What it defines is not remembered: it may come long after what refers to it has been spoken.
        """
        is_one = re.match(r"\[[^\]]+\]:\s*(?:<|\w+://|\.{0,2}/|#|mailto:)", _line(state, line))
        consumed = is_one is not None and reference(state, line, end, silent)
        state.env.pop("references", None)
        return consumed

    def early_table(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        """A table that is one from its first bar: what were sentences until then is no heading."""
        before, bar, _ = _line(state, line).partition("|")
        return bool(bar) and not _BEGUN_SENTENCE.search(before) and table(state, line, end, silent)

    def invisible_html(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        """HTML of which nothing is text; all other HTML is text with tags in it."""
        opening = re.match(INVISIBLE_HTML, _line(state, line), re.IGNORECASE | re.ASCII)
        if opening is None:
            return False
        closed = last_closings(state.src)[opening[1].lower()] > state.bMarks[line]
        return closed and html_block(state, line, end, silent)

    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 100})
    parser.enable(["table", "strikethrough"]).disable("code")
    parser.block.ruler.at("reference", definition)
    parser.block.ruler.at("table", early_table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.at("html_block", invisible_html, {"alt": ["paragraph", "reference", "blockquote"]})
    parser.inline.ruler.at("emphasis", _emphasis)
    for name, rule in (("link", link), ("image", image)):
        parser.inline.ruler.at(name, partial(_where_brackets_are_few, rule, "]("))
    parser.inline.ruler.after(
        "link", "reference_link", partial(_where_brackets_are_few, _reference_link, "][")
    )
    parser.inline.ruler2.push("note_open_delimiters", _note_open_delimiters)
    # A link is its text wherever it leads.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return parser


INVISIBLE_HTML = "<(!--|script|style)"
_CLOSING = re.compile("--(?=>)|</(script|style)>", re.IGNORECASE | re.ASCII)


@lru_cache(maxsize=1)
def last_closings(text: str) -> dict[str, int]:
    """Where invisible HTML ends for the last time, by what it began with: ``!--``, ``script``, ``style``."""
    last = {"!--": -1, "script": -1, "style": -1}
    for closing in _CLOSING.finditer(text):
        last[(closing[1] or "!--").lower()] = closing.start()
    return last


@lru_cache(maxsize=8)
def _end_of_brackets(text: str) -> int:
    """Where the first bracket stands that begins no link any more, for there are too many before it."""
    brackets = (at for at, character in enumerate(text) if character == "[")
    return next(islice(brackets, _BRACKETS, None), len(text))


def _where_brackets_are_few(
    rule: Callable[[StateInline, bool], bool], behind: str, state: StateInline, silent: bool
) -> bool:
    """The rule, where its bracket is one of the first, and is closed soon by what is to stand ``behind``."""
    bracket = state.src.find("[", state.pos, state.pos + 2)
    if bracket < 0 or bracket >= _end_of_brackets(state.src):
        return False
    end, soon = state.posMax, min(state.posMax, bracket + _LONGEST_LINK_TEXT)
    if state.src.find(behind, bracket, soon + 1) < 0:
        return False
    state.posMax = soon
    closed = state.md.helpers.parseLinkLabel(state, bracket) >= 0
    state.posMax = end
    return closed and rule(state, silent)


def _reference_link(state: StateInline, silent: bool) -> bool:
    """``[text][label]``: its text, whether or not the label is defined; ``x[0][1]`` is itself."""
    before = state.src[state.pos - 1] if state.pos else " "
    if state.src[state.pos] != "[" or before.isalnum() or before in "])_":
        return False
    begin, end = state.pos + 1, state.md.helpers.parseLinkLabel(state, state.pos)
    label = re.compile(r"\]\[[^\[\]]*\]").match(state.src, max(end, 0), state.posMax)
    if label is None or not any(c.isalpha() for c in state.src[begin:end]):
        return False
    if not silent:
        all_of_it, state.pos, state.posMax = state.posMax, begin, end
        state.push("reference_open", "", 1)
        state.md.inline.tokenize(state)
        state.push("reference_close", "", -1)
        state.posMax = all_of_it
    state.pos = label.end()
    return True


def _note_open_delimiters(state: StateInline) -> None:
    """Note whether emphasis, or a strike, was begun that text to come could still end."""
    state.env[OPEN_DELIMITERS] = any(mark.open and mark.end < 0 for mark in state.delimiters)


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


_DUNDER = re.compile(r"__[^\W_](?:\w*[^\W_])?__(?!\w)")


def _emphasis(state: StateInline, silent: bool) -> bool:
    """Mark the runs of ``*`` and ``_`` that may open or close emphasis.

    CommonMark takes ``__init__`` and ``2*3*4`` for emphasis, and ``**「重要」**です`` for none. Here a run
    opens it after anything but a word and closes it before anything but a word (but ``**bold**ly`` closes
    too), one identifier between double underscores is itself, and Chinese, Japanese and Korean, which put no
    spaces around emphasis, do not count as words beside a star.
    """
    from markdown_it.rules_inline.state_inline import Delimiter

    mark = state.src[state.pos]
    if silent or mark not in "*_":
        return False
    end = state.pos
    while end < state.posMax and state.src[end] == mark:
        end += 1
    before = state.src[state.pos - 1] if state.pos else " "
    after = state.src[end] if end < state.posMax else " "

    def word(character: str) -> bool:
        wide = mark == "*" and unicodedata.east_asian_width(character) in "WF"
        return character.isalnum() and not wide

    if not word(before) and (dunder := _DUNDER.match(state.src, state.pos, state.posMax)):
        state.pending += dunder[0]
        state.pos = dunder.end()
        return True
    length = end - state.pos
    opens = not after.isspace() and not word(before)
    closes = not before.isspace() and (not word(after) or (mark == "*" and length > 1))
    for _ in range(length):
        state.push("text", "", 0).content = mark
        state.delimiters.append(Delimiter(ord(mark), length, len(state.tokens) - 1, -1, opens, closes))
    state.pos = end
    return True


@dataclass(frozen=True)
class Block:
    """A block as speech: a line break in it ends a sentence, a tab stands where a line of the text ended."""

    text: str
    line: int
    """The line of the text in which it begins."""
    after: int
    """The line after its last one."""


def parsed(text: str, env: dict[str, Any] | None = None) -> list[Token]:
    """The tokens of a clean text.

    ``env`` is told as `OPEN_DELIMITERS` whether the last text in it has emphasis that is not ended.
    """
    return _parser().parse(text, env)


def blocks(tokens: Iterable[Token], language: str = "en") -> Iterator[Block]:
    """What is said of each block."""
    lists: list[_Numbering] = []
    number = ""
    line = after = 0
    remaining = iter(tokens)
    for token in remaining:
        speech: Iterable[str] = ()
        line, after = token.map or (line, after)
        if token.type == "inline":
            speech = [_inline(token.children or [], language)]
        elif token.type == "fence":
            speech = [_code_block(token.content, token.info, language)]
        elif token.type == "html_block":
            text = re.sub(r"(?is)<!--.*?-->|<(script|style)\b.*?</\1>", " ", token.content)
            speech = [_spoken(text, language)]
        elif token.type == "table_open":
            inside = takewhile(lambda token: token.type != "table_close", remaining)
            speech = _table(list(_rows(inside, language)), language)
        elif token.type.endswith("list_open"):
            lists.append(_Numbering())
        elif token.type.endswith("list_close"):
            lists.pop()
        elif token.type == "list_item_open" and token.info:
            number += lists[-1].next(token.info) + token.markup + " "
        elif token.type == "list_item_close" and number:
            speech = [""]
        for text in speech:
            yield Block(number + text, line, after)
            number = ""


class _Numbering:
    """The numbers of a list: as they are written, but counted where all are written as 1."""

    def __init__(self) -> None:
        self._written = self._said = ""

    def next(self, written: str) -> str:
        self._said = str(int(self._said) + 1) if written == self._written == "1" else written
        self._written = written
        return self._said


_INLINE_HTML = frozenset(
    """
    a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark q rp rt ruby s samp small span
    strike strong sub sup time tt u var wbr
    """.split()  # noqa: SIM905
)
_HTML = _INLINE_HTML | frozenset(
    """
    address article aside audio blockquote body br button canvas caption center col colgroup dd details
    dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html
    iframe img input legend li link main menu meta nav ol optgroup option p picture pre script section select
    source style summary svg table tbody td template textarea tfoot th thead title tr track ul video
    """.split()  # noqa: SIM905
)


def _inline(tokens: Sequence[Token], language: str) -> str:
    return _spoken(_plain(tokens, language), language)


def _plain(tokens: Sequence[Token], language: str) -> str:
    parts: list[str] = []
    link_at, target = 0, ""
    for token in tokens:
        if token.type == "softbreak":
            parts.append("\t")
        elif token.type == "hardbreak":
            parts.append("\t\n")
        elif token.type == "image":
            parts.append(_plain(token.children or [], language).strip() or said(language, "image"))
        elif token.type == "html_inline":
            parts.append(_tag(token.content))
        elif token.type == "link_open":
            link_at, target = len(parts), str(token.attrGet("href") or "")
        elif token.type == "link_close":
            if not "".join(parts[link_at:]).strip():
                parts.append(target)
        else:
            parts.append(token.content.replace("\t", " "))
    return re.sub(
        r"^\[([ xX])\] ",
        lambda box: said(language, "to_do" if box[1] == " " else "done") + " ",
        "".join(parts),
    )


def _tag(html: str) -> str:
    """What is left of a tag: nothing, a break between words, or, where HTML has no such tag, itself."""
    tag = re.match(r"</?([a-zA-Z][\w-]*)", html)
    if tag is None:
        return ""
    name = tag[1].lower()
    if name == "br":
        return "\n"
    return "" if name in _INLINE_HTML else " " if name in _HTML else html


_FENCE = re.compile(r"[\s>]*(?:```|~~~)")
_NO_LANGUAGE = frozenset({"", "text", "txt", "plain", "plaintext", "none", "output"})
_LANGUAGES = {
    "bash": "shell", "c++": "C++", "cpp": "C++", "cs": "C#", "csharp": "C#", "css": "CSS", "html": "HTML",
    "javascript": "JavaScript", "js": "JavaScript", "json": "JSON", "jsx": "JavaScript", "kt": "Kotlin",
    "md": "Markdown", "php": "PHP", "ps1": "PowerShell", "py": "Python", "rb": "Ruby", "rs": "Rust",
    "sh": "shell", "sql": "SQL", "toml": "TOML", "ts": "TypeScript", "tsx": "TypeScript",
    "typescript": "TypeScript", "xml": "XML", "yaml": "YAML", "yml": "YAML", "zsh": "shell",
}  # fmt: skip


def _code_block(code: str, info: str, language: str) -> str:
    lines = len(code.splitlines())
    if not lines:
        return said(language, "empty_code_block")
    word = re.match(r"[\w+#-]{0,20}(?=\s|$)", clean(info).strip().lower())
    written_in = word[0] if word else ""
    size = counted(language, "lines", lines)
    if written_in in _NO_LANGUAGE:
        return said(language, "code_block", lines=size)
    name = _LANGUAGES.get(written_in, written_in.capitalize())
    return said(language, "code_block_in", lines=size, name=name)


def _rows(tokens: Iterable[Token], language: str) -> Iterator[list[str]]:
    row: list[str] = []
    for token in tokens:
        if token.type == "tr_open":
            row = []
        elif token.type == "inline":
            row.append(" ".join(_inline(token.children or [], language).split()))
        elif token.type == "tr_close":
            yield row


def _table(rows: Sequence[Sequence[str]], language: str) -> Iterator[str]:
    """A table as speech; ``rows`` begin with the headings."""
    heading, body = rows[0], rows[1:]
    columns = ", ".join(filter(None, heading))
    if not body:
        yield columns
    elif len(body) <= READ_ROWS and len(heading) <= READ_COLUMNS:
        for row in body:
            cells = zip(heading, row, strict=False)
            yield ", ".join(f"{name}: {cell}" if name else cell for name, cell in cells if cell)
    else:
        height, width = counted(language, "rows", len(body)), counted(language, "columns", len(heading))
        size = said(language, "table", rows=height, columns=width)
        yield f"{size}: {columns}" if columns else size


# --- Words ------------------------------------------------------------------------------------------------

_URL_CHARACTER = r"[A-Za-z0-9À-ɏ\-._~:/?\#\[\]@!$&'*+,;=%]"
_URL = re.compile(
    rf"(?<![A-Za-z0-9])(?:[A-Za-z][A-Za-z0-9+.-]{{1,20}}://|www\.)(?:{_URL_CHARACTER}|\({_URL_CHARACTER}*\))+"
)
_AUTHORITY = re.compile(r"(?:[^:/?#]+://)?(?:[^/?#]*@)?(?:www\.)?([^/?#]*)")

_SECRET = re.compile(
    r"""
      -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY----- .*? (?: -----END[ ][A-Z ]*PRIVATE[ ]KEY----- | \Z )
    | \b (?: (?:gh[opsur]|github_pat|glpat|xox[abeoprs]) [-_]
           | (?:sk|pk|rk|hf|npm|pypi|dop|shpat) [-_] (?= [\w-]{0,80}\d ) | AIza ) [\w-]{16,}
    | \b AKIA[0-9A-Z]{16} \b
    | \b eyJ[\w-]{8,} (?: \.[\w-]+ ){1,2}                                               # a JSON Web Token
    | (?P<kept> \b(?i:bearer|basic)[ \t] ) (?= [a-zA-Z.~+/-]{0,80}\d ) [\w.~+/-]{20,}=*
    | (?P<name> \b[\w-]{0,40} (?: (?i:password|passwd|passphrase|secret|(?:api|access|secret)_?key) \d?=["']?
                               | (?i:token) =["']? (?! [\d.,]+ (?!\w) ) ) ) (?!=)  # token=4096 is how many
      [^\s"']{6,}
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_LONG_STRING = re.compile(
    r"""
      \b (?:0x)? (?= [0-9]*[a-f] ) [0-9a-f]{32,} \b                                     # a digest
    | \b [0-9a-f]{8} (?: -[0-9a-f]{4} ){3} -[0-9a-f]{12} \b                             # a UUID
    | (?<! [\w+/] ) [\w+/]{64,} ={0,2} | (?<! [\w+-] ) [\w+-]{32,} ={0,2}               # if it looks random
    """,
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
_RANDOM_ALTERNATIONS = 4
"""Changes between letters and digits from which on a long string is taken for random: a name has fewer."""

_PATH_CHARACTER = r"[A-Za-z0-9_À-ɏ.@+~%-]"
_PATH = re.compile(
    rf"""
    (?<! [A-Za-z0-9_À-ɏ.@+~%/\\-] )
    (?P<root> [A-Za-z]:[\\/] | (?: ~ | \.{{1,2}} )? / )?
    (?P<names> {_PATH_CHARACTER}+ (?: [\\/] {_PATH_CHARACTER}+ )+ ) [\\/]?
    (?: :(?P<line> \d+ ) (?: :(?P<column> \d+ ) )? )?
    """,
    re.VERBOSE,
)
_DRAWN_LINE = re.compile(r"([^\w\s])\1{3,}")


def _spoken(text: str, language: str) -> str:
    """Plain text with everything replaced that is no good to hear."""
    text = _URL.sub(lambda url: _link(url, language), clean(text))
    hidden = said(language, "secret")
    text = _SECRET.sub(lambda secret: (secret["kept"] or secret["name"] or "") + hidden, text)
    text = _LONG_STRING.sub(lambda string: _long_string(string, language), text)
    text = _PATH.sub(lambda path: _last_names(path, language), text)
    text = _DRAWN_LINE.sub(lambda line: {".": "...", "!": "!", "?": "?"}.get(line[1], " "), text)
    return _without_emoji(text, language)


def _link(match: re.Match[str], language: str) -> str:
    url = match[0].rstrip(".,;:!?'*_~]")
    authority = _AUTHORITY.match(url)
    host = authority[1] if authority else ""
    spoken = said(language, "link", host=host) if host else url.partition("://")[2]
    touching = match.string[match.start() - 1 : match.start()].isalnum()  # 看https://… has no space
    return " " * touching + spoken + match[0][len(url) :]


def _long_string(match: re.Match[str], language: str) -> str:
    kinds = [c.isdigit() for c in match[0] if c.isalnum()]
    alternations = sum(one != other for one, other in pairwise(kinds))
    return said(language, "long_string") if alternations >= _RANDOM_ALTERNATIONS else match[0]


def _last_names(path: re.Match[str], language: str) -> str:
    """The last two names of a path, and the line; of what may be no path (``and/or``) all."""
    written = path["names"].rstrip(".")
    names = re.split(r"[\\/]", written)
    is_file = re.search(r"[^.]\.[A-Za-z][A-Za-z0-9]{0,7}$", names[-1]) is not None
    if not is_file and path["root"] is None:
        return path[0]
    rest = path[0][path.end("names") - path.start() - (len(path["names"]) - len(written)) :]
    if path["line"] is not None:
        where = "at_column" if path["column"] else "at_line"
        rest = ", " + said(language, where, line=path["line"], column=path["column"])
    spoken = "/".join(names[-2:]) if len(names) > 2 else (path["root"] or "") + written
    return spoken + rest.lstrip("\\/")


# --- Sentences --------------------------------------------------------------------------------------------

_END = re.compile(
    r"""
      \n
    | [.!?…]+ ["'”’»)\]]* (?= \s )
    | [。！？｡]+ [」』”’）)]*
    """,  # noqa: RUF001
    re.VERBOSE,
)
_NO_END = re.compile(
    r"""
      (?: ^ | [\W_] ) (?: [^\W\d_] | (?i: mr|mrs|ms|dr|prof|st|vs|cf|approx|fig|vol|pp|sec|bzw ) ) \. $
    | ^ \s* \d{1,9} [.)] $
    """,
    re.VERBOSE,
)
"""A full stop that ends no sentence: after an initial or an abbreviation, after the number of a list item."""
_BEGUN_SENTENCE = re.compile(r"[.!?…]\W+\w|[。！？｡]|<br|&#?\w+;", re.IGNORECASE)  # noqa: RUF001
"""In Markdown: a sentence has ended and another begun, or perhaps."""
_NUMERO = re.compile(r"\b[Nn]o\.$")
_CLAUSE_END = re.compile(r"[,;:–—](?=\s)|[、，；：]")  # noqa: RUF001


def sentences_in(block: Block, *, growing: bool = False) -> Iterator[Sentence]:
    """The sentences of a block that say something.

    Of a ``growing`` one, which has more words to come, only those that are followed by a word already:
    whether a full stop ends a sentence is told by what follows.
    """
    text = block.text
    last_word = next((at for at in reversed(range(len(text))) if text[at].isalnum()), -1)
    line = block.line
    for begin, end in _spans(text):
        if growing and end > last_word:
            return
        written = text[begin:end]
        sentence = " ".join(written.split())
        if _says_something(sentence):
            margin = len(written) - len(written.lstrip())
            begins_in = line + written.count("\t", 0, margin)
            yield from (Sentence(part, begins_in) for part in _parts(sentence))
        line += written.count("\t")


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where sentences begin and end; a wrong guess costs a pause, never a word."""
    begin = 0
    for end in _END.finditer(text):
        if end[0] != "\n":
            tail = text[max(begin, end.end() - 24) : end.end()]
            first = text[end.end() : end.end() + 80].lstrip()[:1]
            if first.islower() or _NO_END.search(tail) or (_NUMERO.search(tail) and first.isdigit()):
                continue
        yield begin, end.end()
        begin = end.end()
    yield begin, len(text)


def _parts(sentence: str) -> Iterator[str]:
    while len(sentence) > MAX_SENTENCE:
        clauses = [end.end() for end in _CLAUSE_END.finditer(sentence, MAX_SENTENCE // 2, MAX_SENTENCE)]
        at = clauses[-1] if clauses else sentence.rfind(" ", 1, MAX_SENTENCE + 1)
        at = at if at > 0 else MAX_SENTENCE
        yield sentence[:at].rstrip()
        sentence = sentence[at:].lstrip()
    yield sentence
