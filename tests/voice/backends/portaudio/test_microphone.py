"""The microphone, with streams that do what devices seldom do."""

import asyncio
from contextlib import nullcontext, suppress

import anyio
import anyio.to_thread
import numpy as np
import pytest

from voice.audio import FRAME_SAMPLES
from voice.backends import pulse
from voice.backends.portaudio import PortAudioMicrophone, list_devices, opening
from voice.devices import News
from voice.errors import DeviceChanged, DeviceError, DeviceLost

NOISE = np.random.default_rng(5).integers(-20_000, 20_000, FRAME_SAMPLES * 100, dtype=np.int16)


async def take(frames, count):
    return np.concatenate([await anext(frames) for _ in range(count)])


@pytest.mark.anyio
async def test_a_listener_that_lags_loses_nothing(fake):
    microphone = PortAudioMicrophone()
    async with microphone.open() as frames:
        fake.streams[0].hear(NOISE)
        assert np.array_equal(await take(frames, 100), NOISE)
    assert microphone.name == "Fake"
    assert microphone.live


@pytest.mark.anyio
async def test_a_device_that_refuses_its_own_rate_is_opened_at_another(fake):
    fake.rates = {48_000}
    async with PortAudioMicrophone("fake").open() as frames:
        stream = fake.streams[0]
        assert (stream.samplerate, stream.channels, stream.blocksize) == (48_000, 2, 960)
        stream.hear(NOISE)
        assert len(await take(frames, 30)) == 30 * FRAME_SAMPLES


@pytest.mark.anyio
async def test_a_device_that_refuses_every_rate_is_an_error(fake):
    fake.rates = {24_000}
    with pytest.raises(DeviceError, match="Fake cannot be opened as a microphone"):
        async with PortAudioMicrophone().open():
            pass


@pytest.mark.anyio
async def test_digital_silence_is_told_once_and_its_end_too(fake):
    notices = []
    async with PortAudioMicrophone(on_notice=notices.append).open() as frames:
        fake.streams[0].hear(np.zeros(FRAME_SAMPLES * 400, np.int16))
        await take(frames, 99)
        assert notices == []
        await take(frames, 301)
        fake.streams[0].hear(NOISE)
        await take(frames, 100)
        fake.streams[0].hear(np.zeros(FRAME_SAMPLES * 100, np.int16))
        await take(frames, 100)
    muted, back, again = notices
    assert muted == again == "Fake gives digital silence: it is muted, or may not be listened to."
    assert back == "Fake gives sound again."


@pytest.mark.anyio
async def test_lost_sound_is_counted(fake):
    microphone = PortAudioMicrophone()
    async with microphone.open():
        fake.streams[0].hear(NOISE[:320], hole_s=0.0)
        fake.streams[0].hear(NOISE[:320], hole_s=0.0)
    assert microphone.lost_frames == 2


@pytest.mark.anyio
async def test_what_was_heard_before_the_loss_comes_before_it(fake):
    async with PortAudioMicrophone().open() as frames:
        fake.streams[0].hear(NOISE)
        fake.streams[0].finish()
        assert np.array_equal(await take(frames, 100), NOISE)
        with pytest.raises(DeviceLost, match="Fake is gone"):
            await anext(frames)


@pytest.mark.anyio
async def test_a_stream_without_callbacks_is_lost(fake):
    async with PortAudioMicrophone().open() as frames:
        with anyio.fail_after(60), pytest.raises(DeviceLost, match="Fake is gone"):
            await anext(frames)


@pytest.mark.anyio
async def test_a_stream_that_does_not_close_is_left_behind(fake):
    fake.may_close.clear()
    with anyio.fail_after(50):
        async with PortAudioMicrophone().open():
            pass
    fake.may_close.set()


@pytest.mark.anyio
async def test_a_short_hole_costs_no_reply_and_one_in_which_a_word_may_stand_ends_the_stream(fake):
    notices = []
    microphone = PortAudioMicrophone(on_notice=notices.append)
    async with microphone.open() as frames:
        fake.streams[0].hear(NOISE[:320])
        fake.streams[0].hear(NOISE[320:640], hole_s=0.1)
        assert np.array_equal(await take(frames, 2), NOISE[:640])
        fake.streams[0].hear(NOISE[:320], hole_s=0.7)
        with pytest.raises(DeviceLost, match=r"too busy to listen, and 0\.8 s of sound are lost"):
            await anext(frames)
    assert microphone.lost_frames == 40
    (notice,) = notices
    assert "some of it is lost" in notice


@pytest.mark.anyio
@pytest.mark.parametrize("moment", ["open", "start"])
async def test_another_microphone_is_taken_that_was_chosen_while_one_was_being_opened(two, moment):
    may, begun = getattr(two, f"may_{moment}"), getattr(two, f"{moment}ing")
    may.clear()
    microphone = PortAudioMicrophone("fake", stand_in=True)
    heard = []

    async def listen():
        while not heard:
            with suppress(DeviceChanged):
                async with microphone.open() as frames:
                    while True:
                        heard.append(await anext(frames))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await anyio.to_thread.run_sync(begun.wait)
            microphone.use("Headphones, ALSA")
            begun.clear()
            may.set()
            while two.streams[-1:] == [] or two.streams[-1].device != "Headphones":  # noqa: ASYNC110
                await anyio.sleep(0.01)
            two.streams[-1].hear(NOISE)
            while not heard:  # noqa: ASYNC110
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
    assert microphone.name == "Headphones"


@pytest.mark.anyio
async def test_a_microphone_that_cannot_be_opened_gives_way_to_the_one_that_was_chosen_meanwhile(two):
    two.may_open.clear()
    microphone = PortAudioMicrophone("fake")
    real = two.RawInputStream

    def refuse_the_first(*, device, **options):
        stream = real(device=device, **options)
        if device == 0:
            raise two.PortAudioError("Device unavailable", -9985)
        return stream

    two.RawInputStream = refuse_the_first
    async with anyio.create_task_group() as tasks:

        async def choose():
            await anyio.to_thread.run_sync(two.opening.wait)
            microphone.use("headphones")
            two.may_open.set()

        tasks.start_soon(choose)
        async with microphone.open():
            assert microphone.name == "Headphones"


@pytest.mark.anyio
@pytest.mark.parametrize(("device", "refused"), [(None, True), ("fake", False)])
async def test_what_the_speaker_plays_is_no_microphone_unless_it_was_named(
    fake, monkeypatch, device, refused
):
    monitor = News((), "fake.monitor", "Monitor of Fake", own_sound=True)
    monkeypatch.setattr(pulse, "Watch", lambda tell: Watch(tell, monitor))
    refusal = pytest.raises(DeviceLost, match="what the speaker plays") if refused else nullcontext()
    with refusal:
        async with PortAudioMicrophone(device).open():
            pass


class Watch:
    """A sound server that tells one piece of news at once, or none."""

    def __init__(self, tell, news=None):
        self.tell = tell
        if news is not None:
            tell(news)

    def close(self):
        pass


@pytest.mark.anyio
async def test_news_that_come_late_do_not_name_the_next_stream(two, monkeypatch):
    watches = []

    def watch(tell):
        watches.append(Watch(tell))
        return watches[-1]

    monkeypatch.setattr(pulse, "Watch", watch)
    microphone = PortAudioMicrophone()
    async with microphone.open():
        pass
    microphone.use("headphones")
    async with microphone.open():
        watches[0].tell(News((), "one", "One"))
        await anyio.wait_all_tasks_blocked()
        assert microphone.name == "Headphones"
        watches[1].tell(News((), "one", "One"))
        await anyio.wait_all_tasks_blocked()
        assert microphone.name == "Headphones (One)"


@pytest.mark.anyio
async def test_while_one_call_hangs_others_are_refused_and_leave_nothing_behind_at_it(fake, monkeypatch):
    monkeypatch.setattr(opening, "_OPEN_LIMIT_S", 0.1)
    monkeypatch.setattr(opening, "_PATIENCE_S", 0.1)
    fake.may_open.clear()
    for _ in range(3):
        with pytest.raises(DeviceError, match="The sound server does not answer"):
            async with PortAudioMicrophone().open():
                pass
    hanging = opening._HANGING._call
    assert len(hanging._waiters) == 0
    before = len(hanging._done_callbacks)
    with pytest.raises(DeviceError, match="does not answer"):
        async with PortAudioMicrophone().open():
            pass
    assert len(hanging._done_callbacks) == before
    monkeypatch.setattr(opening, "_PATIENCE_S", 60)
    monkeypatch.setattr(opening, "_OPEN_LIMIT_S", 60)
    fake.may_open.set()
    async with PortAudioMicrophone().open():
        pass


@pytest.mark.anyio
async def test_the_list_of_devices_is_made_anew_unless_a_stream_is_open(fake):
    microphone = PortAudioMicrophone()
    async with microphone.open():
        assert fake.initialised == 1
        await asyncio.to_thread(list_devices)
        assert fake.initialised == 1
    async with microphone.open():
        assert fake.initialised == 2


@pytest.mark.anyio
async def test_a_microphone_that_is_taken_is_stood_in_for_and_tried_again_at_the_next_opening(two):
    taken = two.RawInputStream

    def refuse(*, device, **options):
        if device == 1:
            raise two.PortAudioError("Device unavailable", -9985)
        return taken(device=device, **options)

    two.RawInputStream = refuse
    notices = []
    microphone = PortAudioMicrophone("headphones", notices.append, stand_in=True)
    async with microphone.open():
        assert microphone.name == "Fake"
    async with microphone.open():
        pass
    (notice,) = notices
    assert notice.startswith("Headphones cannot be opened as a microphone: Device unavailable. Fake is used")
    two.RawInputStream = taken
    async with microphone.open():
        assert microphone.name == "Headphones"
    with pytest.raises(DeviceError, match="no microphone called 'buds'"):
        async with PortAudioMicrophone("buds").open():
            pass


@pytest.mark.anyio
async def test_a_microphone_is_remembered_by_its_whole_name_and_never_by_its_number(two):
    microphone = PortAudioMicrophone("head")
    async with microphone.open():
        pass
    two.names[:] = ["Headphones Two", "Fake", "Headphones"]
    async with microphone.open():
        assert microphone.name == "Headphones"


@pytest.mark.anyio
async def test_another_microphone_ends_the_frames_of_this_one_after_what_it_heard(two):
    microphone = PortAudioMicrophone()
    async with microphone.open() as frames:
        two.streams[0].hear(NOISE)
        microphone.use("headphones")
        assert np.array_equal(await take(frames, 100), NOISE)
        with pytest.raises(DeviceChanged):
            await anext(frames)
    async with microphone.open():
        assert microphone.name == "Headphones"


@pytest.mark.anyio
async def test_of_more_than_30_s_for_a_listener_that_lags_the_rest_is_lost_and_counted(fake):
    microphone = PortAudioMicrophone()
    async with microphone.open() as frames:
        fake.streams[0].hear(np.tile(NOISE, 16))
        assert microphone.lost_frames == 100
        assert np.array_equal(await take(frames, 1_500), np.tile(NOISE, 15))
        with pytest.raises(DeviceLost, match=r"too busy to listen, and 2\.0 s"):
            await anext(frames)
    assert microphone.lost_frames == 100
