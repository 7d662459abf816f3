import threading

import pytest

from voice.backends.arrivals import Arrivals
from voice.errors import DeviceLost


@pytest.fixture
def anyio_backend():
    return "asyncio"


def overrun(blocks):
    return DeviceLost(f"{blocks} are lost.")


def put(arrivals, *blocks):
    """From another thread, as a device does."""
    thread = threading.Thread(target=lambda: [arrivals.put(block) for block in blocks])
    thread.start()
    thread.join()


@pytest.mark.anyio
async def test_what_waits_is_taken_in_its_order_and_then_the_end():
    arrivals = Arrivals(3, overrun)
    put(arrivals, b"1", b"2", b"3")
    arrivals.end(DeviceLost("It is gone."))
    arrivals.end(DeviceLost("It is gone twice."))
    put(arrivals, b"4")
    assert [await arrivals.next(1.0) for _ in range(3)] == [b"1", b"2", b"3"]
    with pytest.raises(DeviceLost, match=r"It is gone\.$"):
        await arrivals.next(1.0)


@pytest.mark.anyio
async def test_nothing_within_the_time_is_none():
    assert await Arrivals(3, overrun).next(0.01) is None


@pytest.mark.anyio
async def test_what_comes_while_it_is_awaited_is_taken_at_once():
    arrivals = Arrivals(3, overrun)
    threading.Timer(0.05, arrivals.put, [b"1"]).start()
    assert await arrivals.next(60.0) == b"1"


@pytest.mark.anyio
async def test_of_more_than_may_wait_the_rest_is_lost_in_one_piece_and_counted():
    arrivals = Arrivals(2, overrun)
    put(arrivals, b"1", b"2", b"3", b"4")
    assert await arrivals.next(1.0) == b"1"
    put(arrivals, b"5")
    assert arrivals.lost == 3, "there is room again, and still it would be a hole behind a hole"
    assert await arrivals.next(1.0) == b"2"
    with pytest.raises(DeviceLost, match="3 are lost"):
        await arrivals.next(1.0)
