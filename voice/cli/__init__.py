"""The command ``voice``.

Only what ``--help`` needs is imported before a command runs: the rest of the house is loaded by the command
that uses it.
"""

from __future__ import annotations

import sys

from voice.cli.interrupts import end_at_once_on_ctrl_c


def main() -> None:
    """Run the command line and exit: 0, or what the error says (`voice.errors`), or 130 after Ctrl-C."""
    end_at_once_on_ctrl_c()
    from voice.cli.app import run_app

    sys.exit(run_app())
