"""``voice transcribe``: recordings in, their words out."""

from __future__ import annotations

from contextlib import aclosing

import click

from voice.cli.running import model_options, run, settings_with


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@model_options
def transcribe(*, files: tuple[str, ...], model: str | None, language: str | None) -> None:
    """Print what is said in each FILE, a line a turn.

    With several files each line begins with its file's name and a tab. `-` is raw 16 kHz mono 16-bit samples
    on standard input. A file without speech gives no line, and a word about it on standard error.
    """
    from voice.assembly import find_weights, make_transcriber
    from voice.events import NoSpeech, Notice, UserMessage
    from voice.replay import replay_all, source

    settings = settings_with(model=model, language=language)
    weights = find_weights(settings.transcription)

    async def main() -> None:
        sources = {file: source(file) for file in files}
        async with (
            make_transcriber(settings.transcription, weights) as transcriber,
            aclosing(replay_all(sources, transcriber, settings)) as events,
        ):
            await transcriber.ready()
            async for file, event in events:
                match event:
                    case UserMessage(text=text):
                        click.echo(text if len(files) == 1 else f"{file}\t{text}")
                    case NoSpeech():
                        click.echo(f"{file}: nobody speaks in it", err=True)
                    case Notice(sentence):
                        click.echo(f"{file}: {sentence}", err=True)

    run(main)
