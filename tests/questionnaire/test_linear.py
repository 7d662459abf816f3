import contextlib
import os
import pty
import unicodedata

import anyio
import pytest

from questionnaire.contracts import choices, form, user_select
from questionnaire.display import cells
from questionnaire.errors import TerminalLost
from questionnaire.model import Answer, Input, Provenance, Response, State, Status
from questionnaire.presenters.linear import LinearPresenter
from questionnaire.presenters.lines import GUARD_S, FileLines
from questionnaire.progress import Draft, Give, Interview
from questionnaire.testing import BY, ScriptedLines

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


async def test_the_end_of_input_ends_the_line_of_the_prompt():
    _, lines = await present(read(DEPLOY, CHECKS), "1", None, None)
    first = lines.index("Ctrl-D again to stop; anything else goes on.")
    assert lines[first - 2 :] == ["> ", "", "Ctrl-D again to stop; anything else goes on.", "> ", ""]
    _, lines = await present(FORM, "/next", "/long", "half", None, None)
    assert lines[-5:-2] == ["> ", "", "Ctrl-D again to stop; anything else goes on."]


async def test_a_review_that_there_is_not_is_refused_with_the_reason():
    outcome, lines = await present(read(DEPLOY), "/review", "1")
    assert outcome.status is Status.ANSWERED
    assert lines.count("Question: Deploy") == 1
    assert lines[-2] == "There is no review here: your answer is sent as soon as you give it."


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


FORM = form.read(
    {
        "questions": [
            {"id": "lang", "question": "Which language?", "type": "select", "options": ["Python", "Rust"]},
            {"id": "name", "question": "What is it called?", "type": "text"},
            {"id": "note", "question": "Anything else?", "type": "text", "required": False},
        ]
    }
)


async def test_texts_a_skip_and_the_review():
    outcome, lines = await present(FORM, "2", " ", "ledger", "", "send")
    assert answers(outcome) == (Answer((1,)), Answer(custom="ledger"), None)
    assert outcome.responses[2].by == Provenance("linear", Input.KEY, 7.0)
    asked_again = lines.index("Nothing was typed. Type your answer.")
    assert lines[asked_again - 1] == ">  "
    assert "Question 3 of 3, optional" in lines
    assert "Type your answer; Enter skips. Ctrl-D declines, /help helps." in lines
    assert lines[lines.index("3. Anything else?") + 1] == "    Skipped."


async def test_back_and_next_and_sending_with_a_question_open():
    outcome, lines = await present(
        FORM, "/next", "/back", "/next", "/next", "/skip", "send", "1", "send", "/skip", "ledger", "send"
    )
    assert answers(outcome) == (Answer((0,)), Answer(custom="ledger"), None)
    assert "Question 1 has no answer yet." in lines
    assert "This question needs an answer; it cannot be skipped." in lines


async def test_enter_keeps_what_is_there():
    outcome, lines = await present(FORM, "1", "ledger", "no", "1", "", "2", " ", "3", "", "send")
    assert answers(outcome) == (Answer((0,)), Answer(custom="ledger"), Answer(custom="no"))
    assert "Your answer: ledger" in lines


async def test_notes_on_a_question_and_on_an_option():
    outcome, lines = await present(FORM, "/note 2 slow", "/note 9 more days", "/review", "/note x", "/stop")
    noted = outcome.responses[0]
    assert (noted.note, noted.option_notes, noted.state) == (
        "9 more days",
        ((1, "slow"),),
        State.DRAFT,
    )
    assert lines.count("Noted.") == 2
    assert "This is the review: go to a question to change it." in lines
    assert "    Your notes: Rust: slow; 9 more days" in lines
    outcome, _ = await present(FORM, "/note 1 x", "/note 1", None)
    assert outcome.status is Status.DECLINED
    outcome, _ = await present(FORM, "/note by noon", "/note", None)
    assert outcome.responses[0].state is State.UNTOUCHED


async def test_an_answer_of_several_lines_byte_for_byte():
    typed = ["/next", "/long", "  a\tb ", "", "/back", "end", "/end", "/stop"]
    outcome, _ = await present(FORM, *typed)
    assert answers(outcome)[1] == Answer(custom="  a\tb \n\n/back\nend")
    outcome, _ = await present(FORM, "/next", "/long", "half", None, None)
    assert outcome.responses[1].draft == "half"
    _, lines = await present(read(CHECKS), "/long", "/end", "1", "send")
    assert "Nothing was typed." in lines


async def test_words_that_look_like_a_command():
    outcome, _ = await present(FORM, "//back", "/usr/bin", "//note x", "send")
    assert [answer.custom for answer in answers(outcome)] == ["/back", "/usr/bin", "/note x"]


async def test_what_was_ticked_beside_own_words_is_kept_while_they_are_awaited():
    outcome, _ = await present(read(CHECKS), "1, 3", None, None)
    assert outcome.responses[0].ticked == (0,)


async def test_help_tells_of_every_command():
    _, lines = await present(FORM, "/help", "/stop")
    told = " ".join(lines)
    assert all(word in told for word in ("/back", "/next", "/review", "/skip", "/note", "/long", "/stop"))


async def test_an_answer_from_elsewhere_ends_the_wait():
    interview = Interview(MERGE)
    terminal = Silent(None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(LinearPresenter(terminal).present, interview)
        await anyio.wait_all_tasks_blocked()
        interview.send(Draft("typed elsewhere"))
        await anyio.wait_all_tasks_blocked()
        assert terminal.lines[-1] == "> "
        interview.send(Give(Answer((0,)), BY))
    assert terminal.lines[-2:] == ["", "This was answered or closed elsewhere."]


class Hasty(ScriptedLines):
    """A terminal that tells where it was made to forget what was typed before."""

    def discard(self):
        self.lines.append("(forgets)")
        return ""


async def test_what_was_typed_before_a_page_was_shown_is_no_answer_to_it():
    with Hasty("9", "1", "/note x", "3", "own words", "1", "", "send") as terminal:
        await LinearPresenter(terminal).present(Interview(read(DEPLOY, CHECKS)))
    at = [index for index, line in enumerate(terminal.lines) if line == "(forgets)"]
    assert [terminal.lines[index + 1] for index in at] == ["> 9", "> /note x", "> 1", "> ", "> send"]
    assert all("Ctrl-D declines" in terminal.lines[index - 1] for index in at)


async def test_what_was_typed_at_a_question_answered_elsewhere_answers_nothing_else():
    class HastyAndSilent(Hasty, Silent):
        pass

    interview = Interview(read(DEPLOY, CHECKS))
    terminal = HastyAndSilent(None, None)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(LinearPresenter(terminal).present, interview)
            await anyio.wait_all_tasks_blocked()
            interview.send(Give(Answer((0,)), BY))
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
    told = terminal.lines.index("This was answered or closed elsewhere.")
    assert terminal.lines[told - 1] == "(forgets)"
    assert terminal.lines[-3:] == ["(forgets)", "> ", ""]


async def test_a_paste_on_a_real_terminal_answers_one_question():
    controller, fd = pty.openpty()
    os.set_blocking(controller, False)
    interview = Interview(read(DEPLOY, CHECKS))
    shown = ""

    async def prompts(number):
        nonlocal shown
        while shown.count("\n> ") < number:
            await anyio.sleep(0.005)
            with contextlib.suppress(BlockingIOError):
                shown += os.read(controller, 10_000).decode()

    os.write(controller, b"2\n and on")
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(LinearPresenter(FileLines(fd, fd)).present, interview)
            await prompts(1)
            assert interview.step.responses[0].answer is None
            assert "This was typed before, and is dropped: 2 and on" in shown
            await anyio.sleep(GUARD_S)
            os.write(controller, b"1\n1\n1\nsend\n")
            await prompts(2)
            assert interview.step.index == 1
            await anyio.sleep(0.05)
            assert answers(interview.step) == (Answer((0,)), None)
            tasks.cancel_scope.cancel()
    os.close(controller)
    os.close(fd)


async def test_a_recommendation_is_shown_as_a_badge():
    badged = choices.read({"questions": [{"question": "W?", "options": ["A (Recommended)", "B"]}]})
    _, lines = await present(badged, "a")
    assert "1. A (recommended)" in lines
