"""The neutral model: what every contract is read into and every presenter shows.

Answers point at questions and options by index, never by their text: two labels may look alike, and a
label may hold a comma.
"""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Option:
    """One offered answer. `preview` is Markdown that shows what choosing it would mean."""

    label: str
    description: str = ""
    preview: str | None = None


@dataclass(frozen=True, slots=True)
class CustomRow:
    """The row on which the user may write an answer of their own; always the last one shown.

    `blank_allowed` says what an empty text there means: an answer of its own kind, or a slip that is
    asked again.
    """

    label: str
    blank_allowed: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `custom` is None where the user must take one of the options."""

    text: str
    options: tuple[Option, ...]
    header: str = ""
    multi_select: bool = False
    custom: CustomRow | None = None


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """The questions of one call, in the order in which they are asked."""

    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question.

    `selected` holds option indices, ascending; `custom` the words typed on the custom row, raw. A
    multi-select answer may hold both, any other exactly one of them. `notes` is what the user wrote
    beside the choice.
    """

    question_index: int
    selected: tuple[int, ...] = ()
    custom: str | None = None
    notes: str | None = None


class Status(StrEnum):
    """How a questionnaire ended. Only `ANSWERED` is ever evidence of what the user wants."""

    ANSWERED = "answered"
    DECLINED = "declined"
    """The user was asked and chose not to answer."""
    CANCELLED = "cancelled"
    """It was closed from outside before the user had finished."""
    TIMED_OUT = "timed_out"
    SUPERSEDED = "superseded"
    """Something else took the questions over; their answers will come another way."""
    NEVER_SHOWN = "never_shown"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a presenter returns: how it ended, and every answer given up to then.

    `reason` is a sentence that adds to the status where there is one to add.
    """

    status: Status
    answers: tuple[Answer, ...] = ()
    reason: str = ""
