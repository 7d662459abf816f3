import contextlib
import os
import pty
import termios

import anyio
import pytest

from questionnaire.errors import TerminalLost
from questionnaire.presenters.lines import GUARD_S, FileLines

pytestmark = pytest.mark.anyio


@pytest.fixture
def pipe():
    read_fd, write_fd = os.pipe()
    yield read_fd, write_fd
    for fd in (read_fd, write_fd):
        with contextlib.suppress(OSError):  # a test may have closed it
            os.close(fd)


@pytest.fixture
def terminal():
    controller, fd = pty.openpty()
    yield controller, fd
    os.close(controller)
    os.close(fd)


async def test_lines_come_one_by_one_however_they_arrive(pipe):
    read_fd, write_fd = pipe
    shown = os.open(os.devnull, os.O_WRONLY)
    lines = FileLines(read_fd, shown)
    os.write(write_fd, b"one\r\ntw")

    async def finish():
        await anyio.sleep(0.02)
        os.write(write_fd, "o é".encode()[:-1])
        await anyio.sleep(0.02)
        os.write(write_fd, "é".encode()[-1:] + b"\n\nlast")
        os.close(write_fd)

    async with anyio.create_task_group() as group:
        group.start_soon(finish)
        read = [await lines.read_line("> ") for _ in range(6)]
    assert read == ["one", "two é", "", "last", None, None]
    os.close(shown)


async def test_a_cancelled_read_leaves_the_next_line_alone(terminal):
    controller, fd = terminal
    lines = FileLines(fd, fd)
    with anyio.move_on_after(0.05) as scope:
        await lines.read_line("> ")
    assert scope.cancelled_caught
    os.write(controller, b"first\nsecond\n")
    with anyio.fail_after(60):
        assert await lines.read_line("> ") == "first"
        assert await lines.read_line("> ") == "second"


async def test_a_line_begun_before_the_cancel_is_no_part_of_the_next(terminal):
    controller, fd = terminal
    lines = FileLines(fd, fd)
    os.write(controller, b"half a li")
    with anyio.move_on_after(0.05):
        await lines.read_line("> ")
    os.write(controller, b"2\n")
    with anyio.fail_after(60):
        assert await lines.read_line("> ") == "2"


async def test_what_was_typed_and_not_read_can_be_dropped(terminal):
    controller, fd = terminal
    lines = FileLines(fd, fd)
    lines._unread = b"read already\n"
    os.write(controller, b"1\n2\n\x04half")
    assert lines.discard().split() == ["read", "already", "1", "2", "half"]
    assert lines.discard() == ""
    await anyio.sleep(GUARD_S)
    os.write(controller, b"3\n")
    with anyio.fail_after(60):
        assert await lines.read_line("> ") == "3"


async def test_what_was_being_typed_when_a_read_was_cancelled_is_known(terminal):
    controller, fd = terminal
    before = termios.tcgetattr(fd)
    lines = FileLines(fd, fd)
    os.write(controller, "half a lí".encode())
    with anyio.move_on_after(0.05):
        await lines.read_line("> ")
    assert lines.discard() == "half a lí"
    assert termios.tcgetattr(fd) == before


@pytest.mark.parametrize("early", [b"1\n", b"1\n2\n3\n4", b"\x04"])
async def test_lines_in_the_first_moments_are_dropped_one_upon_the_other_and_that_is_said(terminal, early):
    controller, fd = terminal
    lines, read = FileLines(fd, fd), []

    async def reads():
        read.append(await lines.read_line("> "))

    shown = ""
    os.set_blocking(controller, False)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            lines.discard()
            tasks.start_soon(reads)
            for number in range(1, 4):
                os.write(controller, early)
                while shown.count("too soon") < number:
                    await anyio.sleep(0.005)
                    with contextlib.suppress(BlockingIOError):
                        shown += os.read(controller, 10_000).decode()
            assert read == []
            await anyio.sleep(GUARD_S)
            os.write(controller, b"2\n")
    assert read == ["2"]


async def test_replies_in_a_pipe_are_never_dropped(pipe):
    read_fd, write_fd = pipe
    os.write(write_fd, b"1\n2\n")
    lines = FileLines(read_fd, write_fd)
    assert await lines.read_line("") == "1"
    assert lines.discard() == ""
    assert await lines.read_line("") == "2"


async def test_replies_in_a_pipe_outlive_a_cancelled_read(pipe):
    read_fd, write_fd = pipe
    lines = FileLines(read_fd, write_fd)
    os.write(write_fd, b"half a li")
    with anyio.move_on_after(0.05):
        await lines.read_line("")
    os.write(write_fd, b"ne\n")
    assert await lines.read_line("") == "half a line"


async def test_a_terminal_that_hangs_up_has_not_ended_its_input(pipe):
    controller, fd = pty.openpty()
    lines = FileLines(fd, pipe[1])
    os.close(controller)
    with pytest.raises(TerminalLost):
        await lines.read_line("> ")
    os.close(fd)


async def test_the_end_of_input_on_a_terminal_can_be_read_past(terminal):
    controller, fd = terminal
    lines = FileLines(fd, fd)
    os.write(controller, b"\x04")
    assert await lines.read_line("> ") is None
    os.write(controller, b"on\n")
    assert await lines.read_line("> ") == "on"


async def test_the_mode_of_the_terminal_is_never_changed(terminal):
    _, fd = terminal
    before = termios.tcgetattr(fd)
    lines = FileLines(fd, fd)
    with anyio.move_on_after(0.02):
        await lines.read_line("> ")
        assert termios.tcgetattr(fd) == before
    assert termios.tcgetattr(fd) == before
    assert os.get_blocking(fd)


async def test_a_regular_file_can_be_read_too(tmp_path):
    file = tmp_path / "replies"
    file.write_text("one\ntwo")
    with file.open("rb") as stream, (tmp_path / "shown").open("wb") as shown:
        lines = FileLines(stream.fileno(), shown.fileno())
        assert [await lines.read_line("> ") for _ in range(3)] == ["one", "two", None]
        lines.write_line("é")
        assert lines.width == 80
    assert (tmp_path / "shown").read_text() == "> > > é\n"


async def test_a_failing_terminal_is_named(pipe):
    read_fd, write_fd = pipe
    with pytest.raises(TerminalLost, match="written"):
        FileLines(read_fd, read_fd).write_line("x")
    controller, fd = pty.openpty()
    os.close(fd)
    with pytest.raises(TerminalLost, match="read"):
        await FileLines(controller, write_fd).read_line("> ")
    os.close(controller)
