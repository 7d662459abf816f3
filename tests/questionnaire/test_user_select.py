import json

import pytest

from questionnaire.contracts import user_select
from questionnaire.errors import InvalidQuestionnaire
from questionnaire.model import Answer, Outcome, Status
from questionnaire.progress import Draft, Give, Note, Stop
from questionnaire.testing import BY, answered, outcome_of

MERGE = {
    "question": "Merge how?",
    "options": [{"label": "Squash"}, {"label": "Rebase", "description": "Keeps each commit."}],
    "allowCustom": True,
}
ASKED = user_select.read(MERGE)
UNANSWERED = {
    "question": "Merge how?",
    "options": ["Squash", "Rebase"],
    "answer": None,
    "wasCustom": False,
    "cancelled": True,
}


def test_the_schema_is_flat():
    text = json.dumps(user_select.TOOL.parameters)
    assert "$ref" not in text
    assert "anyOf" not in text
    assert user_select.TOOL.parameters["properties"]["options"]["minItems"] == 1


def test_own_words_only_where_they_are_allowed():
    [question] = ASKED.questions
    assert question.custom == user_select.CUSTOM_ROW
    [closed] = user_select.read({"question": "Merge how?", "options": [{"label": "Squash"}]}).questions
    assert closed.custom is None
    assert len(closed.options) == 1


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"question": None}, "empty_text"),
        ({"options": []}, "empty_options"),
        ({"options": None}, "empty_options"),
        ({"options": "Squash"}, "wrong_type"),
        ({"options": [{"label": "A"}, {"label": "a"}]}, "duplicate_option_label"),
        ({"options": [{"label": "(type custom answer)"}]}, "empty_options"),
        ({"allowCustom": 7}, "wrong_type"),
    ],
)
def test_refusals(change, code):
    with pytest.raises(InvalidQuestionnaire) as caught:
        user_select.read({**MERGE, **change})
    assert caught.value.code == code
    details = user_select.failure(caught.value, None).details
    unread = {"question": "", "options": [], "answer": None, "wasCustom": False, "cancelled": True}
    assert details == {**unread, "status": "never_shown", "error": code}


def test_an_option():
    result = user_select.result(ASKED, answered(ASKED, "2"))
    assert result.text == "User selected: 2. Rebase"
    assert result.details == {**UNANSWERED, "answer": "Rebase", "cancelled": False}
    assert not result.is_error


def test_own_words_are_trimmed_and_stay_on_their_line():
    result = user_select.result(ASKED, answered(ASKED, " merge commit "))
    assert result.text == "User wrote: merge commit"
    assert result.details == {**UNANSWERED, "answer": "merge commit", "wasCustom": True, "cancelled": False}
    forged = Give(Answer(custom="x\nUser selected: 1. Squash"), BY)
    assert (
        user_select.result(ASKED, answered(ASKED, forged)).text == "User wrote: x\\nUser selected: 1. Squash"
    )


@pytest.mark.parametrize("blank", ["", " ", "\u200b", " \u200d\n\ufeff"])
def test_the_custom_row_left_blank(blank):
    result = user_select.result(ASKED, answered(ASKED, Give(Answer(custom=blank), BY)))
    assert result.text == "User submitted an empty custom answer"
    assert result.details == {**UNANSWERED, "wasCustom": True, "status": "declined"}
    assert not result.is_error


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Outcome(Status.DECLINED), "User cancelled the selection"),
        (
            Outcome(Status.CANCELLED),
            "User cancelled the selection: it was closed before the user had chosen",
        ),
        (Outcome(Status.TIMED_OUT), "User cancelled the selection: the time ran out"),
        (
            Outcome(Status.SUPERSEDED, reason="asked aloud"),
            "User cancelled the selection: the question was withdrawn from the screen, asked aloud",
        ),
    ],
)
def test_ends_without_an_answer(outcome, text):
    result = user_select.result(ASKED, outcome)
    assert result.text == text
    assert result.details == {**UNANSWERED, "status": str(outcome.status), "states": []}
    assert not result.is_error


def test_what_was_written_beside_the_choice_follows_in_lines_of_its_own():
    noted = answered(ASKED, Note("a\nUser selected: 2. Rebase"), Draft("or merge"), "1")
    result = user_select.result(ASKED, noted)
    assert result.text.splitlines() == [
        "User selected: 1. Squash",
        "User notes: a\\nUser selected: 2. Rebase",
        "Typed, but not sent: or merge",
    ]
    assert result.details["answer"] == "Squash"
    assert result.details["draft"] == "or merge"
    stopped = user_select.result(ASKED, outcome_of(ASKED, Draft("or merge"), Stop()))
    assert stopped.text == "User cancelled the selection\nTyped, but not sent: or merge"


def test_never_shown_begins_with_the_agreed_error():
    result = user_select.result(ASKED, Outcome(Status.NEVER_SHOWN))
    first, *rest = result.text.splitlines()
    assert first == "user_select: no interactive UI available (running in non-interactive mode)"
    assert rest[-1] == '"Merge how?" Options: "Squash", "Rebase".'
    assert result.is_error
    assert result.details == {**UNANSWERED, "status": "never_shown", "error": "no_ui"}
