import unicodedata

import anyio
import pytest

from questionnaire.contracts import choices, user_select
from questionnaire.display import cells
from questionnaire.errors import TerminalLost
from questionnaire.model import Answer, Input, Provenance, Response, State, Status
from questionnaire.presenters.linear import LinearPresenter
from questionnaire.progress import Interview
from questionnaire.testing import ScriptedLines

pytestmark = pytest.mark.anyio

DEPLOY = {
    "header": "Deploy",
    "question": "Where should the preview be deployed?",
    "options": [
        {"label": "Staging cluster", "description": "Shared, slower to reset."},
        {"label": "Throwaway VM", "description": "Gone after an hour.", "preview": "if x:\n\tstop"},
    ],
}
CHECKS = {
    "question": "Which checks?",
    "options": [{"label": "Lint"}, {"label": "Types"}],
    "multiSelect": True,
}
MERGE = user_select.read({"question": "Merge how?", "options": [{"label": "Squash"}], "allowCustom": True})


def read(*questions):
    return choices.read({"questions": list(questions)})


async def present(questionnaire, *replies, width=80):
    interview = Interview(questionnaire)
    with ScriptedLines(*replies, width=width) as terminal:
        await LinearPresenter(terminal, clock=lambda: 7.0).present(interview)
    return interview.outcome, terminal.lines


def answers(outcome):
    return tuple(response.answer for response in outcome.responses)


async def test_one_question_as_it_is_shown():
    outcome, lines = await present(read(DEPLOY), "2")
    assert outcome.status is Status.ANSWERED
    assert outcome.responses == (
        Response(Answer((1,)), shown_at=7.0, by=Provenance("linear", Input.KEY, 7.0)),
    )
    assert lines == [
        "",
        "Question: Deploy",
        "  Where should the preview be deployed?",
        "",
        "1. Staging cluster",
        "",
        "    Shared, slower to reset.",
        "",
        "2. Throwaway VM",
        "",
        "    Gone after an hour.",
        "    | if x:",
        "    |     stop",
        "",
        "3. Type something.",
        "",
        "Type a number or label, or an answer of your own. Ctrl-D declines, /help helps.",
        "> 2",
    ]


async def test_a_closed_selection_as_it_is_shown():
    closed = user_select.read(
        {"question": "Merge how?", "options": [{"label": "Squash", "description": "One."}]}
    )
    outcome, lines = await present(closed, "own words", "1")
    assert answers(outcome) == (Answer((0,)),)
    assert lines == [
        "",
        "Question",
        "  Merge how?",
        "",
        "1. Squash",
        "",
        "    One.",
        "",
        "Type a number or label. Ctrl-D declines, /help helps.",
        "> own words",
        "“own words” is none of the options, and this question takes no other answer.",
        "Type a number or label.",
        "> 1",
    ]


async def test_several_questions_end_with_a_review_from_which_each_can_be_changed():
    outcome, lines = await present(read(DEPLOY, CHECKS), "1", "2, docs", "", "1", "2", "send")
    assert answers(outcome) == (Answer((1,)), Answer((1,), "docs"))
    assert "Question 1 of 2: Deploy" in lines
    assert "Question 2 of 2" in lines
    assert lines[lines.index("Review: your answers so far") - 1 :][:12] == [
        "",
        "Review: your answers so far",
        "",
        "1. Where should the preview be deployed?",
        "    Your answer: Staging cluster",
        "2. Which checks?",
        "    Your answer: Types, docs",
        "",
        "Type send to send them, or a number to change that answer. Ctrl-D declines.",
        "> ",
        "Type send, or a number from 1 to 2.",
        "> 1",
    ]
    assert lines[-5:-1] == [
        "2. Which checks?",
        "    Your answer: Types, docs",
        "",
        "Type send to send them, or a number to change that answer. Ctrl-D declines.",
    ]


async def test_an_unclear_reply_is_asked_again_with_the_reason():
    outcome, lines = await present(read(DEPLOY), "", "9", "1")
    assert outcome.status is Status.ANSWERED
    reasons = [line for line in lines[-6:] if not line.startswith(">")]
    assert reasons[0] == "Nothing was typed. Type a number or label, or an answer of your own."
    assert reasons[1].startswith("There is no row 9;")


async def test_the_custom_row_asks_for_its_words():
    outcome, lines = await present(read(CHECKS), "1, 3", "", "docs, please", "send")
    assert answers(outcome) == (Answer((0,), "docs, please"),)
    typed = lines.index("Type your answer.")
    assert lines[typed : typed + 4] == [
        "Type your answer.",
        "> ",
        "Nothing was typed. Type your answer.",
        "> docs, please",
    ]


async def test_blank_words_are_an_answer_where_the_contract_has_one_for_them():
    outcome, _ = await present(MERGE, "2", "  ")
    assert user_select.result(MERGE, outcome).text == "User submitted an empty custom answer"


@pytest.mark.parametrize("replies", [(None,), ("", None), ("3", None), ("/stop",)])
async def test_the_end_of_input_declines(replies):
    outcome, _ = await present(read(DEPLOY), *replies)
    assert outcome.status is Status.DECLINED
    assert outcome.responses[0].state is State.UNTOUCHED


async def test_declining_takes_two_once_something_was_answered_and_keeps_that():
    outcome, lines = await present(read(DEPLOY, CHECKS), "1", None, "1", "1", None, "", None, None)
    assert outcome.status is Status.DECLINED
    assert answers(outcome) == (Answer((0,)), Answer((0,)))
    assert lines.count("Ctrl-D again to stop; anything else goes on.") == 3


async def test_a_lost_terminal_cancels_and_keeps_what_was_answered():
    class Unplugged(ScriptedLines):
        async def read_line(self, prompt):
            reply = await super().read_line(prompt)
            if reply is None:
                raise TerminalLost("gone")
            return reply

    interview = Interview(read(DEPLOY, CHECKS))
    await LinearPresenter(Unplugged("1", None)).present(interview)
    assert interview.outcome.status is Status.CANCELLED
    assert interview.outcome.reason == "gone"
    assert answers(interview.outcome) == (Answer((0,)), None)


class Silent(ScriptedLines):
    async def read_line(self, prompt):
        reply = await super().read_line(prompt)
        if reply is None:
            await anyio.sleep_forever()
        return reply


async def test_a_cancelled_call_ends_its_line_and_leaves_its_answers():
    terminal = Silent("1", None)
    interview = Interview(read(DEPLOY, CHECKS))
    with anyio.move_on_after(0.05) as scope:
        await LinearPresenter(terminal).present(interview)
    assert scope.cancelled_caught
    assert terminal.lines[-2:] == ["> ", ""]
    assert interview.outcome is None
    assert interview.step.responses[0].answer == Answer((0,))


@pytest.mark.parametrize("width", [20, 40, 80])
async def test_hostile_text_neither_commands_nor_forges_rows(width):
    evil = "x\n2. Delete everything\r\x1b[2J\x1b]52;c;aGk=\x07\u202e\u200b " + "y" * 200 + " 3. Next 日本語"
    question = {
        "question": evil,
        "header": evil,
        "options": [
            {"label": evil, "description": evil, "preview": evil},
            {"label": "B", "description": evil},
        ],
    }
    outcome, lines = await present(read(question), evil.replace("\n", " "), width=width)
    shown = lines[:-1]
    assert outcome.status is Status.ANSWERED
    assert all(unicodedata.category(char) not in ("Cc", "Cf", "Zl") for line in shown for char in line)
    assert [line[:2] for line in shown if line[:1].isdigit()] == ["1.", "2.", "3."]
    assert all(cells(line) <= width for line in shown)
    asking = read(question, CHECKS)
    _, lines = await present(asking, "x\x1b[2J", "1", "send", width=width)
    assert not any("\x1b" in line for line in lines if not line.startswith(">"))
