"""The speech engine: real eSpeak NG in a real child process, and a few engines that misbehave."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import anyio.lowlevel
import numpy as np
import psutil
import pytest

from voice.audio import Sound
from voice.backends import pyttsx3_engine
from voice.backends.null_speaker import SkippingSpeaker
from voice.backends.pyttsx3_engine import Pyttsx3Engine, word_starts
from voice.backends.pyttsx3_worker import Voice, choose_voice
from voice.errors import SpeechEngineDied, SpeechEngineError, SpeechEngineMissing
from voice.events import NarrationEnding
from voice.speaking.narrator import Narrator, rendered

pytestmark = pytest.mark.anyio

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has eSpeak NG from espeakng-loader")


on_one_loop = pytest.mark.parametrize("anyio_backend", ["asyncio"])
"""For what is about the engine: that its child behaves alike on both is shown with others."""


@pytest.fixture
async def engine() -> AsyncIterator[Pyttsx3Engine]:
    async with Pyttsx3Engine() as engine:
        yield engine


def children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


async def none_but(before: list[psutil.Process]) -> None:
    """Wait until there are no other children: one that was killed takes a moment on a busy machine."""
    with anyio.fail_after(60):
        while not set(children()) <= set(before):  # noqa: ASYNC110
            await anyio.sleep(0.01)


def loudness(samples: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))


# --- Sound ------------------------------------------------------------------------------------------------


@on_linux
@on_one_loop
async def test_a_sentence_is_sound(engine: Pyttsx3Engine) -> None:
    sound = await engine.render("Shall I delete the old branch?")
    assert sound.rate == 22_050
    assert sound.samples.dtype == np.int16
    assert sound.samples.ndim == 1
    assert 1.0 < sound.duration_s < 3.0
    assert loudness(sound.samples) > 500


@on_linux
@on_one_loop
async def test_five_sentences_in_a_row_are_five_sentences(engine: Pyttsx3Engine) -> None:
    sentences = [
        "No.",
        "One two three.",
        "The third sentence is a little longer.",
        "And the fourth one is longer than the third, by a good few words.",
        "The fifth is the longest of all of them, since it goes on, and on, and on, until it ends.",
    ]
    sounds = [await engine.render(sentence) for sentence in sentences]
    durations = [sound.duration_s for sound in sounds]
    assert durations == sorted(durations)
    for sentence, sound in zip(sentences, sounds, strict=True):
        assert 0.03 < sound.duration_s / len(sentence) < 0.3
        # Speech from the beginning almost to the end, not a word and then nothing.
        quarters = np.array_split(sound.samples[: round(len(sound.samples) - 0.25 * sound.rate)], 4)
        assert all(loudness(quarter) > 200 for quarter in quarters)
    again = [await engine.render(sentence) for sentence in sentences]
    assert [sound.duration_s for sound in again] == pytest.approx(durations, rel=0.05)


@on_linux
@on_one_loop
@pytest.mark.parametrize("text", ["", " ", "?!", "...", "—", "\n"])
async def test_what_has_no_sound_gives_none(engine: Pyttsx3Engine, text: str) -> None:
    sound = await engine.render(text)
    assert not len(sound.samples)
    assert sound.duration_s == 0
    assert not engine.notices


@on_linux
@on_one_loop
@pytest.mark.parametrize("text", ["word " * 400, "a" * 2_000, "äöü " * 500, "1" * 2_000, "<b>&amp;" * 250])
async def test_two_thousand_characters(engine: Pyttsx3Engine, text: str) -> None:
    assert len(text) == 2_000
    assert (await engine.render(text)).duration_s > 1
    with pytest.raises(ValueError, match="2001 characters"):
        await engine.render(text + "x")


@on_linux
@on_one_loop
async def test_no_word_of_a_long_sentence_is_lost(engine: Pyttsx3Engine) -> None:
    one, many = await engine.render("word " * 100), await engine.render("word " * 400)
    assert many.duration_s == pytest.approx(4 * one.duration_s, rel=0.02)


@on_linux
@on_one_loop
async def test_unprintable_characters_end_nothing(engine: Pyttsx3Engine) -> None:
    whole = await engine.render("One two three four five six")
    odd = await engine.render("One two\0three\x1bfour five\u202esix\ud800")
    assert odd.duration_s == pytest.approx(whole.duration_s, rel=0.1)


@on_linux
@on_one_loop
async def test_the_rate_changes_the_duration(engine: Pyttsx3Engine) -> None:
    async def duration_s(rate: float) -> float:
        return (await engine.render("The quick brown fox jumps over the lazy dog.", rate=rate)).duration_s

    slow, normal, fast = [await duration_s(rate) for rate in (0.5, 1.0, 3.0)]
    assert slow == pytest.approx(2 * normal, rel=0.15)
    assert normal / 4 < fast < normal / 2


@pytest.mark.parametrize("rate", [0.0, 0.49, 3.01, -1.0, float("nan"), float("inf")])
async def test_a_rate_out_of_bounds_is_refused(rate: float, engine: Pyttsx3Engine) -> None:
    with pytest.raises(ValueError, match=r"0\.5 to 3"):
        await engine.render("Hello.", rate=rate)


@on_linux
@on_one_loop
async def test_a_whole_text_as_one_sound(engine: Pyttsx3Engine) -> None:
    parts = [await engine.render(sentence) for sentence in ("This is one.", "This is two.")]
    whole = await rendered("This is **one**. This is `two`.", engine)
    assert whole.rate == parts[0].rate
    assert whole.duration_s == pytest.approx(sum(part.duration_s for part in parts), rel=0.02)


@on_linux
def test_a_sound_that_a_busy_machine_makes_late_is_the_same() -> None:
    code = """
        import hashlib, sys, time
        from voice.backends.pyttsx3_worker import prepare

        answer = prepare({})
        from pyttsx3.drivers import _espeak

        take = _espeak.SynthCallback

        def late(*sound):
            time.sleep(float(sys.argv[1]))
            return take(*sound)

        _espeak.SetSynthCallback(late)
        asked = {"do": "render", "voice": None, "language": "en", "rate": 1.0}
        _, sound = answer(asked, b"Where should the new database live?")
        print(len(sound), hashlib.sha256(sound).hexdigest(), file=sys.stderr)
    """

    def made(after_s: float) -> bytes:
        program = [sys.executable, "-c", textwrap.dedent(code), str(after_s)]
        return subprocess.run(program, capture_output=True, check=True).stderr

    assert made(0.1) == made(0.0)


# --- Words -----------------------------------------------------------------------------------------------


@on_linux
@on_one_loop
@pytest.mark.parametrize("rate", [0.5, 1.0, 2.2])
async def test_it_tells_where_words_begin(engine: Pyttsx3Engine, rate: float) -> None:
    text = "Say 1,234 of snake_case, then: äöü — 你好, and stop."
    sound = await engine.render(text, rate=rate)
    times, places = zip(*sound.words, strict=True)
    assert list(times) == sorted(times)
    assert 0 <= times[0] < 0.1
    assert times[-1] < sound.duration_s
    words = [text[place:].split(" ")[0] for place in places]
    assert words == ["Say", "1,234", "of", "snake_case,", "then:", "äöü", "你好,", "and", "stop."]


@on_linux
@on_one_loop
async def test_it_tells_no_words_where_their_times_would_be_wrong(engine: Pyttsx3Engine) -> None:
    assert (await engine.render("Say one of these, then stop.", rate=3.0)).words == ()


@on_linux
@on_one_loop
async def test_the_words_are_those_of_this_sentence(engine: Pyttsx3Engine) -> None:
    for text in ("One two three.", "Four.", "?!", "Five six."):
        assert len((await engine.render(text)).words) == sum(word[0].isalpha() for word in text.split())


@on_linux
@on_one_loop
async def test_after_a_pause_a_word_begins_where_it_is_told(engine: Pyttsx3Engine) -> None:
    text = "Alpha bravo, charlie delta echo, foxtrot."
    sound = await engine.render(text)
    told = [begins_s for begins_s, place in sound.words if text[place:].startswith(("charlie", "foxtrot"))]
    size = sound.rate // 100
    loud = [loudness(sound.samples[at : at + size]) > 60 for at in range(0, len(sound.samples) - size, size)]
    onsets = [at / 100 for at in range(6, len(loud)) if loud[at] and not any(loud[at - 6 : at])]
    assert len(onsets) >= 2
    for begins_s in told:
        assert min(abs(begins_s - onset) for onset in onsets) < 0.1


@pytest.mark.parametrize(
    ("told", "text", "starts"),
    [
        ([], "One two", []),
        ([(0.0, 0), (0.2, 4)], "One two", [(0.0, 0), (0.2, 4)]),
        ([(0.0, 0), (0.2, 5)], "snake_case", [(0.0, 0)]),
        ([(0.0, 0), (0.1, 3), (0.2, 4), (0.3, 3)], "One two", [(0.0, 0), (0.2, 4)]),
        ([(0.0, 0), (0.2, 99)], "One two", [(0.0, 0), (0.2, 4)]),
        ([(0.1, 1)], " One", [(0.1, 1)]),
    ],
)
def test_parts_of_a_word_are_that_word(
    told: list[tuple[float, int]], text: str, starts: list[tuple[float, int]]
) -> None:
    assert word_starts(told, text) == tuple(starts)


# --- Voices -----------------------------------------------------------------------------------------------


@on_linux
@on_one_loop
async def test_what_speaks_can_be_described(engine: Pyttsx3Engine) -> None:
    description = await engine.describe()
    assert description.engine.startswith("eSpeak NG 1.")
    assert str(description) == f"pyttsx3 2.99, {description.engine}, {len(description.voices)} voices"
    assert Voice("gmw/de", "German", ("de",)) in description.voices


@on_linux
@on_one_loop
@pytest.mark.parametrize("language", ["de", "fr", "de-AT", "pt-BR", "pt_br", "zh", "no", "en-US"])
async def test_languages_have_voices_of_their_own(language: str) -> None:
    async with Pyttsx3Engine(language=language) as engine, Pyttsx3Engine() as english:
        own = await engine.render("Information 12")
        assert not engine.notices
        assert not np.array_equal(own.samples, (await english.render("Information 12")).samples)


@on_linux
@on_one_loop
async def test_a_voice_that_is_not_there_is_replaced_with_a_notice() -> None:
    told: list[str] = []
    nobody = Pyttsx3Engine(voice="Nobody", language="de", on_notice=told.append)
    async with nobody as engine, Pyttsx3Engine(language="de") as german:
        sound = await engine.render("Guten Tag")
        assert np.array_equal(sound.samples, (await german.render("Guten Tag")).samples)
        await engine.render("Noch einmal")
        assert engine.notices == ("There is no voice “Nobody”; “German” speaks instead.",) == tuple(told)
    async with Pyttsx3Engine(language="tlh") as engine:
        assert (await engine.render("Qapla")).duration_s > 0.3
        assert "no voice for the language “tlh”" in engine.notices[0]


VOICES = (
    Voice("gmw/de", "German", ("de",)),
    Voice("gmw/en", "English (Great Britain)", ("en-gb",)),
    Voice("gmw/en-us", "English (America)", ("en-us",)),
    Voice("roa/fr-be", "French (Belgium)", ("fr-be",)),
    Voice("com.apple.voice.Luca", "Luca", ("it-it",)),
    Voice("sit/cmn", "Chinese (Mandarin)", ("cmn",)),
)


@pytest.mark.parametrize(
    ("name", "language", "chosen", "noticed"),
    [
        (None, "de", "gmw/de", False),
        (None, "de-CH", "gmw/de", False),
        (None, "en", "gmw/en", False),
        (None, "EN_us", "gmw/en-us", False),
        (None, "fr", "roa/fr-be", False),
        (None, "it", "com.apple.voice.Luca", False),
        (None, "zh-CN", "sit/cmn", False),
        (None, "tlh", None, True),
        ("luca", "en", "com.apple.voice.Luca", False),
        ("gmw/en-US", "de", "gmw/en-us", False),
        ("en-us", "de", "gmw/en-us", False),
        ("Nobody", "de", "gmw/de", True),
        ("Nobody", "tlh", None, True),
    ],
)
def test_the_nearest_voice_is_chosen(
    name: str | None, language: str, chosen: str | None, noticed: bool
) -> None:
    voice, notice = choose_voice(VOICES, name, language)
    assert (voice.id if voice else None) == chosen
    assert (notice is not None) == noticed


# --- The child --------------------------------------------------------------------------------------------


@on_linux
async def test_stop_and_speak_again_and_again(engine: Pyttsx3Engine) -> None:
    whole = (await engine.render("And this is said.")).duration_s
    for tries in range(10):
        # Cancelled anywhere: before the child is there, while it starts, and in the middle of its work.
        with anyio.move_on_after(0.015 * tries) as limit:
            for _ in range(100):
                await engine.render("This is interrupted again and again. " * 50)
        assert limit.cancelled_caught
        assert (await engine.render("And this is said.")).duration_s == pytest.approx(whole, rel=0.05)


@on_linux
async def test_a_child_killed_between_requests_is_replaced(engine: Pyttsx3Engine) -> None:
    await engine.render("Before.")
    first = engine.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert (await engine.render("After.")).duration_s > 0.3
    assert engine.pid != first


@on_linux
@pytest.mark.parametrize("passes", [0, 30, 300])
async def test_a_child_killed_in_the_middle_is_replaced(engine: Pyttsx3Engine, passes: int) -> None:
    whole = (await engine.render("word " * 400)).duration_s
    first = engine.pid
    assert first is not None

    async def kill() -> None:
        for _ in range(passes):
            await anyio.lowlevel.checkpoint()
        if engine.pid == first:  # never the one that replaces it: of two deaths it is told
            os.kill(first, signal.SIGKILL)

    async with anyio.create_task_group() as group:
        group.start_soon(kill)
        assert (await engine.render("word " * 400)).duration_s == pytest.approx(whole, rel=0.02)
    # Where the sound was there before, the child is replaced now.
    assert (await engine.render("One.")).duration_s > 0.2
    assert engine.pid != first


@on_linux
@on_one_loop
async def test_two_callers_at_once_get_their_own_sounds(engine: Pyttsx3Engine) -> None:
    durations: dict[str, float] = {}

    async def render(text: str) -> None:
        durations[text] = (await engine.render(text)).duration_s

    async with anyio.create_task_group() as group:
        for text in (
            "No.",
            "A sentence of some length.",
            "A sentence that is far longer than the other one is.",
        ):
            group.start_soon(render, text)
    assert sorted(durations, key=len) == sorted(durations, key=durations.__getitem__)


@on_linux
async def test_no_child_is_left() -> None:
    before = children()
    async with Pyttsx3Engine() as engine:
        await engine.render("One.")
        (child,) = [process for process in children() if process not in before]
        assert child.pid == engine.pid
    await none_but(before)
    with pytest.raises(SpeechEngineDied, match="closed"):
        await engine.render("Two.")
    await none_but(before)


@on_linux
async def test_closing_in_the_middle_of_a_request_ends_it() -> None:
    before = children()
    engine = Pyttsx3Engine()
    await engine.render("One.")
    async with anyio.create_task_group() as group:

        async def close() -> None:
            await anyio.sleep(0.05)
            await engine.aclose()

        group.start_soon(close)
        with pytest.raises(SpeechEngineDied, match="closed"):
            await render_for_ever(engine)
    await none_but(before)


@on_linux
async def test_closing_fails_whoever_waits_too_and_no_child_is_started_for_them() -> None:
    before = children()
    engine = Pyttsx3Engine()
    await engine.render("One.")
    async with anyio.create_task_group() as group:

        async def ask() -> None:
            with pytest.raises(SpeechEngineDied, match="closed"):
                await render_for_ever(engine)

        for _ in range(3):
            group.start_soon(ask)
        await anyio.sleep(0.05)
        await engine.aclose()
    await none_but(before)


async def render_for_ever(engine: Pyttsx3Engine) -> None:
    while True:
        await engine.render("word " * 400)


@on_linux
def test_nothing_reaches_our_standard_output_and_no_child_outlives_us() -> None:
    code = """
        import anyio, os, sys
        from voice.backends.pyttsx3_engine import Pyttsx3Engine

        async def main():
            engine = Pyttsx3Engine()
            for text in ("One.", "Two.", "?!"):
                await engine.render(text)
            print(engine.pid, file=sys.stderr)
            os._exit(0)  # as a crash would end it: nothing is closed

        anyio.run(main)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, check=True)
    assert run.stdout == b""
    child = int(run.stderr)
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(child).wait(60)


# --- Engines that misbehave -------------------------------------------------------------------------------

MakeFake = Callable[[str], Pyttsx3Engine]

FAKE = """
    import sys, time, wave
    from types import SimpleNamespace

    class Engine:
        def __init__(self):
            import threading
            self.listeners = {}
            self.texts = 0
            self.made_in = threading.current_thread()
        def getProperty(self, name):
            return [SimpleNamespace(id="x", name="X", languages=["en"])] if name == "voices" else "x"
        def setProperty(self, name, value):
            pass
        def connect(self, topic, listener):
            self.listeners[topic] = listener
        def save_to_file(self, text, path):
            self.text, self.path = text, path
        def write(self, samples, rate=8000):
            with wave.open(self.path, "wb") as file:
                file.setparams((1, 2, rate, 0, "NONE", ""))
                file.writeframes(samples)
        def finish(self, completed=True):
            self.listeners["finished-utterance"](name=None, completed=completed)
        def runAndWait(self):
            self.texts += 1
            print("a line on standard output")
            self.run()

    def init():
        return Engine()
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeFake:
    """An engine whose child finds another pyttsx3, with this body of ``run``, or with this code instead."""

    def make(body: str) -> Pyttsx3Engine:
        code = textwrap.dedent(FAKE)
        if body.startswith("raise"):
            code = body
        else:
            code += (
                "\ndef run(self):\n" + textwrap.indent(textwrap.dedent(body), "    ") + "\nEngine.run = run\n"
            )
        (tmp_path / "pyttsx3.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        return Pyttsx3Engine()

    return make


@on_one_loop
async def test_sound_of_another_engine(fake: MakeFake) -> None:
    async with fake("self.write(b'\\1\\0' * 800); self.finish()") as engine:
        sound = await engine.render("Hello.")
        assert (sound.rate, sound.samples.tolist()) == (8_000, [1] * 800)


@on_one_loop
async def test_an_empty_file_is_tried_again(fake: MakeFake) -> None:
    async with fake("self.write(b'\\1\\0' * 800 * (self.texts % 3 == 0)); self.finish()") as engine:
        for _ in range(3):
            assert len((await engine.render("Hello.")).samples) == 800


@on_one_loop
async def test_a_sound_that_was_not_finished_is_tried_again(fake: MakeFake) -> None:
    async with fake("self.write(b'\\1\\0' * 800); self.finish(completed=self.texts % 2 == 0)") as engine:
        assert len((await engine.render("Hello.")).samples) == 800


@on_one_loop
async def test_an_aiff_file_is_read_as_well(fake: MakeFake) -> None:
    body = """
        import av, numpy
        with av.open(self.path, "w", format="aiff") as file:
            stream = file.add_stream("pcm_s16be", rate=22050, layout="mono")
            samples = numpy.full((1, 2205), 1000, "int16")
            frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
            frame.rate = 22050
            for packet in [*stream.encode(frame), *stream.encode(None)]:
                file.mux(packet)
        self.finish()
    """
    async with fake(body) as engine:
        sound = await engine.render("Hello.")
        assert (sound.rate, sound.samples.tolist()) == (22_050, [1_000] * 2_205)


@on_one_loop
async def test_a_text_without_sound_is_told_from_an_engine_without(fake: MakeFake) -> None:
    async with fake("self.write(b'\\1\\0' * 800 * ('q' not in self.text)); self.finish()") as engine:
        assert not len((await engine.render("q")).samples)
        assert engine.notices == ("The speech engine has no sound for “q”.",)
        assert len((await engine.render("Hello.")).samples) == 800


async def test_a_sound_too_short_to_be_the_whole_is_made_again_by_a_new_engine(fake: MakeFake) -> None:
    text = "The second line is not to be skipped silently."
    body = "self.write(b'\\1\\0' * (800 if self.texts > 1 else 16_000)); self.finish()"
    async with fake(body) as engine:
        await engine.render(text)
        first = engine.pid
        assert len((await engine.render(text)).samples) == 16_000
        assert engine.pid != first


@on_one_loop
async def test_what_stays_short_is_taken_as_it_is(fake: MakeFake) -> None:
    async with fake("self.write(b'\\1\\0' * 80); self.finish()") as engine:
        assert len((await engine.render("A whole sentence.")).samples) == 80


@on_one_loop
async def test_the_engine_is_made_and_run_in_the_main_thread(fake: MakeFake) -> None:
    body = """
        import threading
        made_and_run = [self.made_in, threading.current_thread()]
        assert made_and_run == [threading.main_thread()] * 2
        self.write(b'\\1\\0' * 800)
        self.finish()
    """
    async with fake(body) as engine:
        assert len((await engine.render("Hello.")).samples) == 800


async def test_an_engine_that_ends_its_program_once_is_replaced(fake: MakeFake, tmp_path: Path) -> None:
    body = f"""
        from pathlib import Path
        ended = Path({str(tmp_path / "ended")!r})
        if not ended.exists():
            ended.touch()
            sys.exit(0)
        self.write(b'\\1\\0' * 800)
        self.finish()
    """
    async with fake(body) as engine:
        assert len((await engine.render("Hello.")).samples) == 800


@on_linux
@on_one_loop
async def test_the_child_is_a_program_of_its_own_and_no_fork_of_ours(engine: Pyttsx3Engine) -> None:
    await engine.render("One.")
    assert "voice.backends.pyttsx3_worker" in psutil.Process(engine.pid).cmdline()


@on_linux
@on_one_loop
async def test_it_needs_no_player(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no aplay, nothing
    async with Pyttsx3Engine() as engine:
        assert (await engine.render("One two three.")).duration_s > 0.5


@on_linux
@on_one_loop
async def test_a_narration_goes_on_when_the_engine_is_killed_in_its_middle(engine: Pyttsx3Engine) -> None:
    speaker = SkippingSpeaker()
    text = "One is said. Two is said. Three is said. " * 3

    class Killing(SkippingSpeaker):
        async def play(self, sound: Sound) -> None:
            await speaker.play(sound)
            if speaker.sounds in (2, 5) and engine.pid is not None:
                os.kill(engine.pid, signal.SIGKILL)

    narrated = await Narrator(engine, Killing()).narrate(text)
    assert narrated.ending is NarrationEnding.COMPLETED
    assert speaker.sounds == 9


@on_linux
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_narration_goes_on_when_the_engine_hangs_in_its_middle(engine: Pyttsx3Engine) -> None:
    speaker = SkippingSpeaker()
    stopped: list[int] = []

    class Stopping(SkippingSpeaker):
        async def play(self, sound: Sound) -> None:
            await speaker.play(sound)
            if speaker.sounds == 2 and engine.pid is not None:
                stopped.append(engine.pid)
                os.kill(engine.pid, signal.SIGSTOP)

    with anyio.fail_after(60):
        narrated = await Narrator(engine, Stopping()).narrate("One is said. Two is said. Three is said. " * 3)
    assert narrated.ending is NarrationEnding.COMPLETED
    assert speaker.sounds == 9
    assert stopped
    assert engine.pid not in stopped
    with anyio.fail_after(60):
        while psutil.pid_exists(stopped[0]):  # noqa: ASYNC110
            await anyio.sleep(0.01)


@on_one_loop
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("self.write(b''); self.finish()", "no sound"),
        ("self.write(b'\\0\\0' * 800); self.finish()", "no sound"),
        ("self.write(b'\\1\\0' * 800)", "no sound"),
        ("raise RuntimeError('run loop already started')", "run loop already started"),
        ("self.listeners['error'](name=None, exception=ValueError('no such voice'))", "no such voice"),
        ("sys.exit(0)", "the child process ended"),
        (
            "sys.stderr.write('Segmentation fault'); sys.stderr.flush(); import os; os.abort()",
            "Segmentation fault",
        ),
    ],
    ids=["empty", "silence", "unfinished", "stuck", "error event", "exit 0", "crash"],
)
async def test_an_engine_that_never_speaks_has_died(fake: MakeFake, body: str, why: str) -> None:
    # The indirection keeps a body that begins with "raise" from being taken for a module.
    async with fake("if True:\n    " + body) as engine:
        with pytest.raises(SpeechEngineDied, match=why):
            await engine.render("Hello.")


async def test_an_engine_that_hangs_is_given_up(fake: MakeFake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyttsx3_engine, "_ANSWER_WITHIN_S", 0.2)
    before = children()
    async with fake("time.sleep(600)") as engine:
        with pytest.raises(SpeechEngineDied, match="no answer within"):
            await engine.render("Hello.")
        await none_but(before)


async def test_an_engine_that_hangs_once_is_replaced(
    fake: MakeFake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pyttsx3_engine, "_ANSWER_WITHIN_S", 1.0)
    body = f"""
        from pathlib import Path
        hung = Path({str(tmp_path / "hung")!r})
        if not hung.exists():
            hung.touch()
            time.sleep(600)
        self.write(b'\\1\\0' * 800)
        self.finish()
    """
    async with fake(body) as engine:
        assert len((await engine.render("Hello.")).samples) == 800


async def test_without_pyttsx3_one_command_mends_it(fake: MakeFake) -> None:
    async with fake("raise ModuleNotFoundError(\"No module named 'pyttsx3'\")") as engine:
        for _ in range(2):
            with pytest.raises(SpeechEngineMissing, match="cannot be loaded") as raised:
                await engine.render("Hello.")
            assert raised.value.mend is not None
            assert raised.value.mend.startswith("pip install pyttsx3")
        with pytest.raises(SpeechEngineError):
            await engine.describe()


@on_linux
async def test_without_espeak_one_command_mends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyttsx3.py").write_text("def init():\n    raise RuntimeError('no eSpeak installed!')\n")
    (tmp_path / "espeakng_loader.py").write_text("raise ImportError\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    async with Pyttsx3Engine() as engine:
        with pytest.raises(SpeechEngineMissing, match="no eSpeak installed") as raised:
            await engine.render("Hello.")
        assert raised.value.mend == "pip install espeakng-loader (or: apt install libespeak-ng1)"
