"""What is pending outlives a process that dies."""

import json
import stat
import sys
from dataclasses import asdict

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire.coordinator import Coordinator
from questionnaire.model import (
    Answer,
    CustomRow,
    Input,
    Option,
    Provenance,
    Question,
    Questionnaire,
    Response,
    Status,
)
from questionnaire.pending import FolderStore, Pending
from questionnaire.progress import Draft, Give, Note
from questionnaire.testing import BY, HeldPresenter, all_quiet

pytestmark = pytest.mark.anyio

AB = (Option("A", "first", preview="| a |", value="a"), Option("B", badge="recommended"))
FORM = Questionnaire(
    (Question("Which?", AB, custom=CustomRow("Own", blank_allowed=True), id="which"), Question("Name?")),
    review=True,
    repairs=("something",),
)
ONE = Questionnaire((Question("Other?", AB),))


@pytest.fixture
def store(tmp_path):
    return FolderStore(tmp_path / "state" / "pending")


TEXT = st.text(st.characters(codec=None), max_size=5)
RESPONSES = st.builds(
    Response,
    draft=TEXT,
    ticked=st.sampled_from([(), (0,), (0, 1)]),
    note=TEXT,
    option_notes=st.sampled_from([(), ((1, "because"),)]),
    shown_at=st.none() | st.floats(0, 9),
    unshown=st.sampled_from([(), ("descriptions", "previews")]),
) | st.builds(
    Response,
    answer=st.sampled_from([Answer((1,)), Answer(custom="own words")]),
    shown_at=st.just(3.5),
    by=st.builds(Provenance, TEXT, st.sampled_from(Input), st.floats(0, 9), TEXT),
)


@given(first=RESPONSES, text=TEXT, created_at=st.floats(0, 1e10))
def test_what_is_kept_comes_back_as_it_was(tmp_path_factory, first, text, created_at):
    store = FolderStore(tmp_path_factory.mktemp("store"))
    pending = Pending("id", FORM, (first, Response(draft=text)), "form", text, created_at)
    store.put(pending)
    assert store.left_over() == (pending,)
    assert Questionnaire.__hash__(store.left_over()[0].questionnaire) == hash(FORM)
    store.remove("id")
    store.remove("id")
    assert store.left_over() == ()


def test_only_the_user_may_read_it(store, tmp_path):
    store.put(Pending("id", ONE, (Response(),)))
    [file] = (tmp_path / "state" / "pending").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"version": 1}', b'{"version": 2}']
)
def test_what_is_no_questionnaire_is_left_alone(store, tmp_path, content, caplog):
    store.put(Pending("good", ONE, (Response(),)))
    bad = tmp_path / "state" / "pending" / "bad.json"
    bad.write_bytes(content)
    assert [pending.request_id for pending in store.left_over()] == ["good"]
    assert bad.read_bytes() == content
    assert "holds no pending questionnaire" in caplog.text


@pytest.mark.parametrize(
    "damage",
    [
        {"created_at": "x"},
        {"created_at": 1e300},
        {"created_at": float("nan")},
        {"created_at": True},
        {"created_at": None},
        {"kind": []},
        {"kind": None},
        {"tool_call_id": 3},
        {"request_id": "../good"},
        {"request_id": 1},
        {"questionnaire": {**asdict(ONE), "questions": []}},
        {"questionnaire": {**asdict(ONE), "review": "x"}},
        {"questionnaire": {**asdict(ONE), "questions": [{**asdict(ONE.questions[0]), "text": 3}]}},
        {"questionnaire": {**asdict(ONE), "repairs": [[]]}},
        {"responses": [3]},
        {"responses": [{**asdict(Response()), "draft": None}]},
        {"responses": [{**asdict(Response()), "ticked": [[]]}]},
        {"responses": [{**asdict(Response()), "option_notes": [["0", "x"]]}]},
        {"responses": [{**asdict(Response()), "answer": 3}]},
    ],
    ids=str,
)
async def test_a_damaged_file_breaks_no_call(store, tmp_path, damage, caplog):
    store.put(Pending("bad", ONE, (Response(),), "form", "", 5.0))
    bad = tmp_path / "state" / "pending" / "bad.json"
    bad.write_text(json.dumps(json.loads(bad.read_bytes()) | damage))
    store.put(Pending("good", FORM, (Response(), Response()), "", "", 7))
    coordinator = Coordinator(None, store=store)
    assert [pending.request_id for pending in coordinator.left_over] == ["good"]
    assert (await coordinator.ask(ONE)).status is Status.NEVER_SHOWN
    assert "holds no pending questionnaire" in caplog.text


def test_an_answer_without_a_receipt_is_not_believed(store):
    store.put(Pending("id", ONE, (Response(answer=Answer((0,)), by=BY),)))
    assert store.left_over() == ()


async def test_it_is_stored_before_it_is_drawn_and_gone_when_it_is_settled(store):
    """Q86: the questions are in the store from before they are drawn until they are settled."""
    stored_when_drawn = []

    class Watched(HeldPresenter):
        async def present(self, interview):
            stored_when_drawn.append([pending.questionnaire for pending in store.left_over()])
            await super().present(interview)

    presenter = Watched()
    async with anyio.create_task_group() as tasks:
        coordinator = Coordinator(presenter, store=store)
        tasks.start_soon(coordinator.ask, FORM)
        await all_quiet()
        tasks.start_soon(coordinator.ask, ONE)
        await all_quiet()
        assert {pending.questionnaire for pending in store.left_over()} == {FORM, ONE}
        presenter.open.send(Give(Answer((1,)), BY))
        presenter.open.send(Draft("led"))
        [form] = [pending for pending in store.left_over() if pending.questionnaire == FORM]
        assert (form.responses[0].answer, form.responses[1].draft) == (Answer((1,)), "led")
        await coordinator.cancel()
    assert stored_when_drawn == [[FORM]]
    assert store.left_over() == ()


async def test_it_is_offered_again_after_a_restart_where_it_was_left(store):
    """Q86: nothing that was answered or typed before the crash has to be said again."""
    first = HeldPresenter()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: Coordinator(first, store=store).ask(FORM, kind="form", tool_call_id="c"))
        await all_quiet()
        for act in (Give(Answer((1,)), BY), Draft("led"), Note("not sure")):
            first.open.send(act)
        crashed = store.left_over()
        tasks.cancel_scope.cancel()
    assert store.left_over() == ()  # a cancelled call is settled; a crash leaves what it left
    for pending in crashed:
        store.put(pending)

    second, outcomes = HeldPresenter(), []
    coordinator = Coordinator(second, store=store)
    [left] = coordinator.left_over
    assert (left.kind, left.tool_call_id) == ("form", "c")

    async def offer():
        outcomes.append(await coordinator.ask(left.questionnaire, kind=left.kind))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(offer)
        await all_quiet()
        assert coordinator.left_over == ()
        assert coordinator.pending[0].request_id == left.request_id
        assert coordinator.pending[0].tool_call_id == "c"
        responses = second.open.step.responses
        assert (second.open.step.index, responses[1].draft, responses[1].note) == (1, "led", "not sure")
        await coordinator.hand_over()
    assert outcomes[0].responses[0].answer == Answer((1,))
    assert store.left_over() == ()


async def test_a_store_that_fails_keeps_nobody_from_being_asked(caplog):
    class Full:
        def put(self, pending):
            raise OSError("disk full")

        def remove(self, request_id):
            raise OSError("disk full")

        def left_over(self):
            raise OSError("disk full")

    presenter = HeldPresenter()
    async with anyio.create_task_group() as tasks:
        coordinator = Coordinator(presenter, store=Full())
        tasks.start_soon(coordinator.ask, ONE)
        await all_quiet()
        presenter.open.send(Give(Answer((0,)), BY))
    assert presenter.asked == [ONE]
    assert "could not be stored; it is asked all the same" in caplog.text


KILLED = """
import os, sys, anyio
from pathlib import Path
from questionnaire.coordinator import Coordinator
from questionnaire.pending import FolderStore
from questionnaire.progress import Draft
from questionnaire.contracts import CONTRACTS

class Dies:
    async def present(self, interview):
        interview.send(Draft("half a sen"))
        os._exit(9)

asked = CONTRACTS["user_select"].read({"question": "Which?", "options": ["A"], "allowCustom": True})
anyio.run(Coordinator(Dies(), store=FolderStore(Path(sys.argv[1]))).ask, asked)
"""


async def test_a_process_that_dies_leaves_what_was_typed(store, tmp_path):
    folder = tmp_path / "state" / "pending"
    done = await anyio.run_process([sys.executable, "-c", KILLED, str(folder)], check=False)
    assert done.returncode == 9
    [left] = Coordinator(None, store=store).left_over
    assert left.questionnaire.questions[0].text == "Which?"
    assert left.responses[0].draft == "half a sen"
    outcome = await Coordinator(None, store=store).ask(left.questionnaire)
    assert outcome.status is Status.NEVER_SHOWN
    assert outcome.responses[0].draft == "half a sen"
