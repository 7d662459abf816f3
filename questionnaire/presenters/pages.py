"""A question and the review as plain lines, for a terminal that can only print, and for who listens to it.

What stands at the start of a line is always ours; text from the model and from the user is cleaned, wrapped
and set in, so that none of it can pass for a row.
"""

from collections.abc import Iterator

from questionnaire.answers import row_labels
from questionnaire.contracts.telling import notes, taken, unsent
from questionnaire.display import cells, chopped, printable_lines, shortened, wrapped
from questionnaire.model import Kind, Option, Question, Questionnaire, Response, State

_HEADER_CELLS = 16
_TEXT_INDENT = "  "
_DETAIL_INDENT = "    "
_PREVIEW_MARGIN = "    | "


def question_page(questionnaire: Questionnaire, index: int, response: Response, width: int) -> Iterator[str]:
    """Give the lines of one question, with what it has got so far; the hint comes after them."""
    question, total = questionnaire.questions[index], len(questionnaire.questions)
    title = f"Question {index + 1} of {total}" if total > 1 else "Question"
    if not question.required:
        title += ", optional"
    header = shortened(question.header, _HEADER_CELLS)
    yield ""
    yield from wrapped(f"{title}: {header}" if header else title, width)
    yield from wrapped(question.text, width, _TEXT_INDENT)
    yield ""
    for number, label in enumerate(row_labels(question), 1):
        option = question.options[number - 1] if number <= len(question.options) else None
        badge = f" ({option.badge})" if option and option.badge else ""
        yield from wrapped(label + badge, width, f"{number}. ")
        if option:
            yield from _details(option, width)
    if question.custom or (question.options and not _has_details(question.options[-1])):
        yield ""
    for line in _so_far(question, response):
        yield from wrapped(line, width)


def review_page(questionnaire: Questionnaire, responses: tuple[Response, ...], width: int) -> Iterator[str]:
    """Give the lines of the review: each question, numbered, with what it has got."""
    yield ""
    yield from wrapped("Review: your answers so far", width)
    yield ""
    for number, (question, response) in enumerate(zip(questionnaire.questions, responses, strict=True), 1):
        yield from wrapped(question.text, width, f"{number}. ")
        for line in _so_far(question, response) or ["No answer yet."]:
            yield from wrapped(line, width, _DETAIL_INDENT)
    yield ""


def hint(question: Question, response: Response) -> str:
    """Return what may be typed, as a sentence."""
    if question.kind is Kind.TEXT:
        what = "Type your answer"
    else:
        what = "Type a number or label"
        if question.multi_select:
            what = "Type numbers or labels, with commas between them"
        if question.custom:
            what += ", or an answer of your own"
    if response.settled:
        return f"{what}; Enter keeps what is there."
    return f"{what}." if question.required else f"{what}; Enter skips."


def _so_far(question: Question, response: Response) -> list[str]:
    told = []
    if response.answer is not None:
        told.append(f"Your answer: {', '.join(taken(question, response.answer))}")
    elif response.state is State.SKIPPED:
        told.append("Skipped.")
    if note := notes(question, response):
        told.append(f"Your notes: {note}")
    if draft := unsent(question, response):
        told.append(f"Not sent: {draft}")
    return told


def _details(option: Option, width: int) -> Iterator[str]:
    if not _has_details(option):
        return
    yield ""
    if option.description:
        yield from wrapped(option.description, width, _DETAIL_INDENT)
    if option.preview:
        room = max(2, width - cells(_PREVIEW_MARGIN))
        for line in printable_lines(option.preview):
            for piece in chopped(line, room):
                yield _PREVIEW_MARGIN + piece
    yield ""


def _has_details(option: Option) -> bool:
    return bool(option.description or option.preview)
