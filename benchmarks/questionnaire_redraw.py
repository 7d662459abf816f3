"""How long the terminal dialog takes from a key to the screen, drawn by prompt_toolkit on a pseudo-terminal.

A form of 8 questions by 8 options, each with a description of three lines and a preview, is walked through:
rows up and down, ticks, scrolling, text, tabs. What is counted is the processor's time for a key, the layout
of the next screen and its drawing, so that other programs do not count; 99 of 100 keys must stay within a
sixtieth of a second. As in the command, the collector leaves the libraries alone.

    python benchmarks/questionnaire_redraw.py
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import statistics
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from questionnaire import Interview, Option, Question, Questionnaire
from questionnaire.model import CustomRow
from questionnaire.presenters.terminal.dialog import Dialog
from questionnaire.presenters.terminal.keys import Key
from questionnaire.presenters.terminal.screen import TerminalScreen

LIMIT_MS = 16
"""A sixtieth of a second: what is faster is not seen."""

SIZES = ((80, 24), (120, 40), (40, 10), (20, 6))
_DESCRIPTION = (
    "What choosing this would mean, told at some length: 日本語 too, since that is measured anew. " * 2
)
_PREVIEW = (
    "# Plan\n\n| cost | time |\n|---|---|\n| low | 2 min |\n\n```python\nfor x in y:\n    stop(x)\n```\n" * 3
)
_ROUND = (
    *("down",) * 9,
    *("up",) * 4,
    " ",
    "preview-down",
    "preview-down",
    "end",
    "up",
    *"own words 日本",
    "tab",
)


def questionnaire() -> Questionnaire:
    """Return the form that is measured."""
    return Questionnaire(
        tuple(
            Question(
                f"Question {number}: which of these, and why not the others? " * 2,
                tuple(Option(f"Option {n} of {number}", _DESCRIPTION, _PREVIEW) for n in range(8)),
                f"Part {number}",
                multi_select=True,
                custom=CustomRow("Type something."),
            )
            for number in range(8)
        ),
        review=True,
    )


@contextmanager
def pseudo_terminal(width: int, height: int) -> Iterator[int]:
    """Open a terminal of which somebody reads all that is drawn."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (height, width))

    def read() -> None:
        try:
            while os.read(ours, 1 << 16):
                pass
        except OSError:
            pass  # it was closed

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield theirs
    finally:
        os.close(theirs)
        reader.join(1)
        os.close(ours)


async def measure(width: int, height: int, rounds: int) -> list[float]:
    """Return the milliseconds of processor time from each key to its screen."""
    took_ms: list[float] = []
    with pseudo_terminal(width, height) as fd:
        now = [0.0]
        dialog = Dialog(Interview(questionnaire()), lambda: now[0], lambda: now[0])
        screen = TerminalScreen(dialog, fd, fd, lambda: None)
        showing = asyncio.create_task(screen.run())
        await asyncio.sleep(0.2)
        now[0] = 1.0
        for name in (*_ROUND, "back-tab") * rounds:
            key = Key("text", name) if len(name) == 1 else Key(name)
            began = time.thread_time()
            dialog.press(key)
            screen.draw()
            took_ms.append((time.thread_time() - began) * 1000)
            await asyncio.sleep(0)
        screen.close()
        await showing
    return took_ms


def main() -> int:
    """Print a table, and return 1 where a key in a hundred takes longer than it may."""
    options = argparse.ArgumentParser(description="Measure how fast the terminal dialog redraws.")
    options.add_argument("--rounds", type=int, default=20)
    rounds = options.parse_args().rounds
    slow = False
    gc.freeze()
    print("| size | keys | median ms | 99 % ms | longest ms |\n|---|---|---|---|---|")
    for width, height in SIZES:
        took_ms = asyncio.run(measure(width, height, rounds))
        high = statistics.quantiles(took_ms, n=100)[98]
        slow = slow or high > LIMIT_MS
        row = f"{statistics.median(took_ms):.1f} | {high:.1f} | {max(took_ms):.1f}"
        print(f"| {width} by {height} | {len(took_ms)} | {row} |")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
