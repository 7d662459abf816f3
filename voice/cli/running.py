"""What the commands share: settings from options, running on the event loop, errors in words."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import click

from voice.errors import VoiceError

if TYPE_CHECKING:
    from voice.events import Event
    from voice.ports import Microphone
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
    """Run a coroutine function to its end; Ctrl-C cancels it, and children and devices end with it."""
    import anyio

    from voice.tasks import lone_errors

    with lone_errors():
        anyio.run(main, backend="asyncio")


def microphones_of(files: Sequence[str], rate: int = 16_000, channels: int = 1) -> dict[str, Microphone]:
    """The sources that the names of files stand for, `-` being standard input."""
    from voice.backends.pcm_stdin import PcmMicrophone
    from voice.backends.recording import RecordingMicrophone

    return {
        file: PcmMicrophone(rate=rate, channels=channels) if file == "-" else RecordingMicrophone(file)
        for file in files
    }


async def replayed(
    microphones: Mapping[str, Microphone], settings: Settings, *, realtime: bool = False
) -> AsyncGenerator[tuple[str, Event]]:
    """Hear the sources one after another; yield what happens, each with the name of its file.

    All recordings are looked at before the first is heard: a bad one among them is refused with nothing done.
    """
    from voice.assembly import make_transcriber
    from voice.replay import replay

    for microphone in microphones.values():
        if not microphone.live:
            async with microphone.open():
                pass
    async with make_transcriber(settings.transcription) as transcriber:
        await transcriber.ready()
        for file, microphone in microphones.items():
            async with aclosing(replay(microphone, transcriber, settings, realtime=realtime)) as events:
                async for event in events:
                    yield file, event
