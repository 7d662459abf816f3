"""The screen as rows of styled text and a cursor, worked out from the state and the size of the terminal.

Pure, and the same for the terminal and the tests. From top to bottom: tabs, the page (or as much of it as
there is room for, the highlighted row always), the preview beside or below it, a notice, the hint line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from questionnaire.model import Question, Questionnaire, State
from questionnaire.presenters.terminal.body import Body, help_body, question_body, review_body, tab_label
from questionnaire.presenters.terminal.columns import Row, cells, fitted, row_cells, shortened, wrapped
from questionnaire.presenters.terminal.hints import hint
from questionnaire.presenters.terminal.markdown import preview_rows
from questionnaire.presenters.terminal.state import Part, Ui, highlighted
from questionnaire.progress import Step

BESIDE_FROM = 100
"""From so many columns on the preview stands beside the list."""

_MARGIN_FROM = 40
_PANE_FROM = 10
"""In fewer rows a preview has no pane of its own: it follows the list."""

_ROOMY_FROM = 12
_HEADER_CELLS = 16
_MARKS = {State.ANSWERED: "✓", State.SKIPPED: "-", State.DRAFT: "~", State.UNTOUCHED: "·"}
_REVIEW = "Review"


@dataclass(frozen=True, slots=True)
class Screen:
    """What is to be drawn.

    `cursor` is (column, row) in cells; `typing` says that it stands in a text field. `top`, `page_rows`
    and `preview_top` say which part of the page and of the preview is seen: keys that scroll go on there.
    """

    rows: tuple[Row, ...]
    cursor: tuple[int, int]
    typing: bool = False
    top: int = 0
    page_rows: int = 1
    preview_top: int = 0

    @property
    def lines(self) -> list[str]:
        """The rows as plain text."""
        return ["".join(text for _, text in row).rstrip() for row in self.rows]


def layout(asked: Questionnaire, step: Step, ui: Ui, width: int, height: int) -> Screen:
    """Return the screen for a terminal of `width` by `height` cells; never more than that."""
    width, height = max(1, width), max(1, height)
    margin = 1 if width >= _MARGIN_FROM else 0
    inner = width - 2 * margin
    preview = _Preview(asked, step, ui, inner, height)
    body = _body(asked, step, ui, inner - preview.beside_cells, roomy=height >= _ROOMY_FROM)
    head = [_tabs(asked, step, inner)] if height > 3 and (len(asked.questions) > 1 or asked.review) else []
    notice = [*wrapped(step.notice or ui.notice, inner)][: max(0, min(3, height - 3))]
    said: list[Row] = [(("notice", line),) for line in notice if line]
    with_hint = height > 2 or step.stopping or (height > 1 and not said)
    room = max(1, height - len(head) - len(said) - with_hint) if height > 1 or not with_hint else 0
    if preview.follows_list and preview.rows:
        body.rows += [(), *preview.rows]
    pane = preview.pane_below(room)
    blanks = room - len(pane) - len(body.rows)
    gap_above, gap_below = bool(head) and blanks > 1, blanks > 0
    room -= len(pane) + gap_above + gap_below
    top = _top(body, ui.top, room)
    window = body.rows[top : top + room]
    if preview.beside_cells:
        window = preview.beside(window, max(0, body.lead - top), room, height)
    more = top + room < len(body.rows)
    hinted = hint(asked, step, ui, inner, more=more, preview_more=preview.goes_on(len(pane)))
    foot: list[Row] = [(("stop" if step.stopping else "hint", hinted),)] if with_hint else []
    rows = [*head, *[()] * gap_above, *window, *pane, *[()] * gap_below, *said, *foot]
    cursor_row = min(max(0, body.cursor[1] - top), max(0, room - 1)) + len(head) + gap_above
    indent: Row = (("", " " * margin),)
    return Screen(
        tuple(fitted((*indent, *row), width) for row in rows[:height]),
        (min(body.cursor[0] + margin, width - 1), min(cursor_row, height - 1)),
        typing=ui.entry is not None and not ui.help,
        top=top,
        page_rows=max(1, room),
        preview_top=preview.top,
    )


def _body(asked: Questionnaire, step: Step, ui: Ui, width: int, *, roomy: bool) -> Body:
    if ui.help:
        return help_body(width)
    if step.index is None:
        return review_body(asked, step.responses, ui, width, roomy=roomy)
    return question_body(asked, step.index, step.responses[step.index], ui, width, roomy=roomy)


def _top(body: Body, wanted: int | None, room: int) -> int:
    """Return the first row of the page to show: where the user scrolled to, or so that the focus is seen."""
    last_top = max(0, len(body.rows) - room)
    if wanted is not None:
        return min(wanted, last_top)
    first, last = body.focus
    return min(max(0, last - room + 1), first, last_top)


def _tabs(asked: Questionnaire, step: Step, width: int) -> Row:
    """Return the row of tabs, the current one in brackets; where not all fit, those around it."""
    labels = [
        f"{_MARKS[response.state]} {shortened(tab_label(asked, index), _HEADER_CELLS)}"
        for index, response in enumerate(step.responses)
    ]
    labels += [_REVIEW] if asked.review else []
    here = len(labels) - 1 if step.index is None else step.index
    first, last = _fitting([cells(label) + 2 for label in labels], here, width - 2)
    if first == last and cells(labels[here]) + 4 > width:
        return (("tab.here", shortened(f"{here + 1}/{len(labels)} {labels[here]}", width)),)
    row: list[tuple[str, str]] = [("tab", "<")] if first else []
    for index in range(first, last + 1):
        is_here = index == here
        row.append(
            ("tab.here" if is_here else "tab", f"[{labels[index]}]" if is_here else f" {labels[index]} ")
        )
    if last < len(labels) - 1:
        row.append(("tab", ">"))
    progress = f"{sum(response.settled for response in step.responses)} of {len(step.responses)} answered"
    used = row_cells(tuple(row))
    if used + cells(progress) + 2 <= width:
        row.append(("tab", " " * (width - used - cells(progress)) + progress))
    return tuple(row)


def _fitting(widths: Sequence[int], here: int, room: int) -> tuple[int, int]:
    """Return the first and the last tab of the longest run around `here` that fits."""
    first = last = here
    used = widths[here]
    while True:
        if last + 1 < len(widths) and used + widths[last + 1] <= room:
            last += 1
            used += widths[last]
        elif first > 0 and used + widths[first - 1] <= room:
            first -= 1
            used += widths[first]
        else:
            return first, last


class _Preview:
    """The preview of the highlighted option: beside the list, below it in a pane, or after it."""

    def __init__(self, asked: Questionnaire, step: Step, ui: Ui, width: int, height: int) -> None:
        question = asked.questions[step.index] if step.index is not None and not ui.help else None
        has_any = question is not None and any(option.preview for option in question.options)
        self.follows_list = height < _PANE_FROM
        self.beside_cells = 0
        if has_any and width + 2 >= BESIDE_FROM and not self.follows_list:
            self.beside_cells = width - max(44, width * 2 // 5)
        room = self.beside_cells - 3 if self.beside_cells else width - 2
        text = _previewed(question, ui) if question is not None and has_any else None
        self.rows: tuple[Row, ...] = ()
        if text:
            self.rows = tuple((("bar", "│ "), *row) for row in preview_rows(text, max(1, room)))
        self._wanted = ui.preview_top
        self.top = 0
        self._seen = len(self.rows)

    def goes_on(self, pane_rows: int) -> bool:
        """Return whether there is more of it than is seen."""
        return (
            not self.follows_list
            and bool(self.rows)
            and (pane_rows > 0 or self.beside_cells > 0)
            and (self._seen < len(self.rows))
        )

    def pane_below(self, room: int) -> list[Row]:
        """Return the pane below the list: an empty row and at most a third of `room`."""
        if self.beside_cells or self.follows_list or not self.rows:
            return []
        return [(), *self._window(max(3, room // 3))]

    def beside(self, window: list[Row], start: int, room: int, height: int) -> list[Row]:
        """Return the rows of the page with the preview to their right, from row `start` on."""
        left = [*window]
        budget = min(room - start, max(len(window) - start, height * 3 // 5))
        shown = self._window(max(1, budget)) if budget > 0 else []
        left += [()] * (start + len(shown) - len(left))
        left_cells = max((row_cells(row) for row in left), default=0)
        column = max(44, min(left_cells + 2, 60))
        for index, row in enumerate(shown, start):
            gap = " " * max(1, column - row_cells(left[index]))
            left[index] = (*left[index], ("", gap), *row)
        return left

    def _window(self, budget: int) -> list[Row]:
        """Return as much as fits; the last row says where one is, where that is not all."""
        total = len(self.rows)
        if total <= budget:
            return [*self.rows]
        seen = max(1, budget - 1)
        self.top = min(self._wanted, total - seen)
        self._seen = seen
        where = f"{self.top + 1}-{self.top + seen} of {total} · Shift+↑↓"
        return [*self.rows[self.top : self.top + seen], (("rule", where),)][:budget]


def _previewed(question: Question, ui: Ui) -> str | None:
    assert ui.place is not None
    item = highlighted(question, ui.memories[ui.place])
    return question.options[item.option].preview if item.part is Part.OPTION and item.option >= 0 else None
