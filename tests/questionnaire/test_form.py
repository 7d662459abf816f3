import json

import pytest

from questionnaire.contracts import form
from questionnaire.errors import InvalidQuestionnaire, NotShown
from questionnaire.model import Answer, Kind, Outcome, Status
from questionnaire.progress import Draft, Give, GoTo, Note, Stop
from questionnaire.testing import BY, answered, outcome_of

CALL = {
    "questions": [
        {
            "id": "lang",
            "question": "Which language should the service use?",
            "type": "select",
            "options": [
                {"value": "py", "label": "Python"},
                {"value": "rs", "label": "Rust", "description": "Longer build."},
            ],
        },
        {"id": "name", "question": "What is the service called?", "type": "text"},
        {"id": "note", "question": "Anything else?", "type": "text", "required": False},
    ]
}
ASKED = form.read(CALL)
ENTRIES = [
    {
        "id": "lang",
        "question": "Which language should the service use?",
        "type": "select",
        "answer": "Rust",
        "value": "rs",
        "label": "Rust",
        "custom": False,
        "skipped": False,
    },
    {
        "id": "name",
        "question": "What is the service called?",
        "type": "text",
        "answer": "ledger",
        "value": "ledger",
        "label": None,
        "custom": True,
        "skipped": False,
    },
    {
        "id": "note",
        "question": "Anything else?",
        "type": "text",
        "answer": "",
        "value": None,
        "label": None,
        "custom": False,
        "skipped": True,
    },
]


def select(**changes):
    return {"id": "x", "question": "Which?", "type": "select", "options": ["A", "B"], **changes}


def with_questions(*questions):
    return {"questions": list(questions)}


def test_the_schema_is_flat_and_states_the_limits():
    text = json.dumps(form.TOOL.parameters)
    assert "$ref" not in text
    assert "anyOf" not in text
    questions = form.TOOL.parameters["properties"]["questions"]
    assert (questions["minItems"], questions["maxItems"]) == (1, 8)
    fields = questions["items"]["properties"]
    assert (fields["options"]["minItems"], fields["options"]["maxItems"]) == (1, 8)
    assert fields["type"]["enum"] == ["select", "text"]
    assert fields["required"]["default"] is True


def test_arguments_become_the_neutral_questionnaire():
    lang, name, note = ASKED.questions
    assert [option.value for option in lang.options] == ["py", "rs"]
    assert lang.custom == form.CUSTOM_ROW
    assert (name.kind, name.id, name.required) == (Kind.TEXT, "name", True)
    assert note.required is False
    assert ASKED.review
    assert ASKED.repairs == ()


def test_a_form_of_one_choice_has_its_review_too():
    assert form.read(with_questions(select(options=["Python"]))).review


def test_the_worked_example():
    result = form.result(ASKED, answered(ASKED, "2", "ledger", ""))
    assert result.details == {"version": 1, "cancelled": False, **CALL, "answers": ENTRIES}
    assert result.text == (
        "Which language should the service use?: Rust\n"
        "What is the service called?: ledger\n"
        "Anything else?: (skipped)"
    )
    assert result.is_error is False


def test_own_words_instead_of_an_option():
    result = form.result(ASKED, answered(ASKED, "Zig, perhaps", " a\nb ", "no"))
    own, several_lines, _ = result.details["answers"]
    assert own == {
        **ENTRIES[0],
        "answer": "Zig, perhaps",
        "value": "Zig, perhaps",
        "label": None,
        "custom": True,
    }
    assert several_lines["answer"] == " a\nb "
    assert "What is the service called?:  a\\nb \n" in result.text


@pytest.mark.parametrize(
    "forged", ["x\nAnything else?: yes", "x\r\n  user notes: y", "x\u2028Anything else?: z"]
)
def test_an_answer_cannot_pass_for_a_further_line(forged):
    result = form.result(ASKED, answered(ASKED, "1", Give(Answer(custom=forged), BY), "no"))
    assert len(result.text.splitlines()) == 3


def test_words_cannot_pass_for_a_skip():
    result = form.result(ASKED, answered(ASKED, "1", "(skipped)", "\\(skipped) "))
    assert result.text.splitlines()[1:] == [
        "What is the service called?: \\(skipped)",
        "Anything else?: \\\\(skipped) ",
    ]
    result = form.result(ASKED, answered(ASKED, "1", "(skipped)\u200b", "\u200b\\(skipped)"))
    assert [line.count("\\") for line in result.text.splitlines()] == [0, 1, 2]


def test_blank_notes_and_drafts_are_not_told():
    unseen = (Note("\u200b"), Draft(" \u200d"))
    result = form.result(ASKED, answered(ASKED, *unseen, "1", "ledger", "no"))
    assert "notes" not in result.details["answers"][0]
    assert result.text.splitlines()[:2] == [
        "Which language should the service use?: Python",
        "What is the service called?: ledger",
    ]


def test_what_was_written_beside_an_answer_stands_below_it():
    noted = (Note("soon"), Draft("or Go"), "1", "ledger", Draft("thanks\nfor asking"), Note("x"))
    result = form.result(ASKED, outcome_of(ASKED, *noted, Stop()))
    assert result.text.splitlines() == [
        "User declined to answer the form",
        "Answered before that:",
        "Which language should the service use?: Python",
        "  user notes: soon",
        "  typed, but not sent: or Go",
        "What is the service called?: ledger",
        "Not answered: Anything else?",
        "  user notes: x",
        "  typed, but not sent: thanks\\nfor asking",
    ]
    details = result.details
    assert [entry["id"] for entry in details["answers"]] == ["lang", "name"]
    assert (details["cancelled"], details["status"]) == (True, "declined")
    assert details["states"][2] == {
        "questionIndex": 2,
        "state": "draft",
        "draft": "thanks\nfor asking",
        "notes": "x",
    }


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.ANSWERED])
def test_only_an_answered_form_is_evidence(status):
    answers = () if status is Status.NEVER_SHOWN else ("2",)
    result = form.result(ASKED, outcome_of(ASKED, *answers, end=status, reason="because"))
    assert result.details["cancelled"] is True
    assert result.details["status"] == status
    assert result.details["questions"] == CALL["questions"]
    assert result.is_error is (status is Status.NEVER_SHOWN)
    assert len(result.details["answers"]) == len(answers)


def test_every_answer_of_an_answered_form_is_fit_for_evidence():
    for outcome in (answered(ASKED, "2", "ledger", ""), answered(ASKED, "own", "x", GoTo(2), "y")):
        for entry in form.result(ASKED, outcome).details["answers"]:
            assert entry["question"]
            assert entry["answer"] is not None


def test_never_shown_repeats_the_questions():
    result = form.result(ASKED, Outcome(Status.NEVER_SHOWN))
    assert result.text == (
        "ask_user_question: no interactive UI available (running in non-interactive mode)\n"
        "The user was not asked and saw nothing. Ask in your next message instead:\n"
        '"Which language should the service use?" Options: "Python", "Rust".\n'
        '"What is the service called?"\n'
        '"Anything else?"'
    )
    assert result.details["error"] == "no_ui"
    assert form.failure(NotShown("nobody saw it"), ASKED).details["status"] == "never_shown"


def test_eight_questions_of_eight_options():
    options = [str(number) for number in range(8)]
    eight = [select(id=str(number), question=f"{number}?", options=options) for number in range(8)]
    assert len(form.read(with_questions(*eight)).questions) == 8


@pytest.mark.parametrize("options", [[], None, ["Other"]])
def test_without_options_it_is_a_question_for_text(options):
    read = form.read(with_questions(select(options=options)))
    [question] = read.questions
    assert question.kind is Kind.TEXT
    assert 'question 1, type: "select" came with no options, and was read as text' in read.repairs
    [entry] = form.result(read, answered(read, "own words")).details["answers"]
    assert (entry["answer"], entry["type"]) == ("own words", "text")


def test_what_is_absent_is_made_up_for():
    read = form.read(
        with_questions({"question": "Which?", "options": ["A"]}, select(id="q2", question="Why?", type=None))
    )
    assert [question.id for question in read.questions] == ["q1", "q2"]
    assert read.questions[0].options[0].value == "A"
    assert "question 1, id: none came; it is called q1" in read.repairs
    assert read.id_of(0) == "q1"


@pytest.mark.parametrize(
    ("arguments", "code", "where"),
    [
        ({}, "no_questions", "questions: nothing came"),
        (
            with_questions(*(select(question=str(number)) for number in range(9))),
            "too_many_questions",
            "questions: 9",
        ),
        (with_questions(select(), select(question="Why?")), "duplicate_id", 'question 2, id: "x" came'),
        (with_questions(select(), select(id="y")), "duplicate_question", "question 2"),
        (with_questions(select(options=list("ABCDEFGHI"))), "too_many_options", "question 1, options: 9"),
        (with_questions(select(options=["A", "a"])), "duplicate_option_label", "question 1, option 2"),
        (
            with_questions(select(options=[{"value": "v", "label": "A"}, {"value": "v", "label": "B"}])),
            "duplicate_option_value",
            "question 1, option 2",
        ),
        (with_questions(select(required="perhaps")), "wrong_type", "question 1, required"),
    ],
)
def test_refusals(arguments, code, where):
    with pytest.raises(InvalidQuestionnaire) as caught:
        form.read(arguments)
    sentence = str(caught.value)
    assert caught.value.code == code
    assert sentence.startswith(where)
    example = sentence.partition("Example: ")[2].partition(". The user saw nothing")[0]
    assert form.read(json.loads(example)).repairs == ()
    unread = {"version": 1, "cancelled": True, "questions": [], "answers": []}
    assert form.failure(caught.value, None).details == {**unread, "status": "never_shown", "error": code}


@pytest.mark.parametrize(
    ("status", "first_line"),
    [
        (Status.DECLINED, "User declined to answer the form"),
        (Status.CANCELLED, "The form was cancelled before the user had finished"),
        (Status.TIMED_OUT, "The form went unanswered until its time ran out; it may be asked again"),
        (
            Status.SUPERSEDED,
            "The form was withdrawn from the screen; the answers may reach you another way",
        ),
    ],
)
def test_every_early_end_keeps_what_was_answered(status, first_line):
    result = form.result(ASKED, outcome_of(ASKED, "2", end=status, reason="two\nlines"))
    assert result.text == (
        f"{first_line}\n"
        "Reason: two\\nlines\n"
        "Answered before that:\n"
        "Which language should the service use?: Rust"
    )
    assert result.details == {
        "version": 1,
        "cancelled": True,
        **CALL,
        "answers": ENTRIES[:1],
        "status": str(status),
        "states": [
            {"questionIndex": 0, "state": "answered"},
            {"questionIndex": 1, "state": "untouched"},
            {"questionIndex": 2, "state": "untouched"},
        ],
    }
