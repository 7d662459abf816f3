"""What an agent asks, as questions; what its adapter says of itself."""

import pytest

from questionnaire import Answer, Input, Outcome, Provenance, Response, Status
from voice.hosts.acp.remarks import Remarks, is_of_subagent
from voice.hosts.acp.requests import Choice, Permission
from voice.spoken_form import spoken_question

ALLOW = [
    Choice("once", "Allow", "allow_once"),
    Choice("ever", "Always", "allow_always"),
    Choice("no", "No", "reject_once"),
]
COLORS = [Choice("choice-0", "Red", "allow_once"), Choice("choice-1", "Blue", "allow_once")]


def outcome(status, *answers):
    by = Provenance("test", Input.KEY, 0.0)
    return Outcome(status, tuple(Response(answer, shown_at=0.0, by=by) for answer in answers))


def test_a_permission_names_what_would_be_done_and_what_each_answer_means():
    asked = Permission("Delete the folder", ALLOW, "execute", {"command": "rm -rf build"}).questionnaire("Pi")
    (question,) = asked.questions
    assert asked.risky
    assert question.text == "Pi asks: Delete the folder\nrm -rf build"
    assert question.custom is None, "own words are no answer to it"
    assert [(option.label, option.description) for option in question.options] == [
        ("Allow", "This once."),
        ("Always", "Now, and without asking from now on."),
        ("No", "Not this time."),
    ]


def test_a_command_that_is_the_title_is_heard_and_not_passed_over_as_code():
    asked = Permission("`git push --force`", ALLOW, "execute", {"command": "git push --force"})
    (question,) = asked.questionnaire("Claude").questions
    assert question.text == "Claude asks: git push --force"
    assert "git push --force" in spoken_question(question)
    assert Permission("`a` and `b`", ALLOW).questionnaire("Claude").questions[0].text.endswith("`a` and `b`")
    assert Permission("``", ALLOW).questionnaire("Claude").questions[0].text == "Claude asks: Go on?"


@pytest.mark.parametrize(
    ("kind", "choices", "risky"),
    [
        ("other", COLORS, False),
        (None, COLORS, False),
        ("execute", COLORS, True),
        ("edit", COLORS[:1], True),
        ("other", ALLOW, True),
        ("other", [*COLORS, Choice("no", "None", "reject_once")], True),
        ("other", [*COLORS, Choice("x", "New", "some_new_kind")], True),
    ],
)
def test_a_choice_between_equals_is_no_permission(kind, choices, risky):
    assert Permission("Which color?", choices, kind).questionnaire("Pi").risky is risky


def test_a_choice_is_asked_in_the_agents_own_words():
    (question,) = (
        Permission("Which color?", COLORS, "other", {"method": "select"}).questionnaire("Pi").questions
    )
    assert (question.text, question.header) == ("Which color?", "")
    assert [(option.label, option.description) for option in question.options] == [("Red", ""), ("Blue", "")]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (None, ""),
        ({}, ""),
        ("ls", "\nls"),
        ({"path": "a", "n": 1}, '\n{"path": "a", "n": 1}'),
        ({"command": 5}, '\n{"command": 5}'),
        ({"command": "x" * 500 + "; rm -rf ~"}, "\n" + "x" * 500 + "; rm -rf ~"),
        (
            {"command": "x" * 5_000 + "; rm -rf ~"},
            "\n" + "x" * 1_000 + " … (3010 characters are not shown) … " + "x" * 990 + "; rm -rf ~",
        ),
        (["x" * 496], '\n["' + "x" * 198 + " … (100 characters are not shown) … " + "x" * 198 + '"]'),
        ({"command": "Delete"}, ""),  # the title says so
    ],
)
def test_what_a_tool_would_get_is_shown_in_few_words(given, shown):
    (question,) = Permission("Delete", ALLOW, "execute", given).questionnaire("Pi").questions
    assert question.text == f"Pi asks: Delete{shown}"


@pytest.mark.parametrize(
    ("title", "command", "hidden"),
    [
        ("Format files", "at", False),
        ("Clean ./build up", "Clean .", False),
        ("Run ls.sh", "ls", False),
        ("List it twice", "ls", False),
        ("Run `ls -la`?", "ls -la", True),
        ("Run: make.", "make", True),
        ("make", "make", True),
        ("echo (a|b)", "echo (a|b)", True),
    ],
)
def test_a_command_is_not_shown_twice_but_never_left_out_for_its_letters(title, command, hidden):
    permission = Permission(title, ALLOW, "execute", {"command": command})
    (question,) = permission.questionnaire("Pi").questions
    assert question.text == f"Pi asks: {title}" + ("" if hidden else f"\n{command}")


def test_only_an_answer_chooses():
    permission = Permission("Delete", ALLOW, "execute")
    assert permission.chosen(outcome(Status.ANSWERED, Answer((1,)))) == "ever"
    for status in set(Status) - {Status.ANSWERED}:
        assert permission.chosen(outcome(status, Answer((0,)))) is None


@pytest.mark.parametrize(
    "answers",
    [[], [None], [Answer((0, 1))], [Answer((7,))], [Answer(custom="yes")], [Answer((0,)), Answer((0,))]],
)
def test_an_answer_that_is_not_one_of_the_choices_allows_nothing(answers):
    assert Permission("Delete", ALLOW, "execute").chosen(outcome(Status.ANSWERED, *answers)) is None


@pytest.mark.parametrize(
    "text",
    [
        "Queued message (position 2).",
        "Retrying...",
        "Retrying (attempt 1/3, waiting 4s)...",
        "Retry finished, resuming.",
        "Pi editor UI request is not supported in ACP yet; cancelling it.",
        "Compacting...",
    ],
)
def test_what_adapters_say_of_themselves_is_known(text):
    assert Remarks(None).is_remark(text, None)


@pytest.mark.parametrize(
    "text", ["Retrying the upload.", "I queued the message.", "Compacting... the sand", "Done.", "", "\n"]
)
def test_what_the_agent_says_is_not_taken_for_it(text):
    assert not Remarks(None).is_remark(text, None)
    assert not Remarks(None).is_banner(text)


def test_a_banner_is_known_by_what_came_with_the_session():
    remarks = Remarks({"piAcp": {"startupInfo": "Pi v1.6.0\n\nSkills: none\n"}, "other": None})
    assert remarks.is_banner("Pi v1.6.0\n\nSkills: none\n")
    assert not remarks.is_banner("Pi v1.6.0")


def test_marks_tell_notifications_and_the_agents_of_the_agent():
    assert Remarks(None).is_remark("Anything", {"piAcp": {"notify": {"level": "info"}}})
    assert Remarks(None).is_remark("Anything", {"claudeCode": {"kind": "informational"}})
    assert not Remarks(None).is_remark("Anything", {"claudeCode": {"kind": "answer"}, "odd": 5})
    assert is_of_subagent({"claudeCode": {"parentToolUseId": "toolu_1"}})
    assert not is_of_subagent({"claudeCode": {}})
    assert not is_of_subagent(None)
