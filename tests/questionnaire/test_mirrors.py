"""The events that other programs get, to the letter, and what they may answer."""

import json
from collections import Counter

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire.contracts import CONTRACTS
from questionnaire.coordinator import Coordinator, conduct
from questionnaire.errors import NoInterface
from questionnaire.mirrors import CLOSED, CUSTOM_INPUT_REQUEST, ERROR, REQUEST, RESOLVED, Event, Mirrors
from questionnaire.model import Answer, CustomRow, Input, Option, Question, Questionnaire, Status
from questionnaire.progress import Draft, Escape, Give, GoTo, Interview, Next, Skip, Submit
from questionnaire.remote import question_of, read_response, request_data, response_of
from questionnaire.testing import BY, HeldPresenter, all_quiet

pytestmark = pytest.mark.anyio

MERGE = CONTRACTS["user_select"].read(
    {
        "question": "Merge how?",
        "options": [{"label": "Squash"}, {"label": "Rebase", "description": "Keeps each commit."}],
        "allowCustom": True,
    }
)
CLOSED_CHOICE = CONTRACTS["user_select"].read({"question": "Which?", "options": ["A", "B"]})
FORM = CONTRACTS["form"].read(
    {
        "questions": [
            {"id": "lang", "question": "Language?", "type": "select", "options": ["Python", "Rust"]},
            {"id": "name", "question": "Name?", "type": "text"},
            {"id": "note", "question": "More?", "type": "text", "required": False},
        ]
    }
)
MULTI = CONTRACTS["choices"].read(
    {"questions": [{"question": "Which ones?", "options": ["A", "B", "C"], "multiSelect": True}]}
)
ALREADY = {"accepted": False, "reason": "already_resolved"}
INVALID = {"accepted": False, "reason": "invalid_response"}


def remote(kind, **fields):
    return {"source": "remote", "kind": kind, **fields}


def pick(index):
    return remote("select", optionIndex=index)


class Mirrored:
    """One interview with a listener that keeps what it hears."""

    def __init__(self, questionnaire, on_event=lambda event: None):
        self.mirrors = Mirrors(lambda: 7.0)
        self.interview = Interview(questionnaire)
        self.events = []
        self.on_event = on_event

    def __enter__(self):
        self.listening = self.mirrors.listen(self._hear)
        self.listening.__enter__()
        self.mirroring = self.mirrors.mirror(
            self.interview, "r1", tool_call_id="call-1", created_at=1_700_000_000.5
        )
        self.mirroring.__enter__()
        return self

    def __exit__(self, *error):
        self.mirroring.__exit__(None, None, None)
        self.listening.__exit__(None, None, None)

    def _hear(self, event):
        json.dumps(event.data)
        self.events.append(event)
        self.on_event(event)

    @property
    def names(self):
        return [event.name.removeprefix("pi-user-select:") for event in self.events]

    def respond(self, response, index=0, name=REQUEST):
        [event] = [event for event in self.events if event.name == name and self.index(event) == index]
        return event.respond(response)

    @staticmethod
    def index(event):
        return event.data["questionIndex"]

    def data(self, name):
        return [event.data for event in self.events if event.name == name]


def test_the_request_of_a_selection():
    with Mirrored(MERGE) as mirrored:
        [request] = mirrored.data(REQUEST)
    assert request == {
        "requestId": "r1",
        "kind": "select",
        "toolCallId": "call-1",
        "createdAt": "2023-11-14T22:13:20.500+00:00",
        "question": "Merge how?",
        "options": [
            {"index": 0, "label": "Squash"},
            {"index": 1, "label": "Rebase", "description": "Keeps each commit."},
        ],
        "allowCustom": True,
        "multiSelect": False,
        "required": True,
        "questionIndex": 0,
        "questionCount": 1,
    }


def test_a_remote_answer():
    with Mirrored(MERGE) as mirrored:
        assert mirrored.respond(pick(1)) == {"accepted": True}
        assert mirrored.respond(pick(0)) == ALREADY
        assert mirrored.respond("nonsense") == ALREADY
    assert mirrored.names == ["request", "resolved", "closed"]
    [resolved], [closed] = mirrored.data(RESOLVED), mirrored.data(CLOSED)
    base = {
        "requestId": "r1",
        "kind": "select",
        "toolCallId": "call-1",
        "createdAt": "2023-11-14T22:13:20.500+00:00",
    }
    result = {"kind": "select", "optionIndex": 1, "label": "Rebase"}
    assert resolved == base | {"questionIndex": 0, "selectedBy": "remote", "result": result}
    assert closed == base | {"reason": "resolved"}
    [response] = mirrored.interview.outcome.responses
    assert (response.answer, response.by.input, response.by.at) == (Answer((1,)), Input.REMOTE, 7.0)
    assert response.shown_at == 7.0


def test_a_local_answer_and_its_late_rival():
    with Mirrored(MERGE) as mirrored:
        mirrored.interview.send(Give(Answer(custom=" merge commit "), BY))
        assert mirrored.respond(pick(1)) == ALREADY
    [resolved] = mirrored.data(RESOLVED)
    assert resolved["selectedBy"] == "local"
    assert resolved["result"] == {"kind": "custom", "value": " merge commit "}


def test_a_blank_text_of_the_user_is_told_as_a_cancel():
    with Mirrored(MERGE) as mirrored:
        mirrored.interview.send(Give(Answer(custom=" "), BY))
    assert mirrored.data(RESOLVED)[0]["result"] == {"kind": "cancel"}


@pytest.mark.parametrize("name", [REQUEST, CUSTOM_INPUT_REQUEST])
def test_a_remote_cancel_has_the_text_of_escape(name):
    with Mirrored(MERGE) as mirrored:
        mirrored.interview.send(Draft("something"))
        assert mirrored.respond(remote("cancel"), name=name) == {"accepted": True}
    assert mirrored.interview.outcome.status is Status.DECLINED
    [resolved] = mirrored.data(RESOLVED)
    assert (resolved["selectedBy"], resolved["result"]) == ("remote", {"kind": "cancel"})
    result = CONTRACTS["user_select"].result(MERGE, mirrored.interview.outcome)
    assert result.text.startswith("User cancelled the selection")
    assert not result.is_error


def test_own_words_may_be_sent_from_afar_while_the_user_writes():
    with Mirrored(MERGE) as mirrored:
        assert mirrored.names == ["request"]
        mirrored.interview.send(Draft("by h"))
        mirrored.interview.send(Draft("by ha"))
        assert mirrored.names == ["request", "custom-input-request"]
        [request] = mirrored.data(CUSTOM_INPUT_REQUEST)
        assert (request["requestId"], request["kind"]) == ("r1", "custom_input")
        assert request["question"] == "Merge how?"
        for blank in ("", " \n", "\u200b", None, 3):
            assert mirrored.respond(remote("submit", value=blank), name=CUSTOM_INPUT_REQUEST) == INVALID
        assert mirrored.respond(pick(0), name=CUSTOM_INPUT_REQUEST) == INVALID
        assert mirrored.respond(remote("submit", value="by hand"), name=CUSTOM_INPUT_REQUEST)["accepted"]
        assert mirrored.respond(pick(0)) == ALREADY
    [response] = mirrored.interview.outcome.responses
    assert (response.answer, response.draft) == (Answer(custom="by hand"), "by ha")


@pytest.mark.parametrize(
    "response",
    [
        None,
        [],
        "select",
        {},
        {"kind": "select", "optionIndex": 0},
        {"source": "local", "kind": "select", "optionIndex": 0},
        *(pick(index) for index in (-1, 2, "0", None, True, 0.0, [0])),
        remote("select"),
        remote("select", optionIndices=[0]),
        remote("custom"),
        remote("custom", value="not allowed here"),
        remote("submit", value="x"),
        remote("skip"),
        remote("answered"),
        remote(["select"], optionIndex=0),
    ],
)
def test_what_is_no_response_settles_nothing(response):
    with Mirrored(CLOSED_CHOICE) as mirrored:
        assert mirrored.respond(response) == INVALID
        assert mirrored.interview.outcome is None
        assert mirrored.names == ["request"]
        assert mirrored.respond(pick(0)) == {"accepted": True}


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        (remote("select", optionIndices=[2, 0]), Answer((0, 2))),
        (remote("select", optionIndices=[1], value="own"), Answer((1,), "own")),
        (remote("select", optionIndices=[], value="own"), Answer((), "own")),
        (remote("custom", value="own"), Answer((), "own")),
        (remote("select", optionIndices=[]), None),
        (remote("select", optionIndices=[0], value=" "), None),
        (remote("select", optionIndices=[0], value=3), None),
        (remote("select", optionIndices=[0, 3]), None),
        (remote("select", optionIndices=[True]), None),
        (remote("select", optionIndices="01"), None),
        (pick(0), None),
    ],
)
def test_several_options(response, answer):
    with Mirrored(MULTI) as mirrored:
        assert mirrored.respond(response) == (INVALID if answer is None else {"accepted": True})
        if answer is None:
            assert mirrored.interview.outcome is None
            return
    assert mirrored.interview.outcome.responses[0].answer == answer


def test_a_form_is_mirrored_question_by_question_and_closed_once():
    with Mirrored(FORM) as mirrored:
        assert mirrored.respond(pick(1)) == {"accepted": True}
        assert mirrored.respond(pick(0)) == ALREADY
        mirrored.interview.send(Give(Answer(custom="ledger"), BY))
        assert mirrored.respond(remote("skip"), index=2) == {"accepted": True}
    outcome = mirrored.interview.outcome
    assert outcome.status is Status.ANSWERED
    assert mirrored.names == [
        *("request", "resolved", "request", "custom-input-request", "resolved"),
        *("request", "custom-input-request", "resolved", "closed"),
    ]
    assert [data["questionIndex"] for data in mirrored.data(REQUEST)] == [0, 1, 2]
    assert [data["selectedBy"] for data in mirrored.data(RESOLVED)] == ["remote", "local", "remote"]
    assert mirrored.data(RESOLVED)[2]["result"] == {"kind": "skip"}
    assert [data["reason"] for data in mirrored.data(CLOSED)] == ["resolved"]


def test_the_user_may_still_change_an_answer_on_the_review():
    with Mirrored(FORM) as mirrored:
        for act in (Give(Answer((0,)), BY), Give(Answer(custom="x"), BY), Skip(BY)):
            mirrored.interview.send(act)
        assert mirrored.interview.step.index is None
        mirrored.interview.send(GoTo(0))
        mirrored.interview.send(Give(Answer((1,)), BY))
        assert mirrored.respond(pick(0)) == ALREADY
        mirrored.interview.send(Submit())
    assert mirrored.interview.outcome.responses[0].answer == Answer((1,))
    assert Counter(mirrored.names)["resolved"] == 3


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (Status.CANCELLED, "cancelled"),
        (Status.TIMED_OUT, "timed_out"),
        (Status.SUPERSEDED, "superseded"),
    ],
)
def test_what_is_closed_from_outside_was_resolved_by_nobody(end, reason):
    with Mirrored(FORM) as mirrored:
        mirrored.interview.send(Give(Answer((0,)), BY))
        mirrored.interview.end(end)
        assert mirrored.respond(pick(0)) == ALREADY
    assert Counter(mirrored.names)["resolved"] == 1
    assert mirrored.data(CLOSED)[0]["reason"] == reason


def test_a_user_who_stops_resolves_what_was_asked():
    with Mirrored(FORM) as mirrored:
        for act in (Give(Answer((0,)), BY), Escape(), Escape()):
            mirrored.interview.send(act)
    assert [data["result"]["kind"] for data in mirrored.data(RESOLVED)] == ["select", "cancel"]
    assert {data["selectedBy"] for data in mirrored.data(RESOLVED)} == {"local"}


def test_all_hear_the_same_order_though_one_answers_while_it_is_told():
    heard = []
    mirrors, interview = Mirrors(lambda: 0.0), Interview(FORM)

    def answer(event):
        if event.name == REQUEST and event.data["options"]:
            event.respond(pick(0))
        elif event.name == REQUEST:
            event.respond(remote("custom", value="words"))

    keep = mirrors.listen(lambda event: heard.append(event.name))
    with mirrors.listen(answer), keep, mirrors.mirror(interview, "r", created_at=0.0):
        pass
    assert interview.outcome.status is Status.ANSWERED
    assert heard == [REQUEST, RESOLVED, *(REQUEST, CUSTOM_INPUT_REQUEST, RESOLVED) * 2, CLOSED]


def test_a_listener_that_raises_changes_nothing(caplog):
    def broken(event):
        raise RuntimeError("broken")

    with Mirrored(MERGE, on_event=broken) as mirrored:
        mirrored.interview.send(Give(Answer((0,)), BY))
    assert mirrored.names == ["request", "resolved", "closed"]
    assert mirrored.interview.outcome.status is Status.ANSWERED
    assert "a listener to pi-user-select:request failed" in caplog.text


@pytest.mark.parametrize("value", ["x" * 100_000, "a\x1b]52;c;aGk=\x07b", "a\ud800", "“=”. \n"])
def test_any_text_may_be_sent(value):
    with Mirrored(MERGE) as mirrored:
        assert mirrored.respond(remote("custom", value=value)) == {"accepted": True}
    assert mirrored.interview.outcome.responses[0].answer.custom == value


def test_a_request_is_answered_by_its_id():
    """Q76: settled once by its id, and an unknown id is told so."""
    with Mirrored(FORM) as mirrored:
        respond = mirrored.mirrors.respond
        assert respond("r2", None, pick(0))["reason"] == "unknown_request"
        assert respond(["r1"], None, pick(0))["reason"] == "unknown_request"
        for index in (1, 7, -1, "0", True, 0.0):
            assert respond("r1", index, pick(0)) == INVALID
        assert respond("r1", None, pick(0))["accepted"]
        assert respond("r1", 0, pick(0)) == ALREADY
        assert respond("r1", None, remote("submit", value="ledger"))["accepted"]
        assert respond("r1", 2, remote("cancel"))["accepted"]
        assert respond("r1", 2, remote("cancel")) == ALREADY
    assert mirrored.mirrors.open == ()


async def test_the_open_requests_are_there_for_who_comes_late():
    with Mirrored(FORM) as mirrored:
        assert [event.name for event in mirrored.mirrors.open] == [REQUEST]
        mirrored.interview.send(Next())
        assert [event.name for event in mirrored.mirrors.open] == [REQUEST, REQUEST, CUSTOM_INPUT_REQUEST]
        mirrored.interview.end(Status.CANCELLED)
        assert mirrored.mirrors.open == ()


# Together with a presenter.


@pytest.mark.parametrize("questionnaire", [MERGE, MULTI])
async def test_a_remote_answer_closes_the_local_dialog(questionnaire):
    """Q82: both sides race, the loser is told and closed."""
    presenter, mirrors, events, outcomes = HeldPresenter(), Mirrors(), [], []

    async def ask():
        outcomes.append(await Coordinator(presenter, mirrors=mirrors).ask(questionnaire))

    with anyio.fail_after(60), mirrors.listen(events.append):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await all_quiet()
            presenter.open.send(Draft("a draft"))
            index = {"optionIndex": 1} if questionnaire is MERGE else {"optionIndices": [1]}
            assert events[0].respond(remote("select", **index))["accepted"]
    assert presenter.open is None
    assert outcomes[0].responses[0].answer == Answer((1,))
    assert outcomes[0].responses[0].draft == "a draft"


async def test_an_answer_before_the_dialog_is_drawn_saves_drawing_it():
    presenter, mirrors = HeldPresenter(), Mirrors()
    with mirrors.listen(lambda event: event.respond and event.respond(pick(0))):
        outcome = await Coordinator(presenter, mirrors=mirrors).ask(MERGE)
    assert outcome.status is Status.ANSWERED
    assert presenter.asked == []


async def test_who_cannot_draw_waits_for_those_who_can_answer():
    """Q16: without an interface, a listener that may answer is awaited; without one it was never shown."""

    class Nowhere:
        async def present(self, interview):
            raise NoInterface("no terminal")

    for presenter in (None, Nowhere()):
        mirrors, events, outcomes = Mirrors(), [], []
        coordinator = Coordinator(presenter, mirrors=mirrors)

        async def ask(coordinator=coordinator, outcomes=outcomes):
            outcomes.append(await coordinator.ask(MERGE))

        with mirrors.listen(events.append, answers=False):
            await ask()
        assert outcomes[0].status is Status.NEVER_SHOWN
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                with mirrors.listen(events.append):
                    tasks.start_soon(ask)
                    await all_quiet()
                    assert len(outcomes) == 1
                    events[-1].respond(pick(0))
                    await all_quiet()
                    assert outcomes[1].status is Status.ANSWERED
                    tasks.start_soon(ask)
                    await all_quiet()
                    assert len(outcomes) == 2
        assert outcomes[2].status is Status.NEVER_SHOWN  # the last who could answer has gone


async def test_a_failure_is_told():
    class Broken:
        async def present(self, interview):
            raise RuntimeError("no pixels")

    with Mirrored(MERGE) as mirrored:
        [mirror] = mirrored.mirrors._open.values()
        outcome = await conduct(Broken(), mirrored.interview, mirror)
    assert outcome.status is Status.NEVER_SHOWN
    assert mirrored.names == ["request", "error", "closed"]
    assert "no pixels" in mirrored.data(ERROR)[0]["error"]
    assert mirrored.data(CLOSED)[0]["reason"] == "error"


async def test_disposing_is_told_as_the_end_of_the_session():
    presenter, mirrors, events = HeldPresenter(), Mirrors(), []
    with anyio.fail_after(60), mirrors.listen(events.append):
        async with anyio.create_task_group() as tasks:
            coordinator = Coordinator(presenter, mirrors=mirrors)
            tasks.start_soon(coordinator.ask, MERGE)
            await all_quiet()
            await coordinator.dispose()
    assert [event.name for event in events] == [REQUEST, CLOSED]
    assert events[-1].data["reason"] == "session_shutdown"


# What one side writes the other one reads.

QUESTIONS = st.sampled_from(
    [
        Question("Which?", (Option("A"), Option("B", "b")), custom=CustomRow("Own")),
        Question("Which?", (Option("A"), Option("B"))),
        Question("Which?", (Option("A"), Option("B")), multi_select=True, custom=CustomRow("Own")),
        Question("Name?"),
        Question("More?", required=False),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)
SENT = JSON | st.fixed_dictionaries(
    {
        "source": st.just("remote"),
        "kind": st.sampled_from(["select", "custom", "submit", "cancel", "skip"]) | JSON,
    },
    optional={"optionIndex": JSON, "optionIndices": JSON, "value": JSON},
)


@given(QUESTIONS, SENT, st.booleans())
def test_whatever_is_sent_is_read_or_refused(question, sent, custom_input):
    questionnaire = Questionnaire((question,))
    with Mirrored(questionnaire) as mirrored:
        mirrored.interview.send(Draft("x"))
        result = mirrored.mirrors.respond("r1", 0, sent)
        assert result["accepted"] == (mirrored.interview.outcome is not None)
    read = read_response(question, sent, custom_input=custom_input)
    if isinstance(read, Answer):
        data = json.loads(json.dumps(request_data(questionnaire, 0)))
        seen = question_of(data)
        assert (seen.text, len(seen.options), seen.takes_words) == (
            question.text,
            len(question.options),
            question.takes_words,
        )
        interview = Interview(questionnaire)
        interview.send(Give(read, BY))
        again = response_of(seen, (interview.outcome or interview.step).responses[0])
        assert read_response(question, again, custom_input=False) == read


def test_a_remote_answer_claims_no_preview_that_nobody_saw():
    options = (Option("A", preview="| a |"), Option("B"))
    asked = Questionnaire((Question("Which?", options), Question("Else?", (Option("A"), Option("B")))))
    with Mirrored(asked) as one:
        for index in (0, 1):
            assert one.mirrors.respond("r1", index, pick(1)) == {"accepted": True}
    assert [response.unshown for response in one.interview.outcome.responses] == [("previews",), ()]


def test_an_interrupt_in_a_listener_swallows_no_later_event():
    mirrors, heard = Mirrors(), []

    def interrupted(event):
        if event.name == "first":
            mirrors.emit(Event("within", {}))
            raise KeyboardInterrupt

    with mirrors.listen(interrupted), mirrors.listen(lambda event: heard.append(event.name)):
        with pytest.raises(KeyboardInterrupt):
            mirrors.emit(Event("first", {}))
        mirrors.emit(Event("later", {}))
    assert heard == ["first", "within", "later"]
