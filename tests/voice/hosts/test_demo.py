import pytest

from voice.hosts.demo import understood_choice, understood_digits, understood_yes_no


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("Yes, please.", True),
        ("Yeah!", True),
        ("No.", False),
        ("no thank you", False),
        ("Yes and no.", None),
        ("Perhaps.", None),
        ("I know it.", None),
        ("", None),
    ],
)
def test_yes_and_no(reply, meant):
    assert understood_yes_no(reply) is meant


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("The second one.", "PostgreSQL"),
        ("1", "SQLite"),
        ("Use Postgres SQL.", "Use Postgres SQL."),
        ("postgre SQL please", "PostgreSQL"),
        ("SQLite.", "SQLite"),
        ("The first or the second.", "The first or the second."),
        ("Something else.", "Something else."),
    ],
)
def test_choices(reply, meant):
    assert understood_choice(reply, ("SQLite", "PostgreSQL")) == meant


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("4, 2, 7, 1", "4271"),
        ("4, 2. 7-1", "4271"),
        ("four two seven one", "4271"),
        ("eight oh eight oh", "8080"),
        ("the usual one", ""),
        ("", ""),
    ],
)
def test_spelled_numbers(reply, meant):
    assert understood_digits(reply) == meant
