"""A program on a real pseudo-terminal, its screen as an emulator sees it."""

import contextlib
import os
import sys
import termios
import time
from pathlib import Path

import pexpect
import pyte
import pytest

from questionnaire.presenters.terminal.dialog import GUARD_S

ESC = "\x1b"
WITHIN_S = 60.0
"""A hang: how fast anything is, is measured elsewhere."""


class Terminal:
    """A program on a pseudo-terminal of a given size, after a line that stood there before.

    The screen remembers what scrolled off its top: ``history`` is that and what is seen.
    """

    def __init__(self, command, *, width=80, height=24, environment=(), cwd=None):
        self.screen = pyte.HistoryScreen(width, height, history=2_000)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name not in ("TMUX", "NO_COLOR", "TERM_PROGRAM", "VTE_VERSION")
        }
        shell = 'trap : INT; echo before; "$@"; status=$?; echo "ended $status"; read -r _'
        self.child = pexpect.spawn(
            "sh",
            ["-c", shell, "sh", *map(str, command)],
            cwd=cwd,
            env={**inherited, "TERM": "xterm-256color", **dict(environment)},
            dimensions=(height, width),
        )
        self.child.delaybeforesend = None
        self.modes = termios.tcgetattr(self.child.child_fd)

    def read(self, seconds=0.05):
        """Take in what the program draws within that time."""
        with contextlib.suppress(pexpect.TIMEOUT):
            data = self.child.read_nonblocking(100_000, seconds)
            self.raw += data
            self._stream.feed(data)

    def until(self, text, *, times=1, gone=False):
        """Wait until this stands on the screen, so many times; with ``gone`` until it does not."""
        limit = time.monotonic() + WITHIN_S
        while (self.text.count(text) >= times) is gone:
            assert time.monotonic() < limit, f"{text!r} {'still' if gone else 'not'} in:\n{self.text}"
            self.read()
        return self

    def ready(self):
        """Wait until the question that stands there takes keys: those of its first moments are not for it.

        They are counted from when it has been drawn, and a program that has drawn waits for what comes next.
        So does one that waits until the terminal has taken that, for which it looks every now and then.
        """
        limit = time.monotonic() + WITHIN_S
        while Path(f"/proc/{self.program}/stat").read_text().rpartition(")")[2].split()[0] != "S":
            assert time.monotonic() < limit, self.text
            self.read(0.005)
        return self.settle(GUARD_S + 0.5)

    def until_so(self, fact):
        """Wait until this is so, and stays so when all is drawn."""
        limit = time.monotonic() + WITHIN_S
        while not (fact() and self.settle() and fact()):
            assert time.monotonic() < limit, self.text
            self.read()
        return self

    def settle(self, seconds=0.15):
        """Let it draw what it is about to draw."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            self.read()
        return self

    def send(self, *keys):
        for key in keys:
            self.child.send(key)
            time.sleep(0.08 if key == ESC else 0.02)
        return self

    def send_until(self, keys, text):
        """Send these keys, and again after a pause, until this stands on the screen.

        What is asked takes none in its first moments.
        """
        limit = time.monotonic() + WITHIN_S
        while text not in self.text:
            assert time.monotonic() < limit, f"{text!r} not in:\n{self.text}"
            self.send(keys)
            pause = time.monotonic() + 3.0
            while text not in self.text and time.monotonic() < pause:
                self.read()
        return self

    @property
    def program(self):
        """The process under test."""
        pid = self.child.pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())

    def resize(self, width, height):
        self.screen.resize(height, width)
        self.child.setwinsize(height, width)
        return self

    def ended(self):
        """The exit code, once the screen is gone from a sane terminal."""
        self.until("ended ")
        assert termios.tcgetattr(self.child.child_fd) == self.modes
        assert not self.screen.cursor.hidden
        if b"\x1b[?2004h" in self.raw:
            assert self.raw.rindex(b"\x1b[?2004l") > self.raw.rindex(b"\x1b[?2004h")
        return int(self.lines[-1].removeprefix("ended "))

    @property
    def text(self):
        return "\n".join(self.screen.display).replace("  ", "  ")

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display if line.strip()]

    @property
    def history(self):
        """All lines, also those that have scrolled off."""
        top = [
            "".join(row[column].data for column in range(self.screen.columns)).rstrip()
            for row in self.screen.history.top
        ]
        return [line for line in top if line] + self.lines


@pytest.fixture
def on_terminal():
    """Run a program on a terminal of its own."""
    running = []

    def start(*command, **how):
        running.append(Terminal(command, **how))
        return running[-1]

    yield start
    for terminal in running:
        terminal.child.close(force=True)


@pytest.fixture
def scripted(on_terminal):
    """The screen with a scripted conversation, see `program.py`."""
    program = Path(__file__).parent / "program.py"
    return lambda *options, **how: on_terminal(sys.executable, program, *options, **how)
