import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire.answers import Choice, Unclear, check_outcome, read_reply, read_words
from questionnaire.errors import MalformedAnswers
from questionnaire.model import Answer, CustomRow, Option, Outcome, Question, Questionnaire, Status

CUSTOM = CustomRow("Type something.")


def question(*labels, multi=False, custom=CUSTOM):
    return Question("Which?", tuple(map(Option, labels)), multi_select=multi, custom=custom)


ONE = question("Squash", "Rebase")
CLOSED = question("Squash", "Rebase", custom=None)
SEVERAL = question("Lint", "Types", "Red, white", multi=True)


@pytest.mark.parametrize(
    ("asked", "reply", "choice"),
    [
        (ONE, "2", Choice((1,))),
        (ONE, " 2. ", Choice((1,))),
        (ONE, "2)", Choice((1,))),
        (ONE, "rebase", Choice((1,))),
        (ONE, " REBASE\t", Choice((1,))),
        (ONE, "3", Choice(opens_custom=True)),
        (ONE, "type something.", Choice(opens_custom=True)),
        (ONE, " merge commit ", Choice(custom=" merge commit ")),
        (ONE, "Squash, but only on Monday", Choice(custom="Squash, but only on Monday")),
        (ONE, "ports 80, 443", Choice(custom="ports 80, 443")),
        (ONE, "88888", Choice(custom="88888")),
        (SEVERAL, "2", Choice((1,))),
        (SEVERAL, "2,1", Choice((0, 1))),
        (SEVERAL, "types , 1, 1", Choice((0, 1))),
        (SEVERAL, "red, white", Choice((2,))),
        (SEVERAL, "Lint, Red, white", Choice((0, 2))),
        (SEVERAL, "1, 4", Choice((0,), opens_custom=True)),
        (SEVERAL, "1, docs, too", Choice((0,), custom="docs, too")),
        (SEVERAL, "1,", Choice((0,))),
        (SEVERAL, "well, it depends", Choice(custom="well, it depends")),
    ],
)
def test_a_reply_is_read(asked, reply, choice):
    assert read_reply(asked, reply) == choice


@pytest.mark.parametrize(
    ("asked", "reply", "reason"),
    [
        (ONE, "", "Nothing was typed."),
        (ONE, " \t\u200b", "Nothing was typed."),
        (ONE, "0", "no row 0; the rows go from 1 to 3"),
        (ONE, "7", "To answer with a number of your own, type 3 first."),
        (CLOSED, "3", "no row 3; the rows go from 1 to 2."),
        (ONE, "1, 2", "one choice only"),
        (ONE, "1, 9", "no row 9"),
        (CLOSED, "merge", "“merge” is none of the options"),
        (SEVERAL, "1, 9", "no row 9"),
        (SEVERAL, "1, 9, docs", "no row 9"),
        (question("Lint", "Types", multi=True, custom=None), "1, docs", "“docs” is none of the options"),
    ],
)
def test_an_unclear_reply_has_a_reason(asked, reply, reason):
    answer = read_reply(asked, reply)
    assert isinstance(answer, Unclear)
    assert reason in answer.reason


def test_a_label_that_is_another_rows_number_is_never_guessed():
    asked = question("2", "4")
    unclear = read_reply(asked, "2")
    assert isinstance(unclear, Unclear)
    assert "“1.”" in unclear.reason
    assert read_reply(asked, "1.") == Choice((0,))
    assert read_reply(asked, "2.") == Choice((1,))
    assert read_reply(asked, "4") == Choice((1,))
    assert read_reply(question("1", "2"), "2") == Choice((1,))


@given(st.text(max_size=40), st.sampled_from([ONE, CLOSED, SEVERAL]))
def test_every_reply_is_a_choice_that_fits_or_a_reason(reply, asked):
    read = read_reply(asked, reply)
    if isinstance(read, Unclear):
        assert read.reason
    elif not read.opens_custom:
        answer = Answer(0, read.selected, read.custom)
        check_outcome(Questionnaire((asked,)), Outcome(Status.ANSWERED, (answer,)))


def test_blank_words_count_only_where_they_are_allowed():
    assert isinstance(read_words(ONE, " "), Unclear)
    assert read_words(question("a", custom=CustomRow("Own", blank_allowed=True)), " ") == " "
    assert read_words(ONE, " as typed ") == " as typed "


@pytest.mark.parametrize(
    ("answers", "fault"),
    [
        ((), "not every question was answered"),
        ((Answer(0, (0,)),), "not every question was answered"),
        ((Answer(0, (0,)), Answer(2, (0,))), "no question with index 2"),
        ((Answer(0, (0,)), Answer(-1, (0,))), "no question with index -1"),
        ((Answer(0, (0,)), Answer(0, (1,))), "question 1 was answered twice"),
        ((Answer(0),), "holds nothing"),
        ((Answer(0, (9,)),), "an option that does not exist"),
        ((Answer(0, (0, 1)),), "more than one choice"),
        ((Answer(0, (0,), "words"),), "more than one choice"),
        ((Answer(0, custom=" "),), "is blank"),
        ((Answer(1, (1, 0)),), "out of order or twice"),
        ((Answer(1, (0, 0)),), "out of order or twice"),
    ],
)
def test_answers_that_do_not_fit_are_named(answers, fault):
    with pytest.raises(MalformedAnswers, match=fault):
        check_outcome(Questionnaire((ONE, SEVERAL)), Outcome(Status.ANSWERED, answers))


def test_own_words_do_not_fit_a_closed_question():
    with pytest.raises(MalformedAnswers, match="own words"):
        check_outcome(Questionnaire((CLOSED,)), Outcome(Status.ANSWERED, (Answer(0, custom="x"),)))


def test_an_early_end_may_leave_questions_open():
    check_outcome(Questionnaire((ONE, SEVERAL)), Outcome(Status.DECLINED, (Answer(0, (0,)),)))
