"""The mirrors over a Unix socket: the same events, and a session that no client can harm."""

import json
import socket
import stat
from contextlib import asynccontextmanager, suppress

import anyio
import pytest

from questionnaire.answering import Replies, answer_at
from questionnaire.contracts import CONTRACTS
from questionnaire.coordinator import Coordinator
from questionnaire.errors import NoInterface, SocketUnusable
from questionnaire.mirrors import CLOSED, REQUEST, RESOLVED, Mirrors
from questionnaire.model import Answer, Status
from questionnaire.progress import Give, Stop
from questionnaire.sockets import HELLO, LONGEST_LINE, Lines, serve_mirrors
from questionnaire.testing import BY, HeldPresenter

pytestmark = pytest.mark.anyio

MERGE = CONTRACTS["user_select"].read(
    {"question": "Merge how?", "options": ["Squash", "Rebase"], "allowCustom": True}
)
FORM = CONTRACTS["form"].read(
    {
        "questions": [
            {"id": "lang", "question": "Language?", "type": "select", "options": ["Python", "Rust"]},
            {"id": "name", "question": "Name?", "type": "text"},
            {"id": "note", "question": "More?", "type": "text", "required": False},
        ]
    }
)


async def until(condition):
    while not condition():
        await anyio.lowlevel.checkpoint()


class Client:
    def __init__(self, stream):
        self.stream = stream
        self.lines = Lines(stream)

    async def next(self):
        return json.loads(await anext(self.lines))

    async def send(self, line):
        await self.stream.send(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")

    async def respond(self, request_id, response):
        await self.send({"id": 1, "requestId": request_id, "response": {"source": "remote", **response}})
        while "reply" not in (said := await self.next()):
            pass
        return said


class Session:
    """A coordinator whose mirrors are served at `path`."""

    def __init__(self, tasks, path, presenter):
        self.tasks, self.path, self.presenter = tasks, path, presenter
        self.mirrors = Mirrors()
        self.coordinator = Coordinator(presenter, mirrors=self.mirrors)
        self.outcomes = []

    async def ask(self, questionnaire):
        opened = anyio.Event()

        async def ask():
            self.outcomes.append(await self.coordinator.ask(questionnaire))

        with self.mirrors.listen(lambda event: opened.set()):
            self.tasks.start_soon(ask)
            await opened.wait()

    @asynccontextmanager
    async def client(self):
        async with await anyio.connect_unix(self.path) as stream:
            yield Client(stream)


@asynccontextmanager
async def session(path, presenter=None):
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            one = Session(tasks, path, presenter)
            await tasks.start(serve_mirrors, one.mirrors, path)
            yield one
            await one.coordinator.dispose()
            await anyio.sleep(0.02)  # anyio warns where a read is cancelled in the moment in which it ends
            tasks.cancel_scope.cancel()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run" / "mirror"


async def test_events_and_answers_are_lines(path):
    async with session(path) as one:
        await one.ask(MERGE)
        async with one.client() as client:
            hello, request = await client.next(), await client.next()
            assert hello["event"] == HELLO
            assert (request["event"], request["data"]["question"]) == (REQUEST, "Merge how?")
            [request_id] = hello["data"]["open"]
            assert request["data"]["requestId"] == request_id
            bad = await client.respond(request_id, {"kind": "select", "optionIndex": 9})
            assert bad == {"reply": 1, "accepted": False, "reason": "invalid_response"}
            await client.send(
                {
                    "requestId": request_id,
                    "response": {"source": "remote", "kind": "select", "optionIndex": 1},
                }
            )
            said = [await client.next() for _ in range(3)]
            assert [line.get("event") for line in said] == [RESOLVED, CLOSED, None]
            assert said[2] == {"reply": None, "accepted": True}
            late = await client.respond(request_id, {"kind": "cancel"})
            assert late["reason"] == "already_resolved"
            assert (await client.respond("other", {"kind": "cancel"}))["reason"] == "unknown_request"
    assert one.outcomes[0].responses[0].answer == Answer((1,))
    assert one.outcomes[0].responses[0].by.remote_id.startswith("socket-")


async def test_only_the_user_may_connect_and_nothing_is_left(path):
    async with session(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert [file.name for file in path.parent.iterdir()] == ["mirror"]
    assert list(path.parent.iterdir()) == []


async def test_a_dead_socket_is_replaced_and_nothing_else(path):
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    async with session(path), await anyio.connect_unix(path):
        with pytest.raises(SocketUnusable, match="served by another process"):
            await serve_mirrors(Mirrors(), path)
    path.write_text("a file")
    with pytest.raises(SocketUnusable, match="no socket"):
        await serve_mirrors(Mirrors(), path)
    assert path.read_text() == "a file"
    with pytest.raises(SocketUnusable):
        await serve_mirrors(Mirrors(), path.parent / ("x" * 200))
    with pytest.raises(SocketUnusable, match="nobody can be answered"):
        await answer_at(path.parent / "none", Replies([]))


@pytest.mark.parametrize(
    "line",
    [b"\n", b"garbage\n", b"\xff\xfe\n", b"[]\n", b"1\n", b'{"requestId": 1}\n', b"[" * 100_000 + b"\n"],
)
async def test_a_line_that_is_none_is_refused_and_the_next_one_counts(path, line):
    async with session(path) as one:
        await one.ask(MERGE)
        async with one.client() as client:
            [request_id] = (await client.next())["data"]["open"]
            await client.next()
            await client.send(line)
            assert "A line has to be" in (await client.next())["error"]
            assert (await client.respond(request_id, {"kind": "select", "optionIndex": 0}))["accepted"]


async def test_a_line_without_end_ends_its_own_connection_only(path):
    async with session(path) as one:
        await one.ask(MERGE)
        async with one.client() as client, one.client() as other:
            await client.next()
            await client.next()
            with suppress(anyio.BrokenResourceError):
                for _ in range(10 * LONGEST_LINE // 65_536):
                    await client.send(b"x" * 65_536)
            [request_id] = (await other.next())["data"]["open"]
            assert (await other.respond(request_id, {"kind": "select", "optionIndex": 0}))["accepted"]


async def test_death_in_mid_line_answers_nothing(path):
    """Q22: that a remote side is lost is never an answer."""
    presenter = HeldPresenter()
    async with session(path, presenter) as one:
        await one.ask(MERGE)
        async with one.client() as client:
            [request_id] = (await client.next())["data"]["open"]
            response = {"source": "remote", "kind": "select", "optionIndex": 0}
            await client.send(json.dumps({"requestId": request_id, "response": response}).encode())
        await anyio.sleep(0.02)
        assert one.outcomes == []
        presenter.open.send(Give(Answer((1,)), BY))
    assert one.outcomes[0].responses[0].answer == Answer((1,))


async def test_a_client_that_never_reads_holds_nobody_up(path):
    async with session(path, HeldPresenter()) as one, one.client(), one.client() as other:
        assert (await other.next())["event"] == HELLO
        for _ in range(3):
            for _ in range(200):
                await one.ask(MERGE)
                one.presenter.open.send(Stop())
                while one.presenter.open:
                    await anyio.lowlevel.checkpoint()
                for _ in range(3):
                    await other.next()
    assert len(one.outcomes) == 600


# The other side.


async def test_replies_answer_from_another_process(path):
    async with session(path) as one:
        await one.ask(FORM)
        ended = await answer_at(path, Replies(["rust", "ledger", ""]))
        assert (ended.accepted, ended.refused, ended.closed) == (3, "", "resolved")
    [outcome] = one.outcomes
    assert outcome.status is Status.ANSWERED
    assert [response.answer for response in outcome.responses] == [
        Answer((1,)),
        Answer(custom="ledger"),
        None,
    ]
    assert outcome.responses[2].skipped


async def test_fewer_replies_leave_the_rest_open(path):
    async with session(path) as one:
        await one.ask(FORM)
        assert (await answer_at(path, Replies(["1"]))).accepted == 1
        [pending] = one.coordinator.pending
        assert pending.responses[0].answer == Answer((0,))
    assert one.outcomes[0].status is Status.CANCELLED


async def test_a_reply_that_is_no_choice_is_not_sent(path):
    async with session(path) as one:
        await one.ask(MERGE)
        with pytest.raises(NoInterface, match="no row 9"):
            await answer_at(path, Replies(["9"]))
        assert one.outcomes == []


async def test_a_presenter_here_answers_there_and_is_closed_with_it(path):
    here, there = HeldPresenter(), HeldPresenter()
    async with session(path, there) as one:
        await one.ask(FORM)
        results = []

        async def answer():
            results.append(await answer_at(path, here))

        one.tasks.start_soon(answer)
        await until(lambda: here.open)
        here.open.send(Give(Answer((0,)), BY))
        await until(lambda: len(here.asked) == 2 and here.open)
        assert there.open.step.index == 1
        there.open.send(Stop())
        await until(lambda: results)
    assert here.open is None
    assert (results[0].accepted, results[0].closed) == (1, "resolved")
    assert one.outcomes[0].status is Status.DECLINED


async def test_nothing_pending_is_said(path):
    async with session(path):
        with pytest.raises(SocketUnusable, match="nothing is pending"):
            await answer_at(path, Replies(["1"]))


async def test_a_question_may_be_longer_than_an_answer(path):
    long = {"question": "x" * (LONGEST_LINE + 1), "options": ["Squash", "Rebase"]}
    async with session(path) as one:
        await one.ask(CONTRACTS["user_select"].read(long))
        assert (await answer_at(path, Replies(["2"]))).accepted == 1


async def test_an_answer_that_is_too_long_is_refused(path):
    async with session(path) as one:
        await one.ask(MERGE)
        ended = await answer_at(path, Replies(["x" * (LONGEST_LINE + 1)]))
        assert ended.accepted == 0
        assert "bytes" in ended.refused


@asynccontextmanager
async def serving(path, said):
    """Serve something that is not ours: it says `said` and hangs up."""
    path.parent.mkdir(parents=True)

    async def serve(stream):
        async with stream:
            await stream.send(said)

    with anyio.fail_after(60):
        async with await anyio.create_unix_listener(path) as listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, serve)
            yield
            tasks.cancel_scope.cancel()


def event(name, **data):
    return json.dumps({"event": name, "data": data}).encode() + b"\n"


@pytest.mark.parametrize(
    "said",
    [
        b"SSH-2.0-OpenSSH_9.2\n",
        b"\xff\n",
        b"[]\n",
        b"1\n",
        b"{}\n",
        b'{"event": "questionnaire:hello"}\n',
        event(HELLO, open=3),
        event(HELLO, open=["a"]) + event(REQUEST, requestId="a"),
        event(HELLO, open=["a"]) + b'{"reply": 1}\n',
        b"[" * 100_000 + b"\n",
        b"1" * 10_000 + b"\n",
    ],
)
async def test_what_speaks_something_else_is_said_to(path, said):
    async with serving(path, said):
        with pytest.raises(SocketUnusable, match="speaks something else"):
            await answer_at(path, Replies(["1"]))


@pytest.mark.parametrize("said", [b"", event(HELLO, open=["a"])])
async def test_a_server_that_is_gone_is_said_to_be(path, said):
    async with serving(path, said):
        with pytest.raises(SocketUnusable, match="hung up"):
            await answer_at(path, Replies(["1"]))


async def test_a_server_that_dies_while_a_question_stands_here(path):
    request = {"question": "Q", "options": [{"label": "A"}, {"label": "B"}], "allowCustom": False}
    asked = event(REQUEST, requestId="a", questionIndex=0, questionCount=1, **request)
    here = HeldPresenter()
    async with serving(path, event(HELLO, open=["a"]) + asked):
        with pytest.raises(SocketUnusable, match="hung up"):
            await answer_at(path, here)
    assert here.open is None


async def test_who_leaves_here_ends_the_client_only(path):
    here = HeldPresenter()
    async with session(path) as one:
        await one.ask(FORM)
        results = []

        async def answer():
            results.append(await answer_at(path, here))

        one.tasks.start_soon(answer)
        await until(lambda: here.open)
        here.open.end(Status.CANCELLED, "the terminal was lost")
        await until(lambda: results)
        assert results[0].left == "the terminal was lost"
        assert one.outcomes == []


async def test_a_reply_that_met_no_question_is_told(path):
    there = HeldPresenter()
    async with session(path, there) as one:
        await one.ask(FORM)
        there.open.send(Give(Answer((0,)), BY))
        ended = await answer_at(path, Replies(["ledger", "more", "too many"]))
    assert (ended.accepted, ended.closed) == (2, "resolved")
    assert ended.refused == "closed before 1 of the replies met their question"
