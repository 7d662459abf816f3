"""What the commands share: settings from options, running on the event loop, errors in words."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from voice.cli.interrupts import end_at_once_on_ctrl_c
from voice.errors import VoiceError

if TYPE_CHECKING:
    from voice.settings import Settings

Command = Callable[..., Any]


def explain(error: VoiceError) -> None:
    """Say on standard error what is wrong, and what mends it."""
    click.echo(f"voice: {error.sentence}", err=True)
    if error.mend is not None:
        click.echo(f"  To mend it: {error.mend}", err=True)


def model_options(command: Command) -> Command:
    """Add the options of every command that transcribes."""
    for option in (
        click.option("--language", metavar="CODE", help="The language that is spoken: en, de, …"),
        click.option(
            "--model",
            metavar="MODEL",
            help="A Whisper size (tiny.en, base, …), a folder, or a hub repository.",
        ),
    ):
        command = option(command)
    return command


def settings_with(*, model: str | None = None, language: str | None = None) -> Settings:
    """The user's settings, with what the command line says of transcription."""
    from voice.settings import load_settings

    return load_settings().changed("transcription", model=model, language=language)


def run(main: Callable[[], Awaitable[None]]) -> None:
    """Run a coroutine function to its end; Ctrl-C cancels it, and children and devices end with it.

    What it needs should have been imported before: until here Ctrl-C acts at once.
    """
    import anyio

    from voice.tasks import lone_errors

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with lone_errors():
            anyio.run(main, backend="asyncio")
    finally:
        end_at_once_on_ctrl_c()
