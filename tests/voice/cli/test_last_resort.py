"""A program that is stuck in a call ends all the same, and one that ends in order is left alone."""

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys
import anyio
from voice.cli.last_resort import ended_by_force

async def main():
    with anyio.open_signal_receiver(signal.SIGTERM) as signals, ended_by_force(signal.SIGTERM, within_s=0.5):
        print("ready", flush=True)
        if sys.argv[1] == "stuck":
            read, write = os.pipe()
            while True:  # what a signal interrupts has written a part
                os.write(write, bytes(10_000))
        async for number in signals:
            break
    await anyio.sleep(1.0)
    print("in order", flush=True)

anyio.run(main)
"""


@pytest.mark.parametrize(("how", "code", "told"), [("stuck", 143, ""), ("fine", 0, "in order\n")])
def test_a_signal_ends_it(how, code, told):
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGTERM)
        out, errors = program.communicate(timeout=60)
    assert (program.returncode, out, errors) == (code, told, "")
