"""What a session loads and what the user has set, as the command knows it."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from questionnaire.cli import main
from questionnaire.contracts import CONTRACTS

MODES = """\
layers:
  feedback: {packages: ["@agimon-ai/po-user-feedback"]}
  speech: {packages: [voice]}
majorMode:
  talk: {description: "Hands-free.\\e[2J", layers: [feedback, speech]}
  listen: {layers: [speech]}
"""
QUESTION = json.dumps({"questions": []})


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A working folder with a composition, and a user who has set nothing."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("VIVA_VOICE_SETTINGS", "XDG_CONFIG_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".po").mkdir()
    (tmp_path / ".po" / "modes.yaml").write_text(MODES)
    return tmp_path


@pytest.fixture
def settings(project, monkeypatch):
    def write(text):
        (project / "settings.toml").write_text(text)
        monkeypatch.setenv("VIVA_VOICE_SETTINGS", str(project / "settings.toml"))

    return write


def run(*arguments, stdin=None):
    return CliRunner().invoke(main, list(arguments), input=stdin)


def test_the_modes_are_listed():
    done = run("modes")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "talk: questionnaire, voice",
        "    Hands-free.[2J",
        "    layers: feedback, speech",
        "listen: voice",
        "    layers: speech",
    ]


def test_the_modes_as_json(project):
    done = run("modes", "--json", "--file", str(project / ".po" / "modes.yaml"))
    shown = json.loads(done.stdout)
    assert shown["file"] == str(project / ".po" / "modes.yaml")
    assert shown["modes"][1] == {
        "name": "listen",
        "description": "",
        "layers": ["speech"],
        "packages": ["voice"],
    }


def test_the_settings_can_name_the_composition(project, settings):
    (project / "other.yaml").write_text(MODES.replace("talk:", "speak:"))
    settings('[questionnaire]\nmodes_file = "other.yaml"')
    assert run("modes").stdout.startswith("speak: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            MODES.replace("[voice]", "[vioce]"),
            'modes.yaml, line 3: the layer "speech" names the unknown package',
        ),
        (
            MODES.replace("[speech]", "[spech]"),
            'modes.yaml, line 6: the major mode "listen" names the unknown',
        ),
    ],
)
def test_a_fault_is_one_sentence_on_standard_error(project, text, said):
    (project / ".po" / "modes.yaml").write_text(text)
    done = run("modes")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_no_composition_anywhere(project):
    done = run("modes", "--file", "none.yaml")
    assert done.exit_code == 2
    assert done.stderr == "none.yaml cannot be read: No such file or directory.\n"


def asked(*arguments):
    """The exit code, and the one JSON object on standard output, of a call that asks nobody."""
    done = run("ask", *arguments, stdin=QUESTION)
    assert done.stderr == ""
    shown = json.loads(done.stdout)
    assert set(shown) == {"text", "details", "isError"}
    assert shown["isError"] is True
    assert shown["details"]["status"] == "never_shown"
    assert shown["details"]["cancelled"] is True
    return done.exit_code, shown


def test_a_mode_that_does_not_load_the_questionnaire_asks_nothing():
    code, shown = asked("-", "--mode", "listen")
    assert code == 2
    assert shown["text"] == 'The mode "listen" does not load questionnaire, so nothing was asked.'
    assert shown["details"]["error"] == "bad_composition"


def test_an_unknown_mode_asks_nothing():
    code, shown = asked("-", "--mode", "loud")
    assert code == 2
    assert shown["text"].endswith('has no mode "loud"; it has: "talk", "listen".')


@pytest.mark.parametrize("mode", [[], ["--mode", "talk"]])
def test_a_mode_that_loads_it_goes_on_to_the_questions(mode):
    code, shown = asked("-", *mode)
    assert code == 2
    assert shown["details"]["error"] == "no_questions"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument"),
        (["-", "--yes"], "No such option"),
        (["-", "--contract", "poll"], "'poll' is not one of"),
        (["-", "more"], "unexpected extra argument"),
        (["-", "--mode"], "requires an argument"),
    ],
)
def test_a_command_that_cannot_be_understood_is_one_json_object_too(arguments, said):
    code, shown = asked(*arguments)
    assert code == 2
    assert said in shown["text"]
    assert shown["details"]["error"] == "usage"


def test_settings_that_cannot_be_used_are_one_json_object_too(settings):
    settings("[questionnaire]\ncontract = 'poll'")
    code, shown = asked("-")
    assert code == 2
    assert "questionnaire.contract" in shown["text"]
    assert shown["details"]["error"] == "bad_settings"
    done = run("schema")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "questionnaire.contract" in done.stderr


def test_the_settings_say_which_contract_is_meant(settings):
    assert json.loads(run("schema").stdout)["parameters"] == CONTRACTS["choices"].tool.parameters
    settings("[questionnaire]\ncontract = 'form'")
    assert json.loads(run("schema").stdout)["parameters"] == CONTRACTS["form"].tool.parameters
    assert asked("-")[1]["details"]["version"] == 1
    assert "version" not in asked("-", "--contract", "choices")[1]["details"]


def test_interrupted_before_anything_was_asked(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("questionnaire.settings.load_settings", interrupted)
    code, shown = asked("-")
    assert code == 130
    assert shown["details"]["error"] == "interrupted"


@pytest.mark.parametrize("command", ["", "ask", "schema", "modes"])
def test_help_loads_neither_settings_nor_compositions_nor_the_dialog(command):
    heavy = {"asyncio", "pydantic", "prompt_toolkit", "rich", "yaml"}
    script = (
        f"import sys; sys.argv = {['questionnaire', *command.split(), '--help']}\n"
        "from questionnaire.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        f"assert not {heavy} & set(sys.modules), {heavy} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.startswith("Usage: questionnaire")
