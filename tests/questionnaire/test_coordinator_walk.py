"""A walk of random steps through everything that can happen to a coordinator, at once and out of order."""

from collections import Counter

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from questionnaire.answers import check_outcome
from questionnaire.coordinator import Coordinator
from questionnaire.errors import NoInterface
from questionnaire.limits import TimeOut
from questionnaire.mirrors import CLOSED, REQUEST, RESOLVED, Mirrors
from questionnaire.model import Answer, CustomRow, Option, Question, Questionnaire, Status
from questionnaire.pending import Pending
from questionnaire.progress import Back, Draft, Escape, Give, GoTo, Next, Shown, Skip, Stop, Submit, Touch
from questionnaire.testing import BY, FakeClock, HeldPresenter

AB = (Option("A"), Option("B"))
PICK = Question("Which?", AB, custom=CustomRow("Own"))
FORM = (PICK, Question("Which ones?", AB, multi_select=True), Question("More?", required=False))
ASKED = [
    Questionnaire((PICK,)),
    Questionnaire((Question("Other?", AB),)),
    Questionnaire((Question("Words?"),), review=True),
    Questionnaire(FORM, review=True),
]
MOODS = ["prompt", "slow", "deaf", "leaves", "fails", "nowhere"]
ACTS = [
    *(Give(Answer((0,)), BY), Give(Answer((1,)), BY), Give(Answer(custom="own"), BY), Skip(BY)),
    *(Draft("half"), Touch(), Escape(), Stop(), Next(), Back(), GoTo(None), Submit(), Shown(0.0, 0)),
]
RESPONSES = [
    {"source": "remote", "kind": "select", "optionIndex": 1},
    {"source": "remote", "kind": "select", "optionIndices": [0, 1]},
    {"source": "remote", "kind": "custom", "value": "from afar"},
    {"source": "remote", "kind": "submit", "value": "from afar"},
    {"source": "remote", "kind": "skip"},
    {"source": "remote", "kind": "cancel"},
    {"source": "remote", "kind": "select", "optionIndex": 7},
    None,
]
NUMBER = st.integers(0, 9)
COMMON = [
    st.tuples(st.just("call"), st.integers(0, len(ASKED) - 1)),
    st.tuples(st.just("act"), st.sampled_from(ACTS)),
    st.tuples(st.just("respond"), NUMBER, st.sampled_from(RESPONSES)),
]
RARE = [
    *[st.tuples(st.just("abort"), NUMBER)] * 4,
    st.tuples(st.just("cancel"), st.none() | NUMBER),
    st.tuples(st.just("mood"), st.sampled_from(MOODS)),
    st.tuples(st.just("mood"), st.just("prompt")),
    st.tuples(st.just("listen"), st.booleans()),
    st.tuples(st.just("hand_over")),
    st.tuples(st.just("let_close")),
    st.tuples(st.just("wait"), st.sampled_from([1, 3, 20])),
]
STEP = st.sampled_from(COMMON * 10 + RARE).flatmap(lambda step: step)
# Each is followed by as many turns of the event loop: some steps meet tasks that are half-way.
STEPS = st.tuples(STEP, st.sampled_from([0, 1, 5, 30, 30]))


class Moody(HeldPresenter):
    """A presenter that behaves as it likes."""

    def __init__(self):
        super().__init__()
        self.mood = "prompt"
        self.seen = []
        self.gate = anyio.Event()

    async def present(self, interview):
        mood = self.mood
        self.seen.append(interview)
        if mood == "nowhere":
            raise NoInterface("no terminal")
        if mood == "fails":
            raise RuntimeError("broken")
        if mood == "leaves":
            interview.send(Shown(0.0, 0))
            return
        await super().present(interview)
        if mood == "slow":
            await self.gate.wait()
        elif mood == "deaf":
            await anyio.sleep_forever()


class MemoryStore:
    def __init__(self):
        self.kept = {}

    def put(self, pending: Pending):
        self.kept[pending.request_id] = pending

    def remove(self, request_id):
        del self.kept[request_id]

    def left_over(self):
        return ()


class Walk:
    def __init__(self, tasks, time_out):
        self.tasks = tasks
        self.clock, self.presenter, self.mirrors = FakeClock(), Moody(), Mirrors()
        self.store = MemoryStore()
        self.coordinator = Coordinator(
            self.presenter, mirrors=self.mirrors, time_out=time_out, store=self.store, timer=self.clock
        )
        self.calls, self.outcomes, self.handed = [], [], []
        self.events, self.accepted = [], Counter()
        self.busy = 0
        self.listening = None
        self.first_ends = {}

    async def run(self, steps, *, to_the_end):
        self.listen(True)
        for (name, *arguments), turns in steps:
            if name == "wait":
                await self.clock.advance(*arguments)
            else:
                getattr(self, name)(*arguments)
            for _ in range(turns):
                await checkpoint()
            self.check()
        self.let_close()
        if to_the_end:
            self.mood("prompt")
            while any(outcome is None for _, _, outcome in self.calls):
                self.act(Stop())
                for event in self.mirrors.open:  # what is asked where nothing can be drawn
                    event.respond({"source": "remote", "kind": "cancel"})
                await self.clock.advance(1)
                self.check()
        self.beside(self.coordinator.dispose)
        self.beside(self.coordinator.dispose)
        while self.busy or any(outcome is None for _, _, outcome in self.calls):
            await self.clock.advance(1)
            self.check()
        self.finish()

    def beside(self, function, *arguments):
        async def run():
            result = await function(*arguments)
            self.busy -= 1
            if isinstance(result, tuple):
                self.handed += result

        self.busy += 1
        self.tasks.start_soon(run)

    def call(self, which):
        questionnaire = ASKED[which]
        scope, number = anyio.CancelScope(), len(self.calls)
        self.calls.append((scope, questionnaire, None))

        async def call():
            outcome = "aborted"
            with scope:
                outcome = await self.coordinator.ask(questionnaire)
            self.calls[number] = (scope, questionnaire, outcome)

        self.tasks.start_soon(call)

    def act(self, act):
        interview = self.presenter.open
        if interview is not None:
            interview.send(Shown(0.0, interview.step.index))  # who acts has seen it
            interview.send(act)

    def respond(self, number, response):
        requests = [event for event in self.events if event.respond]
        if requests:
            event = requests[-1 - number % len(requests)]
            result = event.respond(response)
            key = event.data["requestId"], event.data["questionIndex"]
            self.accepted[key] += result["accepted"]

    def abort(self, number):
        live = [scope for scope, _, outcome in self.calls if outcome is None]
        if live:
            live[number % len(live)].cancel()

    def cancel(self, number):
        pending = self.coordinator.pending
        which = pending[number % len(pending)].request_id if pending and number is not None else None
        self.beside(self.coordinator.cancel, which)

    def mood(self, mood):
        self.presenter.mood = mood

    def listen(self, on):
        if self.listening is not None:
            self.listening.__exit__(None, None, None)
        self.listening = self.mirrors.listen(self.events.append, answers=on)
        self.listening.__enter__()

    def hand_over(self):
        self.beside(self.coordinator.hand_over)

    def let_close(self):
        self.presenter.gate.set()

    def check(self):
        """What holds at every moment."""
        for interview in self.presenter.seen:
            if interview.outcome is not None:
                first = self.first_ends.setdefault(id(interview), interview.outcome)
                assert interview.outcome is first, "it was settled twice"
        assert {pending.request_id for pending in self.coordinator.pending} <= set(self.store.kept)

    def finish(self):
        """What holds once all is over."""
        assert self.coordinator.pending == ()
        assert self.store.kept == {}
        assert self.presenter.open is None
        assert self.mirrors.open == ()
        for _, questionnaire, outcome in self.calls:
            if outcome != "aborted":
                if outcome.responses:
                    check_outcome(questionnaire, outcome)
                assert outcome.status is not Status.ANSWERED or all(
                    response.settled and response.shown_at is not None for response in outcome.responses
                )
        told = Counter(
            (event.name, event.data["requestId"], event.data.get("questionIndex"))
            for event in self.events
            if event.name in (REQUEST, RESOLVED, CLOSED)
        )
        assert set(told.values()) <= {1}
        requested = {request for name, request, _ in told if name == REQUEST}
        assert requested == {request for name, request, _ in told if name == CLOSED}
        assert set(self.accepted.values()) <= {0, 1}
        assert len({pending.request_id for pending in self.handed}) == len(self.handed)


async def walk(steps, time_out, to_the_end):
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            await Walk(tasks, time_out).run(steps, to_the_end=to_the_end)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@given(
    steps=st.lists(STEPS, min_size=1, max_size=120) | st.lists(STEPS, min_size=50, max_size=120),
    time_out=st.sampled_from([None, TimeOut(15), TimeOut(15, "cancel"), TimeOut(15, "wait")]),
    to_the_end=st.booleans(),
)
@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink a walk that hangs takes minutes
)
def test_every_call_ends_once_and_nothing_is_left(backend, steps, time_out, to_the_end):
    """Q74, Q75, Q76, Q82, Q83: in any order, nothing is settled twice and nobody waits for ever."""
    anyio.run(walk, steps, time_out, to_the_end, backend=backend)
