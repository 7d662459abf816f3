"""The elicitation presenter, on a client in memory: forms come and go with their questions."""

import anyio
import pytest

from questionnaire.answers import check_outcome
from questionnaire.coordinator import Coordinator, conduct
from questionnaire.errors import ClientLost, NoInterface
from questionnaire.model import Answer, Input, Option, Provenance, Question, Questionnaire, Status
from questionnaire.presenters.elicitation import ElicitationPresenter
from questionnaire.presenters.flat_forms import FormAction, FormDialect, FormReply
from questionnaire.progress import Give, Interview, Shown, Submit
from questionnaire.testing import all_quiet

pytestmark = pytest.mark.anyio

CITY = Question("City?", (Option("Oslo"), Option("Lima")))
NAME = Question("Name?")
BOTH = Questionnaire((CITY, NAME), review=True)
REMOTE = Provenance("mirror", Input.REMOTE, at=0.0, remote_id="another")


class Client:
    """Shows forms to a test, which replies, or raises what it is given."""

    dialect = FormDialect.TITLED

    def __init__(self):
        self.shown = []
        self.taken_away = 0
        self._send, self._receive = anyio.create_memory_object_stream(10)

    async def elicit(self, form, /):
        self.shown.append(form)
        try:
            reply = await self._receive.receive()
        except anyio.get_cancelled_exc_class():
            self.taken_away += 1
            raise
        if isinstance(reply, Exception):
            raise reply
        return reply

    def reply(self, reply):
        self._send.send_nowait(reply)

    def accept(self, **content):
        self.reply(FormReply(FormAction.ACCEPT, content))


@pytest.fixture
def client():
    client = Client()
    with client._send, client._receive:
        yield client


def presenter_of(client):
    return ElicitationPresenter(lambda: client)


async def test_all_questions_are_on_one_form_and_its_answers_are_evidence(client):
    interview = Interview(BOTH)
    client.accept(question_1="Lima", question_2="Ann")
    await presenter_of(client).present(interview)
    assert len(client.shown) == 1
    assert interview.outcome.status is Status.ANSWERED
    assert [response.answer for response in interview.outcome.responses] == [
        Answer((1,)),
        Answer(custom="Ann"),
    ]
    check_outcome(BOTH, interview.outcome)
    assert {response.by.surface for response in interview.outcome.responses} == {"elicitation"}


async def test_what_another_answers_meanwhile_is_taken_off_the_form(client):
    interview = Interview(BOTH)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(presenter_of(client).present, interview)
        await all_quiet()
        interview.send(Give(Answer((0,)), REMOTE, index=0))
        await all_quiet()
        assert client.taken_away == 1
        assert list(client.shown[1].schema["properties"]) == ["question_2"]
        client.accept(question_2="Ann")
    assert interview.outcome.status is Status.ANSWERED
    assert interview.outcome.responses[0].by == REMOTE


async def test_what_another_answers_last_closes_the_form(client):
    interview = Interview(Questionnaire((CITY,)))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(presenter_of(client).present, interview)
        await all_quiet()
        interview.send(Give(Answer((0,)), REMOTE, index=0))
        interview.send(Submit())
    assert client.taken_away == 1
    assert len(client.shown) == 1


@pytest.mark.parametrize("status", [Status.CANCELLED, Status.TIMED_OUT, Status.SUPERSEDED])
async def test_an_end_from_outside_takes_the_form_away(client, status):
    interview = Interview(BOTH)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(presenter_of(client).present, interview)
        await all_quiet()
        interview.end(status)
    assert client.taken_away == 1
    assert interview.outcome.status is status


async def test_an_end_that_was_there_before_shows_nothing(client):
    interview = Interview(BOTH)
    interview.end(Status.CANCELLED)
    await presenter_of(client).present(interview)
    assert client.shown == []


async def test_a_form_that_cannot_be_shown_is_never_an_answer(client):
    client.reply(NoInterface("no forms here"))
    outcome = await conduct(presenter_of(client), Interview(BOTH))
    assert outcome.status is Status.NEVER_SHOWN
    assert outcome.reason == "no forms here"


async def test_a_client_that_is_lost_ends_it_as_cancelled_with_what_was_answered(client):
    client.accept(question_1="Lima")
    client.reply(ClientLost("it has gone"))
    outcome = await conduct(presenter_of(client), Interview(BOTH))
    assert outcome.status is Status.CANCELLED
    assert outcome.responses[0].answer == Answer((1,))
    assert outcome.reason == "it has gone"


async def test_a_second_form_that_cannot_be_shown_ends_it_as_cancelled(client):
    client.accept(question_1="Lima")
    client.reply(NoInterface("no forms any more"))
    outcome = await conduct(presenter_of(client), Interview(BOTH))
    assert outcome.status is Status.CANCELLED
    assert outcome.responses[0].answer == Answer((1,))


async def test_without_a_client_nobody_is_asked():
    outcome = await conduct(ElicitationPresenter(lambda: None), Interview(BOTH))
    assert outcome.status is Status.NEVER_SHOWN


async def test_a_receipt_for_each_question_stands_before_the_form_is_answered(client):
    interview = Interview(BOTH)
    receipts = []
    async with anyio.create_task_group() as tasks:
        with interview.watch(lambda act: isinstance(act, Shown) and receipts.append(act.index)):
            tasks.start_soon(presenter_of(client).present, interview)
            await all_quiet()
            assert receipts == [0, 1]
            client.reply(FormReply(FormAction.DECLINE))
            await all_quiet()


async def test_cancelling_the_last_call_takes_the_form_away(client):
    async with Coordinator(presenter_of(client)) as coordinator:
        async with anyio.create_task_group() as calls:
            calls.start_soon(coordinator.ask, BOTH)
            await all_quiet()
            calls.cancel_scope.cancel()
        assert client.taken_away == 1
        client.accept(question_1="Lima", question_2="Ann")
        assert (await coordinator.ask(BOTH)).status is Status.ANSWERED
