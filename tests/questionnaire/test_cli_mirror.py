"""`ask --mirror` and `answer`: two processes, one question."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pytest

import questionnaire
from questionnaire.presenters.lines import GUARD_S

ROOT = Path(questionnaire.__file__).parents[1]
MERGE = {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}], "allowCustom": True}
FORM = {
    "questions": [
        {"id": "lang", "question": "Language?", "type": "select", "options": ["Python", "Rust"]},
        {"id": "name", "question": "Name?", "type": "text"},
    ]
}


def command(*arguments):
    return [sys.executable, "-m", "questionnaire", *map(str, arguments)]


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Start `ask` without a terminal; it waits for an answer through its socket."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    running = []

    def start(arguments, contract):
        file, socket = tmp_path / "question.json", tmp_path / "run" / "s"
        file.write_text(json.dumps(arguments))
        running.append(
            subprocess.Popen(
                command("ask", file, "--contract", contract, "--mirror", socket, "--linear"),
                cwd=ROOT,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        )
        deadline = time.monotonic() + 60
        while not socket.exists():
            assert time.monotonic() < deadline, "nothing is asked"
            time.sleep(0.01)
        return running[-1], socket

    yield start
    for process in running:
        process.kill()
        process.communicate()


def answer(*arguments):
    return subprocess.run(
        command("answer", *arguments),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=60,
    )


def test_replies_from_another_process(asked):
    process, socket = asked(FORM, "form")
    done = answer(socket, "rust", "ledger")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"accepted": 2, "refused": "", "closed": "resolved"}
    shown = json.loads(process.communicate(timeout=60)[0])
    assert process.returncode == 0
    assert [entry["answer"] for entry in shown["details"]["answers"]] == ["Rust", "ledger"]


def test_a_reply_that_is_no_choice_and_a_person_without_a_terminal(asked):
    _, socket = asked(MERGE, "user_select")
    done = answer(socket, "9")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no row 9" in done.stderr
    assert answer(socket, "--linear").returncode == 3
    assert answer(socket, "--request", "other", "1").returncode == 2


def test_at_another_terminal(asked):
    process, socket = asked(MERGE, "user_select")
    python, *arguments = command("answer", socket, "--linear")
    terminal = pexpect.spawn(python, arguments, cwd=str(ROOT), encoding="utf-8", timeout=60)
    terminal.expect_exact("\n> ")
    time.sleep(2 * GUARD_S)
    terminal.sendline("2")
    terminal.expect_exact('"accepted": 1')
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    assert json.loads(process.communicate(timeout=60)[0])["text"] == "User selected: 2. Rebase"


def test_with_nobody_to_answer(tmp_path):
    done = answer(tmp_path / "none", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nobody can be answered" in done.stderr


def test_a_path_that_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "question.json"
    file.write_text(json.dumps(MERGE))
    done = subprocess.run(
        command("ask", file, "--contract", "user_select", "--mirror", file, "--linear"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert done.returncode == 2
    assert json.loads(done.stdout)["details"]["error"] == "socket_unusable"
    assert json.loads(file.read_text()) == MERGE


def test_ctrl_c_in_the_dialog_ends_the_client_and_not_the_call(asked):
    process, socket = asked(MERGE, "user_select")
    python, *arguments = command("answer", socket)
    environment = {**os.environ, "TERM": "xterm-256color"}
    terminal = pexpect.spawn(
        python, arguments, cwd=str(ROOT), env=environment, encoding="utf-8", timeout=60, dimensions=(24, 80)
    )
    terminal.expect_exact("Rebase")
    terminal.sendintr()
    terminal.expect_exact('"accepted": 0')
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 130
    assert process.poll() is None
    assert answer(socket, "2").returncode == 0


def test_more_replies_than_questions(asked):
    process, socket = asked(FORM, "form")
    done = answer(socket, "1", "ledger", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "There are more replies (3) than questions (2).\n"
    assert process.poll() is None


@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
def test_a_signal_leaves_no_socket_and_tells_what_was_answered(asked, sent, code):
    process, socket = asked(FORM, "form")
    assert answer(socket, "rust").returncode == 0
    process.send_signal(sent)
    shown = json.loads(process.communicate(timeout=60)[0])
    assert process.returncode == code
    assert shown["details"]["status"] == "cancelled"
    assert [entry["answer"] for entry in shown["details"]["answers"]][:1] == ["Rust"]
    assert not socket.exists()
