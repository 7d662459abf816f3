"""The child process in which Whisper works; run by `voice.backends.whisper.WhisperTranscriber`.

Requests have a ``do``: ``load`` warms the model up, ``text`` transcribes the samples that are its payload,
and ``measure`` finds out how many threads are fastest. All three can be broken off between two steps.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voice.audio import SAMPLE_RATE, Samples, to_float
from voice.backends.thread_choice import Round, chosen_threads
from voice.backends.worker import Handler, Message, Unwanted, Wanted, serve
from voice.errors import LibraryMissing
from voice.listening.vocabulary import recites

if TYPE_CHECKING:
    from voice.backends.whisper_engine import ShortWindowWhisper

TOKENS_A_SECOND = 8
TOKENS_AT_LEAST = 12
"""Nobody says more than 8 tokens a second and 12 more: what is longer is a loop."""

TIMESTAMPS_FROM_S = 5.0
"""Longer pieces are decoded with timestamps. Without them tiny.en loses words behind a short pause inside a
piece: of the words of a five-minute reply 19.5 % were wrong, and 11.0 % with them. On short replies they do
harm: 10.0 % against 8.2 %. Both from ``benchmarks/``."""

UNSURE_LOG_PROBABILITY = -0.85
"""The same where it was told names: what is less sure chooses nothing (`LEAST_CONFIDENCE`) and would be asked
again, so that nothing is lost by hearing it again first."""

DOUBTFUL_COMPRESSION = 2.4
DOUBTFUL_LOG_PROBABILITY = -1.0
DOUBTFUL_NO_SPEECH = 0.8
"""Beyond these a short window's text is made again. The first two are those of the reference implementation;
with the third a text is thrown away, and in a short window it is higher: 0.87 for a "yes" that has 0.68 in a
whole one."""

GLOSSARY = "Glossary: {}."
"""How the vocabulary is put before the text. A bare list is gone on with: on recorded people it made 2.6 of
100 words more wrong with thirty names, 7 with four. In a sentence that ends it is not."""

_MEASURED_S = 2.0
_MEASURED_TIMES = 2
_ROUNDS = 2


class _Child:
    """The model, and what is done with it."""

    def __init__(
        self, load: Callable[[int], ShortWindowWhisper], language: str, threads: int, wanted: Wanted
    ) -> None:
        self._load = load
        self._language = language
        self._threads = threads
        self._wanted = wanted
        self._whisper = self._loaded(threads)

    def answer(self, header: dict[str, Any], payload: bytes) -> Message:
        match header["do"]:
            case "load":
                return self._text(np.zeros(SAMPLE_RATE, np.int16), ()), b""
            case "measure":
                return {"threads": self._measured()}, b""
            case _:
                return self._text(np.frombuffer(payload, np.int16), header["vocabulary"]), b""

    def _text(self, samples: Samples, vocabulary: Sequence[str]) -> dict[str, Any]:
        self._go_on()
        return guarded(self._whisper, samples, self._language, vocabulary)

    def _loaded(self, threads: int) -> ShortWindowWhisper:
        whisper = self._load(threads)
        whisper.on_step = self._go_on
        return whisper

    def _go_on(self) -> None:
        if not self._wanted():
            raise Unwanted("nobody wants this text any more")

    def _measured(self) -> int | None:
        """Which number of threads is fastest, and is used from now on; None where that cannot be told now."""
        one = self._loaded(1)
        rounds: list[Round] = []
        for _ in range(_ROUNDS):
            began_s, began_busy_s = time.monotonic(), _busy_s()
            one_s, several_s = self._cost_s(one), self._cost_s(self._whisper)
            busy_s, took_s = _busy_s(), time.monotonic() - began_s
            others = None
            if busy_s is not None and began_busy_s is not None:
                others = (busy_s - began_busy_s) / took_s
            rounds.append(Round(one_s, several_s, others))
        chosen = chosen_threads(rounds, self._threads, os.cpu_count() or 1)
        if chosen == 1:
            self._whisper, self._threads = one, 1
        return chosen

    def _cost_s(self, whisper: ShortWindowWhisper) -> float:
        """What a short reply takes, in seconds: the least of some, after one that warms it up."""
        noise = np.random.default_rng(0).normal(0, 30, round(_MEASURED_S * SAMPLE_RATE)).astype(np.int16)
        costs: list[float] = [
            transcribe(whisper, noise, self._language)["compute_s"] for _ in range(_MEASURED_TIMES + 1)
        ]
        return min(costs[1:])


def _busy_s() -> float | None:
    """Processor time of the whole machine that was not ours, since it started, where the system tells."""
    with suppress(OSError, ValueError):
        _name, user, nice, system, _idle, _disk, *interrupts = (
            Path("/proc/stat").read_text().splitlines()[0].split()[:9]
        )  # the rest is of guests, and counted twice
        ticks = sum(map(int, (user, nice, system, *interrupts)))
        return ticks / os.sysconf("SC_CLK_TCK") - time.process_time()
    return None


def prepare(
    model: str, language: str, threads: int, compute_type: str, device: str, wanted: Wanted
) -> Handler:
    """Load the model; return what answers requests."""
    try:
        from voice.backends.whisper_engine import ShortWindowWhisper
    except ImportError as error:
        raise ImportError(LibraryMissing(error).sentence) from error

    def load(threads: int) -> ShortWindowWhisper:
        return ShortWindowWhisper(model, device=device, compute_type=compute_type, cpu_threads=threads)

    return _Child(load, language, threads, wanted).answer


def guarded(whisper: Any, samples: Samples, language: str, vocabulary: Sequence[str] = ()) -> dict[str, Any]:
    """Transcribe with the short window; where the result looks wrong, once more with the full one.

    The second time without the vocabulary where that may be what led it astray.
    """
    whisper.full_window = False
    transcript = transcribe(whisper, samples, language, vocabulary)
    astray = _doubtful(transcript) or recites(transcript["text"], vocabulary)
    unsure = bool(vocabulary) and transcript["average_log_probability"] < UNSURE_LOG_PROBABILITY
    if not (astray or unsure):
        return transcript
    whisper.full_window = True
    again = transcribe(whisper, samples, language, () if astray else vocabulary)
    return {**again, "compute_s": transcript["compute_s"] + again["compute_s"]}


def _doubtful(transcript: dict[str, Any]) -> bool:
    return bool(
        transcript["ran_on"]
        or transcript["compression_ratio"] > DOUBTFUL_COMPRESSION
        or transcript["average_log_probability"] < DOUBTFUL_LOG_PROBABILITY
        or transcript["no_speech_probability"] >= DOUBTFUL_NO_SPEECH
    )


def transcribe(
    whisper: Any, samples: Samples, language: str, vocabulary: Sequence[str] = ()
) -> dict[str, Any]:
    """Transcribe with whatever window the engine is set to; the fields of a `Transcript`."""
    most_tokens = math.ceil(TOKENS_A_SECOND * len(samples) / SAMPLE_RATE) + TOKENS_AT_LEAST
    began = time.perf_counter()
    segments, _ = whisper.transcribe(
        to_float(samples),
        language=language,
        beam_size=1,
        without_timestamps=len(samples) <= TIMESTAMPS_FROM_S * SAMPLE_RATE,
        condition_on_previous_text=False,
        vad_filter=False,
        max_new_tokens=most_tokens,
        no_speech_threshold=None,
        hotwords=GLOSSARY.format(", ".join(vocabulary)) if vocabulary else None,
        temperature=0.0,  # the library's fallback draws at random: the same sound must give the same text
    )
    parts = list(segments)
    tokens = Counter[int]()  # of each window: with timestamps one window gives several parts
    for part in parts:
        tokens[part.seek] += len(part.tokens)
    return {
        "text": "".join(part.text for part in parts).strip(),
        "no_speech_probability": max((part.no_speech_prob for part in parts), default=1.0),
        "average_log_probability": min((part.avg_logprob for part in parts), default=0.0),
        "compression_ratio": max((part.compression_ratio for part in parts), default=1.0),
        "ran_on": max(tokens.values(), default=0) >= most_tokens,
        "compute_s": time.perf_counter() - began,
    }


if __name__ == "__main__":
    model, language, threads, compute_type, device = sys.argv[1:]
    serve(partial(prepare, model, language, int(threads), compute_type, device))
