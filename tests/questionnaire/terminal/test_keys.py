import pytest

from questionnaire.answers import check_outcome
from questionnaire.contracts import CONTRACTS, choices, user_select
from questionnaire.model import Answer, Input, Provenance, State, Status
from questionnaire.presenters.terminal.dialog import TOO_SOON, Dialog
from questionnaire.presenters.terminal.keys import Key
from questionnaire.progress import Give, GoTo, Interview, Touch

DEPLOY = {
    "header": "Deploy",
    "question": "Where to?",
    "options": [{"label": "Staging", "description": "Shared."}, {"label": "Throwaway"}],
}
CHECKS = {"question": "Which checks?", "options": ["Lint", "Types", "Tests"], "multiSelect": True}
TWO = {"questions": [DEPLOY, CHECKS]}
MERGE = {"question": "Merge how?", "options": ["Squash", "Rebase"], "allowCustom": True}
FORM = {
    "questions": [
        {"id": "lang", "question": "Language?", "type": "select", "options": ["Python", "Rust"]},
        {"id": "name", "question": "Name?", "type": "text"},
        {"id": "note", "question": "Else?", "type": "text", "required": False},
    ]
}
REMOTE = Provenance("mirror", Input.REMOTE, at=1.0)
LONG = {"question": "Which?", "options": [f"File {number}" for number in range(1, 13)] + ["Odd one"]}


def answers(seat):
    return tuple(response.answer for response in seat.step.responses)


def test_enter_takes_the_highlighted_row_and_goes_on(sit):
    seat = sit(TWO).press("down", "enter")
    assert answers(seat) == (Answer((1,)), None)
    assert seat.step.index == 1


def test_highlighted_is_not_chosen(sit):
    seat = sit(TWO).press("down", "tab", "tab", "enter")
    assert seat.outcome is None
    assert answers(seat) == (None, None)
    assert seat.step.notice == "Question 1 has no answer yet."


@pytest.mark.parametrize("key", [" ", "y", "p", "a", "s", "x", "q", "other", "delete", "undo"])
def test_no_letter_and_no_space_answers(sit, key):
    seat = sit(MERGE, "user_select").press(key)
    assert (seat.outcome, answers(seat)) == (None, (None,))


def test_a_number_takes_its_row(sit):
    assert sit(MERGE, "user_select").press("2").outcome.responses[0].answer == Answer((1,))
    seat = sit(MERGE, "user_select").press("3").type("own").press("enter")
    assert seat.outcome.responses[0].answer == Answer(custom="own")
    assert sit(MERGE, "user_select").press("9").outcome is None


def test_in_a_long_list_numbers_of_two_digits_can_be_typed_and_enter_takes_them(sit):
    seat = sit(LONG, "user_select").press("1")
    assert seat.here == "1. File 1"
    assert seat.press("2").here == "12. File 12"
    assert seat.press("3").here == "3. File 3"
    assert seat.press("1", "down", "2").here == "2. File 2"
    assert seat.press("enter").outcome.responses[0].answer == Answer((1,))


def test_ticks_by_space_enter_and_number_and_next_goes_on(sit):
    seat = sit({"questions": [CHECKS]}).press(" ", "down", "enter", "3")
    assert seat.step.responses[0].ticked == (0, 1, 2)
    seat.press("up", " ", "end", "enter")
    assert answers(seat) == (Answer((0, 2)),)
    assert seat.step.index is None


def test_nothing_ticked_is_no_answer(sit):
    seat = sit({"questions": [CHECKS]}).press("end", "enter")
    assert "Nothing is ticked yet." in seat.look().lines[-2]
    assert seat.step.index == 0


def test_ticked_options_and_own_words_are_one_answer(sit):
    questionnaire = choices.read({"questions": [CHECKS]})
    seat = (
        sit({"questions": [CHECKS]}).press("1", "2", "4").type("docs, too").press("enter", "enter", "enter")
    )
    [entry] = choices.result(questionnaire, seat.outcome).details["answers"]
    assert entry["kind"] == "multi"
    assert entry["selected"] == ["Lint", "Types", "docs, too"]


def test_words_replace_a_pick_and_a_note_stands_beside_it(sit):
    seat = sit(TWO).press("2", "back-tab", "n").type("cheap").press("enter", "up")
    assert answers(seat)[0] == Answer((1,))
    seat.press("3").type("my own box").press("enter")
    assert answers(seat)[0] == Answer(custom="my own box")
    assert seat.step.responses[0].option_notes == ((1, "cheap"),)


def test_notes_on_an_option_and_on_the_question(sit):
    seat = sit(TWO).press("down", "n").type("no n, j or 2").press("enter", "N").type("why?").press("escape")
    response = seat.step.responses[0]
    assert response.option_notes == ((1, "no n, j or 2"),)
    assert response.note == "why?"
    assert seat.here == "2. Throwaway"
    assert any("note: no n, j or 2" in line for line in seat.lines)
    assert sit(FORM, "form").press("tab", "note").type("x").step.responses[1].note == "x"


def test_in_a_text_every_printable_is_text(sit):
    typed = " 12n N jk?/ äß日👩"
    seat = sit(FORM, "form").press("tab").type(typed).press("enter")
    assert answers(seat)[1] == Answer(custom=typed)
    seat = sit(MERGE, "user_select").press("end").type(typed).press("enter")
    assert seat.outcome.responses[0].answer == Answer(custom=typed)


def test_lines_can_be_broken_in_every_text(sit):
    seat = sit(FORM, "form").press("tab").type("a").press("newline").type("b").press("enter")
    assert answers(seat)[1] == Answer(custom="a\nb")
    seat = sit(TWO).press("n").type("a").press("newline").type("b")
    assert seat.step.responses[0].option_notes == ((0, "a\nb"),)


def test_a_paste_never_answers_and_keeps_its_lines(sit):
    seat = sit(FORM, "form").paste("2\r\nx").press("tab").paste("one\r\ntwo\rthree\n\n")
    assert (seat.step.index, seat.outcome) == (1, None)
    assert [response.draft for response in seat.step.responses] == ["2\nx", "one\ntwo\nthree\n\n", ""]
    seat.press("enter")
    response = seat.step.responses[1]
    assert response.answer == Answer(custom="one\ntwo\nthree\n\n")
    assert (response.by.surface, response.by.input, response.by.at) == ("terminal", Input.PASTE, 1.0)
    assert sit(TWO).paste("j").step.responses[0].draft == "j"
    closed = sit({"question": "Sure?", "options": ["Yes", "No"]}, "user_select").paste("1\n")
    assert closed.outcome is None
    assert "No text can be given here." in closed.lines[-2]
    assert sit(TWO).press("tab", "tab").paste("\n").step.index is None


def test_escape_leaves_a_text_and_keeps_the_draft_and_then_takes_two(sit):
    seat = sit(FORM, "form").press("tab").type("ledg").press("escape")
    assert seat.here == "ledg"
    assert seat.press("escape").hint.startswith("Esc again to stop")
    assert seat.outcome is None
    assert not seat.press("down").hint.startswith("Esc again")
    assert seat.press("escape").outcome is None
    outcome = seat.press("escape").outcome
    assert outcome.status is Status.DECLINED
    assert outcome.responses[1].draft == "ledg"


@pytest.mark.parametrize("keys", [(), ("tab",), ("tab", "tab"), ("down", "/", "x", "escape"), ("?", "x")])
def test_escape_stops_at_once_while_nothing_was_done(sit, keys):
    assert sit(TWO).press(*keys, "escape").outcome.status is Status.DECLINED


@pytest.mark.parametrize("key", ["x", "up", "?", "page-down", "preview-up", "tab", "other", "n", "/"])
def test_any_other_key_withdraws_an_escape(sit, key):
    seat = sit(TWO).press("1", "back-tab", "escape")
    assert seat.step.stopping
    assert not seat.press(key).step.stopping


def test_declining_after_the_first_answer_keeps_it(sit):
    seat = sit(TWO).press("1", "escape", "escape")
    text = choices.result(choices.read(TWO), seat.outcome).text
    assert text.startswith("User declined to answer questions")
    assert "Staging" in text


def test_drafts_stay_with_their_question(sit):
    seat = sit({"questions": [CHECKS, DEPLOY]}).press("1", "4").type("docs").press("tab")
    assert not any("docs" in line for line in seat.lines)
    seat.press("3").type("my box").press("back-tab")
    assert any("[x] docs" in line for line in seat.lines)
    assert any("[x] Lint" in line for line in seat.lines)
    seat.press("tab", "tab")
    assert [line.strip() for line in seat.lines if "not sent" in line] == [
        "not sent: Lint, docs",
        "not sent: my box",
    ]


def test_a_draft_survives_a_move_to_another_row(sit):
    seat = sit(MERGE, "user_select").press("3").type("words").press("up")
    assert seat.here == "2. Rebase"
    seat.press("enter")
    assert seat.outcome.responses[0].answer == Answer((1,))
    assert seat.outcome.responses[0].draft == "words"


def test_ticks_can_be_taken_back_one_by_one_from_an_answer(sit):
    seat = sit({"questions": [CHECKS]}).press("1", "2", "end", "enter", "back-tab")
    assert sum("[x]" in line for line in seat.lines) == 2
    seat.press("1", "2")
    assert not any("[x]" in line for line in seat.lines)
    seat.press("1", "2")
    assert seat.step.responses[0].ticked == ()  # as it was answered: nothing is left to send
    seat.press("3", "end", "enter")
    assert answers(seat) == (Answer((0, 1, 2)),)


def test_the_review_shows_all_answers_and_leads_to_each(sit):
    seat = sit(FORM, "form").press("2").type("ledger").press("enter", "enter")
    assert seat.step.index is None
    assert [response.state for response in seat.step.responses][2] is State.SKIPPED
    assert seat.here == "Send these answers"
    seat.press("2")
    assert seat.step.index == 1
    seat.type("s").press("enter")
    assert answers(seat)[1] == Answer(custom="ledgers")
    seat.press("up", "up", "up", "enter")
    assert seat.step.index == 0
    seat.press("1")
    assert seat.press("enter").outcome.status is Status.ANSWERED
    assert seat.outcome.responses[0].answer == Answer((0,))


def test_the_custom_row_left_blank(sit):
    questionnaire = user_select.read(MERGE)
    outcome = sit(MERGE, "user_select").press("down", "down", "enter", "enter").outcome
    assert user_select.result(questionnaire, outcome).text == "User submitted an empty custom answer"
    seat = sit({"questions": [DEPLOY]}).press("3", "enter")
    assert seat.outcome is None
    assert "Nothing was typed." in seat.lines[-2]


def test_an_optional_choice_can_be_skipped_by_a_row_of_its_own(sit):
    question = {"id": "a", "question": "A?", "type": "select", "options": ["B"], "required": False}
    seat = sit({"questions": [question]}, "form").press("end")
    assert seat.here == "Skip this question"
    seat.press("enter")
    assert seat.interview.step.responses[0].state is State.SKIPPED


def test_the_filter(sit):
    seat = sit(LONG, "user_select").press("/").type("ODD")
    assert seat.here == "13. Odd one"
    seat.press("enter")
    assert seat.outcome is None
    assert seat.press("enter").outcome.responses[0].answer == Answer((12,))
    seat = sit(LONG, "user_select").press("/").type("nothing like it").press("enter", "enter")
    assert seat.outcome is None
    assert "Nothing matches" in seat.lines[-2]
    assert seat.press("backspace").here == "1. File 1"


def test_left_and_right_move_between_questions_and_in_a_text(sit):
    seat = sit(FORM, "form").press("right", "right", "right")
    assert seat.step.index is None
    seat.press("left", "left", "left")
    assert seat.step.index == 0
    seat.press("right").type("ab").press("left").type("x")
    assert seat.dialog.text == "axb"


def test_keys_in_the_first_moments_answer_nothing(sit):
    seat = sit(MERGE, "user_select")
    seat.now = 0.29
    seat.press("enter", " ", "1", "escape", "x")
    assert (seat.outcome, seat.step.stopping, seat.here) == (None, False, "1. Squash")
    seat.now = 0.6
    assert seat.press("enter").outcome.status is Status.ANSWERED


def test_of_a_run_of_keys_that_began_too_early_none_is_an_answer_and_that_is_said(sit):
    seat = sit(MERGE, "user_select")
    seat.now = 0.0
    for letter in "2 and then 1":
        seat.now += 0.2
        seat.press("enter" if letter == " " else letter)
    assert seat.outcome is None
    assert TOO_SOON in [line.strip() for line in seat.lines]
    seat.now += 0.31
    assert seat.press("enter").outcome.responses[0].answer == Answer((0,))


@pytest.mark.parametrize(("risky", "taken"), [(True, False), (False, True)])
def test_the_second_enter_of_somebody_in_a_hurry_answers_nothing_risky_that_follows(sit, risky, taken):
    first = sit(MERGE, "user_select", risky=risky)
    first.now = 10.0
    assert first.press("enter").outcome.status is Status.ANSWERED
    second = sit(MERGE, "user_select", risky=risky, last_key_s=first.dialog.last_key_s, now=10.05)
    second.now = 10.4
    second.press("enter")
    assert (second.outcome is not None) is taken
    for second.now in (10.8, 11.2):
        second.press("enter")
    assert (second.outcome is not None) is taken
    second.now = 12.21
    assert second.press("enter").outcome.status is Status.ANSWERED


def test_before_it_was_drawn_no_key_counts(sit):
    interview = Interview(CONTRACTS["user_select"].read(MERGE))
    dialog = Dialog(interview, lambda: 100.0, lambda: 100.0)
    dialog.press(Key("enter"))
    assert interview.outcome is None


def test_keys_that_come_together_act_only_on_the_page_that_was_drawn(sit):
    seat = sit(TWO).press_unseen("enter", "1", "enter", " ", "escape", "escape", "tab")
    seat.dialog.press(Key("paste", "words"))
    assert answers(seat) == (Answer((0,)), None)
    assert (seat.step.index, seat.outcome, seat.step.responses[1].draft) == (1, None, "")
    seat.look()
    seat.press_unseen("1", "down", "down", "down", "enter", "enter", "enter")
    assert (seat.step.index, seat.outcome) == (None, None)
    seat.look()
    check_outcome(seat.interview.questionnaire, seat.press("enter").outcome)
    assert answers(seat) == (Answer((0,)), Answer((0,)))


def test_a_key_meant_for_the_page_before_somebody_else_turned_it_does_nothing(sit):
    seat = sit(FORM, "form").press("tab").type("led")
    seat.interview.send(Give(Answer(custom="remote"), REMOTE))
    seat.press_unseen("g", "enter").look()
    seat.now += 0.29
    seat.press("e", "enter")
    assert (seat.step.index, seat.step.responses[2].draft, answers(seat)[2]) == (2, "", None)
    assert seat.step.responses[1].draft == "led"
    seat.now += 0.31
    assert seat.type("x").step.responses[2].draft == "x"


def test_a_page_that_somebody_else_turns_after_our_own_key_is_guarded_too(sit):
    seat = sit(TWO).press("1")
    seat.interview.send(GoTo(0))
    seat.look()
    seat.press("2")
    assert answers(seat) == (Answer((0,)), None)
    seat.press_unseen("x")
    seat.interview.send(GoTo(1))
    seat.look()
    assert answers(seat.press("1")) == (Answer((0,)), None)


def test_a_clock_that_is_set_back_kills_no_key(sit):
    seat = sit(MERGE, "user_select")
    seat.wall = -3600.0
    outcome = seat.press("2").outcome
    assert outcome.responses[0].answer == Answer((1,))
    assert outcome.responses[0].by.at == 1.0 - 3600.0


def test_the_receipt_comes_with_the_drawing(sit):
    seat = sit(TWO)
    assert seat.step.responses[0].shown_at == 0.0
    assert seat.step.responses[1].shown_at is None
    seat.press("tab")
    assert seat.step.responses[1].shown_at == 1.0


def test_every_key_is_heard_by_the_interview(sit):
    seat, heard = sit(FORM, "form"), []
    with seat.interview.watch(heard.append):
        for key in ("up", "x", "?", "page-down", "tab", "left", "other"):
            heard.clear()
            seat.press(key)
            assert heard, key


def test_others_may_move_the_interview(sit):
    seat = sit(FORM, "form")
    seat.interview.send(GoTo(1))
    assert seat.dialog.text == ""
    seat.interview.send(GoTo(None))
    assert seat.here == "Send these answers"


def test_the_editor_opens_on_a_text_and_its_text_is_taken_over(sit):
    seat = sit(FORM, "form").press("editor")
    assert not seat.wants_editor
    seat.press("tab").type("a").press("editor")
    assert seat.wants_editor
    seat.dialog.edited("a longer text\nof two lines")
    assert seat.step.responses[1].draft == "a longer text\nof two lines"
    seat.press("undo")
    assert seat.step.responses[1].draft == "a"
    seat.dialog.edited("nothing is being edited")
    assert seat.step.responses[1].draft == "a"


def test_what_is_written_in_the_editor_stays_with_its_question_wherever_others_go(sit):
    seat, heard = sit(FORM, "form").press("tab").type("a").press("editor"), []
    with seat.interview.watch(heard.append):
        seat.dialog.written("a")
    assert heard == [Touch()]
    seat.dialog.written("a b")
    seat.interview.send(Give(Answer(custom="remote"), REMOTE))
    seat.dialog.written("a b c")
    seat.dialog.edited("a b c d")
    assert [response.draft for response in seat.step.responses] == ["", "a b c d", ""]
    assert (seat.step.index, seat.dialog.text, answers(seat)[1]) == (2, "", Answer(custom="remote"))
    seat.look()
    seat.now += 1
    assert any("a b c d" in line for line in seat.press("back-tab").lines)


def test_a_note_written_in_the_editor_stays_with_its_option(sit):
    seat = sit(TWO).press("down", "n", "editor")
    seat.interview.send(GoTo(1))
    seat.dialog.edited("cheap")
    assert seat.step.responses[0].option_notes == ((1, "cheap"),)
    assert seat.step.index == 1


def test_what_the_editor_did_not_do_is_said(sit):
    seat = sit(FORM, "form").press("tab", "editor")
    seat.dialog.edited("", "No editor.")
    assert "No editor." in seat.lines[-2]
    assert not any("No editor." in line for line in seat.press("x").lines)


def test_help_says_what_the_keys_do_and_any_key_closes_it(sit):
    seat = sit(TWO).press("?")
    assert any("Shift+Tab" in line for line in seat.lines)
    assert seat.press("enter").here == "1. Staging"
    assert seat.outcome is None
