"""Whole sessions in virtual time: what a scene says happens, and the same each time."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from voice.errors import SceneError
from voice.events import AgentEnded, AgentStarted, AssistantText, StatusChanged
from voice.hosts.turns import Turns
from voice.scenes.playing import perform, play

SCENES = sorted(Path(__file__).parents[2].joinpath("scenes").glob("*.scene.yaml"))

QUESTION = """
agent:
  - narrates: Which one do you want?
  - writes: As you like.
happens:
  - send: Begin.
  - {after: narration_ended, plus: 0.4, say: second-one.wav, text: The second one.}
"""

RUN = """
import sys
from pathlib import Path
from voice.scenes.playing import perform
from voice.scenes.reading import load_scene
print(*perform(load_scene(Path(sys.argv[1]))).lines, sep="\\n")
"""


def named(played, event):
    return [json.loads(line) for line in played.lines if json.loads(line)["event"] == event]


def test_what_is_said_reaches_the_agent_and_what_it_says_is_spoken(played):
    done = played(QUESTION)
    assert done.failures == ()
    assert done.messages == ("Begin.", "The second one.")
    assert done.said == ("Which one do you want?", "As you like.")
    assert done.waiting == done.notices == ()
    assert [names for _, names in done.tools] == [
        ("ask_user_question", "user_select", "narrate"),
        ("narrate",),
        ("ask_user_question", "user_select", "narrate"),
    ]


def test_another_process_with_other_hashes_gives_the_same_bytes():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", RUN, str(SCENES[0])],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=300,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) > 20


def test_what_is_not_as_expected_is_told(played):
    done = played(
        QUESTION
        + """
  - {after: host_lost, within: 5, stop: true}
  - answer: "1"
  - {at: 1.0, pause: 1}
expect: {messages: [Begin., The first one.], never_said: [one do you]}
"""
    )
    late, unanswered, past, messages, said = done.failures
    assert late == "Happening 3: host_lost did not come within 5 s."
    assert unanswered == "Happening 4: nothing stood on the screen that '1' could answer."
    assert past.startswith("Happening 5: at 1 s")
    assert messages == ("messages: 'Begin.', 'The first one.': messages were 'Begin.', 'The second one.'")
    assert said.startswith("never said: 'one do you': at ")


def test_a_turn_that_no_message_begins_is_a_failure(played):
    assert played("agent: [writes: Hello.]").failures == ("1 turn of the agent was never begun.",)


def test_a_turn_that_does_not_begin_by_itself_is_a_failure(played):
    never = played("agent: [{after: host_lost, writes: Hello.}]\nhappens: [{send: Begin.}]")
    assert never.failures == ("1 turn of the agent was never begun.",)
    begun = played("agent: [{after: message_sent, writes: Hello.}]\nhappens: [{send: Begin.}]")
    assert begun.failures == ()


def test_a_fault_that_is_to_be_mended_is_mended_before_the_end(played):
    done = played(
        """
        happens:
          - fault: {part: microphone, kind: hangs, seconds: 20}
        expect: {messages: [], notices: [is back], status: listening}
        """
    )
    assert done.failures == ()


def test_keys_do_what_they_do(played):
    done = played(
        """
        agent:
          - [{narrates: "A long question, which nobody wants to hear to its end."}, {works: 30}]
        happens:
          - {type: hel, over: 0.3}
          - {key: Esc}
          - {type: Go on then, over: 0.5}
          - {key: Enter}
          - {after: sentence_begun, plus: 0.5, key: F3}
          - {pause: 1}
          - {key: Ctrl-C}
          - {pause: 1}
          - {key: F2}
          - {pause: 1}
          - {key: F2}
          - {pause: 1}
          - {voice: "on"}
          - {voice: "off"}
        expect:
          messages: [Go on then]
          status: voice_off
          events:
            - {event: status_changed, status: held}
            - {event: sentence_heard, whole: false}
            - {event: narration_ended, ending: interrupted}
            - agent_ended
            - {event: voice_state_changed, state: inactive}
            - {event: voice_state_changed, state: active}
            - {event: voice_state_changed, state: inactive}
          between:
            - {from: agent_started, to: agent_ended, seconds: "< 5"}
            - {from: sentence_begun, to: sentence_heard, seconds: "== 0.5"}
        """
    )
    assert done.failures == ()


def test_an_agent_does_what_is_written(played):
    done = played(
        """
        agent:
          - [{writes: One two three., over: 3}, {works: 2}, {fails: It broke.}]
          - {after: {event: agent_ended, error: It broke.}, plus: 1, writes: I am back.}
          - dies: It is gone.
        happens:
          - send: Begin.
          - {after: {event: assistant_text, text: I am back.}, plus: 5, send: Again.}
        expect:
          messages: [Begin., Again.]
          said: [One two three., I am back.]
          events:
            - {event: agent_ended, error: It broke.}
            - {event: assistant_text, text: I am back.}
            - {event: host_lost, sentence: It is gone.}
          between:
            - {from: agent_started, to: assistant_text, seconds: "== 3"}
            - {from: {event: agent_ended, error: It broke.}, to: agent_started, seconds: "== 1"}
        """
    )
    assert done.failures == ()


def test_a_permission_is_asked_aloud_and_needs_a_second_word_or_a_key(played):
    ask = """
        agent:
          - asks:
              tool: user_select
              arguments: {question: "May I push?", options: [{label: Allow}, {label: Deny}]}
              expect_text: "answered: Allow"
            risky: true
        """
    by_key = ask + 'happens: [{send: Go.}, {after: sentence_heard, answer: "1"}]'
    assert played(by_key).failures == ()
    aloud = ask + "happens: [{send: Go.}, {after: sentence_heard, plus: 6, say: yes.wav, text: Allow}]"
    (failure,) = played(aloud).failures
    assert failure == "The tool user_select gave 'cancelled: ', and 'answered: Allow' is not in it."


def test_a_room_without_echo_is_silent_and_one_with_it_is_not(played):
    told = "agent: [narrates: 'Which database do you want to use for that?']\nhappens: [{send: Go.}]\n"
    headphones = "settings: {hearing: {duplex: headphones}}\n"
    quiet = played(told + headphones + "engine: real")
    assert named(quiet, "speech_started") == []
    loud = played(told + headphones + "engine: real\nroom: {echo_db: -6}")
    assert named(loud, "speech_started"), "the microphone hears the speaker"
    assert loud.messages == ("Go.",), "and nothing of that is a message"


def test_noise_of_a_room_is_there_all_the_while(played):
    done = played(QUESTION + "room: {noise_dbfs: -50}\n")
    assert done.messages == ("Begin.", "The second one.")


@pytest.mark.parametrize(
    ("fault", "met"),
    [
        ("{part: transcriber, kind: dies, seconds: 6}", {"event": "discarded", "reason": "not_transcribed"}),
        ("{part: transcriber, kind: slow, seconds: 6}", {"event": "user_message", "text": "The second one."}),
        (
            "{part: microphone, kind: dies, seconds: 2}",
            {"event": "status_changed", "status": "microphone_lost"},
        ),
        ("{part: host, kind: dies, seconds: 2}", {"event": "host_lost"}),
        ("{part: host, kind: errors, seconds: 60}", {"event": "notice"}),
    ],
)
def test_parts_fail_as_they_are_told(played, fault, met):
    done = played(QUESTION + f"  - {{after: speech_started, plus: 0.5, fault: {fault}}}\n")
    events = [json.loads(line) for line in done.lines]
    assert any(met.items() <= event.items() for event in events), events


@pytest.mark.parametrize("part", ["engine", "speaker"])
def test_what_speaks_fails_as_it_is_told(played, part):
    done = played(
        f'agent: [narrates: "Which one?"]\nhappens: [{{fault: {{part: {part}, kind: dies}}}}, {{send: Go.}}]'
    )
    (ended,) = named(done, "narration_ended")
    assert ended["ending"] == "failed"
    assert ended["notice"]


def test_sound_that_nobody_speaks_is_there_and_can_break_off(played):
    done = played(
        """
        happens:
          - {sound: {kind: white, dbfs: -20, seconds: 60}, text: Thank you.}
          - {at: 1.0, hush}
        """.replace("hush}", "hush: true}")
    )
    assert done.messages == ()
    assert done.happened[-1].clock_s > 60, "a sound lasts as long as it says"


def test_a_scene_ends_when_it_says(played):
    done = played("settings: {conversation: {answer_within_s: 5}}\nends_after: 2.5")
    assert 2.5 <= done.happened[-1].clock_s < 4


@pytest.mark.anyio
async def test_it_can_be_played_beside_an_event_loop(scene):
    done = await play(scene(QUESTION))
    assert done.failures == ()


def test_a_recording_that_is_none_is_refused(scene, tmp_path):
    (tmp_path / "broken.wav").write_bytes(b"RIFFnothing")
    with pytest.raises(SceneError, match=r"broken\.wav"):
        perform(scene(f"happens: [{{say: {tmp_path / 'broken.wav'}, text: Yes.}}]"))


# --- Agents of others ---


class Helper:
    """A host whose agent asks a server, which takes its time."""

    name = "helper"

    def __init__(self, emit, think):
        self._turns = Turns(emit)
        self._think = think

    @property
    def busy(self):
        return self._turns.busy

    @asynccontextmanager
    async def open(self):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._turns.run, self._turn)
            yield
            tasks.cancel_scope.cancel()

    async def send(self, text, delivery=None):
        self._turns.put(text)

    async def interrupt(self):
        pass

    async def _turn(self, text):
        self._turns.write(await self._think(text))
        return ""


async def asks_a_server(text):
    here, there = socket.socketpair()

    def serve():
        with there:
            there.recv(100)
            time.sleep(0.3)
            there.sendall(text.upper().encode())

    serving = threading.Thread(target=serve)
    serving.start()
    reader, writer = await asyncio.open_connection(sock=here)
    writer.write(b"?")
    answer = (await reader.read()).decode()
    writer.close()
    serving.join()
    return answer


async def works_in_a_thread(text):
    def work():
        time.sleep(0.3)
        return text.upper()

    return await anyio.to_thread.run_sync(work)


@pytest.mark.parametrize("think", [asks_a_server, works_in_a_thread])
def test_an_agent_that_really_works_takes_no_time_of_the_scene(scene, think):
    told = scene(
        """
        settings: {conversation: {answer_within_s: 0.5}}
        voice: false
        happens:
          - send: Hello there.
          - {after: assistant_text, plus: 1, send: Bye.}
        expect:
          messages: [Hello there., Bye.]
          between: [{from: agent_started, to: agent_ended, seconds: "< 0.01"}]
        """
    )
    runs = [perform(told, make_host=lambda tools, ask, emit: Helper(emit, think)) for _ in range(2)]
    assert runs[0].failures == ()
    assert [one.text for one in runs[0].events if isinstance(one, AssistantText)] == ["HELLO THERE.", "BYE."]
    assert runs[0].lines == runs[1].lines
    assert {AgentStarted, AgentEnded, StatusChanged} <= {type(event) for event in runs[0].events}
