"""The shared suite of every host, with the real Pi."""

import json
import os
import signal
from contextlib import asynccontextmanager

import anyio
import pytest

from voice.checks import Abilities, check_host
from voice.hosts.pi.host import PiHost

pytestmark = pytest.mark.anyio


class PiAgent:
    """The scripted model behind Pi, and the gate in it."""

    can = Abilities()

    def __init__(self, model, processes):
        self._model = model
        self._processes = processes

    def to_write(self):
        return "write some words"

    def to_work(self):
        return "work"

    def to_call(self, name, arguments):
        return f"call {name} {json.dumps(arguments)}"

    def to_ask(self):
        return "call gate {}"

    async def finish(self):
        await anyio.to_thread.run_sync(self._model.finish)

    async def die(self):
        for child in self._processes():
            os.kill(child.pid, signal.SIGKILL)

    def read(self):
        return self._model.read

    def told(self):
        return "\n".join(self._model.told)

    def granted(self):
        return self.told().count("granted")


async def test_it_keeps_the_promises_of_the_port(model, pi_environment, pi_arguments, children_with):
    def processes():
        return children_with("HOME", pi_environment["HOME"])

    @asynccontextmanager
    async def make(tools, ask, emit):
        host = PiHost(pi_arguments, tools=tools, ask=ask, emit=emit, environment=pi_environment)
        yield host, PiAgent(model, processes)

    await check_host(make, within_s=60)
