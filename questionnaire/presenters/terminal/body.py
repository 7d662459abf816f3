"""The lines of a page, as long as they are: a question with its rows, the review, the help.

Pure. The two columns at the left of every row are ours, and so is the number after them: no text of the
model's or of the user's ever stands there. The question has a bar before it, everything else is set in.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from questionnaire.answers import row_labels
from questionnaire.contracts.telling import notes, taken, unsent
from questionnaire.model import Question, Questionnaire, Response, State
from questionnaire.presenters.terminal.columns import Row, cells, clean, folded, typed, wrapped
from questionnaire.presenters.terminal.editing import Field
from questionnaire.presenters.terminal.hints import HELP
from questionnaire.presenters.terminal.state import (
    Entry,
    Item,
    Memory,
    Part,
    Target,
    Ui,
    held,
    highlighted,
    items,
)

POINTER, NO_POINTER, BAR = "❯ ", "  ", "┃ "  # noqa: RUF001 - the sign is meant
_TICKS = {True: "[x] ", False: "[ ] "}
_LISTED: Row = (("", "    "),)
_TYPE_HERE = "Type your answer"


@dataclass
class Body:
    """The rows of a page.

    `lead` rows come before the first that can be highlighted. `focus` are the first and the last row that
    must be seen, `cursor` is (column, row) of the place where the next letter would appear, or of the
    pointer where nothing is being typed.
    """

    rows: list[Row] = field(default_factory=list)
    lead: int = 0
    focus: tuple[int, int] = (0, 0)
    cursor: tuple[int, int] = (0, 0)

    def blank(self) -> None:
        """Add an empty row."""
        self.rows.append(())

    def text(self, text: str, width: int, style: str, marker: Row = (), *, again: bool = False) -> None:
        """Add wrapped text behind a marker, which is repeated, or else stands before its first row only."""
        taken_up = sum(cells(part) for _, part in marker)
        indent: Row = marker if again else (("", " " * taken_up),)
        for number, line in enumerate(wrapped(text, width - taken_up)):
            self.rows.append((*(indent if number else marker), (style, line)))

    def field(self, edited: Field, width: int, marker: Row, empty: str = "") -> None:
        """Add a text field behind a marker, with the cursor in it."""
        taken_up = sum(cells(part) for _, part in marker)
        room = max(1, width - taken_up - 1)  # the cursor may stand behind the last letter
        first = len(self.rows)
        if not edited.text and empty:
            self.text(empty, width, "empty", marker)
            self.cursor = (taken_up, first)
        else:
            for number, (start, end) in enumerate(folded(edited.text, room)):
                shown = typed(edited.text[start:end])
                self.rows.append((*((("", " " * taken_up),) if number else marker), ("", shown)))
                if start <= edited.at <= end:
                    before = typed(edited.text[start : edited.at])
                    self.cursor = (taken_up + cells(before), len(self.rows) - 1)
        self.focus = (self.cursor[1], self.cursor[1])


def question_body(
    asked: Questionnaire, index: int, response: Response, ui: Ui, width: int, *, roomy: bool
) -> Body:
    """Return the page of one question; a `roomy` one has an empty row before its list."""
    question, memory, body = asked.questions[index], ui.memories[index], Body()
    optional = "" if question.required else " (optional)"
    body.text(question.text + optional, width, "question", (("bar", BAR),), again=True)
    _question_note(body, response, ui.entry, width)
    if response.state is State.SKIPPED:
        body.text("Skipped.", width, "chosen", (("", NO_POINTER),))
    if roomy:
        body.blank()
    if ui.entry and ui.entry.target is Target.FILTER:
        body.lead = len(body.rows)
        body.field(ui.entry.field, width, (("note", "/ "),), "type to filter")
        kept = body.cursor
    elif memory.filter:
        body.text(memory.filter, width, "note", (("note", "/ "),))
    body.lead = len(body.rows)
    page = _Page(question, response, memory, ui.entry, width, listed=asked.listed)
    for item in items(question, memory.filter):
        page.add(body, item)
    if ui.entry and ui.entry.target is Target.FILTER:
        body.cursor = kept
        body.focus = (kept[1], max(kept[1], page.here_at))
    return body


def _question_note(body: Body, response: Response, entry: Entry | None, width: int) -> None:
    marker: Row = (("note", "  note: "),)
    if entry and entry.target is Target.NOTE and entry.option is None:
        body.field(entry.field, width, marker, "about the question")
    elif response.note:
        body.text(response.note, width, "note", marker)


class _Page:
    """The rows of one question, one after the other."""

    def __init__(
        self,
        question: Question,
        response: Response,
        memory: Memory,
        entry: Entry | None,
        width: int,
        *,
        listed: bool,
    ) -> None:
        self._question = question
        self._response = response
        self._entry = entry
        self._width = width
        self._listed = listed
        self._labels = row_labels(question)
        self._here = highlighted(question, memory)
        self._ticked, self._words = held(response, memory)
        self._digits = len(str(len(self._labels)))
        self._noted = dict(response.option_notes)
        self.here_at = 0
        """The first row of the highlighted item, once it was added."""

    def add(self, body: Body, item: Item) -> None:
        """Add a row and what belongs to it."""
        first, focus = len(body.rows), body.focus
        pointer = ("here", POINTER) if item == self._here else ("", NO_POINTER)
        match item.part:
            case Part.OPTION:
                self._option(body, item, pointer)
            case Part.WORDS:
                self._own_words(body, item, pointer)
            case Part.NEXT:
                body.text("Next", self._width, self._style(item), (pointer,))
            case Part.SKIP:
                body.text("Skip this question", self._width, self._style(item), (pointer,))
        if item == self._here:
            self.here_at = first
        typing_here = body.focus != focus  # a field has set it
        if item == self._here and not typing_here and not self._entry:
            body.focus = (first, len(body.rows) - 1)
            body.cursor = (0, first)

    def _option(self, body: Body, item: Item, pointer: tuple[str, str]) -> None:
        option, width = self._question.options[item.option], self._width
        chosen = item.option in self._ticked
        label = f"{option.label} ({option.badge})" if option.badge else option.label
        marker = self._marker(pointer, item.option + 1, chosen=chosen)
        style = self._style(item)
        body.text(label, width, "chosen" if chosen and style == "label" else style, marker)
        indent: Row = (("", " " * sum(cells(part) for _, part in marker)),)
        if option.description and self._listed:
            body.blank()
            body.text(option.description, width, "detail", _LISTED)
            body.blank()
        elif option.description:
            body.text(option.description, width, "detail", indent)
        marker = (*indent, ("note", "note: "))
        if self._entry and self._entry.target is Target.NOTE and self._entry.option == item.option:
            body.field(self._entry.field, width, marker, "about this option")
        elif note := self._noted.get(item.option):
            body.text(note, width, "note", marker)

    def _own_words(self, body: Body, item: Item, pointer: tuple[str, str]) -> None:
        marker: Row = (pointer,)
        label = _TYPE_HERE
        if self._question.custom:
            label = self._question.custom.label
            marker = self._marker(pointer, len(self._labels), chosen=bool(self._words))
        if self._entry and self._entry.target is Target.WORDS:
            body.field(self._entry.field, self._width, marker, label)
        elif self._words:
            for number, line in enumerate(self._words.split("\n")):
                indent: Row = (("", " " * sum(cells(part) for _, part in marker)),)
                body.text(line, self._width, self._style(item), indent if number else marker)
        else:
            body.text(label, self._width, "here" if item == self._here else "empty", marker)

    def _marker(self, pointer: tuple[str, str], number: int, *, chosen: bool) -> Row:
        numbered = ("number", f"{number:>{self._digits}}. ")
        if self._question.multi_select:
            return pointer, numbered, ("chosen" if chosen else "", _TICKS[chosen])
        if self._response.answer is None:
            return pointer, numbered
        is_answer = chosen and (number <= len(self._question.options)) == (
            self._response.answer.custom is None
        )
        return pointer, ("chosen", "✓ " if is_answer else "  "), numbered

    def _style(self, item: Item) -> str:
        return "here" if item == self._here else "label"


def review_body(
    asked: Questionnaire, responses: Iterable[Response], ui: Ui, width: int, *, roomy: bool
) -> Body:
    """Return the page of all answers, with the row that sends them."""
    body = Body()
    body.text("Review your answers", width, "question", (("bar", BAR),), again=True)
    if roomy:
        body.blank()
    body.lead, digits = len(body.rows), len(str(len(asked.questions)))
    for index, (question, response) in enumerate(zip(asked.questions, responses, strict=True)):
        here, first = ui.review_row == index, len(body.rows)
        marker = (
            ("here", POINTER) if here else ("", NO_POINTER),
            ("number", f"{index + 1:>{digits}}. "),
        )
        body.text(question.text, width, "here" if here else "label", marker)
        indent: Row = (("", " " * (digits + 4)),)
        for style, line in _so_far(question, response):
            body.text(line, width, style, indent)
        if here:
            body.focus, body.cursor = (first, len(body.rows) - 1), (0, first)
    here, first = ui.review_row == len(asked.questions), len(body.rows)
    pointer = ("here", POINTER) if here else ("", NO_POINTER)
    body.text("Send these answers", width, "here" if here else "label", (pointer,))
    if here:
        body.focus, body.cursor = (first, len(body.rows) - 1), (0, first)
    return body


def _so_far(question: Question, response: Response) -> Iterator[tuple[str, str]]:
    """Give what a question has got, each as a style and a text."""
    if response.answer is not None:
        yield "chosen", ", ".join(taken(question, response.answer)).strip() or "(empty)"
    elif response.state is State.SKIPPED:
        yield "chosen", "(skipped)"
    else:
        yield "empty", "no answer yet"
    if note := notes(question, response):
        yield "note", f"note: {note}"
    if draft := unsent(question, response):
        yield "notice", f"not sent: {draft}"


def help_body(width: int) -> Body:
    """Return the page that says what the keys do."""
    body = Body()
    column = max(cells(keys) for keys, _ in HELP) + 2
    for keys, does in HELP:
        if width >= 2 * column:
            body.text(does, width, "", (("here", f"{keys:<{column}}"),))
        else:
            body.text(f"{keys}: {does}", width, "")
    return body


def tab_label(asked: Questionnaire, index: int) -> str:
    """Return what a question is called on its tab, clean and on one line."""
    return " ".join(clean(asked.questions[index].header or asked.id_of(index)).split())
