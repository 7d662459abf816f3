"""``voice demo``: the whole loop with a scripted agent."""

from __future__ import annotations

from pathlib import Path

import click

from voice.cli.running import model_options, run, settings_with


@click.command()
@click.option("--mic", is_flag=True, help="Answer yourself, with a real microphone and the keyboard.")
@click.option("--speaker", is_flag=True, help="Hear it, on a real speaker.")
@click.option("--fixtures", type=click.Path(path_type=Path), help="Where the recorded replies are.")
@click.option("--mode", metavar="NAME", help="Load what this mode of .po/modes.yaml names, and nothing else.")
@model_options
def demo(
    *,
    mic: bool,
    speaker: bool,
    fixtures: Path | None,
    mode: str | None,
    model: str | None,
    language: str | None,
) -> None:
    """Talk with a scripted agent: real speech, real Whisper, no model and no key.

    By default recorded replies answer it in real time, and what it narrates is shown, rendered and skipped.
    """
    from voice.assembly import find_weights
    from voice.cli.rehearsal import play, recorded_replies, without_questionnaire

    plain = without_questionnaire(mode)
    settings = settings_with(model=model, language=language)
    replies = None if mic else recorded_replies(fixtures)
    weights = find_weights(settings.transcription)

    async def main() -> None:
        await play(settings, weights, replies, heard=speaker, plain=plain)

    run(main)
