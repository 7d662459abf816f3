"""``voice say``: text in, speech out."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from voice.cli.running import run


@click.command()
@click.argument("text")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Write a WAV file, play nothing."
)
@click.option("--rate", type=float, metavar="FACTOR", help="0.5 to 3; 1 is the engine's normal speed.")
@click.option("--voice", metavar="NAME", help="The engine's name of a voice.")
@click.option("--language", metavar="CODE", help="The language of the text: en, de, …")
def say(*, text: str, out: Path | None, rate: float | None, voice: str | None, language: str | None) -> None:
    """Speak TEXT as narration would speak it; `-` reads it from standard input."""
    from voice.assembly import make_engine, make_speaker
    from voice.backends.wav import write_wav
    from voice.errors import SpeechEngineError
    from voice.events import NarrationEnding
    from voice.settings import load_settings
    from voice.speaking.narrator import Narrator, rendered

    settings = load_settings().changed("speaking", rate=rate, voice=voice, language=language).speaking
    words = sys.stdin.read() if text == "-" else text

    async def main() -> None:
        async with make_engine(settings) as engine:
            if out is not None:
                write_wav(out, await rendered(words, engine))
            else:
                ended = (await Narrator(engine, make_speaker(settings, heard=True)).narrate(words)).ended
                if ended.ending is NarrationEnding.FAILED:
                    raise SpeechEngineError(ended.notice)
            for notice in engine.notices:
                click.echo(f"voice: {notice}", err=True)

    run(main)
