"""The group of commands, and the one place where an error becomes a sentence and an exit code."""

from __future__ import annotations

import os
import sys

import click

from voice import __version__
from voice.cli.attach import attach, bridge_path
from voice.cli.calibrate import calibrate
from voice.cli.chat import chat
from voice.cli.demo import demo
from voice.cli.devices import devices
from voice.cli.doctor import doctor
from voice.cli.journal import journal
from voice.cli.mcp import mcp
from voice.cli.replay import replay
from voice.cli.running import explain, write_any_text
from voice.cli.say import say
from voice.cli.stats import stats
from voice.cli.transcribe import transcribe
from voice.errors import LibraryMissing, VoiceError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="voice")
def app() -> None:
    """Talk with an agent, hands-free.

    Try `voice demo` first, and `voice doctor` where something is missing.
    """


for command in (
    *(chat, attach, bridge_path, demo, mcp),
    *(replay, transcribe, say, journal),
    *(devices, doctor, calibrate, stats),
):
    app.add_command(command)


def run_app() -> int:
    """Run it; returns the exit code."""
    write_any_text()
    try:
        code = app(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except VoiceError as error:
        return _explained(error)
    except ImportError as error:
        return _explained(LibraryMissing(error))
    except OSError as error:
        what = f" ({error.filename})" if error.filename else ""
        return _explained(VoiceError(f"Reading or writing failed{what}: {error.strerror or error}."))
    return code if isinstance(code, int) else 0


def _explained(error: VoiceError) -> int:
    try:
        explain(error)
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        # What could not be written stays in a buffer, and Python would complain of it at its end.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (1, 2):
            os.dup2(nowhere, descriptor)
    return error.exit_code
