"""The one judge of replies: what a person typed, read as a choice, or the reason why it is none.

Pure. Every presenter that takes typed text asks this judge, so that the same words mean the same thing
wherever they are typed.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from questionnaire.display import look, shortened
from questionnaire.errors import MalformedAnswers, NotShown
from questionnaire.model import Answer, Kind, Outcome, Question, Questionnaire, Response, Status

# Four digits are more rows than any list has; more than that is somebody's own number.
_NUMBER = re.compile(r"(\d{1,4})([.)]?)")


@dataclass(frozen=True, slots=True)
class Choice:
    """A reply understood.

    `selected` holds option indices, ascending. `custom` holds own words, raw. `opens_custom` says that
    the custom row itself was chosen, so that its words have still to be asked for.
    """

    selected: tuple[int, ...] = ()
    custom: str | None = None
    opens_custom: bool = False

    @property
    def answer(self) -> Answer:
        """The choice as an answer, once nothing has to be asked for."""
        return Answer(self.selected, self.custom)


@dataclass(frozen=True, slots=True)
class Skipped:
    """An optional question was left blank, which is a choice of its own."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """A reply that is no choice; `reason` is a sentence to show or to speak before asking again."""

    reason: str


Verdict = Choice | Skipped | Unclear


def row_labels(question: Question) -> tuple[str, ...]:
    """Return the labels of all rows as they are numbered from 1: the options, then the custom row."""
    custom = (question.custom.label,) if question.custom else ()
    return tuple(option.label for option in question.options) + custom


def read_reply(question: Question, reply: str) -> Verdict:
    """Read a typed reply to `question`.

    A row is named by its number (`2`, `2.`, `2)`) or its label, case and spacing aside. A multi-select
    question takes several, separated by commas. Anything else is the user's own words where there is a
    custom row; beside rows named in a multi-select reply, the words left over are. A question for text
    takes the reply as it is. A blank reply skips an optional question.
    """
    if not look(reply):
        return _nothing(question)
    if question.kind is Kind.TEXT:
        return Choice(custom=reply)
    all_rows = _Rows(question)
    whole = all_rows.named(reply)
    if isinstance(whole, Unclear):
        return whole
    if whole is not None:
        return _choice(question, [whole])
    parts = list(all_rows.parts(reply))
    rows = [part for part in parts if isinstance(part, int)]
    words = [part for part in parts if isinstance(part, str) and part]
    unclear = [part for part in parts if isinstance(part, Unclear)]
    if unclear and not words:
        return unclear[0]
    if rows and not words and not question.multi_select:
        return Unclear("This question takes one choice only.")
    if not (rows and question.multi_select):
        return _own_words(question, reply)
    if unclear:
        return unclear[0]
    choice = _choice(question, rows)
    if not words:
        return choice
    own = _own_words(question, ", ".join(words))
    return own if isinstance(own, Unclear) else Choice(choice.selected, own.custom)


def read_picks(question: Question, selected: Iterable[int], words: str | None = None) -> Verdict:
    """Read what stands on the rows of `question`: the options taken, and what is typed on the custom row.

    In a multi-select question words stand beside the options; elsewhere they replace the option, so that
    a typed sentence is never lost to a row that happened to be marked. `words` is None where the custom
    row was not used; blank ones count only where nothing else was taken and the contract has a meaning
    for them.
    """
    options = tuple(sorted(set(selected)))
    if words is not None and look(words):
        if not question.takes_words:
            return _own_words(question, words)
        return Choice(options if question.multi_select else (), words)
    if options:
        if len(options) > 1 and not question.multi_select:
            return Unclear("This question takes one choice only.")
        return Choice(options)
    if words is not None and question.custom and question.custom.blank_allowed:
        return Choice(custom=words)
    return _nothing(question)


def read_words(question: Question, words: str) -> str | Unclear:
    """Read the words typed on the custom row of `question`: any text, blank only where that is allowed."""
    if look(words) or (question.custom and question.custom.blank_allowed):
        return words
    return Unclear("Nothing was typed.")


def _nothing(question: Question) -> Skipped | Unclear:
    return Unclear("Nothing was typed.") if question.required else Skipped()


def _own_words(question: Question, words: str) -> Choice | Unclear:
    if question.custom is None:
        shown = shortened(words, 40)
        return Unclear(f"“{shown}” is none of the options, and this question takes no other answer.")
    return Choice(custom=words)


def _choice(question: Question, rows: Iterable[int]) -> Choice:
    chosen = sorted(set(rows))
    options = tuple(row for row in chosen if row < len(question.options))
    return Choice(options, opens_custom=len(options) < len(chosen))


class _Rows:
    """The rows of a question, looked up by number and by label."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._count = 0
        self._by_label: dict[str, int] = {}
        self._with_commas: dict[str, list[str]] = {}
        """Labels that hold commas, as they look, the longest first, by what stands before the first one."""
        for self._count, label in enumerate(map(look, row_labels(question)), 1):
            self._by_label.setdefault(label, self._count - 1)
        for label in sorted(self._by_label, key=len, reverse=True):
            if "," in label:
                self._with_commas.setdefault(_start(label), []).append(label)

    def parts(self, reply: str) -> Iterator[int | str | Unclear]:
        """Read the comma-separated parts of `reply` as rows, or leave them as words.

        The longest run of parts that names a row is taken, since a label may itself hold commas.
        """
        parts = reply.split(",")
        # A comma never melts into what stands beside it, so a run of looks is the look of the run.
        looks = [look(f",{part},")[1:-1] for part in parts]
        whole, begins, next_by_end, at = ",".join(looks), list[int](), dict[int, int](), 0
        for number, shown in enumerate(looks, 1):
            begins.append(at + len(shown) - len(shown.lstrip()))
            next_by_end[at + len(shown.rstrip())] = number
            at += len(shown) + 1
        index = 0
        while index < len(parts):
            row: int | Unclear | None = None
            begin, end = begins[index], index + 1
            for label in self._with_commas.get(_start(looks[index]), ()):
                if whole.startswith(label, begin) and begin + len(label) in next_by_end:
                    row, end = self._by_label[label], next_by_end[begin + len(label)]
                    break
            else:
                row = self.named(parts[index])
            yield parts[index].strip() if row is None else row
            index = end

    def named(self, text: str) -> int | Unclear | None:
        """Return the index of the row that `text` names, None where it names none."""
        by_label = self._by_label.get(look(text))
        number = _NUMBER.fullmatch(text.strip())
        if number is None:
            return by_label
        by_number = int(number[1]) - 1
        if 0 <= by_number < self._count:
            if number[2] or by_label in (None, by_number):
                return by_number
            return Unclear(
                f"“{number[1]}” could be a row's number or the text of row {by_label + 1}. "
                f"Type the number with a full stop: “{by_label + 1}.” for that text."
            )
        if by_label is not None:
            return by_label
        advice = ""
        if self._question.custom:
            advice = f" To answer with a number of your own, type {self._count} first."
        return Unclear(f"There is no row {number[1]}; the rows go from 1 to {self._count}.{advice}")


def _start(label: str) -> str:
    return label.partition(",")[0].strip()


def check_outcome(questionnaire: Questionnaire, outcome: Outcome) -> None:
    """Hold an outcome against its questions, and against the receipts that they were shown.

    Raises `NotShown` where an answer came for a question that nobody saw, and `MalformedAnswers` where an
    answer points at nothing, holds nothing, or holds more than its question takes; where a required
    question was skipped; and where the outcome is answered but a question is not.
    """
    responses = outcome.responses
    if outcome.status is Status.ANSWERED and not any(_seen(response) for response in responses):
        raise NotShown("the questions came back as answered, but were never shown to anybody")
    if len(responses) not in (0, len(questionnaire.questions)):
        raise MalformedAnswers(f"{len(responses)} responses came to {len(questionnaire.questions)} questions")
    for number, (question, response) in enumerate(zip(questionnaire.questions, responses, strict=False), 1):
        if not response.settled:
            if outcome.status is Status.ANSWERED:
                raise MalformedAnswers(f"question {number} was not answered")
            continue
        if not _seen(response):
            raise NotShown(f"question {number} came back as answered, but was never shown to anybody")
        if fault := _fault(question, response):
            raise MalformedAnswers(f"the answer to question {number} {fault}")


def _seen(response: Response) -> bool:
    return response.shown_at is not None


def _fault(question: Question, response: Response) -> str:
    if response.by is None:
        return "does not say where it came from"
    if response.answer is not None:
        return misfit(question, response.answer)
    return "is a skip, which the question does not take" if question.required else ""


def misfit(question: Question, answer: Answer) -> str:
    """Return why `answer` does not fit, as the rest of a sentence on it; empty where it does."""
    if list(answer.selected) != sorted(set(answer.selected)):
        return "names its options out of order or twice"
    if any(not 0 <= option < len(question.options) for option in answer.selected):
        return "names an option that does not exist"
    if answer.custom is None:
        if not answer.selected:
            return "holds nothing"
    elif not question.takes_words:
        return "is in the user's own words, which the question does not take"
    elif isinstance(read_words(question, answer.custom), Unclear):
        return "is blank"
    if not question.multi_select and len(answer.selected) + (answer.custom is not None) > 1:
        return "holds more than one choice"
    return ""
