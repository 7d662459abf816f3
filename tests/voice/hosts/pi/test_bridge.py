"""The Python side of the bridge, with peers of the tests: who may come, what they may say, how it ends."""

import json
import os
import socket
import stat
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from questionnaire import AdjustableToolset, Coordinator, Mirrors, Withhold, questionnaire_toolset
from questionnaire.testing import HeldPresenter
from voice.errors import HostError
from voice.hosts.pi.bridge import Bridge
from voice.hosts.pi.meeting import MeetingPlace, rendezvous

pytestmark = pytest.mark.anyio

NAMES = ["read", "ask_user_question", "user_select"]
SELECT = {"question": "Merge how?", "options": [{"label": "Squash"}]}


class Peer:
    """The end of a socket on which a test says what a bridge would."""

    def __init__(self, stream):
        self._stream = stream
        self._lines = BufferedByteReceiveStream(stream)

    async def say(self, *lines):
        for line in lines:
            data = line if isinstance(line, bytes) else json.dumps(line).encode()
            await self._stream.send(data + b"\n")

    async def hears(self, kind):
        """The next line of this type."""
        with anyio.fail_after(60):
            while True:
                line = json.loads(await self._lines.receive_until(b"\n", 2**20))
                if line["type"] == kind:
                    return line

    async def is_hung_up_on(self):
        with anyio.fail_after(60), pytest.raises((anyio.EndOfStream, anyio.IncompleteRead)):  # noqa: PT012
            while True:
                await self._lines.receive_until(b"\n", 2**20)


@asynccontextmanager
async def a_peer(folder, token=None, **said):
    async with await anyio.connect_unix(folder / "socket") as stream:
        peer = Peer(stream)
        token = (folder / "token").read_text() if token is None else token
        hello = {"type": "hello", "version": 1, "token": token, "pid": 1, "mode": "rpc", "busy": False}
        await peer.say({**hello, **said})
        yield peer


@asynccontextmanager
async def met(folder):
    async with a_peer(folder) as peer:
        await peer.hears("welcome")
        await peer.say({"type": "active", "names": NAMES, "hidden": []})
        yield peer


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "meet"


@asynccontextmanager
async def a_bridge(folder, presenter=None, mirrors=None):
    async with Coordinator(presenter, mirrors=mirrors) as coordinator:
        tools = AdjustableToolset(questionnaire_toolset(coordinator))
        bridge = Bridge(tools, mirrors=mirrors)
        async with bridge.serve(folder):
            yield bridge, tools


async def test_the_folder_is_for_the_user_alone_and_empty_afterwards(folder):
    async with a_bridge(folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / "token").stat().st_mode) == 0o600
        assert stat.S_IMODE((folder / "socket").stat().st_mode) == 0o600
    assert list(folder.iterdir()) == []


async def test_a_folder_that_others_can_enter_is_refused(folder):
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    with pytest.raises(HostError, match="not for you alone") as refused:
        async with MeetingPlace(folder).open():
            pass
    assert "chmod" not in refused.value.mend  # it may be one that others need: /tmp


async def test_a_second_one_that_waits_is_refused_and_a_dead_ones_socket_is_not(folder):
    async with a_bridge(folder):
        with pytest.raises(HostError, match="Another Viva Voce"):
            async with MeetingPlace(folder).open():
                pass
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(folder / "socket"))
    async with a_bridge(folder), met(folder):
        pass


async def test_of_two_that_come_at_once_one_waits(folder):
    waits, refused = [], []

    async def come():
        try:
            async with MeetingPlace(folder).open():
                waits.append(True)
                while not refused:  # noqa: ASYNC110
                    await anyio.sleep(0.005)
        except HostError as error:
            refused.append(error.sentence)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(come)
            tasks.start_soon(come)
    assert waits == [True]
    assert len(refused) == 1
    assert "Another Viva Voce" in refused[0]


async def test_a_bridge_of_another_version_is_told_of_once(folder, caplog):
    async with a_bridge(folder) as (bridge, _):
        for _ in range(2):
            async with a_peer(folder, version=0) as peer:
                await peer.is_hung_up_on()
        assert not bridge.connected
    assert len([record for record in caplog.records if "another version" in record.message]) == 1


async def test_without_the_token_nobody_is_let_in_and_a_token_is_good_once(folder):
    async with a_bridge(folder) as (bridge, _):
        first = (folder / "token").read_text()
        for token in ("", "wrong", None, 7, "\ud800"):
            async with await anyio.connect_unix(folder / "socket") as stream:
                peer = Peer(stream)
                await peer.say({"type": "hello", "version": 1, "token": token})
                await peer.is_hung_up_on()
        async with met(folder):
            assert bridge.connected
        async with a_peer(folder, first) as peer:
            await peer.is_hung_up_on()


async def test_one_pi_at_a_time(folder):
    async with a_bridge(folder) as (bridge, _), met(folder):
        async with a_peer(folder) as second:
            await second.is_hung_up_on()
        assert bridge.connected


async def test_a_pi_that_begins_another_session_keeps_its_place_before_one_that_waits(folder):
    async with a_bridge(folder) as (bridge, _):
        async with a_peer(folder, pid=1) as first:
            await first.hears("welcome")
            async with a_peer(folder, pid=2) as second, anyio.create_task_group() as tasks:
                tasks.start_soon(second.is_hung_up_on)
                for _ in range(20):
                    await anyio.sleep(0.005)  # it waits behind the first
                await first._stream.aclose()
        async with a_peer(folder, pid=1) as first:
            await first.hears("welcome")
            assert bridge.connected


async def test_lines_that_mean_nothing_are_passed_over(folder):
    async with a_bridge(folder), met(folder) as peer:
        await peer.say(b"garbage", b"[]", b'"text"', {"type": 7}, {"type": "call"}, {"type": "said", "n": 99})
        await peer.say(
            {"type": "abort", "id": "none"}, {"type": "respond"}, {"type": "unheard-of", "id": "x"}
        )
        await peer.say({"type": "call", "id": "1", "name": "no_such_tool", "arguments": None})
        result = await peer.hears("result")
        assert (result["id"], result["isError"]) == ("1", True)
        await peer.say({"type": "call", "id": "2", "name": "user_select", "arguments": "no object"})
        assert (await peer.hears("result"))["isError"]


async def test_a_set_that_comes_too_late_is_made_anew(folder):
    async with a_bridge(folder) as (bridge, tools), met(folder) as peer:
        await peer.say({"type": "settled?", "n": 1})
        await peer.hears("reply")
        with tools.add(Withhold(["user_select"], "no")):
            told = await peer.hears("set")
            assert told["base"] == NAMES
            assert told["names"] == ["read", "ask_user_question"]
            # Its user was quicker, and has switched `read` off.
            now = NAMES[1:]
            await peer.say({"type": "active", "n": told["n"], "names": now, "hidden": []})
            told = await peer.hears("set")
            assert (told["base"], told["names"], told["hidden"]) == (
                now,
                ["ask_user_question"],
                ["user_select"],
            )
            await peer.say(
                {"type": "active", "n": told["n"], "names": told["names"], "hidden": told["hidden"]}
            )
            await bridge.settled()
        assert set((await peer.hears("set"))["names"]) == {"ask_user_question", "user_select"}


async def test_leaving_brings_back_what_was_withheld(folder):
    async with anyio.create_task_group() as tasks:
        leave, ready = anyio.Event(), anyio.Event()

        async def serve():
            async with a_bridge(folder) as (_, tools):
                ready.set()
                tools.add(Withhold(["user_select"], "no"))
                await leave.wait()

        tasks.start_soon(serve)
        await ready.wait()
        async with met(folder) as peer:
            told = await peer.hears("set")
            assert "user_select" not in told["names"]
            leave.set()
            await peer.is_hung_up_on()  # and then the bridge itself brings it back


async def test_a_peer_that_dies_in_the_middle_of_a_line_takes_its_question_off_the_screen(folder):
    presenter = HeldPresenter()
    async with a_bridge(folder, presenter) as (bridge, _):
        async with met(folder) as peer:
            await peer.say({"type": "call", "id": "1", "name": "user_select", "arguments": SELECT})
            while presenter.open is None:  # noqa: ASYNC110
                await anyio.sleep(0.005)
            await peer._stream.send(b'{"type": "abo')
        with anyio.fail_after(60):
            while presenter.open is not None or bridge.connected:  # noqa: ASYNC110
                await anyio.sleep(0.005)
        async with met(folder):
            assert bridge.connected


async def test_an_abort_ends_the_call_and_a_second_result_is_never_sent(folder):
    presenter = HeldPresenter()
    async with a_bridge(folder, presenter), met(folder) as peer:
        await peer.say({"type": "call", "id": "1", "name": "user_select", "arguments": SELECT})
        while presenter.open is None:  # noqa: ASYNC110
            await anyio.sleep(0.005)
        await peer.say({"type": "abort", "id": "1"}, {"type": "abort", "id": "1"})
        with anyio.fail_after(60):
            while presenter.open is not None:  # noqa: ASYNC110
                await anyio.sleep(0.005)
        # One that is aborted in the same breath, or comes twice, does no harm either.
        call = {"type": "call", "id": "1", "name": "user_select", "arguments": SELECT}
        await peer.say(call, call, {"type": "abort", "id": "1"})
        await peer.say({"type": "call", "id": "2", "name": "no_such_tool", "arguments": {}})
        assert (await peer.hears("result"))["id"] == "2"
        assert presenter.open is None


async def test_answers_of_other_extensions_are_judged_here_too(folder):
    mirrors = Mirrors()
    presenter = HeldPresenter()
    async with a_bridge(folder, presenter, mirrors) as _, met(folder) as peer:
        await peer.say({"type": "call", "id": "c7", "name": "user_select", "arguments": SELECT})
        event = await peer.hears("emit")
        assert (event["name"], event["answerable"]) == ("pi-user-select:request", True)
        assert event["data"]["toolCallId"] == "c7"
        answer = {"type": "respond", "requestId": event["data"]["requestId"], "questionIndex": 0}
        await peer.say({**answer, "response": {"source": "remote", "kind": "select", "optionIndex": 9}})
        await peer.say({**answer, "response": {"source": "remote", "kind": "select", "optionIndex": 0}})
        await peer.say({**answer, "response": {"source": "remote", "kind": "cancel"}})
        assert (await peer.hears("result"))["text"] == "User selected: 1. Squash"


async def test_a_message_that_is_not_taken_is_an_error(folder):
    async with a_bridge(folder) as (bridge, _):
        with pytest.raises(HostError):
            await bridge.say("hello", "steer")
        async with met(folder) as peer, anyio.create_task_group() as tasks:

            async def refuse():
                said = await peer.hears("say")
                assert (said["text"], said["deliverAs"]) == ("/hello", "followUp")
                await peer.say({"type": "said", "n": said["n"], "error": "no model is there"})
                await peer.say({"type": "said", "n": said["n"]})

            tasks.start_soon(refuse)
            with pytest.raises(HostError, match="no model is there"):
                await bridge.say("/hello", "followUp")


def test_the_place_is_named_by_the_environment(monkeypatch):
    monkeypatch.setenv("VIVA_VOICE_BRIDGE", "/somewhere")
    assert str(rendezvous()) == "/somewhere"
    monkeypatch.delenv("VIVA_VOICE_BRIDGE")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    assert str(rendezvous()) == "/run/user/7/viva-voce/pi"
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.delenv("TMPDIR", raising=False)
    assert str(rendezvous()) == f"/tmp/viva-voce-pi-{os.getuid()}"
