"""``voice doctor``: what is there, what is missing, and the command that mends it."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from voice.cli.running import run


@click.command()
@click.option("--json", "json_lines", is_flag=True, help="One JSON object a line and part.")
def doctor(*, json_lines: bool) -> None:
    """Try each part of the loop; exit with 1 if it could not run with a microphone.

    Without a speech engine or a speaker it runs in text: what would be spoken is shown.
    """
    from voice.doctor import examine

    could_run = True

    async def main() -> None:
        nonlocal could_run
        for finding in await examine():
            could_run = could_run and (finding.ok or not finding.needed)
            if json_lines:
                click.echo(json.dumps(asdict(finding), ensure_ascii=False))
                continue
            mark = "ok" if finding.ok else "MISSING" if finding.needed else "missing"
            click.echo(f"{mark:8}{finding.part:16}{finding.detail}")
            if finding.mend is not None:
                click.echo(f"{'':24}To mend it: {finding.mend}")

    run(main)
    if not could_run:
        raise click.exceptions.Exit(1)
