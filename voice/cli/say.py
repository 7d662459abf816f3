"""``voice say``: text in, speech out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from voice.cli.running import remark, run, tell
from voice.errors import SettingsError, TextError

if TYPE_CHECKING:
    from voice.backends.pyttsx3_engine import Pyttsx3Engine


@click.command()
@click.argument("text", required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Write a WAV file, play nothing; `-` is standard output.",
)
@click.option("--rate", type=float, metavar="FACTOR", help="0.5 to 3; 1 is the engine's normal speed.")
@click.option("--voice", metavar="NAME", help="The engine's name of a voice.")
@click.option("--language", metavar="CODE", help="The language of the text: en, de, …")
@click.option("--list-voices", is_flag=True, help="List the voices, or those for the language given.")
def say(
    *,
    text: str | None,
    out: Path | None,
    rate: float | None,
    voice: str | None,
    language: str | None,
    list_voices: bool,
) -> None:
    """Speak TEXT as narration would speak it; `-` reads it from standard input."""
    from voice.assembly import make_engine, make_speaker
    from voice.backends.wav import as_wav, write_wav
    from voice.settings import load_settings
    from voice.speaking.manner import Manner
    from voice.speaking.narrator import Narrator, rendered
    from voice.speaking.speakable import speakable

    settings = load_settings().changed("speaking", rate=rate, voice=voice, language=language).speaking
    if list_voices:
        run(lambda: _list_voices(make_engine(settings), language))
        return
    if text is None:
        raise click.MissingParameter(param_type="argument", param_hint="TEXT")
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
                narrator = Narrator(
                    engine, make_speaker(settings, heard=True), manner=manner, language=settings.language
                )
                narrated = await narrator.narrate(words)
                if narrated.error is not None:
                    raise narrated.error
            else:
                sound = await rendered(words, engine, manner, settings.language)
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


async def _list_voices(engine: Pyttsx3Engine, language: str | None) -> None:
    """A line a voice: what names it in the settings and after --voice, what it is called, its languages."""
    async with engine:
        voices = (await engine.describe()).voices
    fitting = [voice for voice in voices if language is None or voice.speaks(language)]
    if not fitting:
        raise SettingsError(
            f"There is no voice for the language {language}; {len(voices)} others there are.",
            mend="voice say --list-voices",
        )
    for voice in fitting:
        tell(f"{voice.id}  {voice.name}  {' '.join(voice.languages)}".rstrip())


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode(errors="replace")
    except (AttributeError, OSError):  # sys.stdin is None in a program that was started without one
        raise TextError(
            "Standard input cannot be read.", mend="pipe a text in: echo Hello | voice say -"
        ) from None
