"""What a program keeps around the dialog, on a pseudo-terminal: its rows, its keys, what it prints above."""

import contextlib
import sys
import time
from pathlib import Path

import pexpect
import pyte
import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = """
import anyio
from questionnaire import Coordinator, Surroundings, TerminalPresenter, printable, read_questionnaire
from questionnaire.inline import running_application

CALL = {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}]}
pressed = []

def footer(width, height):
    return ((("dim", f"{len(pressed)} pressed in {width}x{height}"),),)

def press():
    pressed.append(1)
    running_application().print_above([(("", f"F2 number {len(pressed)}"),)])

async def main():
    around = lambda: Surroundings(footer, {"f2": press, "enter": press})
    outcome = await Coordinator(TerminalPresenter(around=around)).ask(read_questionnaire("user_select", CALL))
    print("outcome", outcome.status, outcome.responses[0].answer.selected)

anyio.run(main)
"""


@pytest.fixture
def terminal():
    screen = pyte.Screen(60, 12)
    stream = pyte.ByteStream(screen)
    child = pexpect.spawn(
        sys.executable, ["-c", PROGRAM], cwd=str(ROOT), env={"TERM": "xterm-256color"}, dimensions=(12, 60)
    )

    def until(text):
        limit = time.monotonic() + 60
        while text not in "\n".join(screen.display):
            assert time.monotonic() < limit, "\n".join(screen.display)
            with contextlib.suppress(pexpect.TIMEOUT):
                stream.feed(child.read_nonblocking(100_000, 0.05))
        return [line.rstrip() for line in screen.display if line.strip()]

    yield child, until
    child.close(force=True)


def test_rows_below_keys_beside_and_lines_above_an_open_question(terminal):
    child, until = terminal
    until("0 pressed in 60x12")
    time.sleep(1.0)  # the keys of its first moments are not taken
    child.send("\x1bOQ\x1bOQ")
    lines = until("2 pressed")
    assert lines[:2] == ["F2 number 1", "F2 number 2"]
    assert "Merge how?" in lines[2]
    assert lines[-1] == "2 pressed in 60x12"
    child.send("\x1b[B\r")  # a key of the dialog's stays the dialog's
    assert until("outcome answered (1,)")[:2] == ["F2 number 1", "F2 number 2"]
