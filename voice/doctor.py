"""Is each part of the loop there, and does it work? Each is really used, not only looked for.

Any library may be missing, so each is imported by the check that needs it.
"""

from __future__ import annotations

import importlib
import io
import platform
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from voice.errors import (
    LibraryMissing,
    ModelBroken,
    SettingsError,
    SpeechEngineDied,
    TranscriberDied,
    VoiceError,
)

if TYPE_CHECKING:
    from voice.settings import Settings

LIBRARIES = {
    "anyio": "anyio",
    "av": "av",
    "click": "click",
    "espeakng-loader": "espeakng_loader",
    "faster-whisper": "faster_whisper",
    "huggingface-hub": "huggingface_hub",
    "markdown-it-py": "markdown_it",
    "numpy": "numpy",
    "onnxruntime": "onnxruntime",
    "prompt-toolkit": "prompt_toolkit",
    "pydantic": "pydantic",
    "pulsectl": "pulsectl",
    "pyttsx3": "pyttsx3",
    "pyyaml": "yaml",
    "rich": "rich",
    "sounddevice": "sounddevice",
    "soxr": "soxr",
    "tomlkit": "tomlkit",
    "wcwidth": "wcwidth",
    "webrtcvad-wheels": "webrtcvad",
}
"""What is installed with this package, and the module that it brings."""

_SPARED = {"espeakng-loader", "huggingface-hub", "pulsectl", "pyttsx3", "tomlkit"}
"""Libraries without which the loop runs: in text, with weights that are here, calibrated by hand."""

_LINUX_ALONE = {"espeakng-loader", "pulsectl"}


@dataclass(frozen=True)
class Finding:
    """One part, as it was found."""

    part: str
    ok: bool
    detail: str
    """Its version and where it is, or what is wrong with it."""
    mend: str | None = None
    """The command that mends it."""
    needed: bool = True
    """Whether the loop cannot run without it."""
    broken: bool = False
    """Whether it is there and does not work; what is not ok and not broken is missing."""

    @property
    def mark(self) -> str:
        """How it is, in a word: in capitals where the loop cannot run so."""
        word = "ok" if self.ok else "broken" if self.broken else "missing"
        return word.upper() if self.needed and not self.ok else word


def examine_libraries() -> Iterator[Finding]:
    """Import each library: first Python, then every library that cannot be imported, or one word for all."""
    yield Finding("Python", True, platform.python_version())
    missing = 0
    for distribution, module in LIBRARIES.items():
        if distribution in _LINUX_ALONE and platform.system() != "Linux":
            continue
        try:
            with redirect_stderr(io.StringIO()):  # some print a traceback besides raising it
                importlib.import_module(module)
        except ImportError as error:
            missing += 1
            yield _fault("libraries", LibraryMissing(error), needed=distribution not in _SPARED)
        except OSError:
            continue  # sounddevice without PortAudio below it: what the microphone has to tell
    if not missing:
        yield Finding("libraries", True, "all there")


async def examine() -> AsyncIterator[Finding]:
    """Try each part; takes a few seconds, since Whisper is loaded."""
    try:
        from voice.settings import Settings, load_settings, settings_path

        try:
            where = settings_path()
            settings = load_settings()
            yield Finding("settings", True, str(where) if where.exists() else f"defaults; no {where}")
        except SettingsError as error:
            settings = Settings()
            yield _fault("settings", error)
    except ImportError as error:
        yield _fault("settings", LibraryMissing(error))
        return
    for part, needed, check in (
        ("voice detector", True, _detector),
        ("Whisper", True, _whisper),
        ("speech engine", False, _engine),
        ("microphone", True, _microphone),
        ("speaker", False, _speaker),
    ):
        yield await _finding(part, needed, check, settings)


async def _finding(
    part: str, needed: bool, check: Callable[[Settings], Awaitable[str]], settings: Settings
) -> Finding:
    try:
        return Finding(part, True, await check(settings), needed=needed)
    except VoiceError as error:
        return _fault(part, error, needed)
    except ImportError as error:
        return _fault(part, LibraryMissing(error), needed)


def _fault(part: str, error: VoiceError, needed: bool = True) -> Finding:
    broken = isinstance(error, (SettingsError, ModelBroken, SpeechEngineDied, TranscriberDied))
    return Finding(part, False, error.sentence, error.mend, needed, broken)


async def _detector(settings: Settings) -> str:
    from voice.assembly import make_ear
    from voice.audio import silent_frame

    make_ear(settings.hearing).push(silent_frame())
    return f"webrtcvad {_version('webrtcvad-wheels')}, Silero in faster-whisper {_version('faster-whisper')}"


async def _whisper(settings: Settings) -> str:
    from voice.assembly import find_weights, make_transcriber
    from voice.backends.whisper_models import ENVIRONMENT, overruling

    model = settings.transcription.model
    weights = find_weights(settings.transcription, download=False)
    async with make_transcriber(settings.transcription, weights) as transcriber:
        await transcriber.ready()
    overruled = f"; {ENVIRONMENT} overrules {model}" if overruling(model) else ""
    return f"CTranslate2 {_version('ctranslate2')}, weights in {weights}{overruled}"


async def _engine(settings: Settings) -> str:
    from voice.assembly import make_engine

    async with make_engine(settings.speaking) as engine:
        await engine.render("Ready.")
        return str(await engine.describe())


async def _microphone(settings: Settings) -> str:
    from voice.assembly import make_microphone

    microphone = make_microphone(settings.hearing, on_notice=lambda _: None)
    async with microphone.open():
        return microphone.name


async def _speaker(settings: Settings) -> str:
    from voice.backends.portaudio import find_output

    return find_output(settings.speaking.speaker).name


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "(unknown version)"
