"""Ctrl-C while no event loop runs."""

from __future__ import annotations

import os
import signal


def end_at_once_on_ctrl_c() -> None:
    """Let Ctrl-C end the program where it stands, with 130.

    That is right while there is nothing to clean up: raised as an exception, in the middle of an import or of
    the interpreter's own end, it would come out as something else.
    """
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
