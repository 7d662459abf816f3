"""The bell and herdr: called while somebody is waited for, and never in anybody's way."""

import json
import socket

import anyio
import pytest

from questionnaire.attention import Bell, HerdrEvents, HerdrSocket
from questionnaire.coordinator import Coordinator
from questionnaire.errors import NoInterface
from questionnaire.mirrors import BLOCKED, Mirrors
from questionnaire.model import Answer, Option, Question, Questionnaire
from questionnaire.progress import Draft, Give
from questionnaire.testing import BY, HeldPresenter, all_quiet

pytestmark = pytest.mark.anyio

ONE = Questionnaire((Question("Which\x1b[31m one?", (Option("A"), Option("B"))),))
LABEL = "Which[31m one?"
ENVIRONMENT = {"HERDR_ENV": "1", "HERDR_SOCKET_PATH": "/run/herdr", "HERDR_PANE_ID": "w1-2"}


async def answered_with(*attention, mirrors=None, quiet=all_quiet):
    presenter = HeldPresenter()
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            coordinator = Coordinator(presenter, attention=attention, mirrors=mirrors)
            tasks.start_soon(coordinator.ask, ONE)
            await quiet()
            presenter.open.send(Draft("x"))
            await quiet()
            presenter.open.send(Give(Answer((0,)), BY))
    assert presenter.open is None


async def test_the_bell_rings_once():
    written = []
    await answered_with(Bell(written.append))
    assert written == ["\a"]


async def test_nobody_is_called_where_nothing_is_shown():
    class Nowhere:
        async def present(self, interview):
            await all_quiet()
            raise NoInterface("no terminal")

    written = []
    await Coordinator(Nowhere(), attention=[Bell(written.append)]).ask(ONE)
    assert written == []


async def test_herdr_inside_pi_hears_an_event():
    mirrors, events = Mirrors(), []
    with mirrors.listen(lambda event: events.append(event) if event.name == BLOCKED else None):
        await answered_with(HerdrEvents(mirrors), mirrors=mirrors)
    assert [event.data for event in events] == [{"active": True, "label": LABEL}, {"active": False}]


async def test_signals_that_fail_change_nothing(caplog):
    def broken(text):
        raise OSError("no terminal")

    class Broken(Bell):
        async def release(self):
            raise RuntimeError("broken")

    written = []
    await answered_with(Broken(broken), Bell(written.append))
    assert written == ["\a"]
    assert "Broken could not call" in caplog.text
    assert "Broken could not be taken back" in caplog.text


class FakeHerdr:
    """A herdr that keeps the lines it gets, and answers each."""

    def __init__(self, path):
        self.path, self.reports, self.told = str(path), [], anyio.Event()

    async def serve(self, *, task_status):
        async with await anyio.create_unix_listener(self.path) as listener:
            task_status.started()
            await listener.serve(self._take)

    async def _take(self, stream):
        async with stream:
            line = b""
            while not line.endswith(b"\n"):
                line += await stream.receive()
            self.reports.append(json.loads(line))
            self.told.set()
            await stream.send(b'{"id": "x", "result": {"type": "ok"}}\n')


async def test_herdr_outside_pi_gets_a_line_a_report(tmp_path):
    herdr = FakeHerdr(tmp_path / "h")
    async with anyio.create_task_group() as tasks:
        await tasks.start(herdr.serve)

        async def told():
            await herdr.told.wait()
            await anyio.sleep(0.01)  # for the answer to arrive

        await answered_with(HerdrSocket(herdr.path, "w1-2", "viva"), quiet=told)
        tasks.cancel_scope.cancel()
    common = {"pane_id": "w1-2", "source": "custom:viva", "agent": "viva"}
    assert [(report["method"], report["params"]) for report in herdr.reports] == [
        ("pane.report_agent", common | {"state": "blocked", "message": LABEL}),
        ("pane.report_agent", common | {"state": "working"}),
    ]
    assert len({report["id"] for report in herdr.reports}) == 2


async def test_a_herdr_that_is_not_there_is_no_error(tmp_path, caplog):
    await answered_with(HerdrSocket(str(tmp_path / "none"), "p"))
    assert "herdr was not told" in caplog.text


async def test_a_herdr_that_hangs_holds_nothing_up(tmp_path):
    """Its socket takes connections and never reads: the questions go on, and their end waits a second."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "h"))
        listener.listen(8)
        await answered_with(HerdrSocket(str(tmp_path / "h"), "p"))


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_herdr_is_found_in_the_environment_or_not_at_all(name):
    assert HerdrSocket.from_environment(ENVIRONMENT) is not None
    assert HerdrSocket.from_environment({**ENVIRONMENT, name: ""}) is None
    assert HerdrSocket.from_environment({key: ENVIRONMENT[key] for key in ENVIRONMENT if key != name}) is None
