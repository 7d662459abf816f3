"""Where clients come in: standard input in all its kinds, the token, and the port."""

import subprocess
import sys

import anyio.lowlevel
import pytest

from questionnaire.endpoints import TOKEN, open_port, with_token
from questionnaire.errors import PortUnusable

READ = """
import sys, anyio, subprocess
from questionnaire import endpoints

async def main():
    async for line in endpoints.StandardInput():
        child = subprocess.run(["cat"], capture_output=True)
        assert child.stdout == b"", "a child read what was ours"
        print(repr(line[:20]), len(line))

endpoints.LONGEST_LINE = 100_000
anyio.run(main)
"""


def lines_of(*, data=None, **options):
    done = subprocess.run(
        [sys.executable, "-c", READ], input=data, capture_output=True, check=True, timeout=60, **options
    )
    assert done.stderr == b""
    return done.stdout.decode().splitlines()


def test_lines_come_whole_and_the_last_one_without_its_end_as_well():
    assert lines_of(data=b"one\n\ntwo \xff\nrest") == ["'one' 3", "'' 0", "'two \ufffd' 5", "'rest' 4"]


def test_a_line_without_end_fills_no_memory_and_the_next_one_is_whole():
    assert lines_of(data=b"x" * 1_000_000 + b"\nafter\n") == [f"{'x' * 20!r} 100000", "'after' 5"]


def test_a_plain_file_is_read_as_well(tmp_path):
    file = tmp_path / "lines"
    file.write_bytes(b"one\ntwo\n")
    with file.open("rb") as stdin:
        assert lines_of(stdin=stdin) == ["'one' 3", "'two' 3"]


def test_standard_input_that_is_closed_has_no_lines():
    done = subprocess.run(
        ["sh", "-c", '"$0" -c "$1" <&-', sys.executable, READ], capture_output=True, check=True, timeout=60
    )
    assert done.stdout == b""
    assert done.stderr == b""


@pytest.mark.parametrize("closing", ["<&-", ">&-"])
def test_a_server_with_a_closed_stream_says_so_in_one_sentence(closing):
    command = f'"$0" -m questionnaire mcp {closing}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr == "Standard input or standard output is closed, so there is no client to serve.\n"


def test_a_token_is_made_for_each_port_and_is_no_short_one():
    ports = [open_port(0, {}) for _ in range(2)]
    try:
        assert all(port.made and len(port.token) >= 32 for port in ports)
        assert ports[0].token != ports[1].token
        assert all(port.listening.getsockname()[0] == "127.0.0.1" for port in ports)
    finally:
        for port in ports:
            port.listening.close()


def test_a_port_that_is_taken_is_no_port():
    first = open_port(0, {TOKEN: "a-token-of-plain-words"})
    try:
        assert not first.made
        number = first.listening.getsockname()[1]
        with pytest.raises(PortUnusable, match=str(number)):
            open_port(number, {})
    finally:
        first.listening.close()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("kind", "headers", "passes"),
    [
        ("http", [(b"authorization", b"Bearer a-token-of-plain-words")], True),
        ("http", [(b"authorization", b"bearer a-token-of-plain-words")], True),  # RFC 9110, 11.1
        ("http", [(b"authorization", b"Basic a-token-of-plain-words")], False),
        ("http", [(b"authorization", b"a-token-of-plain-words")], False),
        ("http", [(b"authorization", b"Bearer a-token-of-plain-word")], False),
        ("http", [], False),
        ("websocket", [(b"authorization", b"Bearer a-token-of-plain-words")], False),
        ("lifespan", [], True),
    ],
)
async def test_only_the_token_leads_to_the_application(kind, headers, passes):
    reached, sent = [], []

    async def app(scope, receive, send):
        reached.append(scope["type"])

    async def send(message):
        sent.append(message)

    await with_token(app, "a-token-of-plain-words")({"type": kind, "headers": headers}, None, send)
    await anyio.lowlevel.checkpoint()
    assert bool(reached) is passes
    assert [message.get("status") for message in sent[:1]] == ([] if passes else [401])
