"""`questionnaire mcp` as a process: its streams, its port, and peers that break the rules."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import asynccontextmanager, contextmanager
from importlib.util import find_spec

import anyio
import httpx2 as httpx
import pytest
from mcp import Client, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client

from questionnaire.endpoints import open_port
from questionnaire.errors import PortUnusable

HANG_S = 60.0
COMMAND = [sys.executable, "-m", "questionnaire", "mcp"]
TOKEN = "a-token-that-nobody-guesses"
MERGE = {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}]}
CHECKS = {
    "questions": [
        {
            "header": "Checks",
            "question": "Which checks?",
            "multiSelect": True,
            "options": [{"label": "lint", "description": "Fast."}, {"label": "types", "description": ""}],
        }
    ]
}


@pytest.fixture
def anyio_backend():
    return "asyncio"  # what the library starts processes with


@pytest.fixture(autouse=True)
def settings_of_nobody(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path))
    for name in ("VIVA_VOICE_SETTINGS", "VIVA_VOICE_TOKEN"):
        monkeypatch.delenv(name, raising=False)


class Peer:
    """A client that writes what it likes, and reads what comes."""

    def __init__(self, process):
        self.process = process

    def send(self, *messages):
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            self.process.stdin.write(line)
        self.process.stdin.flush()

    def read(self):
        hang = threading.Timer(HANG_S, self.process.kill)  # or else this would wait for ever
        hang.start()
        line = self.process.stdout.readline()
        hang.cancel()
        assert line, f"it has ended: {self.process.stderr.read().decode()}"
        message = json.loads(line)  # and nothing but protocol is there
        assert message["jsonrpc"] == "2.0"
        return message

    def reply_to(self, wanted):
        """The reply to a request of ours; requests of the server that come before it fail the test."""
        while True:
            message = self.read()
            if message.get("id") == wanted and "method" not in message:
                return message
            assert "id" not in message or "method" not in message, message

    def form(self):
        """The next form that the server asks for, and the id to answer it with."""
        while True:
            message = self.read()
            if message.get("method") == "elicitation/create":
                return message["params"], message["id"]

    def shake_hands(self, version="2025-06-18", **capabilities):
        told = {
            "protocolVersion": version,
            "capabilities": capabilities,
            "clientInfo": {"name": "t", "version": "1"},
        }
        self.send(request(0, "initialize", told))
        reply = self.reply_to(0)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return reply["result"]

    def still_serves(self):
        self.send(request("ping", "ping"))
        assert self.reply_to("ping")["result"] == {}

    def leave(self):
        """End standard input, and return the exit code."""
        self.process.stdin.close()
        code = self.process.wait(HANG_S)
        assert self.process.stdout.read() == b""
        return code


def request(number, method, params=None):
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": method,
        **({} if params is None else {"params": params}),
    }


def call(number, name, arguments):
    return request(number, "tools/call", {"name": name, "arguments": arguments})


def answer(number, action, content=None):
    result = {"action": action, **({} if content is None else {"content": content})}
    return {"jsonrpc": "2.0", "id": number, "result": result}


@pytest.fixture(scope="module")
def peer():
    """One that has shaken hands, and shows forms."""
    with served() as peer:
        peer.shake_hands(elicitation={})
        yield peer
        assert peer.leave() == 0


@contextmanager
def served(*arguments, **environment):
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    ) as process:
        try:
            yield Peer(process)
        finally:
            process.kill()


def test_a_client_of_2025_06_18_is_asked_with_what_its_forms_can_be(peer):
    """Names instead of titles, and a yes or no for each option where several can be chosen."""
    peer.send(call(1, "user_select", MERGE))
    form, number = peer.form()
    assert form["requestedSchema"]["properties"]["question_1"]["enum"] == ["Squash", "Rebase"]
    peer.send(answer(number, "accept", {"question_1": "Rebase"}))
    assert peer.reply_to(1)["result"]["content"][0]["text"] == "User selected: 2. Rebase"
    peer.send(call(2, "ask_user_question", CHECKS))
    form, number = peer.form()
    fields = form["requestedSchema"]["properties"]
    assert [field["type"] for field in fields.values()] == ["boolean", "boolean", "string"]
    peer.send(answer(number, "accept", {"question_1_option_1": False, "question_1_option_2": True}))
    assert peer.reply_to(2)["result"]["structuredContent"]["answers"][0]["selected"] == ["types"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26"])
def test_a_protocol_without_forms_shows_nothing_whatever_the_client_says_it_can(version):
    with served() as peer:
        assert peer.shake_hands(version, elicitation={})["protocolVersion"] == version
        peer.send(call(1, "user_select", MERGE))
        assert peer.reply_to(1)["result"]["isError"]


def test_a_client_that_shows_urls_alone_shows_no_form():
    with served() as peer:
        peer.shake_hands("2025-11-25", elicitation={"url": {}})
        peer.send(call(1, "user_select", MERGE))
        assert peer.reply_to(1)["result"]["isError"]


GARBAGE = [
    b"hello\n",
    b"\n",
    b"\xff\xfe\x00\n",
    b"{\n",
    b"[]\n",
    b'{"jsonrpc": "1.0", "id": 1}\n',
    b"[" * 100_000 + b"\n",
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":7}\n',
    b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}\n',
    b'{"jsonrpc":"2.0","id":77,"result":{"action":"accept"}}\n',
]


def test_lines_that_are_no_messages_end_nothing(peer):
    for garbage in GARBAGE:
        peer.send(garbage)
        peer.still_serves()


def test_a_message_of_ten_megabytes_is_taken_as_any_other(peer):
    peer.send(call(1, "user_select", {**MERGE, "question": "x" * 10_000_000}))
    form, number = peer.form()
    assert len(form["message"]) == 10_000_000
    peer.send(answer(number, "decline"))
    assert peer.reply_to(1)["result"]["structuredContent"]["cancelled"]
    peer.still_serves()


def test_a_client_that_dies_in_the_middle_of_a_line_ends_the_server():
    with served() as peer:
        peer.shake_hands(elicitation={})
        peer.send(call(1, "user_select", MERGE))
        peer.form()
        peer.send(b'{"jsonrpc": "2.0", "id"')
        peer.process.stdin.close()
        assert peer.process.wait(HANG_S) == 0


def test_the_second_answer_to_a_form_is_ignored(peer):
    peer.send(call(1, "user_select", MERGE))
    _, number = peer.form()
    peer.send(answer(number, "accept", {"question_1": "Squash"}), answer(number, "decline"))
    assert peer.reply_to(1)["result"]["structuredContent"]["answer"] == "Squash"
    peer.still_serves()


NO_REPLIES = [
    {"result": {"action": "maybe"}},
    {"result": {}},
    {"result": {"action": "accept", "content": "Squash"}},
    {"result": {"action": "accept", "content": {"question_1": {"deep": []}}}},
    {"error": {"code": -32601, "message": "Method not found"}},
    {"error": {"code": 1, "message": "no\x1b[2J"}},
]


def test_what_is_no_reply_to_a_form_is_no_answer(peer):
    for number, reply in enumerate(NO_REPLIES, 1):
        peer.send(call(number, "user_select", MERGE))
        _, form = peer.form()
        peer.send({"jsonrpc": "2.0", "id": form, **reply})
        result = peer.reply_to(number)["result"]
        assert result["structuredContent"]["answer"] is None, reply
        assert result["structuredContent"]["cancelled"], reply
    peer.still_serves()


def test_a_request_that_nobody_knows_gets_an_error(peer):
    peer.send(request(1, "tools/forget", {}))
    assert peer.reply_to(1)["error"]["code"] == types.METHOD_NOT_FOUND
    peer.send(call(2, "rm", {}))
    assert peer.reply_to(2)["result"]["isError"]
    peer.still_serves()


def test_a_client_that_hangs_holds_up_no_other_request(peer):
    peer.send(call(1, "user_select", MERGE))
    peer.form()
    peer.still_serves()
    peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    peer.send(call(2, "user_select", {**MERGE, "question": "Again?"}))
    form, number = peer.form()
    assert form["message"] == "Again?"
    peer.send(answer(number, "decline"))
    assert peer.reply_to(2)["result"]["structuredContent"]["cancelled"]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_although_standard_input_is_open(sent):
    with served() as peer:
        peer.shake_hands()
        peer.process.send_signal(sent)
        assert peer.process.wait(HANG_S) == 128 + sent
        assert peer.process.stderr.read() == b""


def test_settings_that_cannot_be_used_are_one_sentence(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("[questionnaire]\ncontract = 'essay'\n")
    done = subprocess.run(COMMAND, env={**os.environ, "VIVA_VOICE_SETTINGS": str(file)}, **CAPTURED)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


def test_without_the_library_it_says_what_installs_it(tmp_path):
    (tmp_path / "mcp.py").write_text("raise ModuleNotFoundError(\"No module named 'mcp'\", name='mcp')\n")
    done = subprocess.run(COMMAND, env={**os.environ, "PYTHONPATH": str(tmp_path)}, **CAPTURED)
    assert done.returncode == 3
    assert done.stdout == ""
    assert "pip install 'viva-voce[mcp]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


CAPTURED = {
    "capture_output": True,
    "text": True,
    "check": False,
    "timeout": HANG_S,
    "stdin": subprocess.DEVNULL,
}


def test_who_starts_it_by_hand_is_told_what_it_waits_for():
    ours, theirs = os.openpty()
    with subprocess.Popen(COMMAND, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert b"waiting for an MCP client on standard input" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(HANG_S) == 130
        assert process.stderr.read() == process.stdout.read() == b""
    os.close(ours)
    os.close(theirs)


# Over HTTP.


@pytest.fixture(scope="module")
def http_server():
    environment = {**os.environ, "VIVA_VOICE_TOKEN": TOKEN}
    with subprocess.Popen(
        [*COMMAND, "--http", "0"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        told = process.stderr.readline()
        assert TOKEN not in told
        yield next(word for word in told.split() if word.startswith("http://"))
        process.terminate()
        assert process.wait(HANG_S) == 143
        assert process.stdout.read() == ""


async def accept_rebase(context, params):
    return types.ElicitResult(action="accept", content={"question_1": "Rebase"})


@asynccontextmanager
async def http_client(address, mode):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(headers=headers, timeout=HANG_S) as http:
        transport = streamable_http_client(address, http_client=http)
        async with Client(transport, mode=mode, elicitation_callback=accept_rebase) as client:
            yield client


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28", "auto"])
async def test_over_http_it_asks_as_well(http_server, mode):
    with anyio.fail_after(HANG_S):
        async with http_client(http_server, mode) as client:
            result = await client.call_tool("user_select", MERGE)
    assert result.content[0].text == "User selected: 2. Rebase"


@pytest.mark.anyio
async def test_two_sessions_ask_at_the_same_time(http_server):
    with anyio.fail_after(HANG_S):
        async with http_client(http_server, "legacy") as one, http_client(http_server, "legacy") as other:
            for client in (one, other, one):
                assert not (await client.call_tool("user_select", MERGE)).is_error


INITIALIZE = request(
    0,
    "initialize",
    {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
)


def posted(address, **headers):
    accepts = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    return httpx.post(address, json=INITIALIZE, headers={**accepts, **headers}).status_code


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", f"Bearer {TOKEN}x", TOKEN, f"Basic {TOKEN}", "Bearer ü"]
)
def test_without_the_token_nothing_is_served(http_server, authorization):
    headers = {} if authorization is None else {"Authorization": authorization.encode()}
    assert posted(http_server, **headers) == 401
    assert httpx.get(http_server, headers=headers).status_code == 401
    assert httpx.get(http_server.replace("/mcp", "/other"), headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_what_a_web_page_could_send_is_refused_even_with_the_token(http_server, headers, status):
    """DNS rebinding: a page of another name that has come to point at this machine."""
    assert posted(http_server, Authorization=f"Bearer {TOKEN}", **headers) == status


def test_it_listens_on_this_machine_alone(http_server):
    port = httpx.URL(http_server).port
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in others - {"127.0.0.1", "127.0.1.1"}:
        with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
            socket.create_connection((address, port), timeout=2).close()


def test_a_token_is_made_where_none_is_given_and_told_once():
    with served("--http", "0") as peer:
        told = peer.process.stderr.readline().decode()
        address = next(word for word in told.split() if word.startswith("http://"))
        token = told.split()[-1]
        assert posted(address, Authorization=f"Bearer {token}") == 200
        assert posted(address) == 401


@pytest.mark.parametrize("token", ["", "short", "a token of\nseveral lines", "ein-sehr-schöner-Schlüssel"])
def test_a_token_that_could_be_guessed_or_not_sent_is_refused(token):
    with pytest.raises(PortUnusable, match="16 plain characters"):
        open_port(0, {"VIVA_VOICE_TOKEN": token})


def test_a_port_that_is_taken_is_one_sentence(http_server):
    port = str(httpx.URL(http_server).port)
    done = subprocess.run([*COMMAND, "--http", port], **CAPTURED)
    assert done.returncode == 2
    assert port in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_librarys_client_starts_it_and_is_asked(mode):
    server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:])
    with anyio.fail_after(HANG_S):
        async with Client(server, mode=mode, elicitation_callback=accept_rebase) as client:
            result = await client.call_tool("user_select", MERGE)
    assert result.content[0].text == "User selected: 2. Rebase"


def test_the_library_is_loaded_by_no_other_command():
    assert find_spec("mcp") is not None
    code = "import sys, questionnaire, questionnaire.cli; sys.exit('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
