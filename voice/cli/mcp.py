"""``voice mcp``: narration and questions for any MCP client."""

from __future__ import annotations

import click

from voice.cli.running import model_options, settings_with
from voice.errors import LibraryMissing


@click.command()
@click.option("--voice", "on", is_flag=True, help="Switch Voice on at once.")
@click.option(
    "--http",
    "port",
    type=click.IntRange(0, 65_535),
    metavar="PORT",
    help="Serve over HTTP on this machine, at this port; 0 takes a free one.",
)
@model_options
def mcp(*, on: bool, port: int | None, model: str | None, language: str | None) -> int:
    """Serve narrate, ask_user_question and user_select to an MCP client, on standard input and output.

    While Voice is on, narrate speaks, listens and returns the reply, and the other two are withheld. You
    switch it: with --voice, by the prompts "on" and "off" in your client, by SIGUSR1, or off by saying "stop
    voice". No model can.

    With --http, clients need the token in VIVA_VOICE_TOKEN (16 characters or more); without that variable
    one is made, and printed on standard error with the address.
    """
    try:
        from voice.cli.serving import serve_until_signalled
    except ImportError as error:
        raise LibraryMissing(error, mend="pip install 'viva-voce[mcp]'") from error
    settings = settings_with(model=model, language=language)
    came = serve_until_signalled(settings, on=on, port=port)
    return 0 if came is None else 128 + came
