import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire import answers
from questionnaire.answers import (
    Choice,
    Skipped,
    Unclear,
    check_outcome,
    misfit,
    read_picks,
    read_reply,
    read_words,
)
from questionnaire.display import look
from questionnaire.errors import MalformedAnswers, NotShown
from questionnaire.model import (
    Answer,
    CustomRow,
    Option,
    Outcome,
    Question,
    Questionnaire,
    Response,
    Status,
)
from questionnaire.testing import BY

CUSTOM = CustomRow("Type something.")


def question(*labels, multi=False, custom=CUSTOM):
    return Question("Which?", tuple(map(Option, labels)), multi_select=multi, custom=custom)


ONE = question("Squash", "Rebase")
CLOSED = question("Squash", "Rebase", custom=None)
SEVERAL = question("Lint", "Types", "Red, white", multi=True)
TEXT = Question("Name?")
BLANK = question("a", custom=CustomRow("Own", blank_allowed=True))
OPTIONAL = Question("Anything else?", required=False)


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
        (TEXT, " 2, ledger ", Choice(custom=" 2, ledger ")),
        (TEXT, "a\r\nb\n\n", Choice(custom="a\r\nb\n\n")),
        (OPTIONAL, " \t", Skipped()),
    ],
)
def test_a_reply_is_read(asked, reply, choice):
    assert read_reply(asked, reply) == choice


@pytest.mark.parametrize(
    ("asked", "reply", "reason"),
    [
        (ONE, "", "Nothing was typed."),
        (ONE, " \t\u200b", "Nothing was typed."),
        (TEXT, "\n", "Nothing was typed."),
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


@given(st.text(max_size=40), st.sampled_from([ONE, CLOSED, SEVERAL, TEXT, OPTIONAL]))
def test_every_reply_is_a_choice_that_fits_or_a_reason(reply, asked):
    read = read_reply(asked, reply)
    if isinstance(read, Unclear):
        assert read.reason
    elif isinstance(read, Skipped):
        assert not asked.required
    elif not read.opens_custom:
        assert misfit(asked, read.answer) == ""


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        ("a, b , c,x", Choice((1,), "x")),
        ("a, b,x", Choice((0,), "x")),
        ("A, B , C, A, B ,a", Choice((0, 1), "a")),
        ("d,e,a, b", Choice((0, 2))),
        ("a, b , c.", Choice((0,), "c.")),
        (",a, b", Choice((0,))),
    ],
)
def test_labels_with_commas_among_other_parts(reply, choice):
    assert read_reply(question("a, b", "a, b , c", "d\uff0ce", multi=True), reply) == choice


def test_commas_cost_no_more_than_their_number(monkeypatch):
    looked_at = 0

    def counted(text):
        nonlocal looked_at
        looked_at += len(text)
        return look(text)

    monkeypatch.setattr(answers, "look", counted)
    label = "x," * 3_000 + "y"
    reply = "x," * 3_000 + "z, b"
    verdict = read_reply(question(label, "b", multi=True), reply)
    assert verdict.selected == (1,)
    assert looked_at < 10 * (len(label) + len(reply))


def test_blank_words_count_only_where_they_are_allowed():
    assert isinstance(read_words(ONE, " "), Unclear)
    assert read_words(BLANK, " ") == " "
    assert read_words(ONE, " as typed ") == " as typed "


@pytest.mark.parametrize(
    ("asked", "selected", "words", "verdict"),
    [
        (ONE, [1], None, Choice((1,))),
        (ONE, [1], " ", Choice((1,))),
        (ONE, [1], " on Monday\nonly ", Choice(custom=" on Monday\nonly ")),
        (ONE, [], "mine", Choice(custom="mine")),
        (SEVERAL, [2, 0, 0], None, Choice((0, 2))),
        (SEVERAL, [2, 0], "docs, too", Choice((0, 2), "docs, too")),
        (SEVERAL, [], "docs", Choice(custom="docs")),
        (TEXT, [], "a\nb", Choice(custom="a\nb")),
        (OPTIONAL, [], " ", Skipped()),
        (BLANK, [], "", Choice(custom="")),
        (BLANK, [0], "", Choice((0,))),
        (BLANK, [], None, Unclear("Nothing was typed.")),
        (ONE, [], "", Unclear("Nothing was typed.")),
        (ONE, [0, 1], None, Unclear("This question takes one choice only.")),
    ],
)
def test_rows_that_were_taken_and_words_beside_them(asked, selected, words, verdict):
    assert read_picks(asked, selected, words) == verdict


def test_words_beside_a_closed_list_are_none_of_its_options():
    assert "none of the options" in read_picks(CLOSED, [0], "merge").reason


def given_to(*answers, status=Status.ANSWERED, shown_at=1.0, by=BY):
    return Outcome(status, tuple(Response(answer, shown_at=shown_at, by=by) for answer in answers))


@pytest.mark.parametrize(
    ("answers", "fault"),
    [
        ((Answer((0,)),), "1 responses came to 2 questions"),
        ((Answer((0,)), None), "question 2 was not answered"),
        ((Answer((0,)), Answer()), "2 holds nothing"),
        ((Answer((9,)), Answer((0,))), "1 names an option that does not exist"),
        ((Answer((-1,)), Answer((0,))), "1 names an option that does not exist"),
        ((Answer((0, 1)), Answer((0,))), "more than one choice"),
        ((Answer((0,), "words"), Answer((0,))), "more than one choice"),
        ((Answer(custom=" "), Answer((0,))), "is blank"),
        ((Answer(custom="\u200b"), Answer((0,))), "is blank"),
        ((Answer((0,)), Answer((1, 0))), "2 names its options out of order or twice"),
        ((Answer((0,)), Answer((0, 0))), "out of order or twice"),
    ],
)
def test_answers_that_do_not_fit_are_named(answers, fault):
    with pytest.raises(MalformedAnswers, match=fault):
        check_outcome(Questionnaire((ONE, SEVERAL)), given_to(*answers))


def test_own_words_do_not_fit_a_closed_question():
    with pytest.raises(MalformedAnswers, match="own words"):
        check_outcome(Questionnaire((CLOSED,)), given_to(Answer(custom="x")))


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.NEVER_SHOWN])
def test_nobody_answers_what_nobody_saw(status):
    with pytest.raises(NotShown):
        check_outcome(Questionnaire((ONE,)), given_to(Answer((0,)), status=status, shown_at=None))


def test_an_empty_outcome_is_no_answer():
    with pytest.raises(NotShown):
        check_outcome(Questionnaire((ONE,)), Outcome(Status.ANSWERED))


def test_an_answer_says_where_it_came_from():
    with pytest.raises(MalformedAnswers, match="does not say where it came from"):
        check_outcome(Questionnaire((ONE,)), given_to(Answer((0,)), by=None))


def test_only_an_optional_question_can_be_skipped():
    skipped = Outcome(Status.ANSWERED, (Response(skipped=True, shown_at=1.0, by=BY),))
    check_outcome(Questionnaire((OPTIONAL,)), skipped)
    with pytest.raises(MalformedAnswers, match="is a skip"):
        check_outcome(Questionnaire((TEXT,)), skipped)


def test_an_early_end_may_leave_questions_open():
    check_outcome(Questionnaire((ONE, SEVERAL)), given_to(Answer((0,)), None, status=Status.DECLINED))
