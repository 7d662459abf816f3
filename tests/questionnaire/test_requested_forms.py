"""Forms of an agent's, read as questions, and filled in."""

import anyio
import pytest

from questionnaire.errors import InvalidQuestionnaire, NoInterface
from questionnaire.model import Outcome, Status
from questionnaire.presenters.flat_forms import FormAction, FormDialect, form_of
from questionnaire.presenters.requested_forms import answer_form, read_form
from questionnaire.testing import answered, outcome_of


def schema(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


PAIR = {
    "question_1": {"type": "string", "oneOf": [{"const": "a", "title": "First"}, {"const": "b"}]},
    "question_1_custom": {"type": "string", "title": "Other"},
}


def filled(message, wanted, *typings):
    """Fill a form in, each time it is asked with what is typed, one a question; and what was asked."""
    asked = []

    async def ask(questionnaire):
        asked.append(questionnaire)
        return answered(questionnaire, *typings[len(asked) - 1])

    async def fill():
        return await answer_form(message, wanted, ask)

    reply = anyio.run(fill)
    assert len(asked) == len(typings)
    return reply, asked


@pytest.mark.parametrize(
    ("field", "typed", "value"),
    [
        ({"type": "string"}, "some words", "some words"),
        ({"type": "integer"}, " 42 ", 42),
        ({"type": "integer"}, "4.0", 4),
        ({"type": "integer"}, "9007199254740993", 9007199254740993),  # no float is that number
        ({"type": "number", "minimum": 0}, "2.5", 2.5),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "2", False),
        ({"type": "string", "enum": ["x", "y"], "enumNames": ["Ex", "Why"]}, "Why", "y"),
        ({"type": "string", "oneOf": [{"const": "x", "title": "Ex"}]}, "1", "x"),
        ({"type": "array", "items": {"enum": ["x", "y", "z"]}}, "1, 3", ["x", "z"]),
        ({"type": "array", "items": {"anyOf": [{"const": "x", "title": "Ex"}]}}, "Ex", ["x"]),
        ({"type": "string", "format": "email"}, "a@b.example", "a@b.example"),
    ],
)
def test_each_kind_of_field_gets_a_value_of_its_kind(field, typed, value):
    reply, _ = filled("Please.", schema(["it"], it=field), [typed])
    assert reply.action is FormAction.ACCEPT
    assert reply.content == {"it": value}
    assert type(reply.content["it"]) is type(value)


def test_pick_or_type_is_one_question():
    form = read_form("Which?", schema(**PAIR))
    [question] = form.questionnaire.questions
    assert question.text == "Which?"
    assert question.custom.label == "Other"
    assert not question.required
    assert filled("Which?", schema(**PAIR), ["First"])[0].content == {"question_1": "a"}
    assert filled("Which?", schema(**PAIR), ["neither"])[0].content == {"question_1_custom": "neither"}


def test_an_optional_field_that_is_skipped_is_left_out():
    form = read_form("Two.", schema(["a"], a={"type": "string"}, b={"type": "string"}))
    outcome = answered(form.questionnaire, "x", "")
    assert form.reply(outcome).content == {"a": "x"}


@pytest.mark.parametrize(
    ("field", "bad", "good"),
    [
        ({"type": "integer"}, "four", "4"),
        ({"type": "integer"}, "4.5", "4"),
        ({"type": "number"}, "nan", "1"),
        ({"type": "number", "maximum": 3}, "4", "3"),
        ({"type": "string", "maxLength": 3}, "long one", "one"),
        ({"type": "string", "minLength": 3}, "a", "abc"),
        ({"type": "string", "format": "date"}, "tomorrow", "2026-12-01"),
        ({"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 2}, "1", "1, 2"),
        ({"type": "array", "items": {"enum": ["x", "y"]}, "maxItems": 1}, "1, 2", "2"),
    ],
)
def test_what_a_field_does_not_take_is_asked_again_and_the_rest_kept(field, bad, good):
    wanted = schema(["it", "other"], it=field, other={"type": "string"})
    reply, asked = filled("Two.", wanted, [bad, "kept"], [good])
    assert reply.content["other"] == "kept"
    [again] = asked[1].questions
    assert again.id == "it"
    assert again.text != asked[0].questions[0].text


def test_what_a_field_does_not_take_is_not_sent_where_it_is_left_empty_afterwards():
    choice = {"type": "string", "format": "email"}
    reply, _ = filled("Two.", schema(["b"], a=choice, b={"type": "string"}), ["no address", "kept"], [""])
    assert reply.content == {"b": "kept"}
    several = {"type": "array", "items": {"enum": ["x", "y"]}, "maxItems": 1}
    beside = {"a": several, "a_custom": {"type": "string"}}
    reply, _ = filled("Which?", schema(**beside), ["1, 2"], ["neither"])
    assert reply.content == {"a_custom": "neither"}


def test_a_form_without_fields_asks_for_a_yes():
    assert read_form("Delete it?", {"type": "object"}).questionnaire.risky, "what is said is confirmed"
    assert filled("Delete it?", {"type": "object"}, ["Yes"])[0].action is FormAction.ACCEPT
    assert filled("Delete it?", {"type": "object", "properties": {}}, ["No"])[0].action is FormAction.DECLINE


@pytest.mark.parametrize(
    ("fields", "risky"),
    [
        ({"ok": {"type": "boolean"}}, True),
        ({"ok": {"type": "boolean"}, "why": {"type": "string"}}, False),
        ({"why": {"type": "string"}}, False),
        ({"which": {"enum": ["Yes", "No"]}}, False),
    ],
)
def test_a_form_that_asks_for_a_mere_yes_or_no_is_a_permission(fields, risky):
    for required in ([], list(fields)):
        assert read_form("Delete it?", schema(required, **fields)).questionnaire.risky is risky


@pytest.mark.parametrize(
    ("status", "action"),
    [
        (Status.DECLINED, FormAction.DECLINE),
        (Status.CANCELLED, FormAction.CANCEL),
        (Status.TIMED_OUT, FormAction.CANCEL),
        (Status.SUPERSEDED, FormAction.CANCEL),
    ],
)
def test_only_the_users_no_is_a_decline(status, action):
    form = read_form("Which?", schema(**PAIR))
    reply = form.reply(outcome_of(form.questionnaire, end=status))
    assert reply.action is action
    assert not reply.content


def test_that_nobody_saw_it_is_an_error_and_no_dismissal():
    form = read_form("Which?", schema(**PAIR))
    with pytest.raises(NoInterface):
        form.reply(Outcome(Status.NEVER_SHOWN))


@pytest.mark.parametrize(
    "wanted",
    [
        {"properties": {"a": {"type": "object"}}},
        {"properties": {"a": 3}},
        {"properties": ["a"]},
        {"properties": {"a": {"type": ["string", "null"]}}},
        {"properties": {"a": {"type": "array", "items": {"type": "string"}}}},
    ],
)
def test_what_is_no_flat_form_is_refused_in_words(wanted):
    with pytest.raises(InvalidQuestionnaire, match=r"form can hold|no object"):
        read_form("What?", wanted)


def test_a_suggestion_is_shown_and_chosen_for_nobody():
    form = read_form("Go?", schema(go={"type": "boolean", "default": True}))
    assert [option.badge for option in form.questionnaire.questions[0].options] == ["suggested", ""]
    form = read_form("Name?", schema(name={"type": "string", "default": "ledger"}))
    assert "ledger" in form.questionnaire.questions[0].text


def test_our_own_forms_are_read_back():
    ours = read_form("Which?", schema(["question_1"], **PAIR)).questionnaire
    for dialect in FormDialect:
        form = form_of(ours, dialect=dialect)
        [question] = read_form(form.message, form.schema).questionnaire.questions
        assert [option.label for option in question.options] == ["First", "b"]
        assert question.custom is not None
