"""Narration with scripted parts, on both event loops; time passes when the test says so."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import numpy as np
import pytest

from voice.audio import Sound
from voice.backends.null_speaker import SkippingSpeaker
from voice.errors import DeviceLost, SpeechEngineDied, VoiceError
from voice.events import NarrationEnding
from voice.speaking.narrator import Narrated, Narrator, Position, rendered
from voice.speaking.speakable import speakable
from voice.testing import Misuse, ScriptedEngine, ScriptedSpeaker

pytestmark = pytest.mark.anyio

TEXT = "One is first. Two is second. Three is third. Four is fourth."
SENTENCES = ("One is first.", "Two is second.", "Three is third.", "Four is fourth.")


async def settle() -> None:
    """Let everybody go on until all of them wait."""
    for _ in range(30):
        await anyio.lowlevel.checkpoint()


class Started:
    """A narration in the background."""

    def __init__(self) -> None:
        self.result: Narrated | None = None
        self.scope = anyio.CancelScope()

    @property
    def done(self) -> Narrated:
        assert self.result is not None, "the narration goes on"
        return self.result


Start = Callable[[str], Awaitable[Started]]


@asynccontextmanager
async def narrations(narrator: Narrator) -> AsyncIterator[Start]:
    async def run(text: str, started: Started) -> None:
        with started.scope:
            started.result = await narrator.narrate(text)

    async def start(text: str) -> Started:
        started = Started()
        group.start_soon(run, text, started)
        await settle()
        return started

    async with anyio.create_task_group() as group:
        yield start
        group.cancel_scope.cancel()


async def test_every_sentence_is_heard_in_order() -> None:
    engine, speaker = ScriptedEngine(), ScriptedSpeaker()
    narrated = await Narrator(engine, speaker).narrate(TEXT)
    assert narrated.ending is NarrationEnding.COMPLETED
    assert narrated.sentences == SENTENCES
    assert narrated.ended.text == TEXT
    assert engine.texts == list(SENTENCES)
    assert [sound.duration_s for sound in speaker.played] == [engine.duration_s(text) for text in SENTENCES]
    assert narrated.ended.played_s == pytest.approx(sum(map(engine.duration_s, SENTENCES)))
    assert narrated.position == Position(4)


@pytest.mark.parametrize("text", ["", " \n ", "?!", "---"])
async def test_nothing_to_say_is_said_at_once(text: str) -> None:
    engine, speaker = ScriptedEngine(), ScriptedSpeaker()
    narrated = await Narrator(engine, speaker).narrate(text)
    assert (narrated.ending, narrated.sentences, narrated.ended.played_s) == (
        NarrationEnding.COMPLETED,
        (),
        0,
    )
    assert not engine.texts


async def test_sentences_without_sound_are_passed_over() -> None:
    speaker = ScriptedSpeaker()
    narrated = await Narrator(ScriptedEngine(seconds_per_character=0), speaker).narrate(TEXT)
    assert (narrated.ending, narrated.position) == (NarrationEnding.COMPLETED, Position(4))
    assert not speaker.played


async def test_the_next_sentences_are_made_while_one_is_heard_and_not_all_of_them() -> None:
    engine, speaker = ScriptedEngine(), ScriptedSpeaker()
    speaker.hold()
    text = " ".join(f"This is sentence {number}." for number in range(20))
    async with narrations(Narrator(engine, speaker)) as start:
        await start(text)
        assert speaker.playing
        assert 2 <= len(engine.texts) <= 4
        speaker.finish()
        await settle()
        assert 3 <= len(engine.texts) <= 5


async def test_the_first_sentence_is_heard_before_the_second_is_made() -> None:
    engine, speaker = ScriptedEngine(), ScriptedSpeaker()
    speaker.hold()
    async with narrations(Narrator(engine, speaker)) as start:
        engine.hold()
        await start(TEXT)
        assert not speaker.playing
        engine.release()
        engine.hold()
        await settle()
        assert speaker.playing
        assert engine.rendered == ["One is first."]


@pytest.mark.parametrize("ending", ["interrupted", "superseded"])
async def test_stop_says_how_far_it_came(ending: str) -> None:
    engine, speaker = ScriptedEngine(seconds_per_character=0.1), ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(engine, speaker)
    async with narrations(narrator) as start:
        narration = await start(TEXT)
        speaker.finish()
        await settle()
        speaker.hear(0.5)
        assert narrator.interrupt() if ending == "interrupted" else narrator.supersede()
        await settle()
        assert not speaker.playing
        assert not narrator.narrating
        narrated = narration.done
        assert narrated.ending == ending
        assert narrated.ended.played_s == pytest.approx(1.3 + 0.5)
        # Five of the fourteen characters of "Two is second." were heard: the word is "is".
        assert narrated.position == Position(1, 0.5, 4)


async def test_stop_while_the_first_sentence_is_made() -> None:
    engine, speaker = ScriptedEngine(), ScriptedSpeaker()
    engine.hold()
    narrator = Narrator(engine, speaker)
    async with narrations(narrator) as start:
        narration = await start(TEXT)
        narrator.interrupt()
        await settle()
        assert narration.done.ending is NarrationEnding.INTERRUPTED
        assert narration.done.position == Position(0)
        assert narration.done.ended.played_s == 0
        engine.release()
        assert (await narrator.narrate("And now.")).ending is NarrationEnding.COMPLETED


async def test_stop_between_two_sentences_counts_what_was_heard() -> None:
    engine, speaker = ScriptedEngine(seconds_per_character=0.1), ScriptedSpeaker()
    narrator = Narrator(engine, speaker)
    async with narrations(narrator) as start:
        engine.hold()
        narration = await start(TEXT)
        engine.release()
        engine.hold()
        await settle()
        assert len(speaker.played) == 1
        narrator.interrupt()
        await settle()
        assert narration.done.position == Position(1)
        assert narration.done.ended.played_s == pytest.approx(1.3)


async def test_stop_when_there_is_nothing_to_stop() -> None:
    narrator = Narrator(ScriptedEngine(), ScriptedSpeaker())
    assert not narrator.interrupt()
    assert not narrator.supersede()
    assert (await narrator.narrate("Hello.")).ending is NarrationEnding.COMPLETED


async def test_the_first_stop_names_the_ending() -> None:
    speaker = ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(ScriptedEngine(), speaker)
    async with narrations(narrator) as start:
        narration = await start(TEXT)
        narrator.supersede()
        narrator.interrupt()
        await settle()
        assert narration.done.ending is NarrationEnding.SUPERSEDED


async def test_texts_are_spoken_one_after_another() -> None:
    engine, speaker = ScriptedEngine(), ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(engine, speaker)
    async with narrations(narrator) as start:
        first, second, third = [await start(text) for text in ("First.", "Second.", "Third.")]
        for narration, later in ((first, second), (second, third)):
            speaker.finish()
            await settle()
            assert narration.done.ending is NarrationEnding.COMPLETED
            assert later.result is None
        assert engine.texts == ["First.", "Second.", "Third."]


async def test_stop_ends_what_waits_and_not_what_comes_after() -> None:
    engine, speaker = ScriptedEngine(), ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(engine, speaker)
    async with narrations(narrator) as start:
        first, second = await start("First."), await start("Second.")
        narrator.supersede()
        third = await start("Third.")
        assert first.done.ending is second.done.ending is NarrationEnding.SUPERSEDED
        speaker.finish()
        await settle()
        assert third.done.ending is NarrationEnding.COMPLETED
        assert engine.texts == ["First.", "Third."]


async def test_stop_and_speak_twenty_times() -> None:
    engine, speaker = ScriptedEngine(), ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(engine, speaker)
    async with narrations(narrator) as start:
        for _ in range(20):
            narration = await start(TEXT)
            narrator.interrupt()
            await settle()
            assert narration.done.ending is NarrationEnding.INTERRUPTED
        speaker.release()
        assert (await narrator.narrate(TEXT)).ending is NarrationEnding.COMPLETED


@pytest.mark.parametrize(
    ("error", "notice"),
    [
        (SpeechEngineDied("It is dead.", mend="voice doctor"), "It is dead. To mend it: voice doctor"),
        (RuntimeError("oops"), "Narration failed: RuntimeError: oops"),
    ],
)
async def test_a_broken_engine_fails_after_what_could_be_heard(error: Exception, notice: str) -> None:
    engine, speaker = ScriptedEngine(failures={SENTENCES[2]: error}), ScriptedSpeaker()
    narrated = await Narrator(engine, speaker).narrate(TEXT)
    assert narrated.ending is NarrationEnding.FAILED
    assert narrated.ended.notice == notice
    assert narrated.position == Position(2)
    assert narrated.ended.played_s == pytest.approx(sum(map(engine.duration_s, SENTENCES[:2])))
    assert len(speaker.played) == 2


async def test_a_broken_speaker_fails_where_it_broke() -> None:
    engine, speaker = ScriptedEngine(seconds_per_character=0.1), ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(engine, speaker)
    async with narrations(narrator) as start:
        narration = await start(TEXT)
        speaker.hear(0.7)
        speaker.fail(DeviceLost("The speaker is gone."))
        await settle()
        narrated = narration.done
        assert narrated.ending is NarrationEnding.FAILED
        assert narrated.ended.notice == "The speaker is gone."
        assert narrated.position == Position(0, 0.7, 7)
        speaker.release()
        assert (await narrator.narrate("Again.")).ending is NarrationEnding.COMPLETED


async def test_cancelling_the_caller_stops_the_sound_and_is_not_swallowed() -> None:
    engine, speaker = ScriptedEngine(), ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(engine, speaker)
    async with narrations(narrator) as start:
        narration = await start(TEXT)
        waiting = await start("Next.")
        narration.scope.cancel()
        await settle()
        assert narration.result is None
        assert narration.scope.cancelled_caught
        assert len(speaker.broken_off) == 1
        assert speaker.playing, "the next text has its turn"
        waiting.scope.cancel()
        await settle()
        assert not narrator.narrating


async def test_a_late_stop_does_not_undo_a_completed_narration() -> None:
    class LateSpeaker(SkippingSpeaker):
        async def play(self, sound: Sound) -> None:
            await super().play(sound)
            if self.sounds == len(SENTENCES):
                narrator.interrupt()

    narrator = Narrator(ScriptedEngine(), LateSpeaker())
    narrated = await narrator.narrate(TEXT)
    assert (narrated.ending, narrated.position) == (NarrationEnding.COMPLETED, Position(4))


async def test_a_skipping_speaker_keeps_count() -> None:
    speaker = SkippingSpeaker()
    engine = ScriptedEngine()
    narrated = await Narrator(engine, speaker).narrate(TEXT)
    assert narrated.ending is NarrationEnding.COMPLETED
    assert speaker.sounds == 4
    assert speaker.total_s == pytest.approx(narrated.ended.played_s)
    assert speaker.played_s == pytest.approx(engine.duration_s(SENTENCES[-1]))


async def test_a_text_as_one_sound() -> None:
    engine = ScriptedEngine()
    sound = await rendered(TEXT, engine)
    assert sound.duration_s == pytest.approx(sum(map(engine.duration_s, SENTENCES)))
    assert not len((await rendered("?!", engine)).samples)
    with pytest.raises(SpeechEngineDied):
        await rendered("Hello.", ScriptedEngine(failures={"Hello.": SpeechEngineDied("Dead.")}))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.99, 1.0])
async def test_the_position_is_the_beginning_of_a_word(share: float) -> None:
    engine, speaker = ScriptedEngine(), ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(engine, speaker)
    (sentence,) = speakable("Several words of different lengths, spoken")
    async with narrations(narrator) as start:
        narration = await start(sentence)
        speaker.hear(share * engine.duration_s(sentence))
        narrator.interrupt()
        await settle()
        at = narration.done.position.character
        assert at == 0 or sentence[at - 1] == " "
        assert at <= share * len(sentence)


# --- The doubles complain ---------------------------------------------------------------------------------


@pytest.mark.parametrize("sentence", ["", "a" * 2_001, "\x1b[31mred", "a\u202eb"])
async def test_the_engine_complains_of_what_is_no_sentence(sentence: str) -> None:
    with pytest.raises(Misuse):
        await ScriptedEngine().render(sentence)


async def test_the_engine_complains_of_two_sentences_at_once() -> None:
    engine = ScriptedEngine()
    engine.hold()
    async with anyio.create_task_group() as group:
        group.start_soon(engine.render, "One.")
        await settle()
        with pytest.raises(Misuse):
            await engine.render("Two.")
        engine.release()


async def test_the_speaker_complains() -> None:
    speaker = ScriptedSpeaker()
    sound = Sound(np.zeros(10, np.int16), 10)
    with pytest.raises(Misuse):
        await speaker.play(Sound(sound.samples[:0], 10))
    with pytest.raises(Misuse):
        speaker.finish()
    speaker.hold()
    async with anyio.create_task_group() as group:
        group.start_soon(speaker.play, sound)
        await speaker.begun()
        with pytest.raises(Misuse):
            await speaker.play(sound)
        speaker.release()
    assert speaker.played == [sound]


def test_a_misuse_is_not_mistaken_for_a_failing_part() -> None:
    assert not issubclass(Misuse, Exception)
    assert issubclass(SpeechEngineDied, VoiceError)
