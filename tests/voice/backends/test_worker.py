"""A child process that can be killed: real children, on both event loops."""

import os
import subprocess
import sys
import textwrap
import time
from contextlib import suppress

import anyio
import anyio.lowlevel
import psutil
import pytest

from voice.backends.worker import Worker, WorkerDied, WorkerFailed

pytestmark = pytest.mark.anyio

CHILD = r"""
import os, sys, time
from voice.backends.worker import serve

def replies():
    # serve() keeps the pipe to the parent under another number than 1.
    pipes = [fd for fd in range(3, 20) if os.path.exists(f"/proc/self/fd/{fd}")]
    return next(fd for fd in pipes if os.readlink(f"/proc/self/fd/{fd}").startswith(("pipe:", "socket:")))

def handler(header, payload):
    match header["do"]:
        case "echo":
            print("noise on standard output")
            os.write(1, b"noise on descriptor 1")
            return {"said": header["say"]}, payload
        case "fail":
            raise ValueError("no good")
        case "die":
            print("last words", file=sys.stderr)
            os._exit(3)
        case "hang":
            time.sleep(60)
        case "garbage":
            os.write(replies(), b"not JSON\n")
            time.sleep(60)

serve(lambda: handler)
"""


@pytest.fixture
def worker(tmp_path, monkeypatch):
    (tmp_path / "a_child.py").write_text(CHILD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return Worker("a_child")


async def test_a_request_is_answered_with_its_payload(worker):
    payload = os.urandom(300_000)
    assert await worker.request({"do": "echo", "say": "ü\n"}, payload) == ({"said": "ü\n"}, payload)
    await worker.kill()


async def test_what_the_handler_raises_comes_back_and_the_child_lives(worker):
    await worker.request({"do": "echo", "say": 1})
    pid = worker.pid
    with pytest.raises(WorkerFailed, match="no good") as caught:
        await worker.request({"do": "fail"})
    assert caught.value.kind == "ValueError"
    await worker.request({"do": "echo", "say": 2})
    assert worker.pid == pid
    await worker.kill()


async def test_a_dead_child_is_told_with_its_last_words_and_replaced(worker):
    with pytest.raises(WorkerDied) as caught:
        await worker.request({"do": "die"})
    assert "last words" in caught.value.last_words
    assert (await worker.request({"do": "echo", "say": "again"}))[0] == {"said": "again"}
    await worker.kill()


async def test_a_child_killed_between_two_requests_is_replaced(worker):
    await worker.request({"do": "echo", "say": 1})
    child = psutil.Process(worker.pid)
    child.kill()
    child.wait(60)
    with suppress(WorkerDied):  # whether the event loop knows of the death yet is its own affair
        await worker.request({"do": "echo", "say": 2})
    assert (await worker.request({"do": "echo", "say": 3}))[0] == {"said": 3}
    await worker.kill()


async def test_a_child_that_hangs_is_killed_in_time(worker):
    await worker.request({"do": "echo", "say": 1})
    child = psutil.Process(worker.pid)
    with pytest.raises(WorkerDied, match="no answer"):
        await worker.request({"do": "hang"}, within_s=0.3)
    assert not child.is_running()


async def test_a_cancelled_request_leaves_no_child(worker):
    await worker.request({"do": "echo", "say": 1})
    child = psutil.Process(worker.pid)
    with anyio.move_on_after(0.3):
        await worker.request({"do": "hang"})
    assert not child.is_running()
    await worker.request({"do": "echo", "say": 2})
    await worker.kill()


async def test_an_answer_that_is_no_json_kills_nobody_but_the_child(worker):
    with pytest.raises(WorkerDied):
        await worker.request({"do": "garbage"})
    await worker.kill()


async def test_a_child_that_is_ended_while_it_is_started_is_a_death_and_lives_no_longer(worker):
    before = set(psutil.Process().children())
    async with anyio.create_task_group() as tasks:

        async def ask():
            with pytest.raises(WorkerDied):
                await worker.request({"do": "hang"}, within_s=5)

        tasks.start_soon(ask)
        while worker._stderr is None:
            await anyio.lowlevel.checkpoint()
        await worker.kill()
    assert worker.pid is None
    assert set(psutil.Process().children()) <= before


async def test_what_keeps_a_child_from_its_work_is_the_answer_to_every_request(tmp_path, monkeypatch):
    (tmp_path / "unready.py").write_text(
        textwrap.dedent("""
        from voice.backends.worker import serve
        tries = []

        def prepare():
            tries.append(1)
            raise RuntimeError(f"not ready, tried {len(tries)} times")

        serve(prepare)
        """)
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    worker = Worker("unready")
    for _ in range(2):
        with pytest.raises(WorkerFailed, match="tried 1 times"):
            await worker.request({})
    await worker.kill()


async def test_a_module_that_cannot_be_started_is_a_death_with_its_reason(tmp_path):
    with pytest.raises(WorkerDied) as caught:
        await Worker("no_such_module_anywhere").request({})
    assert "No module named" in caught.value.last_words


def test_children_end_when_their_parent_is_killed(tmp_path):
    (tmp_path / "a_child.py").write_text(CHILD)
    parent = tmp_path / "parent.py"
    parent.write_text(
        textwrap.dedent("""
        import anyio
        from voice.backends.worker import Worker

        async def main():
            worker = Worker("a_child")
            await worker.request({"do": "echo", "say": 1})
            print(worker.pid, flush=True)
            await worker.request({"do": "hang"})

        anyio.run(main)
        """)
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    with subprocess.Popen([sys.executable, str(parent)], stdout=subprocess.PIPE, env=environment) as process:
        child = psutil.Process(int(process.stdout.readline()))
        time.sleep(0.3)  # the child is in the middle of its work
        process.kill()
    child.wait(60)
    assert not child.is_running()
