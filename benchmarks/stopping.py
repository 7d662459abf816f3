"""How soon a whole conversation obeys: a stop said aloud, keys, Voice switched off.

Run ``python benchmarks/stopping.py``; README.md beside it says what it needs and what its table means.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from echo import STOP, Reply, replies_of_people
from measuring import conditions, table
from narration import sound_server
from narrations import NARRATIONS

from voice.audio import SAMPLE_RATE
from voice.settings import Settings

RESULTS = Path(__file__).parent / "results" / "stopping.md"
ECHO_DB = -12
LOUD = 300

PROGRAM = """
import random
from contextlib import asynccontextmanager
from voice.assembly import find_weights, make_transcriber, open_parts
from voice.chat import Chat
from voice.events import CommandHeard, NarrationEnded, UserMessage, VoiceState, VoiceStateChanged
from voice.settings import Settings
from voice.testing import ScriptedHost

class Microphone(PortAudioMicrophone):
    released = 0.0

    @asynccontextmanager
    async def open(self):
        try:
            async with super().open() as frames:
                yield frames
        finally:
            Microphone.released = time.monotonic()

async def main():
    times, text = int(sys.argv[1]), sys.argv[2]
    chance = random.Random(1)
    settings = Settings()
    seen = {}
    changed = anyio.Event()

    def emit(event):
        nonlocal changed
        seen[type(event).__name__] = time.monotonic()
        if isinstance(event, VoiceStateChanged):
            seen[event.state] = time.monotonic()
        if isinstance(event, CommandHeard):
            seen["command"] = event.command
        if isinstance(event, UserMessage):
            say(kind="message", text=event.text, source=event.source)
        changed.set()
        changed = anyio.Event()

    async def until(name, since, within_s=12.0):
        with anyio.move_on_after(within_s):
            while seen.get(name, -1.0) < since:
                await changed.wait()

    transcriber = make_transcriber(settings.transcription, find_weights(settings.transcription))

    @asynccontextmanager
    async def parts():
        async with open_parts(
            settings, transcriber, Microphone("vl_mic"), PortAudioSpeaker("vl_spk")
        ) as opened:
            yield opened

    chat = Chat(lambda tools, ask, emit: ScriptedHost(emit, busy_after_send=False), parts, settings, emit)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(chat.run)
        await until(VoiceState.ACTIVE, 0.0)
        await chat.tools.call("narrate", {"text": "I know this room now, and how it sounds when I speak."})
        for number in range(times):
            for kind in ("spoken", "key", "typed"):
                began = time.monotonic()
                tasks.start_soon(chat.tools.call, "narrate", {"text": text})
                await until("NarrationStarted", began)
                await anyio.sleep(chance.uniform(1.5, 3.0))
                asked = time.monotonic()
                say(kind="ask", what=kind)
                if kind == "key":
                    chat.stop_narration()
                elif kind == "typed":
                    chat.send("Never mind.")
                await until("NarrationEnded", asked)
                say(kind=kind, asked=asked, ended=seen["NarrationEnded"], heard=seen.get("CommandHeard", 0.0))
                await anyio.sleep(2.5)
            asked = time.monotonic()
            chat.toggle_voice()
            await until(VoiceState.INACTIVE, asked)
            say(kind="off", asked=asked, ended=Microphone.released, inactive=seen[VoiceState.INACTIVE])
            chat.toggle_voice()
            await until(VoiceState.ACTIVE, asked)
            await anyio.sleep(1.0)
        chat.quit()

anyio.run(main)
"""


class Tape:
    """What comes out of a source, and when each piece of it was there."""

    def __init__(self, server: Any, source: str) -> None:
        command = ["parec", f"--device={source}", "--latency-msec=10", "--raw", "--format=s16le"]
        command += [f"--rate={SAMPLE_RATE}", "--channels=1"]
        self._process = subprocess.Popen(command, env=server.env, stdout=subprocess.PIPE)
        self._pieces: list[tuple[float, bytes]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        while piece := self._process.stdout.read(320):  # 10 ms
            self._pieces.append((time.monotonic(), piece))

    def between(self, start: float, end: float) -> list[tuple[float, bytes]]:
        """The pieces that came between these times."""
        return [(at, piece) for at, piece in self._pieces if start <= at < end]

    def last_loud(self, start: float, end: float) -> float | None:
        """When the last piece of them was there that is no silence."""
        loud = [at for at, piece in self.between(start, end) if np.abs(_samples(piece)).max() > LOUD]
        return loud[-1] if loud else None

    def end_of(self, sound: np.ndarray, start: float, end: float) -> float:
        """When the last of a sound was there, wherever in them it is found."""
        pieces = self.between(start, end)
        heard = np.concatenate([_samples(piece) for _, piece in pieces]).astype(float)
        size = 2 * (len(heard) + len(sound))
        found = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(sound, size)), size)
        last = int(np.argmax(found[: len(heard)])) + len(sound)
        return pieces[min(last // 160, len(pieces) - 1)][0]

    def close(self) -> None:
        """Stop recording."""
        self._process.kill()
        self._process.wait()


def _samples(piece: bytes) -> np.ndarray:
    return np.frombuffer(piece, np.int16)


def measure(times: int, stops: Sequence[Reply]) -> list[str]:
    """The table of all times, from a conversation on devices that exist in memory, with an echo."""
    waits: dict[str, list[float]] = {}
    messages: list[str] = []
    missed = 0
    with sound_server() as server:
        _echo(server)
        speaker, microphone = Tape(server, "spk.monitor"), Tape(server, "mic")
        program = server.program(PROGRAM, times, " ".join(NARRATIONS[88:92]))
        assert program.stdout is not None
        spoken: np.ndarray | None = None
        said = 0
        asked_at = 0.0
        for line in program.stdout:
            told = json.loads(line)
            kind = told["kind"]
            if kind == "message" and told["source"] == "voice":
                messages.append(told["text"])
            elif kind == "ask":
                asked_at = time.monotonic()
                if told["what"] == "spoken":
                    reply = stops[said % len(stops)]
                    said += 1
                    start, end = (round(at_s * SAMPLE_RATE) for at_s in (reply.start_s, reply.end_s))
                    spoken = reply.samples[start:end]
                    _speak(server, spoken)
            elif kind == "off":
                waits.setdefault("Voice switched off → microphone released", []).append(
                    told["ended"] - told["asked"]
                )
            elif kind in ("spoken", "key", "typed"):
                time.sleep(0.5)
                last = speaker.last_loud(asked_at, told["ended"] + 0.4)
                if kind == "spoken" and told["heard"] < told["asked"]:
                    missed += 1
                elif kind == "spoken":
                    assert spoken is not None
                    end = microphone.end_of(spoken, asked_at, told["heard"])
                    waits.setdefault("last sound of a spoken stop → recognised", []).append(
                        told["heard"] - end
                    )
                    waits.setdefault("recognised → silence", []).append(
                        max(0.0, (last or end) - told["heard"])
                    )
                    waits.setdefault("last sound of a spoken stop → silence", []).append(
                        max(0.0, (last or end) - end)
                    )
                else:
                    name = {"key": "stop key → silence", "typed": "typed Enter → silence"}[kind]
                    waits.setdefault(name, []).append(max(0.0, (last or asked_at) - told["asked"]))
        errors = program.stderr.read() if program.stderr is not None else ""
        assert program.wait(30) == 0, errors
        speaker.close()
        microphone.close()
    rows = [
        [name, f"{1_000 * median(those):.0f}", f"{1_000 * max(those):.0f}", str(len(those))]
        for name, those in waits.items()
    ]
    lines = table(["", "median ms", "worst ms", "of"], rows)
    lines += ["", f"Spoken stops that were not understood: {missed} of {said}."]
    return [*lines, "", f"Spoken messages (there should be none): {len(messages)} {messages or ''}".rstrip()]


def _echo(server: Any) -> None:
    """Let what the speaker plays come back to the microphone."""
    control(
        server,
        "load-module",
        "module-loopback",
        "source=spk.monitor",
        "sink=mic_in",
        "latency_msec=60",
        "adjust_time=0",
    )
    (number, *_) = control(server, "list", "short", "sink-inputs").split()
    control(server, "set-sink-input-volume", number, f"{ECHO_DB}dB")


def control(server: Any, *words: str) -> str:
    """What the sound server answers to a command."""
    command = ["pactl", *words]
    return subprocess.run(command, env=server.env, check=True, capture_output=True, text=True).stdout


def _speak(server: Any, samples: np.ndarray) -> None:
    command = ["pacat", "--device=mic_in", "--latency-msec=40", "--raw", "--rate=16000", "--channels=1"]
    sound = np.concatenate([np.zeros(3_200), samples, np.zeros(3_200)]).astype(np.int16)
    subprocess.run(command, env=server.env, input=sound.tobytes(), check=True, timeout=60)


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=16, metavar="N")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE", help="the page to write")
    options = parser.parse_args()
    source, _, stops = replies_of_people(1)
    if not stops:
        print(f"There are no recordings of somebody who says {STOP} in {source}.", file=sys.stderr)
        return 1
    lines = ["# How soon a conversation obeys", "", *conditions(Settings())]
    lines += [
        f"* Half duplex; our own voice comes back to the microphone, {-ECHO_DB} dB lower. Stops: {source}.",
        "",
        *measure(options.times, stops),
        "",
    ]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
