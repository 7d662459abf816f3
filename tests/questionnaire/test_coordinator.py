"""One at a time, settled once, and never left pending."""

from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import pytest
from anyio import create_task_group, fail_after, sleep_forever

from questionnaire.contracts import CONTRACTS
from questionnaire.coordinator import Coordinator
from questionnaire.errors import NoInterface
from questionnaire.limits import TimeOut
from questionnaire.mirrors import Mirrors
from questionnaire.model import Answer, CustomRow, Input, Option, Question, Questionnaire, Status
from questionnaire.progress import Draft, Give, Shown, Skip, Touch
from questionnaire.testing import BY, FakeClock, HeldPresenter, ScriptedPresenter, all_quiet

pytestmark = pytest.mark.anyio

AB = (Option("A"), Option("B"))
A, B = Answer((0,)), Answer((1,))


def ask_one(text):
    return Questionnaire((Question(text, AB, custom=CustomRow("Own")),))


ONE, TWO, THREE = map(ask_one, ("One?", "Two?", "Three?"))
FORM = Questionnaire(
    (Question("First?", AB), Question("Then?"), Question("More?", required=False)), review=True
)


class Calls:
    """Calls of a coordinator that run beside the test, and the outcomes they came to."""

    def __init__(self, coordinator, tasks):
        self.coordinator, self.tasks = coordinator, tasks
        self.outcomes, self.scopes, self.gone = {}, {}, {}

    async def start(self, name, questionnaire, **options):
        self.scopes[name], self.gone[name] = anyio.CancelScope(), anyio.Event()

        async def call():
            with self.scopes[name]:
                self.outcomes[name] = await self.coordinator.ask(questionnaire, **options)
            self.gone[name].set()

        self.tasks.start_soon(call)
        await all_quiet()

    async def abort(self, name):
        self.scopes[name].cancel()
        await self.gone[name].wait()
        await all_quiet()

    @property
    def statuses(self):
        return {name: outcome.status.value for name, outcome in self.outcomes.items()}


@asynccontextmanager
async def calling(presenter, **options):
    with fail_after(60):
        async with create_task_group() as tasks:
            yield Calls(Coordinator(presenter, **options), tasks)


async def act(presenter, *acts):
    for one in acts:
        presenter.open.send(one)
    await all_quiet()


async def test_first_in_first_out_and_one_at_a_time():
    """Q74: a second call never takes the place of the one that is being answered."""
    presenter = HeldPresenter()
    async with calling(presenter) as calls:
        for number, questionnaire in enumerate((ONE, TWO, THREE)):
            await calls.start(number, questionnaire)
        await act(presenter, Draft("half a thought"))
        assert [pending.questionnaire for pending in calls.coordinator.pending] == [ONE, TWO, THREE]
        assert calls.coordinator.pending[0].responses[0].draft == "half a thought"
        assert calls.coordinator.pending[1].responses[0].draft == ""
        for answer in (A, B, A):
            await act(presenter, Give(answer, BY))
    assert presenter.asked == [ONE, TWO, THREE]
    assert [calls.outcomes[number].responses[0].answer for number in range(3)] == [A, B, A]
    assert calls.coordinator.pending == ()


async def test_the_same_question_is_joined_and_shown_once():
    """Q71: who asks what is being asked already waits for the same answer."""
    presenter = HeldPresenter()
    async with calling(presenter) as calls:
        await calls.start("a", ONE)
        await calls.start("b", ask_one("One?"))
        await calls.start("other kind", ONE, kind="form")
        assert len(calls.coordinator.pending) == 2
        await act(presenter, Give(A, BY))
        assert calls.outcomes["a"] is calls.outcomes["b"]
        await act(presenter, Give(B, BY))
    assert len(presenter.asked) == 2


async def test_one_of_two_callers_may_go_and_the_other_gets_the_answer():
    presenter = HeldPresenter()
    async with calling(presenter) as calls:
        await calls.start("a", ONE)
        await calls.start("b", ONE)
        await act(presenter, Draft("kept"))
        await calls.abort("a")
        assert presenter.open.step.responses[0].draft == "kept"
        await act(presenter, Give(B, BY))
    assert calls.statuses == {"b": "answered"}


@pytest.mark.parametrize("aborted", ["open", "queued"])
async def test_an_aborted_call_is_settled_and_the_others_go_on(aborted):
    """Q88: every abort path settles its call."""
    presenter = HeldPresenter()
    async with calling(presenter) as calls:
        await calls.start("open", ONE)
        await calls.start("queued", TWO)
        await calls.abort(aborted)
        assert len(calls.coordinator.pending) == 1
        await act(presenter, Give(A, BY))
    [(name, outcome)] = calls.outcomes.items()
    assert (name != aborted, outcome.status) == (True, Status.ANSWERED)


async def test_a_queued_call_is_cancelled_at_once():
    presenter = HeldPresenter()
    async with calling(presenter) as calls:
        await calls.start("open", ONE)
        await calls.start("queued", TWO)
        request = calls.coordinator.pending[1].request_id
        assert await calls.coordinator.cancel(request, "no longer needed")
        await all_quiet()
        assert calls.outcomes["queued"].reason == "no longer needed"
        assert not await calls.coordinator.cancel(request)
        await act(presenter, Give(A, BY))
    assert calls.statuses == {"queued": "cancelled", "open": "answered"}
    assert presenter.asked == [ONE]


async def test_an_interrupt_settles_the_whole_queue():
    """Q75: nothing that was queued waits for ever."""
    presenter = HeldPresenter()
    async with calling(presenter) as calls:
        for number, questionnaire in enumerate((ONE, TWO, THREE)):
            await calls.start(number, questionnaire)
        assert await calls.coordinator.cancel(reason="interrupted")
        assert presenter.open is None
        await all_quiet()
        assert set(calls.statuses.values()) == {"cancelled"}
        assert calls.coordinator.pending == ()
        await calls.start("next", ONE)
        await act(presenter, Give(A, BY))
    assert calls.statuses["next"] == "answered"


async def test_dispose_settles_everything_and_waits_for_the_presenter():
    class Slow(HeldPresenter):
        async def present(self, interview):
            await super().present(interview)
            closing.set()
            await may_close.wait()
            self.closed = True

    closing, may_close, presenter = anyio.Event(), anyio.Event(), Slow()
    async with calling(presenter) as calls:
        await calls.start("open", ONE)
        await calls.start("queued", TWO)
        disposed = []

        async def dispose():
            await calls.coordinator.dispose()
            disposed.append(presenter.closed)

        calls.tasks.start_soon(dispose)
        await closing.wait()
        await all_quiet()
        assert calls.statuses == {"queued": "cancelled"}
        assert not disposed
        may_close.set()
        await all_quiet()
        assert disposed == [True]
        await calls.start("late", THREE)
    assert calls.statuses == {"queued": "cancelled", "open": "cancelled", "late": "cancelled"}
    assert presenter.asked == [ONE]
    assert calls.coordinator.pending == ()
    await calls.coordinator.dispose()


async def test_leaving_the_block_disposes():
    presenter = HeldPresenter()
    with fail_after(60):
        async with create_task_group() as tasks, Coordinator(presenter) as coordinator:
            tasks.start_soon(coordinator.ask, ONE)
            await all_quiet()
    assert presenter.open is None


async def test_a_hand_over_takes_the_open_and_the_queued_drafts_included():
    """Q85: while something else asks, no dialog is left that only a keyboard can answer."""
    presenter = HeldPresenter()
    async with calling(presenter) as calls:
        await calls.start("open", FORM, kind="form", tool_call_id="call-7")
        await calls.start("queued", TWO)
        await act(presenter, Give(A, BY), Draft("led"))
        first, second = await calls.coordinator.hand_over("voice has taken over")
        assert presenter.open is None
    assert (first.questionnaire, first.kind, first.tool_call_id) == (FORM, "form", "call-7")
    assert (first.responses[0].answer, first.responses[1].draft) == (A, "led")
    assert second.questionnaire == TWO
    assert calls.statuses == {"open": "superseded", "queued": "superseded"}
    assert calls.outcomes["open"].responses == first.responses
    assert calls.outcomes["open"].reason == "voice has taken over"
    assert await calls.coordinator.hand_over() == ()


async def test_what_is_risky_is_not_handed_over_and_waits_for_its_own_answer():
    presenter = HeldPresenter()
    async with calling(presenter) as calls:
        await calls.start("risky", replace(ONE, risky=True))
        await calls.start("queued", TWO)
        (taken,) = await calls.coordinator.hand_over()
        assert taken.questionnaire == TWO
        await act(presenter, Give(B, BY))
    assert calls.statuses == {"risky": "answered", "queued": "superseded"}


async def test_a_settled_request_stays_settled():
    """Q83: the first settlement is final, also while its dialog is still closing."""

    class Closing(HeldPresenter):
        async def present(self, interview):
            await super().present(interview)
            await may_close.wait()

    may_close, presenter = anyio.Event(), Closing()
    async with calling(presenter) as calls:
        await calls.start("a", ONE)
        interview = presenter.open
        await act(presenter, Give(A, BY))
        assert calls.coordinator.pending == ()
        calls.tasks.start_soon(calls.coordinator.hand_over)
        calls.tasks.start_soon(calls.coordinator.cancel)
        await all_quiet()
        assert not interview.send(Give(B, BY))
        may_close.set()
    assert calls.statuses == {"a": "answered"}
    assert calls.outcomes["a"].responses[0].answer == A


# Presenters that are not as they should be.


class Misbehaving:
    def __init__(self, *acts, error=None):
        self.acts, self.error = acts, error

    async def present(self, interview):
        for one in self.acts:
            interview.send(one)
        if self.error:
            raise self.error


SHOWN = Shown(0.0, 0)


@pytest.mark.parametrize(
    ("presenter", "status"),
    [
        (None, Status.NEVER_SHOWN),
        (Misbehaving(error=NoInterface("no terminal")), Status.NEVER_SHOWN),
        (Misbehaving(), Status.NEVER_SHOWN),
        (Misbehaving(error=RuntimeError("broken")), Status.NEVER_SHOWN),
        (Misbehaving(SHOWN), Status.CANCELLED),
        (Misbehaving(SHOWN, error=RuntimeError("broken")), Status.CANCELLED),
        (Misbehaving(SHOWN, Give(A, BY), error=RuntimeError("broken")), Status.ANSWERED),
    ],
)
@pytest.mark.parametrize("contract", CONTRACTS)
async def test_a_call_that_nobody_answered_is_never_an_answer(presenter, status, contract, caplog):
    """Q1, Q4, Q8, Q14, Q16: without a receipt it was never shown, which is an error and no refusal."""
    outcome = await Coordinator(presenter).ask(ONE)
    assert outcome.status is status
    result = CONTRACTS[contract].result(ONE, outcome)
    assert result.is_error is (status is Status.NEVER_SHOWN)
    if status is not Status.ANSWERED:
        assert "declined" not in result.text
        assert result.details["cancelled"] is True
        assert "has answered" not in result.text


async def test_a_presenter_that_fails_leaves_room_for_the_next():
    class Once(ScriptedPresenter):
        async def present(self, interview):
            if not self.asked:
                self.asked.append(interview.questionnaire)
                raise OSError("the screen is gone")
            await super().present(interview)

    with Once(["2"]) as presenter:
        coordinator = Coordinator(presenter)
        assert (await coordinator.ask(ONE)).reason.startswith("the presenter failed: OSError")
        assert (await coordinator.ask(TWO)).responses[0].answer == B


async def test_a_presenter_that_does_not_close_is_cancelled(caplog):
    class Deaf(HeldPresenter):
        async def present(self, interview):
            interview.send(SHOWN)
            self.open = interview
            await sleep_forever()

    presenter, clock = Deaf(), FakeClock()
    async with calling(presenter, timer=clock) as calls:
        await calls.start("a", ONE)
        await act(presenter, Give(A, BY))
        assert not calls.outcomes
        await clock.advance(2.0)
    assert calls.statuses == {"a": "answered"}
    assert "did not close after the end" in caplog.text


async def test_a_skip_says_who_skipped_and_when():
    """Q11, Q12: only a person skips, and the record says how."""
    presenter = HeldPresenter()
    async with calling(presenter) as calls:
        await calls.start("a", Questionnaire((Question("More?", required=False),)))
        await act(presenter, Skip(BY))
    [response] = calls.outcomes["a"].responses
    assert (response.skipped, response.by, response.shown_at) == (True, BY, 0.0)


# Time.


async def test_by_default_it_waits_for_ever():
    """Q19, Q22: no time ever passes that would end it, or pick anything."""
    presenter, clock = HeldPresenter(), FakeClock()
    async with calling(presenter, timer=clock) as calls:
        await calls.start("a", ONE)
        await clock.advance(10_000_000)
        assert not calls.outcomes
        await act(presenter, Give(A, BY))
    assert calls.statuses == {"a": "answered"}


@pytest.mark.parametrize(("then", "status"), [("cancel", "cancelled"), ("unanswered", "timed_out")])
async def test_the_time_that_was_set_is_the_time_that_passes(then, status):
    """Q24, Q25: the setting is honoured to the second, says how it ends, and is told in the outcome."""
    presenter, clock = HeldPresenter(), FakeClock()
    async with calling(presenter, timer=clock, time_out=TimeOut(45, then)) as calls:
        await calls.start("a", ONE)
        await clock.advance(44.9)
        assert not calls.outcomes
        await clock.advance(0.2)
        assert presenter.open is None
    assert calls.statuses == {"a": status}
    assert "45 s, the limit in the user's settings" in calls.outcomes["a"].reason
    assert calls.outcomes["a"].responses[0].answer is None


@pytest.mark.parametrize("sign", [Draft("x"), Touch(), Draft(ticked=(1,))])
async def test_any_sign_of_life_begins_the_time_anew(sign):
    """Q21: whoever types is not cut off, and what they typed is returned as a draft."""
    presenter, clock = HeldPresenter(), FakeClock()
    async with calling(presenter, timer=clock, time_out=TimeOut(10)) as calls:
        await calls.start("a", ONE)
        for _ in range(5):
            await clock.advance(9)
            await act(presenter, sign)
        assert not calls.outcomes
        await clock.advance(9)
        await act(presenter, Shown(1.0, 0))  # a redraw is no sign of life
        await clock.advance(1)
    assert calls.statuses == {"a": "timed_out"}
    if isinstance(sign, Draft):
        assert calls.outcomes["a"].responses[0].draft == sign.text


async def test_the_time_in_the_queue_does_not_count():
    presenter, clock = HeldPresenter(), FakeClock()
    async with calling(presenter, timer=clock, time_out=TimeOut(10)) as calls:
        await calls.start("a", ONE)
        await calls.start("b", TWO)
        await clock.advance(9)
        await act(presenter, Give(A, BY))
        await clock.advance(9)
        assert "b" not in calls.outcomes
        await clock.advance(1)
    assert calls.statuses == {"a": "answered", "b": "timed_out"}


async def test_the_time_may_only_remind():
    """Q27: whoever missed the dialog is called again, and it stays."""

    class Called:
        calls, released = 0, 0

        async def call(self, label):
            self.calls += 1

        async def release(self):
            self.released += 1

    presenter, clock, attention = HeldPresenter(), FakeClock(), Called()
    time_out = TimeOut(10, "wait")
    async with calling(presenter, timer=clock, time_out=time_out, attention=[attention]) as calls:
        await calls.start("a", ONE)
        for _ in range(3):
            await clock.advance(10)
        assert attention.calls == 4
        await act(presenter, Give(A, BY))
    assert calls.statuses == {"a": "answered"}
    assert attention.released == 1


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("name", ["timeout", "timeoutMs", "autoResolutionMs", "timeout_s"])
def test_a_model_cannot_set_a_time(contract, name):
    """Q23: no contract offers it, and sent all the same it changes nothing."""
    question = {"question": "Q?", "id": "q", "type": "select", "header": "H"}
    question["options"] = [{"label": "A", "value": "a"}, {"label": "B", "value": "b"}]

    def read(asked):
        return CONTRACTS[contract].read(asked if contract == "user_select" else {"questions": [asked]})

    assert name not in str(CONTRACTS[contract].tool.parameters)
    assert read(question | {name: 1}).questions == read(question).questions


@pytest.mark.parametrize("arguments", [(0,), (-1,), (float("inf"),), (float("nan"),), (5, "recommended")])
def test_a_time_out_never_picks(arguments):
    """Q18: there is no setting that answers for the user."""
    with pytest.raises(ValueError, match="time-out"):
        TimeOut(*arguments)


@pytest.mark.parametrize("contract", CONTRACTS)
async def test_the_text_of_a_time_out_is_no_licence(contract):
    """Q20: unanswered is told as unanswered."""
    presenter, clock = HeldPresenter(), FakeClock()
    async with calling(presenter, timer=clock, time_out=TimeOut(10)) as calls:
        await calls.start("a", ONE)
        await clock.advance(10)
    text = CONTRACTS[contract].result(ONE, calls.outcomes["a"]).text.lower()
    for licence in ("judg", "proceed", "recommended", "best", "continue", "assum"):
        assert licence not in text


async def test_a_remote_answer_is_recorded_as_one():
    """Q22: time and the record are the same for every surface."""

    def answer(event):
        if event.respond:
            event.respond({"source": "remote", "kind": "select", "optionIndex": 1})

    mirrors = Mirrors()
    with mirrors.listen(answer):
        outcome = await Coordinator(HeldPresenter(), mirrors=mirrors).ask(ONE)
    assert outcome.responses[0].by.input is Input.REMOTE
    assert outcome.responses[0].shown_at is not None


async def test_one_that_has_ended_and_is_still_closing_is_not_joined():
    may_close, shown = anyio.Event(), []

    class Slow:
        async def present(self, interview):
            shown.append(interview)
            interview.send(Shown(BY.at, 0))
            interview.send(Give(A if len(shown) == 1 else B, BY))
            if len(shown) == 1:
                await may_close.wait()

    async with calling(Slow()) as run:
        await run.start("before", ONE)
        await run.start("again", ONE)
        assert run.outcomes == {}
        may_close.set()
        await all_quiet()
        assert [run.outcomes[name].responses[0].answer for name in ("before", "again")] == [A, B]
        assert run.coordinator.pending == ()
        await run.start("once more", ONE)
        assert run.outcomes["once more"].responses[0].answer == B
    assert len(shown) == 3
