"""The keys as terminals send them, in the names under which `keys` knows them. Pure.

Both what terminals have always sent and the forms that tell more keys apart: CSI u (releases too), and that
of xterm's modifyOtherKeys, which tmux sends as well.
"""

import re
from collections.abc import Iterator, Mapping

from questionnaire.presenters.terminal.keys import Key

INTERRUPT = "interrupt"
"""The name of Ctrl-C, which `keys` does not know: it ends the dialog."""

_NAMES: Mapping[str, str] = {
    "\r": "enter",
    "\n": "newline",
    "\t": "tab",
    "\x1b[Z": "back-tab",
    "\x1b": "escape",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x1b[3~": "delete",
    "\x1b[5~": "page-up",
    "\x1b[6~": "page-down",
    "\x1b[1~": "home",
    "\x1b[7~": "home",
    "\x1b[4~": "end",
    "\x1b[8~": "end",
    "\x1b[1;2A": "preview-up",
    "\x1b[1;2B": "preview-down",
    "\x1b[1;5D": "word-left",
    "\x1b[1;5C": "word-right",
    "\x1b[1;3D": "word-left",
    "\x1b[1;3C": "word-right",
    "\x1bb": "word-left",
    "\x1bf": "word-right",
    "\x1bn": "note",
    "\x1b\r": "newline",
    "\x1b\n": "newline",
    "\x1b\x7f": "erase-word",
    "\x01": "home",
    "\x03": INTERRUPT,
    "\x04": "delete",
    "\x05": "end",
    "\x07": "editor",
    "\x0b": "erase-rest",
    "\x0e": "down",
    "\x10": "up",
    "\x15": "erase-line",
    "\x17": "erase-word",
    "\x1a": "undo",
    "\x1f": "undo",
}
_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end"}
_PASTE = re.compile(r"\x1b\[200~(.*?)\x1b\[201~", re.DOTALL)
_KEY = re.compile(r"\x1b\[(\d{1,7})(?::\d*)*(?:;(\d{1,3})?(?::(\d+))?(?:;[\d:]*)?)?([u~A-Z])")
_OTHER_KEY = re.compile(r"\x1b\[27;(\d+);(\d+)~")
_SEQUENCE = re.compile(r"\x1b?\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|\x1b[^\x1b]|.", re.DOTALL)
_SHIFT, _ALT, _CONTROL = 1, 2, 4
_RELEASED = "3"


def decoded(data: str) -> Iterator[Key]:
    """Return the keys in what a terminal sent; one that nobody knows is "other", a release none at all."""
    for piece in re.split(r"(\x1b\[200~.*?\x1b\[201~)", data, flags=re.DOTALL):
        if pasted := _PASTE.fullmatch(piece):
            yield Key("paste", pasted[1])
            continue
        for sequence in _SEQUENCE.findall(piece):
            sent = _as_ever(sequence)
            if sent in _NAMES:
                yield Key(_NAMES[sent])
            elif sent[:2] in ("\x1b[", "\x1bO") and sent[2:] in _ARROWS:
                yield Key(_ARROWS[sent[2:]])
            elif len(sent) == 1 and sent.isprintable():
                yield Key("text", sent)
            elif sent:
                yield Key("other")


def _as_ever(sequence: str) -> str:
    """Return what a terminal would have sent before CSI u for the same key, "" for a release."""
    found = _KEY.fullmatch(_OTHER_KEY.sub("\x1b[\\2;\\1u", sequence))
    if found is None:
        return sequence
    number, modifiers, event, last = int(found[1]), int(found[2] or 1) - 1, found[3], found[4]
    if event == _RELEASED:
        return ""
    held = modifiers & (_SHIFT | _ALT | _CONTROL)
    if last != "u":
        plain = f"\x1b[{last}" if last != "~" else f"\x1b[{number}~"
        return f"\x1b[{number};{held + 1}{last}" if held else plain
    if number == 9 and held & _SHIFT:
        return "\x1b[Z"
    if number == 13 and held:
        return "\n"
    if number >= 0xE000:
        return sequence
    char = chr(number)
    if held & _SHIFT:
        char = char.upper()
    if held & _CONTROL:
        char = chr(ord(char.upper()) & 0x1F)
    return f"\x1b{char}" if held & _ALT else char
