"""How each part of a real conversation fails, and what is to be found afterwards.

What cannot be brought about from outside the program stands in `NO_WAY`; it is in the virtual matrix.
"""

import contextlib
import os
import shutil
import subprocess
import threading

import psutil
import pytest

STATES = ("idle", "listening", "hearing", "transcribing", "narrating", "agent working")
KINDS = ("killed", "hangs", "errors", "slow")
BORNE_S = 2.5
"""What hangs is found out within 2 s."""
MORE_THAN_IT_HOLDS = 400
"""Times that help is asked for."""
LONG = "say This is a long text. It goes on for a while, so that something can happen to it. And so on."


# --- How each part fails ----------------------------------------------------------------------------------


def is_dead(process):
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@contextlib.contextmanager
def killed(talk, part):
    """It is gone: what is written to a process that is about to die nobody can tell from what it has read."""
    process = talk.child_of(part)
    process.kill()
    talk.until(lambda: is_dead(process), "killed")
    yield


@contextlib.contextmanager
def stopped(talk, part):
    process = talk.child_of(part)
    process.suspend()
    try:
        yield
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.resume()


@contextlib.contextmanager
def pulsing(processes):
    """Stop processes for half a second, again and again."""
    over = threading.Event()

    def pulse():
        while not over.is_set():
            for act in ("suspend", "resume"):
                for process in processes:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        getattr(process, act)()
                over.wait(0.5 if act == "suspend" else 0.25)

    thread = threading.Thread(target=pulse)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def slow(talk, part):
    with pulsing([talk.child_of(part)]):
        yield


@contextlib.contextmanager
def without_weights(talk, part):
    """Whisper is started again, and its model is gone."""
    weights = talk.weights / "model.bin"
    real = weights.readlink()
    weights.unlink()
    talk.child_of(part).kill()
    try:
        yield
    finally:
        weights.symlink_to(real)


@contextlib.contextmanager
def pulled_out(talk, part):
    module, name = {
        "microphone": ("module-remap-source", "source_name=mic"),
        "speaker": ("module-null-sink", "sink_name=spk"),
    }[part]
    loaded = next(
        line.split("\t")
        for line in talk.server.pactl("list", "short", "modules").splitlines()
        if module in line and name in line
    )
    talk.server.pactl("unload-module", loaded[0])
    try:
        yield
    finally:
        talk.server.pactl("load-module", module, *loaded[2].split())
        talk.server.pactl("set-default-source", "mic")


@contextlib.contextmanager
def server_hangs(talk, part):
    with talk.server.hanging():
        yield


@contextlib.contextmanager
def server_is_started_again(talk, part):
    talk.server.kill()
    talk.server.start()
    yield


@contextlib.contextmanager
def server_is_slow(talk, part):
    with pulsing([psutil.Process(talk.server._processes[0].pid)]):
        yield


@contextlib.contextmanager
def agent_errs(talk, part):
    talk.type("form nonsense")
    yield


@contextlib.contextmanager
def folder_is_gone(talk, part):
    shutil.rmtree(talk.folder / "state" / "viva-voce")
    yield


@contextlib.contextmanager
def disk_is_full(talk, part):
    """Nothing can be written to any file."""
    limit = ["prlimit", f"--pid={talk.process.pid}"]
    subprocess.run([*limit, "--fsize=0:"], check=True, timeout=60)
    try:
        yield
    finally:
        subprocess.run([*limit, "--fsize=unlimited:"], check=True, timeout=60)


@contextlib.contextmanager
def terminal_takes_nothing(talk, part):
    """Nobody reads what is printed, and more is printed than it holds: 64 kB."""
    talk.at_once = 0
    for _ in range(MORE_THAN_IT_HOLDS):
        talk.type("/help")
    try:
        yield
    finally:
        talk.at_once = 100_000


@contextlib.contextmanager
def terminal_is_slow(talk, part):
    """A few characters are read at a time."""
    talk.at_once = 40
    for _ in range(3):
        talk.type("/help")
    try:
        yield
    finally:
        talk.at_once = 100_000


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
    ("microphone", "killed"): pulled_out,
    ("microphone", "hangs"): server_hangs,
    ("microphone", "errors"): server_is_started_again,
    ("microphone", "slow"): server_is_slow,
    ("speaker", "killed"): pulled_out,
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
TRIED_IN = {
    ("transcriber", "killed"): "transcribing",
    ("transcriber", "hangs"): "hearing",
    ("transcriber", "errors"): "listening",
    ("transcriber", "slow"): "idle",
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


def enter(talk, state):
    """Bring the conversation into a state; returns whether somebody speaks, or has spoken."""
    if state == "idle":
        talk.type("/voice")
        talk.until(lambda: talk.status == "voice off", "voice off")
    if state in ("hearing", "transcribing"):
        hearings = talk.printed.count("(hearing you)")
        speaking = talk.speak("sentence-server.wav")
        talk.until(lambda: talk.printed.count("(hearing you)") > hearings, "hearing")
        if state == "transcribing":
            talk.until(lambda: speaking.poll() is not None, "spoken")
            talk.lasts(0.2)  # the text is asked for so long after the last sound
        return True
    if state in ("narrating", "agent working"):
        before = talk.printed.count("(agent working)")
        talk.type(LONG if state == "narrating" else "work")
        talk.until(lambda: talk.printed.count("(agent working)") > before, "at work")
        if state == "narrating":
            talk.until(lambda: talk.status == "narrating", "narrating")
    return False


def bear(talk, part, kind, state):
    """Have one fault in one state, and find everything as it should be afterwards."""
    read, printed = len(talk.read_by_agent), len(talk.printed)
    spoken = enter(talk, state)
    line = f"say This is line {len(talk.lines)}."
    with FAULTS[part, kind](talk, part):
        if not (spoken and state == "hearing"):  # it would be sent instead of what is being said
            talk.send(line)
        talk.lasts(BORNE_S)
    (talk.folder / "finish").touch()
    if line not in talk.lines:
        talk.settled()
        talk.send(line)
    if (part, kind) == ("host", "killed"):  # the next message starts it again
        talk.send(f"say This starts it, {len(talk.lines)}.")
    talk.until(lambda: line in talk.read_by_agent, "the line is read")
    talk.settled()
    ours = (*talk.lines, LONG, "work", "form nonsense")
    new = [text for text in talk.read_by_agent[read:] if text not in ours]
    if spoken:
        assert new or "not sent" in talk.printed[printed:], "what was said is nowhere"
    assert len(new) <= 1, f"doubled, or by halves: {new}"
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
    ]
    return pytest.mark.parametrize(("parts", "state"), cases)


def bear_all(talk, parts, state):
    """Have one fault after the other in one conversation, and leave it."""
    talk.settled()
    for part, kind in FAULTS:
        if part in parts:
            in_state = state or TRIED_IN[part, kind]
            try:
                bear(talk, part, kind, in_state)
            except BaseException as error:
                error.add_note(f"the {part} {kind} while {in_state}")
                raise
    talk.quit()
