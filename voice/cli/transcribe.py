"""``voice transcribe``: recordings in, their words out."""

from __future__ import annotations

from contextlib import aclosing

import click

from voice.cli.running import microphones_of, model_options, replayed, run, settings_with


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@model_options
def transcribe(*, files: tuple[str, ...], model: str | None, language: str | None) -> None:
    """Print what is said in each FILE, a line a turn.

    With several files each line begins with its file's name and a tab. `-` is raw 16 kHz mono 16-bit samples
    on standard input. A file without speech gives no line, and a word about it on standard error.
    """
    settings = settings_with(model=model, language=language)

    async def main() -> None:
        from voice.events import NoSpeech, Notice, UserMessage

        async with aclosing(replayed(microphones_of(files), settings)) as events:
            async for file, event in events:
                match event:
                    case UserMessage(text=text):
                        click.echo(text if len(files) == 1 else f"{file}\t{text}")
                    case NoSpeech():
                        click.echo(f"{file}: nobody speaks in it", err=True)
                    case Notice(sentence):
                        click.echo(f"{file}: {sentence}", err=True)

    run(main)
