"""Whether our own voice ever becomes a message, and whether people get through it.

Run ``python benchmarks/echo.py``; README.md beside it says what it does and what its tables mean.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import numpy as np
from corpus import Clip, CorpusError, corpus_folder, read_corpus
from measuring import conditions, percent, progress, table
from narrations import HELD_OUT
from numpy.typing import NDArray
from rooms import SPEECH_DBFS, Scene, Spoken, act, at_level, spoken
from words import words_of

from voice.assembly import find_weights, make_detector, make_ear, make_engine, make_transcriber
from voice.audio import FRAME_S, SAMPLE_RATE, silent_frame
from voice.backends.aec3 import Aec3
from voice.backends.recording import read_recording
from voice.commands import Controls
from voice.ears import Ears
from voice.errors import VoiceError
from voice.events import CommandHeard, Discarded, DiscardReason, Event, SpeechStarted, UserMessage
from voice.floor import Duplex
from voice.listening.phrases import PhraseListener
from voice.loop import Hearing
from voice.ports import Transcriber
from voice.settings import Settings
from voice.speaking.speakable import speakable

PARTS = ("own", "stops", "people")
RESULTS = Path(__file__).parent / "results" / "echo.md"
FIXTURES = Path(__file__).parents[1] / "audio_fixtures"
LEVELS_DB = (-6, -12, -20)
STOP = "stop"
FIRST_ROOM = 1_000
"""Limits were chosen with the rooms before it, and with other narrations."""
STOP_LATEST_S = 2.5
"""A stop is said so long after the beginning of a narration, at the latest."""
STOP_WITHIN_S = 1.2
"""What was promised: from its last sound to silence."""
BEGINS_AFTER_S = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
BEGINS_BEFORE_S = 0.5
"""Replies that begin before the narration has drained, begin so much before it …"""
GOES_ON_S = 0.3
"""… and go on for so long after it; the others are left out."""


@dataclass(frozen=True)
class Reply:
    """What somebody says into the microphone."""

    name: str
    words: str
    samples: NDArray[np.float64]
    start_s: float
    """Where in them they begin to speak …"""
    end_s: float
    """… and where they end."""


@dataclass(frozen=True)
class Heard:
    """What became of one scene."""

    scene: Scene
    happened: list[tuple[float, Event]]

    @property
    def messages(self) -> list[UserMessage]:
        """Those that a host would get."""
        return [event for _, event in self.happened if isinstance(event, UserMessage)]

    @property
    def discarded(self) -> list[Discarded]:
        """What was not delivered."""
        return [event for _, event in self.happened if isinstance(event, Discarded)]


@dataclass
class Bench:
    """The parts that all scenes share."""

    transcriber: Transcriber
    settings: Settings
    details: Path | None
    """Where each scene is written to, a line of JSON each."""

    def ears(self, duplex: Duplex, phrases: PhraseListener | None = None) -> Ears:
        """New ones; an echo canceller, where the mode has one, knows nothing of the room yet."""
        hearing = Hearing(make_ear(self.settings.hearing), self.transcriber)
        canceller = Aec3() if duplex is Duplex.CANCELLED else None
        stop = Controls("en").stop_phrase_in
        return Ears(hearing, duplex=duplex, canceller=canceller, phrases=phrases, stop_phrase_in=stop)

    async def hear_stop(self, what: str, scene: Scene, duplex: Duplex) -> Heard:
        """Have a scene heard by ears that wait for a stop, until a while after somebody has spoken in it."""
        if len(scene.reply):
            over_s = scene.reply_at_s + len(scene.reply) / SAMPLE_RATE + STOP_WITHIN_S + 1
            scene.length = min(scene.length, round(over_s / FRAME_S))
        phrases = PhraseListener(make_detector(), self.transcriber, vocabulary=[Controls("en").shortest_stop])
        ears = self.ears(duplex, phrases)
        return await self.hear(what, scene, ears, stops=False, after_frame=_Waiting(phrases).wait)

    async def hear(
        self,
        what: str,
        scene: Scene,
        ears: Ears,
        *,
        stops: bool,
        tap: bool = True,
        after_frame: Callable[[], Awaitable[float]] | None = None,
    ) -> Heard:
        """Have a scene heard to its end, and until each turn in it is decided."""
        happened = await act(scene, ears, stops=stops, tap=tap, after_frame=after_frame)
        while ears.busy:
            await anyio.sleep(0.002)
            happened += [(ears.now_s, event) for event in await ears.push(silent_frame())]
        heard = Heard(scene, happened)
        if self.details is not None:
            told = {
                "what": what,
                "narration": scene.narration.text,
                "echo_db": scene.echo_db,
                "reply_at_s": scene.reply_at_s if len(scene.reply) else None,
                "narration_s": [scene.narration.start_s, scene.stopped_s or scene.narration.end_s],
                "events": [f"{at_s:.2f} {event}" for at_s, event in happened],
            }
            with self.details.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(told)}\n")
        return heard


# --- Our own voice ----------------------------------------------------------------------------------------


async def own_voice(
    bench: Bench, narrations: Sequence[Spoken], tell: Callable[[list[str]], None], *, sparse: int
) -> None:
    """Nobody speaks but we; whatever becomes a message is wrong. Some ways are tried with each Nth only."""
    ways: list[tuple[str, Duplex, bool, bool, int]] = [
        ("words alone, narration stops", Duplex.HEADPHONES, True, False, 1),
        ("canceller, narration stops", Duplex.CANCELLED, True, True, 1),
        ("words alone, narration goes on", Duplex.HEADPHONES, False, False, sparse),
        ("sound and words, narration stops", Duplex.HEADPHONES, True, True, sparse),
        ("half duplex", Duplex.HALF, False, True, sparse),
    ]
    rows: list[list[str]] = []
    delivered: list[str] = []
    for name, duplex, stops, tap, every in ways:
        for db in LEVELS_DB:
            heard: list[Heard] = []
            for seed, narration in list(enumerate(narrations))[::every]:
                progress(f"{name}, {db} dB: {seed + 1}/{len(narrations)}")
                scene = Scene(narration, db, seed=FIRST_ROOM + seed)
                heard.append(await bench.hear(name, scene, bench.ears(duplex), stops=stops, tap=tap))
            taken = sum(any(isinstance(event, SpeechStarted) for _, event in one.happened) for one in heard)
            reasons = [event.reason for one in heard for event in one.discarded]
            messages = [message for one in heard for message in one.messages]
            rows.append(
                [
                    name,
                    str(db),
                    str(len(heard)),
                    str(taken),
                    str(reasons.count(DiscardReason.ECHO)),
                    str(len(reasons) - reasons.count(DiscardReason.ECHO)),
                    f"**{len(messages)}**",
                ]
            )
            delivered += [f"* {name}, {db} dB: “{message.text}”" for message in messages]
            header = [
                "",
                "dB",
                "narrations",
                "taken for speech",
                "echoes dropped",
                "else dropped",
                "messages",
            ]
            tell([*table(header, rows), *(["", "Delivered:", "", *delivered] if delivered else [])])


# --- People -----------------------------------------------------------------------------------------------


async def alone(bench: Bench, replies: Sequence[Reply], silence: Spoken) -> dict[str, str]:
    """What is understood of each reply where nothing is narrated."""
    texts: dict[str, str] = {}
    for reply in replies:
        scene = _with(reply, silence, None, at_s=silence.end_s + 1.0)
        heard = await bench.hear("alone", scene, bench.ears(Duplex.HEADPHONES), stops=False)
        texts[reply.name] = " ".join(message.text for message in heard.messages)
    return texts


async def barge_in(
    bench: Bench, narrations: Sequence[Spoken], replies: Sequence[Reply], texts: dict[str, str]
) -> list[str]:
    """Somebody speaks in the middle of a narration, which stops as soon as that is noticed."""
    ways: list[tuple[str, Duplex, int | None]] = [
        ("headphones", Duplex.HEADPHONES, None),
        *(("canceller", Duplex.CANCELLED, db) for db in LEVELS_DB),
    ]
    rows: list[list[str]] = []
    for name, duplex, db in ways:
        results: list[tuple[Reply, Heard]] = []
        for seed, (reply, narration) in enumerate(_paired(replies, narrations)):
            progress(f"barge-in, {name}, {db} dB: {seed + 1}/{len(replies)}")
            share = np.random.default_rng(seed).uniform(0.25, 0.75)
            at_s = narration.start_s + share * (narration.end_s - narration.start_s)
            scene = _with(reply, narration, db, at_s=at_s, seed=FIRST_ROOM + seed)
            results.append(
                (reply, await bench.hear(f"barge-in {name}", scene, bench.ears(duplex), stops=True))
            )
        rows.append([name, "none" if db is None else str(db), *_delivered(results, texts)])
    return table(["", "echo, dB", *_DELIVERED], rows)


async def half_duplex(
    bench: Bench, narrations: Sequence[Spoken], replies: Sequence[Reply], texts: dict[str, str]
) -> list[str]:
    """Somebody replies just after the device has drained, or a little before."""
    by_moment: dict[str, list[tuple[Reply, Heard]]] = {}
    for seed, (reply, narration) in enumerate(_paired(replies, narrations)):
        progress(f"half duplex: {seed + 1}/{len(replies)}")
        db = LEVELS_DB[seed % len(LEVELS_DB)]
        for name, after_s in (
            (
                f"{BEGINS_AFTER_S[0]:g} to {BEGINS_AFTER_S[-1]:g} s after",
                BEGINS_AFTER_S[seed % len(BEGINS_AFTER_S)],
            ),
            (f"{BEGINS_BEFORE_S:g} s before", -BEGINS_BEFORE_S),
        ):
            if after_s + reply.end_s - reply.start_s >= GOES_ON_S:
                scene = _with(reply, narration, db, at_s=narration.end_s + after_s, seed=FIRST_ROOM + seed)
                heard = await bench.hear(f"half duplex {name}", scene, bench.ears(Duplex.HALF), stops=False)
                by_moment.setdefault(name, []).append((reply, heard))
    rows = [[name, *_delivered(results, texts)] for name, results in by_moment.items()]
    return table(["begun", *_DELIVERED], rows)


async def stops(bench: Bench, narrations: Sequence[Spoken], replies: Sequence[Reply]) -> list[str]:
    """Somebody says stop while we narrate in half duplex."""
    rows: list[list[str]] = []
    missed: list[str] = []
    # A stop that is in our own sentence is ours.
    long = [
        narration
        for narration in narrations
        if narration.end_s - narration.start_s > STOP_LATEST_S + 1 and STOP not in narration.text
    ]
    for name, duplex, db in (
        *(("half", Duplex.HALF, db) for db in LEVELS_DB),
        ("half", Duplex.HALF, None),
        *(("cancelled", Duplex.CANCELLED, db) for db in LEVELS_DB),
    ):
        waits: list[float] = []
        wrong = 0
        for seed, (reply, narration) in enumerate(_paired(replies, long)):
            progress(f"stop, {name}, {db} dB: {seed + 1}/{len(replies)}")
            at_s = narration.start_s + np.random.default_rng(seed).uniform(1.5, STOP_LATEST_S)
            scene = _with(reply, narration, db, at_s=at_s, seed=FIRST_ROOM + seed)
            heard = await bench.hear_stop(f"stop {name}", scene, duplex)
            obeyed = [at for at, event in heard.happened if isinstance(event, CommandHeard)]
            last_sound_s = at_s + reply.end_s - reply.start_s
            waits += [at - last_sound_s for at in obeyed[:1]]
            wrong += len(heard.messages)
            if not obeyed:
                missed.append(f"* {name}, {db} dB: {reply.name}")
        rows.append(
            [
                name,
                "none" if db is None else str(db),
                str(len(replies)),
                f"{len(waits)} ({percent(len(waits) / len(replies))} %)",
                str(sum(wait <= STOP_WITHIN_S for wait in waits)),
                f"{np.median(waits):.2f}" if waits else "",
                f"{max(waits):.2f}" if waits else "",
                str(wrong),
            ]
        )
    header = ["mode", "echo, dB", "stops", "obeyed", f"within {STOP_WITHIN_S:g} s"]
    lines = table([*header, "after, s: median", "worst", "messages"], rows)
    return [*lines, *(["", "Not obeyed:", "", *missed] if missed else [])]


async def no_stops(
    bench: Bench, narrations: Sequence[Spoken], replies: Sequence[Reply], *, sparse: int
) -> list[str]:
    """Nobody says stop while we narrate in half duplex: nobody speaks, or somebody says something else."""
    rows: list[list[str]] = []
    for what in ("nobody speaks", "something else is said"):
        for db in LEVELS_DB:
            obeyed: list[str] = []
            tried = list(enumerate(_paired(replies, narrations)))[:: max(1, sparse // 2)]
            for seed, (reply, narration) in tried:
                progress(f"no stop, {what}, {db} dB: {seed + 1}/{len(replies)}")
                middle_s = (narration.start_s + narration.end_s) / 2
                scene = (
                    Scene(narration, db, seed=FIRST_ROOM + seed)
                    if what == "nobody speaks"
                    else _with(reply, narration, db, at_s=middle_s, seed=FIRST_ROOM + seed)
                )
                heard = await bench.hear_stop(f"no stop, {what}", scene, Duplex.HALF)
                if any(isinstance(event, CommandHeard) for _, event in heard.happened):
                    obeyed.append("" if what == "nobody speaks" else reply.words)
            rows.append([what, str(db), str(len(tried)), str(len(obeyed)), ", ".join(filter(None, obeyed))])
    return table(["", "echo, dB", "narrations", "stopped", "by"], rows)


class _Waiting:
    """Has the scene wait while a phrase is transcribed, and tells how long that took."""

    def __init__(self, phrases: PhraseListener) -> None:
        self._phrases = phrases

    async def wait(self) -> float:
        """Until there is nothing to wait for."""
        began = time.perf_counter()
        while self._phrases.busy and not self._phrases.ready:  # noqa: ASYNC110 - no event tells of it
            await anyio.sleep(0.002)
        return time.perf_counter() - began


_DELIVERED = ["replies", "delivered", "with the words they have alone", "our voice delivered"]


def _delivered(results: Sequence[tuple[Reply, Heard]], texts: dict[str, str]) -> list[str]:
    known = [(reply, heard) for reply, heard in results if texts[reply.name]]
    delivered = [heard for _, heard in known if _of_reply(heard)]
    alike = [
        heard
        for reply, heard in known
        if words_of(" ".join(message.text for message in _of_reply(heard))) == words_of(texts[reply.name])
    ]
    wrong = sum(len(heard.messages) - len(_of_reply(heard)) for _, heard in results)
    share = [f"{len(those)} ({percent(len(those) / len(known))} %)" for those in (delivered, alike)]
    return [str(len(known)), *share, str(wrong)]


def _of_reply(heard: Heard) -> list[UserMessage]:
    """The messages that were heard while the person spoke."""
    scene = heard.scene
    end_s = scene.reply_at_s + len(scene.reply) / SAMPLE_RATE
    return [
        message
        for message in heard.messages
        if message.heard and message.heard.start_s < end_s and message.heard.end_s > scene.reply_at_s
    ]


def _with(reply: Reply, narration: Spoken, db: float | None, *, at_s: float, seed: int = 0) -> Scene:
    """The scene in which the reply begins to be spoken at this time."""
    return Scene(narration, db, reply.samples, at_s - reply.start_s, seed=seed)


def _paired(replies: Sequence[Reply], narrations: Sequence[Spoken]) -> list[tuple[Reply, Spoken]]:
    return [(reply, narrations[number % len(narrations)]) for number, reply in enumerate(replies)]


# --- What is played ---------------------------------------------------------------------------------------


async def narrated(settings: Settings, texts: Sequence[str]) -> list[Spoken]:
    """What the speech engine makes of them."""
    made: list[Spoken] = []
    async with make_engine(settings.speaking) as engine:
        for text in texts:
            sounds = [(part, await engine.render(part)) for part in speakable(text)]
            made.append(spoken(text, sounds))
    return made


def replies_of_people(count: int) -> tuple[str, list[Reply], list[Reply]]:
    """Where they come from, short replies, and recordings of a stop."""
    try:
        clips = [
            clip
            for clip in read_corpus(corpus_folder())
            if clip.kind == "short_reply" and clip.language == "en" and clip.transcript
        ]
    except CorpusError:
        return "recordings of audio_fixtures (a voice of Piper's)", _fixtures(count), []
    said = [clip for clip in clips if clip.transcript != STOP]
    step = max(1, len(said) // count)
    stopping = [_of_clip(clip) for clip in clips if clip.transcript == STOP]
    return "people, of the corpus", [_of_clip(clip) for clip in said[::step][:count]], stopping


def _of_clip(clip: Clip) -> Reply:
    start_s, end_s = clip.turns[0][0], clip.turns[-1][1]
    return _reply(clip.id, clip.transcript or "", clip.path, start_s, end_s)


def _fixtures(count: int) -> list[Reply]:
    manifest = json.loads((FIXTURES / "manifest.json").read_text())["fixtures"]
    replies = [
        _reply(
            f"{one['file']} {number}",
            one["words"],
            FIXTURES / one["file"],
            one["turns"][0]["start_ms"] / 1000,
            one["turns"][0]["end_ms"] / 1000,
        )
        for number in range(count)
        for one in manifest
        if one["kind"] == "reply" and len(one["turns"]) == 1 and one["duration_ms"] < 4_000
    ]
    return replies[:count]


def _reply(name: str, words: str, path: Path, start_s: float, end_s: float) -> Reply:
    samples = at_level(read_recording(path).astype(float), SPEECH_DBFS)
    return Reply(name, words, samples, start_s, end_s)


async def measure(options: argparse.Namespace, settings: Settings) -> str:
    """All of it, as a page of Markdown, which is written anew whenever there is more to tell."""
    source, replies, stopping = replies_of_people(options.replies)
    narrations = await narrated(settings, HELD_OUT[: options.narrations])
    length_s = sum(narration.end_s - narration.start_s for narration in narrations)
    head = [
        "# Our own voice in the microphone",
        "",
        *conditions(settings),
        f"* {len(narrations)} narrations, {length_s / 60:.1f} minutes; {len(replies)} replies: {source}.",
    ]
    sections: dict[str, list[str]] = {"Nobody speaks but we": [], "Somebody speaks while we narrate": []}
    sections |= {"Half duplex: somebody replies as we end": [], "A spoken stop": []}
    sections |= {"No spoken stop": []}

    def page() -> str:
        told = [[f"## {title}", "", *lines, ""] for title, lines in sections.items() if lines]
        text = "\n".join([*head, "", *(line for lines in told for line in lines)])
        options.out.write_text(text, encoding="utf-8")
        return text

    async with make_transcriber(settings.transcription, find_weights(settings.transcription)) as transcriber:
        await transcriber.ready()
        bench = Bench(transcriber, settings, options.details)

        def tell(lines: list[str]) -> None:
            sections["Nobody speaks but we"] = lines
            page()

        if "own" in options.only:
            await own_voice(bench, narrations, tell, sparse=options.sparse)
        if stopping and "stops" in options.only:
            sections["A spoken stop"] = await stops(bench, narrations, stopping)
            page()
            sections["No spoken stop"] = await no_stops(bench, narrations, replies, sparse=options.sparse)
            page()
        if "people" in options.only:
            texts = await alone(bench, replies, narrations[0])
            half = await half_duplex(bench, narrations, replies, texts)
            sections["Half duplex: somebody replies as we end"] = half
            page()
            sections["Somebody speaks while we narrate"] = await barge_in(bench, narrations, replies, texts)
            page()
    return page()


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--narrations", type=int, default=len(HELD_OUT), metavar="N", help="only the first N")
    parser.add_argument("--replies", type=int, default=100, metavar="N")
    parser.add_argument(
        "--sparse",
        type=int,
        default=6,
        metavar="N",
        help="of what is no figure asked for, every Nth scene only",
    )
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=f"of {', '.join(PARTS)}"
    )
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE", help="the page to write")
    parser.add_argument(
        "--details", type=Path, metavar="FILE", help="add a line of JSON for each scene to it"
    )
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    try:
        page = anyio.run(measure, options, Settings())
    except VoiceError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    progress("")
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
