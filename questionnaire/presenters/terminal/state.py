"""What the terminal knows beside the interview: the highlighted row, the field being typed into, scrolling.

Pure and frozen. Answers, drafts and notes live in the interview; what is here may be lost without loss.
"""

from dataclasses import dataclass, replace
from enum import Enum, auto

from questionnaire.display import look
from questionnaire.model import Answer, Kind, Question, Questionnaire, Response
from questionnaire.presenters.terminal.editing import Field
from questionnaire.progress import Step


class Part(Enum):
    """What a row of a page is."""

    OPTION = auto()
    WORDS = auto()
    """Where the user writes: the custom row, or the whole answer to a question for text."""
    NEXT = auto()
    """Goes on with what is ticked."""
    SKIP = auto()


@dataclass(frozen=True, slots=True)
class Item:
    """A row that can be highlighted; `option` is the index of the option, where it is one."""

    part: Part
    option: int = -1


class Target(Enum):
    """What an open text field belongs to."""

    WORDS = auto()
    NOTE = auto()
    FILTER = auto()


@dataclass(frozen=True, slots=True)
class Entry:
    """An open text field. `option` says on which option a note is; None is the question's own note."""

    target: Target
    field: Field
    option: int | None = None

    def belongs_with(self, other: "Entry") -> bool:
        """Return whether both are about the same, on the same page."""
        return (self.target, self.option) == (other.target, other.option)


@dataclass(frozen=True, slots=True)
class Edit:
    """What stands on the rows of a question since the user changed it; `base` is the answer it began from."""

    base: Answer | None
    ticked: tuple[int, ...]
    words: str


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered of one question's page while the user is elsewhere.

    `pasted` says that some of the words were pasted.
    """

    item: Item | None = None
    filter: str = ""
    edit: Edit | None = None
    pasted: bool = False


@dataclass(frozen=True, slots=True)
class Ui:
    """The state of the dialog beside the interview.

    `place` is the page: a question, or None for the review. `review_row` is the highlighted row there, the
    one below the questions sends. `top` is the first row of the page to show, None to follow the
    highlight. `digits` is a row number being typed in a long list.
    """

    place: int | None
    memories: tuple[Memory, ...]
    review_row: int
    entry: Entry | None = None
    top: int | None = None
    preview_top: int = 0
    digits: str = ""
    help: bool = False
    notice: str = ""


LONG_LIST = 9
"""Up to here one digit names a row; a longer list is worth filtering."""


def opened(asked: Questionnaire, step: Step) -> Ui:
    """Return the state in which a dialog opens."""
    total = len(asked.questions)
    blank = Ui(-1, tuple(Memory() for _ in asked.questions), total)
    return arrived(blank, asked, step)


def arrived(ui: Ui, asked: Questionnaire, step: Step) -> Ui:
    """Return the state on the page where the interview stands, if that is another one.

    A question for text is ready to be typed into.
    """
    if ui.place == step.index:
        return ui
    ui = replace(
        ui,
        place=step.index,
        review_row=len(asked.questions),
        entry=None,
        top=None,
        preview_top=0,
        digits="",
        help=False,
    )
    if step.index is None or asked.questions[step.index].kind is not Kind.TEXT:
        return ui
    _, words = held(step.responses[step.index], ui.memories[step.index])
    return replace(ui, entry=Entry(Target.WORDS, Field.holding(words)))


def items(question: Question, filter_text: str = "") -> tuple[Item, ...]:
    """Return the rows of a question, from top to bottom; a filter takes away options only."""
    wanted, options = look(filter_text), range(len(question.options))
    kept = [Item(Part.OPTION, index) for index in options if not wanted or _matches(question, index, wanted)]
    words = [Item(Part.WORDS)] if question.takes_words else []
    go_on = [Item(Part.NEXT)] if question.multi_select and question.options else []
    skip = [] if question.required else [Item(Part.SKIP)]
    return (*kept, *words, *go_on, *skip)


def _matches(question: Question, index: int, wanted: str) -> bool:
    option = question.options[index]
    return wanted in look(option.label) or wanted in look(option.description)


def highlighted(question: Question, memory: Memory) -> Item:
    """Return the highlighted row, which is not thereby chosen."""
    shown = items(question, memory.filter)
    return memory.item if memory.item in shown else shown[0] if shown else Item(Part.OPTION)


def held(response: Response, memory: Memory) -> tuple[tuple[int, ...], str]:
    """Return the options taken or ticked on a page, and the words typed there."""
    if memory.edit is not None and memory.edit.base == response.answer:
        return memory.edit.ticked, memory.edit.words
    if response.unsent or response.answer is None:
        return response.ticked, response.draft
    return response.answer.selected, response.answer.custom or ""
