import json
import sys
import time

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire.contracts import choices, form
from questionnaire.errors import MalformedAnswers, NoInterface
from questionnaire.model import Answer, Status
from questionnaire.presenters import rpc
from questionnaire.presenters.dialogs import DialogsPresenter
from questionnaire.presenters.rpc import LineSplitter, RpcDialogs
from questionnaire.progress import Give, Interview
from questionnaire.testing import BY

pytestmark = pytest.mark.anyio

DEPLOY = choices.read({"questions": [{"question": "Where?", "options": [{"label": "VM"}, {"label": "K8s"}]}]})
NAME = form.read({"questions": [{"id": "name", "question": "Name?", "type": "text"}]})


class Host:
    """What sits at the other end: reads requests, and writes whatever a test wants it to."""

    def __init__(self, lines=10):
        self._to_us, from_host = anyio.create_memory_object_stream(lines)
        to_host, self._from_us = anyio.create_memory_object_stream(lines)
        ids = iter(range(1, 100))
        self.dialogs = RpcDialogs(from_host, to_host, make_id=lambda: f"id-{next(ids)}")
        self.streams = (self._to_us, from_host, to_host, self._from_us)

    async def read(self):
        line = await self._from_us.receive()
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        return json.loads(line)

    async def write(self, data):
        await self._to_us.send(data if isinstance(data, bytes) else json.dumps(data).encode() + b"\n")

    async def answer(self, request, **response):
        await self.write({"type": "extension_ui_response", "id": request["id"], **response})

    async def __aenter__(self):
        self._group = anyio.create_task_group()
        self.group = await self._group.__aenter__()
        self.group.start_soon(self.dialogs.listen)
        return self

    async def __aexit__(self, *raised):
        self.group.cancel_scope.cancel()
        await self._group.__aexit__(*raised)
        for stream in self.streams:
            stream.close()


async def select(host, *answers):
    """What a dialog returns when the host says all this."""
    results = []

    async def ask():
        try:
            results.append(await host.dialogs.select("Where?", ["VM", "K8s"]))
        except Exception as error:
            results.append(error)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await host.read()
            for answer in answers:
                await host.write(answer)
    return results[0]


def response(**fields):
    return {"type": "extension_ui_response", "id": "id-1", **fields}


async def test_a_conversation_line_by_line():
    interview = Interview(
        choices.read(
            {
                "questions": [
                    {"question": "Where?", "options": [{"label": "VM"}, {"label": "K8s"}]},
                    {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}], "multiSelect": True},
                ]
            }
        )
    )
    which, rows = "Which? (choose options, then Next)", ["Type something.", "Next"]
    talk = [
        (
            {"method": "select", "title": "Where?", "options": ["VM", "K8s", "Type something."]},
            "Type something.",
        ),
        ({"method": "input", "title": "Where?", "placeholder": "Type your answer"}, "at home"),
        ({"method": "select", "title": which, "options": ["[ ] A", "[ ] B", *rows]}, "[ ] B"),
        ({"method": "select", "title": which, "options": ["[ ] A", "[x] B", *rows]}, "Next"),
    ]
    async with Host() as host:
        host.group.start_soon(DialogsPresenter(host.dialogs).present, interview)
        with anyio.fail_after(60):
            for number, (expected, reply) in enumerate(talk, 1):
                request = await host.read()
                assert request == {"type": "extension_ui_request", "id": f"id-{number}", **expected}
                await host.answer(request, value=reply)
            await anyio.wait_all_tasks_blocked()
    answers = [response.answer for response in interview.outcome.responses]
    assert interview.outcome.status is Status.ANSWERED
    assert answers == [Answer(custom="at home"), Answer((1,))]


@pytest.mark.parametrize("fields", [{"cancelled": True}, {"cancelled": True, "value": "VM"}])
async def test_a_dismissed_dialog(fields):
    async with Host() as host:
        assert await select(host, response(**fields)) is None


@pytest.mark.parametrize(
    "value", ["VM", "", "two\nlines", "a\u2028b\u2029c\x85d", "\ud800", "x" * 10_000_000]
)
async def test_a_value_comes_as_it_was_typed(value):
    async with Host() as host:
        assert await select(host, response(value=value)) == value


async def test_separators_that_stand_raw_end_no_line():
    line = json.dumps(response(value="a\u2028b\u2029c\x85d\x0b\x0ce\rf"), ensure_ascii=False)
    async with Host() as host:
        assert await select(host, line.encode() + b"\r\n") == "a\u2028b\u2029c\x85d\x0b\x0ce\rf"


GARBAGE = [
    b"\n\n",
    b"no JSON\n",
    b"\xff\xfe\x00\n",
    b"[" * 100_000 + b"\n",
    b"[]\n",
    b"3\n",
    b"x" * 10_000_000 + b"\n",
    {"type": "agent_start"},
    {"type": "response", "id": "id-1", "command": "prompt", "success": True},
    {"type": "extension_ui_response"},
    {"type": "extension_ui_response", "id": ["id-1"], "value": "no"},
    {"type": "extension_ui_response", "id": "id-0", "value": "an old one"},
    {"type": "extension_ui_response", "id": "id-2", "cancelled": True},
]


async def test_garbage_unknown_ids_and_other_traffic_are_passed_over():
    async with Host(lines=20) as host:
        assert await select(host, *GARBAGE, response(value="K8s")) == "K8s"


async def test_the_first_response_counts():
    async with Host() as host:
        assert await select(host, response(value="K8s"), response(value="VM")) == "K8s"


@pytest.mark.parametrize(
    "fields", [{}, {"value": 3}, {"value": None}, {"confirmed": True}, {"cancelled": False}]
)
async def test_a_response_without_a_text_is_no_dismissal(fields):
    async with Host() as host:
        error = await select(host, response(**fields))
    assert isinstance(error, MalformedAnswers)


async def test_a_client_that_closes_loses_the_open_dialog_and_gets_no_other():
    interview = Interview(DEPLOY)
    async with Host() as host:
        with anyio.fail_after(60):
            host.group.start_soon(DialogsPresenter(host.dialogs).present, interview)
            await host.read()
            host.streams[0].close()
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(NoInterface, match="the session client is gone"):
                await DialogsPresenter(host.dialogs).present(Interview(DEPLOY))
    assert interview.outcome.status is Status.CANCELLED
    assert interview.outcome.reason == "the session client went away before it had answered"


async def test_a_client_that_cannot_be_written_to_is_no_interface():
    async with Host() as host:
        host.streams[3].close()
        with anyio.fail_after(60), pytest.raises(NoInterface):
            await host.dialogs.input("Name?", "")


async def test_a_client_that_does_not_read_is_no_interface(monkeypatch):
    monkeypatch.setattr(rpc, "_WRITE_WITHIN_S", 0.05)
    async with Host(lines=0) as host:
        with anyio.fail_after(60), pytest.raises(NoInterface):
            await host.dialogs.input("Name?", "")


async def test_a_cancelled_dialog_is_ended_there_and_its_late_answer_is_passed_over():
    async with Host() as host:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(host.dialogs.select, "Where?", ["VM"])
                request = await host.read()
                group.cancel_scope.cancel()
            assert await host.read() == {"type": "extension_ui_cancel", "id": request["id"]}
            await host.answer(request, value="VM")
            await anyio.wait_all_tasks_blocked()
            assert await select_again(host) == "new"


async def select_again(host):
    results = []

    async def ask():
        results.append(await host.dialogs.input("Name?", ""))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        request = await host.read()
        assert request["id"] == "id-2"
        await host.answer(request, value="new")
    return results[0]


async def test_a_dialog_that_lost_the_race_is_told_and_closed():
    interview = Interview(NAME)
    async with Host() as host:
        with anyio.fail_after(60):
            host.group.start_soon(DialogsPresenter(host.dialogs).present, interview)
            request = await host.read()
            interview.send(Give(Answer(custom="elsewhere"), BY))
            assert await host.read() == {"type": "extension_ui_cancel", "id": request["id"]}
            await host.answer(request, value="too late")
            await anyio.wait_all_tasks_blocked()
    assert interview.outcome.responses[0].answer == Answer(custom="elsewhere")


async def test_a_call_that_is_cancelled_while_it_writes_leaves_no_half_line():
    class Slow:
        def __init__(self):
            self.written = b""

        async def send(self, data):
            for start in range(0, len(data), 16):
                self.written += data[start : start + 16]
                await anyio.sleep(0.001)

    slow = Slow()
    dialogs = RpcDialogs(None, slow, make_id=lambda: "one")
    with anyio.move_on_after(0.003):
        await dialogs.select("Where?", ["VM"] * 20)
    lines = [json.loads(line) for line in slow.written.splitlines()]
    assert [line["type"] for line in lines] == ["extension_ui_request", "extension_ui_cancel"]


def test_ids_are_never_used_twice():
    first, second = (RpcDialogs(None, None) for _ in range(2))
    assert len({first._make_id(), first._make_id(), second._make_id()}) == 3


@given(st.lists(st.binary(max_size=8).map(lambda line: line.replace(b"\n", b"")), max_size=6), st.data())
def test_lines_are_the_same_however_the_bytes_arrive(lines, data):
    stream = b"".join(line + b"\n" for line in lines) + b"rest"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    splitter, heard = LineSplitter(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        heard += splitter.feed(stream[start:end])
    assert heard == lines


def test_a_line_that_is_too_long_is_passed_over_and_holds_no_memory():
    splitter = LineSplitter(longest_bytes=10)
    heard = [
        line for data in (b"a\n12345", b"67890", b"1", b"2\n0123456789\nb\n") for line in splitter.feed(data)
    ]
    assert heard == [b"a", b"0123456789", b"b"]


def test_splitting_takes_time_in_proportion_to_the_bytes():
    splitter, chunk = LineSplitter(), b"x" * 1024
    began = time.perf_counter()
    for _ in range(10_000):
        assert list(splitter.feed(chunk)) == []
    assert [len(line) for line in splitter.feed(b"\n")] == [10_240_000]
    assert time.perf_counter() - began < 30  # each byte looked at again for each chunk is minutes


async def test_over_a_real_pair_of_pipes():
    """One process a side, and bytes in whatever pieces the system likes."""
    script = (
        "import sys, json\n"
        "for line in sys.stdin:\n"
        "    request = json.loads(line)\n"
        "    value = request.get('options', ['a name \\u2028'])[-1]\n"
        "    print(json.dumps({'type': 'extension_ui_response', 'id': request['id'], 'value': value},"
        " ensure_ascii=False), flush=True)\n"
    )
    async with await anyio.open_process([sys.executable, "-X", "utf8", "-c", script], stderr=None) as process:
        dialogs = RpcDialogs(process.stdout, process.stdin)
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(dialogs.listen)
                assert await dialogs.input("Name?", "") == "a name \u2028"
                assert await dialogs.select("Where?", ["VM", "K8s"]) == "K8s"
                await process.stdin.aclose()
                await process.wait()
            with pytest.raises(NoInterface):
                await dialogs.input("Name?", "")
