"""``voice say``: text in, speech out."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from voice.cli.running import remark, run
from voice.errors import TextError


@click.command()
@click.argument("text")
@click.option(
    "--out",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Write a WAV file, play nothing; `-` is standard output.",
)
@click.option("--rate", type=float, metavar="FACTOR", help="0.5 to 3; 1 is the engine's normal speed.")
@click.option("--voice", metavar="NAME", help="The engine's name of a voice.")
@click.option("--language", metavar="CODE", help="The language of the text: en, de, …")
def say(*, text: str, out: Path | None, rate: float | None, voice: str | None, language: str | None) -> None:
    """Speak TEXT as narration would speak it; `-` reads it from standard input."""
    from voice.assembly import make_engine, make_speaker
    from voice.backends.wav import as_wav, write_wav
    from voice.settings import load_settings
    from voice.speaking.manner import Manner
    from voice.speaking.narrator import Narrator, rendered
    from voice.speaking.speakable import speakable

    settings = load_settings().changed("speaking", rate=rate, voice=voice, language=language).speaking
    manner = Manner(settings.rate, settings.volume)
    to_standard_output = out == Path("-")
    if to_standard_output and (sys.stdout is None or sys.stdout.isatty()):
        raise TextError(
            "Standard output is closed or a terminal, and no place for a WAV file.",
            mend="name a file, or pipe it on: … --out - | aplay",
        )
    words = _standard_input() if text == "-" else text
    if not speakable(words):
        raise TextError("There is nothing to say in that text.")

    async def main() -> None:
        async with make_engine(settings) as engine:
            if out is None:
                narrator = Narrator(engine, make_speaker(settings, heard=True), manner=manner)
                narrated = await narrator.narrate(words)
                if narrated.error is not None:
                    raise narrated.error
            else:
                sound = await rendered(words, engine, manner)
                if not len(sound.samples):
                    raise TextError("The speech engine has no sound for that text.")
                if to_standard_output:
                    sys.stdout.buffer.write(as_wav(sound))
                    sys.stdout.flush()
                else:
                    write_wav(out, sound)
            for notice in engine.notices:
                remark(f"voice: {notice}")

    run(main)


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode(errors="replace")
    except (AttributeError, OSError):  # sys.stdin is None in a program that was started without one
        raise TextError(
            "Standard input cannot be read.", mend="pipe a text in: echo Hello | voice say -"
        ) from None
