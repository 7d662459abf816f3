"""``voice transcribe``: recordings in, their words out."""

from __future__ import annotations

import click

from voice.cli.running import model_options, remark, replay_with_whisper, settings_with, tell


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@model_options
def transcribe(*, files: tuple[str, ...], model: str | None, language: str | None) -> None:
    """Print what is said in each FILE, a line a turn.

    With several files each line begins with its file's name and a tab. `-` is raw 16 kHz mono 16-bit samples
    on standard input. Of a file without speech, and of words that are not delivered, standard error tells.
    """
    from voice.events import Discarded, Event, NoSpeech, Notice, UserMessage
    from voice.replay import source

    settings = settings_with(model=model, language=language)

    def show(file: str, event: Event) -> None:
        match event:
            case UserMessage(text=text):
                tell(text if len(files) == 1 else f"{file}\t{text}")
            case Discarded(reason, text):
                remark(f"{file}: not delivered ({reason}): {text!r}")
            case NoSpeech():
                remark(f"{file}: nobody speaks in it")
            case Notice(sentence):
                remark(f"{file}: {sentence}")

    replay_with_whisper([(file, source(file)) for file in files], settings, show)
