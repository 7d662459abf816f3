from dataclasses import replace

import pytest

from questionnaire.contracts import CONTRACTS
from questionnaire.presenters.terminal.dialog import Dialog
from questionnaire.presenters.terminal.keys import Key
from questionnaire.progress import Interview


class Seat:
    """Somebody before a dialog, on a clock that stands still between keys."""

    def __init__(self, questionnaire, width=80, height=24, last_key_s=float("-inf"), now=0.0):
        self.interview = Interview(questionnaire)
        self.now = now
        self.wall = 0.0  # how far the clock on the wall is ahead
        self.size = width, height
        self.dialog = Dialog(self.interview, lambda: self.now + self.wall, lambda: self.now, last_key_s)
        self.look()
        self.now += 1.0

    def look(self, width=None, height=None):
        """Look at the screen, and return it."""
        size = (width, height) if width and height else self.size
        screen = self.dialog.screen(*size)
        self.dialog.drawn()
        return screen

    def press(self, *keys):
        """Press keys by name, or type single letters; the screen is drawn after each."""
        for key in keys:
            self.wants_editor = self.dialog.press(Key("text", key) if len(key) == 1 else Key(key))
            if self.interview.outcome is None:
                self.look()
        return self

    def type(self, text):
        return self.press(*text)

    def press_unseen(self, *keys):
        """Press keys that arrive together: nothing is drawn in between, nor after them."""
        for key in keys:
            self.dialog.press(Key("text", key) if len(key) == 1 else Key(key))
        return self

    def paste(self, text):
        self.dialog.press(Key("paste", text))
        self.look()
        return self

    @property
    def step(self):
        return self.interview.step

    @property
    def outcome(self):
        return self.interview.outcome

    @property
    def lines(self):
        return self.look().lines

    @property
    def hint(self):
        return self.lines[-1].strip()

    @property
    def here(self):
        """The highlighted row."""
        [line] = [line.strip() for line in self.lines if line.strip().startswith("❯")]
        return line.removeprefix("❯ ").strip()


@pytest.fixture
def sit():
    """Sit down before the dialog of a call."""

    def start(arguments, contract="choices", risky=False, **how):
        return Seat(replace(CONTRACTS[contract].read(arguments), risky=risky), **how)

    return start
