"""How each part of a real conversation fails, and what is to be found afterwards.

What cannot be brought about from outside the program stands in `NO_WAY`; it is in the virtual matrix.
"""

import contextlib
import os
import shutil
import subprocess
import threading
import time
from collections import Counter

import psutil
import pytest

STATES = ("idle", "listening", "hearing", "transcribing", "narrating", "agent working")
KINDS = ("killed", "hangs", "errors", "slow")
BORNE_S = 2.5
"""For so long is borne what nobody is to find out: an agent that hangs, a terminal that takes nothing."""
PULSES = 3
"""Who was stopped so often was slow."""
MORE_THAN_IT_HOLDS = 400
"""Times that help is asked for: more than the 64 kB that a terminal holds."""
LONG = "say This is a long text. It goes on for a while, so that something can happen to it. And so on."


# --- How each part fails ----------------------------------------------------------------------------------
#
# Each gives what tells whether the fault was met. It goes on until then.


def is_dead(process):
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def replaced(talk, part, process):
    """Whether another process does its work."""
    return lambda: is_dead(process) and talk.child_of(part) not in (None, process)


def told(talk, words):
    """Whether a person was told so, from now on."""
    printed = len(talk.printed)
    return lambda: words in " ".join(talk.printed[printed:].split())


def after(seconds):
    """Whether that has passed."""
    over = time.monotonic() + seconds
    return lambda: time.monotonic() >= over


@contextlib.contextmanager
def killed(talk, part):
    """It is gone: what is written to a process that is about to die nobody can tell from what it has read."""
    process = talk.process_of(part)
    process.kill()
    talk.until(lambda: is_dead(process), "killed")
    yield replaced(talk, part, process)


@contextlib.contextmanager
def stopped(talk, part):
    """It is stopped until another one does its work; nobody replaces an agent."""
    process = talk.process_of(part)
    process.suspend()
    try:
        yield after(BORNE_S) if part == "host" else replaced(talk, part, process)
        assert part != "host" or process.status() == psutil.STATUS_STOPPED
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.resume()


@contextlib.contextmanager
def pulsing(process):
    """Stop a process for half a second, again and again."""
    over = threading.Event()
    pulses = 0

    def pulse():
        nonlocal pulses
        while not over.is_set():
            process.suspend()
            over.wait(0.5)
            process.resume()
            over.wait(0.25)
            pulses += 1

    def pulse_while_it_lives():
        with contextlib.suppress(psutil.NoSuchProcess):
            pulse()

    thread = threading.Thread(target=pulse_while_it_lives)
    thread.start()
    try:
        yield lambda: pulses >= PULSES or not thread.is_alive()
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def slow(talk, part):
    """It is slow, and nobody gives it up for that."""
    process = talk.process_of(part)
    with pulsing(process) as met:
        yield met
    # Who types breaks off what is spoken, and an engine that is at work on it is ended with that.
    if not (part == "engine" and is_dead(process)):
        assert talk.child_of(part) == process, "who is slow was taken for one that hangs"


@contextlib.contextmanager
def without_weights(talk, part):
    """Whisper is started again, and its model is gone."""
    weights = talk.weights / "model.bin"
    real = weights.readlink()
    weights.unlink()
    process = talk.process_of(part)
    failed = told(talk, "not sent")
    process.kill()
    try:
        yield failed
    finally:
        weights.symlink_to(real)


@contextlib.contextmanager
def pulled_out(talk, part):
    module, name, words = {
        "microphone": ("module-remap-source", "source_name=mic", LOST),
        "speaker": ("module-null-sink", "sink_name=spk", "vl_spk"),
    }[part]
    loaded = next(
        line.split("\t")
        for line in talk.server.pactl("list", "short", "modules").splitlines()
        if module in line and name in line
    )
    lost = told(talk, words)
    talk.server.pactl("unload-module", loaded[0])
    try:
        yield lost
    finally:
        talk.server.pactl("load-module", module, *loaded[2].split())
        talk.server.pactl("set-default-source", "mic")


@contextlib.contextmanager
def server_hangs(talk, part):
    lost = told(talk, LOST)
    with talk.server.hanging():
        yield lost


@contextlib.contextmanager
def server_is_started_again(talk, part):
    lost = told(talk, LOST)
    talk.server.kill()
    talk.server.start()
    yield lost


@contextlib.contextmanager
def server_is_slow(talk, part):
    with pulsing(psutil.Process(talk.server._processes[0].pid)) as met:
        yield met


@contextlib.contextmanager
def agent_errs(talk, part):
    failed = told(talk, "Internal error")
    talk.type("form nonsense")
    yield failed


@contextlib.contextmanager
def folder_is_gone(talk, part):
    """The folder of what is kept, with all that is in it; it is begun anew."""
    folder = talk.folder / "state" / "viva-voce"
    gone = folder.rename(folder.with_name("gone"))  # at once: somebody writes in it
    shutil.rmtree(gone)
    yield folder.exists


@contextlib.contextmanager
def disk_is_full(talk, part):
    """Nothing can be written to any file."""
    limit = ["prlimit", f"--pid={talk.process.pid}"]
    failed = told(talk, "cannot be kept")
    subprocess.run([*limit, "--fsize=0:"], check=True, timeout=60)
    try:
        yield failed
    finally:
        subprocess.run([*limit, "--fsize=unlimited:"], check=True, timeout=60)


@contextlib.contextmanager
def terminal_takes_nothing(talk, part):
    """Nobody reads what is printed, and more is printed than it holds."""
    printed = len(talk.printed)
    talk.at_once = 0
    for _ in range(MORE_THAN_IT_HOLDS):
        talk.type("/help")
    try:
        yield after(BORNE_S)
    finally:
        talk.at_once = 100_000
    talk.until(lambda: len(talk.printed) - printed > 64_000, "more printed than it holds")


@contextlib.contextmanager
def terminal_is_slow(talk, part):
    """A few characters are read at a time."""
    talk.at_once = 40
    for _ in range(3):
        talk.type("/help")
    try:
        yield after(BORNE_S)
    finally:
        talk.at_once = 100_000


LOST = "looking for it again"
FAULTS = {
    ("transcriber", "killed"): killed,
    ("transcriber", "hangs"): stopped,
    ("transcriber", "errors"): without_weights,
    ("transcriber", "slow"): slow,
    ("engine", "killed"): killed,
    ("engine", "hangs"): stopped,
    ("engine", "slow"): slow,
    ("host", "killed"): killed,
    ("host", "hangs"): stopped,
    ("host", "errors"): agent_errs,
    ("host", "slow"): slow,
    ("speaker", "killed"): pulled_out,
    ("microphone", "killed"): pulled_out,
    ("microphone", "hangs"): server_hangs,
    ("microphone", "errors"): server_is_started_again,
    ("microphone", "slow"): server_is_slow,
    ("disk", "killed"): folder_is_gone,
    ("disk", "errors"): disk_is_full,
    ("terminal", "hangs"): terminal_takes_nothing,
    ("terminal", "slow"): terminal_is_slow,
}
NO_WAY = {
    ("engine", "errors"): "nothing outside it makes an engine that works answer with an error",
    ("speaker", "hangs"): "the sound server has both devices: see the microphone",
    ("speaker", "errors"): "the sound server has both devices: see the microphone",
    ("speaker", "slow"): "the sound server has both devices: see the microphone",
    ("disk", "hangs"): "it takes root, and a file system of its own to freeze",
    ("disk", "slow"): "it takes root, and a file system of its own to freeze",
    ("terminal", "errors"): "a terminal that gives errors has hung up: see killed",
}
ENDS = {("terminal", "killed")}
"""It is the end of the conversation: a test of its own."""
NEEDED_BY_VOICE = ("transcriber", "engine", "microphone", "speaker")
"""While Voice is off nobody has these, and nobody meets what befalls them."""
TRIED_IN = {
    ("transcriber", "killed"): "transcribing",
    ("transcriber", "hangs"): "hearing",
    ("transcriber", "errors"): "listening",
    ("transcriber", "slow"): "narrating",
    ("engine", "killed"): "narrating",
    ("engine", "hangs"): "agent working",
    ("engine", "slow"): "listening",
    ("host", "killed"): "agent working",
    ("host", "hangs"): "listening",
    ("host", "errors"): "idle",
    ("host", "slow"): "hearing",
    ("microphone", "killed"): "hearing",
    ("microphone", "hangs"): "listening",
    ("microphone", "errors"): "agent working",
    ("microphone", "slow"): "transcribing",
    ("speaker", "killed"): "narrating",
    ("disk", "killed"): "listening",
    ("disk", "errors"): "hearing",
    ("terminal", "hangs"): "transcribing",
    ("terminal", "slow"): "narrating",
}
"""The state in which each is tried each time."""


# --- A cell -----------------------------------------------------------------------------------------------


def enter(talk, state, *, held=False):
    """Bring the conversation into a state; returns whether somebody speaks, or has spoken.

    ``held``: while it is transcribing, the transcriber stays stopped until something else befalls it.
    """
    if state == "idle":
        talk.type("/voice")
        talk.until(lambda: talk.status == "voice off", "voice off")
    if state in ("hearing", "transcribing"):
        begins = told(talk, "(hearing you)")
        speaking = talk.speak("sentence-server.wav")
        talk.until(begins, "hearing")
        if state == "transcribing":
            talk.until(lambda: speaking.poll() is not None, "spoken")
            owes_the_text(talk, held=held)
        return True
    if state in ("narrating", "agent working"):
        begun = told(talk, "(narrating)" if state == "narrating" else "(agent working)")
        works = talk.logged("works")
        talk.type(LONG if state == "narrating" else "work")
        talk.until(begun, state)
        if state == "agent working":
            talk.until(lambda: talk.logged("works") > works, "at work")
    return False


def owes_the_text(talk, *, held):
    """Hold the transcriber until its text is all that is waited for, and for longer where it is ``held``."""
    transcriber = talk.process_of("transcriber")
    waited_for = told(talk, "(transcribing)")
    transcriber.suspend()
    try:
        talk.until(waited_for, "transcribing")
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):  # held for too long, on a machine that is busy
            if not held:
                transcriber.resume()


def bear(talk, part, kind, state):
    """Have one fault in one state, see it met, and find everything as it should be afterwards."""
    printed = len(talk.printed)
    before = Counter(talk.read_by_agent)
    # Let go, it may have made its text before anything befalls it; held for long, who is slow seems to hang.
    spoken = enter(talk, state, held=part == "transcriber" and kind != "slow")
    line = f"say {len(talk.lines)}."
    with FAULTS[part, kind](talk, part) as met:
        if not (spoken and state == "hearing"):  # it would be sent instead of what is being said
            talk.send(line)
            if (part, kind) == ("host", "killed"):  # the next message starts it again
                talk.send(f"say {len(talk.lines)}, again.")
        (talk.folder / "finish").touch()
        if part == "transcriber" or (part, kind) == ("disk", "errors"):
            # They are needed where somebody speaks, and may have done so already when it befell them.
            if line in talk.lines:
                talk.until(lambda: line in talk.read_by_agent, "the line is read")
            talk.settled()
            if not met():
                talk.says_yes(heard=part == "disk" or kind != "errors")
        talk.until(met, "the fault is met")
    if line not in talk.lines:
        talk.settled()
        talk.send(line)
    talk.until(lambda: line in talk.read_by_agent, "the line is read")
    talk.settled()
    ours = (*talk.lines, *talk.replies, LONG, "work", "form nonsense")
    new = Counter(talk.read_by_agent) - before
    heard = [text for text in new.elements() if text not in ours]
    if spoken:
        assert heard or "not sent" in talk.printed[printed:], "what was said is nowhere"
    assert len(heard) <= 1, f"doubled, or by halves: {heard}"
    talk.says_yes()
    assert all(talk.read_by_agent.count(one) == 1 for one in talk.lines)
    (talk.folder / "finish").unlink(missing_ok=True)


SOAK = "VOICE_SOAK" in os.environ


def each_in_turn(*groups):
    """Run a test for each group of parts; when soaking in each state, else with each fault in its own."""
    cases = [
        pytest.param(parts, state, id="-".join([*parts, *([state] if state else [])]))
        for parts in groups
        for state in (STATES if SOAK else [None])
        if not (state == "idle" and set(parts) <= set(NEEDED_BY_VOICE))
    ]
    return pytest.mark.parametrize(("parts", "state"), cases)


def bear_all(talk, parts, state):
    """Have one fault after the other in one conversation, and leave it."""
    talk.settled()
    if "engine" in parts:  # it is started by the first that there is to say
        talk.send("say Hello.")
        talk.until(lambda: talk.child_of("engine") is not None, "started")
        talk.settled()
    for part, kind in FAULTS:
        if part in parts:
            in_state = state or TRIED_IN[part, kind]
            try:
                bear(talk, part, kind, in_state)
            except BaseException as error:
                error.add_note(f"the {part} {kind} while {in_state}")
                raise
    talk.settled()
    talk.quit()
