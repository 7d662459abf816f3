"""Narration with scripted parts, on both event loops; time passes when the test says so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import anyio
import anyio.lowlevel
import numpy as np
import pytest

from voice.audio import Sound
from voice.backends.null_speaker import SkippingSpeaker
from voice.errors import DeviceLost, SpeechEngineDied, VoiceError
from voice.events import NarrationEnding
from voice.speaking.earcons import Earcon, sound_of
from voice.speaking.manner import Manner
from voice.speaking.narrator import Narrated, Narrator, Position, rendered
from voice.speaking.speakable import speakable
from voice.speaking.writing import Writing
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


class Start(Protocol):
    async def __call__(self, text: str | Writing, at: Position | None = None) -> Started: ...


@asynccontextmanager
async def narrations(narrator: Narrator) -> AsyncIterator[Start]:
    async def run(text: str | Writing, at: Position | None, started: Started) -> None:
        with started.scope:
            started.result = await narrator.narrate(text, start=at)

    async def start(text: str | Writing, at: Position | None = None) -> Started:
        started = Started()
        group.start_soon(run, text, at, started)
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


# --- A text that is being written ------------------------------------------------------------------------


async def test_the_first_sentence_is_heard_while_later_ones_are_written() -> None:
    engine, speaker, writing = ScriptedEngine(), ScriptedSpeaker(), Writing()
    async with narrations(Narrator(engine, speaker)) as start:
        narration = await start(writing)
        writing.add("One is fi")
        await settle()
        assert not engine.texts
        writing.add("rst. Two is ")
        await settle()
        assert len(speaker.played) == 1
        writing.add("second. ```py\nx")
        await settle()
        assert engine.texts == ["One is first."]
        writing.end()
        await settle()
        assert narration.done.ending is NarrationEnding.COMPLETED
        assert narration.done.ended.text == writing.text
        assert narration.done.sentences == tuple(speakable(writing.text)) == tuple(engine.texts)


async def test_a_text_that_stops_being_written_can_be_gone_on_with() -> None:
    engine, speaker, writing = ScriptedEngine(), ScriptedSpeaker(), Writing()
    narrator = Narrator(engine, speaker)
    async with narrations(narrator) as start:
        narration = await start(writing)
        writing.add(TEXT[:30])
        await settle()
        narrator.interrupt()
        await settle()
        writing.add(TEXT[30:])
        assert narration.done.position == Position(1)
        assert (await narrator.narrate(TEXT, start=narration.done.position)).position == Position(4)
        assert engine.texts == list(SENTENCES)


async def test_a_writing_that_is_narrated_again_goes_on_at_its_position() -> None:
    engine, speaker, writing = ScriptedEngine(seconds_per_character=0.1), ScriptedSpeaker(), Writing()
    speaker.hold()
    narrator = Narrator(engine, speaker)
    async with narrations(narrator) as start:
        narration = await start(writing)
        writing.add(TEXT[:20])
        await settle()
        writing.add(TEXT[20:40])
        speaker.finish()
        await settle()
        speaker.hear(0.5)
        narrator.interrupt()
        await settle()
        engine.texts.clear()
        again = await start(writing, narration.done.position)
        speaker.release()
        writing.add(TEXT[40:])
        writing.end()
        await settle()
        assert engine.texts == ["is second.", *SENTENCES[2:]]
        assert again.done.ended.text == TEXT


async def test_a_writer_that_fails_is_told_after_what_could_be_heard() -> None:
    async def writer() -> AsyncIterator[str]:
        yield "One is first. Two "
        raise RuntimeError("oops")

    speaker = ScriptedSpeaker()
    narrated = await Narrator(ScriptedEngine(), speaker).narrate(writer())
    assert (narrated.ending, len(speaker.played)) == (NarrationEnding.FAILED, 1)
    assert "oops" in narrated.ended.notice


async def test_nothing_is_written() -> None:
    writing = Writing()
    writing.end()
    writing.add("too late")
    narrated = await Narrator(ScriptedEngine(), ScriptedSpeaker()).narrate(writing)
    assert (narrated.ending, narrated.ended.text) == (NarrationEnding.COMPLETED, "")


# --- Going on, and again -----------------------------------------------------------------------------------


async def test_it_goes_on_at_the_word() -> None:
    engine, speaker = ScriptedEngine(seconds_per_character=0.1), ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(engine, speaker)
    async with narrations(narrator) as start:
        narration = await start(TEXT)
        speaker.finish()
        await settle()
        speaker.hear(0.5)
        narrator.interrupt()
        await settle()
        at = narration.done.position
        engine.texts.clear()
        again = await start(TEXT, at)
        assert engine.texts[0] == "is second."
        # Interrupted once more, it knows its place in the whole sentence.
        speaker.hear(0.35)
        narrator.interrupt()
        await settle()
        assert again.done.position == Position(1, 0.35, len("Two is "))
        speaker.release()
        engine.texts.clear()
        last = await narrator.narrate(TEXT, start=again.done.position)
        assert engine.texts == ["second.", *SENTENCES[2:]]
        assert (last.ending, last.position) == (NarrationEnding.COMPLETED, Position(4))


@pytest.mark.parametrize("at", [Position(4), Position(9), Position(9, 1.0, 5)])
async def test_there_is_nothing_after_the_end(at: Position) -> None:
    engine = ScriptedEngine()
    narrated = await Narrator(engine, ScriptedSpeaker()).narrate(TEXT, start=at)
    assert narrated.ending is NarrationEnding.COMPLETED
    assert not engine.texts


async def test_the_words_times_that_an_engine_tells_are_taken() -> None:
    class TellingEngine(ScriptedEngine):
        async def render(self, sentence: str, *, rate: float = 1.0) -> Sound:
            sound = await super().render(sentence, rate=rate)
            return Sound(sound.samples, sound.rate, words=((0.0, 0), (0.1, 4), (0.9, 7)))

    speaker = ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(TellingEngine(seconds_per_character=0.1), speaker)
    async with narrations(narrator) as start:
        narration = await start("One is first.")
        speaker.hear(0.89)
        narrator.interrupt()
        await settle()
        assert narration.done.position.character == 4


async def test_what_was_heard_last_can_be_said_again_and_slowly() -> None:
    engine, speaker = ScriptedEngine(), ScriptedSpeaker()
    narrator = Narrator(engine, speaker)
    assert narrator.last is None
    await narrator.narrate("One is first.")
    await narrator.narrate("---")
    assert narrator.last is not None
    await narrator.narrate(narrator.last.ended.text, slowly=True)
    quick, slow = speaker.played
    assert slow.duration_s > 1.2 * quick.duration_s


async def test_a_long_text_ends_with_how_much_is_left() -> None:
    engine = ScriptedEngine()
    narrator = Narrator(engine, ScriptedSpeaker(), longest_sentences=2)
    text = "\n\n".join(f"Line {number}." for number in range(10))
    narrated = await narrator.narrate(text)
    assert engine.texts == ["Line 0.", "Line 1.", "and 8 more lines on the screen"]
    assert (narrated.ending, narrated.position) == (NarrationEnding.COMPLETED, Position(2))
    assert len(narrated.sentences) == 10
    engine.texts.clear()
    await narrator.narrate(text, start=narrated.position)
    assert engine.texts == ["Line 2.", "Line 3.", "and 6 more lines on the screen"]


async def test_how_much_is_left_is_told_when_it_is_known() -> None:
    engine, writing = ScriptedEngine(), Writing()
    narrator = Narrator(engine, ScriptedSpeaker(), longest_sentences=2)
    async with narrations(narrator) as start:
        await start(writing)
        for number in range(10):
            writing.add(f"Line {number}.\n\n")
        await settle()
        assert engine.texts == ["Line 0.", "Line 1."]
        writing.end()
        await settle()
        assert engine.texts[2:] == ["and 8 more lines on the screen"]


async def test_the_question_at_the_end_of_a_long_text_is_heard_also_while_it_is_written() -> None:
    engine, writing = ScriptedEngine(), Writing()
    narrator = Narrator(engine, ScriptedSpeaker(), longest_sentences=2)
    async with narrations(narrator) as start:
        narration = await start(writing)
        for number in range(10):
            writing.add(f"Line {number}.\n\n")
        writing.add("Shall I go on?")
        await settle()
        assert engine.texts == ["Line 0.", "Line 1."]
        writing.end()
        await settle()
        assert engine.texts[2:] == ["and 8 more lines on the screen", "Shall I go on?"]
        assert narration.done.position == Position(2)


async def test_stopped_in_that_question_it_goes_on_there() -> None:
    engine, speaker = ScriptedEngine(), ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(engine, speaker, longest_sentences=1)
    text = "One.\n\nTwo.\n\nThree.\n\nReally so?"
    async with narrations(narrator) as start:
        narration = await start(text)
        for _ in range(2):
            speaker.finish()
            await settle()
        speaker.hear(0.1)
        narrator.interrupt()
        await settle()
        assert narration.done.position.sentence == 3
    engine.texts.clear()
    speaker.release()
    await narrator.narrate(text, start=narration.done.position)
    assert engine.texts == ["Really so?"]


async def test_stopped_while_it_tells_how_much_is_left_it_goes_on_with_that() -> None:
    engine, speaker = ScriptedEngine(), ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(engine, speaker, longest_sentences=1)
    async with narrations(narrator) as start:
        narration = await start("One.\n\nTwo.\n\nThree.")
        speaker.finish()
        await settle()
        speaker.hear(1.0)
        narrator.interrupt()
        await settle()
        assert narration.done.position == Position(1, 1.0)
        assert narration.done.broken_off == "and 2 more lines on the"


# --- Faster, slower, louder, quieter -----------------------------------------------------------------------


async def test_another_rate_holds_from_the_next_sentence_on() -> None:
    engine, speaker = ScriptedEngine(), ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(engine, speaker)
    async with narrations(narrator) as start:
        narration = await start(TEXT)
        assert len(engine.rendered) > 1, "later ones are ready, at the rate of before"
        narrator.manner = Manner(rate=2.0)
        speaker.release()
        await settle()
        assert narration.done.ending is NarrationEnding.COMPLETED
    rates = [
        engine.duration_s(text) / sound.duration_s
        for text, sound in zip(SENTENCES, speaker.played, strict=True)
    ]
    assert rates == pytest.approx([1, 2, 2, 2], rel=0.01)
    assert narration.done.ended.played_s == pytest.approx(sum(sound.duration_s for sound in speaker.played))


async def test_another_volume_holds_from_the_next_sentence_on() -> None:
    class LoudEngine(ScriptedEngine):
        async def render(self, sentence: str, *, rate: float = 1.0) -> Sound:
            sound = await super().render(sentence, rate=rate)
            return Sound(np.full_like(sound.samples, 10_000), sound.rate)

    speaker = ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(LoudEngine(), speaker, manner=Manner(volume=0.8))
    async with narrations(narrator) as start:
        await start(TEXT)
        narrator.manner = Manner(volume=0.3)
        speaker.release()
        await settle()
    assert [int(sound.samples[0]) for sound in speaker.played] == [8_000, 3_000, 3_000, 3_000]


# --- What is being heard -----------------------------------------------------------------------------------


async def test_it_tells_which_sentence_is_heard_and_when_nothing_is() -> None:
    engine, speaker, writing = ScriptedEngine(), ScriptedSpeaker(), Writing()
    speaker.hold()
    narrator = Narrator(engine, speaker)
    told: list[str | None] = []
    narrator.on_sentence = told.append
    async with narrations(narrator) as start:
        await start(writing)
        assert not told
        writing.add("One is first. Two is second. Three ")
        await settle()
        assert told == [narrator.sentence] == ["One is first."]
        speaker.finish()
        await settle()
        assert told[1:] == ["Two is second."]
        speaker.finish()
        await settle()
        assert told[2:] == [None], "it waits for the writer"
        assert narrator.narrating
        writing.add("is third. Four ")
        await settle()
        assert told[3:] == ["Three is third."]
        narrator.interrupt()
        await settle()
        assert told[4:] == [None]
        assert narrator.sentence is None


@pytest.mark.parametrize(("failure", "told_until"), [(None, 4), ("engine", 2), ("speaker", 1)])
async def test_it_tells_that_nothing_is_heard_by_whatever_way_it_ends(
    failure: str | None, told_until: int
) -> None:
    engine, speaker = (
        ScriptedEngine(failures={SENTENCES[2]: RuntimeError()} if failure == "engine" else {}),
        ScriptedSpeaker(),
    )
    narrator = Narrator(engine, speaker)
    told: list[str | None] = []
    narrator.on_sentence = told.append
    if failure == "speaker":
        speaker.fail(DeviceLost("Gone."))
    await narrator.narrate(TEXT)
    assert told[0] == SENTENCES[0]
    assert told[-1] is None
    assert [sentence for sentence in told if sentence] == list(SENTENCES[:told_until])


# --- Earcons ---------------------------------------------------------------------------------------------


async def test_an_earcon_is_heard_while_nothing_is_said() -> None:
    speaker = ScriptedSpeaker()
    narrator = Narrator(ScriptedEngine(), speaker, manner=Manner(volume=0.5))
    assert await narrator.earcon(Earcon.SENT)
    (sound,) = speaker.played
    assert np.array_equal(sound.samples, sound_of(Earcon.SENT, 0.5).samples)


async def test_an_earcon_is_dropped_while_a_sentence_is_heard() -> None:
    speaker = ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(ScriptedEngine(), speaker)
    async with narrations(narrator) as start:
        narration = await start("One is first.")
        assert not await narrator.earcon(Earcon.HEARD)
        speaker.finish()
        await settle()
        assert narration.done.ending is NarrationEnding.COMPLETED
        assert len(speaker.played) == 1


async def test_a_sentence_cuts_an_earcon_off_and_never_waits() -> None:
    speaker = ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(ScriptedEngine(), speaker)
    heard: list[bool] = []

    async def play() -> None:
        heard.append(await narrator.earcon(Earcon.SENT))

    async with narrations(narrator) as start, anyio.create_task_group() as group:
        group.start_soon(play)
        await speaker.begun()
        await start("One is first.")
        assert heard == [False]
        assert len(speaker.broken_off) == 1
        assert speaker.playing
        assert narrator.sentence == "One is first."
        speaker.finish()


async def test_an_earcon_that_waits_is_dropped_for_a_newer_one() -> None:
    speaker = ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(ScriptedEngine(), speaker)
    heard: dict[Earcon, bool] = {}

    async def play(earcon: Earcon) -> None:
        heard[earcon] = await narrator.earcon(earcon)

    async with anyio.create_task_group() as group:
        for earcon in (Earcon.HEARD, Earcon.NOT_SENT, Earcon.SENT):
            group.start_soon(play, earcon)
            await settle()
        speaker.release()
    assert heard == {Earcon.HEARD: True, Earcon.NOT_SENT: False, Earcon.SENT: True}


async def test_earcons_can_be_switched_off() -> None:
    speaker = ScriptedSpeaker()
    narrator = Narrator(ScriptedEngine(), speaker, earcons={Earcon.OFF})
    assert [await narrator.earcon(earcon) for earcon in Earcon] == [earcon is Earcon.OFF for earcon in Earcon]
    narrator.manner = Manner(volume=0.0)
    assert not await narrator.earcon(Earcon.OFF)
    assert len(speaker.played) == 1


async def test_an_earcon_on_a_broken_speaker_is_no_error() -> None:
    speaker = ScriptedSpeaker()
    speaker.fail(DeviceLost("Gone."))
    narrator = Narrator(ScriptedEngine(), speaker)
    assert not await narrator.earcon(Earcon.SENT)
    assert await narrator.earcon(Earcon.SENT)


async def test_an_earcon_whose_caller_is_cancelled_falls_silent() -> None:
    speaker = ScriptedSpeaker()
    speaker.hold()
    narrator = Narrator(ScriptedEngine(), speaker)
    async with anyio.create_task_group() as group:
        group.start_soon(narrator.earcon, Earcon.SENT)
        await speaker.begun()
        group.cancel_scope.cancel()
    assert not speaker.playing
    speaker.release()
    assert (await narrator.narrate("One.")).ending is NarrationEnding.COMPLETED


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
