"""What a speaker plays, recorded from the sound server: PulseAudio, or PipeWire in its place.

Its own programs are used (``pulseaudio-utils``), which any server of this protocol understands, each within
a limit: a server that hangs answers none of them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from voice.audio import SAMPLE_RATE, Samples

_ANSWERS_WITHIN_S = 3.0


class NoLoopback(Exception):
    """There is none; the text says why, ``mend`` what would make one."""

    def __init__(self, why: str, mend: str | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.mend = mend


def monitor_of_own_stream(pid: int | None = None) -> str | None:
    """The server's name of the monitor of the sink on which a process plays now, ours unless it is said.

    None while it plays nothing there. Blocks for at most some seconds. Raises `NoLoopback`.
    """
    sought = str(pid or os.getpid())
    sinks = {sink["index"]: sink["monitor_source"] for sink in _listed("sinks")}
    for stream in reversed(_listed("sink-inputs")):
        if stream.get("properties", {}).get("application.process.id") == sought:
            return str(sinks.get(stream["sink"], "")) or None
    return None


def _listed(what: str) -> list[dict[str, Any]]:
    pactl = shutil.which("pactl")
    if pactl is None or shutil.which("parec") is None:
        raise NoLoopback("the sound server's programs are missing", "sudo apt install pulseaudio-utils")
    try:
        done = subprocess.run(
            [pactl, "--format=json", "list", what],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ANSWERS_WITHIN_S,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NoLoopback("the sound server does not answer") from None
    except OSError as error:
        raise NoLoopback(f"pactl cannot be run: {error.strerror}") from error
    if done.returncode:
        raise NoLoopback("there is no PulseAudio or PipeWire here, whose speakers can be recorded")
    try:
        listed: list[dict[str, Any]] = json.loads(done.stdout.decode(errors="replace"))
    except ValueError:
        raise NoLoopback("this pactl is too old to tell what is played where") from None
    return listed


class Recording:
    """What is heard of one monitor, at SAMPLE_RATE; it grows until it is closed."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._heard = bytearray()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def samples(self) -> Samples:
        """All that has come until now."""
        return np.frombuffer(bytes(self._heard[: len(self._heard) & ~1]), np.int16)

    def _read(self) -> None:
        assert self._process.stdout is not None
        while data := os.read(self._process.stdout.fileno(), 4096):
            self._heard += data

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        if self._process.stdout is not None:
            self._process.stdout.close()


@contextmanager
def recorded(monitor: str) -> Iterator[Recording]:
    """Record a monitor meanwhile; the first sound comes when the server likes. Raises `NoLoopback`."""
    command = ["parec", f"--device={monitor}", "--raw", "--format=s16le", f"--rate={SAMPLE_RATE}"]
    try:
        process = subprocess.Popen(
            [*command, "--channels=1", "--latency-msec=50"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise NoLoopback(f"parec cannot be run: {error.strerror}") from error
    recording = Recording(process)
    try:
        yield recording
    finally:
        recording.close()
