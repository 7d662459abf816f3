import contextlib
import os
import subprocess
import sys
import termios
from pathlib import Path

import anyio
import pytest

from questionnaire.contracts import choices
from questionnaire.errors import NoInterface
from questionnaire.model import Answer, Input, Provenance, Status
from questionnaire.presenters.terminal import INTERRUPTED, TerminalPresenter
from questionnaire.progress import Draft, Give, GoTo, Interview, Touch

pytestmark = pytest.mark.anyio

SIZE = {"question": "How big?", "options": ["Small", "Large"]}
COLOUR = {"question": "Which colour?", "options": ["Red", "Blue"]}
ONE = choices.read({"questions": [SIZE]})
TWO = choices.read({"questions": [SIZE, COLOUR]})
REMOTE = Provenance("mirror", Input.REMOTE, at=1.0)


@pytest.fixture
def anyio_backend():
    """prompt_toolkit runs on asyncio only."""
    return "asyncio"


class Pty:
    """A pseudo-terminal of 80 by 24 cells, and the keyboard and the eyes before it."""

    def __init__(self):
        self.ours, self.theirs = os.openpty()
        termios.tcsetwinsize(self.theirs, (24, 80))
        os.set_blocking(self.ours, False)
        self.modes = termios.tcgetattr(self.theirs)
        self.seen = ""

    @contextlib.contextmanager
    def open(self):
        yield self.theirs, self.theirs

    async def until(self, text):
        with anyio.fail_after(60):
            while text not in self.seen:
                await anyio.sleep(0.01)
                with contextlib.suppress(BlockingIOError):
                    self.seen += os.read(self.ours, 100_000).decode()

    def press(self, keys):
        os.write(self.ours, keys.encode())

    def is_sane(self):
        return termios.tcgetattr(self.theirs) == self.modes


@pytest.fixture
def pty():
    pty = Pty()
    yield pty
    for fd in (pty.ours, pty.theirs):
        with contextlib.suppress(OSError):
            os.close(fd)


class Clock:
    """A clock that passes a second whenever it is read."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


def presenter(pty):
    return TerminalPresenter(pty.open, Clock(), Clock())


async def test_a_person_answers(pty):
    interview = Interview(ONE)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(presenter(pty).present, interview)
        await pty.until("How big?")
        pty.press("2")
    response = interview.outcome.responses[0]
    assert interview.outcome.status is Status.ANSWERED
    assert response.answer == Answer((1,))
    assert response.shown_at < response.by.at
    assert pty.is_sane()


async def test_who_answers_elsewhere_closes_the_dialog(pty):
    interview = Interview(ONE)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(presenter(pty).present, interview)
        await pty.until("How big?")
        interview.send(Give(Answer((0,)), REMOTE))
    assert interview.outcome.status is Status.ANSWERED
    assert pty.is_sane()


async def test_what_is_done_elsewhere_is_shown(pty):
    interview = Interview(TWO)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(presenter(pty).present, interview)
        await pty.until("How big?")
        interview.send(GoTo(1))
        await pty.until("colour?")
        await pty.until("Red")
        interview.end(Status.SUPERSEDED)
    assert interview.outcome.status is Status.SUPERSEDED
    assert interview.outcome.responses[1].shown_at is not None


async def test_a_cancelled_call_leaves_the_terminal_usable_and_the_drafts(pty):
    interview = Interview(TWO)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(presenter(pty).present, interview)
        await pty.until("How big?")
        pty.press("3words")
        await pty.until("words")
        tasks.cancel_scope.cancel()
    assert interview.outcome is None
    assert interview.step.responses[0].draft == "words"
    assert pty.is_sane()
    async with anyio.create_task_group() as tasks:  # and it can be taken up again
        pty.seen = ""
        tasks.start_soon(presenter(pty).present, interview)
        await pty.until("words")
        pty.press("\x03")
    assert (interview.outcome.status, interview.outcome.reason) == (Status.CANCELLED, INTERRUPTED)


@pytest.mark.parametrize("end", ["answered elsewhere", "cancelled"])
async def test_an_open_editor_holds_nothing_up(pty, monkeypatch, end):
    monkeypatch.setenv("VISUAL", "sh -c 'echo editing >&2; exec sleep 30'")
    interview = Interview(ONE)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(presenter(pty).present, interview)
            await pty.until("How big?")
            pty.press("3x\x07")
            await pty.until("editing")
            if end == "cancelled":
                tasks.cancel_scope.cancel()
            else:
                interview.send(Give(Answer((0,)), REMOTE))
    assert interview.step.responses[0].draft == "x"
    assert pty.is_sane()


SAVES = "sh -c 'echo more >>$0; echo saved >&2; exec sleep 30'"
RESCUES = "sh -c 'trap \"echo x and more >$0.save; exit 1\" TERM; echo saved >&2; sleep 30 & wait'"


@pytest.mark.parametrize("editor", [SAVES, RESCUES])
async def test_what_was_written_in_the_editor_outlives_a_cancelled_call(pty, monkeypatch, tmp_path, editor):
    monkeypatch.setenv("VISUAL", editor)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    interview = Interview(ONE)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(presenter(pty).present, interview)
            await pty.until("How big?")
            pty.press("3x \x07")
            await pty.until("saved")
            tasks.cancel_scope.cancel()
    assert interview.step.responses[0].draft in ("x more", "x and more")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("end", ["answered elsewhere", "out of time"])
async def test_what_was_saved_in_the_editor_is_in_the_outcome_of_any_end(pty, monkeypatch, end):
    monkeypatch.setenv("VISUAL", SAVES)
    interview, drafted, touched = Interview(ONE), anyio.Event(), anyio.Event()

    def watch(act):
        if isinstance(act, Draft) and act.text == "x more":
            drafted.set()
        if isinstance(act, Touch) and drafted.is_set():
            touched.set()

    with anyio.fail_after(60), interview.watch(watch):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(presenter(pty).present, interview)
            await pty.until("How big?")
            pty.press("3x \x07")
            await pty.until("saved")
            await drafted.wait()
            await touched.wait()  # who writes is not idle, though no key comes to the dialog
            if end == "out of time":
                interview.end(Status.TIMED_OUT)
            else:
                interview.send(Give(Answer((0,)), REMOTE))
    assert interview.outcome.responses[0].draft == "x more"
    assert pty.is_sane()


async def test_a_terminal_that_hangs_up_cancels(pty):
    interview = Interview(ONE)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(presenter(pty).present, interview)
        await pty.until("How big?")
        os.close(pty.ours)
    assert interview.outcome.status is Status.CANCELLED
    assert "the terminal was lost" in interview.outcome.reason


@pytest.mark.parametrize(
    "keys", ["\x1bx", "\x1b[999~", "\x1b[27;5;49~", "\x1b[12;3u", "\x1bOz", "\x1b[15~", "\x18\x12"]
)
async def test_keys_without_a_meaning_do_nothing(pty, keys):
    interview = Interview(TWO)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(presenter(pty).present, interview)
        await pty.until("How big?")
        pty.press(keys)
        await anyio.sleep(0.2)
        assert interview.outcome is None
        assert interview.step.responses[0].answer is None
        pty.press("2")
        await pty.until("colour?")
        pty.press("\x1b")
        await pty.until("again to stop")
        pty.press("\x1b")
    assert interview.outcome.status is Status.DECLINED


async def test_two_escapes_at_once_are_two(pty):
    interview = Interview(TWO)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(presenter(pty).present, interview)
        await pty.until("How big?")
        pty.press("2")
        await pty.until("colour?")
        pty.press("\x1b\x1b")
    assert interview.outcome.status is Status.DECLINED
    assert interview.outcome.responses[0].answer == Answer((1,))


@pytest.mark.parametrize("before", ["\x1b", "\x1b[", "\x1b[99", "3\x1b", "n\x1b"])
async def test_ctrl_c_works_after_whatever_came_before_it(pty, before):
    interview = Interview(TWO)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(presenter(pty).present, interview)
        await pty.until("How big?")
        pty.press(before + "\x03")
    assert interview.outcome.reason == INTERRUPTED


async def test_alt_with_enter_breaks_a_line(pty):
    interview = Interview(TWO)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(presenter(pty).present, interview)
        await pty.until("How big?")
        pty.press("3a\x1b\rb\nc")
        await pty.until("c")
        pty.press("\x03")
    assert interview.outcome.responses[0].draft == "a\nb\nc"


async def test_what_has_ended_is_not_shown(pty):
    interview = Interview(ONE)
    interview.end(Status.TIMED_OUT)
    await presenter(pty).present(interview)
    with pytest.raises(BlockingIOError):
        os.read(pty.ours, 1)


async def test_what_is_no_terminal_is_no_interface():
    @contextlib.contextmanager
    def nothing():
        with Path(os.devnull).open("r+b") as file:
            yield file.fileno(), file.fileno()

    interview = Interview(ONE)
    with pytest.raises(NoInterface, match="no terminal"):
        await TerminalPresenter(nothing).present(interview)
    assert interview.outcome is None


def test_other_event_loops_are_told_so(pty):
    with pytest.raises(NoInterface, match="asyncio only"):
        anyio.run(presenter(pty).present, Interview(ONE), backend="trio")


def test_importing_the_presenter_loads_no_library():
    code = (
        "import sys, questionnaire.presenters.terminal\n"
        "print(sorted({'asyncio', 'prompt_toolkit', 'rich', 'wcwidth', 'pygments'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
