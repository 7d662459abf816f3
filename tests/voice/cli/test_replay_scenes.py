"""`voice replay SCENE`: what is printed, and the exit codes."""

from pathlib import Path

import pytest

SCENES = Path(__file__).parents[2] / "scenes"

GOOD = "title: Nothing is said\nhappens: [{send: Hello.}]\nexpect: {messages: [Hello.]}\n"
BAD = "agent: [works: 1]\nexpect: {messages: [Hello.]}\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good.scene.yaml").write_text(GOOD)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "scene.yaml").write_text(GOOD)
    return tmp_path


def test_a_folder_of_scenes_that_are_as_expected(voice, folder):
    done = voice("replay", folder)
    assert (done.returncode, done.stderr) == (0, "")
    deeper, good = folder / "deeper" / "scene.yaml", folder / "good.scene.yaml"
    assert done.stdout == (
        f"as expected  {deeper}  Nothing is said\nas expected  {good}  Nothing is said\n"
        "2 scenes, all as expected.\n"
    )


def test_of_one_alone_all_is_told(voice, folder):
    done = voice("replay", folder / "good.scene.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{folder / 'good.scene.yaml'}  Nothing is said\n")
    assert "    0.00 s  message  Hello. (keyboard)\n" in done.stdout
    assert done.stdout.endswith("  met      messages: 'Hello.'\n")


def test_one_that_is_not_as_expected(voice, folder, objects):
    (folder / "bad.scene.yaml").write_text(BAD)
    done = voice("replay", folder / "bad.scene.yaml")
    assert (done.returncode, done.stderr) == (1, "")
    assert "  NOT MET  messages: 'Hello.': messages were none\n" in done.stdout
    assert "  NOT MET  1 turn of the agent was never begun.\n" in done.stdout
    printed = objects(voice("replay", folder, "--json", "--once").stdout)
    assert {one["scene"].removeprefix(f"{folder}/") for one in printed} == {
        "bad.scene.yaml",
        "good.scene.yaml",
        "deeper/scene.yaml",
    }
    verdicts = [(one["met"], one["failure"]) for one in printed if one["event"] == "verdict"]
    assert (True, "") in verdicts
    assert (False, "messages were none") in verdicts
    assert (False, "1 turn of the agent was never begun.") in verdicts
    (message,) = [
        one for one in printed if one["event"] == "message_sent" and one["scene"].endswith("good.scene.yaml")
    ]
    assert list(message) == ["event", "scene", "clock_s", "text"]


def test_a_scene_that_cannot_be_used_is_one_sentence_and_nothing_is_played(voice, folder):
    (folder / "z.scene.yaml").write_text("hapens: []")
    done = voice("replay", folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"voice: {folder / 'z.scene.yaml'} line 1: 'hapens' is no field; did you mean 'happens'?\n"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["good.scene.yaml", "--realtime"], "are for recordings, not for scenes"),
        (["good.scene.yaml", "yes.wav"], "yes.wav is no scene, and others here are."),
        (["no-such.yaml"], "There is no file no-such.yaml."),
        (["yes.wav", "--once"], "--once and --whisper are for scenes."),
    ],
)
def test_options_that_do_not_fit(voice, folder, arguments, told):
    done = voice("replay", *arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


@pytest.mark.slow
def test_whisper_hears_a_scripted_scene_as_it_says(voice):
    done = voice("replay", SCENES / "pause-stays-one-message.scene.yaml", "--whisper")
    assert done.returncode == 0, done.stdout + done.stderr
