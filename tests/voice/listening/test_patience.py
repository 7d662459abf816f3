"""How long a silence must be: from the question, the words so far, and the user's own pauses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.listening.patience import (
    MOST_OWN_S,
    OWN_PAUSES,
    Expected,
    OwnPauses,
    Patience,
    PatienceRule,
    Wording,
    unfinished,
)
from voice.phrases import phrases_of

ENGLISH = Wording.of(phrases_of("en")["patience"])
RULE = PatienceRule()


def wait(expected, words, own=None, rule=RULE):
    return Patience(rule, ENGLISH, own or OwnPauses(), expected).wait_s(words)


@pytest.mark.parametrize("words", ["Yes.", "no", "The second one.", "Option two.", "Staging cluster"])
def test_a_short_answer_to_a_closed_question_ends_soon(words):
    assert wait(Expected.CLOSED, words) == RULE.closed_s


@pytest.mark.parametrize(
    "words",
    [
        "The second one and",
        "Yes, but",
        "Um",
        "the second one because",
        "Four, two,",
        "I would like to use the",
        "Well...",
        "It is -",
    ],
)
@pytest.mark.parametrize("expected", list(Expected))
def test_words_that_want_more_wait_longest_whatever_was_asked(expected, words):
    assert wait(expected, words) == RULE.unfinished_s


@pytest.mark.parametrize("words", ["Stop.", "Never mind", "Thank you!", "I don't know."])
@pytest.mark.parametrize("expected", list(Expected))
def test_what_is_complete_by_itself_ends_soon_whatever_was_asked(expected, words):
    assert wait(expected, words) == RULE.closed_s


@pytest.mark.parametrize("words", ["Yes.", "No.", "The tests."])
def test_a_short_reply_to_an_open_question_may_be_its_beginning(words):
    assert wait(Expected.OPEN, words) == RULE.open_s


def test_who_explains_an_answer_to_a_closed_question_is_given_time():
    assert wait(Expected.CLOSED, "The second one, since it is quicker to set up.") == RULE.open_s


@pytest.mark.parametrize("words", ["Four two seven", "A b c.", "42"])
def test_who_spells_is_given_time(words):
    assert wait(Expected.SPELLED, words) == RULE.open_s


@pytest.mark.parametrize("expected", list(Expected))
def test_while_the_words_are_not_known_nothing_is_over_soon(expected):
    assert wait(expected, None) == RULE.open_s


@pytest.mark.parametrize("expected", list(Expected))
def test_a_sound_without_words_ends_no_turn_soon(expected):
    assert wait(expected, "") == RULE.open_s


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Shall we go through the rest by voice? Please say yes or no.", Expected.CLOSED),
        ("Question 1: Which database? Options: 1, SQLite; 2, PostgreSQL.", Expected.CLOSED),
        ("Done. Should I commit it?", Expected.CLOSED),
        ("And what should I know about your tests?", Expected.OPEN),
        ("On which port should it listen? Please spell it, digit by digit.", Expected.SPELLED),
        ("I've finished the work.", Expected.OPEN),
        ("I changed the code. Shall I commit it?", Expected.CLOSED),
        ("Pull the code? Options: 1, Yes; 2, No.", Expected.CLOSED),
        ("Shall we go on? Please say yes or no.", Expected.CLOSED),
        ("Please choose one option.", Expected.CLOSED),
        ("Here are your options for caching. What do you think we should do?", Expected.OPEN),
        ("Is this fast? Not yet. What should I look at?", Expected.OPEN),
        ("The yesterdays or noons", Expected.OPEN),
        ("", Expected.OPEN),
    ],
)
def test_the_question_tells_what_kind_of_reply_it_wants(question, expected):
    assert ENGLISH.expected_of(question) is expected


def test_a_language_without_phrases_expects_anything_and_is_patient():
    nothing = Wording.of({})
    assert nothing.expected_of("yes or no?") is Expected.OPEN
    assert Patience(RULE, nothing).wait_s("and") == RULE.open_s


def test_short_pauses_make_no_wait_shorter_than_the_setting():
    own = OwnPauses()
    for _ in range(5 * OWN_PAUSES):
        own.learn(0.4)
    patient = PatienceRule(open_s=4.0, unfinished_s=5.0)
    assert wait(Expected.OPEN, "I think so", own) == RULE.open_s
    assert wait(Expected.OPEN, "I think so", own, patient) == 4.0
    assert wait(Expected.CLOSED, "Yes.", own) == RULE.closed_s


def test_few_pauses_teach_nothing():
    own = OwnPauses()
    for _ in range(OWN_PAUSES - 1):
        own.learn(1.4)
    assert wait(Expected.OPEN, "I think so", own) == RULE.open_s


def test_who_pauses_long_is_waited_for_longer():
    own = OwnPauses()
    for _ in range(OWN_PAUSES):
        own.learn(1.4)
    assert wait(Expected.OPEN, "I think so", own) == pytest.approx(2.1)


def test_stops_between_sounds_are_no_pauses():
    own = OwnPauses()
    for _ in range(100):
        own.learn(0.1)
    assert own.wait_s(1.6) == 1.6


def test_eagerness_scales_every_wait():
    snappy = PatienceRule(factor=0.5)
    assert wait(Expected.CLOSED, "Yes.", rule=snappy) == RULE.closed_s / 2
    assert wait(Expected.OPEN, "and", rule=snappy) == RULE.unfinished_s / 2


@given(st.lists(st.floats(0, 100)))
def test_whatever_was_learned_stays_within_bounds(pauses):
    own = OwnPauses()
    for pause in pauses:
        own.learn(pause)
    assert 1.6 <= own.wait_s(1.6) <= MOST_OWN_S


@given(st.text(), st.sampled_from(Expected))
def test_any_words_have_a_wait(words, expected):
    assert RULE.closed_s <= wait(expected, words) <= RULE.unfinished_s
    unfinished(words, ENGLISH)
