"""The child process in which pyttsx3 lives; run by `Pyttsx3Engine`, never imported for its engine.

Why so much care (pyttsx3 2.99 on Linux): ``say`` blocks in a player that cannot be stopped and drops all but
the last of several texts, so sound is only ever saved to a file; about one saved file in a thousand is empty
although the engine calls it complete, unless one waits until eSpeak is idle first; whatever is printed goes
to standard output. The engine is made and run on the main thread, as macOS demands.

Requests are ``{"do": "render", "rate", "voice", "language"}`` with the text as payload, answered by
``{"rate", "words", "notice"?}`` with 16-bit mono samples; and ``{"do": "describe"}``. The words are pairs of
seconds and characters: eSpeak tells where each begins, in the same callback that the driver takes sound from.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import io
import os
import sys
import tempfile
import time
import wave
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voice.backends.worker import Handler, Message, Wanted, serve

NORMAL_RATE = 200
"""Words a minute at rate 1: what every driver of pyttsx3 starts with."""

_HURRIED_RATE = 450
"""Words a minute from which on eSpeak shortens finished speech: the times of words that it tells are those of
before, up to a quarter too late."""

_TRIES = 3
_IDLE_WITHIN_S = 2.0
_PROBE = "one two"


class Pyttsx3Missing(Exception):
    """pyttsx3 is not installed."""


class EngineMissing(Exception):
    """pyttsx3 found no speech engine that it could start."""


class NoSound(Exception):
    """The engine says that it has finished, and has made no sound, of a text that has one."""


@dataclass(frozen=True)
class Voice:
    """One voice of the engine."""

    id: str
    name: str
    languages: tuple[str, ...]
    """Language tags, lower case, with hyphens: ``en-gb``."""

    def speaks(self, language: str) -> bool:
        """Whether it speaks a language, or any variety of it."""
        family = _tag(language)
        tags = [*self.languages, self.id.rpartition("/")[2]]
        return any(tag == known or tag.startswith(f"{known}-") for tag in tags for known in _known_as(family))


def prepare(_wanted: Wanted) -> Handler:
    """Start the engine; what it raises says which part is missing."""
    _offer_espeak()
    try:
        import pyttsx3
    except ImportError as error:
        raise Pyttsx3Missing(str(error)) from error
    try:
        engine = pyttsx3.init()
    except Exception as error:  # whatever a driver's libraries raise
        raise EngineMissing(str(error)) from error
    return _Speech(engine).answer


def _offer_espeak() -> None:
    """Load the eSpeak NG of espeakng-loader, whose library has the name that pyttsx3 asks for.

    Without it, or where it cannot be loaded, pyttsx3 looks for one that the system has.
    """
    if sys.platform != "linux":
        return
    with suppress(ImportError, OSError, RuntimeError):
        import espeakng_loader

        data = espeakng_loader.get_data_path()
        ctypes.CDLL(espeakng_loader.get_library_path(), mode=ctypes.RTLD_GLOBAL)
        os.environ["ESPEAK_DATA_PATH"] = data


class _Speech:
    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._finished = False
        self._error: BaseException | None = None
        self._voices = [
            Voice(
                str(voice.id), str(voice.name or ""), tuple(_tag(tag) for tag in voice.languages or () if tag)
            )
            for voice in engine.getProperty("voices")
        ]
        self._first_voice = engine.getProperty("voice")
        self._words = _word_times()
        engine.connect("finished-utterance", self._on_finished)
        engine.connect("error", self._on_error)

    def answer(self, header: dict[str, Any], payload: bytes) -> Message:
        if header["do"] == "describe":
            return self._describe(), b""
        return self._render(payload.decode(), header)

    def _render(self, text: str, settings: dict[str, Any]) -> Message:
        if sys.platform == "darwin":
            text = text.replace("[[", "[ [")  # would begin a command to the macOS synthesizer
        voice, notice = choose_voice(self._voices, settings["voice"], settings["language"])
        self._engine.setProperty("voice", voice.id if voice is not None else self._first_voice)
        self._engine.setProperty("rate", round(NORMAL_RATE * settings["rate"]))
        samples, rate = self._sound(text)
        words = self._words.copy() if samples and settings["rate"] * NORMAL_RATE < _HURRIED_RATE else []
        if not samples:
            # Is it the text, or has the engine fallen silent?
            if not self._sound(_PROBE)[0]:
                raise NoSound("It gives no sound any more.")
            if any(character.isalnum() for character in text):
                notice = notice or f"The speech engine has no sound for “{text[:40]}”."
        return {"rate": rate, "words": words, "notice": notice}, samples

    def _sound(self, text: str) -> tuple[bytes, int]:
        """16-bit mono samples and their rate; no samples when it stays silent as often as is worth trying."""
        rate = NORMAL_RATE
        for _ in range(_TRIES):
            samples, rate = self._saved(text)
            if samples.strip(b"\0"):
                return samples, rate
        return b"", rate

    def _saved(self, text: str) -> tuple[bytes, int]:
        self._wait_until_idle()
        self._finished, self._error = False, None
        self._words.clear()
        with _scratch_file() as path:
            self._engine.save_to_file(text, path)
            self._engine.runAndWait()
            self._wait_until_idle()  # pyttsx3 waits for eSpeak no longer than 10 ms
            if self._error is not None:
                raise self._error
            return _read(Path(path).read_bytes()) if self._finished else (b"", NORMAL_RATE)

    def _wait_until_idle(self) -> None:
        espeak = sys.modules.get("pyttsx3.drivers._espeak")
        until = time.monotonic() + _IDLE_WITHIN_S
        while espeak is not None and espeak.IsPlaying() and time.monotonic() < until:
            time.sleep(0.001)

    def _on_finished(self, *, completed: bool, **_: object) -> None:
        self._finished = completed

    def _on_error(self, *, exception: BaseException, **_: object) -> None:
        self._error = exception

    def _describe(self) -> dict[str, Any]:
        espeak = sys.modules.get("pyttsx3.drivers._espeak")
        version = f"eSpeak NG {espeak.Info().decode()}" if espeak is not None else str(self._engine)
        return {
            "pyttsx3": importlib.metadata.version("pyttsx3"),
            "engine": version,
            "voices": [[voice.id, voice.name, voice.languages] for voice in self._voices],
        }


_ALIASES = {"zh": "cmn", "no": "nb"}
"""Tags that people write, and eSpeak NG's for the same."""


def _word_times() -> list[tuple[float, int]]:
    """A list that eSpeak fills, from now on, with where words begin: seconds, and characters from 0."""
    times: list[tuple[float, int]] = []
    espeak = sys.modules.get("pyttsx3.drivers._espeak")
    if espeak is None:
        return times
    take_sound = espeak.SynthCallback

    def on_synth(samples: Any, count: int, events: Any) -> int:
        at = 0
        while events[at].type not in (espeak.EVENT_LIST_TERMINATED, espeak.EVENT_MSG_TERMINATED):
            if events[at].type == espeak.EVENT_WORD:
                times.append((events[at].audio_position / 1000, events[at].text_position - 1))
            at += 1
        return int(take_sound(samples, count, events))

    espeak.SetSynthCallback(on_synth)
    return times


def choose_voice(voices: Sequence[Voice], name: str | None, language: str) -> tuple[Voice | None, str | None]:
    """The voice of this name, else the one nearest to the language; with a notice where neither is there.

    Nearest: the language itself, then its plain form (``de`` for ``de-AT``), then any variety of it; last the
    engine's first choice, None.
    """
    fitting = _fitting(voices, _tag(language))
    if name is not None:
        called = name.casefold()
        for voice in voices:
            if called in (voice.id.casefold(), voice.name.casefold(), voice.id.casefold().rpartition("/")[2]):
                return voice, None
        instead = f"“{fitting.name}”" if fitting is not None else "the engine's own"
        return fitting, f"There is no voice “{name}”; {instead} speaks instead."
    if fitting is None:
        return None, f"There is no voice for the language “{language}”; the engine's own speaks instead."
    return fitting, None


def _known_as(tag: str) -> tuple[str, ...]:
    return (tag, _ALIASES[tag]) if tag in _ALIASES else (tag,)


def _fitting(voices: Sequence[Voice], language: str) -> Voice | None:
    family = language.partition("-")[0]
    for tag in (language, _ALIASES.get(language), family, _ALIASES.get(family)):
        for voice in voices:
            if tag in voice.languages or tag == voice.id.rpartition("/")[2]:
                return voice
    return next((voice for voice in voices for tag in voice.languages if tag.startswith(family + "-")), None)


def _tag(language: str) -> str:
    return language.replace("_", "-").lower()


@contextmanager
def _scratch_file() -> Iterator[str]:
    """The path of a file for one sound: in memory where that can be had, so that a kill leaves nothing."""
    if sys.platform == "linux":
        file = os.memfd_create("speech")
        try:
            yield f"/proc/self/fd/{file}"
        finally:
            os.close(file)
    else:
        with tempfile.TemporaryDirectory(prefix="viva-voce-") as folder:
            yield str(Path(folder) / "speech.wav")


def _read(file: bytes) -> tuple[bytes, int]:
    """The samples of a WAV file, or of the AIFF that macOS writes under any name."""
    if not file:
        return b"", NORMAL_RATE
    if file.startswith(b"RIFF"):
        with wave.open(io.BytesIO(file)) as sound:
            if (sound.getnchannels(), sound.getsampwidth()) == (1, 2):
                return sound.readframes(sound.getnframes()), sound.getframerate()
    import av

    with av.open(io.BytesIO(file), mode="r") as container:
        to_mono = av.AudioResampler(format="s16", layout="mono")
        decoded = [*container.decode(audio=0), None]
        frames = [frame for part in decoded for frame in to_mono.resample(part)]
    samples = b"".join(bytes(frame.planes[0])[: 2 * frame.samples] for frame in frames)
    return samples, frames[0].sample_rate if frames else NORMAL_RATE


if __name__ == "__main__":
    serve(prepare)
