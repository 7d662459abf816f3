"""How long a silence must be: from the question, the words so far, and the user's own pauses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.listening.patience import (
    ASKS_SHARE,
    MOST_OWN_S,
    OWN_PAUSES,
    Eagerness,
    Expected,
    OwnPauses,
    Patience,
    PatienceRule,
    Wording,
    unfinished,
)
from voice.phrases import phrases_of
from voice.spoken_answers import replies_to

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


SPELLED = [
    "Four two seven", "A b c.", "Seven four", "555-1234", "O-U-4729", "5 5 5, 1 2 3 4", "enter six one two",
    "erase K M H", "twenty twenty", "ninety eight twenty eight", "nine oh", "double", "one hundred and",
    "three point",
]  # fmt: skip


@pytest.mark.parametrize("expected", list(Expected))
@pytest.mark.parametrize("words", SPELLED)
def test_who_spells_is_given_time_whatever_was_asked(expected, words):
    assert wait(expected, words) == RULE.unfinished_s


@pytest.mark.parametrize(
    "words", ["42", "8081", "version 3.11", "at 10:30", "1,234", "I give it a 5", "twenty five"]
)
def test_one_number_is_not_spelled(words):
    assert wait(Expected.OPEN, words) == RULE.open_s
    assert wait(Expected.SPELLED, words) == RULE.open_s


@pytest.mark.parametrize("words", ["RQZH4", "Erase EXXS0.", "SUOU 86", "BR QZ", "U3"])
def test_what_was_spelled_may_be_written_without_gaps(words):
    assert wait(Expected.SPELLED, words) == RULE.unfinished_s
    assert wait(Expected.OPEN, words) == RULE.open_s


@pytest.mark.parametrize("words", ["Twenty.", "one hundred", "80", "300", "three thousand"])
def test_a_number_that_a_smaller_one_may_follow_is_not_all_where_something_is_spelled(words):
    assert wait(Expected.CLOSED, words) == RULE.closed_s  # nobody pauses for so long within "twenty five"
    assert wait(Expected.OPEN, words) == RULE.open_s
    assert wait(Expected.SPELLED, words) == RULE.unfinished_s


@pytest.mark.parametrize("words", ["Seven", "42.", "12", "Option 10", "Number two.", "B"])
def test_a_number_by_itself_is_a_short_answer(words):
    assert wait(Expected.CLOSED, words) == RULE.closed_s


@pytest.mark.parametrize("words", ["Let me think", "Um, let me see.", "Hold on", "One moment.", "No, wait."])
def test_who_asks_for_time_gets_it(words):
    assert wait(Expected.CLOSED, words) == RULE.unfinished_s


@pytest.mark.parametrize(
    "words",
    ["What's the weather like?", "Would you please run the tests?", "Hm. What is that good for? ",
     "Kannst du die Tests ausführen?"],
)  # fmt: skip
def test_who_asks_something_waits_for_an_answer(words):
    assert wait(Expected.OPEN, words) == pytest.approx(ASKS_SHARE * RULE.open_s)
    assert RULE.closed_s < ASKS_SHARE * RULE.open_s


@pytest.mark.parametrize("words", ["What's the weather like?", "Shall we try it once again?"])
def test_a_question_is_no_answer_to_a_closed_one(words):
    assert wait(Expected.CLOSED, words) == pytest.approx(ASKS_SHARE * RULE.open_s)
    assert asked_with(DATABASES).wait_s(words) == pytest.approx(ASKS_SHARE * RULE.open_s)


@pytest.mark.parametrize("expected", list(Expected))
@pytest.mark.parametrize(
    "words", ["Can you open the?", "Should we keep the old one or?", "What happens then if I?"]
)
def test_a_mark_behind_words_that_want_more_ends_no_question(expected, words):
    assert wait(expected, words) == RULE.unfinished_s


def test_who_goes_on_after_a_question_that_was_answered_too_soon_teaches_that():
    waited_s = ASKS_SHARE * RULE.open_s
    assert cut_short("Can you run the tests?", "and commit", 2.0, waited_s) > RULE.open_s
    assert cut_short("Run the tests.", "and commit", 2.0, waited_s) == RULE.open_s


@pytest.mark.parametrize("words", ["Should we?", "I ran it. Can you?", "Why?"])
def test_a_few_words_may_only_begin_a_question(words):
    assert wait(Expected.OPEN, words) >= RULE.open_s


def test_who_begins_another_sentence_behind_a_question_is_given_time():
    assert wait(Expected.OPEN, "Can you run the tests? And") == RULE.unfinished_s
    assert wait(Expected.OPEN, "Can you run the tests? Then we commit.") == RULE.open_s


DATABASES = ("SQLite", "PostgreSQL", "Redis", "Redis Cluster")


def asked_with(options, question="Which database?"):
    patience = Patience(RULE, ENGLISH, answers=replies_to)
    patience.expect(question, options)
    return patience


@pytest.mark.parametrize(
    "words",
    ["PostgreSQL.", "The second one.", "Option two.", "2", "Yes.", "No, thanks.", "Redis Cluster", "Skip it.",
     "I take SQLite", "The last one", "Confirm."],
)  # fmt: skip
def test_with_options_a_reply_that_names_one_ends_soon(words):
    assert asked_with(DATABASES).wait_s(words) == RULE.closed_s


@pytest.mark.parametrize(
    "words", ["The tests", "We had trouble with", "Something with tables", "Post", "I would rather"]
)
def test_with_options_a_short_reply_that_names_none_may_be_the_beginning_of_one(words):
    assert asked_with(DATABASES).wait_s(words) > RULE.closed_s


def test_a_label_that_begins_a_longer_one_may_become_that():
    assert asked_with(DATABASES).wait_s("Redis.") == RULE.open_s
    assert asked_with(("Redis", "SQLite")).wait_s("Redis.") == RULE.closed_s


def test_a_long_label_is_all_of_an_answer():
    long = "Keep the old tables until the next release"
    assert asked_with((long, "Drop them")).wait_s(f"{long}.") == RULE.closed_s
    assert asked_with((long, "Drop them")).wait_s(f"{long} and") == RULE.unfinished_s


def test_labels_of_digits_and_letters_are_answers_like_others():
    assert asked_with(("5 5 5", "A B C", "80")).wait_s("A B C.") == RULE.closed_s
    assert asked_with(("8080", "80")).wait_s("80") == RULE.closed_s


@pytest.mark.parametrize(
    ("words", "waits_s"),
    [
        ("8080.", RULE.closed_s),
        ("The new one.", RULE.open_s),
        ("Two", RULE.open_s),
        ("5 5", RULE.unfinished_s),
    ],
)
def test_what_names_an_option_ends_soon_also_where_figures_are_asked_for(words, waits_s):
    assert asked_with(("8080", "5 5 5"), "Which port?").wait_s(words) == waits_s


def test_where_several_may_be_chosen_the_first_is_not_all():
    several = asked_with(DATABASES, "Which databases? You may choose more than one option.")
    assert several.wait_s("PostgreSQL") == RULE.open_s


def test_the_next_question_has_options_of_its_own_or_none():
    patience = asked_with(DATABASES)
    patience.expect("What should I know about it?")
    assert patience.wait_s("PostgreSQL") == RULE.open_s


def test_without_somebody_who_reads_answers_every_short_reply_to_options_may_be_one():
    patience = Patience(RULE, ENGLISH)
    patience.expect("Which database?", DATABASES)
    assert patience.wait_s("PostgreSQL") == RULE.closed_s


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


def cut_short(before, words, pause_s, waited_s=RULE.open_s, times=OWN_PAUSES):
    """The wait of who has gone on so after the end of a turn, again and again."""
    patience = Patience(RULE, ENGLISH)
    for _ in range(times):
        patience.learn_from_what_followed(before, words, pause_s=pause_s, waited_s=waited_s)
    return patience.wait_s("I think so")


@pytest.mark.parametrize(
    ("before", "words", "pause_s"),
    [
        ("Use Redis.", "and Postgres.", 3.0),
        ("Use Redis.", "with a cluster", 4.9),
        ("Use Redis.", "Because it is quick.", 3.0),
        ("Use Redis and", "Postgres.", 3.0),
        ("Use Redis.", "The new one.", 2.5),
    ],
    ids=["lower case", "lower case, late", "because", "unfinished", "at once"],
)
def test_who_goes_on_after_the_end_of_a_turn_is_waited_for_longer(before, words, pause_s):
    assert cut_short(before, words, pause_s) == MOST_OWN_S


@pytest.mark.parametrize(
    ("before", "words", "pause_s", "waited_s"),
    [
        ("Use Redis.", "Run the tests.", 3.0, RULE.open_s),
        ("Use Redis.", "and Postgres.", 5.1, RULE.open_s),
        ("Yes.", "and Postgres.", 1.2, RULE.closed_s),
    ],
    ids=["something else", "late", "after a complete answer"],
)
def test_what_is_no_rest_of_a_turn_teaches_nothing(before, words, pause_s, waited_s):
    assert cut_short(before, words, pause_s, waited_s) == RULE.open_s


def test_one_turn_that_was_ended_too_early_teaches_as_little_as_one_pause():
    assert cut_short("Use Redis.", "and Postgres.", 3.0, times=OWN_PAUSES - 1) == RULE.open_s


def test_stops_between_sounds_are_no_pauses():
    own = OwnPauses()
    for _ in range(100):
        own.learn(0.1)
    assert own.wait_s(1.6) == 1.6


def test_eagerness_scales_every_wait():
    snappy = PatienceRule(factor=0.5)
    assert wait(Expected.CLOSED, "Yes.", rule=snappy) == RULE.closed_s / 2
    assert wait(Expected.OPEN, "and", rule=snappy) == RULE.unfinished_s / 2


@pytest.mark.parametrize(
    ("eagerness", "most_s"), [(Eagerness.SNAPPY, 1.7), (Eagerness.BALANCED, 2.4), (Eagerness.PATIENT, 3.6)]
)
def test_eagerness_scales_what_was_learned_as_well_up_to_what_the_readme_says(eagerness, most_s):
    own = OwnPauses()
    for _ in range(OWN_PAUSES):
        own.learn(10.0)
    learned = Patience(PatienceRule(factor=eagerness.factor), own=own)
    assert learned.wait_s("Use Redis.") == pytest.approx(most_s, abs=0.05)


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
