"""Parts that fail when they are told to, in virtual time: each fault looks as it does at its port."""

import anyio
import pytest

from voice import faulty
from voice.audio import Sound, silent_frame
from voice.backends.portaudio import opening
from voice.errors import (
    DeviceError,
    DeviceLost,
    HostDied,
    HostError,
    SpeechEngineDied,
    SpeechEngineError,
    TranscriberDied,
    TranscriberError,
)
from voice.events import AgentStarted, HostLost
from voice.faulty import (
    BURST_S,
    LOST_AFTER_S,
    OPEN_LIMIT_S,
    SLOW_S,
    Fault,
    FaultyEngine,
    FaultyHost,
    FaultyJournal,
    FaultyMicrophone,
    FaultySpeaker,
    FaultyTranscriber,
)
from voice.journal import writer
from voice.scenes.clock import in_virtual_time
from voice.testing import (
    ScriptedEngine,
    ScriptedHost,
    ScriptedJournal,
    ScriptedMicrophone,
    ScriptedSpeaker,
    ScriptedTranscriber,
)

SOUND = Sound(silent_frame(), 16_000)


def test_limits_and_sentences_are_those_of_the_real_parts():
    assert opening._OPEN_LIMIT_S == OPEN_LIMIT_S
    assert BURST_S < LOST_AFTER_S
    assert writer.WRITTEN_WITHIN_S == faulty.WRITTEN_LIMIT_S
    assert (writer._FAILS, writer._SLOW) == (faulty.NOT_KEPT, faulty.NOT_WAITED_FOR)


def after(seconds, act):
    """Do it in that time, beside the rest."""

    async def wait():
        await anyio.sleep(seconds)
        act()

    return wait


@pytest.mark.parametrize(
    ("fault", "error"), [(Fault.KILLED, TranscriberDied), (Fault.ERRORS, TranscriberError)]
)
def test_what_has_no_text_yet_fails_with_its_transcriber(fault, error):
    async def main():
        inner = ScriptedTranscriber("one", "two", "three")
        transcriber = FaultyTranscriber(inner)
        assert (await transcriber.submit(silent_frame()).result()).text == "one"
        inner.hold()
        second = transcriber.submit(silent_frame())
        transcriber.strike(fault)
        for pending in (second, transcriber.submit(silent_frame())):
            assert pending.done
            with pytest.raises(error):
                await pending.result()

    in_virtual_time(main)


def test_a_transcriber_that_hangs_answers_when_it_goes_on_and_a_slow_one_late():
    async def main():
        transcriber = FaultyTranscriber(ScriptedTranscriber("one", "two"))
        transcriber.strike(Fault.HANGS)
        pending = transcriber.submit(silent_frame())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(after(30, transcriber.mend))
            assert (await pending.result()).text == "one"
        assert anyio.current_time() == pytest.approx(30, abs=0.1)
        transcriber.strike(Fault.SLOW)
        await transcriber.submit(silent_frame()).result()
        assert anyio.current_time() == pytest.approx(30 + SLOW_S, abs=0.2)
        assert transcriber.met == 2

    in_virtual_time(main)


@pytest.mark.parametrize(
    ("fault", "error", "again"),
    [
        (Fault.KILLED, DeviceLost, DeviceError),
        (Fault.HANGS, DeviceLost, DeviceError),
        (Fault.ERRORS, DeviceLost, None),
    ],
)
def test_a_microphone_is_lost_and_can_be_opened_again_or_not(fault, error, again):
    async def main():
        inner = ScriptedMicrophone()
        microphone = FaultyMicrophone(inner)
        inner.feed(1.0, spoken=False)
        async with microphone.open() as frames:
            await anext(frames)
            microphone.strike(fault)
            began_s = anyio.current_time()
            with pytest.raises(error):
                await anext(frames)
        assert anyio.current_time() - began_s == pytest.approx(LOST_AFTER_S if fault is Fault.HANGS else 0)
        if again is not None:
            with pytest.raises(again):
                async with microphone.open():
                    pass
            microphone.mend()
        async with microphone.open() as frames:
            await anext(frames)

    in_virtual_time(main)


def test_a_slow_microphone_gives_all_of_it_in_bursts():
    async def main():
        inner = ScriptedMicrophone()
        microphone = FaultyMicrophone(inner)
        inner.feed(0.5, spoken=False)
        async with microphone.open() as frames:
            microphone.strike(Fault.SLOW)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(after(2, lambda: inner.feed(0.5, spoken=False)))
                for _ in range(26):
                    await anext(frames)
                assert anyio.current_time() == pytest.approx(2)

    in_virtual_time(main)


def test_a_speaker_breaks_off_where_it_is():
    async def main():
        inner = ScriptedSpeaker()
        inner.hold()
        speaker = FaultySpeaker(inner)
        for fault, took_s in ((Fault.KILLED, 1), (Fault.HANGS, 1 + LOST_AFTER_S), (Fault.ERRORS, 1)):
            speaker.mend()
            began_s = anyio.current_time()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(after(1, lambda fault=fault: speaker.strike(fault)))
                with pytest.raises(DeviceLost):
                    await speaker.play(SOUND)
            assert anyio.current_time() - began_s == pytest.approx(took_s)
            if fault is not Fault.ERRORS:
                began_s = anyio.current_time()
                with pytest.raises(DeviceError):
                    await speaker.play(SOUND)
                hung_s = OPEN_LIMIT_S if fault is Fault.HANGS else 0
                assert anyio.current_time() - began_s == pytest.approx(hung_s)
        inner.release()
        await speaker.play(SOUND)
        assert len(inner.played) == 1

    in_virtual_time(main)


@pytest.mark.parametrize(
    ("fault", "error"), [(Fault.KILLED, SpeechEngineDied), (Fault.ERRORS, SpeechEngineError)]
)
def test_an_engine_fails_until_it_is_mended(fault, error):
    async def main():
        engine = FaultyEngine(ScriptedEngine())
        engine.strike(fault)
        with pytest.raises(error):
            await engine.render("Hello.")
        engine.mend()
        await engine.render("Hello.")

    in_virtual_time(main)


def test_a_host_tells_its_death_and_what_it_did_while_it_hung():
    async def main():
        told = []
        host = FaultyHost(ScriptedHost, told.append)
        async with host.open():
            host.strike(Fault.HANGS)
            host.inner.begin()
            assert told == []
            host.mend()
            assert told == [AgentStarted()]
            host.strike(Fault.ERRORS)
            with pytest.raises(HostError):
                await host.send("hello")
            host.strike(Fault.KILLED)
            assert isinstance(told[-1], HostLost)
            assert not host.busy
            with pytest.raises(HostDied):
                await host.send("hello")
        with pytest.raises(HostError):
            async with host.open():
                pass
        host.mend()
        async with host.open():
            await host.send("hello")

    in_virtual_time(main)


@pytest.mark.parametrize("fault", [Fault.KILLED, Fault.ERRORS, Fault.HANGS])
def test_a_disk_that_takes_nothing_is_told_once_and_what_is_kept_stays(fault):
    async def main():
        told, inner = [], ScriptedJournal()
        journal = FaultyJournal(inner, told.append)
        before = journal.begin(silent_frame())
        journal.strike(fault)
        lost = journal.begin(silent_frame())
        for name in (before, lost):
            journal.append(name, silent_frame())
            await journal.written()
            journal.decided([name], "Hello.")
            journal.accepted([name])
        assert len(told) == 1
        journal.mend()
        assert inner.entries == {}
        assert list(inner.forgotten) == [before]

    in_virtual_time(main)
