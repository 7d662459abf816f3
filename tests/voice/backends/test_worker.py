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

from voice.backends import worker as worker_module
from voice.backends.lifeline import Lifeline
from voice.backends.worker import Worker, WorkerDied, WorkerFailed

pytestmark = pytest.mark.anyio

LONG = 60.0
"""Seconds: more than anything here takes, on any machine."""

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how another process does")
on_one_loop = pytest.mark.parametrize("anyio_backend", ["asyncio"])

CHILD = r"""
import ctypes, faulthandler, os, sys, threading, time
from voice.backends.worker import Unwanted, serve

def replies():
    # serve() keeps the pipe to the parent under another number than 1.
    pipes = [fd for fd in range(3, 20) if os.path.exists(f"/proc/self/fd/{fd}")]
    return next(fd for fd in pipes if os.readlink(f"/proc/self/fd/{fd}").startswith(("pipe:", "socket:")))

def spin(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass

def out_of_memory():
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))
    return bytearray(1 << 33)

def handler(header, payload):
    if "mark" in header:
        open(header["mark"], "w").close()
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
        case "complain":
            sys.stderr.write("x" * header["bytes_of_it"])
            sys.stderr.flush()
        case "hang":
            time.sleep(600)
        case "hold the interpreter's lock":
            ctypes.PyDLL(None).sleep(600)
        case "deadlock":
            lock = threading.Lock()
            lock.acquire()
            lock.acquire()
        case "go round":
            spin(600)
        case "work":
            spin(header["seconds"])
        case "work when nobody lets one":
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
            spin(header["seconds"])
        case "until unwanted":
            while wanted():
                time.sleep(0.01)
            raise Unwanted("as you like")
        case "say":
            os.write(replies(), header["what"].encode())
            time.sleep(600)
        case "close":
            os.close(replies())
            time.sleep(600)
        case "abort":
            os.abort()
        case "segmentation fault":
            faulthandler.enable()
            faulthandler._sigsegv()
        case "exit with 0":
            sys.exit(0)
        case "end with 0":
            os._exit(0)
        case "out of memory":
            out_of_memory()
    return {}, b""

def prepare(still_wanted):
    global wanted
    wanted = still_wanted
    return handler

serve(prepare)
"""


@pytest.fixture
async def worker(tmp_path, monkeypatch):
    (tmp_path / "a_child.py").write_text(CHILD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    worker = Worker("a_child")
    yield worker
    await worker.kill()


async def until(true):
    """Wait for a fact that another process makes."""
    with anyio.fail_after(LONG):
        while not true():  # noqa: ASYNC110
            await anyio.sleep(0.01)


async def echoed(worker, say):
    reply, _ = await worker.request({"do": "echo", "say": say}, within_s=LONG)
    return reply["said"]


async def test_a_request_is_answered_with_its_payload(worker):
    payload = os.urandom(300_000)
    answer = await worker.request({"do": "echo", "say": "ü\n"}, payload, within_s=LONG)
    assert answer == ({"said": "ü\n"}, payload)


async def test_what_the_handler_raises_comes_back_and_the_child_lives(worker):
    assert await echoed(worker, 1) == 1
    pid = worker.pid
    with pytest.raises(WorkerFailed, match="no good") as caught:
        await worker.request({"do": "fail"}, within_s=LONG)
    assert caught.value.kind == "ValueError"
    assert not caught.value.loading
    assert await echoed(worker, 2) == 2
    assert worker.pid == pid


async def test_a_dead_child_is_told_with_its_last_words_and_replaced(worker):
    with pytest.raises(WorkerDied) as caught:
        await worker.request({"do": "die"}, within_s=LONG)
    assert "last words" in caught.value.last_words
    assert not caught.value.loading
    assert await echoed(worker, "again") == "again"


async def test_a_child_killed_between_two_requests_is_replaced(worker):
    await echoed(worker, 1)
    child = psutil.Process(worker.pid)
    child.kill()
    with suppress(WorkerDied):  # whether the event loop knows of the death yet is its own affair
        await echoed(worker, 2)
    assert await echoed(worker, 3) == 3


# --- Every way to die -------------------------------------------------------------------------------------


@on_one_loop
@pytest.mark.parametrize("death", ["abort", "segmentation fault", "exit with 0", "end with 0", "close"])
async def test_a_child_that_ends_in_the_middle_of_a_request_is_noticed_and_replaced(worker, death):
    await echoed(worker, 1)
    child = psutil.Process(worker.pid)
    with anyio.fail_after(LONG), pytest.raises(WorkerDied, match="ended"):
        await worker.request({"do": death}, within_s=600)
    await until(lambda: not child.is_running())
    assert await echoed(worker, 2) == 2


async def test_a_crash_in_native_code_leaves_its_last_words(worker):
    with pytest.raises(WorkerDied) as caught:
        await worker.request({"do": "segmentation fault"}, within_s=LONG)
    assert "Segmentation fault" in caught.value.last_words


@pytest.mark.parametrize(
    "what",
    [
        "not JSON\n",
        "[1]\n",
        "{}\n",
        '{"bytes": -1}\n',
        "[" * 100_000 + "\n",
        "x" * 2_000_000,
    ],
    ids=lambda what: what[:20].strip(),
)
@on_one_loop
async def test_an_answer_that_is_none_kills_nobody_but_the_child(worker, what):
    with anyio.fail_after(LONG), pytest.raises(WorkerDied):
        await worker.request({"do": "say", "what": what}, within_s=600)
    assert await echoed(worker, 2) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
async def test_a_child_without_memory_fails_with_that_and_lives(worker):
    await echoed(worker, 1)
    pid = worker.pid
    with pytest.raises(WorkerFailed) as caught:
        await worker.request({"do": "out of memory"}, within_s=LONG)
    assert caught.value.kind == "MemoryError"
    assert (await echoed(worker, 2), worker.pid) == (2, pid)


async def test_what_a_child_writes_to_standard_error_does_not_grow_for_ever(worker, monkeypatch):
    monkeypatch.setattr(worker_module, "_MAX_WORDS", 10_000)
    for _ in range(5):
        await worker.request({"do": "complain", "bytes_of_it": 20_000}, within_s=LONG)
    assert os.fstat(worker._child._stderr.fileno()).st_blocks * 512 < 50_000
    with pytest.raises(WorkerDied) as caught:
        await worker.request({"do": "die"}, within_s=LONG)
    assert caught.value.last_words.endswith("last words")


async def test_a_full_disk_takes_the_last_words_and_nothing_else(worker, monkeypatch):
    def full():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    assert await echoed(worker, 1) == 1
    with pytest.raises(WorkerDied) as caught:
        await worker.request({"do": "die"}, within_s=LONG)
    assert caught.value.last_words == ""


async def test_a_program_that_cannot_be_started_is_a_death(worker):
    worker._command = ["/no/such/program"]
    with pytest.raises(WorkerDied, match="cannot be started: No such file") as caught:
        await worker.request({"do": "echo"}, within_s=LONG)
    assert caught.value.loading


async def test_a_module_that_cannot_be_started_is_a_death_with_its_reason():
    with pytest.raises(WorkerDied) as caught:
        await Worker("no_such_module_anywhere").request({}, within_s=LONG)
    assert "No module named" in caught.value.last_words
    assert caught.value.loading


async def test_what_dies_at_every_start_is_started_less_and_less_often(monkeypatch):
    pauses = []

    async def pause(seconds):
        pauses.append(seconds)

    worker = Worker("no_such_module_anywhere")
    monkeypatch.setattr(worker, "_pause", pause)
    for _ in range(9):
        with pytest.raises(WorkerDied):
            await worker.request({}, within_s=LONG)
    assert pauses == [0.25, 0.5, 1.0, 2.0, 4.0, 4.0, 4.0]  # none before the second start


async def test_one_that_is_ended_in_such_a_pause_is_not_started_after_it(monkeypatch):
    worker = Worker("no_such_module_anywhere")
    for _ in range(2):
        with pytest.raises(WorkerDied):
            await worker.request({}, within_s=LONG)

    async def pause(_seconds):
        await worker.kill()

    async def start(*_, **__):
        raise AssertionError("started")

    monkeypatch.setattr(worker, "_pause", pause)
    monkeypatch.setattr(anyio, "open_process", start)
    with pytest.raises(WorkerDied):
        await worker.request({}, within_s=LONG)


async def test_one_that_was_prepared_once_is_started_again_without_a_pause(worker, monkeypatch):
    async def pause(seconds):
        raise AssertionError(f"paused for {seconds} s")

    monkeypatch.setattr(worker, "_pause", pause)
    for _ in range(4):
        with pytest.raises(WorkerDied):
            await worker.request({"do": "die"}, within_s=LONG)


# --- Every way to hang ------------------------------------------------------------------------------------


@on_linux
@on_one_loop
@pytest.mark.parametrize("how", ["hang", "hold the interpreter's lock", "deadlock"])
async def test_a_child_that_hangs_is_killed_long_before_its_time_is_up(worker, how):
    await echoed(worker, 1)
    child = psutil.Process(worker.pid)
    with anyio.fail_after(LONG), pytest.raises(WorkerDied, match="no sign of life"):
        await worker.request({"do": how}, within_s=600)
    await until(lambda: not child.is_running())
    assert await echoed(worker, 2) == 2


@on_linux
@pytest.mark.parametrize("payload", [b"", bytes(1_000_000)], ids=["short", "longer than the pipe"])
@on_one_loop
async def test_a_child_that_is_stopped_is_killed_and_replaced(worker, payload):
    await echoed(worker, 1)
    child = psutil.Process(worker.pid)
    child.suspend()
    with anyio.fail_after(LONG), pytest.raises(WorkerDied, match="no sign of life"):
        await worker.request({"do": "echo", "say": 2}, payload, within_s=600)
    await until(lambda: not child.is_running())
    assert await echoed(worker, 3) == 3


async def test_a_child_that_goes_round_without_end_is_killed_when_its_time_is_up(worker):
    await echoed(worker, 1)
    child = psutil.Process(worker.pid)
    with anyio.fail_after(LONG), pytest.raises(WorkerDied, match=r"no answer within 0\.3 s"):
        await worker.request({"do": "go round"}, within_s=0.3)
    await until(lambda: not child.is_running())


@on_linux
@on_one_loop
async def test_a_child_that_is_stopped_for_a_moment_is_not_killed(worker):
    await echoed(worker, 1)
    child = psutil.Process(worker.pid)
    async with anyio.create_task_group() as tasks:

        async def ask():
            await worker.request({"do": "work", "seconds": 0.5}, within_s=LONG)

        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        for _ in range(2):
            child.suspend()
            await anyio.sleep(0.5)
            child.resume()
            await anyio.sleep(0.1)
    assert worker.pid == child.pid


@on_linux
@on_one_loop
async def test_when_all_were_frozen_nobody_is_blamed(worker):
    await echoed(worker, 1)
    child = psutil.Process(worker.pid)
    async with anyio.create_task_group() as tasks:

        async def ask():
            await worker.request({"do": "work", "seconds": 0.3}, within_s=30)

        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        child.suspend()
        time.sleep(2.5)  # noqa: ASYNC251 — our event loop stands still as well, as in a suspended laptop
        child.resume()
    assert worker.pid == child.pid


@on_linux
@on_one_loop
async def test_a_child_that_others_keep_from_the_processor_is_not_killed(worker):
    await echoed(worker, 1)
    pid = worker.pid
    busy = (
        "import time\nprint(flush=True)\nuntil = time.monotonic() + 3\nwhile time.monotonic() < until: pass"
    )
    others = [
        subprocess.Popen([sys.executable, "-c", busy], stdout=subprocess.PIPE)  # noqa: ASYNC220
        for _ in range(2 * os.cpu_count())
    ]
    try:
        for other in others:
            other.stdout.readline()
        await worker.request({"do": "work when nobody lets one", "seconds": 0.1}, within_s=2)
        assert worker.pid == pid
    finally:
        for other in others:
            other.kill()
            other.communicate()


async def test_a_child_that_waits_where_nothing_can_end_it_is_left_behind(worker, monkeypatch):
    await echoed(worker, 1)
    child = psutil.Process(worker.pid)
    process = worker._child.process
    monkeypatch.setattr(worker_module, "_DIES_WITHIN_S", 0.1)
    monkeypatch.setattr(worker_module, "send_signal", lambda *_: None)
    monkeypatch.setattr(Lifeline, "let_go", lambda _self: None)
    child.suspend()
    try:
        with anyio.fail_after(LONG):
            await worker.kill()
        assert worker.pid is None
        assert child.is_running()
    finally:
        child.kill()
        with anyio.fail_after(LONG):
            await process.aclose()


# --- Ending it --------------------------------------------------------------------------------------------


async def test_a_cancelled_request_leaves_no_child(worker):
    await echoed(worker, 1)
    child = psutil.Process(worker.pid)
    with anyio.move_on_after(0.3):
        await worker.request({"do": "hang"}, within_s=LONG)
    await until(lambda: not child.is_running())
    assert await echoed(worker, 2) == 2


async def test_a_request_that_nobody_wants_any_more_is_broken_off_and_the_child_lives(worker):
    await echoed(worker, 1)
    pid = worker.pid
    unwanted = anyio.Event()
    async with anyio.create_task_group() as tasks:

        async def ask():
            with anyio.fail_after(LONG), pytest.raises(WorkerFailed, match="as you like") as caught:
                await worker.request({"do": "until unwanted"}, within_s=LONG, unwanted=unwanted)
            assert caught.value.kind == "Unwanted"

        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        unwanted.set()
    assert (await echoed(worker, 2), worker.pid) == (2, pid)


async def test_what_is_unwanted_is_that_request_and_none_after_it(worker):
    unwanted = anyio.Event()
    unwanted.set()
    with pytest.raises(WorkerFailed, match="as you like"):
        await worker.request({"do": "until unwanted"}, within_s=LONG, unwanted=unwanted)
    async with anyio.create_task_group() as tasks:
        still = anyio.Event()

        async def ask():
            with pytest.raises(WorkerFailed, match="as you like"):
                await worker.request({"do": "until unwanted"}, within_s=LONG, unwanted=still)
            assert still.is_set()

        tasks.start_soon(ask)
        await anyio.sleep(0.3)  # were it unwanted from the beginning it would be over by now
        still.set()


async def test_a_child_that_is_ended_while_it_is_started_is_a_death_and_lives_no_longer(worker, monkeypatch):
    before = set(psutil.Process().children())
    starting = anyio.Event()
    started = anyio.open_process

    async def start(*arguments, **options):
        starting.set()
        await anyio.lowlevel.checkpoint()
        return await started(*arguments, **options)

    monkeypatch.setattr(anyio, "open_process", start)
    async with anyio.create_task_group() as tasks:

        async def ask():
            with pytest.raises(WorkerDied):
                await worker.request({"do": "hang"}, within_s=LONG)

        tasks.start_soon(ask)
        await starting.wait()
        await worker.kill()
    assert worker.pid is None
    await until(lambda: set(psutil.Process().children()) <= before)


@pytest.mark.parametrize("payload", [b"", bytes(2_000_000)], ids=["short", "longer than the pipe"])
async def test_closing_at_any_moment_of_a_request_is_a_death_and_nothing_else(worker, payload):
    for passes in (0, 1, 2, 3, 5, 20):
        closing = Worker("a_child")

        async def ask(worker=closing):
            with pytest.raises(WorkerDied, match="the child process ended"):
                await worker.request({"do": "hang"}, payload, within_s=600)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            while closing.pid is None:
                await anyio.lowlevel.checkpoint()
            for _ in range(passes):
                await anyio.lowlevel.checkpoint()
            await closing.close()


async def test_closing_in_the_middle_of_an_answer_is_a_death_and_nothing_else(worker):
    await echoed(worker, 1)
    half_way = anyio.Event()
    replies = worker._child._replies
    receive = replies.receive_exactly

    async def rest_of(size):
        half_way.set()
        return await receive(size)

    replies.receive_exactly = rest_of
    async with anyio.create_task_group() as tasks:

        async def ask():
            with pytest.raises(WorkerDied, match="the child process ended"):
                await worker.request({"do": "say", "what": '{"bytes": 10}\n'}, within_s=600)

        tasks.start_soon(ask)
        await half_way.wait()
        await worker.close()


async def test_what_keeps_a_child_from_its_work_is_the_answer_to_every_request(tmp_path, monkeypatch):
    (tmp_path / "unready.py").write_text(
        textwrap.dedent("""
        from voice.backends.worker import serve
        tries = []

        def prepare(wanted):
            tries.append(1)
            raise RuntimeError(f"not ready, tried {len(tries)} times")

        serve(prepare)
        """)
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    worker = Worker("unready")
    for _ in range(2):
        with pytest.raises(WorkerFailed, match="tried 1 times") as caught:
            await worker.request({}, within_s=LONG)
        assert caught.value.loading
    await worker.kill()


PARENT = """
import sys

import anyio
from voice.backends.worker import Worker

async def main():
    worker = Worker("a_child")
    await worker.request({"do": "echo", "say": 1}, within_s=60)
    print(worker.pid, flush=True)
    await worker.request({"do": sys.argv[1], "seconds": 600, "mark": sys.argv[2]}, within_s=600)

anyio.run(main)
"""


@on_one_loop
@pytest.mark.parametrize(
    ("does", "stopped"),
    [("work", False), ("work", True), ("hold the interpreter's lock", False)],
    ids=["at work", "stopped", "holds the interpreter's lock"],
)
async def test_children_end_when_their_parent_is_killed(tmp_path, does, stopped):
    if sys.platform != "linux" and (stopped or does != "work"):
        pytest.skip("only Linux ends what cannot notice")
    (tmp_path / "a_child.py").write_text(CHILD)
    parent = tmp_path / "parent.py"
    parent.write_text(PARENT)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    with subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, str(parent), does, str(tmp_path / "begun")],
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        child = psutil.Process(int(process.stdout.readline()))
        await until(lambda: (tmp_path / "begun").exists())
        if stopped:
            child.suspend()
            await until(lambda: child.status() == psutil.STATUS_STOPPED)
        process.kill()
    await until(lambda: not child.is_running())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no sessions of this kind")
async def test_the_terminal_s_ctrl_c_is_not_the_child_s(worker):
    await echoed(worker, 1)
    assert os.getsid(worker.pid) == worker.pid != os.getsid(0)


@on_linux
async def test_no_file_of_ours_is_left_open_for_a_child_that_is_gone(worker):
    await echoed(worker, 1)
    await worker.kill()
    before = psutil.Process().num_fds()
    for _ in range(3):
        with pytest.raises(WorkerDied):
            await worker.request({"do": "die"}, within_s=LONG)
    await until(lambda: psutil.Process().num_fds() <= before)


@on_linux
async def test_a_program_that_cannot_be_started_leaves_no_file_open_either(worker):
    worker._command = ["/no/such/program"]
    before = psutil.Process().num_fds()
    for _ in range(2):
        with pytest.raises(WorkerDied):
            await worker.request({"do": "echo"}, within_s=LONG)
    await until(lambda: psutil.Process().num_fds() <= before)
