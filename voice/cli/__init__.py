"""The command ``voice``.

Only what ``--help`` needs is imported before a command runs: the rest of the house is loaded by the command
that uses it.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit: 0, or what the error says (`voice.errors`), or 130 after Ctrl-C."""
    try:
        from voice.cli.app import run_app

        code = run_app()
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
