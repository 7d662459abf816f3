"""Does anything grow? Hundreds of turns of one conversation: all is real but the devices and the agent.

Run ``python benchmarks/soak.py`` (``make soak`` does); README.md beside it says what its figures mean. It
needs no corpus. Sound comes as fast as it is heard, and waits where a person would: for text, for the agent.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import psutil
from intervals import of_growth
from measuring import conditions, progress, table

from voice.assembly import find_weights, make_transcriber, open_journal, open_parts
from voice.audio import FRAME_S, FRAME_SAMPLES, Frame, silent_frame
from voice.autonomous import Parts
from voice.backends.null_speaker import SkippingSpeaker
from voice.backends.recording import read_recording
from voice.chat import Chat
from voice.ears import Ears
from voice.events import Discarded, Event, Notice
from voice.ports import PendingTranscript, SpeechEngine, Transcriber
from voice.settings import Settings
from voice.testing import ScriptedHost

RESULTS = Path(__file__).parent / "results" / "soak.md"
FIXTURES = Path(__file__).parents[1] / "audio_fixtures"
REPLIES = (
    "yes-please.wav",
    "second-one.wav",
    "sentence-commit.wav",
    "no.wav",
    "use-postgresql.wav",
    "sentence-server.wav",
    "none-of-them.wav",
    "digits-4271.wav",
)
TURNS = 500
TURN_S = 14.4
"""Audio time of a turn, at least: 500 of them are two hours."""

SHOWN = (0.02, 0.2, 0.5, 1.0)
"""After these shares of the turns the figures are shown: 10, 100, 250 and 500."""

WARM_UP = 0.1
"""So much of the beginning is left out of the growth: libraries and caches fill."""

GROWN_MB = 10.0
"""Memory is flat where its floor rises by less than this in `TURNS` turns, at the interval's upper end."""

MORE = 2
"""Handles, threads and children are flat where there are never so many more than after the first turns."""

GIVEN_UP_S = 120.0
"""Audio time after which nobody waits any more for an answer to what was said: it is not delivered."""

_WAITS_S = 0.004
"""What a frame takes while the person waits: five times faster than life."""


@dataclass(frozen=True)
class Reading:
    """What the processes have after a turn; memory in MB."""

    turn: int
    audio_s: float
    memory_mb: float
    children_mb: dict[str, float]
    pids: dict[str, int]
    """The children's; one that died is replaced, and has another."""
    handles: int
    threads: int
    children: int


@dataclass
class Soak:
    """One run."""

    turns: int
    readings: list[Reading] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    """What each recording was heard as, each time."""
    told: list[str] = field(default_factory=list)
    """What was not delivered, and what a person was told."""


class Person:
    """A microphone before which somebody says one recording after the other, when the last was answered."""

    name = "recordings"
    live = True

    def __init__(self, soak: Soak) -> None:
        self.audio_s = 0.0
        self.pending: list[PendingTranscript] = []
        """What was asked of the transcriber."""
        self.saying = ""
        """The recording that is said in this turn."""
        self.answered = anyio.Event()
        self.done = anyio.Event()
        self._soak = soak
        self._sounds = {name: read_recording(FIXTURES / name) for name in REPLIES}

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[AsyncIterator[Frame]]:
        """Open it; never raises."""
        async with aclosing(self._frames()) as frames:
            yield frames

    async def _frames(self) -> AsyncGenerator[Frame]:
        for turn in range(self._soak.turns):
            began_s = self.audio_s
            self.saying = REPLIES[turn % len(REPLIES)]
            sound = self._sounds[self.saying]
            self.answered = anyio.Event()
            for start in range(0, len(sound), FRAME_SAMPLES):
                frame = silent_frame()
                frame[: len(sound) - start] = sound[start : start + FRAME_SAMPLES]
                yield await self._next(frame)
            said_s = self.audio_s
            while not self.answered.is_set() and self.audio_s < said_s + GIVEN_UP_S:
                await anyio.sleep(_WAITS_S)
                yield await self._next(silent_frame())
            if not self.answered.is_set():
                self._soak.told.append(f"Turn {turn + 1}, {self.saying}, was not answered.")
            self._soak.readings.append(reading(turn + 1, self.audio_s))
            if (turn + 1) % 10 == 0:
                progress(f"turn {turn + 1} of {self._soak.turns}, {self.audio_s / 60:.0f} minutes of sound")
            while self.audio_s < began_s + TURN_S:
                yield await self._next(silent_frame())
        self.done.set()
        while True:
            await anyio.sleep(_WAITS_S)
            yield silent_frame()

    async def _next(self, frame: Frame) -> Frame:
        self.pending = [pending for pending in self.pending if not pending.done]
        while self.pending:
            await anyio.sleep(_WAITS_S)
            self.pending = [pending for pending in self.pending if not pending.done]
        await anyio.lowlevel.checkpoint()
        self.audio_s += FRAME_S
        return frame


async def soak(settings: Settings, turns: int) -> Soak:
    """Carry one conversation for so many turns."""
    found = Soak(turns)
    person = Person(found)

    def overhear(transcriber: Transcriber, engine: SpeechEngine, ears: Ears) -> None:  # noqa: ARG001
        submit = transcriber.submit

        def watched(*arguments: Any, **named: Any) -> PendingTranscript:
            pending = submit(*arguments, **named)
            person.pending.append(pending)
            return pending

        transcriber.submit = watched  # type: ignore[method-assign]

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Parts]:
        transcriber = make_transcriber(settings.transcription, find_weights(settings.transcription))
        parts = open_parts(
            settings,
            transcriber,
            person,
            SkippingSpeaker(),
            notice,
            journal,
            overhear,  # type: ignore[arg-type]
        )
        async with parts as these:
            yield these

    def notice(sentence: str) -> None:
        found.told.append(sentence)

    def take(event: Event) -> None:
        if isinstance(event, Discarded | Notice):
            found.told.append(str(event))

    hosts: list[ScriptedHost] = []

    def make_host(tools: Any, ask: Any, emit: Any) -> ScriptedHost:  # noqa: ARG001
        hosts.append(ScriptedHost(emit))
        return hosts[0]

    async with open_journal(settings.journal, notice) as journal:
        chat = Chat(make_host, opened, settings, take, journal=journal)
        async with anyio.create_task_group() as tasks:
            await tasks.start(chat.run)
            await chat.until_voice(on=True)
            answered = 0
            while not person.done.is_set():
                if len(hosts[0].sent) == answered:
                    await anyio.sleep(_WAITS_S)
                    continue
                text, _ = hosts[0].sent[answered]
                answered += 1
                found.texts.setdefault(person.saying, []).append(text)
                await chat.tools.call("narrate", {"text": f"You said: {text}"})
                hosts[0].end()
                person.answered.set()
            chat.quit()
    progress("")
    return found


def reading(turn: int, audio_s: float) -> Reading:
    """What the processes have now."""
    process = psutil.Process()
    children: list[tuple[str, float, int]] = []
    for child in process.children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has ended in between
            children.append((_name(child), child.memory_info().rss / 1e6, child.pid))
    return Reading(
        turn,
        audio_s,
        process.memory_info().rss / 1e6,
        {name: used_mb for name, used_mb, _ in children},
        {name: pid for name, _, pid in children},
        process.num_fds(),
        process.num_threads(),
        len(children),
    )


def _name(child: psutil.Process) -> str:
    """What it is run as: the last part of its module."""
    words = child.cmdline()
    return words[words.index("-m") + 1].rpartition(".")[2] if "-m" in words else child.name()


@dataclass(frozen=True)
class Verdict:
    """Whether one figure is flat."""

    what: str
    flat: bool
    why: str


def verdicts(found: Soak) -> list[Verdict]:
    """Whether each figure is flat, and whether the same reply was heard as the same text."""
    after = [one for one in found.readings if one.turn > WARM_UP * found.turns]
    names = sorted({name for one in after for name in one.children_mb})
    series = {"memory": [one.memory_mb for one in after]}
    series |= {f"memory of {name}": [one.children_mb.get(name, 0.0) for one in after] for name in names}
    told = [_memory_is_flat(what, [one.turn for one in after], values) for what, values in series.items()]
    first = found.readings[round(SHOWN[0] * found.turns) - 1 if found.turns >= 1 / SHOWN[0] else 0]
    for what in ("handles", "threads", "children"):
        began, most = getattr(first, what), max(getattr(one, what) for one in after)
        told.append(Verdict(what, most < began + MORE, f"{began} after turn {first.turn}, at most {most}"))
    replaced = {name for one in after for name, pid in first.pids.items() if one.pids.get(name) != pid}
    told.append(Verdict("processes", not replaced, f"died: {sorted(replaced)}" if replaced else "none died"))
    different = {name: set(texts) for name, texts in found.texts.items() if len(set(texts)) > 1}
    told.append(Verdict("texts", not different, f"{different or 'each recording was heard as one text'}"))
    told.append(
        Verdict("delivered", not found.told, f"{found.told[:3] or 'every reply, and nothing else told'}")
    )
    return told


def _memory_is_flat(what: str, turns: Sequence[int], values: Sequence[float]) -> Verdict:
    low, high = (end * TURNS for end in of_growth(turns, values))
    return Verdict(what, high < GROWN_MB, f"{low:+.1f} to {high:+.1f} MB in {TURNS} turns")


def page(found: Soak, told: Sequence[Verdict], settings: Settings, took_s: float) -> list[str]:
    """The figures as Markdown."""
    shown = sorted({max(1, round(share * found.turns)) for share in SHOWN})
    readings = [one for one in found.readings if one.turn in shown]
    names = sorted({name for one in readings for name in one.children_mb})
    head = [
        "turn",
        "audio, min",
        "memory, MB",
        *(f"{name}, MB" for name in names),
        "handles",
        "threads",
        "children",
    ]
    rows = [
        [
            str(one.turn),
            f"{one.audio_s / 60:.0f}",
            f"{one.memory_mb:.1f}",
            *(f"{one.children_mb.get(name, 0.0):.1f}" for name in names),
            *map(str, (one.handles, one.threads, one.children)),
        ]
        for one in readings
    ]
    flat = [[one.what, "yes" if one.flat else "NO", one.why] for one in told]
    return [
        "# Soak",
        "",
        *conditions(settings),
        f"* {found.turns} turns took {took_s / 60:.1f} minutes.",
        "",
        *table(head, rows),
        "",
        *table(["what", "flat", "95 % interval, or the most"], flat),
        "",
    ]


def main() -> int:
    """Soak, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS, metavar="N", help=f"how many (default: {TURNS})")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE", help="the page to write")
    parser.add_argument("--json", action="store_true", help="print one JSON object, and write no page")
    options = parser.parse_args()
    settings = Settings()
    with tempfile.TemporaryDirectory() as state:
        os.environ["XDG_STATE_HOME"] = state
        began = time.monotonic()
        found = anyio.run(soak, settings, options.turns)
    told = verdicts(found)
    took_s = time.monotonic() - began
    if options.json:
        print(json.dumps(asdict(found) | {"verdicts": [asdict(one) for one in told], "took_s": took_s}))
    else:
        text = "\n".join(page(found, told, settings, took_s))
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text, encoding="utf-8")
        print(text)
    return 0 if all(one.flat for one in told) else 1


if __name__ == "__main__":
    sys.exit(main())
