"""The screen on a real pseudo-terminal, with a scripted conversation behind it.

Screens are kept as text; `REWRITE_SCREENS=1 pytest …` writes them anew, to be looked at.
"""

import os
import signal
import time
from pathlib import Path

import pytest

SCREENS = Path(__file__).parent / "screens"
SIZES = [(80, 24), (40, 10), (20, 6), (120, 40)]
ESC, CTRL_C, CTRL_D, CTRL_T, F2, F3, UP, DOWN = (
    "\x1b",
    "\x03",
    "\x04",
    "\x14",
    "\x1bOQ",
    "\x1bOR",
    "\x1b[A",
    "\x1b[B",
)
WITHIN_S = 60.0
PASTE = "\x1b[200~{}\x1b[201~"
TEXT = (
    r"'# A plan\n\nSome **bold** words, enough of them to be wrapped in every width.\n\n"
    r"- one\n- 日本語\n\n```python\nif x:\n    y()\n```'"
)


def drawn(terminal):
    """What stands on the screen, the row with the cursor marked."""
    rows = [line.rstrip() for line in terminal.screen.display]
    cursor = terminal.screen.cursor
    marked = [f"{'<' if number == cursor.y else ' '}|{row}" for number, row in enumerate(rows)]
    last = max(number for number, row in enumerate(rows) if row or number == cursor.y)
    return f"cursor {cursor.x},{cursor.y}\n" + "\n".join(marked[: last + 1]) + "\n"


def sees(terminal, name):
    """Hold the screen against the one that is kept, for as long as it may take to be drawn."""
    path = SCREENS / f"{terminal.screen.columns}x{terminal.screen.lines}" / f"{name}.txt"
    if os.environ.get("REWRITE_SCREENS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(drawn(terminal.settle(0.5)))
    kept, limit = path.read_text(), time.monotonic() + WITHIN_S
    while drawn(terminal) != kept and time.monotonic() < limit:
        terminal.read()
    assert drawn(terminal.settle()) == kept, name
    return terminal


@pytest.fixture
def ready(scripted):
    """The screen, once it takes keys."""
    return lambda *options, **how: scripted(*options, **how).until("listening").settle()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_screens(ready, width, height):
    terminal = sees(ready(width=width, height=height), "start")
    sees(terminal.send("h", "ello 日本", "\x0a", "second line"), "typing")
    terminal.send("\r").until("hello 日本").until("microphone held", gone=True)
    terminal.send(
        "!AgentStarted(), StatusChanged(Status.WORKING), LevelMeasured(-30.0, 1.0), "
        f"AssistantDelta({TEXT[:70]}'), MessageQueued('and then the tests'), "
        "PartialTranscript('I would like to', 1.0)\r",
    )
    sees(terminal, "working")
    terminal.send(
        f"!AssistantText({TEXT}), NarrationStarted('Shall I go on?'), StatusChanged(Status.NARRATING)\r"
    )
    sees(terminal, "narrating")
    terminal.send(
        "!AgentEnded(), MessageSent('and then the tests'), StatusChanged(Status.LISTENING), "
        "Discarded(DiscardReason.TYPED_INSTEAD, 'I would like to', 1.0), "
        "Notice('The microphone is back.')\r"
    )
    sees(terminal, "not-sent")
    sees(terminal.send("ask\r").until("Merge how?"), "question")
    sees(terminal.ready().send(DOWN, "\r"), "answered")
    sees(terminal.send(CTRL_C), "leaving")
    assert sees(terminal.send(CTRL_C).until("ended"), "left").ended() == 130


def test_what_was_said_stays_in_the_scrollback(ready):
    terminal = ready(height=10)
    for number in range(20):
        terminal.send(f"message {number}\r").until(f"> message {number}")
    terminal.send(CTRL_D)
    assert terminal.ended() == 0
    assert terminal.history == ["before", *(f"you     > message {n}" for n in range(20)), "ended 0"]


def test_keys_switch_voice_and_silence_also_in_the_middle_of_a_line_and_of_a_question(ready):
    terminal = ready()
    terminal.send("draft", F2).until("! toggled")
    terminal.send(F3).until("! silenced").send(CTRL_T).until("! toggled", times=2)
    assert "> draft" in terminal.text
    terminal.send(ESC).until("> draft", gone=True)
    terminal.send("ask\r").until("Merge how?").send(F2, F3)
    terminal.until("! toggled", times=3).until("! silenced", times=2)
    assert "Merge how?" in terminal.text


def test_escape_clears_the_line_which_can_be_had_back_and_silences_on_an_empty_one(ready):
    terminal = ready().send("a draft").until("> a draft").until("microphone held")
    terminal.send(ESC).until("> a draft", gone=True).until("listening")
    terminal.send(UP).until("> a draft").send("\r").until("you     > a draft")
    terminal.send(ESC).until("! silenced")


def test_a_paste_is_one_message_in_any_terminal(ready):
    terminal = ready().send(PASTE.format("one\rtwo\r\r")).until("two").settle()
    assert "you     >" not in terminal.text
    terminal.send("\r").until("you     > one")
    assert terminal.text.count("you     >") == 1
    terminal.send("three\rfour, and more").until(
        "and more"
    ).settle()  # all at once, as a terminal without marks pastes
    assert terminal.text.count("you     >") == 1
    terminal.send("\r").until("you     > three")


def test_what_is_typed_before_the_screen_is_up_is_as_if_typed_now(scripted):
    terminal = scripted().until("before").send("first\r", "second 日本\r", "third line begun")
    terminal.until("you     > first").until("you     > second 日本").until("> third line begun").settle()
    assert terminal.text.count("you     >") == 2
    terminal.send(" and over\r").until("you     > third line begun and over")
    terminal.send("one", "\x0a", "two", "\r").until("you     > one").until("two")
    assert terminal.send(CTRL_D).ended() == 0


def test_a_question_typed_ahead_is_not_answered_by_what_follows_it(scripted):
    terminal = scripted().until("before").send("ask\r", "1\r", F2)
    terminal.until("you     > 1").until("! toggled").until("❯ 1. Squash").ready()
    terminal.send(DOWN, "\r").until("selected=(1,)")


def test_lines_with_a_slash_act_and_others_are_sent(ready):
    terminal = ready().send("/voice\r").until("! toggled").send("/stop\r").until("! silenced")
    terminal.send("/status\r").until("microphone: USB Audio")
    terminal.send("/help\r").until("F2, Ctrl-T").send("/compact\r").until("you     > /compact")
    terminal.send("//quit\r").until("you     > /quit").send("/quit\r")
    assert terminal.ended() == 0


def test_a_question_mark_helps_on_an_empty_line_alone(ready):
    terminal = ready().send("?").until("F2, Ctrl-T").send("why", "?").until("> why?")
    terminal.send("\r").until("you     > why?")


def test_the_first_ctrl_c_interrupts_and_the_second_quits_unless_something_else_came_between(ready):
    terminal = ready().send("!AgentStarted()\r").until("agent working")
    terminal.send(CTRL_C).until("! interrupted").until("Ctrl-C again quits")
    terminal.send("x").until("Ctrl-C again quits", gone=True).send(CTRL_C).until("Ctrl-C again quits")
    terminal.until("Ctrl-C again quits", gone=True)  # it is forgotten after a while
    assert terminal.send(CTRL_C, CTRL_C).ended() == 130


def test_a_line_that_was_not_sent_is_told_when_one_leaves(ready):
    terminal = ready().send("half a line").until("> half a line").send(CTRL_C, CTRL_C)
    assert terminal.ended() == 130
    assert "! This was not sent: half a line" in terminal.text


def test_ctrl_d_quits_on_an_empty_line_alone(ready):
    terminal = ready().send("ab", "\x01", CTRL_D).until("> b").settle()
    assert terminal.send(ESC).until("> b", gone=True).send(CTRL_D).ended() == 0


def test_a_question_takes_the_place_of_the_line_and_gives_it_back(ready):
    terminal = ready().send("ask 0.5\r", "unfinished").until("> unfinished")
    terminal.until("Merge how?").until("> unfinished", gone=True)
    assert "listening" in terminal.text
    terminal.send("zzz").settle()  # goes to nobody: it is no answer
    assert "Merge how?" in terminal.text
    terminal.send_until(DOWN, "❯ 2.").send("\r").until("! answered: [Answer(selected=(1,)")
    terminal.until("> unfinished").send(" business").send_until("\r", "you     > unfinished business")


def test_a_question_waits_while_somebody_types_and_takes_no_key_of_theirs(ready):
    terminal = ready().send("ask 0.2\r")
    typed = ""
    while "A question waits until you pause." not in terminal.text:
        assert len(typed) < 70, terminal.text
        typed += "12"[len(typed) % 2]
        terminal.send(typed[-1]).settle(0.15)
    terminal.until("Merge how?")
    assert "answered" not in terminal.text
    terminal.ready().send(ESC).until("! declined").until(f"> {typed}")


def test_the_first_keys_of_the_next_line_are_no_answer_to_a_question_that_comes_at_once(ready):
    terminal = ready().send("ask\r").settle(0.2).send("1", "\r").until("you     > 1").until("Merge how?")
    assert "answered" not in terminal.ready().text
    terminal.send(ESC).until("! declined")


def test_events_are_shown_above_an_open_question_and_two_questions_follow_each_other(ready):
    terminal = ready().send("ask\r").until("Merge how?").ready()
    os.kill(terminal.program, signal.SIGUSR1)  # an event, and a second question
    terminal.until("! meanwhile").until("Merge how?")
    terminal.send(DOWN, "\r").until("! answered: [Answer(selected=(1,)").until("And then?").ready()
    terminal.send("\r").until("! answered: [Answer(selected=(0,)")


def test_resizing_leaves_no_row_twice(ready):
    terminal = ready().send("h", "ello\r").until("> hello").send("draft").until("> draft")
    for width, height in [(60, 24), (100, 24), (40, 24), (80, 30)]:
        terminal.resize(width, height).until_so(
            lambda: all(terminal.text.count(once) == 1 for once in ("> draft", "microphone held", "> hello"))
        )


def test_hostile_text_reaches_the_terminal_as_print_only(ready):
    evil = r"'x\x1b]52;c;aGk=\x07\x1b[2J\u202e\x9b31m\ryou     > forged'"
    terminal = ready().send(
        f"!AssistantDelta({evil}), AssistantText({evil}), NarrationStarted({evil}), Notice({evil}), "
        f"ToolCalled('read', {evil}, False), ToolCalled('read', {evil}, True), "
        f"UserMessage({evil}, 'voice', 1.0), "
        f"PartialTranscript({evil}, 1.0), MessageQueued({evil}), DevicesInUse({evil}, {evil}), "
        f"HostLost({evil}), Discarded(DiscardReason.ECHO, {evil}, 1.0), CommandHeard('x', {evil}, 1.0)\r"
    )
    terminal.until("is told").settle()
    for forbidden in (b"\x1b]52", b"\x1b[2J", b"\x07", b"\xe2\x80\xae", b"\xc2\x9b"):
        assert forbidden not in terminal.raw
    assert not any(line.startswith("you     > forged") for line in terminal.history)


def test_no_colours_where_none_are_wanted(ready):
    plain = ready(environment={"NO_COLOR": "1"}).send("hello\r").until("> hello")
    assert plain.send(CTRL_D).ended() == 0
    assert not coloured(plain.raw)
    assert coloured(ready().send("hello\r").until("you     > hello").raw)


def coloured(raw):
    import re

    parts = [part for group in re.findall(rb"\x1b\[([0-9;]*)m", raw) for part in group.split(b";")]
    return any(part.isdigit() and (30 <= int(part) <= 38 or 90 <= int(part) <= 97) for part in parts)


@pytest.mark.parametrize("keys", [("draft",), ("ask\r",)])
def test_an_exception_leaves_a_sane_terminal(ready, keys):
    terminal = ready(height=60, width=150).send(*keys).settle()
    os.kill(terminal.program, signal.SIGUSR2)
    terminal.until("broken on purpose")
    assert terminal.ended() == 1


def test_a_fault_in_drawing_ends_it_and_says_so(scripted, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "from voice.screen import rows\n"
        "plain = rows.meter\n"
        "def broken(level):\n"
        "    if level == -31.0: raise RuntimeError('broken on purpose')\n"
        "    return plain(level)\n"
        "rows.meter = broken\n"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[3])])
    terminal = scripted(height=60, width=150, environment={"PYTHONPATH": path}).until("listening").settle()
    terminal.send("!LevelMeasured(-31.0, 1.0)\r").until("broken on purpose")
    assert terminal.ended() == 1


def test_a_terminal_that_hangs_up_ends_it(ready):
    terminal = ready()
    program = terminal.program
    terminal.child.close(force=False)
    for _ in range(1_200):
        if not Path(f"/proc/{program}").exists():
            return
        signal.sigtimedwait([], 0.05)
    raise AssertionError("it goes on without a terminal")
