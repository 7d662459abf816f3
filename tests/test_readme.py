"""The README stays true: its examples run, its commands exist, its map names what is there."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from questionnaire.composition import parse
from questionnaire.contracts import choices
from questionnaire.settings import QuestionnaireSettings
from questionnaire.testing import answered
from voice.scenes.playing import perform
from voice.scenes.reading import parse_scene
from voice.settings import Settings

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "printed"),
    list(
        zip(
            [block for block in blocks("python") if "def test_" not in block],
            [
                "The second one.\n",
                "['The second one.']\n",
                "ask_user_question user_select\nUser selected: 2. Rebase\n",
                "",
            ],
            strict=True,
        )
    ),
)
def test_the_examples_run(example, printed):
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout == printed


def test_the_test_shown_is_that_of_the_example_in_ten_lines():
    (shown,) = (block for block in blocks("python") if "def test_" in block)
    assert shown == (ROOT / "examples/hands_free/test_deployer.py").read_text()
    assert len([line for line in shown.splitlines() if line]) <= 10


def test_the_file_shown_can_be_asked_and_gives_the_result_shown():
    (shown,) = blocks("json")
    questionnaire = choices.read(json.loads(shown))
    assert questionnaire.repairs == ()
    result = choices.result(questionnaire, answered(questionnaire, "2"))
    assert f"$ questionnaire ask deploy.json | jq -r .text\n{result.text}\n" in README


@pytest.mark.parametrize("command", ["ask", "answer", "mcp"])
def test_the_exit_codes_shown_are_those_that_the_command_tells(command):
    told = subprocess.run(
        [sys.executable, "-m", "questionnaire", command, "--help"], capture_output=True, text=True, check=True
    ).stdout
    told = " ".join(told[told.index("Exit codes:") :].partition("Options:")[0].split())
    rows = [line.split("|")[1:-1] for line in README.splitlines() if re.match(r"\| [\d, ]+ \|", line)]
    column = {"ask": 2, "answer": 3, "mcp": 5}[command]
    shown = [code for row in rows if row[column].strip() for code in row[0].split(",")]
    assert {int(code) for code in shown} == set(map(int, re.findall(r"\b(\d+) [a-z]", told)))


def test_the_settings_shown_are_the_defaults():
    (shown,) = blocks("toml")
    written = tomllib.loads(shown)
    asking = written.pop("questionnaire")
    assert Settings.model_validate(written) == Settings()
    assert QuestionnaireSettings.model_validate(asking) == QuestionnaireSettings()
    groups = {**Settings().model_dump(), "questionnaire": QuestionnaireSettings().model_dump()}
    for text in re.split(r"^(?=\[)", shown, flags=re.MULTILINE):
        if text:
            group = re.match(r"\[(\w+)\]", text)[1]
            assert set(re.findall(r"^#? ?([a-z_]+) =", text, re.MULTILINE)) == set(groups.pop(group))
    assert not groups


def test_the_composition_shown_can_be_used():
    (shown,) = (block for block in blocks("yaml") if "majorMode" in block)
    modes = parse(shown).modes
    assert modes["hands-free"].packages == ("questionnaire", "voice")
    assert modes["keyboard"].packages == ("questionnaire",)


def test_the_scene_shown_is_as_expected():
    (shown,) = (block for block in blocks("yaml") if "happens:" in block)
    played = perform(parse_scene(shown, ROOT / "pause.scene.yaml"))
    assert played.failures == ()
    assert len(played.verdicts) == 4


@pytest.mark.parametrize(
    "command", sorted(set(re.findall(r"`((?:voice|questionnaire) [a-z]+(?:-[a-z]+)*)", README)))
)
def test_the_commands_exist(command):
    program, *arguments = command.split()
    path = Path(sys.executable).parent / program
    done = subprocess.run([path, *arguments, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_make_target_that_is_named_exists():
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"\bmake ([a-z]+)\b", README)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_map_names_every_file_and_nothing_that_is_not_there():
    house = README[README.index("## The house") : README.index("Left may import right")]
    for package in ("voice", "questionnaire"):
        for path in (ROOT / package).iterdir():
            name = path.name
            if name.startswith("__") or name == "py.typed":
                continue
            shown = f"{name}/" if path.is_dir() else name
            assert re.search(rf"(?<![\w/]){re.escape(shown)}", house), f"{package}/{name} is not in the map"
    for name in re.findall(r"\b\w+\.py\b", house):
        assert (ROOT / "voice" / name).exists() or (ROOT / "questionnaire" / name).exists(), name
