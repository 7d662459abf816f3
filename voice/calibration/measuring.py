"""What a model costs on this machine, and what the microphone hears of the room."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from voice.assembly import make_detector, make_engine, make_microphone
from voice.audio import FRAME_S, SAMPLE_RATE, SILENCE_DBFS, Resampler, Samples, to_float
from voice.backends.whisper import THREADS, WhisperTranscriber
from voice.backends.whisper_models import ENVIRONMENT, find_model, languages, named_folder
from voice.calibration.choosing import Cost, Room
from voice.errors import SpeechEngineError, TranscriberError
from voice.settings import Settings, TranscriptionSettings

SIZES = ("tiny", "base", "small", "medium", "large-v3-turbo", "large-v3")
"""Those that are looked for, each also as the model that knows English only."""

COMPUTE_TYPES = ("int8", "float32")

REPLY = "I would like to use the second one, please."
"""A short reply, as the speech engine says it."""

TIMES = 3
"""How often each way is measured, after once that warms it up."""

HOPELESS = 10.0
"""What is slower than this many budgets is measured in one way alone."""

ROOM_S = 5.0

_METER_FRAMES = 5


def models_here(settings: Settings) -> dict[str, Path]:
    """The models that are on this machine and know the language, by the name that the settings take.

    A folder is named from the root: the settings are read wherever a command is started.
    """
    model, language = settings.transcription.model, settings.transcription.language
    names = [model, *(name for size in SIZES for name in (f"{size}.en", size))]
    found: dict[Path, str] = {}
    for name in names:
        try:
            folder = find_model(name, download=False)
            known = languages(folder)
        except TranscriberError:
            continue
        if language in known:
            found.setdefault(folder.resolve(), str(folder.absolute()) if _is_path(name) else name)
        if named_folder(name) is not None and named_folder(model) is not None:
            break  # a folder that the environment names stands for any size
    return {name: folder for folder, name in found.items()}


def _is_path(name: str) -> bool:
    """Whether a name is that of a folder, and not of a size that the environment has a folder for."""
    named = named_folder(name)
    return named is not None and named[1] != ENVIRONMENT


async def costs(
    models: dict[str, Path],
    reply: Samples,
    settings: TranscriptionSettings,
    *,
    budget_s: float,
    on_notice: Callable[[str], None],
    thread_counts: Sequence[int] = tuple(range(1, THREADS + 1)),
) -> AsyncGenerator[Cost]:
    """What a reply takes with each model, in each way, where the settings have it computed.

    ``on_notice`` is told which way is left out since it does not work.
    """
    for model, folder in models.items():
        hopeless = False
        for compute_type in COMPUTE_TYPES:
            for threads in thread_counts:
                if hopeless:
                    continue
                whisper = WhisperTranscriber(
                    folder,
                    language=settings.language,
                    threads=threads,
                    compute_type=compute_type,
                    device=settings.device,
                )
                try:
                    seconds = await _cost_s(whisper, reply)
                except TranscriberError as error:
                    on_notice(f"{model} with {compute_type} is left out: {error.sentence}")
                    break
                size = (folder / "model.bin").stat().st_size
                hopeless = seconds > HOPELESS * budget_s
                yield Cost(model, size, threads, compute_type, round(seconds, 3))


async def _cost_s(transcriber: WhisperTranscriber, reply: Samples) -> float:
    async with transcriber as whisper:
        await whisper.ready()
        took = [(await whisper.submit(reply).result()).compute_s for _ in range(TIMES + 1)]
    return median(took[1:])


async def spoken_reply(settings: Settings) -> Samples:
    """A short reply in the engine's voice, or where there is none as much faint noise."""
    noise = np.random.default_rng(0).normal(0, 30, 3 * SAMPLE_RATE).astype(np.int16)
    try:
        async with make_engine(settings.speaking) as engine:
            sound = await engine.render(REPLY)
    except (SpeechEngineError, ImportError):
        return noise
    resampler = Resampler(sound.rate)
    frames = [*resampler.push(to_float(sound.samples)), *resampler.flush()]
    return np.concatenate([*frames, noise[: SAMPLE_RATE // 2]])


async def listen_to_the_room(
    settings: Settings,
    on_level: Callable[[float], None],
    on_notice: Callable[[str], None],
    seconds: float = ROOM_S,
) -> Room:
    """A moment of the microphone in which nobody speaks; the level is told ten times a second.

    Raises `DeviceError` where there is no microphone.
    """
    detector = make_detector()
    levels: list[float] = []
    probabilities: list[float] = []
    async with make_microphone(settings.hearing, on_notice).open() as frames:
        async for frame in frames:
            verdict = detector.judge(frame)
            levels.append(verdict.level_dbfs)
            probabilities.append(verdict.probability)
            if len(levels) % _METER_FRAMES == 0:
                on_level(max(levels[-_METER_FRAMES:]))
            if len(levels) * FRAME_S >= seconds:
                break
    threshold = settings.hearing.start_threshold
    return Room(
        floor_dbfs=round(median(levels or [SILENCE_DBFS]), 1),
        loudest_dbfs=round(max(levels, default=SILENCE_DBFS), 1),
        false_speech=sum(one >= threshold for one in probabilities) / max(1, len(probabilities)),
        highest_probability=round(max(probabilities, default=0.0), 3),
    )
