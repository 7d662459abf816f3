"""Whether the libraries can be loaded."""

from __future__ import annotations

import importlib
import importlib.util
import io
import platform
from collections.abc import Iterator
from contextlib import redirect_stderr
from importlib.metadata import PackageNotFoundError, version

import voice.backends  # noqa: F401 — which tells the libraries to report nothing, before they are loaded
from voice.doctor.findings import Finding, fault, works
from voice.errors import LibraryMissing

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
    "pulsectl": "pulsectl",
    "pydantic": "pydantic",
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

_SPARED = {"espeakng-loader", "pulsectl", "pyttsx3", "tomlkit"}
"""Libraries without which the loop runs: in text, and calibrated by hand."""

_STARTS_WHEN_LOADED = {"sounddevice"}
"""Loading it starts PortAudio, which hangs where the sound server does: the microphone's check knows how."""

_LINUX_ALONE = {"espeakng-loader", "pulsectl"}


def examine_libraries() -> Iterator[Finding]:
    """Import each library: first Python, then every library that cannot be imported, or one word for all."""
    yield works("Python", platform.python_version())
    told: set[str] = set()
    for distribution, module in LIBRARIES.items():
        if distribution in _LINUX_ALONE and platform.system() != "Linux":
            continue
        try:
            if distribution in _STARTS_WHEN_LOADED:
                _look_for(module)
                continue
            with redirect_stderr(io.StringIO()):  # some print a traceback besides raising it
                importlib.import_module(module)
        except ImportError as error:
            finding = fault("libraries", LibraryMissing(error), needed=distribution not in _SPARED)
            if finding.detail not in told:  # several may need the one that is missing
                yield finding
            told.add(finding.detail)
        except OSError:
            continue  # pulsectl without libpulse below it: where that is, there is no sound server either
    if not told:
        yield works("libraries", "all there")


def _look_for(module: str) -> None:
    """Raise `ModuleNotFoundError` where it is not installed; it is not loaded."""
    if importlib.util.find_spec(module) is None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)


def version_of(distribution: str) -> str:
    """The version of what is installed, in words where it does not tell."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "(unknown version)"
