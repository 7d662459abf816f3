"""``voice attach``: talk with an agent in another terminal. ``voice bridge-path``: what it is to load."""

from __future__ import annotations

import click

from voice.cli.running import model_options, run, settings_with, tell


@click.command("bridge-path")
def bridge_path() -> None:
    """Print where the extension is that Pi loads: pi -e "$(voice bridge-path)".

    Started so, Pi keeps its own screen, and `voice attach` talks with it.
    """
    from voice.hosts.pi.bridge import EXTENSION

    tell(str(EXTENSION))


@click.command()
@click.option("--agent", type=click.Choice(["pi"]), default="pi", help="Which; Pi is the one that there is.")
@click.option("--voice/--no-voice", default=True, help="Whether Voice is on at the beginning; it is.")
@click.option("--mic", metavar="NAME", help="Part of a microphone's name.")
@click.option("--speaker", metavar="NAME", help="Part of a speaker's name; none skips all sound.")
@click.option(
    "--duplex",
    type=click.Choice(["half", "headphones", "cancelled"]),
    help="What is heard while the agent speaks; half unless said: a spoken stop alone.",
)
@model_options
def attach(
    *,
    agent: str,
    voice: bool,
    mic: str | None,
    speaker: str | None,
    duplex: str | None,
    model: str | None,
    language: str | None,
) -> None:
    """Talk with an agent that runs in another terminal, by voice and from this one.

    Start it there with pi -e "$(voice bridge-path)". Its questions are asked on its own screen and here at
    once, and the first answer counts. Exit codes: those of `voice chat`.
    """
    from voice.cli.chatting import Choices, converse
    from voice.hosts.pi.attached import PiAttachedHost
    from voice.hosts.pi.screen import PiScreen

    settings = (
        settings_with(model=model, language=language)
        .changed("hearing", microphone=mic, duplex=duplex)
        .changed("speaking", speaker=None if speaker == "none" else speaker, language=language)
    )
    choices = Choices(agent, plain=True, voice=voice, heard=speaker != "none")
    screen = PiScreen()
    code = 0

    async def main() -> None:
        nonlocal code
        code = await converse(
            settings,
            choices,
            lambda tools, _, emit: PiAttachedHost(tools=tools, emit=emit, screen=screen),
            screen,
        )

    run(main)
    raise click.exceptions.Exit(code)
