"""What the keys do, in words: the hint line at the bottom, and the help behind it."""

from questionnaire.model import Kind, Question, Questionnaire, Response
from questionnaire.presenters.terminal.columns import cells
from questionnaire.presenters.terminal.state import LONG_LIST, Part, Target, Ui, highlighted
from questionnaire.progress import Step

AGAIN = "Esc again to stop"

HELP = (
    ("Up, Down", "go through the rows (also k and j)"),
    ("Enter", "choose a row, type on it, or send"),
    ("Space", "tick, where several can be chosen"),
    ("1 to 9", "choose the row of that number; in a long list, go to it"),
    ("Tab, Right", "next question, and the review after the last"),
    ("Shift+Tab, Left", "question before"),
    ("n, N", "note on an option, on the question; Alt+N for the question while typing"),
    ("/", "filter the list"),
    ("PgUp, PgDn", "scroll the page"),
    ("Shift+Up, Down", "scroll the preview (also Ctrl+U, Ctrl+D)"),
    ("Esc", "leave what is being typed, which is kept; elsewhere, decline to answer"),
    ("Ctrl+C", "stop at once"),
    ("", ""),
    ("While typing", ""),
    ("Alt+Enter", "new line (also Ctrl+J)"),
    ("Ctrl+G", "write in your editor"),
    ("Ctrl+Z", "undo"),
)

_SEPARATOR = " · "


def hint(asked: Questionnaire, step: Step, ui: Ui, width: int, *, more: bool, preview_more: bool) -> str:
    """Return the hint line: what fits of what can be done now, the most useful first.

    `more` says that the page goes on below the screen, `preview_more` that the preview does.
    """
    if step.stopping:
        return _joined([AGAIN, "any other key goes on"], width)
    if ui.help:
        return _joined([*(["PgDn more"] if more else []), "any other key closes this"], width)
    scroll = (["Shift+↓ preview"] if preview_more else []) + (["PgDn more"] if more else [])
    if step.index is None:
        sends = ui.review_row == len(asked.questions)
        return _joined(["Enter sends" if sends else "Enter edits", *scroll, "↑↓ move", "Esc declines"], width)
    question, response = asked.questions[step.index], step.responses[step.index]
    if ui.entry:
        return _joined(_while_typing(question, ui.entry.target, ui.entry.field.text), width)
    rest = ["Esc declines", "? keys"]
    if len(asked.questions) > 1 or asked.review:
        rest.insert(0, "Tab next")
    return _joined([*_on_rows(question, response, ui, step.index), *scroll, *rest], width)


def _while_typing(question: Question, target: Target, text: str) -> list[str]:
    if target is Target.FILTER:
        return ["Enter to the list", "↑↓ move", "Esc leaves"]
    if target is Target.NOTE:
        enter = "Enter keeps"
    elif not text and question.kind is Kind.TEXT and not question.required:
        enter = "Enter skips"
    elif question.multi_select:
        enter = "Enter goes on"
    else:
        enter = "Enter answers"
    return [enter, "Alt+Enter new line", "Esc leaves", "Ctrl+G editor"]


def _on_rows(question: Question, response: Response, ui: Ui, index: int) -> list[str]:
    item = highlighted(question, ui.memories[index])
    match item.part:
        case Part.WORDS:
            return ["Enter edits" if response.draft else "Type your answer", "↑↓ move"]
        case Part.NEXT:
            return ["Enter goes on", "↑↓ move"]
        case Part.SKIP:
            return ["Enter skips", "↑↓ move"]
    does = "Enter ticks" if question.multi_select else "Enter chooses"
    can = [does, "↑↓ move", "n note"]
    if len(question.options) >= LONG_LIST:
        can.insert(2, "/ filter")
    return can


def _joined(parts: list[str], width: int) -> str:
    kept = parts[0]
    for part in parts[1:]:
        if cells(kept) + cells(_SEPARATOR) + cells(part) > width:
            break
        kept += _SEPARATOR + part
    return kept
