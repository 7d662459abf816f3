"""``voice calibrate``: the model and the settings that fit this machine and this room."""

from __future__ import annotations

import sys
from contextlib import aclosing
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from voice.cli.running import remark, run, settings_with, tell, tell_json

if TYPE_CHECKING:
    from pathlib import Path

    from voice.calibration.choosing import Cost, Room
    from voice.settings import Settings

_METER_DB = 60


@click.command()
@click.option("--model", metavar="MODEL", help="A further model to measure: a folder, or a size.")
@click.option("--language", metavar="CODE", help="The language that is spoken: en, de, …")
@click.option("--mic", metavar="NAME", help="Part of a microphone's name.")
@click.option(
    "--budget",
    type=click.FloatRange(0.01, 60),
    metavar="SECONDS",
    help="So long a transcription may take; 0.3 unless said, which nobody waits for.",
)
@click.option("--write", is_flag=True, help="Write what fits into the settings file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of sentences.")
def calibrate(
    *,
    model: str | None,
    language: str | None,
    mic: str | None,
    budget: float | None,
    write: bool,
    as_json: bool,
) -> None:
    """Listen to the room, measure the Whisper models that are here, and say which settings fit, and why.

    Nobody should speak while it listens. It takes about a minute, and is surest on a machine that does
    nothing else. What was recorded is not kept.
    """
    from voice.calibration.choosing import BUDGET_S, choose, judge_room, together
    from voice.calibration.measuring import models_here
    from voice.calibration.writing import in_toml, with_settings
    from voice.errors import SettingsError
    from voice.settings import settings_path

    settings = settings_with(model=model, language=language).changed("hearing", microphone=mic)
    budget_s = budget or BUDGET_S
    room, problem = _room(settings)
    measured = _measured(settings, models_here(settings), budget_s)
    advice = choose(measured, budget_s)
    if room is not None:
        advice = together(judge_room(room, settings.hearing.start_threshold), advice)
    path = settings_path()
    written = None
    if write and advice.settings:
        try:
            before = path.read_text(encoding="utf-8") if path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"The settings file {path} cannot be read: {error}.") from error
        after = with_settings(before, advice.settings)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(after, encoding="utf-8")
        written = str(path)
    if as_json:
        tell_json(
            {
                "room": asdict(room) if room else None,
                "room_problem": problem,
                "budget_s": budget_s,
                "costs": [asdict(cost) for cost in measured],
                "reasons": list(advice.reasons),
                "settings": advice.settings,
                "written": written,
            }
        )
        return
    tell(f"{'model':18}{'threads':>8}  {'computes':10}{'seconds':>8}")
    for cost in measured:
        tell(f"{cost.model:18}{cost.threads:8}  {cost.compute_type:10}{cost.seconds:8.2f}")
    for reason in advice.reasons:
        tell(reason)
    if written:
        tell(f"Written to {written}.")
    elif advice.settings:
        tell(f"--write puts this into {path}:")
        for line in in_toml(advice.settings).splitlines():
            tell(f"  {line}")


def _room(settings: Settings) -> tuple[Room | None, str | None]:
    """What the microphone hears, or why nothing; the rest can be calibrated without one."""
    from voice.calibration.measuring import ROOM_S, listen_to_the_room
    from voice.errors import DeviceError

    heard: Room | None = None

    async def listen() -> None:
        nonlocal heard
        heard = await listen_to_the_room(settings, _meter, remark)

    remark(f"Be quiet for {ROOM_S:g} seconds: this listens to the room.")
    try:
        run(listen)
    except DeviceError as error:
        remark(f"The room is left out: {error}")
        return None, error.sentence
    if sys.stderr.isatty():
        click.echo(file=sys.stderr)
    return heard, None


def _meter(level_dbfs: float) -> None:
    if sys.stderr.isatty():
        filled = round(max(0.0, level_dbfs + _METER_DB) / _METER_DB * 30)
        click.echo(f"\r  {'#' * filled:30} {level_dbfs:4.0f} dBFS ", nl=False, file=sys.stderr)


def _measured(settings: Settings, models: dict[str, Path], budget_s: float) -> list[Cost]:
    from voice.calibration.measuring import costs, spoken_reply

    found: list[Cost] = []

    async def measure() -> None:
        language = settings.transcription.language
        reply = await spoken_reply(settings)
        async with aclosing(costs(models, reply, language=language, budget_s=budget_s)) as measuring:
            async for cost in measuring:
                remark(f"{cost.model}, {cost.compute_type}, threads {cost.threads}: {cost.seconds:.2f} s")
                found.append(cost)

    run(measure)
    return found
