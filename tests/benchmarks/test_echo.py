"""A room, made up: what the benchmark of our own voice stands on, and a small part of it."""

import json

import anyio
import numpy as np
import pytest
from echo import Bench, Heard, _delivered, narrated, replies_of_people
from narrations import NARRATIONS
from rooms import SPEECH_DBFS, Scene, Spoken, act, at_level, impulse, spoken

from voice.assembly import find_weights, make_transcriber
from voice.audio import FRAME_SAMPLES, SAMPLE_RATE, Sound, level_dbfs
from voice.events import Discarded, DiscardReason, SpeechStarted, UserMessage
from voice.floor import Duplex
from voice.settings import Settings

pytestmark = pytest.mark.anyio


def narration(seconds=2.0):
    sound = Sound(np.random.default_rng(1).normal(0, 3_000, round(seconds * 22_050)).astype(np.int16), 22_050)
    return spoken("One. Two.", [("One.", sound), ("Two.", sound)])


def test_there_are_more_than_a_hundred_narrations_and_no_two_are_alike():
    assert len(set(NARRATIONS)) >= 100


def test_sentences_follow_each_other_after_a_second():
    made = narration()
    assert made.sentences == (("One.", 1.0, 3.0), ("Two.", pytest.approx(3.1), pytest.approx(5.1)))
    assert not made.samples[:SAMPLE_RATE].any()


def test_the_echo_is_as_loud_as_it_is_said_to_be_and_later_than_what_is_played():
    scene = Scene(narration(), -12)
    heard = np.concatenate([scene.heard(index) for index in range(scene.length)])
    assert level_dbfs(heard[2 * SAMPLE_RATE : 3 * SAMPLE_RATE]) == pytest.approx(SPEECH_DBFS - 12, abs=2)
    assert level_dbfs(heard[: SAMPLE_RATE + FRAME_SAMPLES]) < -55


def test_a_narration_that_is_stopped_dies_away():
    scene = Scene(narration(), -6)
    scene.silence(2.0)
    heard = np.concatenate([scene.heard(index) for index in range(scene.length)])
    assert level_dbfs(heard[round(1.9 * SAMPLE_RATE) : 2 * SAMPLE_RATE]) > -35
    assert level_dbfs(heard[3 * SAMPLE_RATE :]) < -55
    assert scene.stopped_s == pytest.approx(2.1)


def test_a_room_answers_after_a_moment_and_dies_away():
    answer = impulse(1)
    assert not answer[:90].any()
    assert np.abs(answer[-100:]).max() < 0.001


def test_a_reply_is_heard_at_its_level():
    reply = at_level(np.random.default_rng(2).normal(0, 50, SAMPLE_RATE), SPEECH_DBFS)
    assert level_dbfs(reply.astype(np.int16)) == pytest.approx(SPEECH_DBFS, abs=0.1)


class WatchingEars:
    """Ears that write down what they are told."""

    def __init__(self):
        self.told = []
        self.frames = 0

    def narration(self):
        ears = self

        class Narration:
            def __enter__(self):
                ears.told.append(("begins", ears.frames))

            def __exit__(self, *_):
                ears.told.append(("ends", ears.frames))

        return Narration()

    def on_sentence(self, sentence):
        self.told.append((sentence, self.frames))

    def on_played(self, samples, in_s):
        self.told.append(("played" if len(samples) else "silent", self.frames))

    async def push(self, frame):
        self.frames += 1
        return [SpeechStarted(2.0)] if self.frames == 100 else []


async def test_the_ears_are_told_what_is_said_and_played_and_when_it_is_over():
    ears = WatchingEars()
    await act(Scene(narration(), -12), ears, stops=False)
    assert [what for what, _ in ears.told] == [
        "begins", "One.", "played", "Two.", "played", "ends", "silent",
    ]  # fmt: skip
    stopped = WatchingEars()
    happened = await act(Scene(narration(), -12), stopped, stops=True, tap=False)
    assert stopped.told == [("begins", 50), ("One.", 50), ("ends", pytest.approx(105, abs=1))]
    assert happened == [(pytest.approx(1.98), SpeechStarted(2.0))]


def test_what_is_delivered_is_told_from_what_is_ours():
    (reply, *_) = replies_of_people(3)[1]
    scene = Scene(narration(), None, reply.samples, 2.0)

    def message(text, start_s, end_s):
        from voice.events import Span

        return (9.0, UserMessage(text, "voice", 9.0, Span(start_s, end_s)))

    heard = Heard(scene, [message("One.", 1.0, 1.5), message("Yes.", 2.2, 2.6)])
    assert _delivered([(reply, heard)], {reply.name: "yes"}) == ["1", "1 (100.0 %)", "1 (100.0 %)", "1"]


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_real_narrations_in_an_open_microphone_are_no_messages(tmp_path, anyio_backend):
    """Symptom: an agent transcribes its own narration, and answers itself."""
    settings = Settings()
    with anyio.fail_after(300):
        narrations: list[Spoken] = await narrated(settings, (NARRATIONS[1], NARRATIONS[44]))
        async with make_transcriber(settings.transcription, find_weights(settings.transcription)) as whisper:
            bench = Bench(whisper, settings, tmp_path / "details")
            reasons = []
            for seed, one in enumerate(narrations):
                for duplex, stops in (
                    (Duplex.HEADPHONES, False),
                    (Duplex.HEADPHONES, True),
                    (Duplex.HALF, False),
                ):
                    heard = await bench.hear(
                        "small", Scene(one, -12, seed=seed), bench.ears(duplex), stops=stops
                    )
                    assert not heard.messages
                    reasons += [event.reason for _, event in heard.happened if isinstance(event, Discarded)]
    assert reasons == [DiscardReason.ECHO] * 4
    assert len([json.loads(line) for line in (tmp_path / "details").read_text().splitlines()]) == 6
