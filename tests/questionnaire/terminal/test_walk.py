"""Random keys on a dialog of any size: nothing breaks, and from everywhere one can send, and stop."""

from hypothesis import given, settings
from hypothesis import strategies as st

from questionnaire.answers import check_outcome
from questionnaire.model import CustomRow, Option, Question, Questionnaire, Status
from questionnaire.presenters.terminal.columns import row_cells
from questionnaire.presenters.terminal.dialog import Dialog
from questionnaire.presenters.terminal.keys import Key
from questionnaire.progress import Interview

WORDS = st.text(alphabet="ab 日e\u0301👩\u200d🔬\n\x1b\u202e/", min_size=1, max_size=30)
OPTIONS = st.builds(Option, WORDS, WORDS, st.none() | st.just("# A\n\n- b\n- c\n\n" + "d " * 60))
CUSTOM = st.sampled_from([CustomRow("Type something."), CustomRow("Own", blank_allowed=True)])
SELECTS = st.builds(
    Question,
    WORDS,
    st.lists(OPTIONS, min_size=1, max_size=12).map(tuple),
    st.sampled_from(["", "Header"]),
    st.booleans(),
    st.none() | CUSTOM,
    st.booleans(),
)
TEXTS = st.builds(Question, WORDS, required=st.booleans())
QUESTIONNAIRES = st.builds(
    Questionnaire, st.lists(SELECTS | TEXTS, min_size=1, max_size=4).map(tuple), review=st.just(True)
) | st.builds(Questionnaire, SELECTS.map(lambda question: (question,)))
NAMES = [
    *("up", "down", "left", "right", "home", "end", "tab", "back-tab", "enter", "newline", "backspace"),
    *("delete", "page-up", "page-down", "preview-up", "preview-down", "erase-line", "undo", "note"),
    *("editor", "word-left", "word-right", "erase-word", "erase-rest", "other"),
]
KEYS = st.one_of(
    st.sampled_from(NAMES).map(Key),
    st.sampled_from(list("123456789 nN/?jkxé日👩\u0301")).map(lambda letter: Key("text", letter)),
    st.sampled_from(["a\nb", "\r\n", "日" * 40, "\x1b[A"]).map(lambda text: Key("paste", text)),
    st.just(Key("edited", "from the\neditor")),
    st.just(Key("escape")),
)
SIZES = st.tuples(st.integers(1, 300), st.integers(1, 60))


class Walk:
    def __init__(self, questionnaire):
        self.interview = Interview(questionnaire)
        self.now = 0.0
        self.dialog = Dialog(self.interview, lambda: self.now, lambda: self.now)
        self.look(80, 24)
        self.now = 1.0

    def look(self, width, height):
        screen = self.dialog.screen(width, height)
        self.dialog.drawn()
        assert 1 <= len(screen.rows) <= height
        assert all(row_cells(row) <= width for row in screen.rows)
        assert 0 <= screen.cursor[0] < width
        assert 0 <= screen.cursor[1] < len(screen.rows)

    def press(self, name, text=""):
        self.dialog.press(Key(name, text))
        if self.interview.outcome is None:
            self.look(80, 24)
        return self.interview.outcome


@given(QUESTIONNAIRES, st.lists(st.tuples(KEYS, SIZES, st.booleans()), max_size=60))
@settings(max_examples=120, deadline=None)
def test_any_keys_at_any_size(questionnaire, presses):
    """Keys may come together, before anything is drawn; what is answered was seen all the same."""
    walk = Walk(questionnaire)
    for key, size, drawn in presses:
        walk.dialog.press(key)
        if walk.interview.outcome is not None:
            break
        if drawn:
            walk.look(*size)
    walk.interview.end(Status.CANCELLED)
    check_outcome(questionnaire, walk.interview.outcome)


@given(QUESTIONNAIRES, st.lists(st.tuples(st.sampled_from(["enter", "1", " ", "end"]), st.booleans())))
@settings(max_examples=200, deadline=None)
def test_a_hurried_person_answers_only_what_was_seen(questionnaire, presses):
    walk = Walk(questionnaire)
    for name, drawn in presses:
        walk.dialog.press(Key("text", name) if len(name) == 1 else Key(name))
        if walk.interview.outcome is not None:
            break
        if drawn:
            walk.look(80, 24)
    walk.interview.end(Status.CANCELLED)
    check_outcome(questionnaire, walk.interview.outcome)


def walked(questionnaire, keys):
    walk = Walk(questionnaire)
    for key in keys:
        walk.dialog.press(key)
        if walk.interview.outcome is not None:
            break
        walk.look(80, 24)
    return walk


@given(QUESTIONNAIRES, st.lists(KEYS, max_size=40))
@settings(max_examples=80, deadline=None)
def test_escape_is_dead_nowhere(questionnaire, keys):
    walk = walked(questionnaire, keys)
    for _ in range(4):  # out of the help, out of the text, and twice to stop
        walk.press("escape")
    assert walk.interview.outcome is not None


@given(QUESTIONNAIRES, st.lists(KEYS, max_size=40))
@settings(max_examples=80, deadline=None)
def test_submitting_is_dead_nowhere(questionnaire, keys):
    """Wherever one got to: taking the first thing on each page, and sending, ends it as answered."""
    walk = walked(questionnaire, keys)
    for _ in range(8 * len(questionnaire.questions) + 8):
        if walk.interview.outcome is not None:
            break
        answer(walk)
    assert walk.interview.outcome is not None
    assert walk.interview.outcome.status in (Status.ANSWERED, Status.DECLINED)


def answer(walk):
    """Do as a person would who wants to be done with the page."""
    walk.press("x", "")  # withdraws an escape, closes the help
    if walk.dialog.text is not None:
        walk.press("escape")
    index = walk.interview.step.index
    if index is None:
        walk.press("end")
        walk.press("enter")
        return
    question = walk.interview.questionnaire.questions[index]
    walk.press("backspace")  # away with a filter
    walk.press("home")
    if not question.options:
        walk.press("enter")
        walk.press("text", "w")
        walk.press("enter")
    elif not question.multi_select:
        walk.press("enter")
    else:
        if not walk.interview.step.responses[index].ticked:
            walk.press("text", " ")
        walk.press("end")
        if not question.required:
            walk.press("up")  # above the row that skips
        walk.press("enter")
