import asyncio
import logging
import signal
import threading
import time

import anyio
import psutil
import pytest

from voice.errors import DeviceError, ModelBroken
from voice.tasks import in_thread, lone_errors, send_signal


def test_a_lone_error_comes_out_as_itself_with_its_cause():
    error = ValueError("alone")
    error.__cause__ = KeyError("why")
    with pytest.raises(ValueError, match="alone") as caught, lone_errors():
        raise ExceptionGroup("outer", [ExceptionGroup("inner", [error])])
    assert isinstance(caught.value.__cause__, KeyError)


def test_of_several_of_our_own_the_first_comes_out_and_names_the_others():
    with pytest.raises(DeviceError) as caught, lone_errors():
        raise ExceptionGroup("both", [DeviceError("No microphone."), ModelBroken("No model.")])
    assert caught.value.__notes__ == ["No model."]


def test_several_others_stay_a_group():
    with pytest.raises(ExceptionGroup), lone_errors():
        raise ExceptionGroup("both", [DeviceError("No microphone."), ValueError("a bug")])


def test_what_is_no_group_passes():
    with pytest.raises(ValueError, match="plain"), lone_errors():
        raise ValueError("plain")


on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])


@pytest.mark.anyio
@on_asyncio
async def test_what_a_thread_gives_or_raises_comes_back():
    assert await in_thread(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 7, 0)


@pytest.mark.anyio
@on_asyncio
async def test_who_gives_up_does_not_wait_for_a_thread_that_hangs():
    freed = threading.Event()
    try:
        with anyio.move_on_after(0.05) as limit:
            await in_thread(freed.wait)
        assert limit.cancelled_caught
        assert not freed.is_set()
    finally:
        freed.set()


@pytest.mark.anyio
@on_asyncio
@pytest.mark.skipif(not hasattr(asyncio, "PidfdChildWatcher"), reason="asyncio has no choice of watchers")
async def test_a_child_that_has_just_ended_keeps_its_exit_code_when_it_is_signalled(
    monkeypatch, caplog, tmp_path
):
    watcher = asyncio.PidfdChildWatcher()  # it looks when the event loop comes round, not before
    watcher.attach_loop(asyncio.get_running_loop())
    monkeypatch.setattr(asyncio.get_event_loop_policy(), "_watcher", watcher)
    waits = f"while [ ! -e {tmp_path}/go ]; do sleep 0.01; done; exit 3"
    process = await anyio.open_process(["sh", "-c", waits])
    (tmp_path / "go").touch()
    limit = time.monotonic() + 60
    while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < limit
        time.sleep(0.01)  # noqa: ASYNC251 — the event loop is not to know of it yet
    with caplog.at_level(logging.WARNING, "asyncio"):
        send_signal(process, signal.SIGKILL)
        assert await process.wait() == 3
    assert not caplog.records
    send_signal(process, signal.SIGKILL)  # harmless
    await process.aclose()
