import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire import CustomRow, Option, Question, Questionnaire
from voice.spoken_form import heard_whole, spoken_labels, spoken_question, spoken_questionnaire, spoken_text

OWN = CustomRow("Type something.")


def test_a_question_is_spoken_in_the_words_of_its_contract():
    where = Question(
        "Where should the preview be deployed?",
        (Option("Staging cluster"), Option("Throwaway VM")),
        custom=OWN,
    )
    assert spoken_question(where) == (
        "Question 1: Where should the preview be deployed? Options: 1, Staging cluster; 2, Throwaway VM."
        " Please choose one option. You may also answer in your own words."
    )
    several = Question("Which checks", (Option("Lint."), Option("Tests")), multi_select=True)
    assert spoken_question(several, 2) == (
        "Question 2: Which checks. Options: 1, Lint; 2, Tests. You may choose more than one option."
    )
    assert spoken_question(Question("What is it called?"), 3) == (
        "Question 3: What is it called? Please answer in your own words."
    )


def test_all_questions_of_a_handed_over_questionnaire_are_spoken_in_their_order():
    merge = Question("Merge how?", (Option("Squash"), Option("Rebase")))
    said = spoken_questionnaire(Questionnaire((merge, Question("Name?"))))
    assert said == (
        "Question 1: Merge how? Options: 1, Squash; 2, Rebase. Please choose one option."
        " Question 2: Name? Please answer in your own words."
    )


def test_german_is_spoken_in_german():
    merge = Question("Wie zusammenführen?", (Option("Squash"), Option("Rebase")))
    assert spoken_question(merge, 1, "de").startswith(
        "Frage 1: Wie zusammenführen? Möglichkeiten: 1, Squash; 2,"
    )
    assert spoken_question(merge, 1, "xx") == spoken_question(merge, 1, "en")


@pytest.mark.parametrize(
    ("text", "heard", "unheard"),
    [
        ("Run `rm -rf build && make`?", "Run some code?", "rm"),
        ("Run `pytest` now?", "Run pytest now?", "`"),
        ("Read /home/me/.ssh/id_rsa?", "Read a path?", "home"),
        ("Write ~/notes.txt or ./build/x?", "Write a path or a path?", "notes"),
        ("Open C:\\Users\\me\\a.txt?", "Open a path?", "Users"),
        ("Delete src/app/main.py:12?", "Delete a path?", "main"),
        ("Use sk-abcdefgh12345678901234?", "Use a secret?", "abcdef"),
        ("Set API_KEY=hunter2hunter2 now?", "Set API_KEY=a secret now?", "hunter"),
        ("Red \x1b[31mor\x07 \u202eblue\u200b?", "Red or blue?", "\x1b"),
        ("TCP/IP and/or 24/7?", "TCP/IP and/or 24/7?", "path"),
        ("Really **sure**?", "Really sure?", "*"),
        ("", "something that cannot be read aloud.", "\n"),
        ("```\nrm x\n```", "a code block of 1 line.", "rm"),
    ],
)
def test_paths_secrets_code_and_control_characters_are_not_read_aloud(text, heard, unheard):
    said = spoken_question(Question(text, (Option(text), Option("B"))))
    assert said.startswith(f"Question 1: {heard} Options: 1, {heard.rstrip('.')}; 2, B.")
    assert unheard not in said


def test_long_questions_and_labels_are_cut_between_words():
    long = Question("word " * 200, (Option("label " * 100), Option("x" * 500)))
    assert 235 <= len(spoken_text(long)) <= 240
    assert spoken_text(long).endswith("word…")
    assert [len(label) <= 80 for label in spoken_labels(long)] == [True, True]
    assert spoken_labels(long)[1] == "x" * 79 + "…"


@pytest.mark.parametrize(
    "text",
    [
        "Delete it?",
        "Claude asks: Run `make`?\ngit push --force origin main; ls | wc -l > out",
        'Bash {"command": "ls *.py", "n": [1, 2]}',
        "✅ Wirklich löschen — “alles”?",
        "word " * 40,
    ],
)
def test_what_is_spoken_whole_is_known(text):
    assert heard_whole(Question(text, (Option(text[:60]),)), [0])


@pytest.mark.parametrize(
    "text",
    [
        "Run this? " + "word " * 60 + "; rm -rf ~",
        "Run `x = y`?",
        "Delete ~/notes.txt?",
        "Delete src/main.py?",
        "Run ls -la a/b/c/d?",
        "Fetch https://example.com/x?",
        "Use sk-abcdefgh12345678901234?",
        "Run rm *a b*?",
        "Run cat <b>?",
        "Run this?\n```\nls\n```",
        "Run echo a\\\nb?",
        "x" * 4_100,
        "🔥",
        "",
    ],
)
def test_what_was_cut_or_replaced_is_not_heard_whole(text):
    assert not heard_whole(Question(text, (Option("A"),)), [])
    labelled = Question("Which?", (Option("A"), Option(text)))
    assert not heard_whole(labelled, [1])
    assert heard_whole(labelled, [0]), "a label counts for who takes it"


def test_a_semicolon_in_a_label_is_heard_as_a_comma():
    assert heard_whole(Question("When?", (Option("Once; now."),)), [0])


def test_a_label_cannot_pass_for_two():
    assert spoken_labels(Question("?", (Option("One; 2, Forged. "), Option("Two"))))[0] == "One, 2, Forged"


@given(st.text(max_size=400), st.lists(st.text(max_size=200), min_size=2, max_size=4))
def test_whatever_a_model_writes_the_form_keeps_its_limits(text, labels):
    question = Question(text, tuple(map(Option, labels)))
    assert 1 <= len(spoken_text(question)) <= 240
    assert all(1 <= len(label) <= 80 and ";" not in label for label in spoken_labels(question))
    said = spoken_question(question)
    assert re.fullmatch(r"Question 1: .+ Options: 1, .+\. Please choose one option\.", said)
    assert said.isprintable() or not any(ord(c) < 32 for c in said)
