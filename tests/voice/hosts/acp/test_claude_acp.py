"""The Claude agent through its ACP adapter, the real program, with a scripted model and no account."""

import json
import os
import signal
from contextlib import asynccontextmanager

import anyio
import psutil
import pytest

pytest.importorskip("acp")
from voice.checks import Abilities, check_host
from voice.hosts.acp.host import AcpHost

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


class Claude:
    """The agent behind the host, as the suite has it act."""

    can = Abilities()

    def __init__(self, model):
        self.model = model
        self.asked = 0

    def to_write(self):
        return "write Some words of text."

    def to_work(self):
        return "work"

    def to_call(self, name, arguments):
        return f"call mcp__viva-voce__{name} {json.dumps(arguments)}"

    def to_ask(self):
        self.asked += 1  # each is another, so that none was allowed for good
        command = f"touch {self.asked} && rm {self.asked} && echo it was granted"
        return f"call Bash {json.dumps({'command': command, 'description': 'Touch a file'})}"

    async def finish(self):
        await anyio.to_thread.run_sync(self.model.finish)

    async def die(self):
        (adapter,) = [
            child for child in psutil.Process().children() if "claude-agent-acp" in " ".join(child.cmdline())
        ]
        os.kill(adapter.pid, signal.SIGKILL)

    def read(self):
        return self.model.read

    def told(self):
        return "\n".join(self.model.told)

    def granted(self):
        return sum("it was granted" in told for told in self.model.told)


async def test_it_keeps_the_promises_of_a_host(claude_acp, claude_model):
    command, environment = claude_acp

    @asynccontextmanager
    async def make(tools, ask, emit):
        yield AcpHost(command, tools=tools, ask=ask, emit=emit, env=environment), Claude(claude_model)

    await check_host(make, within_s=20)
