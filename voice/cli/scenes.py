"""What ``voice replay`` does with scenes: plays each, twice, and says what is not as expected."""

from __future__ import annotations

import json
import signal
from collections.abc import Sequence
from pathlib import Path

from voice.cli.interrupts import end_at_once_on_ctrl_c
from voice.cli.running import tell, tell_json
from voice.errors import SceneError
from voice.scenes.outside import Outside
from voice.scenes.played import Played
from voice.scenes.playing import perform
from voice.scenes.reading import SUFFIXES, load_scene, scenes_in
from voice.scenes.script import Scene
from voice.scenes.telling import in_words, timeline


def are_scenes(files: Sequence[str]) -> bool:
    """Whether any of them is a scene, or a folder of scenes."""
    return any(file.endswith(SUFFIXES) or Path(file).is_dir() for file in files)


def play_scenes(
    files: Sequence[str],
    *,
    json_lines: bool,
    once: bool,
    whisper: bool,
    model: str | None,
    language: str | None,
) -> bool:
    """Play all of them; returns whether each is as expected, and came out the same the second time.

    Raises `SceneError` before the first is played where one of them cannot be used.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # children end with it
    for file in files:
        if not (file.endswith(SUFFIXES) or Path(file).is_dir()):
            raise SceneError(
                f"{file} is no scene, and others here are.", mend="replay recordings by themselves"
            )
    paths = [path for file in files for path in scenes_in(Path(file))]
    scenes = [(path, _with(load_scene(path), model, language)) for path in paths]
    good = True
    try:
        with Outside() as outside:
            for path, scene in scenes:
                played = perform(scene, outside=outside, whisper=whisper)
                again = None if once else perform(scene, outside=outside, whisper=whisper)
                differs = _first_difference(played, again) if again is not None else ""
                as_expected = not played.failures and not differs
                if json_lines:
                    _show_json(path, played, differs)
                elif len(scenes) > 1 and as_expected:
                    tell(f"as expected  {path}  {scene.title}".rstrip())
                else:
                    _show(path, played, differs)
                good &= as_expected
    finally:
        end_at_once_on_ctrl_c()
    if not json_lines and len(scenes) > 1:
        tell(f"{len(scenes)} scenes, {'all as expected' if good else 'not all as expected'}.")
    return good


def _with(scene: Scene, model: str | None, language: str | None) -> Scene:
    settings = scene.settings.changed("transcription", model=model, language=language)
    return scene.model_copy(update={"settings": settings})


def _first_difference(one: Played, other: Played) -> str:
    """What the second run did otherwise; "" where both are the same to the byte."""
    for number, (here, there) in enumerate(zip(one.lines, other.lines, strict=False), 1):
        if here != there:
            return f"event {number} is {here}, and the second time it was {there}"
    if len(one.lines) != len(other.lines):
        return f"there are {len(one.lines)} events, and the second time there were {len(other.lines)}"
    return ""


def _show(path: Path, played: Played, differs: str) -> None:
    tell(f"{path}  {played.scene.title}".rstrip())
    for line in timeline(played.happened):
        tell(line)
    for verdict in played.verdicts:
        tell(in_words(verdict))
    for complaint in played.complaints:
        tell(f"  NOT MET  {complaint}")
    if differs:
        tell(f"  NOT MET  two runs are the same: {differs}")


def _show_json(path: Path, played: Played, differs: str) -> None:
    for line in played.lines:
        clock, name, *fields = json.loads(line).items()
        tell_json(dict([name, ("scene", str(path)), clock, *fields]))
    failures = [*played.complaints, *filter(None, [differs])]
    for verdict in played.verdicts:
        tell_json(_verdict(path, verdict.expected, verdict.failure))
    for failure in failures:
        tell_json(_verdict(path, "it can be played as written, twice with the same events", failure))


def _verdict(path: Path, expected: str, failure: str) -> dict[str, object]:
    return {
        "event": "verdict", "scene": str(path), "expected": expected, "met": not failure, "failure": failure
    }  # fmt: skip
