"""A terminal that takes nothing: the conversation goes on, and then all of it stands there."""

import json
import os
import shutil
import signal
import sys
import termios
import time
from pathlib import Path

import psutil
import pytest

from voice.wording import words

pytestmark = pytest.mark.slow

VOICE = Path(sys.executable).parent / "voice"
AGENT = Path(__file__).parents[1] / "hosts" / "acp" / "small_agent.py"
WITHIN_S = 60.0
"""A hang: how fast anything is, is measured elsewhere."""


@pytest.fixture
def talk(on_terminal, tmp_path, fixtures_folder):
    """A conversation with Voice off and a recorded reply for when it is on; and what its agent has read."""

    def start(*options):
        (tmp_path / "replies").mkdir()
        shutil.copy(fixtures_folder / "second-one.wav", tmp_path / "replies")
        settings = tmp_path / "settings.toml"
        settings.write_text("[hearing]\nend_silence_s = 0.9\n")
        recorded = ["--no-voice", "--replies", tmp_path / "replies", "--speaker", "none"]
        agent = ["--agent", "acp", "--", sys.executable, AGENT, tmp_path]
        terminal = on_terminal(
            VOICE, "chat", *recorded, *options, *agent, environment={"VIVA_VOICE_SETTINGS": str(settings)}
        )
        return terminal, lambda: read_by_agent(tmp_path / "log")

    return start


def read_by_agent(log):
    lines = log.read_text().splitlines() if log.exists() else []
    noted = [json.loads(line) for line in lines if line.endswith("]")]
    return [what.strip("\u200b") for kind, what in noted if kind == "read"]


def until(fact, what):
    """Wait for a fact without reading anything that the program prints."""
    limit = time.monotonic() + WITHIN_S
    while not fact():
        assert time.monotonic() < limit, what
        time.sleep(0.05)


def stuck(terminal, read, help_, times):
    """Ask for help until the terminal holds no more; who then types is read all the same."""
    for _ in range(times):
        terminal.child.send(help_)
    terminal.send("nobody reads this\r")
    until(lambda: read() == ["nobody reads this"], "what was typed")


WAYS = [
    pytest.param([], ("?", 100), "\x1bOQ", "F2 voice on", id="drawn"),
    pytest.param(["--plain"], ("/help\r", 250), "/voice\r", "/help helps", id="in lines"),
]
"""How help is asked for, and so often that what is printed is more than the 64 kB that a terminal holds."""


@pytest.mark.parametrize(("options", "help_", "voice", "ready"), WAYS)
def test_it_hears_and_is_typed_at_while_nobody_reads_what_it_prints(talk, options, help_, voice, ready):
    terminal, read = talk(*options)
    terminal.until(ready)
    terminal.raw = b""
    stuck(terminal, read, *help_)
    terminal.send(voice)
    until(lambda: len(read()) == 2, "what was said")
    assert "second" in words(read()[1])
    terminal.send("and now somebody does\r")
    until(lambda: len(read()) == 3, "what was typed while Voice is on")

    terminal.until("and now somebody does")
    terminal.until_so(lambda: terminal.raw.count(b"switch Voice on or off") == help_[1])
    assert len(terminal.raw) > 64_000
    shown = " ".join(" ".join(terminal.history).split())
    assert "nobody reads this" in shown
    assert read()[1] in shown
    if not options:
        terminal.until_so(
            lambda: (
                sum(line == ">" for line in terminal.lines) == 1
                and sum("quits" in line for line in terminal.lines) == 1
            )
        )
    terminal.send("\x04")
    assert terminal.ended() == 0


def test_it_ends_while_nobody_reads_what_it_prints(talk):
    terminal, read = talk()
    terminal.until("F2 voice on")
    family = [psutil.Process(terminal.program)]
    family += family[0].children(recursive=True)
    stuck(terminal, read, "?", 100)
    family[0].send_signal(signal.SIGTERM)
    _, alive = psutil.wait_procs(family, timeout=WITHIN_S)
    assert not alive
    assert termios.tcgetattr(terminal.child.child_fd) == terminal.modes


def test_ctrl_s_stops_what_is_printed_and_nothing_else(talk):
    terminal, read = talk("--plain")
    terminal.until("/help helps")
    terminal.send("\x13", "while it stands still\r")
    until(lambda: read() == ["while it stands still"], "what was typed")
    terminal.settle()
    assert "One two three." not in terminal.text
    terminal.send("\x11")
    terminal.until("One two three.")
    terminal.send("\x04")
    assert terminal.ended() == 0


def test_keys_are_the_editors_as_soon_as_it_is_asked_for(scripted, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text(
        "#!/bin/sh\n"
        f"echo started >> {tmp_path}/log\n"
        f"stty -icanon -echo min 1; head -c 1 >> {tmp_path}/log\n"
        'printf edited > "$1"\n'
    )
    editor.chmod(0o755)
    terminal = scripted(environment={"EDITOR": str(editor), "VISUAL": ""})
    terminal.until("? help").send("ask\r").until("Merge how?").ready()
    terminal.send("n", "draft").until("draft").settle()
    slave = os.open(f"/proc/{terminal.program}/fd/1", os.O_RDWR | os.O_NOCTTY)
    termios.tcflow(slave, termios.TCOOFF)
    terminal.send("x", "\x07")
    until(lambda: termios.tcgetattr(slave)[3] & termios.ICANON, "the editor's modes")
    terminal.send("\x07").settle(1.0)  # a moment to start two in; less of it would only prove less
    assert not (tmp_path / "log").exists()
    termios.tcflow(slave, termios.TCOON)
    os.close(slave)
    terminal.until("edited").settle()
    assert (tmp_path / "log").read_text() == "started\n\x07"
    terminal.send("\x03").until("? help").send("\x04")
    assert terminal.ended() == 0


def test_no_key_answers_a_question_that_nobody_can_see_yet(scripted):
    terminal = scripted()
    terminal.until("? help").settle(1.2)
    slave = os.open(f"/proc/{terminal.program}/fd/1", os.O_RDWR | os.O_NOCTTY)
    termios.tcflow(slave, termios.TCOOFF)
    terminal.send("ask\r").settle(2.0)  # a moment to be asked in; less of it would only prove less
    terminal.send("\r", "2", "\r").settle(1.0)
    assert "Merge how?" not in terminal.text
    termios.tcflow(slave, termios.TCOON)
    os.close(slave)
    terminal.until("Merge how?").settle()
    assert "answered" not in terminal.text
    terminal.ready().send("2").until("answered: ").until("? help")
    terminal.send("\x04")
    assert terminal.ended() == 0
