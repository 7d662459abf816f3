"""``voice doctor``: what is there, what is missing, and the command that mends it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from voice.cli.running import run, tell, tell_json

if TYPE_CHECKING:
    from voice.doctor import Finding


@click.command()
@click.option("--json", "json_lines", is_flag=True, help="One JSON object a line and part.")
def doctor(*, json_lines: bool) -> None:
    """Try each part of the loop; exit with 1 if it could not run with a microphone.

    Without a speech engine or a speaker it runs in text: what would be spoken is shown.
    """
    from voice.doctor import examine, examine_libraries

    could_run = True

    def show(finding: Finding) -> None:
        nonlocal could_run
        could_run = could_run and (finding.ok or not finding.needed)
        if json_lines:
            tell_json(asdict(finding))
            return
        tell(f"{finding.mark:8}{finding.part:16}{finding.detail}")
        if finding.mend is not None:
            tell(f"{'':24}To mend it: {finding.mend}")

    async def main() -> None:
        async for finding in examine():
            show(finding)

    for finding in examine_libraries():
        show(finding)
    with suppress(ImportError):  # anyio, which was just told
        run(main)
    if not could_run:
        raise click.exceptions.Exit(1)
