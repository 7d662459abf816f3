"""The speech engine and the speaker, used; and what comes back of it where the sound server can be asked."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
import numpy as np

from voice.audio import SAMPLE_RATE, Resampler, Samples, Sound, to_float
from voice.backends.loopback import NoLoopback, Recording, monitor_of_own_stream, recorded
from voice.doctor.findings import Finding, untried, works
from voice.doctor.hearing import ANOTHER_DEVICE
from voice.tasks import in_thread, lone_errors

if TYPE_CHECKING:
    from voice.ports import Speaker
    from voice.settings import Settings, SpeakingSettings

FIRST_SOUND_S = 1.0
"""Who waits longer for the first word of an answer wonders."""

_ANOTHER_VOICE = "name one that is there in the settings, see: voice say --list-voices"

_AFTER_S = 0.7
"""What has been heard is on its way through the server for so long."""

_FINDS_WITHIN_S = 3.0
_BEGINS_WITHIN_S = 4.0
"""An idle speaker sleeps, and takes a moment to begin."""

_LOOK_S = 0.1


async def engine(settings: SpeakingSettings, sentence: str) -> tuple[Finding, Sound]:
    """Let the engine say a sentence twice: how long until the first sound, at its start and later."""
    from voice.assembly import make_engine

    async with make_engine(settings) as speech:
        begun = anyio.current_time()
        await speech.render(sentence)
        first_s = anyio.current_time() - begun
        sound = await speech.render(sentence)
        warm_s = anyio.current_time() - begun - first_s
        described = await speech.describe()
        notices = speech.notices
    told = f"{described}; first sound after {first_s:.1f} s, then {warm_s:.2f} s"
    late = warm_s > FIRST_SOUND_S
    mend = "the machine is busy, or slow: end what keeps it so" if late else None
    return works(
        "speech engine",
        told,
        mend=mend or (_ANOTHER_VOICE if notices else None),
        needed=False,
        figures={"first_sound_s": first_s, "warm_sound_s": warm_s},
        notices=notices,
    ), sound


@dataclass(frozen=True)
class Played:
    """What became of a sound that was played."""

    speaker: Finding
    loopback: Finding | None
    """Why nothing can be said of what was heard; None where there is a recording of it."""
    heard: Samples
    """At SAMPLE_RATE; empty where there is none."""


async def play(settings: Settings, sound: Sound) -> Played:
    """Play a sound on the speaker, and record what the server mixed there, where it can be asked.

    Raises `DeviceError` where there is no speaker.
    """
    from voice.assembly import make_speaker

    volume = settings.speaking.volume
    notices: list[str] = []
    speaker = make_speaker(settings.speaking, heard=True, on_notice=notices.append)
    with ExitStack() as recording:
        why: NoLoopback | None = None
        found: Recording | None = None
        try:
            found = recording.enter_context(recorded(await _monitor(speaker)))
            await _begun(found)
        except NoLoopback as error:
            why = error
        begun = anyio.current_time()
        await speaker.play(sound.scaled(volume))
        took_s = anyio.current_time() - begun
        if found is not None:
            await anyio.sleep(_AFTER_S)
        heard = found.samples if found is not None else np.zeros(0, np.int16)
    silent = "; the volume in the settings is 0" if volume == 0 else ""
    playing = works(
        "speaker",
        f"{speaker.name}, took {sound.duration_s:.1f} s of sound in {took_s:.1f} s{silent}",
        mend="set volume in [speaking], 0 to 1" if volume == 0 else ANOTHER_DEVICE if notices else None,
        needed=False,
        figures={"took_s": took_s, "sound_s": sound.duration_s},
        notices=notices,
    )
    if why is None:
        return Played(playing, None, heard)
    told = f"what the speaker gives could not be checked: {why.why}"
    return Played(playing, untried("loopback", told, why.mend), heard)


async def find(settings: SpeakingSettings) -> Finding:
    """The speaker alone, where there is nothing to play. Raises `DeviceError` where there is none."""
    from voice.backends.portaudio import find_output

    name = (await in_thread(find_output, settings.speaker)).name
    return works("speaker", f"{name}; nothing was played, for want of a voice", needed=False)


async def _monitor(speaker: Speaker) -> str:
    """The monitor of what the speaker plays on, looked for while it plays silence; raises `NoLoopback`."""
    found = await in_thread(monitor_of_own_stream)  # where there is no server it raises before anything plays
    silence = Sound(np.zeros(round(_FINDS_WITHIN_S * SAMPLE_RATE), np.int16), SAMPLE_RATE)
    with lone_errors():
        async with anyio.create_task_group() as tasks:
            ended = anyio.Event()

            async def play() -> None:
                try:
                    await speaker.play(silence)
                finally:
                    ended.set()

            tasks.start_soon(play)
            while not found and not ended.is_set():
                with anyio.move_on_after(_LOOK_S):
                    await ended.wait()
                found = await in_thread(monitor_of_own_stream)
            tasks.cancel_scope.cancel()
    if not found:
        raise NoLoopback("the speaker is none of the sound server's")
    return found


async def _begun(recording: Recording) -> None:
    """Wait until something comes of what is recorded; raises `NoLoopback` where nothing does."""
    with anyio.move_on_after(_BEGINS_WITHIN_S):
        while not len(recording.samples):  # noqa: ASYNC110 — a thread fills it
            await anyio.sleep(_LOOK_S)
    if not len(recording.samples):
        raise NoLoopback("nothing comes from what the speaker plays")


def at_16_khz(sound: Sound) -> Samples:
    """The sound as Whisper takes it."""
    resampler = Resampler(sound.rate)
    return np.concatenate([*resampler.push(to_float(sound.samples)), *resampler.flush()])
