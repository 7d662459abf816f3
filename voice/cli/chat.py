"""``voice chat``: talk with an agent, by voice and keyboard."""

from __future__ import annotations

from pathlib import Path

import click

from voice.cli.running import model_options, run, settings_with


@click.command()
@click.option(
    "--agent", default="demo", metavar="NAME", help="demo, pi, acp or pydantic-ai; demo unless said."
)
@click.option("--plain", is_flag=True, help="Lines and nothing else, for screen readers and logs.")
@click.option("--voice/--no-voice", default=True, help="Whether Voice is on at the beginning; it is.")
@click.option("--mic", metavar="NAME", help="Part of a microphone's name.")
@click.option("--speaker", metavar="NAME", help="Part of a speaker's name; none skips all sound.")
@click.option(
    "--replies", type=click.Path(path_type=Path), help="Recordings in a folder instead of a microphone."
)
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Record the session into a new folder: what is heard, typed and done, to be replayed.",
)
@click.option(
    "--duplex",
    type=click.Choice(["half", "headphones", "cancelled"]),
    help="What is heard while the agent speaks; half unless said: a spoken stop alone.",
)
@click.option("--mode", metavar="NAME", help="Load what this mode of .po/modes.yaml names, and nothing else.")
@click.argument("arguments", nargs=-1, metavar="[-- AGENT ARGUMENTS…]")
@model_options
def chat(
    *,
    agent: str,
    plain: bool,
    voice: bool,
    mic: str | None,
    speaker: str | None,
    replies: Path | None,
    record: Path | None,
    duplex: str | None,
    mode: str | None,
    model: str | None,
    language: str | None,
    arguments: tuple[str, ...],
) -> None:
    """Talk with an agent, by voice and keyboard, whichever is nearer.

    F2 switches Voice, F3 stops what is spoken, ? tells the other keys. With --replies each recording of the
    folder, by name, is spoken when it is the user's turn: a rehearsal without a microphone.

    Exit codes: 0 you quit, 1 something unforeseen, 2 unusable options, 3 the agent cannot be started, 130
    Ctrl-C twice, 129 or 143 ended by SIGHUP or SIGTERM.
    """
    from voice.cli.chatting import Choices, converse

    settings = (
        settings_with(model=model, language=language)
        .changed("hearing", microphone=mic, duplex=duplex)
        .changed("speaking", speaker=None if speaker == "none" else speaker, language=language)
    )
    choices = Choices(
        agent,
        arguments,
        mode,
        plain=plain,
        voice=voice,
        heard=speaker != "none",
        replies=replies,
        record=record,
    )
    code = 0

    async def main() -> None:
        nonlocal code
        code = await converse(settings, choices)

    run(main)
    raise click.exceptions.Exit(code)
