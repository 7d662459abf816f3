"""`questionnaire ask` on a real pseudo-terminal, its screen as an emulator sees it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pexpect
import pyte
import pytest

import questionnaire
from questionnaire.presenters.lines import GUARD_S as LINE_GUARD_S
from questionnaire.presenters.terminal.dialog import GUARD_S

ROOT = Path(questionnaire.__file__).parents[1]
PREVIEW = "| cost | time |\n|---|---|\n| low | 2 min |"
DEPLOY = {
    "header": "Deploy",
    "question": "Where should the preview be deployed?",
    "options": [
        {"label": "Staging cluster", "description": "Shared, real data shape, slower to reset."},
        {"label": "Throwaway VM", "description": "Isolated, gone after an hour.", "preview": PREVIEW},
    ],
}
CHECKS = {"question": "Which checks?", "options": ["Lint", "Types", "Tests"], "multiSelect": True}
LANGUAGE, NAME = "Which language should the service use?", "What is the service called?"
FORM = {
    "questions": [
        {
            "id": "lang",
            "question": LANGUAGE,
            "type": "select",
            "options": [
                {"value": "py", "label": "Python"},
                {"value": "rs", "label": "Rust", "description": "Longer build."},
            ],
        },
        {"id": "name", "question": NAME, "type": "text"},
        {"id": "note", "question": "Anything else?", "type": "text", "required": False},
    ]
}
MERGE = {
    "question": "Merge how?",
    "options": [{"label": "Squash"}, {"label": "Rebase", "description": "Keeps each commit."}],
    "allowCustom": True,
}
UP, DOWN, LEFT, RIGHT, ENTER, TAB, ESC, CTRL_C = (
    "\x1b[A",
    "\x1b[B",
    "\x1b[D",
    "\x1b[C",
    "\r",
    "\t",
    "\x1b",
    "\x03",
)
PASTE = "\x1b[200~{}\x1b[201~"


class Terminal:
    """A program on a pseudo-terminal of a given size, after a line that stood there before."""

    def __init__(self, folder, arguments, *options, width=80, height=24, environment=()):
        question, self.out = folder / "question.json", folder / "out"
        question.write_text(json.dumps(arguments))
        self.screen = pyte.Screen(width, height)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        shell = 'echo before; "$@" >"$OUT"; status=$?; echo "ended $status"; read -r _'
        command = [sys.executable, "-m", "questionnaire", "ask", str(question), *options]
        inherited = {name: value for name, value in os.environ.items() if name not in ("TMUX", "NO_COLOR")}
        self.child = pexpect.spawn(
            "sh",
            ["-c", shell, "sh", *command],
            cwd=str(ROOT),
            env={**inherited, "OUT": str(self.out), "TERM": "xterm-256color", **dict(environment)},
            dimensions=(height, width),
        )
        self.child.delaybeforesend = None
        self.modes = termios.tcgetattr(self.child.child_fd)

    def until(self, text, seconds=60.0):
        """Wait until this stands on the screen."""
        return self.until_so(lambda: text in self.shown, seconds)

    def until_so(self, fact, seconds=60.0):
        """Wait until this is so of what is shown."""
        limit = time.monotonic() + seconds
        while not fact():
            assert time.monotonic() < limit, self.shown
            with contextlib.suppress(pexpect.TIMEOUT):
                data = self.child.read_nonblocking(100_000, 0.05)
                self.raw += data
                self._stream.feed(data)
        return self

    @property
    def shown(self):
        return "\n".join(self.screen.display)

    def ready(self, text="Esc declines"):
        """Wait until the dialog takes keys: not in the first moments after it has been drawn.

        A program that has drawn waits for what comes next.
        """
        self.until(text)
        stat = Path(f"/proc/{self.program}/stat")
        self.until_so(lambda: stat.read_text().rpartition(")")[2].split()[0] == "S")
        time.sleep(GUARD_S + 0.05)
        return self

    def send(self, *keys):
        for key in keys:
            self.child.send(key)
            time.sleep(0.08 if key == ESC else 0.01)
        return self

    def send_until(self, key, text):
        """Press a key, and again after a pause, until this stands there: at first none is taken."""
        limit = time.monotonic() + 60
        while text not in self.shown:
            assert time.monotonic() < limit, self.shown
            with contextlib.suppress(AssertionError):
                self.send(key).until(text, 3.0)
        return self

    @property
    def program(self):
        """The process that asks."""
        pid = self.child.pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())

    def resize(self, width, height):
        self.screen.resize(height, width)
        self.child.setwinsize(height, width)
        return self

    def result(self):
        """Return the exit code and what was printed, once the dialog is gone from a sane terminal."""
        self.until("ended ")
        assert termios.tcgetattr(self.child.child_fd) == self.modes
        assert not self.screen.cursor.hidden
        assert self.raw.rindex(b"\x1b[?2004l") > self.raw.rindex(b"\x1b[?2004h")
        assert self.raw.rindex(b"\x1b[?7h") > self.raw.rindex(b"\x1b[?7l")
        code = self.lines[-1].removeprefix("ended ")
        return int(code), json.loads(self.out.read_text() or "null")

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display if line.strip()]


@pytest.fixture
def ask(tmp_path):
    asked = []

    def start(arguments, *options, **how):
        asked.append(Terminal(tmp_path, arguments, *options, **how))
        return asked[-1]

    yield start
    for terminal in asked:
        terminal.child.close(force=True)


def test_one_choice(ask):
    asked = ask({"questions": [DEPLOY]}).ready().send_until(DOWN, "❯ 2.").send(ENTER)
    code, shown = asked.result()
    assert asked.lines == ["before", "ended 0"]
    assert code == 0
    assert shown["text"] == (
        'User has answered your questions: "Where should the preview be deployed?"="Throwaway VM". selected '
        "preview: " + PREVIEW + ". You can now continue with the user's answers in mind."
    )
    assert shown["details"] == {
        "answers": [
            {
                "questionIndex": 0,
                "question": "Where should the preview be deployed?",
                "kind": "option",
                "answer": "Throwaway VM",
                "selected": ["Throwaway VM"],
                "preview": PREVIEW,
            }
        ],
        "cancelled": False,
    }
    assert shown["isError"] is False


def test_several_options_and_own_words(ask):
    asked = (
        ask({"questions": [CHECKS]})
        .ready()
        .send(" ", DOWN, DOWN, " ", DOWN, ENTER, "docs, 日本", ENTER, ENTER)
    )
    code, shown = asked.until("Enter sends").send(ENTER).result()
    [answer] = shown["details"]["answers"]
    assert (code, answer["kind"], answer["selected"]) == (0, "multi", ["Lint", "Tests", "docs, 日本"])


def test_escape_twice_after_the_first_of_two(ask):
    asked = ask({"questions": [DEPLOY, CHECKS]}).ready().send(ENTER).until("Which checks?").send(ESC)
    code, shown = asked.until("Esc again to stop").send(ESC).result()
    assert code == 1
    assert shown["text"].startswith("User declined to answer questions")
    assert "Staging cluster" in shown["text"]
    assert shown["details"]["cancelled"] is True
    assert [answer["answer"] for answer in shown["details"]["answers"]] == ["Staging cluster"]


def test_a_form(ask):
    asked = ask(FORM, "--contract", "form").ready().send(DOWN, ENTER).until(NAME).send("ledger", ENTER)
    code, shown = asked.until("Anything else?").send(ENTER).until("Enter sends").send(ENTER).result()
    assert code == 0
    assert shown["details"] == {
        "version": 1,
        "cancelled": False,
        "questions": FORM["questions"],
        "answers": [
            entry("lang", LANGUAGE, "select", "Rust", value="rs", label="Rust"),
            entry("name", NAME, "text", "ledger", value="ledger", custom=True),
            entry("note", "Anything else?", "text", "", skipped=True),
        ],
    }


def entry(identity, question, kind, answer, *, value=None, label=None, custom=False, skipped=False):
    told = {"id": identity, "question": question, "type": kind, "answer": answer}
    return {**told, "value": value, "label": label, "custom": custom, "skipped": skipped}


@pytest.mark.parametrize(
    ("keys", "code", "text", "answer"),
    [
        ((DOWN, ENTER), 0, "User selected: 2. Rebase", "Rebase"),
        ((DOWN, DOWN, ENTER, " merge commit ", ENTER), 0, "User wrote: merge commit", "merge commit"),
        ((DOWN, DOWN, ENTER, ENTER), 1, "User submitted an empty custom answer", None),
        ((ESC,), 1, "User cancelled the selection", None),
    ],
)
def test_a_selection(ask, keys, code, text, answer):
    exit_code, shown = ask(MERGE, "--contract", "user_select").ready().send(*keys).result()
    assert (exit_code, shown["text"], shown["details"]["answer"]) == (code, text, answer)
    assert shown["details"]["cancelled"] is (answer is None)


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (20, 6), (120, 40)])
def test_every_size(ask, size):
    width, height = size
    asked = ask(FORM, "--contract", "form", width=width, height=height).ready("Enter chooses")
    asked.send(DOWN, ENTER).until("Enter answers").send("日本 ok", ENTER)
    code, shown = asked.until("Enter skips").send(ENTER).until("Enter sends").send(ENTER).result()
    assert code == 0
    assert [answer["answer"] for answer in shown["details"]["answers"]] == ["Rust", "日本 ok", ""]


def test_the_real_cursor_stands_at_the_edit_point(ask):
    asked = ask(FORM, "--contract", "form").ready()
    assert asked.screen.cursor.hidden
    asked.send(TAB).until("Enter answers").send("a日本e\u0301👩").until("👩")
    column = asked.screen.cursor.x
    assert not asked.screen.cursor.hidden
    assert column == 3 + 1 + 4 + 1 + 2
    assert "a日" in asked.screen.display[asked.screen.cursor.y].replace("日 ", "日")
    asked.send(LEFT, LEFT)
    asked.send("X").until("X")
    assert asked.screen.cursor.x == 3 + 1 + 4 + 1
    asked.send(CTRL_C)
    assert asked.result()[0] == 130


def test_resizing_leaves_no_row_twice(ask):
    asked = ask({"questions": [DEPLOY, CHECKS]}).ready().send(DOWN)
    for width, height in [(60, 24), (100, 24), (40, 24), (80, 30)]:
        asked.resize(width, height)
        once = ("before", "Deploy]", "Staging cluster", "Throwaway VM", "Enter chooses")
        asked.until_so(lambda: all(asked.shown.count(text) == 1 for text in once))  # noqa: B023
        time.sleep(0.3)
        asked.until_so(lambda: all(asked.shown.count(text) == 1 for text in once))  # noqa: B023
    asked.send(CTRL_C)
    assert asked.result()[0] == 130


def test_a_paste_does_not_answer(ask):
    asked = ask(FORM, "--contract", "form").ready().send(TAB).until("Enter answers")
    asked.send(PASTE.format("one\rtwo\r\r")).until("two").send("x").until("x")
    assert "Enter answers" in asked.shown
    asked.send(ENTER).until("Anything else?").send(CTRL_C)
    code, shown = asked.result()
    assert [answer["answer"] for answer in shown["details"]["answers"]] == ["one\ntwo\n\nx"]
    assert (code, shown["details"]["status"]) == (130, "cancelled")


def test_keys_typed_before_the_dialog_appears_answer_nothing(ask):
    asked = ask(MERGE, "--contract", "user_select").send(ENTER, " ", "1", "2", ENTER)
    asked.ready()
    assert not asked.out.read_text()
    asked.send(DOWN, ENTER)
    assert asked.result()[1]["text"] == "User selected: 2. Rebase"


def test_of_keys_that_arrive_together_none_answers_what_was_not_drawn(ask):
    """As a held key, a slow line or a program that types for one sends them."""
    form = {
        "questions": [
            {"id": f"q{n}", "question": f"Number {n}?", "type": "select", "options": ["Yes", "No"]}
            for n in range(1, 5)
        ]
    }
    asked = ask(form, "--contract", "form").ready().send(ENTER * 5).until("Number 2?")
    time.sleep(0.3)
    asked.send(CTRL_C)
    code, shown = asked.result()
    assert (code, shown["isError"], shown["details"]["status"]) == (130, False, "cancelled")
    assert [answer["answer"] for answer in shown["details"]["answers"]] == ["Yes"]


@pytest.mark.parametrize("keys", [(), (TAB, "draft"), ("n", "note"), ("/",), ("?",), (ENTER, TAB, ESC)])
def test_ctrl_c_works_everywhere(ask, keys):
    asked = ask(FORM, "--contract", "form").ready().send(*keys, CTRL_C)
    code, shown = asked.result()
    assert (code, shown["details"]["status"]) == (130, "cancelled")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_leave_a_sane_terminal(ask, number):
    asked = ask(FORM, "--contract", "form").ready().send(TAB, "draft").until("draft")
    os.kill(asked.program, number)
    code, shown = asked.result()
    assert code == {signal.SIGTERM: 128 + signal.SIGTERM, signal.SIGINT: 130}[number]
    assert shown["details"]["status"] == "cancelled"


def test_an_exception_leaves_a_sane_terminal(ask, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "from questionnaire.presenters.terminal import dialog\n"
        "plain = dialog.layout\n"
        "def broken(asked, step, ui, width, height):\n"
        "    if ui.help: raise RuntimeError('broken on purpose')\n"
        "    return plain(asked, step, ui, width, height)\n"
        "dialog.layout = broken\n"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    asked = ask(FORM, "--contract", "form", environment={"PYTHONPATH": path}, height=60, width=200).ready()
    asked.send("?").until("broken on purpose").until("ended 1")
    assert termios.tcgetattr(asked.child.child_fd) == asked.modes
    assert not asked.screen.cursor.hidden


def test_a_terminal_that_hangs_up_ends_it(ask, tmp_path):
    asked = ask(FORM, "--contract", "form").ready()
    program = asked.program
    asked.child.close(force=False)
    limit = time.monotonic() + 60
    while Path(f"/proc/{program}").exists():
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_no_colours_where_none_are_wanted(ask):
    plain = ask({"questions": [DEPLOY]}, environment={"NO_COLOR": "1"}).ready()
    plain.send(DOWN, ENTER).result()
    assert not coloured(plain.raw)


def test_some_colours_otherwise(ask):
    asked = ask({"questions": [DEPLOY]}).ready()
    asked.send(DOWN, ENTER).result()
    assert coloured(asked.raw)


def coloured(raw):
    import re

    parts = [part for group in re.findall(rb"\x1b\[([0-9;]*)m", raw) for part in group.split(b";")]
    return any(part.isdigit() and (30 <= int(part) <= 49 or 90 <= int(part) <= 107) for part in parts)


def test_a_terminal_that_only_prints_is_asked_in_plain_lines(ask):
    asked = ask({"questions": [DEPLOY]}, environment={"TERM": "dumb"}).until("> ")
    assert b"\x1b" not in asked.raw
    time.sleep(2 * LINE_GUARD_S)  # lines of the first moments are not taken
    asked.send("2\r").until("ended 0")


def test_hostile_text_reaches_the_terminal_as_print_only(ask):
    evil = "x\x1b]52;c;aGk=\x07\x1b[2J\u202e\n❯ 2. y"
    asked = ask(
        {"questions": [{"question": evil, "options": [{"label": evil, "preview": evil}, "B"]}]}
    ).ready()
    for forbidden in (b"\x1b]52", b"\x1b[2J", b"\x07", "\u202e".encode()):
        assert forbidden not in asked.raw
    asked.send(CTRL_C).result()


@pytest.mark.parametrize("editor", ["sed -i s/draft/edited/", "false", "no-such-editor"])
def test_an_external_editor(ask, editor):
    asked = ask(FORM, "--contract", "form", environment={"EDITOR": editor, "VISUAL": ""}).ready()
    asked.send(TAB).until("Enter answers").send("draft").until("draft").send("\x07")
    if editor.startswith("sed"):
        asked.until("edited")
    else:
        asked.until("failed" if editor == "false" else "No editor could be started")
    time.sleep(0.5)
    asked.until("Enter answers").send("!", ENTER).until("Anything else?").send(CTRL_C)
    answer = asked.result()[1]["details"]["answers"][0]["answer"]
    assert answer == ("edited!" if editor.startswith("sed") else "draft!")


def test_without_a_terminal():
    done = subprocess.run(
        [sys.executable, "-m", "questionnaire", "ask", "-", "--contract", "user_select"],
        cwd=ROOT,
        input=json.dumps(MERGE),
        capture_output=True,
        text=True,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm"},
        check=False,
    )
    shown = json.loads(done.stdout)
    assert (done.returncode, done.stderr, shown["isError"]) == (3, "", True)
    assert "no interactive UI available (running in non-interactive mode)" in shown["text"]
