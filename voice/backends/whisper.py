"""faster-whisper, in a child process: a call into the engine cannot be interrupted, a process can be killed.

`WhisperTranscriber` is the parent's side; ``python -m voice.backends.whisper`` is the child.
"""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.abc
import numpy as np

from voice.audio import SAMPLE_RATE, Samples, to_float
from voice.backends.worker import Handler, Message, Worker, WorkerDied, WorkerFailed, serve
from voice.errors import INSTALL, LibraryMissing, ModelBroken, TranscriberDied, TranscriberError
from voice.ports import Transcript
from voice.tasks import lone_errors

COMPUTE_TYPE = "int8"
"""As accurate as float32 on short replies, and it does not collapse when another process wants a core."""

THREADS = min(2, os.cpu_count() or 1)
"""The second thread brings 1.7 times on a quiet machine; more of them bring little to one small window."""

WORTH_A_THREAD = 0.8
"""Two threads are used where they take at most this share of the time that one takes: the microphone, the
speaker and the agent want the other core too."""

_MEASURED_S = 2.0
_MEASURED_TIMES = 2
"""Few: who talks at once waits for it, though at the first start alone."""

TOKENS_A_SECOND = 8
TOKENS_AT_LEAST = 12
"""Nobody says more than 8 tokens a second and 12 more: what is longer is a loop."""

TIMESTAMPS_FROM_S = 5.0
"""Longer pieces are decoded with timestamps. Without them tiny.en loses words behind a short pause inside a
piece: of the words of a five-minute reply 19.5 % were wrong, and 11.0 % with them. On short replies they do
harm: 10.0 % against 8.2 %. Both from ``benchmarks/``."""

DOUBTFUL_COMPRESSION = 2.4
DOUBTFUL_LOG_PROBABILITY = -1.0
DOUBTFUL_NO_SPEECH = 0.8
"""Beyond these a short window's text is made again. The first two are those of the reference implementation;
with the third a text is thrown away, and in a short window it is higher: 0.87 for a "yes" that has 0.68 in a
whole one."""

GLOSSARY = "Glossary: {}."
"""How the vocabulary is put before the text. A bare list is gone on with: on recorded people it made 2.6 of
100 words more wrong with thirty names, 7 with four. In a sentence that ends it is not."""

TRIES = 3
"""How often a piece is given to a new child after one has died of it."""

_ANSWER_WITHIN_S = 120.0
"""Also for the model to be loaded."""


class WhisperTranscriber:
    """A `voice.ports.Transcriber`; an async context manager that owns the child.

    Entering returns at once; the model loads in the background, and pieces that are submitted meanwhile
    wait. `ready` waits for the model. Leaving fails what has no answer yet; it can be entered again.
    """

    def __init__(
        self,
        model: Path,
        *,
        language: str = "en",
        threads: int | None = THREADS,
        compute_type: str = COMPUTE_TYPE,
        on_threads: Callable[[int], None] = lambda _threads: None,
    ) -> None:
        """Without ``threads`` the child measures whether two are faster, and ``on_threads`` is told."""
        self._model = model
        self._on_threads = on_threads
        self._worker = Worker("voice.backends.whisper", str(model), language, str(threads or 0), compute_type)
        self._running = False

    async def __aenter__(self) -> Self:
        self._loading = _Pending(np.zeros(0, np.int16))
        self._queue = [self._loading]
        self._wanted = anyio.Event()
        self._running = True
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._work)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        self._running = False
        self._tasks.cancel_scope.cancel()
        try:
            with lone_errors():
                return await self._tasks.__aexit__(kind, error, traceback)
        finally:
            for pending in self._queue:
                pending.fail(_stopped())
            await self._worker.kill()

    @property
    def pid(self) -> int | None:
        """The child's process id, None while there is none."""
        return self._worker.pid

    async def ready(self) -> None:
        """Wait until the model is loaded; raises `TranscriberError` when it cannot be."""
        await self._loading.result()

    def submit(self, samples: Samples, *, vocabulary: Sequence[str] = ()) -> _Pending:
        """Ask for the text of up to 30 s of sound; returns at once."""
        pending = _Pending(samples, tuple(vocabulary))
        if self._running:
            self._queue.append(pending)
            self._wanted.set()
        else:
            pending.fail(_stopped())
        return pending

    async def _work(self) -> None:
        while True:
            while self._queue:
                pending = self._queue[0]
                if not pending.cancelled:
                    await self._answer(pending)
                del self._queue[0]
            self._wanted = anyio.Event()
            await self._wanted.wait()

    async def _answer(self, pending: _Pending) -> None:
        header = {"load": pending is self._loading, "vocabulary": pending.vocabulary}
        sound = pending.samples.tobytes()
        for tries_left in reversed(range(TRIES)):
            try:
                answer, _ = await self._worker.request(header, sound, within_s=_ANSWER_WITHIN_S)
            except WorkerDied as death:
                if not tries_left:
                    last_line = (death.last_words.splitlines() or [""])[-1]
                    pending.fail(
                        TranscriberDied(f"Whisper failed {TRIES} times: {death}. {last_line}".strip())
                    )
            except WorkerFailed as failure:
                pending.fail(_translated(failure, self._model))
                return
            else:
                if pending is self._loading:
                    self._on_threads(answer["threads"])
                    pending.succeed(Transcript(""))
                else:
                    pending.succeed(Transcript(**answer))
                return


class _Pending:
    """A `voice.ports.PendingTranscript`."""

    def __init__(self, samples: Samples, vocabulary: tuple[str, ...] = ()) -> None:
        self.samples = samples
        self.vocabulary = vocabulary
        self.cancelled = False
        self._settled = anyio.Event()
        self._outcome: Transcript | TranscriberError | None = None

    @property
    def done(self) -> bool:
        return self._settled.is_set()

    async def result(self) -> Transcript:
        await self._settled.wait()
        if isinstance(self._outcome, Transcript):
            return self._outcome
        assert self._outcome is not None
        raise self._outcome

    def cancel(self) -> None:
        self.cancelled = True

    def succeed(self, transcript: Transcript) -> None:
        self._outcome = transcript
        self._settled.set()

    def fail(self, error: TranscriberError) -> None:
        self._outcome = error
        self._settled.set()


def _translated(failure: WorkerFailed, model: Path) -> TranscriberError:
    if failure.kind == ImportError.__name__:
        return TranscriberError(failure.sentence, mend=INSTALL)
    why = " ".join(failure.sentence.split()).rstrip(".")
    return ModelBroken(
        f"Whisper cannot use the model folder {model}: {why}.",
        mend="take another, for example with --model tiny.en, or have it downloaded again",
    )


def _stopped() -> TranscriberError:
    return TranscriberError("Whisper was stopped before it had answered.")


def _child(model: str, language: str, threads: int, compute_type: str) -> Handler:
    """Load the model and warm it up; return what answers requests. 0 threads: as many as are faster."""
    try:
        from voice.backends.whisper_engine import ShortWindowWhisper
    except ImportError as error:
        raise ImportError(LibraryMissing(error).sentence) from error

    def load(threads: int) -> ShortWindowWhisper:
        return ShortWindowWhisper(model, device="cpu", compute_type=compute_type, cpu_threads=threads)

    whisper = load(threads or THREADS)
    if not threads:
        threads = THREADS
        if THREADS > 1 and _cost_s(whisper, language) > WORTH_A_THREAD * _cost_s(one := load(1), language):
            whisper, threads = one, 1

    def answer(header: dict[str, Any], payload: bytes) -> Message:
        samples = np.frombuffer(payload, np.int16)
        if header["load"]:
            samples = np.zeros(SAMPLE_RATE, np.int16)
        transcript = guarded(whisper, samples, language, header["vocabulary"])
        return ({"threads": threads} if header["load"] else transcript), b""

    return answer


def _cost_s(whisper: Any, language: str) -> float:
    """What a short reply takes, in seconds: the least of some, after one that warms it up."""
    noise = np.random.default_rng(0).normal(0, 30, round(_MEASURED_S * SAMPLE_RATE)).astype(np.int16)
    costs: list[float] = [
        transcribe(whisper, noise, language)["compute_s"] for _ in range(_MEASURED_TIMES + 1)
    ]
    return min(costs[1:])


def guarded(whisper: Any, samples: Samples, language: str, vocabulary: Sequence[str] = ()) -> dict[str, Any]:
    """Transcribe with the short window; where the result looks wrong, once more with the full one.

    The second time without the vocabulary, which may be what led it astray.
    """
    whisper.full_window = False
    transcript = transcribe(whisper, samples, language, vocabulary)
    if not _doubtful(transcript):
        return transcript
    whisper.full_window = True
    again = transcribe(whisper, samples, language)
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
    import time

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
    serve(lambda: _child(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))
