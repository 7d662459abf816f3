"""`voice mcp` as a process, with the library's own client: without devices, and with devices in memory."""

import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psutil
import pytest
from mcp import Client, StdioServerParameters, stdio_client, types

pytestmark = pytest.mark.anyio

VOICE = str(Path(sys.executable).parent / "voice")
HANG_S = 120.0
MERGE = {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}]}
LISTED = ["narrate", "ask_user_question", "user_select"]


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def squash(context, params):
    return types.ElicitResult(action="accept", content={"question_1": "Squash"})


class Server:
    """The process behind a client, and what it wrote on standard error."""

    def __init__(self, client, log):
        self.client = client
        self._log = log
        self.changed = 0

    @property
    def errors(self):
        return self._log.read_text()

    @property
    def process(self):
        return psutil.Process(int(self.errors.partition("kill -USR1 ")[2].split()[0]))

    async def listed(self):
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def until_listed(self, names):
        while await self.listed() != names:  # noqa: ASYNC110 - another process is waited for
            await anyio.sleep(0.05)

    async def until(self, so):
        while not so():  # noqa: ASYNC110 - another process is waited for
            await anyio.sleep(0.05)

    async def narrate(self, text="Which one?"):
        return await self.client.call_tool("narrate", {"text": text})


@asynccontextmanager
async def served(tmp_path, *arguments, mode="legacy", **environment):
    log = tmp_path / "errors.txt"
    server = Server(None, log)

    async def hear(message):
        server.changed += isinstance(message, types.ToolListChangedNotification)

    with anyio.fail_after(HANG_S), log.open("w") as errors:
        parameters = StdioServerParameters(
            command=VOICE, args=["mcp", *arguments], env={**os.environ, **environment}
        )
        transport = stdio_client(parameters, errlog=errors)
        async with Client(transport, mode=mode, elicitation_callback=squash, message_handler=hear) as client:
            server.client = client
            yield server


async def test_without_a_microphone_it_says_what_is_missing_and_asks_by_forms(tmp_path):
    settings = tmp_path / "settings.toml"
    settings.write_text('[hearing]\nmicrophone = "one that nobody has"\n')
    async with served(tmp_path, "--voice", VIVA_VOICE_SETTINGS=str(settings)) as server:
        result = await server.narrate()
        assert result.is_error
        assert result.structured_content["error"] == "voice_not_active"
        assert await server.listed() == LISTED
        answered = await server.client.call_tool("user_select", MERGE)
        assert answered.content[0].text == "User selected: 1. Squash"
        assert "Voice is off" in server.errors
        assert "switches Voice on and off." in server.errors, "it may be off, whatever was wanted"


async def test_it_is_off_until_the_user_switches_it_on(tmp_path):
    async with served(tmp_path, mode="2026-07-28") as server:
        assert await server.listed() == LISTED
        result = await server.narrate()
        assert result.is_error
        assert "only the user can switch it on" in result.content[0].text


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(sent):
    with subprocess.Popen(
        [VOICE, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert "kill -USR1" in process.stderr.readline()
        process.send_signal(sent)
        assert process.wait(HANG_S) == 128 + sent
        assert process.stderr.read() == ""
        assert process.stdout.read() == ""


def test_who_starts_it_by_hand_is_told_what_it_waits_for():
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [VOICE, "mcp"], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert "kill -USR1" in process.stderr.readline()
        assert "waiting for an MCP client on standard input" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(HANG_S) == 130
        assert process.stdout.read() == ""
    os.close(ours)
    os.close(theirs)


def test_a_port_or_a_token_that_cannot_be_used_is_told(voice):
    done = voice("mcp", "--http", "0", environment={"VIVA_VOICE_TOKEN": "short"})
    assert done.returncode == 2
    assert "16 plain characters" in done.stderr
    assert done.stdout == ""


def test_without_the_library_it_says_what_installs_it(voice, tmp_path):
    (tmp_path / "mcp.py").write_text("raise ModuleNotFoundError(\"No module named 'mcp'\", name='mcp')\n")
    done = voice("mcp", environment={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 3
    assert "pip install 'viva-voce[mcp]'" in done.stderr


@pytest.mark.slow
@pytest.mark.devices
async def test_a_person_at_the_microphone_is_asked_and_understood(sound_server, fixtures_folder, tmp_path):
    async def say_until(name, done):
        """Say it again and again: while we are still spoken to nothing is heard."""
        while not done:
            await anyio.run_process(
                ["paplay", "--device=mic_in", fixtures_folder / name], env=sound_server.env, check=False
            )
            await anyio.sleep(2.5)

    async def narrated(server, name):
        done = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(say_until, name, done)
            done.append(await server.narrate())
            tasks.cancel_scope.cancel()
        return done[0]

    async with served(tmp_path, **sound_server.env) as server:
        assert await server.listed() == LISTED
        [message] = (await server.client.get_prompt("on")).messages
        assert "Voice is on" in message.content.text
        assert await server.listed() == ["narrate"]
        result = await narrated(server, "second-one.wav")
        assert "second one" in result.structured_content["reply"].lower()
        assert result.structured_content["reply_status"] == "replied"
        stopped = await narrated(server, "stop-voice.wav")
        assert stopped.structured_content["reply_status"] == "voice_off"
        await server.until_listed(LISTED)
        server.process.send_signal(signal.SIGUSR1)
        await server.until(lambda: server.errors.count("Voice is on.") == 2)
        await server.until(lambda: server.changed >= 3)
        assert await server.listed() == ["narrate"]
        children = server.process.children(recursive=True)
        assert children
    assert not [child for child in children if child.is_running()]
