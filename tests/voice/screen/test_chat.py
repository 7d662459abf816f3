"""`voice chat` as a person uses it: the whole command, with recorded replies and the demo agent."""

import os
import re
import signal
import subprocess
import sys
import time
import wave
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.slow

VOICE = Path(sys.executable).parent / "voice"
F2, DOWN, CTRL_C, CTRL_D = "\x1bOQ", "\x1b[B", "\x03", "\x04"
SETTINGS = "[hearing]\nend_silence_s = 0.9\n"


@pytest.fixture
def chat(on_terminal, tmp_path, fixtures_folder):
    """Start it; the recordings are spoken one after the other, each when it is the user's turn."""

    def start(*options, replies=(), **how):
        settings = tmp_path / "settings.toml"
        settings.write_text(SETTINGS + how.pop("settings", ""))
        folder = tmp_path / "replies"
        folder.mkdir()
        for number, reply in enumerate(replies):
            name, times = reply if isinstance(reply, tuple) else (reply, 1)
            said_again_and_again(fixtures_folder / name, folder / f"{number}-{name}", times)
        recorded = ["--replies", folder, "--speaker", "none"] if replies else ["--no-voice"]
        environment = {"VIVA_VOICE_SETTINGS": str(settings), **how.pop("environment", {})}
        return on_terminal(VOICE, "chat", *recorded, *options, environment=environment, **how)

    return start


def said_again_and_again(recording, path, times):
    """Say it so many times without a pause: long enough to be broken off by whoever is slow.

    Before it is a second of silence: the agent may begin to narrate only then.
    """
    with wave.open(str(recording)) as source, wave.open(str(path), "wb") as copy:
        copy.setparams(source.getparams())
        sound, second = source.readframes(source.getnframes()), source.getframerate() * source.getsampwidth()
        gap = second // 4  # so much of the silence around it is left out in between
        copy.writeframes(bytes(second) + sound + sound[2 * gap :] * (times - 1))


def told(terminal):
    """What stands in the scrollback, as one line."""
    return " ".join(" ".join(terminal.history).split())


def test_by_voice_and_keyboard_in_turn(chat):
    """Two voice replies, Voice off in a third, a question by keyboard, Voice on, one typed over, stop."""
    terminal = chat(
        replies=(
            "yes-please.wav",
            "second-one.wav",
            ("sentence-commit.wav", 6),
            ("digits-4271.wav", 6),
            "stop-voice.wav",
        )
    )
    terminal.until("you talk with the demo agent")
    terminal.until("● Yes, please.").until("♪ Question 1: What kind of project")
    terminal.until("● The second one.").until("So it is: A library. Say work").until("listening")
    terminal.until("hearing you").settle(0.8)  # in the middle of the third
    terminal.send(F2).until("F2 voice on").until("cut off before you had finished; not sent")
    terminal.send("ask\r").until("❯ 1. A web service").ready()
    assert "♪ Question" not in "\n".join(terminal.lines[-8:])  # it is on the screen
    terminal.send(DOWN, "\r").until("2. A library", gone=True)
    terminal.until_so(lambda: told(terminal).count("So it is: A library.") == 2)
    terminal.send(F2).until("F2 voice off").until("hearing you").settle(0.8)  # in the middle of the fourth
    terminal.send("help").until("microphone held").send("\r").until("know five words")
    terminal.until("you typed instead; not sent")
    terminal.until("heard: stop the voice").until("F2 voice on")
    assert terminal.send(CTRL_D).ended() == 0
    story = re.sub(r"not sent: .*?(?= you | agent |$)", "not sent: …", told(terminal))
    assert story.count("● ") == 2, story
    assert "● Yes, please." in story
    assert "● The second one." in story
    assert "> help" in story


def test_questions_are_asked_as_the_settings_have_it(chat):
    group = '[questionnaire]\ncontract = "form"\ntimeout_s = 6.0\nbell = true\n'
    terminal = chat(settings=group).until("voice off").send("ask\r").until("❯ 1. A web service")
    terminal.until_so(lambda: b"\a" in terminal.raw)
    terminal.until("Undecided, then.").send("ask").send_until("\r", "❯ 1. A web service")
    terminal.ready().send(DOWN, "\r")
    terminal.until("So it is: A library.")
    assert terminal.send(CTRL_D).ended() == 0


def test_settings_of_the_questionnaire_that_cannot_be_used_are_told(chat):
    terminal = chat(settings="[questionnaire]\ntimeout_s = -1\n").until("questionnaire.timeout_s")
    assert terminal.ended() == 2


def test_what_comes_while_the_agent_works_waits_and_is_sent(chat):
    terminal = chat().until("voice off").send("help\r").until("know five words")
    terminal.send("work\r").until("agent working")
    terminal.send("and then the docs\r").until("waits: and then the docs")
    terminal.until("1 waiting")
    terminal.until("Done. Say delete").until("waits: and then the docs", gone=True)
    terminal.until("❯ 1. A web service")
    assert terminal.ready().send("\x1b").until("Undecided").send(CTRL_D).ended() == 0


def test_what_was_typed_and_not_sent_is_told_when_one_leaves(chat):
    terminal = chat().until("voice off").send("work\r").until("agent working")
    terminal.send("and then the docs\r").until("waits: and then the docs")
    assert terminal.send(CTRL_D).ended() == 0
    assert "This was not sent: and then the docs" in told(terminal)


def test_interrupting_a_permission_and_a_crash_by_keyboard_alone(chat):
    terminal = chat().until("voice off")
    terminal.send("work\r").until("agent working").send(CTRL_C).until("agent working", gone=True)
    terminal.until("Ctrl-C again quits", gone=True)
    terminal.send("delete\r").until("May I delete the folder build?")
    terminal.send_until(DOWN, "❯ 2.").send("\r").until("I leave it, then.")
    terminal.until("> ").send("crash").send_until("\r", "The demo agent has crashed")
    terminal.send("help\r").until("know five words")
    assert terminal.send(CTRL_D).ended() == 0


def test_a_terminal_that_only_prints_is_talked_with_in_lines(chat):
    terminal = chat(replies=("yes-please.wav",), environment={"TERM": "dumb"})
    terminal.until("you said: Yes, please.").until("agent: Question 1")
    assert b"\x1b" not in terminal.raw
    assert terminal.send("/quit\r").ended() == 0


def test_without_a_terminal_lines_go_in_and_out(tmp_path):
    done = subprocess.run(
        [VOICE, "chat", "--no-voice"],
        input="help\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "you typed: help\n(agent working)\nagent: I am a script" in done.stdout


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("starting", signal.SIGINT),
        ("starting", signal.SIGTERM),
        ("hearing you", signal.SIGINT),
        ("hearing you", signal.SIGHUP),
        ("question", signal.SIGINT),
        ("question", signal.SIGTERM),
        ("question", signal.SIGHUP),
        ("off", signal.SIGTERM),
    ],
)
def test_every_way_to_end_it_leaves_a_sane_terminal_and_no_child(chat, moment, number):
    replies = () if moment in ("question", "off") else ("sentence-commit.wav",)
    terminal = chat(replies=replies)
    terminal.until({"starting": "you talk with", "hearing you": "hearing you"}.get(moment, "voice off"))
    if moment == "question":
        terminal.send("ask\r").until("❯ 1. A web service").ready()
    program = psutil.Process(terminal.program)
    family = [program, *program.children(recursive=True)]
    began = time.monotonic()
    os.kill(program.pid, number)
    if number is signal.SIGINT:
        terminal.until("again quits")
        os.kill(program.pid, number)
    code = terminal.ended()
    assert code == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}[number]
    assert "Traceback" not in terminal.text
    _, alive = psutil.wait_procs(family, timeout=60)
    assert not alive
    assert time.monotonic() - began < 60  # a hang; how fast it is, is measured elsewhere


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (("--agent", "nobody"), 2, "There is no agent nobody."),
        (("--replies", "nowhere"), 2, "The folder nowhere cannot be read"),
        (("--mode", "swim"), 2, ".po/modes.yaml"),
        (("--", "--fast"), 2, "takes no arguments"),
    ],
)
def test_what_cannot_be_used_is_a_sentence(options, code, told):
    done = subprocess.run(
        [VOICE, "chat", *options], capture_output=True, text=True, timeout=60, check=False, input=""
    )
    assert done.returncode == code
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("closed", "name"), [("<&-", "input"), (">&-", "output")])
@pytest.mark.parametrize("options", ["", "--plain"])
def test_a_standard_stream_that_is_closed_is_named(closed, name, options):
    command = f'"$0" chat --no-voice {options} {closed}'
    done = subprocess.run(
        ["sh", "-c", command, VOICE], stderr=subprocess.PIPE, text=True, timeout=60, check=False
    )
    assert f"Standard {name} is closed" in done.stderr
    assert done.returncode == 2
