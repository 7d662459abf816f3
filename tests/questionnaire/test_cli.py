import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import termios
import time
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest
from click.testing import CliRunner

import questionnaire
from questionnaire.cli import main
from questionnaire.contracts import CONTRACTS
from questionnaire.model import Answer
from questionnaire.presenters.lines import GUARD_S
from questionnaire.progress import Give
from questionnaire.testing import BY

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
SIZE = {"header": "Size", "question": "How big?", "options": [{"label": "Small"}, {"label": "Large"}]}
MERGE = {
    "question": "Merge how?",
    "options": [{"label": "Squash"}, {"label": "Rebase", "description": "Keeps each commit."}],
    "allowCustom": True,
}


def command(*arguments):
    return [sys.executable, "-m", "questionnaire", *arguments]


def without_terminal(*arguments, **options):
    """Run the command in a session of its own, which has no controlling terminal."""
    return subprocess.run(
        command(*arguments), cwd=ROOT, capture_output=True, text=True, start_new_session=True, **options
    )


class Asked:
    """`questionnaire ask` on a pseudo-terminal, its standard output in a file."""

    def __init__(self, folder, arguments, *options):
        question, self.out = folder / "question.json", folder / "out"
        question.write_text(json.dumps(arguments))
        shell = '"$@" >"$OUT"; status=$?; echo ended; read -r _; exit $status'
        environment = {**os.environ, "OUT": str(self.out)}
        self.terminal = pexpect.spawn(
            "sh",
            ["-c", shell, "sh", *command("ask", str(question), *options)],
            cwd=str(ROOT),
            env=environment,
            encoding="utf-8",
            timeout=60,
        )

    def reply(self, *lines):
        for line in lines:
            self.terminal.expect_exact("\n> ")
            time.sleep(2 * GUARD_S)
            self.terminal.sendline(line)

    def key(self, name):
        self.terminal.expect_exact("\n> ")
        time.sleep(2 * GUARD_S)
        self.terminal.sendcontrol(name)

    def finish(self):
        """Return the exit code and the JSON object on standard output."""
        self.terminal.expect_exact("ended")
        self.mode = termios.tcgetattr(self.terminal.child_fd)
        self.terminal.sendline()
        self.terminal.expect(pexpect.EOF)
        self.terminal.close()
        return self.terminal.exitstatus, json.loads(self.out.read_text())


@pytest.fixture
def ask(tmp_path):
    asked = []

    def start(arguments, *options):
        asked.append(Asked(tmp_path, arguments, "--linear", *options))
        return asked[-1]

    yield start
    for one in asked:
        one.terminal.close(force=True)


def test_a_choice(ask):
    asked = ask({"questions": [DEPLOY]})
    asked.reply("2")
    code, shown = asked.finish()
    assert code == 0
    assert shown["isError"] is False
    assert shown["text"].startswith(
        'User has answered your questions: "Where should the preview be deployed?"="Throwaway VM". selected'
    )
    [answer] = shown["details"]["answers"]
    assert answer["preview"] == PREVIEW


@pytest.mark.parametrize(
    ("replies", "code", "text"),
    [
        (["2"], 0, "User selected: 2. Rebase"),
        (["3", " merge commit "], 0, "User wrote: merge commit"),
        (["", "9", "squash"], 0, "User selected: 1. Squash"),
        (["3", ""], 1, "User submitted an empty custom answer"),
    ],
)
def test_a_selection(ask, replies, code, text):
    asked = ask(MERGE, "--contract", "user_select")
    asked.reply(*replies)
    exit_code, shown = asked.finish()
    assert (exit_code, shown["text"]) == (code, text)


def test_a_form(ask):
    questions = [
        {"id": "lang", "question": "Which language?", "type": "select", "options": ["Python", "Rust"]},
        {"id": "name", "question": "What is it called?", "type": "text"},
        {"id": "note", "question": "Anything else?", "type": "text", "required": False},
    ]
    asked = ask({"questions": questions}, "--contract", "form")
    asked.reply("rust", "ledger", "", "send")
    code, shown = asked.finish()
    assert (code, shown["isError"]) == (0, False)
    assert shown["text"] == "Which language?: Rust\nWhat is it called?: ledger\nAnything else?: (skipped)"
    assert [answer["answer"] for answer in shown["details"]["answers"]] == ["Rust", "ledger", ""]


def test_end_of_input_declines(ask):
    asked = ask({"questions": [SIZE, DEPLOY]})
    asked.reply("1")
    asked.key("d")
    asked.key("d")
    code, shown = asked.finish()
    assert code == 1
    assert shown["text"] == 'User declined to answer questions. Answered before that: "How big?"="Small".'
    assert shown["details"]["status"] == "declined"


def test_ctrl_c_ends_at_once_and_keeps_what_was_answered(ask):
    asked = ask({"questions": [SIZE, DEPLOY]})
    asked.reply("large")
    asked.terminal.expect_exact("\n> ")
    began = time.monotonic()
    os.kill(child_of(asked.terminal.pid), 2)  # the shell of the test must outlive the key
    code, shown = asked.finish()
    assert time.monotonic() - began < 60  # it hangs on nothing
    assert code == 130
    assert shown["details"]["status"] == "cancelled"
    assert [answer["answer"] for answer in shown["details"]["answers"]] == ["Large"]


def child_of(pid):
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())


def test_the_real_ctrl_c_key(tmp_path):
    question = tmp_path / "question.json"
    question.write_text(json.dumps({"questions": [SIZE]}))
    python, *arguments = command("ask", str(question), "--linear")
    terminal = pexpect.spawn(python, arguments, cwd=str(ROOT), encoding="utf-8", timeout=60)
    before = termios.tcgetattr(terminal.child_fd)
    terminal.expect_exact("\n> ")
    terminal.sendintr()
    terminal.expect_exact('"status": "cancelled"')
    after = termios.tcgetattr(terminal.child_fd)
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 130
    assert after == before


@pytest.mark.parametrize("end", ["1", None])
def test_the_terminal_is_left_as_it_was_found(ask, end):
    asked = ask({"questions": [SIZE]})
    before = termios.tcgetattr(asked.terminal.child_fd)
    if end:
        asked.reply(end)
    else:
        asked.key("d")
    asked.finish()
    assert asked.mode == before


@pytest.mark.parametrize(
    ("contract", "arguments"),
    [("choices", {"questions": [SIZE]}), ("form", {"questions": ["How big?"]}), ("user_select", MERGE)],
)
def test_without_a_terminal(contract, arguments):
    done = without_terminal("ask", "-", "--contract", contract, input=json.dumps(arguments))
    shown = json.loads(done.stdout)
    assert done.returncode == 3
    assert done.stderr == ""
    assert shown["isError"] is True
    assert (
        shown["text"]
        .splitlines()[0]
        .endswith(": no interactive UI available (running in non-interactive mode)")
    )
    assert shown["details"]["error"] == "no_ui"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is not JSON"),
        (b"\xff\xfe\x00", "it is not JSON"),
        (b"{", "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b"[]", "it holds no JSON object"),
        (b'{"questions": []}', "questions: an empty array came"),
    ],
)
def test_unusable_input(tmp_path, content, said):
    file = tmp_path / "question.json"
    file.write_bytes(content)
    done = CliRunner().invoke(main, ["ask", str(file)])
    shown = json.loads(done.stdout)
    assert done.exit_code == 2
    assert said in shown["text"]
    assert "The user saw nothing" in shown["text"]
    assert shown["isError"] is True


def test_a_missing_file(tmp_path):
    done = CliRunner().invoke(main, ["ask", str(tmp_path / "none.json")])
    assert done.exit_code == 2
    assert json.loads(done.stdout)["details"]["error"] == "unreadable"


@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_schema_can_be_printed(contract):
    done = CliRunner().invoke(main, ["schema", "--contract", contract])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["parameters"] == CONTRACTS[contract].tool.parameters


def test_the_version():
    try:
        version = importlib.metadata.version("viva-voce")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the distribution is not installed")
    assert version in CliRunner().invoke(main, ["--version"]).stdout


@pytest.mark.parametrize(
    ("redirection", "said"), [("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor")]
)
@pytest.mark.parametrize("subcommand", ["ask -", "schema"])
def test_a_result_that_cannot_be_written(redirection, said, subcommand, tmp_path):
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m questionnaire {subcommand} {redirection}', sys.executable],
        cwd=ROOT,
        env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        input=json.dumps({"questions": [SIZE]}),
        start_new_session=True,
        check=False,
    )
    assert done.returncode == 4
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_answer_that_nobody_saw_is_no_refusal(tmp_path, monkeypatch):
    """A result that is an error never ends as declined does."""

    class Blind:
        async def present(self, interview):
            interview.send(Give(Answer((0,)), BY))

    @contextmanager
    def presenter(**_):
        yield Blind()

    monkeypatch.setattr("questionnaire.cli._presenter", presenter)
    file = tmp_path / "question.json"
    file.write_text(json.dumps({"questions": [SIZE]}))
    done = CliRunner().invoke(main, ["ask", str(file)])
    assert json.loads(done.stdout)["isError"] is True
    assert done.exit_code == 3


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("options", [["--linear"], []])
def test_a_signal_ends_it_and_keeps_what_was_answered(tmp_path, monkeypatch, options, sent, code):
    monkeypatch.setenv("TERM", "xterm-256color")
    socket = tmp_path / "s"
    asked = Asked(tmp_path, {"questions": [SIZE, DEPLOY]}, "--mirror", str(socket), *options)
    asked.terminal.expect_exact("Large")
    if options:  # until it prompts, it may be dropping what was typed before, out of line mode for an instant
        asked.terminal.expect_exact("> ")
    before = termios.tcgetattr(asked.terminal.child_fd) if options else None
    answered = without_terminal("answer", str(socket), "large")
    assert answered.returncode == 0, answered.stderr
    os.kill(child_of(asked.terminal.pid), sent)
    exit_code, shown = asked.finish()
    assert exit_code == code
    assert shown["details"]["status"] == "cancelled"
    assert sent.name in shown["text"]
    assert [answer["answer"] for answer in shown["details"]["answers"]] == ["Large"]
    assert not socket.exists()
    assert before is None or asked.mode == before


def test_a_time_out_that_waits_rings_again(tmp_path, monkeypatch):
    settings = tmp_path / "settings.toml"
    settings.write_text('[questionnaire]\nbell = true\ntimeout_s = 0.2\ntimeout_action = "wait"\n')
    monkeypatch.setenv("VIVA_VOICE_SETTINGS", str(settings))
    asked = Asked(tmp_path, {"questions": [SIZE]}, "--linear")
    asked.terminal.expect_exact("\n> ")
    for _ in range(3):
        asked.terminal.expect_exact("\a")
    asked.terminal.sendline("1")
    assert asked.finish()[0] == 0
