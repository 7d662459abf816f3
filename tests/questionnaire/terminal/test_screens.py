"""Screens as they are seen, kept as text; `REWRITE_SCREENS=1 pytest …` writes them anew, to be looked at.

The row with the cursor is marked: `I` where something is typed, `<` elsewhere.
"""

import os
from pathlib import Path

import pytest

from questionnaire.presenters.terminal.columns import row_cells

SCREENS = Path(__file__).parent / "screens"
SIZES = [(80, 24), (40, 10), (20, 6), (120, 40)]
PREVIEW = """# Plan

| cost | time |
|---|---|
| low | 2 min |

```python
for x in y:
    stop(x)
```

- *one*
- **two**"""
DEPLOY = {
    "header": "Deploy",
    "question": "Where should the preview be deployed?",
    "options": [
        {"label": "Staging cluster", "description": "Shared, real data shape, slower to reset."},
        {
            "label": "Throwaway VM (Recommended)",
            "description": "Isolated, gone after an hour.",
            "preview": PREVIEW,
        },
    ],
}
CHECKS = {
    "header": "Checks",
    "question": "Which checks should run before that, and how long may they take altogether?",
    "multiSelect": True,
    "options": [
        {"label": "Lint", "description": "A second."},
        {"label": "Types", "description": "Ten seconds."},
        {"label": "日本語テスト", "description": "全部"},
    ],
}
CHOICES = ("choices", {"questions": [DEPLOY, CHECKS]})
FORM = (
    "form",
    {
        "questions": [
            {
                "id": "lang",
                "question": "Which language should the service use?",
                "type": "select",
                "options": [{"value": "py", "label": "Python"}, {"value": "rs", "label": "Rust"}],
            },
            {"id": "name", "question": "What is the service called?", "type": "text"},
            {"id": "note", "question": "Anything else?", "type": "text", "required": False},
        ]
    },
)
MERGE = (
    "user_select",
    {
        "question": "Merge how?",
        "options": [{"label": "Squash"}, {"label": "Rebase", "description": "Keeps each commit."}],
        "allowCustom": True,
    },
)
SCENES = {
    "question": (CHOICES, ()),
    "preview": (CHOICES, ("down",)),
    "ticks": (
        CHOICES,
        ("enter", " ", "down", "down", " ", "n", *"all of 全部", "enter", "down", *"own wörds"),
    ),
    "answered": (CHOICES, ("1", "back-tab")),
    "review": (CHOICES, ("1", "1", "tab")),
    "again": (CHOICES, ("1", "1", "tab", "escape")),
    "missing": (CHOICES, ("tab", "1", "end", "enter", "back-tab", "tab", "enter")),
    "text": (FORM, ("2", *"ledger", "newline", *"of 日本")),
    "sent": (FORM, ("2", *"ledger", "enter", "enter")),
    "filter": (CHOICES, ("tab", "/", *"ty")),
    "help": (CHOICES, ("?",)),
    "selection": (MERGE, ("down",)),
}


def drawn(screen, width):
    rows = []
    for number, (line, row) in enumerate(zip(screen.lines, screen.rows, strict=True)):
        assert row_cells(row) <= width
        mark = ("I" if screen.typing else "<") if number == screen.cursor[1] else " "
        rows.append(f"{mark}|{line}")
    return f"cursor {screen.cursor}\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("name", SCENES)
def test_screens(sit, name, width, height):
    (contract, arguments), keys = SCENES[name]
    seat = sit(arguments, contract, width=width, height=height).press(*keys)
    seen = drawn(seat.look(), width)
    path = SCREENS / f"{width}x{height}" / f"{name}.txt"
    if os.environ.get("REWRITE_SCREENS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(seen)
    assert seen == path.read_text()
    assert len(seat.look().rows) <= height


def test_all_of_a_page_can_be_reached(sit):
    """Whatever the size: scrolling a page shows every word that is on it."""
    words = " ".join(f"word{number}" for number in range(300))
    option = {"label": f"A {words}", "description": f"B {words}", "preview": f"C {words}"}
    question = {"question": f"D {words}", "options": [option, {"label": "x", "description": "y"}]}
    for size in [(20, 6), (40, 10), (80, 24), (120, 40)]:
        width, height = size
        seat, seen = sit({"questions": [question]}, width=width, height=height), set()
        for _ in range(150):
            seat.press("page-up")
        for _ in range(300):
            seen.update(" ".join(seat.lines).replace("│", " ").replace("┃", " ").split())
            seat.press("page-down")
        for _ in range(300):
            seen.update(" ".join(seat.lines).replace("│", " ").split())
            seat.press("preview-down")
        assert {f"word{number}" for number in range(300)} <= seen, size
        assert {"A", "B", "C", "D", "y"} <= seen, size


def test_the_preview_has_a_budget_and_a_scroll_of_its_own(sit):
    question = {
        "question": "Which?",
        "options": [
            {"label": "A", "description": "a", "preview": "\n\n".join(f"line {n}" for n in range(60))},
            {"label": "B", "description": "b"},
        ],
    }
    seat = sit({"questions": [question]})
    shown = [line for line in seat.lines if "line " in line]
    assert len(shown) <= 8
    assert seat.here == "1. A"
    for _ in range(200):
        seat.press("preview-down")
    assert any("line 59" in line for line in seat.lines)
    assert seat.here == "1. A"
    assert any("line 58" in line for line in seat.press("preview-up", "preview-up").lines)


def test_beside_the_list_from_100_columns(sit):
    seat = sit(CHOICES[1]).press("down")
    assert any("Staging" in line and "Plan" in line for line in seat.look(100, 24).lines)
    assert not any("Staging" in line and "Plan" in line for line in seat.look(99, 24).lines)


def test_a_long_header_is_shortened_on_its_tab_only(sit):
    seat = sit({"questions": [{**DEPLOY, "header": "A header of more words"}, CHECKS]})
    assert "A header of mor…" in seat.lines[0]


def test_the_cursor_stands_where_the_next_letter_comes(sit):
    seat = sit(FORM[1], "form").press("tab")
    for text, column in [("", 3), ("ab", 5), ("日本", 7), ("e\u0301", 4), ("👩\u200d🔬", 7)]:
        for letter in text:
            seat.press(letter)
        assert seat.look().cursor == (column, 4)
        assert seat.look().typing
        seat.press("erase-line")
    seat.paste("a" * 77)
    assert seat.look().cursor == (3 + 77 - 75, 5)
    assert not seat.press("escape").look().typing


def test_listed_options_stand_apart_from_their_descriptions(sit):
    described = {"label": "Rebase", "description": "word " * 30}
    seat = sit({"question": "How?", "options": [described, {"label": "Squash"}]}, "user_select", width=60)
    rows = [line[1:] for line in seat.lines]
    first, last = rows.index("❯ 1. Rebase"), rows.index("  2. Squash")
    assert rows[first + 1] == rows[last - 1] == ""
    described_in = rows[first + 2 : last - 1]
    assert len(described_in) > 1
    assert all(line.startswith("    word") for line in described_in)
    assert rows[last + 1] == ""
