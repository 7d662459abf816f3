import fcntl
import os
import pty
import resource
import select
import threading
import tty

import anyio
import pytest
from prompt_toolkit.layout import FormattedTextControl, Layout, Window

from questionnaire.inline import MOST_HELD_ROWS, InlineApplication, terminal_of
from questionnaire.presenters import writer as writing
from questionnaire.presenters.lines import MOST_HELD_BYTES, FileLines
from questionnaire.presenters.writer import BackgroundWriter

pytestmark = pytest.mark.anyio

WITHIN_S = 60
MORE_THAN_IT_HOLDS = b"0123456789abcdef" * 20_000


@pytest.fixture
def terminal():
    controller, fd = pty.openpty()
    tty.setraw(fd)
    yield controller, fd
    os.close(fd)
    os.close(controller)


def read_some(controller):
    assert select.select([controller], [], [], WITHIN_S)[0], "nothing is written"
    return os.read(controller, 65_536)


def read_all(controller, count):
    read = b""
    while len(read) < count:
        read += read_some(controller)
    return read


def read_until(controller, text):
    read = b""
    while text not in read:
        read += read_some(controller)
    return read


async def test_what_a_terminal_takes_is_written_at_once_and_in_order(terminal):
    controller, fd = terminal
    with BackgroundWriter(fd) as writer:
        for number in range(100):
            writer.write(b"%03d" % number)
    assert not writer.held
    assert read_all(controller, 300) == b"".join(b"%03d" % number for number in range(100))


async def test_a_terminal_that_takes_nothing_holds_nobody_up_and_gets_all_when_it_goes_on(terminal):
    controller, fd = terminal
    writer = BackgroundWriter(fd)
    writer.write(MORE_THAN_IT_HOLDS)
    writer.write(b"the end")
    assert writer.held
    with anyio.fail_after(WITHIN_S):
        whole = await anyio.to_thread.run_sync(read_all, controller, len(MORE_THAN_IT_HOLDS) + 7)
        await writer.taken()
    assert whole == MORE_THAN_IT_HOLDS + b"the end"
    assert not writer.held


async def test_the_end_waits_for_a_slow_terminal_and_for_a_stuck_one_not_long(terminal, monkeypatch):
    controller, fd = terminal
    read = []
    slow = threading.Thread(
        target=lambda: read.append(read_all(controller, len(MORE_THAN_IT_HOLDS))), daemon=True
    )
    with BackgroundWriter(fd) as writer:
        writer.write(MORE_THAN_IT_HOLDS)
        slow.start()
    slow.join(WITHIN_S)
    assert read == [MORE_THAN_IT_HOLDS]
    monkeypatch.setattr(writing, "STALLED_S", 0.1)
    with BackgroundWriter(fd) as stuck:
        stuck.write(MORE_THAN_IT_HOLDS)
        stuck.write(b"modes")
    stuck.write(b"never")
    assert not stuck.held
    told = await anyio.to_thread.run_sync(read_until, controller, b"modes")
    assert len(told) < len(MORE_THAN_IT_HOLDS)
    assert told.endswith(b"modes")


async def test_what_is_written_last_to_a_stuck_terminal_goes_out_where_its_file_was_closed(
    terminal, monkeypatch
):
    controller, fd = terminal
    monkeypatch.setattr(
        writing, "STALLED_S", 1.0
    )  # a thread that has not come so far by then would not be stuck
    own = os.dup(fd)
    with BackgroundWriter(own) as stuck:
        stuck.write(MORE_THAN_IT_HOLDS)
        stuck.write(b"modes")
    read_fd, write_fd = os.pipe()
    os.dup2(write_fd, own)  # its number is another file's
    await anyio.to_thread.run_sync(read_until, controller, b"modes")
    assert not select.select([read_fd], [], [], 0)[0]
    for each in (own, read_fd, write_fd):
        os.close(each)


async def test_a_slow_terminal_is_not_waited_for_again_and_again(terminal, monkeypatch):
    controller, fd = terminal
    writer = BackgroundWriter(fd)
    writer.write(MORE_THAN_IT_HOLDS)
    await anyio.to_thread.run_sync(read_all, controller, len(MORE_THAN_IT_HOLDS))
    with anyio.fail_after(WITHIN_S):
        await writer.taken()
    monkeypatch.setattr(writing, "MOMENT_S", 10 * WITHIN_S)
    once_more = threading.Thread(target=writer.write, args=(MORE_THAN_IT_HOLDS,), daemon=True)
    once_more.start()
    await anyio.to_thread.run_sync(once_more.join, WITHIN_S)
    assert not once_more.is_alive()
    assert writer.held
    await anyio.to_thread.run_sync(read_all, controller, len(MORE_THAN_IT_HOLDS))


async def test_after_the_end_all_is_written_before_a_write_returns(terminal):
    controller, fd = terminal
    with BackgroundWriter(fd) as writer:
        writer.write(b"before")
    writer.write(b"after")
    assert not writer.held
    assert read_all(controller, 11) == b"beforeafter"


async def write_until_told(writer):
    while True:
        writer.write(b"anything")
        await anyio.sleep(0.01)


async def test_who_writes_hears_that_nobody_reads_any_more():
    read_fd, write_fd = os.pipe()
    os.close(read_fd)
    writer = BackgroundWriter(write_fd)
    with anyio.fail_after(WITHIN_S), pytest.raises(BrokenPipeError):
        await write_until_told(writer)
    with pytest.raises(BrokenPipeError):
        writer.write(b"anything")
    os.close(write_fd)


async def test_another_program_may_have_made_the_terminal_one_that_does_not_wait(terminal):
    controller, fd = terminal
    os.set_blocking(fd, False)
    writer = BackgroundWriter(fd)
    writer.write(MORE_THAN_IT_HOLDS)
    with anyio.fail_after(WITHIN_S):
        whole = await anyio.to_thread.run_sync(read_all, controller, len(MORE_THAN_IT_HOLDS))
        await writer.taken()
    assert whole == MORE_THAN_IT_HOLDS


async def test_it_may_have_a_number_that_is_a_high_one(terminal):
    controller, fd = terminal
    high = 1_500  # select() knows 1,024
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard <= high:
        pytest.skip("no process may have so many files")
    if soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, high + 1), hard))
    try:
        number = fcntl.fcntl(fd, fcntl.F_DUPFD, high)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    os.set_blocking(number, False)
    writer = BackgroundWriter(number)
    writer.write(MORE_THAN_IT_HOLDS)
    with anyio.fail_after(WITHIN_S):
        whole = await anyio.to_thread.run_sync(read_all, controller, len(MORE_THAN_IT_HOLDS))
        await writer.taken()
    assert whole == MORE_THAN_IT_HOLDS
    os.close(number)


async def test_whatever_goes_wrong_is_heard_of_by_who_writes(terminal, monkeypatch):
    def broken(fd, data):
        raise ValueError("broken on purpose")

    monkeypatch.setattr(writing, "write_whole", broken)
    with anyio.fail_after(WITHIN_S), pytest.raises(OSError, match="broken on purpose"):
        await write_until_told(BackgroundWriter(terminal[1]))


async def test_lines_that_are_too_many_to_be_held_are_counted_where_they_are_missing(terminal):
    controller, fd = terminal
    writer = BackgroundWriter(fd)
    lines = FileLines(fd, fd, writer)
    writer.write(MORE_THAN_IT_HOLDS * 2)
    line = "x" * (MOST_HELD_BYTES - 1)
    for _ in range(4):  # one fits, as a rule; how many is decided by what the terminal has taken
        lines.write_line(line)
    with anyio.fail_after(WITHIN_S):
        await anyio.to_thread.run_sync(read_all, controller, writer.held)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write_last, writer, lines)
            told = await anyio.to_thread.run_sync(read_until, controller, b"the last")
    assert b"(3 lines are missing here: the terminal took nothing.)\nthe last" in told


async def test_lines_that_are_missing_at_the_end_are_counted_there(terminal):
    controller, fd = terminal
    writer = BackgroundWriter(fd)
    lines = FileLines(fd, fd, writer)
    writer.write(b"x" * (MOST_HELD_BYTES + len(MORE_THAN_IT_HOLDS)))
    for _ in range(2):
        lines.write_line("left out")
    lines.tell_missed()
    lines.tell_missed()
    writer.write(b"the end")
    with anyio.fail_after(WITHIN_S):
        told = await anyio.to_thread.run_sync(read_until, controller, b"the end")
    assert told.endswith(b"x(2 lines are missing here: the terminal took nothing.)\nthe end")


async def write_last(writer, lines):
    await writer.taken()
    lines.write_line("the last")


async def test_a_line_typed_before_a_question_could_be_seen_is_no_answer_to_it(terminal):
    controller, fd = terminal
    writer = BackgroundWriter(fd)
    lines = FileLines(fd, fd, writer)
    writer.write(MORE_THAN_IT_HOLDS)
    lines.write_line("Merge how?")
    os.write(controller, b"typed blindly\n")
    answers = []

    async def ask():
        answers.append(await lines.read_line("> "))

    with anyio.fail_after(WITHIN_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            await anyio.to_thread.run_sync(read_until, controller, b"too soon to be meant for this")
            await writer.taken()
            await anyio.sleep(0.5)
            os.write(controller, b"seen\n")
    assert answers == ["seen"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_rows_that_are_too_many_to_be_held_are_counted_where_they_are_missing(terminal):
    controller, fd = terminal
    writer = BackgroundWriter(fd)
    with terminal_of(fd, fd, writer) as (keys, output):
        app = InlineApplication(
            gained=lambda _: 0,
            layout=Layout(Window(FormattedTextControl("drawn"))),
            input=keys,
            output=output,
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(app.show)
            with anyio.fail_after(WITHIN_S):
                await anyio.to_thread.run_sync(read_until, controller, b"drawn")
                await writer.taken()
                writer.write(MORE_THAN_IT_HOLDS)
                for number in range(MOST_HELD_ROWS + 3):
                    app.print_above([(("", f"row {number}."),)])
                last = f"row {MOST_HELD_ROWS + 2}.".encode()
                told = await anyio.to_thread.run_sync(read_until, controller, last)
            app.exit()
    assert told.count(b"(3 rows are missing here: the terminal took nothing.)") == 1
    assert b"row 2." not in told
    assert b"row 3." in told
