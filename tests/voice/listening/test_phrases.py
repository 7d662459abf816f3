"""The listener for phrases alone: fast, and never more than one transcription at a time."""

import pytest

from voice.audio import FRAME_S, SAMPLE_RATE, silent_frame
from voice.errors import TranscriberError
from voice.listening.phrases import EAGER_LONGEST_S, PHRASE_LONGEST_S, Overheard, PhraseListener
from voice.testing import LevelDetector, ScriptedMicrophone, ScriptedTranscriber

pytestmark = pytest.mark.anyio


class Listening:
    def __init__(self, *lines, **options):
        self.transcriber = ScriptedTranscriber(*lines)
        self.listener = PhraseListener(LevelDetector(), self.transcriber, **options)
        self.eager = False
        self.overheard = []
        self.frames = 0

    async def goes_on(self, seconds, *, spoken):
        microphone = ScriptedMicrophone()
        microphone.feed(seconds, spoken=spoken)
        microphone.end()
        async with microphone.open() as frames:
            async for frame in frames:
                self.frames += 1
                if overheard := await self.listener.push(frame, eager=self.eager):
                    self.overheard.append((self.frames * FRAME_S, overheard))

    async def skips(self, seconds):
        for _ in range(round(seconds / FRAME_S)):
            self.frames += 1
            if overheard := await self.listener.skip():
                self.overheard.append((self.frames * FRAME_S, overheard))


async def test_a_phrase_is_understood_a_third_of_a_second_after_its_last_sound():
    listening = Listening("Stop.")
    await listening.goes_on(0.5, spoken=False)
    await listening.goes_on(0.4, spoken=True)
    await listening.goes_on(0.5, spoken=False)
    ((at_s, overheard),) = listening.overheard
    assert overheard == Overheard("Stop.", pytest.approx(0.5), pytest.approx(0.9), whole=True)
    assert at_s - 0.9 < 0.35


async def test_one_is_transcribed_at_a_time_and_of_those_that_wait_the_last_three_are():
    """Symptom: a stop is lost, since something else was heard before the transcriber came to it."""
    listening = Listening("One.", "Three.", "Four.", "Five.")
    listening.transcriber.hold()
    for _ in range(5):
        await listening.goes_on(0.4, spoken=True)
        await listening.goes_on(0.4, spoken=False)
        assert len(listening.transcriber.asked) == 1
        assert listening.listener.busy
        assert not listening.listener.ready
    listening.transcriber.release()
    assert listening.listener.ready
    await listening.goes_on(0.1, spoken=False)
    assert [overheard.text for _, overheard in listening.overheard] == ["One.", "Three.", "Four.", "Five."]
    assert listening.overheard[1][1].start_s == pytest.approx(1.6)
    assert not listening.listener.busy


async def test_speech_without_end_is_heard_in_pieces_that_are_not_whole():
    listening = Listening("One.", "Two.", "Three.")
    await listening.goes_on(2.2 * PHRASE_LONGEST_S, spoken=True)
    await listening.goes_on(0.5, spoken=False)
    assert [(overheard.text, overheard.whole) for _, overheard in listening.overheard] == [
        ("One.", False),
        ("Two.", False),
        ("Three.", False),
    ]
    assert max(map(len, listening.transcriber.asked)) <= (PHRASE_LONGEST_S + 1.0) * 16_000


async def test_what_passes_unheard_ends_nothing_and_parts_what_comes_after():
    listening = Listening("Two.")
    await listening.goes_on(0.5, spoken=True)
    await listening.skips(1.0)
    await listening.goes_on(0.5, spoken=True)
    await listening.goes_on(0.5, spoken=False)
    ((_, overheard),) = listening.overheard
    assert overheard == Overheard("Two.", pytest.approx(1.5), pytest.approx(2.0), whole=True)


async def test_a_text_that_comes_when_nobody_listens_any_more_is_still_told():
    listening = Listening("Stop.")
    listening.transcriber.hold()
    await listening.goes_on(0.4, spoken=True)
    await listening.goes_on(0.4, spoken=False)
    listening.transcriber.release()
    await listening.skips(0.1)
    assert [overheard.text for _, overheard in listening.overheard] == ["Stop."]


async def test_a_failing_transcriber_and_a_sound_without_words_are_nothing():
    listening = Listening(TranscriberError("It broke."), "[Music]", "Stop.")
    for _ in range(3):
        await listening.goes_on(0.4, spoken=True)
        await listening.goes_on(0.5, spoken=False)
    assert [overheard.text for _, overheard in listening.overheard] == ["Stop."]


async def test_silence_is_not_transcribed():
    listening = Listening()
    for _ in range(200):
        assert await listening.listener.push(silent_frame()) is None


async def test_without_waiting_for_silence_the_last_sound_is_transcribed_again_and_again():
    """Symptom: our own voice goes on, no silence comes, and a stop is understood three seconds later."""
    listening = Listening("One.", "Two.", "Three.", "All.")
    listening.eager = True
    await listening.goes_on(1.3, spoken=True)
    await listening.goes_on(0.5, spoken=False)
    told = [(overheard.text, overheard.whole) for _, overheard in listening.overheard]
    assert told == [("One.", False), ("Two.", False), ("Three.", False), ("All.", True)]
    assert max(map(len, listening.transcriber.asked[:-1])) <= EAGER_LONGEST_S * SAMPLE_RATE


async def test_a_stop_is_what_the_transcriber_is_told_to_expect():
    """Symptom: a short stop is heard as "step" or "start", and the narration goes on."""
    listening = Listening("Stop.", vocabulary=["stop"])
    await listening.goes_on(0.4, spoken=True)
    await listening.goes_on(0.5, spoken=False)
    assert listening.transcriber.vocabularies == [("stop",)]
