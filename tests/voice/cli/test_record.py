"""`voice chat --record`: a real session, with real Whisper and the real engine, and then played again."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pexpect
import pytest

from voice.backends.recording import read_recording
from voice.scenes.playing import perform
from voice.scenes.reading import load_scene

pytestmark = pytest.mark.slow

VOICE = Path(sys.executable).parent / "voice"
WITHIN_S = 60


@pytest.fixture(scope="module")
def record(tmp_path_factory, fixtures_folder):
    """Begin to talk with the demo agent; two replies are spoken. Returns the terminal and the recording."""

    def start(parts=("--speaker", "none"), replies=("yes-please.wav", "second-one.wav"), env=os.environ):
        home = tmp_path_factory.mktemp("session")
        if replies:
            (home / "replies").mkdir()
            parts = (*parts, "--replies", str(home / "replies"))
        for number, name in enumerate(replies):
            shutil.copy(fixtures_folder / name, home / "replies" / f"{number}.wav")
        homes = {name: str(home / name) for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
        environment = {name: value for name, value in env.items() if name != "VIVA_VOICE_SETTINGS"}
        terminal = pexpect.spawn(
            str(VOICE),
            ["chat", "--plain", *parts, "--record", str(home / "recorded")],
            env={**environment, **homes},
            cwd=home,
            encoding="utf-8",
            timeout=WITHIN_S,
            dimensions=(40, 200),
        )
        return terminal, home / "recorded"

    return start


@pytest.fixture(scope="module")
def recorded(record):
    """A session with two spoken messages and a typed one, that ended in order."""
    terminal, folder = record()
    terminal.expect("you said: The second one")
    terminal.expect("Say work, and I set it up")
    terminal.sendline("work")
    terminal.expect("2. I have made the tests")
    terminal.sendline("/quit")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    return folder


def events_of(folder):
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def sent(folder):
    return [event["text"] for event in events_of(folder) if event["event"] == "message_sent"]


def test_nobody_else_can_read_it(recorded):
    assert stat.S_IMODE(recorded.stat().st_mode) == 0o700
    files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in recorded.iterdir()}
    names = ("events.jsonl", "log.jsonl", "microphone.wav", "scene.yaml", "speaker.wav")
    assert files == dict.fromkeys(names, 0o600)


def test_it_holds_what_was_heard_to_the_sample(recorded, fixtures_folder):
    heard, said = (
        read_recording(recorded / "microphone.wav"),
        read_recording(fixtures_folder / "yes-please.wav"),
    )
    begin = int(heard.nonzero()[0][0]) - int(said.nonzero()[0][0])
    assert (heard[begin : begin + len(said)] == said).all()
    at_s = [event["at_s"] for event in events_of(recorded) if event["event"] == "user_message"]
    assert len(heard) / 16_000 >= max(at_s)


def test_played_again_it_gives_the_same_messages_and_twice_the_same_events(recorded):
    scene = load_scene(recorded / "scene.yaml")
    one, other = perform(scene), perform(scene)
    assert list(one.messages) == sent(recorded) == ["Yes, please.", "The second one.", "work"]
    assert one.failures == ()
    assert one.lines == other.lines
    tools = [event["names"] for event in events_of(recorded) if event["event"] == "tools_changed"]
    assert [list(names) for _, names in one.tools][-len(tools) :] == tools
    spoken = [event["text"] for event in events_of(recorded) if event["event"] == "narration_ended"]
    assert [event.text for event in one.events if type(event).__name__ == "NarrationEnded"] == spoken


def test_whisper_hears_the_same_in_it(recorded, voice, objects):
    done = voice("replay", recorded, "--whisper", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    sent = [one["text"] for one in objects(done.stdout) if one["event"] == "message_sent"]
    assert sent == ["Yes, please.", "The second one.", "work"]


def test_a_folder_that_is_not_empty_is_refused(recorded, voice):
    before = sorted((file.name, file.stat().st_mtime_ns) for file in recorded.iterdir())
    done = voice("chat", "--plain", "--no-voice", "--record", recorded, input="")
    assert done.returncode == 2
    assert f"The folder {recorded} is not empty." in done.stderr
    assert sorted((file.name, file.stat().st_mtime_ns) for file in recorded.iterdir()) == before


def test_one_that_is_killed_can_be_played_up_to_there(record):
    terminal, folder = record(replies=("yes-please.wav",))
    terminal.expect("you said: ")
    written_by = time.monotonic() + WITHIN_S
    while '"accepted"' not in (folder / "log.jsonl").read_text():  # the disk may be behind the screen
        assert time.monotonic() < written_by
        time.sleep(0.05)
    terminal.kill(signal.SIGKILL)
    terminal.expect(pexpect.EOF)
    terminal.close()
    scene = load_scene(folder / "scene.yaml")
    one, other = perform(scene), perform(scene)
    assert one.messages == ("Yes, please.",)
    assert one.lines == other.lines
    assert one.complaints == ()


@pytest.mark.devices
def test_devices_that_were_lost_and_came_back_are_lost_and_come_back_again(
    record, make_sound_server, fixtures_folder
):
    server = make_sound_server()
    server.start()
    terminal, folder = record(parts=(), replies=(), env=server.env)
    terminal.expect("listening")
    speak = ["paplay", "--device=mic_in", str(fixtures_folder / "yes-please.wav")]
    subprocess.run(speak, env=server.env, check=True, timeout=WITHIN_S)
    terminal.expect("you said: ")  # in whatever words: it was heard in real time
    terminal.expect("narrating")
    terminal.sendline("/stop")
    terminal.expect("listening")
    server.kill()
    terminal.expect("looking for it again")
    terminal.sendline("A library.")
    terminal.expect("you typed: A library")
    terminal.expect("So it is: A library")
    server.start()
    terminal.expect("is back")
    terminal.sendline("/quit")
    terminal.expect(pexpect.EOF)
    terminal.close()
    scene = load_scene(folder / "scene.yaml")
    one, other = perform(scene), perform(scene)
    assert list(one.messages) == sent(folder)
    assert one.messages[-1] == "A library."
    assert one.failures == ()
    assert one.lines == other.lines
    told = [event["sentence"] for event in events_of(folder) if event["event"] == "notice"]
    for words in ("looking for it again", "is back"):
        assert any(words in sentence for sentence in told)
        assert any(words in sentence for sentence in one.notices)
    speaker = read_recording(folder / "speaker.wav")
    assert np.abs(speaker.astype(int)).max() > 1_000, "what was narrated is in it"
