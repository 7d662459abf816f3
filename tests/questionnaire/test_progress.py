"""The order of questions, without any surface: what is shown next after what the user did."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire.answers import check_outcome
from questionnaire.model import (
    Answer,
    CustomRow,
    Input,
    Option,
    Provenance,
    Question,
    Questionnaire,
    Response,
    State,
    Status,
)
from questionnaire.progress import (
    Back,
    Draft,
    Escape,
    Give,
    GoTo,
    Interview,
    Next,
    Note,
    Shown,
    Skip,
    Stay,
    Stop,
    Submit,
    Touch,
    progress,
)
from questionnaire.testing import BY

AB = (Option("A"), Option("B"))
PICK = Question("Which?", AB, custom=CustomRow("Own"))
TICK = Question("Which ones?", AB, multi_select=True, custom=CustomRow("Own"))
TEXT = Question("Name?")
OPTIONAL = Question("Anything else?", required=False)
FORM = Questionnaire((PICK, TICK, TEXT, OPTIONAL), review=True)
ONE = Questionnaire((PICK,))
A, B, WORDS = Answer((0,)), Answer((1,)), Answer(custom="words")


def give(answer, **places):
    return Give(answer, BY, **places)


SKIP = Skip(BY)


def after(questionnaire, *acts, responses=()):
    """The interview after these acts, each question shown as it comes up."""
    interview = Interview(questionnaire, responses)
    for act in acts:
        interview.send(Shown(0.0, interview.step.index))
        assert interview.send(act)
    return interview


def states(interview):
    return [response.state for response in interview.step.responses]


def test_one_pick_of_one_question_is_the_end():
    interview = after(ONE, give(B))
    assert interview.outcome.status is Status.ANSWERED
    assert interview.outcome.responses == (Response(B, shown_at=0.0, by=BY),)


def test_the_questions_follow_each_other_to_the_review_and_are_sent_from_there():
    interview = Interview(FORM)
    visited = []
    for act in (give(A), give(Answer((0, 1), "c")), give(WORDS), SKIP, Submit()):
        visited.append(interview.step.index)
        interview.send(Shown(0.0, interview.step.index))
        interview.send(act)
    assert visited == [0, 1, 2, 3, None]
    assert interview.outcome.status is Status.ANSWERED
    check_outcome(FORM, interview.outcome)
    assert [r.state for r in interview.outcome.responses] == [State.ANSWERED] * 3 + [State.SKIPPED]
    assert interview.outcome.responses[3].by == BY  # a skip says who and when, like an answer


def test_moving_about():
    interview = after(FORM)
    for act, index in (
        (Back(), 0),
        (Next(), 1),
        (Next(), 2),
        (Back(), 1),
        (GoTo(3), 3),
        (Next(), None),
        (Next(), None),
        (Back(), 3),
        (GoTo(None), None),
        (GoTo(9), None),
        (GoTo(-1), None),
        (GoTo(0), 0),
        (Stay(), 0),
    ):
        interview.send(act)
        assert interview.step.index == index, act


def test_without_a_review_there_is_none_to_go_to():
    interview = after(ONE, Next(), GoTo(None), Back())
    assert interview.step.index == 0
    assert interview.outcome is None


def test_an_answer_may_name_where_to_go_next():
    assert after(FORM, Next(), give(A, then=Back())).step.index == 0
    assert after(FORM, give(A, then=GoTo(None))).step.index is None
    assert after(FORM, give(A, then=Stay())).step.index == 0


def test_from_the_review_each_answer_can_be_changed_and_one_comes_back_to_it():
    answered = (give(A), give(A), give(WORDS), SKIP)
    interview = after(FORM, *answered, GoTo(0), give(B))
    assert interview.step.index is None
    assert interview.step.responses[0].answer == B
    interview.send(GoTo(3))
    interview.send(give(Answer(custom="yes")))
    assert interview.step.index is None
    assert states(interview) == [State.ANSWERED] * 4


def test_sending_with_a_question_open_goes_there_and_says_so():
    interview = after(FORM, give(A), GoTo(None), Submit())
    assert (interview.step.index, interview.step.notice) == (1, "Question 2 has no answer yet.")
    interview = after(FORM, give(A), give(A), give(WORDS), GoTo(None), Submit())
    assert interview.step.index == 3
    assert interview.step.notice == "Question 4 is optional, but still open: answer it or skip it."


def test_sending_from_a_question_goes_to_the_review_first():
    interview = after(FORM, give(A), give(A), give(WORDS), SKIP, GoTo(0), Submit())
    assert (interview.step.index, interview.outcome) == (None, None)


def test_several_questions_without_a_review_end_with_the_last_open_one():
    several = Questionnaire((PICK, TEXT))
    assert after(several, Next(), give(WORDS)).step.index == 0
    assert after(several, Next(), give(WORDS), give(A)).step.index == 1  # on, to look at it again
    assert after(several, give(A), give(WORDS)).outcome.status is Status.ANSWERED


@pytest.mark.parametrize(
    ("act", "notice"),
    [
        (SKIP, "This question needs an answer; it cannot be skipped."),
        (give(Answer()), "The answer holds nothing."),
        (give(Answer((2,))), "The answer names an option that does not exist."),
        (give(A, index=9), "There is no question 10."),
        (Draft("x", ticked=(5,)), "There is no such option."),
        (Note("x", option=-1), "There is no such option."),
    ],
)
def test_what_cannot_be_gets_a_notice_and_changes_nothing(act, notice):
    interview = after(FORM, act)
    assert interview.step.notice == notice
    assert (interview.step.index, states(interview)) == (0, [State.UNTOUCHED] * 4)
    interview.send(Touch())
    assert interview.step.notice == ""


def test_the_review_has_nothing_to_answer():
    assert after(FORM, GoTo(None), give(A)).step.notice.startswith("This is the review")


def test_drafts_stay_with_their_question_through_all_moves():
    interview = after(
        FORM, Draft("own"), Next(), Draft("docs", ticked=(1, 0, 1)), Next(), Draft("led\nger"), Back(), Back()
    )
    drafts = [(response.draft, response.ticked) for response in interview.step.responses]
    assert drafts == [("own", ()), ("docs", (0, 1)), ("led\nger", ()), ("", ())]
    assert states(interview) == [State.DRAFT] * 3 + [State.UNTOUCHED]
    interview.send(Draft())
    assert states(interview)[0] is State.UNTOUCHED


def test_an_answer_leaves_unsent_words_beside_it_and_takes_up_those_it_sends():
    beside = after(FORM, Draft("many words"), give(A)).step.responses[0]
    assert (beside.state, beside.answer, beside.draft) == (State.ANSWERED, A, "many words")
    sent = after(FORM, Draft("words"), give(WORDS)).step.responses[0]
    assert (sent.answer, sent.draft) == (WORDS, "")
    ticked = after(FORM, Next(), Draft("", ticked=(0,)), give(A)).step.responses[1]
    assert (ticked.answer, ticked.ticked) == (A, ())


def test_notes_on_a_question_and_on_its_options():
    noted = after(
        FORM, Note("why?"), Note("slow", option=1), Note("fast", option=0), Note("slower", option=1)
    )
    response = noted.step.responses[0]
    assert (response.note, response.option_notes) == ("why?", ((0, "fast"), (1, "slower")))
    assert response.state is State.DRAFT
    noted.send(Note("", option=1))
    noted.send(Note(""))
    assert noted.step.responses[0].option_notes == ((0, "fast"),)


def test_a_skip_takes_back_the_answer_and_an_answer_the_skip():
    interview = after(FORM, GoTo(3), give(WORDS), GoTo(3), SKIP)
    assert (interview.step.responses[3].answer, interview.step.responses[3].state) == (None, State.SKIPPED)
    interview.send(give(WORDS, index=3))
    assert interview.step.responses[3].state is State.ANSWERED


def test_escape_stops_at_once_while_nothing_was_done():
    assert after(FORM, Next(), Touch(), Escape()).outcome.status is Status.DECLINED


@pytest.mark.parametrize("done", [give(A), Draft("x"), Draft(ticked=(0,)), Note("x")])
@pytest.mark.parametrize("other", [Touch(), Next(), Back(), Draft("y"), GoTo(None), Submit(), SKIP])
def test_escape_asks_again_once_something_was_done_and_anything_else_takes_it_back(done, other):
    interview = after(FORM, done, Escape())
    assert interview.step.stopping
    assert interview.outcome is None
    interview.send(other)
    assert not interview.step.stopping
    interview.send(Escape())
    assert interview.outcome is None
    interview.send(Shown(1.0, 0))  # a redraw is nothing that the user did
    assert interview.step.stopping
    interview.send(Escape())
    assert interview.outcome.status is Status.DECLINED
    assert interview.outcome.responses[0].state is not State.UNTOUCHED


def test_an_explicit_no_needs_no_second_one():
    assert after(FORM, give(A), Stop()).outcome.status is Status.DECLINED


def test_the_first_showing_is_kept():
    interview = after(ONE, Shown(3.0, 0), Shown(5.0, 0), Shown(7.0, None))
    assert interview.step.responses[0].shown_at == 0.0


def test_a_remote_answer_to_another_question_moves_nobody():
    remote = Provenance("mirror", Input.REMOTE, at=2.0, remote_id="r1")
    interview = after(FORM, Shown(1.0, 2), Give(WORDS, remote, index=2))
    assert interview.step.index == 0
    assert interview.step.responses[2] == Response(WORDS, shown_at=1.0, by=remote)


def test_it_takes_up_where_it_was_left():
    left = after(FORM, give(A), Draft("d")).step.responses
    interview = Interview(FORM, left)
    assert (interview.step.index, interview.step.responses) == (1, left)
    done = tuple(Response(A, shown_at=0.0, by=BY) for _ in FORM.questions)
    assert Interview(FORM, done).step.index is None
    assert Interview(ONE, done[:1]).step.index == 0


def test_the_first_end_is_final_and_late_acts_are_told_so():
    interview = after(FORM, give(A))
    assert interview.end(Status.TIMED_OUT, "60 s")
    ended = interview.outcome
    assert (ended.status, ended.reason, ended.responses[0].answer) == (Status.TIMED_OUT, "60 s", A)
    assert not interview.send(give(B, index=0))
    assert not interview.send(Stop())
    assert not interview.end(Status.CANCELLED)
    assert interview.outcome is ended


def test_nobody_outside_can_end_it_as_answered():
    with pytest.raises(ValueError, match="own acts"):
        Interview(ONE).end(Status.ANSWERED)


def test_watchers_hear_of_each_act_and_of_the_end(caplog):
    interview, seen = Interview(FORM), []

    def broken(act):
        raise RuntimeError("a broken watcher")

    with interview.watch(broken), interview.watch(seen.append):
        interview.send(give(A))
        interview.end(Status.CANCELLED)
        interview.send(Stop())
    assert seen == [give(A), None]
    assert "a watcher of an interview failed" in caplog.text


def test_a_watcher_may_act():
    interview = Interview(FORM)

    def answer_the_second(act):
        if interview.outcome is None and interview.step.responses[1].answer is None:
            interview.send(give(B, index=1))

    with interview.watch(answer_the_second):
        interview.send(give(A))
    assert interview.step.responses[1].answer == B


INDEX = st.none() | st.integers(-1, 5)
ANSWERS = st.builds(
    Answer, st.lists(st.integers(-1, 2), max_size=2).map(tuple), st.none() | st.text(max_size=3)
)
MOVES = st.sampled_from([Next(), Back(), Stay(), *map(GoTo, (None, 0, 1, 3, 9))])
ACTS = st.one_of(
    MOVES,
    st.sampled_from([Submit(), Escape(), Touch(), Stop(), SKIP]),
    st.builds(Give, ANSWERS, st.just(BY), INDEX, st.none() | MOVES),
    st.builds(Shown, st.just(1.0), INDEX),
    st.builds(Draft, st.text(max_size=3), st.lists(st.integers(-1, 2), max_size=3).map(tuple), INDEX),
    st.builds(Note, st.text(max_size=3), st.none() | st.integers(-1, 2), INDEX),
)
QUESTIONNAIRES = st.builds(
    Questionnaire,
    st.lists(st.sampled_from([PICK, TICK, TEXT, OPTIONAL]), min_size=1, max_size=4).map(tuple),
    st.booleans(),
)


@given(QUESTIONNAIRES, st.lists(ACTS, max_size=40))
def test_a_walk_of_any_acts(questionnaire, acts):
    flow = progress(questionnaire)
    step, total = next(flow), len(questionnaire.questions)
    try:
        for act in acts:
            before = flow.send(Shown(0.0, step.index))
            step = flow.send(act)
            assert len(step.responses) == total
            assert step.index in range(total) or (step.index is None and questionnaire.review)
            if not isinstance(act, Give | Skip | Draft | Note | Shown):
                assert step.responses == before.responses, "only acts upon a question change it"
            changed = [a != b for a, b in zip(before.responses, step.responses, strict=True)]
            assert sum(changed) <= 1, "an act changes one question at most"
            assert not (step.notice and any(changed)) or isinstance(act, Give | Skip | Shown)
        # From wherever this led, the user can still finish, and could still have stopped.
        for index, response in enumerate(step.responses):
            if not response.settled:
                own = WORDS if questionnaire.questions[index].takes_words else A
                step = flow.send(Shown(0.0, index))
                step = flow.send(give(own, index=index, then=Stay()))
        flow.send(Submit())
        flow.send(Submit())
        raise AssertionError("sending everything did not end it")
    except StopIteration as end:
        outcome = end.value
    assert outcome.status in (Status.ANSWERED, Status.DECLINED)
    if outcome.status is Status.ANSWERED:
        assert all(response.settled for response in outcome.responses)


@given(QUESTIONNAIRES, st.lists(ACTS, max_size=20))
def test_two_escapes_stop_wherever_one_is(questionnaire, acts):
    interview = Interview(questionnaire)
    for act in (*acts, Touch(), Escape(), Escape()):
        interview.send(act)
    assert interview.outcome is not None


def test_an_answer_from_elsewhere_keeps_what_was_ticked_and_typed_here():
    by = replace(BY, input=Input.REMOTE)
    kept = after(FORM, Next(), Draft("half", ticked=(0,)), Give(B, by, 1)).step.responses[1]
    assert (kept.answer, kept.draft, kept.ticked) == (B, "half", (0,))
