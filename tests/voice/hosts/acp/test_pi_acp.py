"""Pi through pi-acp: a real agent that speaks ACP, with a scripted model."""

import os
import signal
from contextlib import asynccontextmanager

import anyio
import pytest

pytest.importorskip("acp")
from voice.checks import Abilities, check_host
from voice.hosts.acp.host import AcpHost

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


class PiThroughAcp:
    """The agent behind the host, as the suite has it act. The adapter passes no MCP servers on to Pi."""

    can = Abilities(calls=False)

    def __init__(self, model, processes):
        self.model = model
        self.processes = processes

    def to_write(self):
        return "write Some words of text."

    def to_work(self):
        return "work"

    def to_call(self, name, arguments):
        raise AssertionError("it cannot")

    def to_ask(self):
        return "call delete_all {}"

    async def finish(self):
        await anyio.to_thread.run_sync(self.model.finish)

    async def die(self):
        (adapter,) = self.processes()
        os.kill(adapter.pid, signal.SIGKILL)

    def read(self):
        return self.model.read

    def told(self):
        return ""

    def granted(self):
        return self.model.told.count("it was granted")


async def test_it_keeps_the_promises_of_a_host(pi_acp, openai_model, children_with):
    command, environment = pi_acp

    def processes():
        return children_with("HOME", environment["HOME"])

    @asynccontextmanager
    async def make(tools, ask, emit):
        yield (
            AcpHost(command, tools=tools, ask=ask, emit=emit, env=environment),
            PiThroughAcp(openai_model, processes),
        )

    await check_host(make, within_s=60)
