"""The command ``voice``.

Only what ``--help`` needs is imported before a command runs: the rest of the house is loaded by the command
that uses it.
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the command line and exit: 0, or what the error says (`voice.errors`), or 130 after Ctrl-C."""
    end_at_once_on_ctrl_c()
    from voice.cli.app import run_app

    sys.exit(run_app())


def end_at_once_on_ctrl_c() -> None:
    """Let Ctrl-C end the program where it stands.

    That is right while no event loop runs: there is nothing to clean up, and raised as an exception in the
    middle of an import or of the interpreter's own end it would come out as something else.
    """
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
