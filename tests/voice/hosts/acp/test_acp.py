"""Any agent that speaks ACP: a small one on the ACP SDK, a program of its own."""

import json
import os
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("acp")
from voice.checks import Abilities, check_host
from voice.hosts.acp.host import AcpHost

pytestmark = pytest.mark.anyio

SMALL_AGENT = Path(__file__).with_name("small_agent.py")


@pytest.fixture
def anyio_backend():
    """The library is asyncio's alone."""
    return "asyncio"


class SmallAgent:
    """The agent behind the host, as the suite has it act."""

    can = Abilities()

    def __init__(self, folder, mode=""):
        self.folder = folder
        self.command = [sys.executable, str(SMALL_AGENT), str(folder), *([mode] if mode else [])]

    def logged(self, kind):
        log = self.folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [what for of, what in map(json.loads, lines) if of == kind]

    def to_write(self):
        return "hello"

    def to_work(self):
        return "work"

    def to_call(self, name, arguments):
        return f"call {name} {json.dumps(arguments)}"

    def to_ask(self):
        return "ask"

    async def finish(self):
        (self.folder / "finish").touch()

    async def die(self):
        os.kill(self.logged("pid")[-1], signal.SIGKILL)

    def read(self):
        return self.logged("read")

    def told(self):
        return "\n".join(self.logged("told"))

    def granted(self):
        return len([outcome for outcome in self.logged("outcome") if outcome.get("option_id") == "yes"])


async def test_it_keeps_the_promises_of_a_host(tmp_path):
    @asynccontextmanager
    async def make(tools, ask, emit):
        agent = SmallAgent(tmp_path / str(len(list(tmp_path.iterdir()))))
        agent.folder.mkdir()
        yield AcpHost(agent.command, tools=tools, ask=ask, emit=emit), agent

    await check_host(make)
