"""Faults around it: a full disk, a stuck terminal, one that hangs up; and what only hours bring out.

One state for each part and fault is tried each time; all of them with `make soak`, which sets VOICE_SOAK.
"""

import json
import signal
import subprocess
import time

import psutil
import pytest
from failing import MORE_THAN_IT_HOLDS, SOAK, STATES, bear_all, each_in_turn, enter
from talking import VOICE, WITHIN_S

GROWN_MB = 10.0
"""The most by which the memory may rise in the last 120 of 200 times: the soak's for 500 turns."""

pytestmark = [pytest.mark.devices, pytest.mark.slow]


@each_in_turn(("disk", "terminal"))
def test_it_goes_on_whatever_fails(talk, parts, state):
    bear_all(talk, parts, state)


@pytest.mark.parametrize("state", STATES if SOAK else ["hearing"])
def test_a_terminal_that_hangs_up_ends_it_and_what_was_being_said_is_kept(talk, state):
    talk.settled()
    spoken = enter(talk, state)
    family = [talk.process, *talk.process.children(recursive=True)]
    began = time.monotonic()
    talk.hang_up()
    _, alive = psutil.wait_procs(family, timeout=WITHIN_S)
    assert not alive, f"{alive} after {time.monotonic() - began:.0f} s"
    if spoken and len(talk.read_by_agent) == 0:
        command = [VOICE, "journal", "list", "--json"]
        listed = subprocess.run(command, env=talk.environment, capture_output=True, text=True, check=True)
        assert [json.loads(line)["kind"] for line in listed.stdout.splitlines()] == ["spoken"]


@pytest.mark.skipif(not SOAK, reason="takes half a minute: make soak")
def test_a_terminal_that_takes_nothing_keeps_no_signal_from_ending_it(talk):
    talk.settled()
    family = [talk.process, *talk.process.children(recursive=True)]
    talk.at_once = 0
    for _ in range(MORE_THAN_IT_HOLDS):
        talk.type("/help")
    talk.lasts(3)
    talk.process.send_signal(signal.SIGTERM)
    _, alive = psutil.wait_procs(family, timeout=WITHIN_S)
    assert not alive


@pytest.mark.skipif(not SOAK, reason="takes ten minutes: make soak")
def test_voice_is_switched_on_and_off_again_and_again_and_nothing_grows(talk):
    """Of 200 times: handles, threads and children are those of the beginning, and memory settles.

    Threads come and go, and what one leaves half filled the next may use: it was 50 MB more after the first
    20 times, and 1 MB in the 60 after them. What leaks lifts the least of 20 times too.
    """
    counts = []
    memory_mb = []
    for _ in range(200):
        talk.settled()
        counts.append((talk.process.num_fds(), talk.process.num_threads(), len(talk.process.children())))
        memory_mb.append(round(talk.process.memory_info().rss / 1e6, 1))
        talk.type("/voice")
        talk.until(lambda: talk.status == "voice off", "voice off")
    talk.settled()
    talk.says_yes()
    for before, after in zip(
        *[map(max, zip(*part, strict=True)) for part in (counts[:20], counts[-20:])], strict=True
    ):
        assert after <= before + 1, f"grown: {counts[::20]}"
    assert min(memory_mb[-20:]) < min(memory_mb[60:80]) + GROWN_MB, f"grown: {memory_mb[::5]}"
    talk.quit()
