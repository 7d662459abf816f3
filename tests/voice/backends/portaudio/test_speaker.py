"""The speaker, with streams that do what devices seldom do, and one sound on its way through one of them."""

from types import SimpleNamespace

import anyio
import anyio.to_thread
import numpy as np
import pytest

from voice.audio import Sound
from voice.backends.portaudio import PortAudioSpeaker
from voice.backends.portaudio import speaker as speaker_module
from voice.backends.portaudio.playback import Playback
from voice.errors import DeviceError, DeviceLost


class Output:
    """The device's side of a playback: it takes blocks of 20 ms, and plays each 0.1 s after it got it."""

    rate, channels, latency_s = 16_000, 2, 0.1
    block = 320

    def __init__(self, playback):
        playback.prepare(self)
        self._playback = playback

    def take(self):
        out = bytearray(4 * self.block)
        when = SimpleNamespace(currentTime=10.0, outputBufferDacTime=10.0 + self.latency_s)
        self._playback.callback(memoryview(out), self.block, when, None)
        return np.frombuffer(out, np.int16).reshape(-1, self.channels)


@pytest.mark.parametrize("lead_in_s", [0.0, 0.25, 0.03])
def test_the_silence_that_leads_in_is_no_part_of_the_sound(lead_in_s):
    sound = Sound(np.arange(1, 1_601, dtype=np.int16), 16_000)
    ends_in, told = [], []
    playback = Playback(sound, ends_in.append, lambda *piece: told.append(piece), lead_in_s=lead_in_s)
    device = Output(playback)
    lead_in = round(lead_in_s * device.rate)
    given = []
    while not ends_in:
        given.append(device.take())
        if len(given) * device.block <= lead_in:
            assert playback.heard_s == 0
            assert not told
    samples = np.concatenate(given)
    assert not samples[:lead_in].any()
    assert samples[lead_in : lead_in + 1_600].T.tolist() == [sound.samples.tolist()] * 2
    # Who listens for our own voice is told the sound without the silence.
    assert (
        np.concatenate([playback.tapped(start, end) for start, end, _ in told]).tolist()
        == sound.samples.tolist()
    )
    (in_s,) = ends_in
    blocks = len(given) - 1
    assert in_s == pytest.approx(lead_in_s + 0.1 + device.latency_s - blocks * 0.02, abs=0.001)
    playback.stop(complete=True)
    assert playback.heard_s == sound.duration_s


@pytest.mark.anyio
async def test_no_samples_are_played_in_no_time(fake):
    speaker = PortAudioSpeaker()
    await speaker.play(Sound(np.zeros(0, np.int16), 16_000))
    assert speaker.played_s == 0


SPOKEN = Sound(np.arange(1, 48_001, dtype=np.int16), 16_000, ((0.0, 0), (1.0, 4), (2.0, 8)))
"""Three words of a second each."""


def plays(stream, start, seconds):
    """Whether it plays this part of them, and then nothing; 0.25 s of silence lead in."""
    taken = stream.take(0.26 + seconds)
    expected = SPOKEN.samples[start:][: len(taken) - 4_000]
    heard = taken[4_000 : 4_000 + len(expected)]
    return (
        np.array_equal(heard, expected) and not taken[:4_000].any() and not taken[4_000 + len(heard) :].any()
    )


@pytest.mark.anyio
async def test_a_sound_goes_on_at_the_word_where_its_speaker_was_pulled_out(two):
    notices, told = [], []
    speaker = PortAudioSpeaker("head", notices.append, stand_in=True)
    speaker.on_played = lambda samples, _in_s: told.extend(samples)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(speaker.play, SPOKEN)
        stream = await two.stream(1)
        assert plays(stream, 0, 1.5)
        assert speaker.name == "Headphones"
        two.names.remove("Headphones")
        stream.finish()
        stream = await two.stream(2)
        assert speaker.played_s == pytest.approx(1.0, abs=0.05), "the second word is said again"
        assert plays(stream, 16_000, 2.0)
    assert speaker.played_s == 3.0
    assert told == [*SPOKEN.samples[:24_160], *SPOKEN.samples[16_000:]]
    (notice,) = notices
    assert notice.startswith("There is no speaker called 'Headphones, ALSA' now. Fake speaks until")
    two.names.append("Headphones")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(speaker.play, SPOKEN)
        (await two.stream(3)).take(3.5)
    assert notices[1:] == ["Headphones speaks again."]


@pytest.mark.anyio
async def test_without_any_speaker_left_it_is_told_once_until_one_is_heard(two, monkeypatch):
    monkeypatch.setattr(speaker_module, "_TRY_AGAIN_S", (0.0, 0.0))
    notices = []
    speaker = PortAudioSpeaker(None, notices.append, stand_in=True)
    async with anyio.create_task_group() as tasks:

        async def play():
            with pytest.raises(DeviceLost, match="Fake is gone"):
                await speaker.play(SPOKEN)

        tasks.start_soon(play)
        stream = await two.stream(1)
        stream.take(1.0)
        two.names.clear()
        stream.finish()
    with pytest.raises(DeviceError, match="There is no speaker"):
        await speaker.play(SPOKEN)
    (notice,) = notices
    assert "Nothing can be heard of what is said" in notice


@pytest.mark.anyio
async def test_another_speaker_is_taken_in_mid_sentence(two):
    speaker = PortAudioSpeaker()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(speaker.play, SPOKEN)
        (await two.stream(1)).take(0.25 + 2.2)
        speaker.use("headphones")
        stream = await two.stream(2)
        assert plays(stream, 32_000, 1.0)
    assert (speaker.name, speaker.played_s) == ("Headphones", 3.0)


@pytest.mark.anyio
async def test_another_speaker_is_taken_that_was_chosen_while_one_was_being_opened(two):
    two.may_open.clear()
    speaker = PortAudioSpeaker("fake", stand_in=True)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(speaker.play, SPOKEN)
        await anyio.to_thread.run_sync(two.opening.wait)
        speaker.use("Headphones, ALSA")
        two.may_open.set()
        stream = await two.stream(1)
        assert plays(stream, 0, 3.0)
    assert (speaker.name, stream.device) == ("Headphones", "Headphones")


@pytest.mark.anyio
async def test_speakers_can_be_changed_as_often_as_one_likes_in_one_sound(two):
    speaker = PortAudioSpeaker()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(speaker.play, SPOKEN)
        for count, name in enumerate(["headphones", "fake"] * 3, 1):
            await two.stream(count)
            speaker.use(name)
        assert plays(await two.stream(7), 0, 3.0)
    assert speaker.name == "Fake"
