"""The group of commands, and the one place where an error becomes a sentence and an exit code."""

from __future__ import annotations

import click

from voice import __version__
from voice.cli.demo import demo
from voice.cli.devices import devices
from voice.cli.doctor import doctor
from voice.cli.replay import replay
from voice.cli.running import explain
from voice.cli.say import say
from voice.cli.transcribe import transcribe
from voice.errors import VoiceError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="voice")
def app() -> None:
    """Talk with an agent, hands-free.

    Try `voice demo` first, and `voice doctor` where something is missing.
    """


for command in (demo, replay, transcribe, say, devices, doctor):
    app.add_command(command)


def run_app() -> int:
    """Run it; returns the exit code."""
    try:
        code = app(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except VoiceError as error:
        explain(error)
        return error.exit_code
    return code if isinstance(code, int) else 0
