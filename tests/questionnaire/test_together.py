"""Several presenters with one interview: the first answer counts, and one that fails leaves the others."""

from contextlib import asynccontextmanager

import anyio
import pytest

from questionnaire import (
    Answer,
    Give,
    Interview,
    LinearPresenter,
    NoInterface,
    Option,
    Question,
    Questionnaire,
    Status,
    TogetherPresenter,
)
from questionnaire.presenters.terminal import INTERRUPTED
from questionnaire.testing import BY, HeldPresenter, ScriptedLines, ScriptedPresenter, all_quiet

pytestmark = pytest.mark.anyio

CITY = Questionnaire((Question("City?", (Option("Oslo"), Option("Lima"))),))


class Nobody:
    async def present(self, interview):
        raise NoInterface("nobody is here")


class Broken:
    async def present(self, interview):
        raise RuntimeError("a fault")


class Losing:
    """Its surface goes away when it is told."""

    def __init__(self):
        self.told = anyio.Event()
        self.returned = False

    async def present(self, interview):
        await self.told.wait()
        assert interview.end(Status.CANCELLED, "unplugged")
        assert interview.outcome.status is Status.CANCELLED
        assert not interview.end(Status.CANCELLED, "twice")
        assert not interview.send(Give(Answer((0,)), BY))
        self.returned = True


@asynccontextmanager
async def presented(*presenters):
    interview = Interview(CITY)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(TogetherPresenter(*presenters).present, interview)
        await all_quiet()
        yield interview
        await all_quiet()
        tasks.cancel_scope.cancel()


async def test_the_first_answer_counts_and_takes_it_off_every_surface():
    one, other = HeldPresenter(), HeldPresenter()
    async with presented(one, other) as interview:
        assert one.open is not None
        assert other.open is not None
        other.open.send(Give(Answer((1,)), BY))
        await all_quiet()
        assert (one.open, other.open) == (None, None)
        assert interview.outcome.responses[0].answer == Answer((1,))


async def test_what_is_typed_on_one_is_the_answer_of_all():
    lines, held = ScriptedLines("2"), HeldPresenter()
    with lines:
        async with presented(LinearPresenter(lines), held) as interview:
            assert interview.outcome.status is Status.ANSWERED
            assert held.open is None


@pytest.mark.parametrize("failing", [Nobody, Broken])
async def test_one_that_fails_leaves_the_others_going(failing):
    held = HeldPresenter()
    async with presented(failing(), held) as interview:
        assert interview.outcome is None
        held.open.send(Give(Answer((0,)), BY))
        await all_quiet()
        assert interview.outcome.status is Status.ANSWERED


async def test_a_surface_that_goes_away_ends_it_only_as_the_last_one():
    losing, last, held = Losing(), Losing(), HeldPresenter()
    async with presented(losing, held) as interview:
        losing.told.set()
        await all_quiet()
        assert losing.returned
        assert interview.outcome is None
        held.open.send(Give(Answer((0,)), BY))
    assert interview.outcome.status is Status.ANSWERED
    async with presented(Nobody(), last) as interview:
        last.told.set()
        await all_quiet()
        assert interview.outcome.status is Status.CANCELLED
        assert interview.outcome.reason == "unplugged"


async def test_ctrl_c_on_one_of_them_is_a_person_who_ends_it_on_all():
    one, other = HeldPresenter(), HeldPresenter()
    async with presented(one, other) as interview:
        assert one.open.end(Status.CANCELLED, INTERRUPTED)
        await all_quiet()
        assert (one.open, other.open) == (None, None)
        assert (interview.outcome.status, interview.outcome.reason) == (Status.CANCELLED, INTERRUPTED)


async def test_where_nobody_is_on_any_of_them_it_says_so():
    interview = Interview(CITY)
    with pytest.raises(NoInterface, match="nobody is here"):
        await TogetherPresenter(Nobody(), Nobody()).present(interview)
    assert interview.outcome is None


async def test_a_fault_is_raised_where_no_surface_is_left():
    with pytest.raises(RuntimeError, match="a fault"):
        await TogetherPresenter(Nobody(), Broken()).present(Interview(CITY))


async def test_cancelling_takes_it_off_every_surface():
    one, other = HeldPresenter(), HeldPresenter()
    async with presented(one, other):
        pass
    assert (one.cancelled, other.cancelled) == (1, 1)


async def test_an_end_from_outside_reaches_all():
    one, other = HeldPresenter(), HeldPresenter()
    async with presented(one, other) as interview:
        interview.end(Status.TIMED_OUT)
        await all_quiet()
        assert (one.open, other.open) == (None, None)


async def test_only_a_person_ends_it_as_answered():
    class Inventing:
        async def present(self, interview):
            interview.end(Status.ANSWERED)

    with pytest.raises(ValueError, match="own acts"):
        await TogetherPresenter(Inventing()).present(Interview(CITY))


async def test_one_alone_is_as_it_would_be_without():
    with ScriptedPresenter("Lima") as scripted:
        interview = Interview(CITY)
        await TogetherPresenter(scripted).present(interview)
        assert interview.outcome.responses[0].answer == Answer((1,))


def test_without_any_there_is_nothing_to_present_on():
    with pytest.raises(ValueError, match="at least one"):
        TogetherPresenter()
