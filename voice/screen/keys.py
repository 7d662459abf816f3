"""What the keys and the lines with a slash do, and the words that say so. Pure.

Voice is switched with F2 because every terminal sends it, as one press without a release, and because it is
no text; Ctrl-T is the same for keyboards on which the F keys are hard to reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Act(StrEnum):
    """What a key or a line with a slash does."""

    VOICE = "voice"
    """Switch Voice on or off."""
    STOP = "stop"
    """Stop what is being narrated."""
    HELP = "help"
    STATUS = "status"
    QUIT = "quit"


class Order(StrEnum):
    """How a line with a slash begins that is for something beside the conversation; more words follow."""

    JOURNAL = "journal"
    """What was not delivered."""
    MIC = "mic"
    """Which microphone is used."""
    SPEAKER = "speaker"


KEYS: Mapping[str, Act] = {"f1": Act.HELP, "f2": Act.VOICE, "c-t": Act.VOICE, "f3": Act.STOP}
"""The keys that act wherever the cursor is, by prompt_toolkit's names."""

LINES: Mapping[str, Act] = {f"/{act}": act for act in Act}
"""The lines that act; any other line is sent, one that begins with another slash too."""

HELP = (
    ("F2, Ctrl-T", "/voice", "switch Voice on or off"),
    ("F3", "/stop", "stop what is being spoken; also Esc on an empty line"),
    ("Enter", "", "send the line; Alt-Enter begins a new one"),
    ("Esc", "", "clear the line, which gives the microphone back"),
    ("Up, Down", "", "lines that were sent before"),
    ("Ctrl-C", "", "interrupt the agent; once more, quit"),
    ("Ctrl-D", "/quit", "quit, on an empty line"),
    ("", "/status", "how things stand, with the limits that are set"),
    ("", "/mic", "which microphones there are; /mic NAME takes one from now on"),
    ("", "/speaker", "the same for what is heard"),
    ("", "/journal", "what was not delivered; /journal send N or forget N acts on it"),
    ("F1, ?", "/help", "this"),
)
"""Keys, the line that does the same, and what that is."""

ARMED_S = 3.0
"""So soon after a first Ctrl-C a second one quits."""

QUITTING = "Ctrl-C again quits."


def act_of(line: str) -> Act | None:
    """What a line does, None where it is a message; a second slash at its start makes it one."""
    return LINES.get(line.strip())


def order_of(line: str) -> tuple[Order, str] | None:
    """What a line asks of something beside the conversation, and what follows that; None where nothing."""
    first, _, rest = line.strip().partition(" ")
    return next(((order, rest.strip()) for order in Order if first == f"/{order}"), None)


def message_of(line: str) -> str:
    """What is sent for a line that does nothing else: a control with a second slash before it loses one."""
    plain = line.strip().removeprefix("/")
    return line.lstrip()[1:] if plain in LINES or order_of(plain) is not None else line


def help_lines(*, keys: bool) -> list[str]:
    """The help, a line each; without ``keys`` that of plain mode."""
    if keys:
        width = max(len(key) for key, _, _ in HELP)
        return [
            f"{key or line:<{width}}  {does}{f' (or {line})' if key and line else ''}"
            for key, line, does in HELP
        ]
    lines = [f"{line}: {does.partition(';')[0]}" for _, line, does in HELP if line]
    return [*lines, "Ctrl-C: interrupt the agent; once more, quit", "Any other line is sent to the agent."]


def hints(*, voice_on: bool, typing: bool, narrating: bool, working: bool, armed: bool) -> list[str]:
    """What can be done now, the most useful first."""
    if armed:
        return ["Ctrl-C again quits"]
    hints = []
    if narrating:
        hints.append("F3 silences")
    if typing:
        hints += ["Enter sends", "Esc clears"]
    if working:
        hints.append("Ctrl-C interrupts")
    hints.append("F2 voice off" if voice_on else "F2 voice on")
    if not typing:
        hints.append("? help")
    if not working:
        hints.append("Ctrl-D quits" if not typing else "Alt-Enter new line")
    return hints
