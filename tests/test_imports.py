"""Import is light, and nothing is printed by it: read in fresh processes."""

import json
import subprocess
import sys

import pytest

HEAVY = {
    "numpy",
    "pydantic",
    "acp",
    "anyio",
    "av",
    "ctranslate2",
    "faster_whisper",
    "huggingface_hub",
    "mcp",
    "onnxruntime",
    "openai",
    "prompt_toolkit",
    "pydantic_ai",
    "pyttsx3",
    "rich",
    "sounddevice",
    "soxr",
    "webrtcvad",
}
AUDIO_AND_MODELS = HEAVY - {"numpy", "pydantic", "anyio", "rich"}


def loaded_after(code):
    """The top-level modules that a fresh interpreter has after running this, and what that printed."""
    probe = (
        f"{code}\nimport json, sys\nprint('\\n' + json.dumps(sorted(n for n in sys.modules if '.' not in n)))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    printed, _, modules = done.stdout.strip().rpartition("\n")
    return set(json.loads(modules)), printed + done.stderr


@pytest.mark.parametrize(
    "modules",
    [
        "voice, questionnaire",
        "voice.loop, voice.session, voice.autonomous, voice.tools",
        "voice.assembly",
        "voice.testing",
    ],
)
def test_no_audio_library_and_no_model_is_loaded_by_importing(modules):
    loaded, printed = loaded_after(f"import {modules}")
    assert not loaded & AUDIO_AND_MODELS
    assert printed == ""


@pytest.mark.parametrize(
    "command",
    ["", "chat", "attach", "bridge-path", "demo", "replay", "transcribe", "say", "devices", "doctor"],
)
def test_help_loads_nothing_but_the_command_line(command):
    arguments = ["voice", *command.split(), "--help"]
    loaded, printed = loaded_after(
        f"import sys; sys.argv = {arguments}\n"
        "from voice.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code"
    )
    assert not loaded & HEAVY
    assert printed.startswith("Usage: voice")


UNIX = ["curses", "fcntl", "grp", "pty", "pwd", "readline", "resource", "termios", "tty"]
"""What Python has on no other system."""

WITHOUT_UNIX = f"""
import asyncio, multiprocessing, signal, subprocess, sys
import anyio
sys.modules.update(dict.fromkeys({UNIX}))
for name in ("SIGHUP", "SIGKILL", "SIGQUIT", "SIGTSTP", "SIGUSR1", "SIGWINCH"):
    delattr(signal, name)
"""


def test_recordings_and_scenes_are_heard_also_where_there_is_no_unix():
    """Symptom: on Windows nothing begins, not even `voice --help`, for a lock that it does not take."""
    modules = "voice.cli.app, voice.replay, voice.scenes.playing, voice.backends.worker, voice.talk"
    _, printed = loaded_after(f"{WITHOUT_UNIX}\nimport {modules}")
    assert printed == ""


def test_where_there_is_no_unix_nothing_is_kept_and_that_is_told():
    code = """
from voice.assembly import open_journal
from voice.settings import Settings

async def main():
    async with open_journal(Settings().journal, print) as journal:
        print(journal)

anyio.run(main)
"""
    _, printed = loaded_after(WITHOUT_UNIX + code)
    assert printed.splitlines() == [
        "What you say and type is not kept until the agent has it: that takes Linux or macOS.",
        "None",
    ]
