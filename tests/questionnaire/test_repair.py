"""What models really send, and what becomes of it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire.contracts import CONTRACTS, choices, form, user_select
from questionnaire.display import look
from questionnaire.errors import InvalidQuestionnaire
from questionnaire.model import Outcome, Status
from questionnaire.testing import answered

A, B = {"label": "A", "description": "a"}, {"label": "B", "description": "b"}
QUESTION = {"question": "Which?", "header": "H", "options": [A, B]}
CALL = {"questions": [QUESTION]}
CURLY = str.maketrans('"', "”")


def with_options(*options):
    return {"questions": [{**QUESTION, "options": list(options)}]}


def asked(questionnaire):
    return questionnaire.questions


@pytest.mark.parametrize(
    ("sent", "repair"),
    [
        ({"questions": json.dumps([QUESTION])}, "questions: a JSON text was read as the array it holds"),
        ({"questions": json.dumps(json.dumps([QUESTION]))}, "a JSON text was read"),
        ({"questions": f"```json\n{json.dumps([QUESTION])}\n```"}, "a JSON text was read"),
        ({"questions": json.dumps([QUESTION]).translate(CURLY)}, "a JSON text was read"),
        ({"questions": json.dumps(QUESTION)}, "questions: a single object was read as an array of one"),
        ({"questions": [json.dumps(QUESTION)]}, "question 1: a JSON text was read as the object it holds"),
        ({"questions": QUESTION}, "questions: a single object was read as an array of one"),
        ({"questions": [{**QUESTION, "options": json.dumps([A, B])}]}, "question 1, options: a JSON text"),
        (with_options(json.dumps(A), B), "question 1, option 1: a JSON text was read as the object it holds"),
        (QUESTION, "questions: a single question was read as an array of one"),
        ({"Questions": [QUESTION]}, 'the call: "Questions" was read as questions'),
        (
            {"questions": [{"prompt": "Which?", "header": "H", "choices": [A, B]}]},
            'question 1: "prompt" was read as question',
        ),
        (with_options({"title": "A", "desc": "a"}, B), 'question 1, option 1: "title" was read as label'),
        (with_options({"value": "A", "description": "a"}, B), '"value" was read as label'),
        ({"questions": [{**QUESTION, "multi_select": "false"}]}, '"multi_select" was read as multiSelect'),
        ({"questions": [{**QUESTION, "multiSelect": "False"}]}, '"False" was read as false'),
        ({"questions": [{**QUESTION, "multiSelect": 0}]}, '"0" was read as false'),
        ({"questions": [{**QUESTION, "colour": "red"}]}, 'the unknown key "colour" was ignored'),
        ({**CALL, "timeout": 5}, 'the call: the unknown key "timeout" was ignored'),
    ],
)
def test_what_is_nearly_right_is_read_as_what_it_means_and_named(sent, repair):
    read = choices.read(sent)
    assert asked(read) == asked(choices.read(CALL))
    assert any(repair in made for made in read.repairs), read.repairs


def test_what_is_right_needs_no_repair():
    nulls = {"questions": [{**QUESTION, "multiSelect": None, "options": [{**A, "preview": None}, B]}]}
    for sent in (CALL, nulls):
        assert choices.read(sent) == choices.read(CALL)
        assert choices.read(sent).repairs == ()


def test_plain_texts_are_options_and_questions():
    [question] = asked(choices.read(with_options("Red, white", 7)))
    assert [option.label for option in question.options] == ["Red, white", "7"]
    [question] = asked(form.read({"questions": ["What is it called?"]}))
    assert (question.text, question.kind) == ("What is it called?", "text")


def test_a_line_break_that_was_spelled_out():
    read = choices.read(with_options({**A, "preview": r"one\ntwo\r\nthree"}, {**B, "description": r"x\ny"}))
    [question] = asked(read)
    assert question.options[0].preview == "one\ntwo\nthree"
    assert question.options[1].description == "x\ny"
    assert r"question 1, option 1, preview: a literal \n was read as a line break" in read.repairs


@pytest.mark.parametrize("text", ["one\nprint(r'\\n x')", r"C:\new", r"split('\n')", r"a\\nb"])
def test_what_only_looks_like_a_spelled_break_stays(text):
    [question] = asked(choices.read(with_options({**A, "preview": text}, B)))
    assert question.options[0].preview == text


@pytest.mark.parametrize(
    "label",
    [
        "Other",
        "other…",
        "Something else",
        "Type something.",
        "Other (please specify)",
        "Type\u200b something",
    ],
)
def test_an_authors_own_row_for_words_is_folded_into_ours(label):
    read = choices.read(with_options(A, {"label": label}))
    [question] = asked(read)
    assert [option.label for option in question.options] == ["A"]
    assert question.custom == choices.CUSTOM_ROW
    assert any("folded into the row" in made for made in read.repairs)
    [question] = asked(form.read({"questions": [{"question": "Which?", "options": [label]}]}))
    assert question.kind == "text"


@pytest.mark.parametrize("label", ["None of these", "None of the above", "Custom", "Another one"])
def test_what_answers_stays_an_option(label):
    [question] = asked(choices.read(with_options(A, {"label": label})))
    assert len(question.options) == 2


def test_a_closed_selection_has_no_row_to_fold_into():
    [closed] = asked(user_select.read({"question": "Merge how?", "options": ["Squash", "Other"]}))
    assert [option.label for option in closed.options] == ["Squash", "Other"]
    opened = {"question": "Merge how?", "options": ["Squash", "Other"], "allow_custom": "true"}
    [question] = asked(user_select.read(opened))
    assert [option.label for option in question.options] == ["Squash"]


@pytest.mark.parametrize("label", ["A (Recommended)", "(recommended) A", "A [RECOMMENDED] "])
def test_a_recommendation_becomes_a_badge(label):
    [question] = asked(choices.read(with_options({"label": label}, B)))
    assert (question.options[0].label, question.options[0].badge) == ("A", "recommended")
    with pytest.raises(InvalidQuestionnaire, match="as in option 1"):
        choices.read(with_options(label, "A"))


def test_a_recommendation_alone_is_a_label():
    [question] = asked(choices.read(with_options("(Recommended)", B)))
    assert (question.options[0].label, question.options[0].badge) == ("(Recommended)", "")


@pytest.mark.parametrize(
    ("option", "where"),
    [
        ({"label": {"text": "A"}}, "question 1, option 1, label: an object came"),
        ({"wert": "A"}, "question 1, option 1, label: no visible text came"),
        ('{"label": ', "question 1, option 1: text came"),
        ([A], "question 1, option 1: an array came"),
        (None, "question 1, option 1: null came"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_its_place(option, where):
    with pytest.raises(InvalidQuestionnaire) as caught:
        choices.read(with_options(option, B))
    assert str(caught.value).startswith(where)


def test_repairs_are_told_in_every_result():
    for name, sent in (
        ("choices", QUESTION),
        ("form", QUESTION),
        ("user_select", {"question": "W?", "options": ["A"]}),
    ):
        contract = CONTRACTS[name]
        read = contract.read(sent)
        for outcome in (answered(read, "1"), *(Outcome(status) for status in Status if status != "answered")):
            assert contract.result(read, outcome).details["repairs"] == list(read.repairs) != []


KEYS = ["question", "questions", "options", "label", "value", "id", "type", "header", "allowCustom", "x"]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["[]", "{}"])
)


def objects(entries):
    return st.dictionaries(st.sampled_from(KEYS), entries, max_size=5)


JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | objects(inner) | inner.map(json.dumps), max_leaves=25
)


@given(objects(JSON), st.sampled_from(list(CONTRACTS.values())))
def test_whatever_comes_is_read_or_refused(arguments, contract):
    try:
        read = contract.read(arguments)
    except InvalidQuestionnaire:
        return
    assert all(look(question.text) for question in read.questions)
    assert all(question.options or question.takes_words for question in read.questions)
