"""The plugin, as it is installed, in projects of somebody else: run by pytest in a process of its own."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from voice.pytest_plugin import ENDING, SCENE
from voice.scenes.reading import ENDINGS

EXAMPLE = Path(__file__).parents[2] / "examples" / "hands_free"

TESTS = """
import anyio
import anyio.to_thread
import pytest

from voice.events import AssistantText


async def shop(text):
    return "Which one?" if "order" in text else "It is on its way."


def test_equal(voice_session):
    session = voice_session(shop)
    session.say("The second one.")
    assert session.messages == ["Please order it.", "The second one."]


def test_in_vain(voice_session):
    session = voice_session(shop, voice=False)
    session.say("The second one.")
    assert session.messages == []


def test_in_vain_and_expected(voice_session):
    session = voice_session(shop, voice=False)
    session.say("The second one.")
    session.forgive("nobody heard it (status then: voice_off)")


def test_wrong_and_in_vain(voice_session):
    session = voice_session(shop, voice=False)
    session.say("The second one.")
    raise RuntimeError("something else")


def test_agent_raises(voice_session):
    async def buggy(text):
        raise LookupError("no such order")

    voice_session(buggy).send("Please order it.")


def test_no_agent(voice_session):
    voice_session("shop")


def test_no_recording(voice_session):
    voice_session(shop).say("The second one.", recording="nowhere.wav")


def test_no_field(voice_session):
    voice_session(shop, setings={})


def test_no_weights(whisper_session):
    voice = whisper_session(shop, settings={"transcription": {"model": "/nowhere"}})


def test_two_at_once(voice_session):
    one, other = voice_session(shop), voice_session(shop)
    one.send("Please order it.")
    other.say("The second one.")
    assert (one.said, other.said) == (["Which one?"], ["It is on its way."])


@pytest.mark.anyio
async def test_async(voice_session):
    await anyio.sleep(0)
    session = voice_session(shop)
    session.send("Please order it.")
    await anyio.to_thread.run_sync(session.say, "The second one.")
    assert session.said == ["Which one?", "It is on its way."]
    assert AssistantText("Which one?") in session.events
"""

GOOD = "title: It is sent\nhappens: [{send: Hello.}]\nexpect: {messages: [Hello.]}\n"
BAD = "title: It is sent\nhappens: [{send: Hello.}]\nexpect: {discarded: [], messages: [Bye.]}\n"
NO_AGENT = "happens: [{send: Hello.}]\nexpect: {said: ['Which one?'], messages: [Hello.]}\n"

OWN_AGENT = "agent: [writes: Mine.]\n" + NO_AGENT.replace("Which one?", "Mine.")

CONFTEST = """
import test_shop


def pytest_voice_agent(path):
    return test_shop.shop if path.parent.name == "with_agent" else None
"""


@pytest.fixture(scope="module", autouse=True)
def installed():
    """What is tested is what an installation declares: one that is older has to be made again."""
    assert any(one.name == "voice" for one in entry_points(group="pytest11")), (
        "the installed package declares no pytest plugin yet: make test, or pip install -e . once more"
    )


def test_it_calls_those_scenes_that_the_commands_do():
    assert (SCENE, ENDING) == ENDINGS


def run_pytest(folder, *arguments):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = {name: value for name, value in environment.items() if not name.startswith("PYTEST")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "--color=no", *arguments],
        cwd=folder,
        env={**environment, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


class Report:
    """What pytest printed of a run."""

    def __init__(self, printed):
        self.printed = printed
        self.outcomes = dict(
            reversed(line.split(" - ")[0].split(maxsplit=1))
            for line in printed.splitlines()
            if re.match("(PASSED|FAILED|ERROR|SKIPPED) ", line)
        )

    def of(self, name):
        """What stands below the headline of one test."""
        parts = re.split(r"^_+ (.+) _+$", self.printed, flags=re.MULTILINE)
        (body,) = (body for head, body in zip(parts[1::2], parts[2::2], strict=True) if head == name)
        return body.split("\n=====")[0]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A project whose tests and scenes pass and fail, made now, and what pytest tells of it."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "test_shop.py").write_text(TESTS)
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "good.scene.yaml").write_text(GOOD)
    (folder / "bad.scene.yaml").write_text(BAD)
    (folder / "unusable.scene.yaml").write_text("hapens: []\n")
    (folder / "other.yaml").write_text("hapens: []\n")
    (folder / "with_agent").mkdir()
    (folder / "with_agent" / "scene.yaml").write_text(NO_AGENT)
    (folder / "with_agent" / "own.scene.yaml").write_text(OWN_AGENT)
    done = run_pytest(folder)
    assert done.stderr == ""
    assert done.returncode == 1, done.stdout
    return Report(done.stdout)


def test_what_passes_and_what_does_not(report):
    assert report.outcomes == {
        "bad.scene.yaml::scene": "FAILED",
        "good.scene.yaml::scene": "PASSED",
        "unusable.scene.yaml::scene": "FAILED",
        "with_agent/own.scene.yaml::scene": "PASSED",
        "with_agent/scene.yaml::scene": "FAILED",
        "test_shop.py::test_equal": "FAILED",
        "test_shop.py::test_in_vain": "ERROR",
        "test_shop.py::test_in_vain_and_expected": "PASSED",
        "test_shop.py::test_wrong_and_in_vain": "FAILED",
        "test_shop.py::test_agent_raises": "FAILED",
        "test_shop.py::test_no_agent": "FAILED",
        "test_shop.py::test_no_recording": "FAILED",
        "test_shop.py::test_no_field": "FAILED",
        "test_shop.py::test_no_weights": "FAILED",
        "test_shop.py::test_two_at_once": "PASSED",
        "test_shop.py::test_async[asyncio]": "PASSED",
        "test_shop.py::test_async[trio]": "PASSED",
    }
    assert "warnings" not in report.printed


def test_a_scene_that_is_not_as_expected_tells_it_in_words_with_what_happened(report):
    told = report.of("scene bad.scene.yaml").strip().splitlines()
    assert told[0] == "NOT MET  messages: 'Bye.': messages were 'Hello.'"
    assert told[1] == "met      discarded: none"
    assert "    0.00 s  message  Hello. (keyboard)" in told
    assert not any("Traceback" in line or ".py" in line for line in told)


def test_a_scene_that_cannot_be_used_is_one_sentence(report):
    (told,) = report.of("scene unusable.scene.yaml").strip().splitlines()
    assert told.endswith("unusable.scene.yaml line 1: 'hapens' is no field; did you mean 'happens'?")


def test_a_scene_without_an_agent_is_played_with_that_of_the_project(report):
    told = report.of("scene scene.yaml")
    assert "agent    writes: It is on its way." in told
    assert "NOT MET  said: 'Which one?': 'Which one?' was not said; it was: It is on its way." in told


def test_a_failing_test_shows_what_happened_in_its_session(report):
    told = report.of("test_equal")
    assert "At index 0 diff: 'The second one.' != 'Please order it.'" in told
    assert "- voice session -" in told
    assert re.search(r"\d\.\d\d s  message  The second one\. \(voice, \d\.\d\d s after", told)


def test_what_nobody_heard_is_an_error_of_a_test_that_has_passed(report):
    told = report.of("ERROR at teardown of test_in_vain")
    assert re.search(r"^'The second one.' was said at \d+\.\d\d s, and nobody heard it", told, re.MULTILINE)
    assert "something else" in report.of("test_wrong_and_in_vain")
    assert "nobody heard it" not in report.of("test_wrong_and_in_vain")


def test_an_error_of_the_agent_is_shown_where_it_was_made(report):
    told = report.of("test_agent_raises")
    assert '>       raise LookupError("no such order")' in told
    assert re.search(r"^> +voice_session\(buggy\)\.send", told, re.MULTILINE)
    assert "voice/" not in told.split("- voice session -")[0]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("test_no_agent", "'shop' is no agent. To mend it: give an async function"),
        ("test_no_field", "'setings' is no field; did you mean 'settings'?"),
        ("test_no_weights", "The model folder /nowhere, from the setting of the model, does not exist."),
        ("test_no_recording", "nowhere.wav. To mend it: check the path"),
    ],
)
def test_what_is_wrong_is_a_sentence(report, name, sentence):
    told = report.of(name)
    assert sentence in told
    assert "During handling" not in told
    assert "/voice/" not in told


def test_a_project_without_any_of_it_loads_nothing_of_ours(tmp_path):
    (tmp_path / "test_nothing.py").write_text(
        "import sys\n\n\n"
        "def test_light():\n"
        "    ours = {name for name in sys.modules if name.split('.')[0] in ('voice', 'questionnaire')}\n"
        "    assert ours == {'voice', 'voice.pytest_plugin'}\n"
        "    assert not {'numpy', 'pydantic', 'yaml', 'av'} & set(sys.modules)\n"
    )
    others = ("anyio", "hypothesispytest", "xdist")
    done = run_pytest(tmp_path, "-W", "error", *(f"-pno:{name}" for name in others))
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


@pytest.fixture
def example(tmp_path):
    """The example project, somewhere else."""
    return shutil.copytree(EXAMPLE, tmp_path / "example")


@pytest.mark.slow
def test_the_example_runs_also_in_several_processes(example):
    done = run_pytest(example, "--numprocesses=2", "-W", "error")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert set(Report(done.stdout).outcomes.values()) == {"PASSED"}
    assert "4 passed" in done.stdout


@pytest.mark.slow
def test_whisper_understands_scenes_where_that_is_asked_for(example):
    scene = example / "interrupted.scene.yaml"
    scene.write_text(scene.read_text().replace("text: The second one.", "text: Whatever."))
    done = run_pytest(example, "--scenes-whisper", scene.name)
    assert Report(done.stdout).outcomes == {f"{scene.name}::scene": "PASSED"}
