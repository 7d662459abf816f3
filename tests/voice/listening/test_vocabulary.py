import pytest

from voice.listening.vocabulary import (
    LONGEST_NAME,
    MOST_CHARACTERS,
    MOST_NAMES,
    PROJECT_FROM_S,
    Vocabulary,
    capped,
    corrected,
    names_in,
    recites,
    sounds_of,
)
from voice.phrases import common_words

DATABASES = Vocabulary(asked=("PostgreSQL", "MySQL", "Redis"), project=("turn_taking.py", "kubectl", "Anna"))


@pytest.mark.parametrize(
    ("heard", "text"),
    [
        ("Use post gres.", "Use PostgreSQL."),
        ("Postker SQL, please.", "PostgreSQL, please."),
        ("Let's take Post-Gor rescue well.", "Let's take PostgreSQL."),
        ("post gray sequel", "PostgreSQL"),
        ("Postgres, I think", "PostgreSQL, I think"),
        ("Not my SQL.", "Not MySQL."),
        ("use riddies", "use Redis"),
        ("Rename turn taking dot py.", "Rename turn_taking.py."),
        ("Open turn_taking.py, and POSTGRESQL", "Open turn_taking.py, and PostgreSQL"),
    ],
)
def test_a_name_that_was_parted_or_misspelled_is_written_as_it_is(heard, text):
    assert DATABASES.corrected(heard) == text


@pytest.mark.parametrize(
    "text",
    [
        "The post office, and then the rest.",
        "I read this today.",  # Redis
        "Reduce it.",
        "My sequel is the better film.",
        "Turn taking is hard.",
        "We are taking turns, post great results, and reddish ones.",
        "Post. Gres.",
        "post, gres",
        "Annas, PostgreSQLs",
        "",
        "4 2 7 1",
        "Anne",
    ],
)
def test_plain_words_and_what_is_right_already_are_left(text):
    assert DATABASES.corrected(text) == text


def test_a_comma_inside_a_name_is_only_how_it_was_spoken_where_nothing_else_was_said():
    names = ("okay rhasspy", "Staging cluster", "Okay")
    assert corrected("Okay, raspy.", names, common=common_words("en")) == "okay rhasspy."
    assert corrected("Okay, raspy is fine.", names, common=common_words("en")) == "Okay, raspy is fine."
    assert corrected("Okay, then.", names, common=common_words("en")) == "Okay, then."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Redis, PostgreSQL, My-SQL", True),
        ("redis, postgresql, tur", True),
        ("Redis, turn_taking", True),
        ("Sheila, sheila, Anna.", False),
        ("Redis.", False),
        ("Redis and PostgreSQL", False),
        ("PostgreSQL, not Redis", False),
        ("Redis, Redis", True),
        ("", False),
    ],
)
def test_a_text_that_goes_on_with_the_list_of_names_is_told_from_one_that_names_some(text, expected):
    assert recites(text, (*DATABASES.names, "my sql")) is expected


def test_where_two_names_are_as_near_nothing_is_changed():
    assert corrected("kubectk", ["kubectl", "kubects"], common=common_words("en")) == "kubectk"


def test_a_language_without_a_list_of_common_words_changes_only_what_is_spelled_with_its_marks():
    vocabulary = Vocabulary(("PostgreSQL", "main.py"), language="it")
    assert vocabulary.corrected("usa postgre") == "usa postgre"
    assert vocabulary.corrected("apri main dot py") == "apri main.py"


def test_the_names_in_a_text_are_what_is_no_plain_word():
    text = (
        "I have renamed `foo` in voice/chat.py for Anna. Shall I use PostgreSQL, or the turnTaking of Redis?"
        " Options: Squash, Rebase. It needs a webhook in v2.4, okay?"
    )
    assert names_in(text) == (
        "foo", "voice/chat.py", "Anna", "PostgreSQL", "turnTaking", "Redis", "Squash", "Rebase", "webhook",
        "v2.4",
    )  # fmt: skip


@pytest.mark.parametrize("text", ["", "Shall I go on with it?", "Yes. No. I think so, OK?", "1, 2, 3.", "…"])
def test_plain_texts_have_none(text):
    assert names_in(text) == ()


def test_the_list_is_short_whatever_the_agent_writes():
    names = capped([f"name_{number}" for number in range(500)])
    assert len(names) == MOST_NAMES
    assert capped(["x" * (LONGEST_NAME + 1), " ", "...", "Name", "name", "NAME"]) == ("Name",)
    assert sum(map(len, capped([f"{number}{'n' * 36}" for number in range(50)]))) <= MOST_CHARACTERS


def test_the_names_of_the_question_come_first():
    many = tuple(f"name_{number}" for number in range(50))
    assert Vocabulary(asked=("Redis",), project=many).names[:2] == ("Redis", "name_0")


def test_short_pieces_are_transcribed_with_the_names_of_the_question_alone():
    assert DATABASES.told_of(0.6) == DATABASES.asked
    assert DATABASES.told_of(PROJECT_FROM_S) == (*DATABASES.asked, *DATABASES.project)
    assert Vocabulary(project=("kubectl",)).told_of(0.3) == ()


def test_two_spellings_of_one_sound_are_alike():
    assert sounds_of("postgresql") == sounds_of("postgraysequel")
    assert sounds_of("cash") == sounds_of("kash")
    assert sounds_of("redis") != sounds_of("repeat")


def test_it_takes_no_time_on_long_texts():
    text = "post gres and riddles of the kubectk " * 400
    assert DATABASES.corrected(text).count("PostgreSQL") == 400


def test_of_a_long_text_what_was_written_last_counts():
    text = "`first`. " + "We talk about it. " * 1_500 + "`last`."
    assert names_in(text) == ("last",)


@pytest.mark.parametrize("text", ["aA" * 50_000 + "/", "x" * 100_000, "_" * 100_000, "`" * 50_000])
def test_hostile_texts_have_no_names(text):
    assert names_in(text) == ()
