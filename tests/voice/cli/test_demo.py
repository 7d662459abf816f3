"""``voice demo`` in a real terminal: to its end, and stopped by Ctrl-C at any point of it."""

import re
import sys
import termios
import time
from pathlib import Path

import pexpect
import psutil
import pytest

pytestmark = pytest.mark.slow

VOICE = str(Path(sys.executable).parent / "voice")


def test_it_runs_to_its_end_and_says_what_it_understood(voice):
    done = voice("demo")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    told = " ".join(done.stdout.split())
    tools = re.findall(r"^tools +(.*)$", done.stdout, re.MULTILINE)
    assert tools == [
        "ask_user_question · user_select · narrate",
        "narrate",
        "ask_user_question · user_select · narrate",
    ]
    for said in (
        "Yes, please.",
        "The second one.",
        "I want all the tests to run before every commit.",
        "4, 2, 7, 1",
    ):
        assert f"● {said}" in told
    assert "A web service, with PostgreSQL, on port 4271" in told
    assert "tries ask_user_question, and is told:" in told
    assert done.stdout.count("after your last sound") == 4


@pytest.mark.parametrize(
    ("moment", "delay_s"),
    [
        ("", 0.15),
        ("", 0.3),
        ("Viva Voce", 0.0),
        ("starting", 0.0),
        ("Shall we go", 0.0),
        ("Shall we go", 0.7),
        ("Yes, please", 0.0),
        ("And what should", 0.5),
        ("4, 2, 7, 1", 0.0),
        ("This is what I understood", 0.0),
    ],
)
def test_ctrl_c_ends_it_and_leaves_nothing_behind(moment, delay_s):
    terminal = pexpect.spawn(VOICE, ["demo"], encoding="utf-8", timeout=60, dimensions=(40, 100))
    modes = termios.tcgetattr(terminal.child_fd)
    family = psutil.Process(terminal.pid)
    terminal.expect(moment)
    time.sleep(delay_s)
    children = family.children(recursive=True)
    terminal.sendintr()
    terminal.expect(pexpect.EOF, timeout=60)  # a hang: how it ended is seen below
    terminal.wait()
    late = moment in ("4, 2, 7, 1", "This is what I understood")  # it may have ended before the key came
    assert terminal.exitstatus in ((130, 0) if late else (130,))
    assert "Traceback" not in terminal.before
    _, alive = psutil.wait_procs(children, timeout=60)
    assert not alive
    assert termios.tcgetattr(terminal.child_fd)[:4] == modes[:4]


def test_without_a_speech_engine_it_goes_on_in_text_and_says_why_once(voice, tmp_path):
    (tmp_path / "pyttsx3.py").write_text("raise ImportError('not here')")
    done = voice("demo", environment={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert told.count("pip install pyttsx3") == 1
    assert told.count("not spoken") == 5
    assert "A web service, with PostgreSQL, on port 4271" in told


def test_missing_recordings_are_a_sentence_with_what_mends_it(voice, tmp_path):
    done = voice("demo", "--fixtures", tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "yes-please.wav" in done.stderr
    assert "--mic" in done.stderr
