"""What the commands share: settings from options, running on the event loop, results and errors in words."""

from __future__ import annotations

import codecs
import io
import json
import re
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import click

from voice.cli.interrupts import end_at_once_on_ctrl_c
from voice.errors import TranscriberError, VoiceError

if TYPE_CHECKING:
    from voice.events import Event
    from voice.ports import Microphone
    from voice.settings import Settings

Command = Callable[..., Any]

_UNPRINTABLE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal obeys or cannot show: control characters, those that turn the direction of text, and the
halves of characters that stand for bytes which are no UTF-8. A tab is none of them."""


def write_any_text() -> None:
    """Let standard output and error take any text: what they cannot encode is escaped as JSON escapes it."""
    codecs.register_error("voice.escaped", _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="voice.escaped")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def tell(line: str) -> None:
    """Print a line on standard output."""
    click.echo(_printable(line), file=sys.stdout)


def tell_json(fields: Mapping[str, Any]) -> None:
    """Print an object on standard output, as one line of JSON."""
    tell(json.dumps(fields, ensure_ascii=False))


def remark(line: str) -> None:
    """Print a line on standard error."""
    click.echo(_printable(line), file=sys.stderr, err=True)


def explain(error: VoiceError) -> None:
    """Say on standard error what is wrong, and what mends it."""
    remark(f"voice: {error.sentence}")
    if error.mend is not None:
        remark(f"  To mend it: {error.mend}")


def _printable(line: str) -> str:
    """A line without anything that a terminal would obey; in JSON the escapes mean what they stand for."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


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
    from voice.backends.whisper_models import ENVIRONMENT, overruling
    from voice.settings import load_settings

    settings = load_settings().changed("transcription", model=model, language=language)
    if (folder := overruling(settings.transcription.model)) is not None:
        remark(f"voice: {ENVIRONMENT} overrules the model {settings.transcription.model}: {folder} is used.")
    return settings


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


def replay_with_whisper(
    files: Sequence[tuple[str, Microphone]],
    settings: Settings,
    show: Callable[[str, Event], None],
    *,
    asked: str = "",
    realtime: bool = False,
) -> None:
    """Hear one after another and show what happens.

    Raises `TranscriberError` at the end if anything that was said could not be transcribed.
    """
    from voice.assembly import find_weights, make_transcriber
    from voice.events import Discarded, DiscardReason
    from voice.replay import replay_all

    weights = find_weights(settings.transcription)
    lost = False

    async def main() -> None:
        nonlocal lost
        async with (
            make_transcriber(settings.transcription, weights) as transcriber,
            aclosing(replay_all(files, transcriber, settings, asked=asked, realtime=realtime)) as events,
        ):
            await transcriber.ready()
            async for file, event in events:
                show(file, event)
                lost |= isinstance(event, Discarded) and event.reason is DiscardReason.NOT_TRANSCRIBED

    run(main)
    if lost:
        raise TranscriberError("Not all that was said could be transcribed.", mend="voice doctor")
