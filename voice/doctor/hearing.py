"""The microphone, the voice detector and Whisper, used."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import anyio
import numpy as np

from voice.audio import FRAME_S, SAMPLE_RATE, Samples
from voice.doctor.findings import Finding, fails, works
from voice.doctor.levels import judge, measured
from voice.doctor.libraries import version_of
from voice.doctor.sentences import COMES_BACK, share_back
from voice.tasks import in_thread

if TYPE_CHECKING:
    from voice.ports import Transcriber
    from voice.settings import Settings

LISTENS_S = 1.0
SILENT_S = 3.0
"""So long is listened for anything at all: some take a moment, and filters open when somebody speaks."""

WAITED_FOR_S = 0.3
"""What a short reply may take without being waited for: its transcription begins 0.2 s into a silence of at
least 0.5 s."""

ANOTHER_DEVICE = "plug it in, or name another in the settings, see: voice devices"
"""What to do where a device stands in for the one that the settings name."""

_TIMES = 3


def detector(settings: Settings) -> Finding:
    """Judge one frame with both stages. Blocks."""
    from voice.assembly import make_ear
    from voice.audio import silent_frame

    make_ear(settings.hearing).push(silent_frame())
    webrtcvad, whisper = version_of("webrtcvad-wheels"), version_of("faster-whisper")
    return works("voice detector", f"webrtcvad {webrtcvad}, Silero in faster-whisper {whisper}")


async def microphone(settings: Settings) -> Finding:
    """Listen for a second, as a conversation does: to another one where what the settings name is not there.

    Raises `DeviceError` where there is no microphone.
    """
    from voice.assembly import make_microphone

    told: list[str] = []
    device = make_microphone(settings.hearing, on_notice=told.append, stand_in=True)
    heard: list[Samples] = []
    async with device.open() as frames:
        notices = tuple(told)  # what it tells later is judged here
        async for frame in frames:
            heard.append(frame)
            seconds = len(heard) * FRAME_S
            if seconds >= SILENT_S or (seconds >= LISTENS_S and any(one.any() for one in heard)):
                break
    level = measured(np.concatenate(heard))
    judged = judge(level)
    sounds = f"{device.name}: {level.loudest_dbfs:.0f} dBFS at most, {level.floor_dbfs:.0f} mostly"
    detail = f"{sounds}; {judged.problem}" if judged.problem else sounds
    figures = {
        "loudest_dbfs": level.loudest_dbfs,
        "floor_dbfs": level.floor_dbfs,
        "clipped": level.clipped,
    }
    if judged.silent:
        besides = "".join(f". {notice}" for notice in notices)
        return fails("microphone", detail, judged.mend, private=besides, figures=figures)
    mend = judged.mend or (ANOTHER_DEVICE if notices else None)
    return works("microphone", detail, mend=mend, figures=figures, notices=notices)


@asynccontextmanager
async def whisper(settings: Settings, limit_s: float) -> AsyncIterator[tuple[Finding, Transcriber]]:
    """Load the model, which stays loaded meanwhile.

    Raises `TranscriberError` or `SettingsError`, and `TimeoutError` where it is not loaded within its limit.
    """
    from voice.assembly import make_transcriber
    from voice.backends.whisper_models import ENVIRONMENT, overruling

    model = settings.transcription.model
    with anyio.fail_after(limit_s):
        weights, size = await in_thread(_weights, settings)
    async with make_transcriber(settings.transcription, weights) as transcriber:
        begun = anyio.current_time()
        with anyio.fail_after(limit_s):
            await transcriber.ready()
        took_s = anyio.current_time() - begun
        overruled = f"; {ENVIRONMENT} overrules {model}" if overruling(model) else ""
        told = f"CTranslate2 {version_of('ctranslate2')}, loaded in {took_s:.1f} s"
        yield (
            works(
                "Whisper",
                f"{told}, weights of {size / 1e6:.0f} MB",
                private=f" in {weights}{overruled}",
                figures={"load_s": took_s},
            ),
            transcriber,
        )


def _weights(settings: Settings) -> tuple[Path, int]:
    """Where they are, and of how many bytes; raises as `find_weights` does. Blocks."""
    from voice.assembly import find_weights

    weights = find_weights(settings.transcription, download=False)
    return weights, (weights / "model.bin").stat().st_size


async def transcription(transcriber: Transcriber, sound: Samples, sentence: str) -> Finding:
    """Let Whisper hear what the engine says: how long that takes, and whether the words come back."""
    texts, seconds = [], []
    for _ in range(_TIMES):
        begun = anyio.current_time()
        texts.append((await transcriber.submit(sound).result()).text)
        seconds.append(anyio.current_time() - begun)
    took_s, share = median(seconds), share_back(sentence, texts[-1])
    figures = {"reply_s": took_s, "words_back": share}
    told = f"a reply of {len(sound) / SAMPLE_RATE:.1f} s in {took_s:.2f} s"
    if share < COMES_BACK:
        return fails(
            "transcription",
            f"{told}; {share:.0%} of the words came back",
            "take other weights, such as --model tiny.en, or the language that the model knows",
            private=f": of {sentence!r} {texts[-1]!r}",
            needed=False,
            figures=figures,
        )
    late = took_s > WAITED_FOR_S
    return works(
        "transcription",
        f"{told}, {share:.0%} of the words came back{'; you will wait for it' if late else ''}",
        mend="see which model fits this machine: voice calibrate" if late else None,
        figures=figures,
    )


async def loopback(transcriber: Transcriber, heard: Samples, sentence: str, volume: float) -> Finding:
    """Whether what came back of what the speaker was given is the sentence."""
    level = measured(heard)
    figures = {"loudest_dbfs": level.loudest_dbfs}

    if level.loudest_dbfs < QUIET_DBFS:
        if volume == 0:
            return works("loopback", "silent, as the settings say", needed=False)
        return fails(
            "loopback",
            "what was played did not come back: the speaker is muted or turned down to nothing",
            "turn it up in the system's sound settings",
            needed=False,
            figures=figures,
        )
    text = (await transcriber.submit(heard).result()).text
    figures["words_back"] = share = share_back(sentence, text)
    told = f"{share:.0%} of the spoken words came back, {level.loudest_dbfs:.0f} dBFS at most"
    if share < COMES_BACK:
        mend = "something else plays there too, or the sound is broken up: end what plays, and try again"
        return fails("loopback", told, mend, needed=False, figures=figures)
    return works("loopback", told, needed=False, figures=figures)


QUIET_DBFS = -70.0
"""What is quieter nobody hears."""
