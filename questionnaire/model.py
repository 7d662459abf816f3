"""The neutral model: what every contract is read into, every presenter shows, and every result is told from.

Answers point at questions and options by index, never by their text: two labels may look alike, and a
label may hold a comma. Everything is frozen; times are seconds on whatever clock the presenter was given.
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How a question is answered."""

    SELECT = "select"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Option:
    """One offered answer.

    `preview` is Markdown that shows what choosing it would mean. `value` is the stable name under which a
    program knows the option, None where its contract has none. `badge` is a word shown beside the label,
    such as "recommended"; it chooses nothing.
    """

    label: str
    description: str = ""
    preview: str | None = None
    value: str | None = None
    badge: str = ""


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
    """One question.

    Without options it asks for text, which may have several lines. With options, `custom` is None where
    the user must take one of them. `required` is false where the user may skip it. `id` is the contract's
    name for it, empty where the contract has none.
    """

    text: str
    options: tuple[Option, ...] = ()
    header: str = ""
    multi_select: bool = False
    custom: CustomRow | None = None
    required: bool = True
    id: str = ""

    @property
    def kind(self) -> Kind:
        """How it is answered."""
        return Kind.SELECT if self.options else Kind.TEXT

    @property
    def takes_words(self) -> bool:
        """Whether it can be answered in the user's own words."""
        return self.kind is Kind.TEXT or self.custom is not None


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """The questions of one call, in the order in which they are asked.

    `review` says that the user sees all answers once more, and sends them, before they count. `repairs`
    says in words what was wrong with the arguments and read all the same. `listed` says that options are
    numbered, and their descriptions stand below them, even where rows are nothing but texts. `risky` says
    that an answer may allow what cannot be undone (a permission): one that was spoken is confirmed first.
    """

    questions: tuple[Question, ...]
    review: bool = False
    repairs: tuple[str, ...] = ()
    listed: bool = False
    risky: bool = False

    def id_of(self, index: int) -> str:
        """Return the id of a question: the contract's, or else one made of its place, from `q1` on."""
        return self.questions[index].id or f"q{index + 1}"


class Input(StrEnum):
    """By what means a person answered."""

    KEY = "key"
    PASTE = "paste"
    MOUSE = "mouse"
    REMOTE = "remote"
    SPEECH = "speech"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an act of the user's came from.

    `surface` names the presenter ("terminal", "linear", …), `at` says when, and `remote_id` which remote
    client sent it, where one did.
    """

    surface: str
    input: Input
    at: float
    remote_id: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question.

    `selected` holds option indices, ascending; `custom` the user's own words, raw: those on the custom
    row, or the whole answer to a question for text. A multi-select answer may hold both, any other
    exactly one of them.
    """

    selected: tuple[int, ...] = ()
    custom: str | None = None


class State(StrEnum):
    """How far one question has come."""

    ANSWERED = "answered"
    SKIPPED = "skipped"
    DRAFT = "draft"
    """Something was typed, ticked or noted, and not sent."""
    UNTOUCHED = "untouched"


@dataclass(frozen=True, slots=True)
class Response:
    """What one question has got so far.

    `draft` is text that was typed and not sent, and `ticked` the options ticked and not sent; both may
    stand beside an answer. `note` is what the user wrote about the question, `option_notes` what they
    wrote about options, as pairs of index and text, ascending. `shown_at` is when the question first
    stood before a person, None while it has not, and `unshown` what of it that surface could not show, as
    nouns ("descriptions"); `by` is where the answer or the skip came from.
    """

    answer: Answer | None = None
    skipped: bool = False
    draft: str = ""
    ticked: tuple[int, ...] = ()
    note: str = ""
    option_notes: tuple[tuple[int, str], ...] = ()
    shown_at: float | None = None
    by: Provenance | None = None
    unshown: tuple[str, ...] = ()

    @property
    def state(self) -> State:
        """How far the question has come."""
        if self.answer is not None:
            return State.ANSWERED
        if self.skipped:
            return State.SKIPPED
        return State.DRAFT if self.unsent or self.note or self.option_notes else State.UNTOUCHED

    @property
    def settled(self) -> bool:
        """Whether the question needs nothing more: it was answered, or skipped by the user."""
        return self.answer is not None or self.skipped

    @property
    def unsent(self) -> bool:
        """Whether something was typed or ticked that no answer holds."""
        return bool(self.draft or self.ticked)


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
    """How a questionnaire ended, and how each of its questions stood then.

    `responses` has one entry a question, in their order; it is empty where nothing was ever asked.
    `reason` is a phrase that adds to the status where there is something to add.
    """

    status: Status
    responses: tuple[Response, ...] = ()
    reason: str = ""
