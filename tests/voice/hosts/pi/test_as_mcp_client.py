"""Pi 1.6.0 as a client of our MCP server: a changed list of tools, and the forms that it does not show."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("pi_path", ["1.6.0"], indirect=True)]

MERGE = {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}]}

SERVER = """
import os, signal, sys
from pathlib import Path
import anyio
from questionnaire.restrictions import AdjustableToolset, Withhold
from questionnaire.server import ToolServer, elicited_toolset

async def main():
    tools = AdjustableToolset(elicited_toolset())
    async with anyio.create_task_group() as tasks:
        async def withhold_on_signal(*, task_status):
            with anyio.open_signal_receiver(signal.SIGUSR1) as signals:
                task_status.started()
                withheld = None
                async for _ in signals:
                    if withheld is None:
                        withheld = tools.add(Withhold(["user_select"], "Narrate it instead."))
                    else:
                        withheld.lift()
        await tasks.start(withhold_on_signal)
        Path(sys.argv[1]).write_text(str(os.getpid()))
        await ToolServer("asking", tools).serve_stdio()
        tasks.cancel_scope.cancel()

anyio.run(main)
"""


class Pi:
    """Pi over RPC, and what its model is asked."""

    def __init__(self, process, model):
        self._process = process
        self._model = model

    def prompt(self, message):
        """Have Pi settle a prompt; returns the requests that its model got meanwhile."""
        before = len(self._model.requests)
        self._process.stdin.write(json.dumps({"type": "prompt", "message": message}) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if json.loads(line)["type"] == "agent_settled":
                return self._model.requests[before:]
        raise AssertionError(f"Pi has ended: {self._process.stderr.read()}")


def declared(request):
    return {tool["function"]["name"] for tool in request.get("tools", ())}


@contextmanager
def pi_with(environment, model, *command, timeout=60):
    server = {"command": command[0], "args": list(command[1:]), "exposure": "direct", "timeout": timeout}
    config = Path(environment["PI_CODING_AGENT_DIR"]) / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"asking": server}}))
    bare = ["--no-skills", "--no-prompt-templates", "--no-themes", "--no-context-files", "--no-extensions"]
    flags = ["--offline", "--provider", "fake", "--model", "fake-1", "-e", "builtin:mcp"]
    with subprocess.Popen(
        ["pi", "--mode", "rpc", "--no-session", *flags, *bare],
        env=environment,
        cwd=environment["HOME"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Pi(process, model)
        finally:
            process.kill()


def test_pi_shows_no_forms_and_its_model_hears_that_the_user_saw_nothing(pi_environment, model):
    with pi_with(pi_environment, model, sys.executable, "-m", "questionnaire", "mcp") as pi:
        first, second = pi.prompt(f"call mcp__asking__user_select {json.dumps(MERGE)}")
    assert {"mcp__asking__ask_user_question", "mcp__asking__user_select"} <= declared(first)
    told = json.dumps(second["messages"][-1])
    assert "no interactive UI available" in told
    assert "saw nothing" in told
    assert "Merge how?" in told


def test_pi_follows_a_changed_list_of_tools(pi_environment, model, tmp_path):
    script, pid = tmp_path / "server.py", tmp_path / "pid"
    script.write_text(SERVER)
    with pi_with(pi_environment, model, sys.executable, str(script), str(pid)) as pi:
        assert "mcp__asking__user_select" in declared(pi.prompt("hello")[0])
        signalled(pid)
        assert until_declared(pi, "mcp__asking__user_select", there=False)
        assert "mcp__asking__ask_user_question" in declared(pi.prompt("hello")[0])
        refused = pi.prompt(f"call mcp__asking__user_select {json.dumps(MERGE)}")[-1]
        assert "User selected" not in json.dumps(refused["messages"][-1])
        signalled(pid)
        assert until_declared(pi, "mcp__asking__user_select", there=True)


SLOW_SERVER = """
import anyio
from questionnaire import server
from questionnaire.restrictions import AdjustableToolset
from questionnaire.tool import Tool, ToolResult
from questionnaire.toolset import FunctionToolset

server._SIGN_OF_LIFE_S = 0.5

async def think(arguments):
    await anyio.sleep(8)
    return ToolResult("The user has thought it over.")

tool = Tool("think", "Think.", {"type": "object", "properties": {}})
tools = AdjustableToolset(FunctionToolset((tool, think)))
anyio.run(server.ToolServer("asking", tools).serve_stdio)
"""


def test_pi_waits_for_a_person_longer_than_for_a_call_that_shows_no_sign_of_life(
    pi_environment, model, tmp_path
):
    """Its limit counts from the last sign; without one this would end after six of the eight seconds."""
    script = tmp_path / "server.py"
    script.write_text(SLOW_SERVER)
    with pi_with(pi_environment, model, sys.executable, str(script), timeout=6) as pi:
        told = pi.prompt("call mcp__asking__think {}")[-1]["messages"][-1]
    assert "The user has thought it over." in json.dumps(told)


def signalled(pid):
    os.kill(int(pid.read_text()), signal.SIGUSR1)


def until_declared(pi, name, *, there):
    """Whether the tool is (or is no more) declared within a few prompts: the notification is on its way."""
    return any((name in declared(pi.prompt("hello")[0])) is there for _ in range(20))
