"""``voice calibrate``: the model and the settings that fit this machine and this room."""

from __future__ import annotations

import sys
from contextlib import aclosing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from voice.cli.running import remark, run, settings_with, tell, tell_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from voice.calibration.choosing import Advice, Cost, Room
    from voice.errors import VoiceError
    from voice.settings import Settings

_METER_DB = 60


@click.command()
@click.option(
    "--model",
    metavar="MODEL",
    help="A further model to measure: a folder, a size or a hub repository, which is downloaded if need be.",
)
@click.option("--language", metavar="CODE", help="The language that is spoken: en, de, …")
@click.option("--mic", metavar="NAME", help="Part of a microphone's name.")
@click.option(
    "--budget",
    type=click.FloatRange(0.01, 60),
    metavar="SECONDS",
    help="So long a transcription may take; 0.3 unless said, which nobody waits for.",
)
@click.option(
    "--write",
    is_flag=True,
    help="Write what fits into the settings file, and the language and microphone that were named here.",
)
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
    from voice.calibration.choosing import BUDGET_S, Advice, choose, judge_room, together
    from voice.calibration.measuring import models_here
    from voice.errors import ModelNotFound, SettingsError
    from voice.settings import HearingSettings, settings_path

    settings = settings_with(model=model, language=language).changed("hearing", microphone=mic)
    budget_s = budget or BUDGET_S
    _find(settings, named=model is not None)
    room, problem = _room(settings)
    measured = _measured(settings, models_here(settings), budget_s)
    advice = choose(measured, budget_s)
    if room is not None:
        hearing = settings.hearing
        usual = HearingSettings().start_threshold
        judged = judge_room(room, hearing.start_threshold, hearing.end_threshold, usual)
        advice = together(judged, advice)
    if advice.settings:
        # What was measured is true of these.
        named = {"transcription": {"language": language}, "hearing": {"microphone": mic}}
        given = {
            group: {name: value for name, value in of.items() if value is not None}
            for group, of in named.items()
        }
        advice = together(advice, Advice((), {group: of for group, of in given.items() if of}))
    path = settings_path()
    written = None
    failure: VoiceError | None = None  # told last: what was measured is told all the same
    if not measured:
        spoken = settings.transcription.language
        failure = ModelNotFound(
            f"No model was measured: none that works and knows the language {spoken} is here.",
            mend=f"have one downloaded, for example with --model {'tiny.en' if spoken == 'en' else 'tiny'}",
        )
    if write and advice.settings:
        try:
            _write(path, settings, advice.settings)
            written = str(path)
        except SettingsError as error:
            failure = error
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
    else:
        _tell(measured, advice, path, written)
    if failure is not None:
        raise failure


def _find(settings: Settings, *, named: bool) -> None:
    """Have the model that the command line has ``named`` here; say where that of the settings is left out."""
    from voice.assembly import find_weights
    from voice.errors import SettingsError, TranscriberError

    try:
        find_weights(settings.transcription, download=named)
    except (SettingsError, TranscriberError) as error:
        if named:
            raise
        remark(f"The model of the settings is left out: {error.sentence}")


def _tell(measured: list[Cost], advice: Advice, path: Path, written: str | None) -> None:
    """What was measured and what follows from it, for a person."""
    from voice.calibration.writing import in_toml

    if measured:
        tell(f"{'model':18}{'threads':>8}  {'computes':10}{'seconds':>8}")
    for cost in measured:
        tell(f"{cost.model:18}{cost.threads:8}  {cost.compute_type:10}{cost.seconds:8.2f}")
    for reason in advice.reasons:
        tell(reason)
    if written:
        tell(f"Written to {written}.")
    elif advice.settings:
        tell(f"This belongs into {path}, and --write puts it there:")
        for line in in_toml(advice.settings).splitlines():
            tell(f"  {line}")


def _write(path: Path, settings: Settings, values: Mapping[str, Mapping[str, Any]]) -> None:
    """Put the values into the settings file; where that cannot be done it stays as it is."""
    from voice.calibration.writing import with_settings
    from voice.errors import SettingsError
    from voice.keeping import write_whole

    for group, of in values.items():
        settings = settings.changed(group, **of)  # raises where they do not go together
    try:
        before = path.read_bytes().decode() if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The settings file {path} cannot be read: {error}.") from error
    after = with_settings(before, values)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, after.encode())
    except OSError as error:
        raise SettingsError(
            f"The settings file {path} cannot be written: {error.strerror}.",
            mend="put the values into it by hand",
        ) from error


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
        reply = await spoken_reply(settings)
        measuring = costs(models, reply, settings.transcription, budget_s=budget_s, on_notice=remark)
        async with aclosing(measuring):
            async for cost in measuring:
                remark(f"{cost.model}, {cost.compute_type}, threads {cost.threads}: {cost.seconds:.2f} s")
                found.append(cost)

    run(measure)
    return found
