"""Is each part of the loop there, and does it work? Each is really used, not only looked for."""

from __future__ import annotations

import platform
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from voice.assembly import make_ear, make_engine, make_microphone, make_transcriber
from voice.audio import silent_frame
from voice.backends.portaudio import find_output
from voice.backends.whisper_models import find_model
from voice.errors import SettingsError, VoiceError
from voice.settings import Settings, load_settings, settings_path


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


async def examine() -> list[Finding]:
    """Try each part; takes a few seconds, since Whisper is loaded."""
    findings = [Finding("Python", True, platform.python_version())]
    try:
        settings = load_settings()
        where = settings_path()
        findings.append(Finding("settings", True, str(where) if where.exists() else f"defaults; no {where}"))
    except SettingsError as error:
        settings = Settings()
        findings.append(Finding("settings", False, error.sentence, error.mend))
    for part, needed, check in (
        ("voice detector", True, _detector),
        ("Whisper", True, _whisper),
        ("speech engine", False, _engine),
        ("microphone", True, _microphone),
        ("speaker", False, _speaker),
    ):
        findings.append(await _finding(part, needed, check, settings))
    return findings


async def _finding(
    part: str, needed: bool, check: Callable[[Settings], Awaitable[str]], settings: Settings
) -> Finding:
    try:
        return Finding(part, True, await check(settings), needed=needed)
    except VoiceError as error:
        return Finding(part, False, error.sentence, error.mend, needed)
    except ImportError as error:
        return Finding(part, False, f"{error}.", "pip install viva-voce", needed)


async def _detector(settings: Settings) -> str:
    make_ear(settings.hearing).push(silent_frame())
    return f"webrtcvad {_version('webrtcvad-wheels')}, Silero in faster-whisper {_version('faster-whisper')}"


async def _whisper(settings: Settings) -> str:
    weights = find_model(settings.transcription.model, download=False)
    async with make_transcriber(settings.transcription, weights) as transcriber:
        await transcriber.ready()
    return f"CTranslate2 {_version('ctranslate2')}, {settings.transcription.model} in {weights}"


async def _engine(settings: Settings) -> str:
    async with make_engine(settings.speaking) as engine:
        await engine.render("Ready.")
        return str(await engine.describe())


async def _microphone(settings: Settings) -> str:
    microphone = make_microphone(settings.hearing, on_notice=lambda _: None)
    async with microphone.open():
        return microphone.name


async def _speaker(settings: Settings) -> str:
    return find_output(settings.speaking.speaker).name


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "(unknown version)"
