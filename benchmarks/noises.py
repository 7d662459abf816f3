"""Sounds in which nobody speaks: made by rules, and recordings that are looped and never twice the same.

Samples here are floats in [-1, 1] at `SAMPLE_RATE`; everything is drawn from a generator with a fixed seed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from composing import lasting
from numpy.typing import NDArray

from voice.audio import SAMPLE_RATE, Samples, to_float, to_int16

Wave = NDArray[np.float64]


def silence(seconds: float, draw: np.random.Generator) -> Samples:
    """Digital silence, or what a converter makes of it: a bit, or a hiss of up to -65 dBFS."""
    level = draw.choice([0.0, 10 ** (-90 / 20), 10 ** (draw.uniform(-80, -65) / 20)])
    return _samples(draw.normal(0, level, _length(seconds)) if level else np.zeros(_length(seconds)))


def room_tone(quiets: Sequence[Samples], seconds: float, draw: np.random.Generator) -> Samples:
    """Noise like the quiet of a recorded room, up to 12 dB louder than it was."""
    tone = lasting(quiets[int(draw.integers(len(quiets)))], _length(seconds), draw)
    return _samples(to_float(tone) * 10 ** (draw.uniform(-6, 12) / 20))


def fan(seconds: float, draw: np.random.Generator) -> Samples:
    """Air, which is loud in the bass, and blades, which hum and make the air swell; -55 to -30 dBFS."""
    length = _length(seconds)
    air = _coloured(length, -1.0, draw)
    t = np.arange(length) / SAMPLE_RATE
    blades = draw.uniform(40, 220)
    hum = sum(
        np.sin(2 * np.pi * blades * k * t + draw.uniform(0, 6)) / k**1.5 for k in range(1, 8)
    ) * draw.uniform(0.05, 0.5)
    swell = 1 + draw.uniform(0, 0.3) * np.sin(2 * np.pi * draw.uniform(0.1, 8) * t)
    return _samples(_at((air + hum) * swell, draw.uniform(-55, -30)))


def keys(seconds: float, draw: np.random.Generator) -> Samples:
    """Somebody types: bursts of strokes, each a click, the knock of the key and its return."""
    wave = draw.normal(0, 10 ** (-70 / 20), _length(seconds))
    loud = 10 ** (draw.uniform(-30, -12) / 20)
    at_s = draw.uniform(0, 1)
    while at_s < seconds - 0.2:
        for later_s, part in ((0.0, 1.0), (draw.uniform(0.06, 0.12), draw.uniform(0.2, 0.6))):
            start = round((at_s + later_s) * SAMPLE_RATE)
            t = np.arange(round(0.03 * SAMPLE_RATE)) / SAMPLE_RATE
            knock = np.sin(2 * np.pi * draw.uniform(900, 4_000) * t) + draw.normal(0, 1, len(t))
            wave[start : start + len(t)] += part * loud * knock * np.exp(-t / draw.uniform(0.002, 0.008))
        at_s += draw.uniform(0.07, 0.28) if draw.random() > 0.08 else draw.uniform(0.6, 2.5)
    return _samples(wave)


def music(seconds: float, draw: np.random.Generator) -> Samples:
    """Chords and a melody on an instrument with a few overtones, and drums; nobody sings."""
    length = _length(seconds)
    wave = np.zeros(length)
    beat_s = 60 / draw.uniform(70, 150)
    overtones = draw.uniform(0.1, 1, 6) / np.arange(1, 7) ** draw.uniform(0.8, 2)
    key = draw.uniform(100, 200)
    for beat in range(int(seconds / beat_s) - 1):
        at = round(beat * beat_s * SAMPLE_RATE)
        notes = [key * 2 ** (step / 12) for step in (0, 4, 7)] if beat % 4 == 0 else []
        notes.append(2 * key * 2 ** (draw.choice([0, 2, 4, 5, 7, 9, 11, 12]) / 12))
        for hertz in notes:
            t = np.arange(round(draw.uniform(0.5, 2) * beat_s * SAMPLE_RATE)) / SAMPLE_RATE
            tone = sum(part * np.sin(2 * np.pi * hertz * k * t) for k, part in enumerate(overtones, start=1))
            tone = tone * np.minimum(1, t / 0.01) * np.exp(-t / draw.uniform(0.2, 0.8))
            tone = tone[: length - at]
            wave[at : at + len(tone)] += tone
        t = np.arange(round(0.08 * SAMPLE_RATE)) / SAMPLE_RATE
        drum = (draw.normal(0, 0.6, len(t)) * np.exp(-t / 0.02))[: length - at]
        wave[at : at + len(drum)] += drum
    return _samples(_at(wave, draw.uniform(-40, -20)))


def breath(seconds: float, draw: np.random.Generator) -> Samples:
    """Somebody breathes near the microphone, in and out, now and then with a sniff."""
    wave = draw.normal(0, 10 ** (-70 / 20), _length(seconds))
    at_s = draw.uniform(0, 1)
    while at_s < seconds - 3:
        sniff = draw.random() < 0.15
        lasts_s = draw.uniform(0.15, 0.35) if sniff else draw.uniform(0.8, 1.8)
        air = _band(
            draw.normal(0, 1, round(lasts_s * SAMPLE_RATE)),
            draw.uniform(200, 900),
            draw.uniform(2_000, 6_000),
        )
        air *= np.sin(np.pi * np.linspace(0, 1, len(air))) ** draw.uniform(0.5, 2)
        start = round(at_s * SAMPLE_RATE)
        wave[start : start + len(air)] += _at(air, draw.uniform(-50, -28))
        at_s += lasts_s + draw.uniform(0.2, 1.2)
    return _samples(wave)


def laughter(seconds: float, draw: np.random.Generator) -> Samples:
    """Something like laughter: bursts of a voice at five a second, each falling, with breath between them."""
    wave = draw.normal(0, 10 ** (-70 / 20), _length(seconds))
    at_s = draw.uniform(0, 1)
    while at_s < seconds - 4:
        pitch = draw.uniform(140, 380)
        for _ in range(int(draw.integers(3, 10))):
            t = np.arange(round(draw.uniform(0.08, 0.14) * SAMPLE_RATE)) / SAMPLE_RATE
            hertz = pitch * (1 - 0.15 * t / t[-1])
            voice = np.sign(np.sin(2 * np.pi * np.cumsum(hertz) / SAMPLE_RATE)) + draw.normal(0, 0.3, len(t))
            voice = (
                _band(voice, 500, 900) + 0.6 * _band(voice, 1_000, 1_500) + 0.2 * _band(voice, 2_300, 2_900)
            )
            start = round(at_s * SAMPLE_RATE)
            wave[start : start + len(t)] += _at(voice * np.sin(np.pi * t / t[-1]), draw.uniform(-35, -22))
            at_s += draw.uniform(0.17, 0.24)
            pitch *= draw.uniform(0.93, 1.0)
        at_s += draw.uniform(0.8, 4)
    return _samples(wave)


def varied(recordings: Sequence[Samples], seconds: float, draw: np.random.Generator) -> Samples:
    """Recordings one after another, each faster or slower, louder or softer, begun anywhere and faded."""
    parts: list[Samples] = []
    length = 0
    while length < _length(seconds):
        wave = to_float(recordings[int(draw.integers(len(recordings)))]).astype(np.float64)
        wave = np.roll(wave, int(draw.integers(len(wave))))
        speed = draw.uniform(0.85, 1.2)
        wave = np.interp(np.arange(0, len(wave) - 1, speed), np.arange(len(wave)), wave)
        fade = np.minimum(1, np.arange(len(wave)) / (0.05 * SAMPLE_RATE))
        parts.append(_samples(wave * fade * fade[::-1] * 10 ** (draw.uniform(-12, 6) / 20)))
        length += len(parts[-1])
    return np.concatenate(parts)[: _length(seconds)]


def _length(seconds: float) -> int:
    return round(seconds * SAMPLE_RATE)


def _samples(wave: Wave | NDArray[np.float32]) -> Samples:
    return to_int16(np.clip(wave, -1, 1).astype(np.float32))


def _at(wave: Wave, dbfs: float) -> Wave:
    """At this level, RMS."""
    return wave * (10 ** (dbfs / 20) / (np.sqrt(np.mean(np.square(wave))) or 1.0))


def _coloured(length: int, slope: float, draw: np.random.Generator) -> Wave:
    """Noise whose amplitude goes with so many powers of the frequency."""
    hertz = np.maximum(np.fft.rfftfreq(length, 1 / SAMPLE_RATE), 20)
    spectrum = np.fft.rfft(draw.normal(0, 1, length)) * hertz**slope
    wave = np.fft.irfft(spectrum, length)
    return np.asarray(wave / np.sqrt(np.mean(np.square(wave))))


def _band(wave: Wave, low: float, high: float) -> Wave:
    hertz = np.fft.rfftfreq(len(wave), 1 / SAMPLE_RATE)
    return np.asarray(np.fft.irfft(np.fft.rfft(wave) * ((hertz > low) & (hertz < high)), len(wave)))
