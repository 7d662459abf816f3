"""Whole examinations: the real engine and real Whisper; microphone and speaker are doubles."""

import threading

import anyio
import numpy as np
import pytest

import voice.assembly
from voice.audio import SAMPLE_RATE, Sound
from voice.backends import loopback as server
from voice.backends import portaudio
from voice.backends.loopback import NoLoopback, monitor_of_own_stream
from voice.backends.null_speaker import SkippingSpeaker
from voice.backends.recording import RecordingMicrophone
from voice.backends.wav import write_wav
from voice.doctor import hearing, speaking
from voice.doctor.examining import Examination, examine
from voice.doctor.sentences import SENTENCES
from voice.errors import DeviceError, DeviceLost, PortAudioMissing
from voice.settings import Settings, SpeakingSettings
from voice.tasks import in_thread
from voice.testing import ScriptedTranscriber

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def microphone_of(monkeypatch, tmp_path):
    """Have the microphone hear these samples."""

    def use(samples):
        path = tmp_path / "heard.wav"
        write_wav(path, Sound(samples, SAMPLE_RATE))
        monkeypatch.setattr(voice.assembly, "make_microphone", lambda *_, **__: RecordingMicrophone(path))

    return use


@pytest.mark.slow
async def test_each_part_is_used_and_the_words_of_the_engine_come_back(monkeypatch, tmp_path, microphone_of):
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.delenv("VIVA_VOICE_SETTINGS", raising=False)
    microphone_of(np.random.default_rng(0).normal(0, 20, 4 * SAMPLE_RATE).astype(np.int16))
    monkeypatch.setattr(voice.assembly, "make_speaker", lambda *_, **__: SkippingSpeaker())
    monkeypatch.setattr(portaudio, "list_devices", list)
    monkeypatch.setenv("PATH", str(tmp_path))  # where no program of the sound server is
    found, tried = {}, []
    await examine(lambda finding: found.update({finding.part: finding}), trying=tried.append, limit_s=120)
    for part in (
        *("settings", "terminal", "journal", "voice detector", "microphone", "speech engine", "speaker"),
        *("Whisper", "transcription"),
    ):
        assert found[part].ok, found[part]
    assert found["transcription"].figures["words_back"] >= hearing.COMES_BACK
    assert found["transcription"].figures["reply_s"] > 0
    assert found["Whisper"].figures["load_s"] > 0
    assert found["speech engine"].figures["first_sound_s"] > 0
    assert (found["loopback"].mark, found["loopback"].mend) == (
        "untried",
        "sudo apt install pulseaudio-utils",
    )
    assert {"microphone", "Whisper", "speech engine"} <= set(tried)
    assert not (tmp_path / "XDG_STATE_HOME").exists()


@pytest.mark.parametrize(
    ("level", "mark", "told"),
    [(0, "BROKEN", "digital silence"), (20, "ok", "dBFS"), (1e6, "weak", "too loud")],
)
async def test_a_second_of_the_microphone_is_judged(microphone_of, level, mark, told):
    microphone_of(
        np.random.default_rng(0).normal(0, level, 4 * SAMPLE_RATE).clip(-32768, 32767).astype(np.int16)
    )
    finding = await hearing.microphone(Settings())
    assert finding.mark == mark
    assert told in finding.detail
    assert bool(finding.mend) is (mark != "ok")


async def test_what_hangs_is_told_and_the_next_part_is_tried():
    found, freed = [], threading.Event()
    examination = Examination(found.append, lambda _: None, limit_s=0.05)
    try:
        await examination._one("journal", lambda: in_thread(freed.wait), needed=False)
    finally:
        freed.set()
    assert [(finding.part, finding.mark, finding.kind) for finding in found] == [
        ("journal", "broken", "TimeoutError")
    ]
    assert "XDG_STATE_HOME" in found[0].mend


async def test_weights_on_a_disk_that_hangs_are_not_waited_for(monkeypatch):
    freed = threading.Event()
    monkeypatch.setattr(voice.assembly, "find_weights", lambda *_, **__: freed.wait())
    try:
        with pytest.raises(TimeoutError):
            async with hearing.whisper(Settings(), 0.05):
                pass
    finally:
        freed.set()


async def test_a_voice_detector_that_hangs_is_not_waited_for(monkeypatch):
    found, freed = [], threading.Event()
    monkeypatch.setattr(voice.assembly, "make_ear", lambda *_: freed.wait())
    try:
        await Examination(found.append, lambda _: None, limit_s=0.05)._detector(Settings())
    finally:
        freed.set()
    assert [(finding.part, finding.kind) for finding in found] == [("voice detector", "TimeoutError")]


@pytest.mark.parametrize(
    ("error", "mark"),
    [
        (DeviceError("There is no microphone.", mend="do"), "MISSING"),
        (PortAudioMissing("No library."), "MISSING"),
        (DeviceError("It is taken by another program."), "BROKEN"),
        (DeviceLost("It is gone."), "BROKEN"),
        (ImportError("no x", name="x"), "MISSING"),
        (OSError(5, "Bad"), "MISSING"),
        (ZeroDivisionError("a fault of ours"), "BROKEN"),
    ],
)
async def test_what_a_part_raises_is_a_finding(error, mark):
    async def fail():
        raise error

    found = []
    await Examination(found.append, lambda _: None)._one("microphone", fail)
    assert [finding.mark for finding in found] == [mark]


async def test_what_whisper_raises_is_a_finding_and_the_rest_is_told(monkeypatch):
    def unreadable(*_, **__):
        raise PermissionError(13, "Permission denied")

    async def broken(*_):
        raise DeviceError("There is no speaker.")

    monkeypatch.setattr(voice.assembly, "find_weights", unreadable)
    monkeypatch.setattr(speaking, "engine", broken)
    monkeypatch.setattr(speaking, "find", broken)
    found = []
    await Examination(found.append, lambda _: None)._sound(Settings())
    assert [(finding.part, finding.ok, finding.detail) for finding in found][-1] == (
        "Whisper",
        False,
        "Permission denied.",
    )


async def test_a_voice_that_is_not_there_is_told_and_stands_in_no_report():
    settings = SpeakingSettings(voice="Zyxanna")
    finding, sound = await speaking.engine(settings, "Yes.")
    assert (finding.mark, "“Zyxanna”" in finding.detail, "Zyxanna" in finding.public) == ("weak", True, False)
    assert "--list-voices" in finding.mend
    assert sound.duration_s > 0


@pytest.mark.parametrize(("level", "mark"), [(20, "weak"), (0, "BROKEN")])
async def test_the_microphone_that_stands_in_is_the_one_that_is_tried(monkeypatch, tmp_path, level, mark):
    path = tmp_path / "heard.wav"
    write_wav(
        path, Sound(np.random.default_rng(0).normal(0, level, 4 * SAMPLE_RATE).astype(np.int16), SAMPLE_RATE)
    )

    def make(_, on_notice, *, stand_in):
        assert stand_in
        on_notice("There is no microphone called 'zyx'. Inner is used until zyx is there again.")
        return RecordingMicrophone(path)

    monkeypatch.setattr(voice.assembly, "make_microphone", make)
    finding = await hearing.microphone(Settings())
    assert (finding.mark, "Inner is used" in finding.detail, "zyx" in finding.public) == (mark, True, False)
    assert level == 0 or "voice devices" in finding.mend


@pytest.mark.parametrize(
    ("text", "level", "mark", "told"),
    [
        (SENTENCES["en"], 1_000, "ok", "100%"),
        ("Something else entirely.", 1_000, "broken", "0%"),
        ("", 0, "broken", "muted"),
    ],
)
async def test_what_comes_back_of_the_speaker_is_compared(text, level, mark, told):
    heard = np.random.default_rng(0).normal(0, level, SAMPLE_RATE).astype(np.int16)
    transcriber = ScriptedTranscriber(*([text] if level else []))
    finding = await hearing.loopback(transcriber, heard, SENTENCES["en"], 1.0)
    assert (finding.mark, told in finding.detail) == (mark, True)


async def test_whoever_set_the_volume_to_nothing_hears_nothing():
    silence = np.zeros(SAMPLE_RATE, np.int16)
    finding = await hearing.loopback(ScriptedTranscriber(), silence, SENTENCES["en"], 0.0)
    assert finding.ok


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 1", "no PulseAudio or PipeWire"),
        ("echo no json", "too old"),
        ("exec sleep 60", "does not answer"),
    ],
)
async def test_a_sound_server_that_tells_nothing_is_no_loopback(monkeypatch, tmp_path, script, why):
    for program in ("pactl", "parec"):
        (tmp_path / program).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(server, "_ANSWERS_WITHIN_S", 0.5 if "sleep" in script else 60.0)
    with pytest.raises(NoLoopback, match=why):
        await anyio.to_thread.run_sync(monitor_of_own_stream)
