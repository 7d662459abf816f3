"""The linear presenter: plain numbered lines in and out, for screen readers and dumb terminals.

What stands at the start of a line is always this presenter's own; text from the model is cleaned,
wrapped and set in, so that none of it can pass for a row.
"""

from contextlib import suppress

from anyio import get_cancelled_exc_class

from questionnaire.answers import Choice, Unclear, read_reply, read_words, row_labels
from questionnaire.display import cells, chopped, printable_lines, shortened, wrapped
from questionnaire.errors import TerminalLost
from questionnaire.model import Answer, Option, Outcome, Question, Questionnaire, Status
from questionnaire.presenters.lines import LineTerminal

_HEADER_CELLS = 16
_TEXT_INDENT = "  "
_DETAIL_INDENT = "    "
_PREVIEW_MARGIN = "    | "


class _EndOfInput(Exception):
    """The user ended the input instead of answering."""


class LinearPresenter:
    """Asks on a line-based terminal.

    A reply is judged by `questionnaire.answers`; an unclear one is asked again with the reason. The end
    of input (Ctrl-D) declines. What was answered before an early end is kept.
    """

    def __init__(self, terminal: LineTerminal) -> None:
        self._terminal = terminal
        self._answers: list[Answer] = []

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers given so far, or those that the last, perhaps cancelled, questionnaire got."""
        return tuple(self._answers)

    async def present(self, questionnaire: Questionnaire) -> Outcome:
        """Ask the questions in their order."""
        self._answers = []
        total = len(questionnaire.questions)
        try:
            for index, question in enumerate(questionnaire.questions):
                self._show(question, f"Question {index + 1} of {total}" if total > 1 else "Question")
                self._answers.append(await self._ask(index, question))
            if total > 1:
                self._review(questionnaire)
        except _EndOfInput:
            self._end_line()
            return Outcome(Status.DECLINED, self.answers)
        except TerminalLost as error:
            return Outcome(Status.CANCELLED, self.answers, reason=str(error))
        except get_cancelled_exc_class():
            self._end_line()
            raise
        return Outcome(Status.ANSWERED, self.answers)

    async def _ask(self, index: int, question: Question) -> Answer:
        while True:
            choice = read_reply(question, await self._read())
            if isinstance(choice, Choice):
                custom = await self._ask_words(question) if choice.opens_custom else choice.custom
                return Answer(index, choice.selected, custom)
            self._say(f"{choice.reason} {_hint(question)}")

    async def _ask_words(self, question: Question) -> str:
        self._say("Type your answer.")
        while True:
            words = read_words(question, await self._read())
            if not isinstance(words, Unclear):
                return words
            self._say(f"{words.reason} Type your answer.")

    async def _read(self) -> str:
        line = await self._terminal.read_line("> ")
        if line is None:
            raise _EndOfInput
        return line

    def _show(self, question: Question, title: str) -> None:
        header = shortened(question.header, _HEADER_CELLS)
        self._write("")
        self._say(f"{title}: {header}" if header else title)
        self._say(question.text, _TEXT_INDENT)
        self._write("")
        for number, label in enumerate(row_labels(question), 1):
            self._say(label, f"{number}. ")
            if number <= len(question.options):
                self._show_details(question.options[number - 1])
        if question.custom or not _has_details(question.options[-1]):
            self._write("")
        self._say(f"{_hint(question)} Ctrl-D declines.")

    def _show_details(self, option: Option) -> None:
        if not _has_details(option):
            return
        self._write("")
        if option.description:
            self._say(option.description, _DETAIL_INDENT)
        if option.preview:
            room = max(2, self._terminal.width - cells(_PREVIEW_MARGIN))
            for line in printable_lines(option.preview):
                for piece in chopped(line, room):
                    self._write(_PREVIEW_MARGIN + piece)
        self._write("")

    def _review(self, questionnaire: Questionnaire) -> None:
        told = []
        for answer in self._answers:
            question = questionnaire.questions[answer.question_index]
            texts = [question.options[index].label for index in answer.selected]
            if answer.custom is not None:
                texts.append(answer.custom)
            told.append(f"{answer.question_index + 1}. {', '.join(texts)}")
        self._write("")
        self._say(f"Your answers: {'; '.join(told)}")

    def _say(self, text: str, marker: str = "") -> None:
        for line in wrapped(text, self._terminal.width, marker):
            self._write(line)

    def _end_line(self) -> None:
        """End the line on which the prompt stands; an end in any case, also where the terminal is gone."""
        with suppress(TerminalLost):
            self._write("")

    def _write(self, line: str) -> None:
        self._terminal.write_line(line)


def _has_details(option: Option) -> bool:
    return bool(option.description or option.preview)


def _hint(question: Question) -> str:
    """Return what may be typed, as a sentence."""
    what = "Type one number or label"
    if question.multi_select:
        what = "Type numbers or labels, with commas between them"
    return f"{what}, or an answer of your own." if question.custom else f"{what}."
