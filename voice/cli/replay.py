"""``voice replay``: recordings in, what the loop makes of them out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from voice.cli.running import model_options, replay_with_whisper, settings_with, tell, tell_json

if TYPE_CHECKING:
    from voice.events import Event


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option("--json", "json_lines", is_flag=True, help="One JSON object a line, documented in the README.")
@click.option("--realtime", is_flag=True, help="At the pace of speech; transcription takes what it takes.")
@click.option("--end-silence", type=float, metavar="SECONDS", help="How much silence ends a turn.")
@click.option(
    "--question", default="", metavar="TEXT", help="What is answered: it decides how long is waited."
)
@click.option("--rate", type=click.IntRange(1_000, 768_000), default=16_000, help="Hz, of samples from `-`.")
@click.option("--channels", type=click.IntRange(1, 64), default=1, help="Of samples from `-`.")
@click.option("--once", is_flag=True, help="Play a scene once, and not twice to compare.")
@click.option("--whisper", is_flag=True, help="Let Whisper hear a scene whose words are scripted.")
@model_options
def replay(
    *,
    files: tuple[str, ...],
    json_lines: bool,
    realtime: bool,
    end_silence: float | None,
    question: str,
    rate: int,
    channels: int,
    once: bool,
    whisper: bool,
    model: str | None,
    language: str | None,
) -> None:
    """Hear each FILE as if somebody spoke it, and print what happens.

    A FILE is a recording (WAV, FLAC, MP3, Ogg, …), or `-` for raw 16-bit little-endian samples on standard
    input.

    Or it is a scene (.yaml), or a folder of them (NAME.scene.yaml): then a whole session is played, twice, in
    no time to speak of, and held against what the scene expects. Exit code 1: not as expected.
    """
    from voice.cli.scenes import are_scenes, play_scenes
    from voice.events import as_json
    from voice.replay import source

    if are_scenes(files):
        if realtime or question or end_silence is not None:
            raise click.UsageError(
                "--realtime, --question and --end-silence are for recordings, not for scenes."
            )
        good = play_scenes(
            files, json_lines=json_lines, once=once, whisper=whisper, model=model, language=language
        )
        raise click.exceptions.Exit(0 if good else 1)
    if once or whisper:
        raise click.UsageError("--once and --whisper are for scenes.")
    settings = settings_with(model=model, language=language).changed("hearing", end_silence_s=end_silence)

    def show(file: str, event: Event) -> None:
        if json_lines:
            name, *fields = as_json(event).items()
            tell_json(dict([name, ("file", file), *fields]))
        else:
            tell(f"{file}  {_in_words(event)}")

    sources = [(file, source(file, rate, channels)) for file in files]
    replay_with_whisper(sources, settings, show, asked=question, realtime=realtime)


def _in_words(event: Event) -> str:
    from voice import events

    match event:
        case events.SpeechStarted(at_s):
            return f"{at_s:8.2f} s  speech started"
        case events.SpeechEnded(at_s, decided_at_s, reason):
            waited = decided_at_s - at_s
            return f"{at_s:8.2f} s  speech ended ({reason}, decided {waited:.2f} s later)"
        case events.UtteranceNearCap(at_s, remaining_s):
            return f"{at_s:8.2f} s  {remaining_s:.0f} s left before the utterance is cut into two"
        case events.UserMessage(text=text, at_s=at_s, latency=latency):
            total = latency.total_s if latency else 0.0
            return f"{at_s:8.2f} s  user message, {total:.2f} s after the last sound: {text}"
        case events.Discarded(reason, text, at_s):
            return f"{at_s:8.2f} s  not delivered ({reason}): {text!r}"
        case events.NoSpeech(at_s):
            return f"{at_s:8.2f} s  no speech"
        case events.Notice(sentence):
            return f"            {sentence}"
        case _:
            return f"            {events.event_name(event)}"
