"""The demo with a real microphone and a real speaker: PortAudio streams on devices that exist in memory."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pexpect
import pytest

pytestmark = [pytest.mark.devices, pytest.mark.slow]

VOICE = str(Path(sys.executable).parent / "voice")
UNREAD_S = 0.6  # what is typed in the first moment of a question is not taken for its answer
REPLIES = ("yes-please.wav", "second-one.wav", "sentence-commit.wav")


def test_a_person_at_the_microphone_and_the_keyboard_is_understood(sound_server, fixtures_folder, tmp_path):
    heard = tmp_path / "heard.raw"
    with heard.open("wb") as file:
        recorder = subprocess.Popen(
            ["parec", "--device=spk.monitor", "--raw"],
            env=sound_server.env,
            stdout=file,
            stderr=subprocess.DEVNULL,
        )
    terminal = pexpect.spawn(
        VOICE,
        ["demo", "--mic", "--speaker"],
        env={**sound_server.env, "NO_COLOR": "1"},
        encoding="utf-8",
        timeout=60,
        dimensions=(50, 100),
    )
    terminal.expect("Ctrl-D declines")
    time.sleep(UNREAD_S)
    terminal.send("2\r")
    for reply in REPLIES:
        terminal.expect(r"[\d.]+ s of speech")
        subprocess.run(
            ["paplay", "--device=mic_in", fixtures_folder / reply], env=sound_server.env, check=True
        )
    terminal.expect("Last question")
    terminal.send("8080\r")  # nearer than the microphone, and while the question is still being asked
    terminal.expect("narration interrupted")
    terminal.expect("This is what I understood: A library, with PostgreSQL, on port 8080")
    terminal.expect("Shall I write this down")
    terminal.expect("Ctrl-D declines")
    time.sleep(UNREAD_S)
    terminal.send("My own plan\r")
    terminal.expect(pexpect.EOF)
    terminal.wait()
    recorder.terminate()
    recorder.wait()

    assert terminal.exitstatus == 0
    assert "My own plan: very well." in terminal.before
    narrated = np.frombuffer(heard.read_bytes()[: heard.stat().st_size // 2 * 2], np.int16).astype(float)
    loud = np.sqrt(np.mean(narrated[: len(narrated) // 4_410 * 4_410].reshape(-1, 4_410) ** 2, axis=1)) > 100
    assert loud.mean() > 0.2
