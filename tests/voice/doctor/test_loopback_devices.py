"""A real sound server: what the speaker is given comes back, and one that hangs is a finding."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.devices, pytest.mark.slow]

VOICE = str(Path(sys.executable).parent / "voice")

PATIENT = """
import sys
from voice.backends import loopback
from voice.cli import main
from voice.doctor import speaking

loopback._ANSWERS_WITHIN_S = speaking._FINDS_WITHIN_S = speaking._BEGINS_WITHIN_S = 60.0
sys.exit(main())
"""
"""``voice``, for a server that has no time: what hangs for a person is busy here."""

TRIES = 3
"""On a machine that has no time for it the sound has gaps, and Whisper hears no word of it."""


@pytest.fixture
def examined(sound_server, tmp_path):
    """The exit code, and the findings by their part."""

    def run(*arguments, patient=False, **environment):
        folders = {name: str(tmp_path / name) for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME")}
        done = subprocess.run(
            [*([sys.executable, "-c", PATIENT] if patient else [VOICE]), "doctor", "--json", *arguments],
            env={**sound_server.env, "VIVA_VOICE_SETTINGS": "", **folders, **environment},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        found = [json.loads(line) for line in done.stdout.splitlines()]
        return done.returncode, {finding["part"]: finding for finding in found}

    return run


def test_a_spoken_sentence_is_recorded_from_what_the_speaker_plays(examined, tmp_path):
    report = tmp_path / "report.md"
    for _ in range(TRIES):
        code, found = examined("--within", "100", "--report", str(report), patient=True)
        assert found["speaker"]["ok"]
        assert found["loopback"]["checked"]
        # Words of ours in their order are no chance.
        if (share := found["loopback"]["figures"].get("words_back", 0)) >= 0.3:
            break
    assert share >= 0.3
    assert found["loopback"]["figures"]["loudest_dbfs"] > -40
    # Nobody speaks into this microphone, which is made of memory: it is as silent as one that is muted.
    assert found["microphone"]["broken"]
    assert "muted" in found["microphone"]["detail"]
    assert code == 1
    assert "* loopback: " in report.read_text()


def test_a_sound_server_that_hangs_is_a_finding_and_all_else_is_tried(sound_server, examined):
    with sound_server.hanging():
        code, found = examined("--within", "60", VIVA_VOICE_MODEL="/nowhere/weights")
    for part in ("microphone", "speaker"):
        assert found[part]["broken"]  # it is there, and does not answer
        assert found[part]["detail"] == "The sound server does not answer."
        assert "restart it" in found[part]["mend"]
    assert found["speech engine"]["ok"]
    assert "Whisper" in found
    assert code == 1
