"""Virtual time: it jumps, and stands while something outside is under way."""

import asyncio
import concurrent.futures
import socket
import threading
import time

import anyio
import anyio.to_thread
import pytest

from voice.scenes.clock import in_virtual_time, virtual_loop

REAL_S = 0.2
"""What really takes a moment."""


def test_an_hour_passes_at_once_and_to_the_second():
    async def main():
        await anyio.sleep(1_800)
        with anyio.move_on_after(1_800) as limit:
            await anyio.sleep_forever()
        assert limit.cancelled_caught
        return anyio.current_time()

    begun = time.monotonic()
    assert in_virtual_time(main) == 3_600
    assert time.monotonic() - begun < 60


def test_what_waits_longer_comes_later_and_equals_come_in_their_order():
    order = []

    async def sleeper(name, seconds):
        await anyio.sleep(seconds)
        order.append((name, anyio.current_time()))

    async def main():
        async with anyio.create_task_group() as tasks:
            for name, seconds in (("c", 3), ("a", 1), ("b", 2), ("a2", 1)):
                tasks.start_soon(sleeper, name, seconds)

    in_virtual_time(main)
    assert order == [("a", 1), ("a2", 1), ("b", 2), ("c", 3)]


def in_a_thread():
    return anyio.to_thread.run_sync(time.sleep, REAL_S)


def in_an_executor():
    return asyncio.get_running_loop().run_in_executor(None, time.sleep, REAL_S)


def elsewhere():
    future = concurrent.futures.Future()
    threading.Timer(REAL_S, future.set_result, [None]).start()
    return virtual_loop().outside(future)


@pytest.mark.parametrize("work", [in_a_thread, in_an_executor, elsewhere])
def test_no_time_limit_runs_out_while_a_thread_is_at_work(work):
    async def main():
        with anyio.fail_after(0.001):
            await work()
        at_s = anyio.current_time()
        await anyio.sleep(10)
        return at_s, anyio.current_time()

    assert in_virtual_time(main) == (0, 10)


def test_what_fails_or_is_given_up_outside_does_not_hold_the_clock_for_ever():
    async def main():
        future = concurrent.futures.Future()
        future.set_exception(ValueError("no"))
        with pytest.raises(ValueError, match="no"):
            await virtual_loop().outside(future)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(virtual_loop().outside, concurrent.futures.Future())
            await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        await anyio.sleep(5)
        return anyio.current_time()

    assert in_virtual_time(main) == 5


@pytest.mark.parametrize("awaited", [True, False])
def test_a_socket_holds_the_clock_only_while_it_is_awaited(awaited):
    here, there = socket.socketpair()
    here.setblocking(False)
    over = threading.Event()

    def answer_later():
        there.recv(1)
        over.wait(REAL_S if awaited else None)
        there.sendall(b"!")

    async def main():
        virtual_loop().awaits = lambda: awaited
        await asyncio.get_running_loop().sock_sendall(here, b"?")
        with anyio.move_on_after(1) as limit:
            await asyncio.get_running_loop().sock_recv(here, 1)
        return limit.cancelled_caught

    answering = threading.Thread(target=answer_later)
    answering.start()
    with here, there:
        assert in_virtual_time(main) is not awaited
        over.set()
        answering.join()


def test_it_is_no_other_loop():
    async def main():
        with pytest.raises(RuntimeError, match="virtual time only"):
            virtual_loop()

    anyio.run(main)
