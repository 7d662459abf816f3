"""The whole program is killed at any moment: the next start finds what was said or typed and not accepted.

Each conversation is a process of its own, with a real journal on a real disk, and ends by ``kill -9``.
"""

import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from voice.assembly import journal_folder
from voice.journal.store import Store

HANG_S = 120.0
VOICE = str(Path(sys.executable).parent / "voice")

PROGRAM = """
import sys
import anyio
from pathlib import Path
from voice.chat import Chat
from voice.assembly import journal_folder, open_journal
from voice.settings import Settings
from voice.testing import ScriptedHost, ScriptedParts

async def reached():
    await anyio.wait_all_tasks_blocked()
    while journal._done < journal._given:
        await anyio.sleep(0.01)
    print("reached", flush=True)
    await anyio.to_thread.run_sync(sys.stdin.read)  # and here it is killed

async def main():
    global journal
    parts = ScriptedParts("Merge it.", "Then push.")
    parts.transcript_after_s = None
    settings = Settings()
    async with open_journal(settings.journal, lambda told: print(told, file=sys.stderr)) as journal:
        parts.journal = journal
        hosts = []
        def make_host(tools, ask, emit):
            hosts.append(ScriptedHost(emit))
            return hosts[0]
        chat = Chat(make_host, parts.open, settings, lambda event: None, journal=journal)
        async with anyio.create_task_group() as tasks:
            await tasks.start(chat.run)
            await chat.until_voice(on=True)
            (host,) = hosts
            async def hears(silence=2.5):
                parts.say(1.0, silence)
                await parts.microphone.drained()
                await anyio.wait_all_tasks_blocked()
                parts.microphone.feed(0.2, spoken=False)
                await parts.microphone.drained()
                await anyio.wait_all_tasks_blocked()
            {body}
            await reached()

anyio.run(main)
"""


@contextmanager
def carried(body):
    """Carry a conversation until it is where it is to be, and kill it there when it is left."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM.replace("{body}", "\n            ".join(body.strip().splitlines()))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        hangs = threading.Timer(HANG_S, program.kill)
        hangs.start()
        try:
            assert program.stdout.readline() == "reached\n"
            yield
        finally:
            hangs.cancel()
            program.kill()


def killed(body):
    with carried(body):
        pass


def voice(*arguments, stdin=subprocess.DEVNULL):
    return subprocess.run(
        [VOICE, *arguments], stdin=stdin, capture_output=True, text=True, timeout=120, check=False
    )


def listed():
    with Store(journal_folder()) as store:
        return store.found().pending


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_in_the_middle_of_what_is_said_all_of_it_that_was_heard_is_there():
    killed("await hears(silence=0.0)")
    (entry,) = listed()
    assert (entry.kind, entry.text, entry.whole) == ("spoken", "", False)
    assert entry.seconds == pytest.approx(1.2, abs=0.1)


def test_while_it_is_transcribed_the_sound_is_there():
    killed("parts.transcriber.hold()\nawait hears()")
    (entry,) = listed()
    assert (entry.text, entry.whole) == ("", False)
    assert entry.seconds >= 2.0


def test_while_the_agent_is_busy_what_waits_for_it_is_there_with_its_words():
    killed("host.begin()\nawait hears()\nchat.send('And tell Anna.')")
    assert [(entry.kind, entry.text, entry.whole) for entry in listed()] == [
        ("spoken", "Merge it.", True),
        ("typed", "And tell Anna.", True),
    ]


def test_while_it_is_handed_over_it_is_there():
    killed("host.hold()\nchat.send('Merge it.')")
    assert [entry.text for entry in listed()] == ["Merge it."]


def test_what_the_agent_has_is_nowhere(state):
    killed("await hears()\nhost.end()\nchat.send('And this.')\nhost.end()")
    assert listed() == ()
    kept = [path for path in (state / "viva-voce" / "journal").iterdir() if path.suffix != ".lock"]
    assert kept == []


def test_two_crashes_find_what_both_have_left_and_once():
    killed("host.begin()\nchat.send('First.')")
    killed("host.begin()\nchat.send('Second.')")
    assert [entry.text for entry in listed()] == ["First.", "Second."]
    assert [entry.text for entry in listed()] == ["First.", "Second."]


@contextmanager
def chat_in_lines():
    with subprocess.Popen(
        [VOICE, "chat", "--no-voice", "--plain"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        hangs = threading.Timer(HANG_S, program.kill)
        hangs.start()
        try:
            yield program
            program.stdin.close()
            program.stdout.read()
        finally:
            hangs.cancel()


def types(program, *lines):
    program.stdin.write("".join(f"{line}\n" for line in lines))
    program.stdin.flush()


def read_until(program, text):
    told = []
    for line in program.stdout:
        told.append(line)
        if text in line:
            return "".join(told)
    raise AssertionError(f"{text!r} is not in {''.join(told)!r}")


def test_the_next_conversation_offers_it_and_sends_it_when_it_is_told_to():
    killed("host.begin()\nchat.send('help')")
    with chat_in_lines() as program:
        read_until(program, 'What you had typed was not delivered: "help"')
        types(program, "/journal")
        read_until(program, "typed: help")
        assert len(listed()) == 1  # nothing is sent by itself
        types(program, "/journal send 1")
        read_until(program, "you typed: help")
        read_until(program, "I am a script")
    assert listed() == ()


def test_what_it_is_told_to_forget_is_gone():
    killed("host.begin()\nchat.send('help')\nchat.send('tools')")
    with chat_in_lines() as program:
        read_until(program, "2 things that you had said or typed were not delivered")
        types(program, "/journal forget all", "/journal")
        read_until(program, "Nothing is kept")
    assert listed() == ()


def test_what_is_to_be_sent_is_sent_by_the_conversation_that_runs():
    killed("host.begin()\nchat.send('help')")
    with chat_in_lines() as program:
        read_until(program, "not delivered")
        (entry,) = listed()
        done = voice("journal", "send", entry.id)
        assert done.stderr == f"voice: The conversation in process {program.pid} sends {entry.id}.\n"
        read_until(program, "I am a script")


def test_a_second_conversation_is_not_offered_what_the_first_has_in_its_hands():
    with chat_in_lines() as second:
        with carried("host.begin()\nchat.send('help')"):
            types(second, "/journal")
            told = read_until(second, "Nothing is kept")
            assert "not delivered" not in told
        types(second, "/journal")
        read_until(second, "typed: help")  # the first was killed
    (entry,) = listed()
    assert entry.text == "help"


def test_what_is_to_be_sent_while_nobody_talks_is_sent_by_the_next_conversation():
    killed("host.begin()\nchat.send('help')")
    (entry,) = listed()
    done = voice("journal", "send", entry.id)
    assert (done.returncode, done.stderr) == (
        0,
        f"voice: No conversation runs: the next one sends {entry.id} at its start.\n",
    )
    with chat_in_lines() as program:
        read_until(program, "I am a script")
    assert listed() == ()
