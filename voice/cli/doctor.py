"""``voice doctor``: what is there, what is missing, and what to do about it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from voice.cli.running import remark, run, tell, tell_json

if TYPE_CHECKING:
    from voice.doctor.examining import Examined
    from voice.doctor.findings import Finding

_TO_STANDARD_OUTPUT = "-"


@click.command()
@click.option("--json", "json_lines", is_flag=True, help="One JSON object a line and part.")
@click.option(
    "--within",
    "limit_s",
    type=click.FloatRange(1, 600),
    metavar="SECONDS",
    default=15.0,
    show_default=True,
    help="So long each part may take.",
)
@click.option(
    "--report",
    "report_to",
    is_flag=False,
    flag_value=_TO_STANDARD_OUTPUT,
    metavar="[FILE]",
    help="Write what a bug report needs, without private text, into FILE; or print that instead.",
)
def doctor(*, json_lines: bool, limit_s: float, report_to: str | None) -> None:
    """Try each part of the loop, and say what to do; exit with 1 if it could not run with a microphone.

    It listens to the microphone for a second, speaks a sentence, and has Whisper hear it: as the engine made
    it and, where the sound server can be asked, as the speaker was given it. Nothing of that is kept.

    Without a speech engine or a speaker the loop runs in text: what would be spoken is shown.
    """
    if json_lines and report_to == _TO_STANDARD_OUTPUT:
        raise click.UsageError("--json and --report both print: name a FILE for the report.")
    from voice.doctor.findings import could_run
    from voice.doctor.libraries import examine_libraries

    found: list[Finding] = []
    progress = _Progress()

    def show(finding: Finding) -> None:
        found.append(finding)
        progress.clear()
        if report_to == _TO_STANDARD_OUTPUT:
            return
        if json_lines:
            tell_json(finding.as_json())
            return
        tell(f"{finding.mark:8}{finding.part:18}{finding.detail}")
        if finding.mend is not None:
            tell(f"{'':26}{'Better' if finding.ok else 'To mend it'}: {finding.mend}")

    progress.trying("libraries")
    for finding in examine_libraries():
        show(finding)
    examined: Examined | None = None

    async def look() -> None:
        nonlocal examined
        examined = await examine(show, trying=progress.trying, limit_s=limit_s)

    with suppress(ImportError):  # of a library that was just told
        from voice.doctor.examining import examine

        run(look)
    progress.clear()
    if report_to is not None:
        _report(found, examined, report_to)
    if not could_run(found):
        raise click.exceptions.Exit(1)


class _Progress:
    """Which part is being tried, on a terminal: a line that goes again."""

    def __init__(self) -> None:
        self._on = sys.stderr is not None and sys.stderr.isatty()
        self._shown = 0

    def trying(self, part: str) -> None:
        """This part is next."""
        self.clear()
        if self._on:
            told = f"… {part}{': say something' if part == 'microphone' else ''}"
            click.echo(told, nl=False, file=sys.stderr)
            self._shown = len(told)

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            click.echo(f"\r{' ' * self._shown}\r", nl=False, file=sys.stderr)
            self._shown = 0


def _report(found: list[Finding], examined: Examined | None, to: str) -> None:
    from voice.doctor.private import Private
    from voice.doctor.report import kinds_of, names_here, report, texts_here

    settings = examined.settings if examined else None
    session = examined.session if examined else None
    kinds = kinds_of(examined.devices) if examined else {}
    private = Private(names_here(), texts_here(settings), os.environ, kinds)
    text = report(found, settings, session, private)
    if to == _TO_STANDARD_OUTPUT:
        for line in text.splitlines():
            tell(line)
        return
    from voice.errors import VoiceError

    try:
        Path(to).write_text(text, encoding="utf-8")
    except OSError as error:
        raise VoiceError(
            f"The report {to} cannot be written: {error.strerror}.",
            mend="name another file, or have it printed: voice doctor --report",
        ) from error
    remark(f"Written to {to}: read it before you send it.")
