"""What each key does: the state and a key go in, the next state and acts for the interview come out.

Pure. In a text field every printable is text. Elsewhere no letter answers anything: answers are given with
Enter, with the space that ticks, and with the number of a row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from questionnaire.answers import Skipped, Unclear, read_picks
from questionnaire.model import Input, Kind, Provenance, Question, Questionnaire, Response
from questionnaire.presenters.terminal.editing import Field
from questionnaire.presenters.terminal.state import (
    LONG_LIST,
    Edit,
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
from questionnaire.progress import Act, Back, Draft, Escape, Give, GoTo, Next, Note, Skip, Step, Submit, Touch


@dataclass(frozen=True, slots=True)
class Key:
    """A key by its name; `text` is what "text" types, "paste" pastes and "edited" brings back."""

    name: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a key meets.

    `at` is now, in seconds. `top`, `page_rows` and `preview_top` are where the screen last stood.
    """

    asked: Questionnaire
    step: Step
    at: float
    top: int = 0
    page_rows: int = 1
    preview_top: int = 0

    @property
    def question(self) -> Question:
        """The question on the screen."""
        assert self.step.index is not None
        return self.asked.questions[self.step.index]

    @property
    def response(self) -> Response:
        """What it has got so far."""
        assert self.step.index is not None
        return self.step.responses[self.step.index]


@dataclass(frozen=True, slots=True)
class Pressed:
    """What a key did. `edit` is set where the text field is to be opened in an editor."""

    ui: Ui
    acts: tuple[Act, ...] = ()
    edit: bool = False


_LETTERS = {"j": "down", "k": "up"}
_MOVES: Mapping[str, Act] = {"tab": Next(), "right": Next(), "back-tab": Back(), "left": Back()}
_EDITS: Mapping[str, Callable[[Field], Field]] = {
    "backspace": Field.erase_before,
    "delete": Field.erase_ahead,
    "erase-word": Field.erase_word,
    "erase-line": Field.erase_line,
    "erase-rest": Field.erase_rest,
    "undo": Field.undo,
    "left": Field.left,
    "right": Field.right,
    "word-left": Field.word_left,
    "word-right": Field.word_right,
    "home": Field.start,
    "end": Field.end,
}
_SURFACE = "terminal"


def press(key: Key, ui: Ui, scene: Scene) -> Pressed:
    """Do what `key` does. Whatever it is, the interview hears of it, so that a time-out begins anew."""
    ui = replace(ui, notice="")
    if scrolled := _scrolled(key, ui, scene):
        pressed = Pressed(scrolled)
    elif ui.help:
        pressed = Pressed(replace(ui, help=False, top=None))
    elif ui.entry:
        pressed = _in_entry(key, replace(ui, top=None), ui.entry, scene)
    elif scene.step.index is None:
        pressed = _on_review(key, replace(ui, top=None), scene)
    else:
        pressed = _on_question(key, replace(ui, top=None), scene)
    return pressed if pressed.acts else replace(pressed, acts=(Touch(),))


def _scrolled(key: Key, ui: Ui, scene: Scene) -> Ui | None:
    page = max(1, scene.page_rows - 1)
    lines = {"page-up": -page, "page-down": page}
    if ui.help:
        lines |= {"up": -1, "down": 1}
    if key.name in lines:
        return replace(ui, top=max(0, scene.top + lines[key.name]))
    previews = {"preview-up": -1, "preview-down": 1}
    if not ui.entry:  # in a field these are keys of the field
        previews |= {"erase-line": -page // 2, "delete": page // 2}
    if key.name in previews:
        return replace(ui, preview_top=max(0, scene.preview_top + previews[key.name]))
    return None


def _on_review(key: Key, ui: Ui, scene: Scene) -> Pressed:
    total = len(scene.asked.questions)
    match _way(key):
        case "escape":
            return Pressed(ui, (Escape(),))
        case "up":
            return Pressed(replace(ui, review_row=max(0, ui.review_row - 1)))
        case "down":
            return Pressed(replace(ui, review_row=min(total, ui.review_row + 1)))
        case "home":
            return Pressed(replace(ui, review_row=0))
        case "end":
            return Pressed(replace(ui, review_row=total))
        case "enter" | "newline":
            return Pressed(ui, (Submit() if ui.review_row == total else GoTo(ui.review_row),))
        case "left" | "right" | "tab" | "back-tab":
            return Pressed(ui, (_MOVES[key.name],))
        case "text" if key.text == "?":
            return Pressed(replace(ui, help=True))
        case "text" if key.text in set("123456789") and int(key.text) <= total:
            return Pressed(ui, (GoTo(int(key.text) - 1),))
    return Pressed(ui)


def _on_question(key: Key, ui: Ui, scene: Scene) -> Pressed:
    memory = _memory(ui, scene)
    item = highlighted(scene.question, memory)
    digits, ui = ui.digits, replace(ui, digits="")
    if item.part is Part.WORDS and key.name in ("text", "paste", "editor"):
        return _in_entry(key, *_words_field(ui, scene), scene)
    match _way(key):
        case "escape":
            return Pressed(ui, (Escape(),))
        case "tab" | "back-tab" | "left" | "right":
            return Pressed(ui, (_MOVES[key.name],))
        case "up" | "down" | "home" | "end" as way:
            return Pressed(_moved(ui, scene, way))
        case "enter" | "newline":
            return _chosen(ui, scene, item)
        case "backspace":
            return Pressed(_remember(ui, scene, filter=""))
        case "note":
            return Pressed(_note_field(ui, scene, None))
        case "paste" if scene.question.takes_words:
            return _in_entry(key, *_words_field(ui, scene), scene)
        case "paste":
            return Pressed(replace(ui, notice="No text can be given here."))
        case "text":
            return _letter(key.text, digits, ui, scene, item)
    return Pressed(ui)


def _way(key: Key) -> str:
    """Return the name of a key, with the letters that move as the keys for which they stand."""
    return _LETTERS.get(key.text, key.name) if key.name == "text" else key.name


def _letter(letter: str, digits: str, ui: Ui, scene: Scene, item: Item) -> Pressed:
    selectable = bool(scene.question.options)
    if letter == " " and scene.question.multi_select and item.part is Part.OPTION:
        return _chosen(ui, scene, item)
    if letter == "n" and item.part is Part.OPTION and item.option >= 0:
        return Pressed(_note_field(ui, scene, item.option))
    if letter in ("n", "N"):
        return Pressed(_note_field(ui, scene, None))
    if letter == "/" and selectable:
        field = Field.holding(_memory(ui, scene).filter)
        return Pressed(replace(ui, entry=Entry(Target.FILTER, field)))
    if letter == "?":
        return Pressed(replace(ui, help=True))
    if len(letter) == 1 and letter in "0123456789" and selectable:
        return _numbered(digits + letter, ui, scene)
    return Pressed(ui)


def _numbered(digits: str, ui: Ui, scene: Scene) -> Pressed:
    """Take the row of this number; in a long list, where more digits may follow, highlight it."""
    shown = items(scene.question, _memory(ui, scene).filter)
    numbers = {item.option + 1: item for item in shown if item.part is Part.OPTION}
    numbers |= {len(scene.question.options) + 1: item for item in shown if item.part is Part.WORDS}
    item = numbers.get(int(digits)) or numbers.get(int(digits[-1]))
    if item is None:
        return Pressed(ui)
    ui = _remember(replace(ui, preview_top=0), scene, item=item)
    if len(scene.question.options) + bool(scene.question.custom) > LONG_LIST:
        typed = digits if int(digits) in numbers else digits[-1]
        return Pressed(replace(ui, digits=typed))
    return _chosen(ui, scene, item)


def _chosen(ui: Ui, scene: Scene, item: Item) -> Pressed:
    """Do what Enter does on a row."""
    question = scene.question
    ticked, words = held(scene.response, _memory(ui, scene))
    match item.part:
        case Part.WORDS:
            return Pressed(_words_field(ui, scene)[0])
        case Part.SKIP:
            return Pressed(ui, (Skip(_by(ui, scene)),))
        case Part.NEXT:
            return _given(ui, scene, ticked, words or None)
        case Part.OPTION if item.option < 0:
            return Pressed(replace(ui, notice="Nothing matches the filter; / changes it."))
        case Part.OPTION if question.multi_select:
            return _changed(ui, scene, tuple(sorted({*ticked} ^ {item.option})), words)
    return _given(ui, scene, (item.option,), None)


def _given(ui: Ui, scene: Scene, picks: tuple[int, ...], words: str | None) -> Pressed:
    """Answer the question with what stands on its rows, or say why that is no answer."""
    verdict = read_picks(scene.question, picks, words)
    if isinstance(verdict, Unclear):
        nothing = scene.question.multi_select and not picks
        return Pressed(replace(ui, notice="Nothing is ticked yet." if nothing else verdict.reason))
    by = _by(ui, scene, words)
    ui = _remember(replace(ui, entry=None), scene, edit=None)
    return Pressed(ui, (Skip(by) if isinstance(verdict, Skipped) else Give(verdict.answer, by),))


def _changed(ui: Ui, scene: Scene, ticked: tuple[int, ...], words: str) -> Pressed:
    """Keep what was ticked and typed, as a draft, unless it is what was answered already."""
    answer = scene.response.answer
    edit = Edit(answer, ticked, words)
    ticks = ticked if scene.question.multi_select else ()
    draft = Draft(words, ticks)
    if answer is not None and (answer.selected, answer.custom or "") == (ticks, words):
        draft = Draft()
    return Pressed(_remember(ui, scene, edit=edit), (draft,))


def _in_entry(key: Key, ui: Ui, entry: Entry, scene: Scene) -> Pressed:
    closed = replace(ui, entry=None)
    words = entry.target is Target.WORDS
    match key.name:
        case "escape":
            return Pressed(closed)
        case "enter":
            return _entered(ui, entry, scene)
        case "newline" if entry.target is Target.FILTER:
            return Pressed(closed)
        case "editor" if entry.target is not Target.FILTER:
            return Pressed(replace(ui, entry=entry), edit=True)
        case "note" if words:
            return Pressed(_note_field(ui, scene, None))
        case "tab" | "back-tab":
            return Pressed(closed, (_MOVES[key.name],))
        case "left" | "right" if words and not entry.field.text:
            return Pressed(closed, (_MOVES[key.name],))
        case "up" | "down":
            return _between_lines(key.name, ui, entry, scene)
    field = _typed(key, entry)
    if field == entry.field:
        return Pressed(replace(ui, entry=entry))
    ui = replace(ui, entry=replace(entry, field=field))
    if field.text == entry.field.text:
        return Pressed(ui)
    if words and key.name == "paste":
        ui = _remember(ui, scene, pasted=True)
    return _kept(ui, scene, entry, field.text)


def _typed(key: Key, entry: Entry) -> Field:
    """Return what the field holds after a key."""
    match key.name:
        case "text" | "paste":
            one_line = entry.target is Target.FILTER
            return entry.field.insert(
                " ".join(key.text.split()) if one_line and len(key.text) > 1 else key.text
            )
        case "newline":
            return entry.field.insert("\n")
        case "edited":
            return entry.field.replaced(key.text)
    edit = _EDITS.get(key.name)
    return edit(entry.field) if edit else entry.field


def _kept(ui: Ui, scene: Scene, entry: Entry, text: str) -> Pressed:
    """Keep a changed text where it belongs, so that no way of leaving the field loses it."""
    match entry.target:
        case Target.WORDS:
            ticked, _ = held(scene.response, _memory(ui, scene))
            return _changed(ui, scene, ticked, text)
        case Target.NOTE:
            return Pressed(ui, (Note(text, entry.option),))
    return Pressed(_remember(ui, scene, filter=text, item=None))


def _entered(ui: Ui, entry: Entry, scene: Scene) -> Pressed:
    closed = replace(ui, entry=None)
    if entry.target is not Target.WORDS:
        return Pressed(closed)
    if scene.question.multi_select and scene.question.options:
        return Pressed(_remember(closed, scene, item=Item(Part.NEXT)))  # the words count as ticked
    return _given(ui, scene, (), entry.field.text)


def _between_lines(way: str, ui: Ui, entry: Entry, scene: Scene) -> Pressed:
    """Go up or down in a text; beyond its ends, to the rows around it."""
    field = entry.field.up() if way == "up" else entry.field.down()
    if field is not None:
        return Pressed(replace(ui, entry=replace(entry, field=field)))
    if entry.target is Target.FILTER:
        return Pressed(_moved(ui, scene, way))
    if entry.target is Target.WORDS and scene.question.kind is not Kind.TEXT:
        return Pressed(_moved(replace(ui, entry=None), scene, way))
    field = entry.field.start() if way == "up" else entry.field.end()
    return Pressed(replace(ui, entry=replace(entry, field=field)))


def _moved(ui: Ui, scene: Scene, way: str) -> Ui:
    memory = _memory(ui, scene)
    shown = items(scene.question, memory.filter)
    if not shown:
        return ui
    here, last = shown.index(highlighted(scene.question, memory)), len(shown) - 1
    there = {"up": max(0, here - 1), "down": min(last, here + 1), "home": 0, "end": last}[way]
    return _remember(replace(ui, preview_top=0), scene, item=shown[there])


def _words_field(ui: Ui, scene: Scene) -> tuple[Ui, Entry]:
    """Open the field for the user's own words, with what stood in it."""
    _, words = held(scene.response, _memory(ui, scene))
    entry = Entry(Target.WORDS, Field.holding(words))
    return _remember(replace(ui, entry=entry), scene, item=Item(Part.WORDS)), entry


def _note_field(ui: Ui, scene: Scene, option: int | None) -> Ui:
    response = scene.response
    text = response.note if option is None else dict(response.option_notes).get(option, "")
    return replace(ui, entry=Entry(Target.NOTE, Field.holding(text), option))


def _by(ui: Ui, scene: Scene, words: str | None = None) -> Provenance:
    pasted = bool(words) and _memory(ui, scene).pasted
    return Provenance(_SURFACE, Input.PASTE if pasted else Input.KEY, scene.at)


def _memory(ui: Ui, scene: Scene) -> Memory:
    assert scene.step.index is not None
    return ui.memories[scene.step.index]


def _remember(ui: Ui, scene: Scene, **changes: object) -> Ui:
    """Return `ui` with fields of the memory of this question changed."""
    memories, index = list(ui.memories), scene.step.index
    assert index is not None
    memories[index] = replace(memories[index], **changes)  # type: ignore[arg-type]
    return replace(ui, memories=tuple(memories))
