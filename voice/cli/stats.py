"""``voice stats``: how the last session went, in numbers."""

from __future__ import annotations

import click

from voice.cli.running import tell, tell_json


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def stats(*, as_json: bool) -> None:
    """Sum up the last `voice chat`: how long messages took, what was cut, and what was thrown away.

    Nothing that was said is kept, numbers alone.
    """
    from voice.errors import VoiceError
    from voice.keeping import LAST_SESSION, kept
    from voice.statistics import SessionStatistics, table

    try:
        summary = SessionStatistics.from_json(kept(LAST_SESSION)).summary()
    except ValueError:
        raise VoiceError("There is no session yet to sum up.", mend="talk in one: voice chat") from None
    if as_json:
        tell_json(summary)
        return
    for line in table(summary):
        tell(line)
