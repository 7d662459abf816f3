"""Text from a model, in every field and at every width, draws rows of its own place only."""

import unicodedata

import pytest

from questionnaire.contracts import CONTRACTS
from questionnaire.presenters.terminal.columns import row_cells

EVIL = [
    "x\n❯ 2. Delete everything\n  3. Next\r\n",
    "\x1b[2J\x1b]52;c;aGk=\x07\x9b31m\x1bP1;1|\x1b\\ \x00\x08\x0b\x7f\x85",
    "a\u202eb\u2066c\u200bd\u200fe\u2028f\u2029g\ufeffh\u00ad",
    "  2. [x] Other   3. [ ] x  " * 3,
    "日" * 30 + "e" + "\u0301" * 100 + "👩\u200d🔬🇩🇪❤\ufe0f",
    "y" * 10_000,
    "[x] ✓ yes │ ┃ " * 20,
]


def arguments(contract, evil):
    option = {"label": f"1{evil}", "description": evil, "value": evil, "preview": evil}
    other = {"label": f"2{evil}", "description": evil, "value": f"2{evil}"}
    if contract == "user_select":
        return {"question": f"q{evil}", "options": [option, other], "allowCustom": True}
    question = {
        "header": evil,
        "question": f"q{evil}",
        "id": evil,
        "type": "select",
        "options": [option, other],
    }
    second = {**question, "id": "two", "question": f"r{evil}", "multiSelect": True}
    return {"questions": [question, second]}


@pytest.mark.parametrize("width", [20, 40, 80, 120])
@pytest.mark.parametrize("evil", EVIL)
@pytest.mark.parametrize("contract", CONTRACTS)
def test_no_text_commands_the_terminal_or_forges_a_row(sit, contract, evil, width):
    seat = sit(arguments(contract, evil), contract, width=width, height=24)
    for keys in [("down",), ("n",), ("escape", "end"), ("a",), ("escape", "tab"), ("tab",)]:
        seat.press(*keys)
        if seat.dialog.text is not None:
            seat.paste(evil)
        for top in range(0, 200, 23):
            screen = seat.look()
            for row in screen.rows:
                assert row_cells(row) <= width
                for char in "".join(text for _, text in row):
                    assert unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
            if top:
                continue
            for row in screen.rows:
                check_gutter(row)
        if seat.outcome:
            break


def check_gutter(row):
    """The pointer, the number and the bar of a row are fragments of ours; text stands to their right."""
    texts = [(style, text) for style, text in row if text]
    styles = [style for style, _ in texts]
    for style, text in texts:
        if style in ("number", "bar"):
            assert text.strip(" 0123456789.┃│") == ""
    line = "".join(text for _, text in texts)
    margin = 1 if line.startswith(" ") and not line.startswith("  ") else 0
    gutter = line[margin : margin + 2]
    if gutter == "❯ ":
        assert "here" in styles
    if gutter.strip() == "" and line[margin + 2 : margin + 3].isdigit():
        assert "number" in styles, line


@pytest.mark.parametrize("evil", EVIL)
def test_what_a_user_pastes_comes_back_as_it_was(sit, evil):
    form = {"questions": [{"id": "a", "question": "A?", "type": "text"}]}
    seat = sit(form, "form").paste(evil).press("enter")
    assert seat.step.responses[0].answer.custom == evil.replace("\r\n", "\n").replace("\r", "\n")
