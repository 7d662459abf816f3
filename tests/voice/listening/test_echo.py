"""Whose words are they? The table holds what Whisper made of echoes in rooms, and what people answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.events import Span
from voice.floor import Said
from voice.listening.echo import Ours, likeness, ours_in

DATABASE = (
    Said("Question 1: Which database should it use?", 1.0, 3.5),
    Said("Options: 1, SQLite; 2, PostgreSQL.", 3.6, 7.0),
    Said("Please choose one option.", 7.1, 8.5),
)
SECOND = (
    Said("1, the first one; 2, the second one; 3, neither of them.", 1.0, 5.0),
    Said("Please tell me what you would like to have, and I will do it for you.", 5.1, 9.0),
)
TAKE = (Said("Should I take the second one?", 1.0, 3.4),)
GERMAN = (Said("Soll ich die alte Datenbank löschen?", 1.0, 3.6),)
YES_OR_NO = (Said("Do you want me to remove the cache, yes or no?", 1.0, 4.0),)

HEARD_WITH_AN_ANSWER = (
    "Question 1 which made on a base should it use options 1 ask you light to post"
    " the SQL please choose one option no"
)

ECHOES = [
    # (what we said, when it was heard, what Whisper wrote)
    (
        DATABASE,
        (1.1, 8.5),
        "Question 1 which database should it use options 1 SQLite 2 PostgreSQL please choose",
    ),
    (
        DATABASE,
        (1.2, 8.5),
        "Question 1, which made on a short video's options. One as you lied to post-korescuel.",
    ),
    (DATABASE, (1.1, 3.4), "Question one, which made a base should it use?"),
    (DATABASE, (7.2, 8.5), "Please choose one option."),
    (DATABASE, (7.2, 8.6), "Police choose one auction."),
    (DATABASE, (7.9, 8.6), "one option"),
    (DATABASE, (8.1, 8.6), "Option."),
    (YES_OR_NO, (3.3, 4.0), "Yes or no?"),
    (YES_OR_NO, (1.0, 1.6), "Do you want?"),
    (YES_OR_NO, (1.1, 4.0), "Do you want me to remove the cash? Yes or no?"),
    (SECOND, (2.1, 3.4), "two the second one"),
    (SECOND, (1.1, 5.1), "One, the first one. Two, the second one. Three, neither of them."),
    # Later than any device should be, but word for word.
    (DATABASE, (9.2, 12.1), "Options 1 SQLite 2 PostgreSQL please choose one option"),
]

REPLIES = [
    (DATABASE, (8.55, 9.3), "PostgreSQL."),
    (DATABASE, (8.6, 9.4), "One option."),
    (DATABASE, (9.5, 10.4), "The second one."),
    (DATABASE, (2.0, 2.9), "PostgreSQL"),  # nobody has said it yet
    (DATABASE, (6.0, 7.2), "No, wait a moment."),
    (DATABASE, (5.0, 5.4), "Stop."),
    (SECOND, (7.5, 8.4), "the second one"),  # it was said seconds ago
    (SECOND, (9.1, 10.0), "The second one."),
    (YES_OR_NO, (4.05, 4.4), "No."),
    (YES_OR_NO, (4.2, 4.5), "Yes."),
    (YES_OR_NO, (4.3, 6.5), "Yes, remove the cache."),
    (YES_OR_NO, (2.0, 2.4), "No."),
    (YES_OR_NO, (20.0, 23.0), "Do you want me to remove the cache, yes or no?"),
    ((), (1.0, 2.0), "Hello."),
]


BOTH = [
    (DATABASE, (7.2, 9.8), "Please choose one option. The second one of these, and not on this machine."),
    (DATABASE, (1.2, 9.2), HEARD_WITH_AN_ANSWER),
    (TAKE, (2.0, 5.2), "The second one of these on its own server, and never on this machine here."),
    (
        TAKE,
        (1.0, 4.6),
        "Should I take the second one? No, leave all of that as it is, for today and tomorrow.",
    ),
    # The narration was broken off after these words.
    (
        (Said("Shall I delete the old", 1.0, 2.4),),
        (1.6, 4.5),
        "delete the old backups only, keep whatever was written this week",
    ),
    (
        GERMAN,
        (2.3, 6.0),
        "Die alte Datenbank löschen nur, wenn vorher jemand alles gesichert und geprüft hat.",
    ),
]
"""Words of ours, and others: an echo and a reply, or a reply that begins in our words."""


@pytest.mark.parametrize(("said", "heard", "text"), ECHOES)
def test_our_own_words_are_an_echo(said, heard, text):
    assert ours_in(text, Span(*heard), said) is Ours.ALL


@pytest.mark.parametrize(("said", "heard", "text"), REPLIES)
def test_what_a_person_can_have_said_is_theirs(said, heard, text):
    assert ours_in(text, Span(*heard), said) is Ours.NONE


@pytest.mark.parametrize(("said", "heard", "text"), BOTH)
def test_what_begins_with_our_words_is_ours_in_part(said, heard, text):
    """Symptom: to "should I take the second one?" a "not the second one of these" arrives as "of these"."""
    assert ours_in(text, Span(*heard), said) is not Ours.NONE


@pytest.mark.parametrize("text", ["Please choose one option. Thank you.", "Not the second one of these."])
def test_what_is_added_to_our_words_does_not_make_them_a_persons(text):
    """Whisper adds "Thank you" to the end of what it hears."""
    said, heard = (DATABASE, (7.2, 8.6)) if "option" in text else (TAKE, (2.0, 3.9))
    assert ours_in(text, Span(*heard), said) is not Ours.NONE


def test_a_sentence_that_is_still_being_said_counts_whole():
    said = (Said("Which of the two do you prefer?", 1.0),)
    assert ours_in("do you prefer", Span(1.5, 2.2), said) is Ours.ALL
    assert ours_in("the second one", Span(1.5, 2.2), said) is Ours.NONE


@pytest.mark.parametrize("rounded", [-1e-12, 0.0, 1e-12])
def test_what_begins_in_the_frame_after_us_is_the_persons_however_its_time_is_rounded(rounded):
    said = (Said("Do you want it, yes or no?", 1.0, 3.0),)
    assert ours_in("No.", Span(3.0 + rounded, 3.4), said) is Ours.NONE
    assert ours_in("No.", Span(2.98 + rounded, 3.4), said) is Ours.ALL


def test_likeness_is_a_share_of_the_letters():
    assert likeness("abcd", "xxabcdxx") == 1.0
    assert likeness("abcd", "xxabxdxx") == 0.75
    assert likeness("abcd", "") == 0.0
    assert likeness("", "abc") == 0.0


words = st.lists(
    st.sampled_from(
        ["which", "database", "should", "we", "use", "please", "the", "second", "one", "no", "it"]
    ),
    min_size=1,
    max_size=12,
).map(" ".join)
times = st.floats(0.0, 20.0, allow_nan=False)


@given(sentence=words, start=times, length=st.floats(1.0, 8.0))
def test_a_whole_sentence_of_ours_heard_as_we_said_it_is_an_echo(sentence, start, length):
    said = (Said(sentence, start, start + length),)
    assert ours_in(sentence, Span(start + 0.1, start + length), said) is Ours.ALL


@given(text=words, sentence=words, pause=st.floats(6.0, 60.0))
def test_what_is_said_long_after_us_is_never_an_echo(text, sentence, pause):
    said = (Said(sentence, 1.0, 3.0),)
    assert ours_in(text, Span(3.0 + pause, 4.0 + pause), said) is Ours.NONE


@given(text=words.filter(lambda text: len(text.split()) < 6), sentence=words)
def test_a_short_reply_that_begins_after_us_is_never_an_echo(text, sentence):
    said = (Said(sentence, 1.0, 3.0),)
    assert ours_in(text, Span(3.02, 4.0), said) is Ours.NONE
