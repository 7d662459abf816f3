"""`voice chat` with the agents of others, as a person starts it: whole commands, in lines, without sound."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

VOICE = str(Path(sys.executable).parent / "voice")
SMALL_AGENT = Path(__file__).parents[1] / "hosts/acp/small_agent.py"
WITHIN_S = 60


def acp(folder):
    pytest.importorskip("acp")
    return "acp", sys.executable, SMALL_AGENT, folder


def pydantic_ai(folder):
    pytest.importorskip("pydantic_ai")
    model = 'TestModel(call_tools=[], custom_output_text="One two three.")'
    (folder / "helper.py").write_text(
        "from pydantic_ai import Agent\nfrom pydantic_ai.models.test import TestModel\n"
        f'agent = Agent({model}, name="helper")\n'
    )
    return "pydantic-ai", "helper:agent"


@pytest.mark.parametrize("agent", [acp, pydantic_ai])
def test_an_agent_is_talked_with_in_lines(agent, tmp_path):
    name, *arguments = agent(tmp_path)
    (tmp_path / "settings.toml").touch()
    command = [VOICE, "chat", "--plain", "--no-voice", "--agent", name, "--", *map(str, arguments)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tmp_path,
        env={**os.environ, "VIVA_VOICE_SETTINGS": str(tmp_path / "settings.toml")},
        text=True,
    ) as chat:
        hangs = threading.Timer(WITHIN_S, chat.kill)
        hangs.start()
        try:
            chat.stdin.write("hello\n")
            chat.stdin.flush()
            lines = []
            while not lines or not lines[-1].startswith("agent:"):
                lines.append(chat.stdout.readline())
                assert lines[-1], lines
            chat.stdin.write("/quit\n")
            rest, _ = chat.communicate()
        finally:
            hangs.cancel()
            chat.kill()
    assert lines[-1] == "agent: One two three.\n"
    assert "Traceback" not in rest
    assert chat.returncode == 0


@pytest.mark.parametrize(
    ("agent", "sentence", "code"),
    [
        (("acp", "no-such-agent"), "There is no program no-such-agent.", 3),
        (("pydantic-ai", "nowhere:agent"), "there is no module nowhere.", 2),
        (("nobody",), "There is no agent nobody.", 2),
    ],
)
def test_an_agent_that_cannot_be_had_is_one_sentence(voice, agent, sentence, code, tmp_path):
    name, *arguments = agent
    done = voice(
        *("chat", "--plain", "--no-voice", "--agent", name, "--", *arguments), cwd=tmp_path, input=""
    )
    assert done.returncode == code, done.stderr
    assert sentence in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
