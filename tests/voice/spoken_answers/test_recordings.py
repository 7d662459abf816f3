"""Recorded answers through the whole loop and real Whisper: each is understood, or asked for again."""

import pytest

from questionnaire import Choice, CustomRow, Option, Question
from voice.assembly import find_weights, make_transcriber
from voice.backends.recording import RecordingMicrophone
from voice.events import UserMessage
from voice.replay import replay
from voice.settings import Settings
from voice.spoken_answers import (
    LEAST_CONFIDENCE,
    Wish,
    read_spoken,
    spoken_digits,
    spoken_letters,
    yes_or_no,
)

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

WHERE = Question("Where?", (Option("Staging cluster"), Option("Throwaway VM")), custom=CustomRow("Other"))
DATABASE = Question("Which database?", (Option("SQLite"), Option("PostgreSQL")))
REALLY = Question("Really?", (Option("Yes, delete it"), Option("No, keep it")))
SECOND, FIRST = (1,), (0,)


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
async def listen(fixtures_folder):
    settings = Settings()
    async with make_transcriber(settings.transcription, find_weights(settings.transcription)) as whisper:

        async def hear(name):
            events = replay(RecordingMicrophone(fixtures_folder / name), whisper, settings)
            return [event async for event in events if isinstance(event, UserMessage)]

        yield hear


def read(question, message):
    return read_spoken(question, message.text, confidence=message.confidence)


@pytest.mark.parametrize(
    ("name", "question", "selected"),
    [
        ("second-one.wav", WHERE, SECOND),
        ("second-one-espeak.wav", WHERE, SECOND),
        ("low-level-second-one.wav", WHERE, SECOND),
        ("noise-10db-second-one.wav", WHERE, SECOND),
        ("rate-8000.wav", WHERE, SECOND),
        ("pause-500.wav", WHERE, SECOND),
        ("use-postgresql.wav", DATABASE, SECOND),
        ("yes.wav", REALLY, FIRST),
        ("yes-please.wav", REALLY, FIRST),
        ("yes-at-sample-0.wav", REALLY, FIRST),
        ("no.wav", REALLY, SECOND),
        ("no-espeak.wav", REALLY, SECOND),
    ],
)
async def test_a_recorded_answer_chooses_what_was_said(listen, name, question, selected):
    [message] = await listen(name)
    assert message.confidence >= LEAST_CONFIDENCE
    assert read(question, message) == Choice(selected), message.text


async def test_recorded_answers_that_name_no_option_choose_none(listen):
    [none] = await listen("none-of-them.wav")
    assert read(WHERE, none) == Choice(custom="None of them")
    [back] = await listen("go-back.wav")
    assert read(WHERE, back) is Wish.BACK
    for name in ("sentence-commit.wav", "sentence-server.wav", "two-sentences.wav", "pause-1400.wav"):
        [sentence] = await listen(name)
        assert read(WHERE, sentence) == Choice(custom=sentence.text)
        for question in (DATABASE, REALLY):
            assert not isinstance(read(question, sentence), Choice), sentence.text


async def test_recorded_yes_and_no_digits_and_letters(listen):
    for name, meant in (("yes.wav", True), ("yes-please.wav", True), ("no.wav", False)):
        [message] = await listen(name)
        assert yes_or_no(message.text) is meant, message.text
    for name, digits in (
        ("digits-4271.wav", "4271"),
        ("number-forty-two.wav", "42"),
        ("number-365-espeak.wav", "365"),
    ):
        [message] = await listen(name)
        assert spoken_digits(message.text) == digits, message.text
    for name, letters in (("letters-bdf.wav", "BDF"), ("letters-abc-espeak.wav", "ABC")):
        [message] = await listen(name)
        assert spoken_letters(message.text) == letters, message.text


async def test_two_recorded_turns_are_two_answers(listen):
    yes, second = await listen("two-turns-yes-second-one.wav")
    assert read(REALLY, yes) == Choice(FIRST)
    assert read(WHERE, second) == Choice(SECOND)
