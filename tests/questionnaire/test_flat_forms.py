"""Questions as flat forms, and their replies judged."""

import pytest

from questionnaire.contracts import CONTRACTS
from questionnaire.model import Answer, CustomRow, Input, Option, Provenance, Question, Questionnaire, Status
from questionnaire.presenters.flat_forms import (
    MOST_ROUNDS,
    FormAction,
    FormDialect,
    FormDialogue,
    FormReply,
    form_of,
)
from questionnaire.progress import Give, Interview

OWN = CustomRow("Type something.")
DEPLOY = Question(
    "Where to?",
    (Option("Staging", "Shared."), Option("Throwaway", "Gone after an hour.", preview="| a |")),
    header="Deploy",
    custom=OWN,
)
SEVERAL = Question("Which checks?", (Option("lint"), Option("types"), Option("tests")), multi_select=True)
NAME = Question("What is it called?")
NOTE = Question("Anything else?", required=False)


def by(at):
    return Provenance("elicitation", Input.KEY, at)


def conducted(questionnaire, *replies, dialect=FormDialect.TITLED):
    """Conduct an interview with these replies, and return its outcome and the forms that were asked."""
    interview = Interview(questionnaire)
    dialogue = FormDialogue(interview, by, dialect)
    forms = []
    for reply in replies:
        assert interview.outcome is None
        forms.append(dialogue.form(float(len(forms))))
        dialogue.take(reply, float(len(forms)))
    return interview.outcome, forms


def accepted(**content):
    return FormReply(FormAction.ACCEPT, content)


def test_pick_or_type_is_a_pair_of_fields_of_which_neither_is_required():
    form = form_of(Questionnaire((DEPLOY,)))
    assert form.message == "Where to?"
    pick, own = form.schema["properties"]["question_1"], form.schema["properties"]["question_1_custom"]
    assert pick["oneOf"] == [
        {"const": "Staging", "title": "Staging"},
        {"const": "Throwaway", "title": "Throwaway"},
    ]
    assert "Throwaway: Gone after an hour." in pick["description"]
    assert own["type"] == "string"
    assert "required" not in form.schema


def test_a_choice_without_own_words_is_required():
    form = form_of(Questionnaire((Question("Go?", (Option("Yes"), Option("No"))),)))
    assert form.schema["required"] == ["question_1"]


def test_several_questions_are_fields_that_name_their_question():
    form = form_of(Questionnaire((DEPLOY, NAME, NOTE), review=True))
    assert "3 questions" in form.message
    assert form.schema["properties"]["question_1"]["description"].startswith("Where to?")
    assert form.schema["properties"]["question_2"]["minLength"] == 1
    assert form.schema["required"] == ["question_2"]


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ({"question_1": "Throwaway"}, Answer((1,))),
        ({"question_1_custom": " my own "}, Answer(custom=" my own ")),
        ({"question_1": "Staging", "question_1_custom": "rather mine"}, Answer(custom="rather mine")),
        ({"question_1": "Staging", "question_1_custom": " "}, Answer((0,))),
        ({"question_1": "Staging", "question_1_custom": None}, Answer((0,))),
    ],
)
def test_a_pick_and_own_words_are_judged_as_everywhere(content, answer):
    outcome, _ = conducted(Questionnaire((DEPLOY,)), accepted(**content))
    assert outcome.status is Status.ANSWERED
    assert outcome.responses[0].answer == answer
    assert outcome.responses[0].unshown == ("previews",)


def test_several_picks_are_a_list_where_lists_can_be():
    questionnaire = Questionnaire((SEVERAL,), review=True)
    field = form_of(questionnaire).schema["properties"]["question_1"]
    assert field["type"] == "array"
    assert field["minItems"] == 1
    outcome, _ = conducted(questionnaire, accepted(question_1=["tests", "lint"]))
    assert outcome.responses[0].answer == Answer((0, 2))


def test_several_picks_are_a_yes_or_no_each_where_there_are_no_lists():
    questionnaire = Questionnaire((SEVERAL,), review=True)
    form = form_of(questionnaire, dialect=FormDialect.NAMED)
    assert {field["type"] for field in form.schema["properties"].values()} == {"boolean"}
    outcome, _ = conducted(
        questionnaire,
        accepted(question_1_option_1=True, question_1_option_2=False, question_1_option_3=True),
        dialect=FormDialect.NAMED,
    )
    assert outcome.responses[0].answer == Answer((0, 2))


def test_names_stand_in_an_enum_where_there_are_no_titles():
    field = form_of(Questionnaire((DEPLOY,)), dialect=FormDialect.NAMED).schema["properties"]["question_1"]
    assert field["enum"] == field["enumNames"] == ["Staging", "Throwaway"]


def test_what_is_missing_is_asked_again_and_the_rest_kept():
    outcome, forms = conducted(
        Questionnaire((DEPLOY, NAME, NOTE), review=True),
        accepted(question_1="Staging", question_2="  "),
        accepted(question_2="ledger"),
    )
    assert set(forms[1].schema["properties"]) == {"question_2"}
    assert "Nothing was typed." in forms[1].message
    assert [response.answer for response in outcome.responses] == [
        Answer((0,)),
        Answer(custom="ledger"),
        None,
    ]
    assert outcome.responses[2].skipped


def test_a_choice_that_was_not_offered_is_no_answer():
    outcome, forms = conducted(
        Questionnaire((SEVERAL,)), accepted(question_1=["lint", "deploy"]), FormReply(FormAction.DECLINE)
    )
    assert "did not offer" in forms[1].message
    assert outcome.status is Status.DECLINED
    assert outcome.responses[0].answer is None


@pytest.mark.parametrize("value", [True, 3, 2.5, ["Staging", "Throwaway"], "", "3"])
def test_no_other_value_is_taken_for_a_choice(value):
    outcome, _ = conducted(Questionnaire((DEPLOY,)), accepted(question_1=value))
    assert outcome is None


def test_a_client_that_accepts_empty_forms_by_itself_comes_to_an_end():
    outcome, _ = conducted(Questionnaire((NAME,)), *[accepted()] * MOST_ROUNDS)
    assert outcome.status is Status.CANCELLED
    assert outcome.reason


def test_a_decline_is_a_no_and_a_dismissal_is_none():
    assert conducted(Questionnaire((NAME,)), FormReply(FormAction.DECLINE))[0].status is Status.DECLINED
    assert conducted(Questionnaire((NAME,)), FormReply(FormAction.CANCEL))[0].status is Status.CANCELLED


def test_what_was_answered_before_a_dismissal_is_kept():
    outcome, _ = conducted(
        Questionnaire((DEPLOY, NAME), review=True),
        accepted(question_1="Staging"),
        FormReply(FormAction.CANCEL),
    )
    assert outcome.status is Status.CANCELLED
    assert outcome.responses[0].answer == Answer((0,))


def test_what_others_answered_meanwhile_is_not_asked():
    interview = Interview(Questionnaire((DEPLOY, NAME), review=True))
    dialogue = FormDialogue(interview, by)
    dialogue.form(0.0)
    interview.send(Give(Answer((1,)), by(0.5), 0))
    assert set(dialogue.form(1.0).schema["properties"]) == {"question_2"}


def test_labels_that_look_alike_are_numbered():
    question = Question("Which?", (Option("A"), Option("a ")))
    form = form_of(Questionnaire((question,)))
    assert [entry["const"] for entry in form.schema["properties"]["question_1"]["oneOf"]] == ["1. A", "2. a "]
    outcome, _ = conducted(Questionnaire((question,)), accepted(question_1="2. a "))
    assert outcome.responses[0].answer == Answer((1,))


def test_nothing_that_a_terminal_obeys_is_in_a_form():
    question = Question(
        "Go\x1b[2J?\u202e", (Option("A\x1b]0;x\x07"), Option("B", "d\x1b[1m")), header="H\x1b"
    )
    assert "\x1b" not in str(form_of(Questionnaire((question, NAME))))
    assert "\u202e" not in str(form_of(Questionnaire((question,))))


def test_every_contract_can_be_asked_and_told():
    """The worked examples of the contracts, answered by forms."""
    form = CONTRACTS["form"]
    questionnaire = form.read(
        {
            "questions": [
                {
                    "id": "lang",
                    "question": "Which language?",
                    "type": "select",
                    "options": [{"value": "py", "label": "Python"}, {"value": "rs", "label": "Rust"}],
                },
                {"id": "name", "question": "Its name?", "type": "text"},
                {"id": "note", "question": "Anything else?", "type": "text", "required": False},
            ]
        }
    )
    outcome, _ = conducted(questionnaire, accepted(question_1="Rust", question_2="ledger", question_3=""))
    answers = form.result(questionnaire, outcome).details["answers"]
    assert [(entry["answer"], entry["value"], entry["skipped"]) for entry in answers] == [
        ("Rust", "rs", False),
        ("ledger", "ledger", False),
        ("", None, True),
    ]
    select = CONTRACTS["user_select"]
    questionnaire = select.read(
        {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}], "allowCustom": True}
    )
    outcome, _ = conducted(questionnaire, accepted(question_1_custom=" merge commit "))
    assert select.result(questionnaire, outcome).text == "User wrote: merge commit"
