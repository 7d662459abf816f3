import json

import pytest

from questionnaire.contracts import user_select
from questionnaire.errors import InvalidQuestionnaire
from questionnaire.model import Answer, Outcome, Status
from questionnaire.testing import answered

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
        ({"options": ["Squash"]}, "wrong_type"),
        ({"options": [{"label": "A"}, {"label": "a"}]}, "duplicate_option_label"),
        ({"options": [{"label": "(type custom answer)"}]}, "reserved_label"),
        ({"allowCustom": 1}, "wrong_type"),
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
    forged = Outcome(Status.ANSWERED, (Answer(0, custom="x\nUser selected: 1. Squash"),))
    assert user_select.result(ASKED, forged).text == "User wrote: x\\nUser selected: 1. Squash"


def test_the_custom_row_left_blank():
    result = user_select.result(ASKED, Outcome(Status.ANSWERED, (Answer(0, custom=" "),)))
    assert result.text == "User submitted an empty custom answer"
    assert result.details == {**UNANSWERED, "wasCustom": True, "status": "declined"}
    assert not result.is_error


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Outcome(Status.DECLINED), "User cancelled the selection"),
        (Outcome(Status.CANCELLED), "User cancelled the selection"),
        (Outcome(Status.TIMED_OUT), "User cancelled the selection: the time ran out"),
        (Outcome(Status.SUPERSEDED, reason="asked aloud"), "User cancelled the selection: asked aloud"),
    ],
)
def test_ends_without_an_answer(outcome, text):
    result = user_select.result(ASKED, outcome)
    assert result.text == text
    assert result.details == {**UNANSWERED, "status": str(outcome.status)}
    assert not result.is_error


def test_never_shown_begins_with_the_agreed_error():
    result = user_select.result(ASKED, Outcome(Status.NEVER_SHOWN))
    first, *rest = result.text.splitlines()
    assert first == "user_select: no interactive UI available (running in non-interactive mode)"
    assert rest[-1] == '"Merge how?" Options: "Squash", "Rebase".'
    assert result.is_error
    assert result.details == {**UNANSWERED, "status": "never_shown", "error": "no_ui"}
