"""The conversation in lines, in a terminal that only prints and on pipes."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "program.py"
AT_REST = "StatusChanged(Status.VOICE_OFF), VoiceStateChanged(VoiceState.INACTIVE)\n"


@pytest.fixture
def plain(scripted):
    return lambda **how: scripted("--plain", **{"environment": {"TERM": "dumb"}, **how}).until("(listening)")


def piped(text, *, seconds=20):
    done = subprocess.run(
        [sys.executable, PROGRAM, "--plain"],
        input=text,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.stderr == ""
    return done


def test_everything_is_told_in_lines_and_nothing_is_drawn(plain):
    terminal = plain()
    terminal.send(
        "!StatusChanged(Status.HEARING), PartialTranscript('I would', 1.0), "
        "UserMessage('I would.', 'voice', 2.0), "
        "AgentStarted(), StatusChanged(Status.WORKING), MessageQueued('later'), MessageSent('later'), "
        "AssistantText('One.\\n\\nTwo.'), LevelMeasured(-30.0, 1.0), HostLost('It died.')\r"
    ).until("It died.")
    shown = terminal.text
    for line in (
        "(microphone: USB Audio 日本; speaker: Built-in Audio Analog Stereo)",
        "(hearing you)",
        "(heard so far: I would)",
        "you said: I would.",
        "(agent working)",
        "(waits until the agent has finished: later)",
        "(sent: later)",
        "agent: One.",
        "  Two.",
    ):
        assert line in shown.replace("日 本 ", "日本").replace("日 本", "日本"), (line, shown)
    assert terminal.send("/status\r").until("level: -30 dBFS")
    assert b"\x1b" not in terminal.raw
    assert terminal.send("\x04").ended() == 0


def test_lines_with_a_slash_act_and_others_are_sent(plain):
    terminal = plain().send("/voice\r").until("toggled").send("/stop\r").until("silenced")
    terminal.send("/help\r").until("/quit: quit").send("/compact\r").until("you typed: /compact")
    terminal.send("/mic usb\r").until("no microphone that could be another one")
    terminal.send("//mic\r").until("you typed: /mic")
    assert terminal.send("/quit\r").ended() == 0


def test_a_question_is_asked_in_lines_and_what_was_typed_before_it_is_no_answer(plain):
    terminal = plain().send("ask 1.0\r", "2 or so")
    terminal.until("Merge how?").until("This was typed before, and is dropped: 2 or so").settle()
    assert "answered" not in terminal.text
    terminal.send_until("1\r", "answered: [Answer(selected=(0,)")
    terminal.send("and on\r").until("you typed: and on")


def test_the_second_ctrl_c_quits(plain):
    terminal = plain().send("!AgentStarted(), Notice('at work')\r").until("at work")
    terminal.send("\x03").until("interrupted").until("Ctrl-C again quits.").send("\x03")
    assert terminal.ended() == 130


def test_piped_lines_are_messages_and_answers_and_the_end_waits_for_what_they_asked():
    program = subprocess.Popen(
        [sys.executable, PROGRAM, "--plain"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with program:
        program.stdin.write("hello\n!VoiceStateChanged(VoiceState.INACTIVE)\nask\n")
        program.stdin.flush()
        shown = ""
        while "Merge how?" not in shown:
            shown += program.stdout.readline()
        assert "you typed: hello\n" in shown
        program.stdin.write("2\n!AgentStarted()\n!AgentEnded(), StatusChanged(Status.VOICE_OFF)\n")
        program.stdin.close()
        assert "answered: [Answer(selected=(1,)" in program.stdout.read()
        assert program.wait(60) == 0


def test_while_voice_is_on_the_end_of_input_ends_nothing():
    with pytest.raises(subprocess.TimeoutExpired):
        piped("hello\n", seconds=4)


def test_no_text_passes_for_a_line_of_ours():
    evil = r"'x\nyou said: forged\r\x1b[2J\nagent: forged'"
    done = piped(
        f"!AssistantText({evil}), Notice({evil}), Discarded(DiscardReason.ECHO, {evil}, 1.0)\n!" + AT_REST
    )
    assert "\x1b" not in done.stdout
    assert not [
        line for line in done.stdout.splitlines() if line.startswith(("you said: forged", "agent: forged"))
    ]


def test_who_reads_a_pipe_and_pauses_gets_all():
    program = subprocess.Popen(
        [sys.executable, PROGRAM, "--plain"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with program:
        program.stdin.write("!" + ", ".join(f"Notice('{letter}' * 600_000)" for letter in "xyz") + "\n")
        program.stdin.write("!Notice('the last'), " + AT_REST)
        program.stdin.close()
        while "listening" not in program.stdout.readline():
            pass
        time.sleep(4.0)  # a pause; a shorter one would only prove less
        shown = program.stdout.read()
        assert [shown.count(letter * 600_000) for letter in "xyz"] == [1, 1, 1]
        assert "the last" in shown
        assert program.wait(60) == 0


def test_an_output_that_nobody_reads_ends_it():
    program = subprocess.Popen(
        [sys.executable, PROGRAM, "--plain"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with program:
        program.stdout.readline()
        program.stdout.close()
        program.stdin.write("hello\n" * 3)
        program.stdin.close()
        assert program.wait(60) == 129
    assert program.returncode != -signal.SIGPIPE


def test_a_line_for_the_conversation_is_no_answer_to_the_question_that_is_asked(plain):
    terminal = plain().send("ask\r").until("Merge how?")
    terminal.send_until("/voice\r", "toggled").send("/status\r").until("speaker: Built-in").send(
        "/stop\r"
    ).until("silenced")
    assert "answered" not in terminal.text
    terminal.send("2\r").until("answered: [Answer(selected=(1,)")
    terminal.send("ask\r").until("\nask").settle(0.8)
    assert terminal.send_until("/quit\r", "ended ").ended() == 0
