"""Is anything heard where nobody speaks? An hour of noise through the loop, and the shortest replies as well.

Run ``python benchmarks/nothing_invented.py``; README.md beside it says what it needs, and what it means.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import noises
import numpy as np
from composing import quiet_of
from corpus import Clip, CorpusError, corpus_folder, read_corpus
from echo import narrated
from measuring import conditions, progress, table
from narrations import NARRATIONS
from questions import CLOSED
from rehearing import LoopWhisper, Recorded, Remembering, recorded, rehear, verdicts_of
from rooms import Scene, act
from turns import rules_of

from voice.assembly import find_weights, make_hearing, make_patience
from voice.audio import FRAME_S, SAMPLE_RATE, Samples, silent_frame
from voice.backends.recording import read_recording
from voice.ears import Ears
from voice.errors import VoiceError
from voice.events import Discarded, Event, SpeechStarted, UserMessage
from voice.ports import Transcriber
from voice.settings import Settings

RESULTS = Path(__file__).parent / "results" / "nothing_invented.md"

STRETCH_S = 60.0
"""Each kind of noise comes in stretches of this length."""

MINUTES = {
    "silence": 4,
    "room tone": 10,
    "fan": 8,
    "keys": 8,
    "music without singing": 8,
    "breath": 6,
    "noise of a house": 8,
}
"""With the narrations, which are 8 minutes at least, an hour."""

NARRATED_S = 480.0

VOICES = {"babble and television": 5, "laughter": 5}
"""Kinds that are people: reported by themselves."""

ECHO_DB = -6.0
"""How loud our own voice comes back, against that of a person."""

SHORTEST_S = (0.2, 0.5)
"""Replies of this length are those that a stricter gate would lose."""


@dataclass(frozen=True)
class Noise:
    """What the loop made of one kind of noise."""

    kind: str
    seconds: float
    distinct: str
    taken_for_speech: int
    discarded: tuple[str, ...]
    messages: tuple[str, ...]


def sources(clips: Sequence[Clip]) -> dict[str, tuple[Callable[[np.random.Generator], Samples], str]]:
    """Each kind: what makes a stretch of it, and how much of it is distinct."""

    def of(*words: str) -> list[Samples]:
        return [
            read_recording(clip.path)
            for clip in clips
            if not clip.turns and any(word in clip.id for word in words)
        ]

    rooms = [clip for clip in clips if clip.turns and not clip.composed and not clip.echo]
    rooms = list({clip.speaker: clip for clip in rooms if clip.speaker}.values())
    quiets: list[Samples] = []
    for clip in rooms:
        samples = read_recording(clip.path)
        start, end = (round(at * SAMPLE_RATE) for at in (clip.turns[0][0], clip.turns[-1][1]))
        quiets.append(quiet_of(samples, start, min(end, len(samples))))
    typed, driven = of("keyboard"), of("bike", "fan")
    house = of("dishes", "room", "hum", "beeps", "pink", "rhasspy", "sc-silence")
    voices = of("babble")

    def looped(
        made: Callable[[float, np.random.Generator], Samples], recordings: list[Samples]
    ) -> Callable[[np.random.Generator], Samples]:
        """Half a stretch made by rules, half of it recordings."""

        def stretch(draw: np.random.Generator) -> Samples:
            if not recordings:
                return made(STRETCH_S, draw)
            half = STRETCH_S / 2
            return np.concatenate([made(half, draw), noises.varied(recordings, half, draw)])

        return stretch

    def seconds(recordings: Sequence[Samples]) -> str:
        return f"{sum(map(len, recordings)) / SAMPLE_RATE:.0f} s of recordings"

    every = "all of it, made by rules"
    return {
        "silence": (partial(noises.silence, STRETCH_S), every),
        "room tone": (partial(noises.room_tone, quiets, STRETCH_S), f"the quiet of {len(quiets)} rooms"),
        "fan": (looped(noises.fan, driven), f"half by rules, half from {seconds(driven)}"),
        "keys": (looped(noises.keys, typed), f"half by rules, half from {seconds(typed)}"),
        "music without singing": (partial(noises.music, STRETCH_S), every),
        "breath": (partial(noises.breath, STRETCH_S), every),
        "noise of a house": (partial(noises.varied, house, STRETCH_S), seconds(house)),
        "babble and television": (partial(noises.varied, voices, STRETCH_S), seconds(voices)),
        "laughter": (partial(noises.laughter, STRETCH_S), every),
    }


async def heard_in(
    kind: str, made: Callable[[np.random.Generator], Samples], distinct: str, minutes: int,
    transcriber: Transcriber, settings: Settings,
) -> Noise:  # fmt: skip
    """So many minutes of one kind, through the loop that has just asked a question with a closed answer."""
    rule = rules_of(settings)[0]
    begun = 0
    discarded: list[str] = []
    messages: list[str] = []
    for minute in range(minutes):
        progress(f"{kind}: {minute + 1}/{minutes}")
        samples = made(np.random.default_rng([minute, *kind.encode()]))
        sound = Recorded(f"{kind} {minute}", kind, samples, verdicts_of(samples), (), "", CLOSED)
        heard = await rehear(sound, rule, transcriber, settings)
        begun += heard.begun
        discarded += [f"{event.reason}: “{event.text}”" for event in heard.discarded]
        messages += [message.text for message in heard.sent]
    return Noise(kind, minutes * STRETCH_S, distinct, begun, tuple(discarded), tuple(messages))


async def own_voice(transcriber: Transcriber, settings: Settings) -> Noise:
    """Our own narration, as loud in the microphone as it comes back in a room; half duplex, as it is set."""
    seconds = 0.0
    events: list[Event] = []
    told = 0
    for seed, text in enumerate(NARRATIONS):
        if seconds >= NARRATED_S:
            break
        progress(f"our own narration: {seconds:.0f} of {NARRATED_S:.0f} s")
        (narration,) = await narrated(settings, [text])
        delay_s = settings.transcription.replay_delay_s
        ears = Ears(make_hearing(settings, transcriber, make_patience(settings), transcript_after_s=delay_s))
        scene = Scene(narration, ECHO_DB, seed=seed)
        events += [event for _, event in await act(scene, ears, stops=False)]
        while ears.busy:
            events += await ears.push(silent_frame())
        seconds += scene.length * FRAME_S
        told += 1
    return Noise(
        "our own narration",
        seconds,
        f"{told} texts in as many rooms",
        sum(isinstance(event, SpeechStarted) for event in events),
        tuple(f"{event.reason}: “{event.text}”" for event in events if isinstance(event, Discarded)),
        tuple(event.text for event in events if isinstance(event, UserMessage)),
    )


async def shortest(
    clips: Sequence[Clip], transcriber: Transcriber, settings: Settings
) -> list[tuple[Clip, str]]:
    """The shortest replies of the corpus, and what was delivered of each."""
    kept: list[tuple[Clip, str]] = []
    for clip in clips:
        lasts_s = clip.turns[-1][1] - clip.turns[0][0] if clip.turns else 0.0
        if clip.transcript and not clip.echo and SHORTEST_S[0] <= lasts_s <= SHORTEST_S[1]:
            progress(f"short: {clip.id}")
            heard = await rehear(recorded(clip), rules_of(settings)[0], transcriber, settings)
            kept.append((clip, heard.text))
    return kept


def report(found: Sequence[Noise], short: Sequence[tuple[Clip, str]]) -> list[str]:
    """The tables."""
    head = ["sound", "minutes", "distinct", "taken for speech", "discarded", "messages", "messages an hour"]

    def row(noise: Noise) -> list[str]:
        hourly = f"{len(noise.messages) * 3600 / noise.seconds:.0f}"
        numbers = (noise.taken_for_speech, len(noise.discarded), len(noise.messages))
        return [noise.kind, f"{noise.seconds / 60:.1f}", noise.distinct, *map(str, numbers), hourly]

    nobody = [noise for noise in found if noise.kind not in VOICES]
    people = [noise for noise in found if noise.kind in VOICES]
    minutes = sum(noise.seconds for noise in nobody) / 60
    messages = sum(len(noise.messages) for noise in nobody)
    lines = [f"**{messages} messages in {minutes:.0f} minutes** in which nobody spoke to it:", ""]
    lines += [*table(head, [row(noise) for noise in nobody]), ""]
    lines += [
        "Voices that are not the user's, by themselves:",
        "",
        *table(head, [row(noise) for noise in people]),
        "",
    ]
    for noise in found:
        lines += [f"* {noise.kind}, delivered: “{text}”" for text in noise.messages]
        lines += [f"* {noise.kind}, discarded, {text}" for text in noise.discarded]
    lost = [clip for clip, text in short if not text]
    low, high = (f"{1000 * bound:.0f}" for bound in SHORTEST_S)
    lines += ["", "## The shortest replies", ""]
    lines += [f"{len(short) - len(lost)} of {len(short)} replies of {low} to {high} ms were delivered."]
    lines += [f"* lost: {clip.kind}, {clip.id}: “{clip.transcript}”" for clip in lost]
    return [*lines, ""]


async def measure(
    clips: Sequence[Clip], settings: Settings, options: argparse.Namespace
) -> tuple[list[Noise], list[tuple[Clip, str]]]:
    """All kinds."""
    weights = find_weights(settings.transcription)
    whisper = LoopWhisper(weights, settings.transcription.language)
    transcriber = Remembering(whisper, f"{weights} loop", options.remember)
    short = await shortest(clips, transcriber, settings)
    made = sources(clips)
    found: list[Noise] = []
    for kind, minutes in {**MINUTES, **VOICES}.items():
        found.append(await heard_in(kind, *made[kind], minutes, transcriber, settings))
    found.insert(len(MINUTES), await own_voice(transcriber, settings))
    return found, short


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=None, help="a Whisper size or a model folder (default: tiny.en)")
    parser.add_argument("--remember", type=Path, metavar="FILE", help="texts of before, and those of now")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE", help="the page to write")
    options = parser.parse_args()
    settings = Settings().changed("transcription", model=options.model)
    try:
        language = settings.transcription.language
        clips = [clip for clip in read_corpus(corpus_folder()) if clip.language == language]
        found, short = anyio.run(measure, clips, settings, options)
    except (CorpusError, VoiceError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    progress("")
    page = ["# Nothing invented", "", *conditions(settings), "", *report(found, short)]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text("\n".join(page) + "\n", encoding="utf-8")
    print("\n".join(page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
