"""A disk that never answers again keeps no real program from telling so, from its work, and from ending."""

import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from voice.journal.offering import NO_ANSWER

HANG_S = 120.0

PROGRAM = """
import sys
import threading
from voice.journal import folder, offering, writer

def hangs(*_):
    threading.Event().wait()

folder.Folder.names = hangs
offering.ANSWERS_WITHIN_S = writer.PATIENCE_S = 0.2
from voice.cli import main
sys.argv = ["voice", *sys.argv[1:]]
sys.exit(main())
"""


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@contextmanager
def running(*arguments, **streams):
    """A program on such a disk; it ends by itself, or is killed, and then it has no exit code of its own."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments], stdin=subprocess.PIPE, text=True, **streams
    ) as program:
        hangs = threading.Timer(HANG_S, program.kill)
        hangs.start()
        try:
            yield program
        finally:
            program.stdin.close()
            program.wait()
            hangs.cancel()


def read_until(lines, text):
    for line in lines:
        if text in line:
            return
    raise AssertionError(f"{text!r} was not told")


def test_a_conversation_answers_who_asks_and_ends():
    with running("chat", "--no-voice", "--plain", stdout=subprocess.PIPE) as program:
        read_until(program.stdout, NO_ANSWER)
        for line, told in (("/journal", NO_ANSWER), ("help", "I am a script"), ("/quit", "")):
            program.stdin.write(f"{line}\n")
            program.stdin.flush()
            read_until(program.stdout, told) if told else program.stdout.read()
    assert program.returncode == 0


def test_a_server_tells_it_and_ends_with_its_client():
    with running("mcp", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as program:
        read_until(program.stderr, NO_ANSWER)
        program.stdin.close()
        program.stderr.read()
    assert program.returncode == 0
