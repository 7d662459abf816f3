import unicodedata

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire import questionnaire_toolset
from questionnaire.answers import check_outcome
from questionnaire.contracts import choices, form, user_select
from questionnaire.coordinator import Coordinator
from questionnaire.errors import ClientLost, MalformedAnswers, NoInterface
from questionnaire.limits import TimeOut
from questionnaire.mirrors import Mirrors
from questionnaire.model import (
    Answer,
    CustomRow,
    Input,
    Option,
    Provenance,
    Question,
    Questionnaire,
    Response,
    State,
    Status,
)
from questionnaire.presenters.dialogs import TYPE, TYPE_OR_SKIP, DialogsPresenter
from questionnaire.progress import Give, Interview, Next, Shown, Stay
from questionnaire.testing import BY, FakeClock, ScriptedDialogs

pytestmark = pytest.mark.anyio

DEPLOY = {
    "header": "Deploy",
    "question": "Where should the preview be deployed?",
    "options": [
        {"label": "Staging cluster", "description": "Shared, real data shape, slower to reset."},
        {"label": "Throwaway VM", "description": "Isolated, gone after an hour.", "preview": "| cost |"},
    ],
}
CHECKS = {
    "header": "Checks",
    "question": "Which checks?",
    "options": [{"label": "Lint"}, {"label": "Types"}, {"label": "Tests"}],
    "multiSelect": True,
}
FORM = {
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
MERGE = {
    "question": "Merge how?",
    "options": [{"label": "Squash"}, {"label": "Rebase", "description": "Keeps each commit."}],
    "allowCustom": True,
}

WHERE = ("select", DEPLOY["question"], ["Staging cluster", "Throwaway VM", "Type something."])
WHERE_TYPED = ("input", DEPLOY["question"], "Type your answer")


def which(*ticked):
    marks = [f"[{'x' if label in ticked else ' '}] {label}" for label in ("Lint", "Types", "Tests")]
    return ("select", "Which checks? (choose options, then Next)", [*marks, "Type something.", "Next"])


WHICH_TYPED = ("input", "Which checks?", "Type your answer")
LANGUAGE = (
    "select",
    "Which language should the service use?",
    ["Python", "Rust", "Type your own answer."],
)
LANGUAGE_TYPED = ("input", "Which language should the service use?", TYPE)
NAME = ("input", "What is the service called?", TYPE)
NOTE = ("input", "Anything else?", TYPE_OR_SKIP)
HOW = (
    "select",
    "Merge how?",
    ["1. Squash", "2. Rebase\n\n    Keeps each commit.\n", "(Type custom answer)"],
)
HOW_TYPED = ("input", "Merge how?", "Type your answer")


async def ask(contract, arguments, *replies):
    """The result of a call, and the dialogs that it opened."""
    name = contract.TOOL.name
    with ScriptedDialogs(*replies) as client:
        meaning = "form" if contract is form else "choices"
        tools = questionnaire_toolset(DialogsPresenter(client), contract=meaning)
        result = await tools.call(name, arguments)
    return result, client.asked


async def present(questionnaire, *replies, **options):
    interview = Interview(questionnaire)
    with ScriptedDialogs(*replies) as client:
        await DialogsPresenter(client, clock=lambda: 7.0, **options).present(interview)
    check_outcome(questionnaire, interview.outcome)
    return interview.outcome, client.asked


def picked(label, question=DEPLOY["question"]):
    return f'"{question}"="{label}".'


# Every sequence is written out: what is asked, what is answered, and nothing between.
CHOICES = [
    ([(WHERE, "Throwaway VM")], [["Throwaway VM"]]),
    ([(WHERE, "Type something."), (WHERE_TYPED, " by hand ")], [" by hand "]),
    (
        [(WHERE, "Type something."), (WHERE_TYPED, ""), (WHERE_TYPED, "  "), (WHERE_TYPED, "by hand")],
        ["by hand"],
    ),
    (
        [
            (WHERE, "Staging cluster"),
            (which(), "[ ] Lint"),
            (which("Lint"), "[ ] Tests"),
            (which("Lint", "Tests"), "[x] Lint"),
            (which("Tests"), "Next"),
        ],
        [["Staging cluster"], ["Tests"]],
    ),
    (
        [
            (WHERE, "Staging cluster"),
            (which(), "Next"),  # nothing is no answer
            (which(), "[ ] Types"),
            (which("Types"), "Type something."),
            (WHICH_TYPED, "docs, please"),
            (which("Types"), "[ ] Lint"),
            (which("Lint", "Types"), "Next"),
        ],
        [["Staging cluster"], ["Lint", "Types", "docs, please"]],
    ),
    (
        [
            (WHERE, "Staging cluster"),
            (which(), "Type something."),
            (WHICH_TYPED, "docs"),
            (which(), "Type something."),
            (WHICH_TYPED, ""),  # takes the words back
            (which(), "Next"),
            (which(), "[ ] Lint"),
            (which("Lint"), "Next"),
        ],
        [["Staging cluster"], ["Lint"]],
    ),
]


@pytest.mark.parametrize(("dialogs", "answers"), CHOICES)
async def test_choices(dialogs, answers):
    arguments = {"questions": [DEPLOY, CHECKS][: len(answers)]}
    result, asked = await ask(choices, arguments, *(reply for _, reply in dialogs))
    assert asked == [dialog for dialog, _ in dialogs]
    assert result.details["cancelled"] is False
    told = [answer.get("selected", answer["answer"]) for answer in result.details["answers"]]
    assert told == answers
    assert result.text.startswith("User has answered your questions: ")


CHOICES_DISMISSED = [
    ([(WHERE, None)], ["untouched", "untouched"], []),
    ([(WHERE, "Type something."), (WHERE_TYPED, None)], ["untouched", "untouched"], []),
    ([(WHERE, "Throwaway VM"), (which(), None)], ["answered", "untouched"], ["Throwaway VM"]),
    (
        [(WHERE, "Throwaway VM"), (which(), "[ ] Lint"), (which("Lint"), None)],
        ["answered", "draft"],
        ["Throwaway VM"],
    ),
    (
        [(WHERE, "Throwaway VM"), (which(), "Type something."), (WHICH_TYPED, None)],
        ["answered", "untouched"],
        ["Throwaway VM"],
    ),
]


@pytest.mark.parametrize(("dialogs", "states", "answers"), CHOICES_DISMISSED)
async def test_a_dismissed_dialog_ends_choices_and_the_answers_so_far_are_kept(dialogs, states, answers):
    result, asked = await ask(choices, {"questions": [DEPLOY, CHECKS]}, *(reply for _, reply in dialogs))
    assert asked == [dialog for dialog, _ in dialogs]
    assert result.is_error is False
    assert result.details["cancelled"] is True
    assert result.details["status"] == "declined"
    assert [state["state"] for state in result.details["states"]] == states
    assert [answer["answer"] for answer in result.details["answers"]] == answers
    assert result.text.startswith("User declined to answer questions")
    assert all(picked(answer) in result.text for answer in answers)


FORMS = [
    ([(LANGUAGE, "Rust"), (NAME, "ledger"), (NOTE, "")], [("Rust", "rs"), ("ledger", "ledger"), ("", None)]),
    (
        [(LANGUAGE, "Type your own answer."), (LANGUAGE_TYPED, "Zig"), (NAME, "a"), (NOTE, "b")],
        [("Zig", "Zig"), ("a", "a"), ("b", "b")],
    ),
    (
        [(LANGUAGE, "Python"), (NAME, ""), (NAME, " \t"), (NAME, "ledger"), (NOTE, "  ")],
        [("Python", "py"), ("ledger", "ledger"), ("", None)],
    ),
]


@pytest.mark.parametrize(("dialogs", "answers"), FORMS)
async def test_form(dialogs, answers):
    result, asked = await ask(form, FORM, *(reply for _, reply in dialogs))
    assert asked == [dialog for dialog, _ in dialogs]
    assert result.details["cancelled"] is False
    assert [(answer["answer"], answer["value"]) for answer in result.details["answers"]] == answers
    assert result.details["answers"][2]["skipped"] is (answers[2] == ("", None))


@pytest.mark.parametrize(
    "dialogs",
    [
        [(LANGUAGE, None)],
        [(LANGUAGE, "Type your own answer."), (LANGUAGE_TYPED, None)],
        [(LANGUAGE, "Rust"), (NAME, None)],
        [(LANGUAGE, "Rust"), (NAME, ""), (NAME, None)],
        [(LANGUAGE, "Rust"), (NAME, "ledger"), (NOTE, None)],
    ],
)
async def test_a_dismissed_dialog_ends_a_form(dialogs):
    result, asked = await ask(form, FORM, *(reply for _, reply in dialogs))
    assert asked == [dialog for dialog, _ in dialogs]
    assert result.details["cancelled"] is True
    kept = [reply for dialog, reply in dialogs if reply in ("Rust", "ledger")]
    assert [answer["answer"] for answer in result.details["answers"]] == kept


async def test_a_blank_on_the_custom_row_skips_an_optional_selection():
    optional = {"questions": [{**FORM["questions"][0], "required": False}]}
    result, asked = await ask(form, optional, "Type your own answer.", "")
    assert asked == [LANGUAGE, ("input", LANGUAGE[1], TYPE_OR_SKIP)]
    assert result.details["answers"][0]["skipped"] is True


@pytest.mark.parametrize(
    ("dialogs", "text"),
    [
        ([(HOW, HOW[2][1])], "User selected: 2. Rebase"),
        ([(HOW, HOW[2][2]), (HOW_TYPED, " merge commit ")], "User wrote: merge commit"),
        ([(HOW, HOW[2][2]), (HOW_TYPED, "  ")], "User submitted an empty custom answer"),
        ([(HOW, None)], "User cancelled the selection"),
        ([(HOW, HOW[2][2]), (HOW_TYPED, None)], "User cancelled the selection"),
    ],
)
async def test_user_select(dialogs, text):
    result, asked = await ask(user_select, MERGE, *(reply for _, reply in dialogs))
    assert asked == [dialog for dialog, _ in dialogs]
    assert result.text == text
    assert result.is_error is False


async def test_a_closed_selection_has_no_custom_row():
    outcome, asked = await present(user_select.read({"question": "Q?", "options": ["A", "B"]}), "1. A")
    assert asked == [("select", "Q?", ["1. A", "2. B"])]
    assert outcome.responses[0].answer == Answer((0,))


@pytest.mark.parametrize("reply", ["Throwaway VM", "throwaway  vm"])
async def test_who_answered_and_when_is_kept(reply):
    outcome, _ = await present(choices.read({"questions": [DEPLOY]}), reply)
    by = Provenance("dialogs", Input.KEY, 7.0)
    unshown = ("descriptions", "previews")
    assert outcome.responses == (Response(Answer((1,)), shown_at=7.0, by=by, unshown=unshown),)
    outcome, _ = await present(choices.read({"questions": [DEPLOY]}), reply, remote_id="phone")
    assert outcome.responses[0].by == Provenance("dialogs", Input.REMOTE, 7.0, "phone")


@pytest.mark.parametrize(
    ("contract", "arguments", "replies", "unshown"),
    [
        (
            choices,
            {"questions": [DEPLOY, CHECKS]},
            ["Throwaway VM", "[ ] Lint", "Next"],
            [{"questionIndex": 0, "parts": ["descriptions", "previews"]}],
        ),
        (form, FORM, ["Rust", "ledger", None], [{"questionIndex": 0, "parts": ["descriptions"]}]),
        (user_select, MERGE, ["1. Squash"], None),
    ],
)
async def test_what_dialogs_cannot_show_is_told(contract, arguments, replies, unshown):
    result, _ = await ask(contract, arguments, *replies)
    assert result.details.get("unshown") == unshown


SAME = Option("Same")


async def test_options_that_look_alike_are_told_apart_by_their_numbers():
    alike = Questionnaire(
        (
            Question(
                "Which?",
                (SAME, Option("same\u200b"), Option("Other")),
            ),
        )
    )
    outcome, asked = await present(alike, "2. same")
    assert asked == [("select", "Which?", ["1. Same", "2. same", "3. Other"])]
    assert outcome.responses[0].answer == Answer((1,))


async def test_options_that_look_alike_are_ticked_by_index():
    alike = Questionnaire((Question("Which?", (SAME, SAME, Option("Next")), multi_select=True),))
    outcome, asked = await present(alike, "[ ] 2. Same", "[ ] 3. Next", "Next")
    assert asked[1][2] == ["[ ] 1. Same", "[x] 2. Same", "[ ] 3. Next", "Next"]
    assert outcome.responses[0].answer == Answer((1, 2))


async def test_a_badge_stays_on_its_row_and_chooses_nothing():
    recommended = {**DEPLOY, "options": [{"label": "A"}, {"label": "B (Recommended)"}]}
    outcome, asked = await present(choices.read({"questions": [recommended]}), "B (recommended)")
    assert asked[0][2] == ["A", "B (recommended)", "Type something."]
    assert outcome.responses[0].answer == Answer((1,))


async def test_hostile_text_reaches_no_dialog_raw():
    evil = "x\n2. Delete\r\x1b[2J\x1b]52;c;aGk=\x07\u202e\u200b\u2028"
    option = {"label": f"A{evil}", "description": evil}
    question = {"question": evil, "header": evil, "options": [option, {"label": "B"}], "multiSelect": True}
    _, asked = await present(choices.read({"questions": [question]}), "Type something.", "w", "Next")
    _, more = await present(user_select.read({"question": evil, "options": [option]}), None)
    texts = [
        text
        for _, title, rest in asked + more
        for text in (title, *([rest] if isinstance(rest, str) else rest))
    ]
    assert all(
        unicodedata.category(char) not in ("Cc", "Cf", "Zl")
        for text in texts
        for char in text.replace("\n", "")
    )
    assert not any("\n" in text for text in texts if not text.startswith("1. "))
    assert all(line == "" or line.startswith("    ") for line in more[0][2][0].split("\n")[1:])


async def test_words_of_the_user_are_kept_as_they_were_typed():
    words = "two\nlines \x1b[31m and \u2028 more"
    outcome, _ = await present(choices.read({"questions": [DEPLOY]}), "Type something.", words)
    assert outcome.responses[0].answer == Answer(custom=words)


class Refusing(ScriptedDialogs):
    """Raises the errors among its replies."""

    def __init__(self, *replies):
        super().__init__(*replies)

    def _next(self, asked):
        reply = super()._next(asked)
        if isinstance(reply, Exception):
            raise reply
        return reply


async def test_what_cannot_be_drawn_is_never_a_user_who_declined():
    with Refusing(NoInterface("this client draws no dialogs")) as client:
        result = await questionnaire_toolset(DialogsPresenter(client)).call(
            "ask_user_question", {"questions": [DEPLOY]}
        )
    assert result.is_error
    assert result.details["status"] == "never_shown"
    assert "The user was not asked and saw nothing. Ask in your next message instead:" in result.text
    assert '"Where should the preview be deployed?" Options: "Staging cluster", "Throwaway VM"' in result.text
    assert "declined" not in result.text


@pytest.mark.parametrize(
    "error", [NoInterface("gone"), ClientLost("gone"), MalformedAnswers("no text")], ids=repr
)
async def test_a_client_that_is_lost_underway_cancels_and_keeps_what_was_answered(error):
    interview = Interview(choices.read({"questions": [DEPLOY, CHECKS]}))
    with Refusing("Throwaway VM", "[ ] Lint", error) as client:
        await DialogsPresenter(client).present(interview)
    assert interview.outcome.status is Status.CANCELLED
    assert interview.outcome.reason == str(error)
    assert [response.state for response in interview.outcome.responses] == [State.ANSWERED, State.DRAFT]


@pytest.mark.parametrize("reply", ["", "Throwaway", "Stagin cluster", "4"])
async def test_an_answer_that_was_not_offered_is_none(reply):
    outcome, _ = await present(choices.read({"questions": [DEPLOY]}), reply)
    assert outcome.status is Status.CANCELLED
    assert outcome.reason == "the client answered with none of the options it was given"


class Waiting(ScriptedDialogs):
    """Leaves a dialog open where its reply is "…"; `closed` counts those that were closed from here."""

    closed = 0

    async def select(self, title, options, /):
        return await self._wait(await super().select(title, options))

    async def input(self, title, placeholder, /):
        return await self._wait(await super().input(title, placeholder))

    async def _wait(self, reply):
        if reply != "…":
            return reply
        try:
            await anyio.sleep_forever()
        finally:
            self.closed += 1


async def present_beside(client, interview, others):
    """Present, and have `others` act once a dialog is open."""
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(DialogsPresenter(client).present, interview)
            await anyio.wait_all_tasks_blocked()
            others(interview)


async def test_an_answer_from_elsewhere_closes_the_dialog_and_the_next_one_opens():
    interview = Interview(choices.read({"questions": [DEPLOY, CHECKS]}))
    with Waiting("…", "[ ] Lint", "Next") as client:
        await present_beside(client, interview, lambda it: it.send(Give(Answer((0,)), BY)))
    assert client.closed == 1
    assert client.asked == [WHERE, which(), which("Lint")]
    assert interview.outcome.status is Status.ANSWERED
    assert interview.outcome.responses[0].by == BY, "the first answer is final"


async def test_a_question_that_was_answered_elsewhere_is_not_asked_again():
    interview = Interview(choices.read({"questions": [DEPLOY, CHECKS]}))
    others = []

    class Late(ScriptedDialogs):
        async def select(self, title, options, /):
            others.append(interview.send(Give(Answer((2,)), BY, index=1)))
            return await super().select(title, options)

    with Late("Staging cluster") as client:
        await DialogsPresenter(client).present(interview)
    assert client.asked == [WHERE]
    assert interview.outcome.status is Status.ANSWERED
    assert [response.answer for response in interview.outcome.responses] == [Answer((0,)), Answer((2,))]


@pytest.mark.parametrize("then", [None, Stay(), Next()])
async def test_a_reply_that_comes_too_late_changes_nothing(then):
    interview = Interview(choices.read({"questions": [DEPLOY]}))

    class Late(ScriptedDialogs):
        async def select(self, title, options, /):
            interview.send(Give(Answer((1,)), BY, then=then))
            return await super().select(title, options)

    with Late("Staging cluster") as client:
        await DialogsPresenter(client).present(interview)
    assert interview.outcome.responses[0].answer == Answer((1,))
    assert interview.outcome.responses[0].by == BY


async def test_an_end_from_elsewhere_closes_the_dialog():
    interview = Interview(form.read(FORM))
    with Waiting("Rust", "…") as client:
        await present_beside(client, interview, lambda it: it.end(Status.TIMED_OUT))
    assert client.closed == 1
    assert interview.outcome.status is Status.TIMED_OUT
    assert interview.outcome.responses[0].answer == Answer((1,))


async def test_an_end_before_the_first_dialog_opens_none():
    interview = Interview(form.read(FORM))
    with interview.watch(lambda *_: interview.end(Status.SUPERSEDED)), ScriptedDialogs() as client:
        await DialogsPresenter(client).present(interview)
    assert interview.outcome.status is Status.SUPERSEDED


async def test_a_cancelled_call_closes_its_dialog_and_leaves_its_answers():
    interview = Interview(form.read(FORM))
    with Waiting("Rust", "…") as client, anyio.move_on_after(0.05) as scope:
        await DialogsPresenter(client).present(interview)
    assert scope.cancelled_caught
    assert client.closed == 1
    assert interview.outcome is None
    assert interview.step.responses[0].answer == Answer((1,))


async def test_answers_from_before_a_restart_are_not_asked_for_again():
    questionnaire = form.read(FORM)
    before = Interview(questionnaire)
    with ScriptedDialogs("Rust", "ledger", None) as client:
        await DialogsPresenter(client).present(before)
    again = Interview(questionnaire, before.outcome.responses)
    with ScriptedDialogs("") as client:
        await DialogsPresenter(client).present(again)
    assert client.asked == [NOTE]
    assert form.result(questionnaire, again.outcome).details["cancelled"] is False


async def test_a_draft_that_no_dialog_shows_is_not_sent_with_the_ticks():
    questionnaire = choices.read({"questions": [CHECKS]})
    earlier = Response(draft="half a thou", ticked=(1,), shown_at=1.0)
    interview = Interview(questionnaire, [earlier])
    with ScriptedDialogs("[ ] Lint", "Next") as client:
        await DialogsPresenter(client).present(interview)
    assert client.asked == [which("Types"), which("Lint", "Types")]
    assert interview.outcome.responses[0].answer == Answer((0, 1))
    assert interview.outcome.responses[0].draft == "half a thou", "it is told as what it is: not sent"


class Mirror:
    """Another program, which answers a request when the test says so."""

    def __init__(self):
        self.events = []

    def __call__(self, event):
        self.events.append(event)

    def answer(self, name, response):
        [event] = [event for event in self.events if event.name == name]
        return event.respond({"source": "remote", **response}, remote_id="phone")


async def test_local_and_remote_race_and_the_loser_is_closed_and_told():
    mirrors, other, outcomes = Mirrors(), Mirror(), []
    questionnaire = user_select.read(MERGE)

    async def ask_it(coordinator):
        outcomes.append(await coordinator.ask(questionnaire, kind="user_select"))

    with Waiting("…") as client, mirrors.listen(other), anyio.fail_after(60):
        async with (
            Coordinator(DialogsPresenter(client), mirrors=mirrors) as coordinator,
            anyio.create_task_group() as group,
        ):
            group.start_soon(ask_it, coordinator)
            await anyio.wait_all_tasks_blocked()
            select = {"kind": "select", "optionIndex": 1}
            assert other.answer("pi-user-select:request", select) == {"accepted": True}
    assert client.closed == 1
    assert user_select.result(questionnaire, outcomes[0]).text == "User selected: 2. Rebase"
    assert outcomes[0].responses[0].by.remote_id == "phone"
    late = other.answer("pi-user-select:request", {"kind": "cancel"})
    assert late == {"accepted": False, "reason": "already_resolved"}


async def test_a_local_answer_settles_it_for_the_others():
    mirrors, other = Mirrors(), Mirror()
    with ScriptedDialogs("1. Squash") as client, mirrors.listen(other):
        async with Coordinator(DialogsPresenter(client), mirrors=mirrors) as coordinator:
            outcome = await coordinator.ask(user_select.read(MERGE), kind="user_select")
    assert outcome.responses[0].answer == Answer((0,))
    late = other.answer("pi-user-select:request", {"kind": "select", "optionIndex": 1})
    assert late == {"accepted": False, "reason": "already_resolved"}


@pytest.mark.parametrize(("last_pause_s", "status"), [(9, Status.ANSWERED), (11, Status.TIMED_OUT)])
async def test_each_answered_dialog_is_a_sign_of_life(last_pause_s, status):
    clock, pauses = FakeClock(), iter([9, 9, last_pause_s])

    class Slow(ScriptedDialogs):
        async def select(self, title, options, /):
            await clock.advance(next(pauses))
            return await super().select(title, options)

        async def input(self, title, placeholder, /):
            await clock.advance(next(pauses))
            await anyio.wait_all_tasks_blocked()
            return await super().input(title, placeholder)

    client = Slow("Type something.", "", "by hand")
    with anyio.fail_after(60):
        async with Coordinator(DialogsPresenter(client), time_out=TimeOut(10), timer=clock) as coordinator:
            outcome = await coordinator.ask(choices.read({"questions": [DEPLOY]}))
    assert outcome.status is status


async def test_a_review_of_ours_is_never_a_dialog():
    questionnaire = Questionnaire(
        (Question("A?", (SAME,), custom=CustomRow("Own")), Question("B?", (SAME,))), review=True
    )
    interview = Interview(questionnaire)
    with ScriptedDialogs("Same", "Same") as client:
        await DialogsPresenter(client).present(interview)
    assert [title for _, title, _ in client.asked] == ["A?", "B?"]
    assert interview.send(Shown(0.0, None)) is False


QUESTIONS = st.sampled_from(
    [
        Question("Which?", (Option("A"), Option("B")), custom=CustomRow("Own")),
        Question("Which one?", (Option("A"), Option("a"))),
        Question("Which ones?", (Option("A"), Option("B")), multi_select=True, custom=CustomRow("Own")),
        Question("Any?", (Option("A"),), multi_select=True, custom=CustomRow("Own"), required=False),
        Question("Name?"),
        Question("Anything else?", required=False),
    ]
)
CLIENTS_OWN = st.sampled_from([None, "", " ", "words", "A", "[x] A", "1. A", "Next", "\u202e"])


@given(st.lists(QUESTIONS, min_size=1, max_size=4), st.booleans(), st.booleans(), st.data())
def test_whatever_a_client_answers_the_call_ends_and_holds_only_that(asked, review, listed, data):
    class Wild:
        dialogs = 0

        async def select(self, title, options, /):
            assert len(set(options)) == len(options), "no two rows are the same text"
            return self._any(st.sampled_from(options) | CLIENTS_OWN)

        async def input(self, title, placeholder, /):
            return self._any(CLIENTS_OWN)

        def _any(self, replies):
            self.dialogs += 1
            return data.draw(replies) if self.dialogs < 40 else None

    questionnaire = Questionnaire(tuple(asked), review, listed=listed)
    interview = Interview(questionnaire)
    anyio.run(DialogsPresenter(Wild()).present, interview)
    check_outcome(questionnaire, interview.outcome)
    assert interview.outcome.status in (Status.ANSWERED, Status.DECLINED, Status.CANCELLED)
