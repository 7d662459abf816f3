"""How the parts of the screen look, in as few colours as can be, all of them the terminal's own.

What matters is said by signs as well: without colour nothing is lost.
"""

STYLES = {
    "tab": "dim",
    "tab.here": "bold",
    "question": "bold",
    "bar": "ansicyan",
    "number": "",
    "label": "",
    "here": "bold ansicyan",
    "chosen": "ansigreen",
    "badge": "italic ansigreen",
    "detail": "dim",
    "empty": "dim italic",
    "note": "ansiyellow",
    "notice": "ansiyellow",
    "stop": "bold ansiyellow",
    "hint": "dim",
    "strong": "bold",
    "emphasis": "italic",
    "struck": "strike",
    "code": "ansicyan",
    "heading": "bold underline",
    "rule": "dim",
}
