"""A whole `voice chat` in lines, on a terminal and on devices in memory, with an agent that is a program."""

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import pexpect
import psutil

from voice.assembly import find_weights
from voice.settings import Settings
from voice.wording import words

VOICE = Path(sys.executable).parent / "voice"
QUIET_S = 0.8
AGENT = Path(__file__).parents[1] / "hosts" / "acp" / "small_agent.py"
WITHIN_S = 60.0
"""A hang: how fast anything is, is measured elsewhere."""
SETTINGS = """
[hearing]
microphone = "vl_mic"
end_silence_s = 0.9
[speaking]
speaker = "vl_spk"
"""


class Talk:
    """One conversation: what it prints, what its agent reads, and the processes that it is made of."""

    def __init__(self, server, folder, recordings):
        self.server = server
        self.folder = folder
        self.recordings = recordings
        self.printed = ""
        self.lines = []
        """What was typed for the agent, and is to be read by it once."""
        self.replies = []
        """What was heard of the replies that were said when all was well."""
        self.at_once = 100_000
        """So much of what is printed is read at a time; 0: nothing."""
        (folder / "state").mkdir()
        self.weights = folder / "weights"
        self.weights.mkdir()
        for file in find_weights(Settings().transcription).iterdir():
            (self.weights / file.name).symlink_to(file.resolve())
        settings = folder / "settings.toml"
        settings.write_text(SETTINGS)
        self.environment = {
            **server.env,
            "TERM": "xterm-256color",
            "XDG_STATE_HOME": str(folder / "state"),
            "VIVA_VOICE_SETTINGS": str(settings),
            "VIVA_VOICE_MODEL": str(self.weights),
        }
        command = ["chat", "--plain", "--agent", "acp", "--", sys.executable, str(AGENT), str(folder)]
        self.child = pexpect.spawn(
            str(VOICE), command, env=self.environment, cwd=folder, echo=False, dimensions=(24, 200)
        )
        self.child.delaybeforesend = None
        self.process = psutil.Process(self.child.pid)

    # --- What it prints ---

    def read(self, seconds=0.05):
        if not self.at_once:
            time.sleep(seconds)
            return
        with contextlib.suppress(pexpect.TIMEOUT, pexpect.EOF):
            self.printed += self.child.read_nonblocking(self.at_once, seconds).decode(errors="replace")

    def until(self, fact, what):
        limit = time.monotonic() + WITHIN_S
        while not fact():
            assert time.monotonic() < limit, (
                f"{what}: not so in:\n{self.printed[-3_000:]}\n{self.read_by_agent}"
            )
            self.read()

    def lasts(self, seconds):
        """Let a moment pass, reading."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            self.read()

    @property
    def status(self):
        """What it last said that goes on."""
        self.read(0.02)
        found = [(self.printed.rfind(f"({words})"), words) for words in STATUSES]
        return max(found)[1]

    # --- What is done ---

    def type(self, line):
        self.child.sendline(line)

    def send(self, line):
        """Type a line for the agent."""
        self.lines.append(line)
        self.type(line)

    def speak(self, name):
        """Speak a recording; goes on while the caller does."""
        return self.server.speak(self.recordings / name)

    def settled(self):
        """Wait until it listens, and nothing else goes on for a while; switch Voice on where it is off."""
        limit = time.monotonic() + WITHIN_S
        quiet_since = time.monotonic()
        while time.monotonic() - quiet_since < QUIET_S:
            assert time.monotonic() < limit, f"{self.status} in:\n{self.printed[-3_000:]}"
            before = len(self.printed)
            self.read()
            if self.status == "voice off":
                self.type("/voice")
                self.until(lambda: self.status != "voice off", "switched on")
            if len(self.printed) != before or self.status != "listening":
                quiet_since = time.monotonic()

    def says_yes(self, *, heard=True):
        """Say a reply, which arrives once; where it is not understood, once again.

        Where it cannot be ``heard`` it is enough that they are told.
        """
        for _ in range(2):
            before, printed = len(self.read_by_agent), len(self.printed)
            self.speak("yes-please.wav")
            self.until(
                lambda: len(self.read_by_agent) > before or "not sent" in self.printed[printed:],  # noqa: B023
                "the next reply",
            )
            new = self.read_by_agent[before:]
            if new or not heard:
                break
        self.settled()
        self.replies += new
        assert self.read_by_agent[before:] == new, "the next reply was doubled"
        assert not heard or (len(new) == 1 and {"yes", "please"} & set(words(new[0]))), new

    # --- Whom it is made of ---

    @property
    def read_by_agent(self):
        """The messages that the agent has read, in order."""
        return [what.strip("\u200b") for kind, what in self._log() if kind == "read"]

    def logged(self, kind):
        """How often the agent has noted that."""
        return sum(noted == kind for noted, _ in self._log())

    def _log(self):
        log = self.folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [json.loads(line) for line in lines if line.endswith("]")]

    def child_of(self, part):
        """The process of a part, None while there is none."""
        marks = {"transcriber": "voice.backends.whisper", "engine": "pyttsx3_worker", "host": str(AGENT)}
        for process in self.process.children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if any(marks[part] in word for word in process.cmdline()):
                    return process
        return None

    def process_of(self, part):
        """The process of a part, which is there in a moment where it is not."""
        found = []

        def is_there():
            found.append(self.child_of(part))
            return found[-1] is not None

        self.until(is_there, f"the process of the {part}")
        return found[-1]

    def quit(self):
        """Leave; everything has ended then, and every tool, entry and process is where it should be."""
        family = [self.process, *self.process.children(recursive=True)]
        self.type("/quit")
        self.until(lambda: not self.child.isalive(), "ended")
        _, alive = psutil.wait_procs(family, timeout=WITHIN_S)
        assert not alive
        assert self.child.exitstatus == 0
        assert "Traceback" not in self.printed

    def hang_up(self):
        """Close the terminal's window."""
        os.close(self.child.child_fd)

    def close(self):
        with contextlib.suppress(psutil.Error):
            for process in [*self.process.children(recursive=True), self.process]:
                with contextlib.suppress(psutil.Error):
                    process.send_signal(signal.SIGCONT)
                    process.kill()
        with contextlib.suppress(OSError, pexpect.ExceptionPexpect):  # somebody has seen it end
            self.child.close(force=True)


STATUSES = (
    "voice off", "starting voice", "listening", "hearing you", "transcribing", "agent working", "narrating",
    "microphone held", "waiting quietly", "microphone lost",
)  # fmt: skip
