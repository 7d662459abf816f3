"""A recording (or standard input) is a microphone: what the loop makes of it, in audio time.

People who build agents replay recorded audio in their tests with this.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from voice.assembly import make_hearing, make_patience
from voice.audio import SAMPLE_RATE
from voice.backends.pacing import Pacer
from voice.backends.pcm_stdin import PcmMicrophone
from voice.backends.recording import RecordingMicrophone
from voice.events import Event, NoSpeech, SpeechStarted
from voice.loop import Silence, hear
from voice.ports import Microphone, Transcriber
from voice.settings import Settings


def source(file: str, rate: int = SAMPLE_RATE, channels: int = 1) -> Microphone:
    """The microphone that a file's name stands for; `-` is raw samples on standard input, of this shape."""
    return PcmMicrophone(rate=rate, channels=channels) if file == "-" else RecordingMicrophone(file)


async def replay_all(
    files: Sequence[tuple[str, Microphone]],
    transcriber: Transcriber,
    settings: Settings,
    *,
    asked: str = "",
    realtime: bool = False,
) -> AsyncGenerator[tuple[str, Event]]:
    """Replay one after another; yield what happens, each with the name of its file.

    All recordings are looked at before the first is heard: a bad one among them is refused with nothing done.
    One that is there twice is heard twice.
    """
    for _, microphone in files:
        if not microphone.live:
            async with microphone.open():
                pass
    for file, microphone in files:
        async with aclosing(
            replay(microphone, transcriber, settings, asked=asked, realtime=realtime)
        ) as events:
            async for event in events:
                yield file, event


async def replay(
    microphone: Microphone,
    transcriber: Transcriber,
    settings: Settings,
    *,
    asked: str = "",
    realtime: bool = False,
) -> AsyncGenerator[Event]:
    """Hear it to its end; yield what happens, the last of it `NoSpeech` if nobody spoke.

    Without ``realtime`` it runs as fast as it can, and a transcription takes the audio time that the settings
    say (``transcription.replay_delay_s``), so that two runs give the same events. With it, a recording is
    heard at the pace of speech, and a transcription takes what it takes. ``asked`` is the question that it
    answers: how long a silence ends a turn depends on that.

    Raises what the microphone raises, after what was heard before.
    """
    delay_s = None if realtime else settings.transcription.replay_delay_s
    patience = make_patience(settings)
    hearing = make_hearing(settings, transcriber, patience, transcript_after_s=delay_s)
    hearing.expect(asked)
    spoken = False
    pacer = Pacer() if realtime else None
    async with microphone.open() as heard:
        frames = pacer.pace(heard) if pacer and not microphone.live else heard
        afterwards = pacer.pace(Silence()) if pacer else Silence()
        events = hear(frames, hearing, afterwards=afterwards, end_turn_with_input=microphone.live)
        async with aclosing(events):
            async for event in events:
                spoken = spoken or isinstance(event, SpeechStarted)
                yield event
    if not spoken:
        yield NoSpeech(hearing.now_s)
