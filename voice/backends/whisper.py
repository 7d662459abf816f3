"""faster-whisper, in a child process: a call into the engine cannot be interrupted, a process can be killed.

This is the parent's side; `voice.backends.whisper_child` is the child.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Literal, Self

import anyio
import anyio.abc
import numpy as np

from voice.audio import SAMPLE_RATE, Samples
from voice.backends.worker import Message, Unwanted, Worker, WorkerDied, WorkerFailed
from voice.errors import INSTALL, ModelBroken, TranscriberDied, TranscriberError
from voice.ports import Transcript
from voice.tasks import lone_errors

Device = Literal["cpu", "cuda", "auto"]
"""Where Whisper computes; ``auto`` is ``cuda`` where the driver of such a graphics card is loaded."""

_CARDS = ("/dev/nvidiactl", "/dev/nvmap", "/dev/dxg")
"""What such a driver makes: on a computer, on a board with its own, and in the Linux of Windows."""

COMPUTE_TYPE = "int8"
"""As accurate as float32 on short replies, and it does not collapse when another process wants a core."""

THREADS = min(2, os.cpu_count() or 1)
"""The second thread brings 1.7 times on a quiet machine; more of them bring little to one small window."""

TRIES = 3
"""How often a piece is given to a new child after one has died of it."""

MOST_WAITING_S = 1_800.0
"""So much sound may wait, in seconds: 58 MB. What comes then fails, and its sound is the caller's."""

BEHIND_S = 5.0
"""A text that is awaited for so long is worth a word: this machine is too slow for this model."""

_LOOK_S = 1.0
"""How often, while a piece is transcribed, it is looked how late it is."""

SPIN_S = 10.0
SPIN_TIMES = 10.0
"""A piece may take so long, and so many times what others of its length took, before it is taken for one that
goes round without end: with the whole window too, and all its tokens, it takes 4 times as long."""

MEASURED_AFTER_S = (3.0, 30.0, 300.0)
"""The number of threads is measured when nothing was asked for so long; the next time where the machine was
busy meanwhile."""

MEASURED_AT_MOST = 200_000_000
"""Bytes of weights. To measure a second copy of the model is loaded; a larger one always has work for two
threads."""

_ANSWER_WITHIN_S = 120.0
"""For the first answer of a model, when nothing is known of what it costs."""


class WhisperTranscriber:
    """A `voice.ports.Transcriber`; an async context manager that owns the child.

    Entering returns at once; the model loads in the background, and pieces that are submitted meanwhile
    wait. `ready` waits for the model. Leaving fails what has no answer yet; it can be entered again.

    A child that dies or hangs is replaced, and what it was asked is asked again. A graphics card that cannot
    be used is replaced by the processor, for as long as the program runs.
    """

    _card_failed: ClassVar[bool] = False

    def __init__(
        self,
        model: Path,
        *,
        language: str = "en",
        threads: int | None = THREADS,
        compute_type: str = COMPUTE_TYPE,
        device: Device = "cpu",
        on_threads: Callable[[int], None] = lambda _threads: None,
        on_notice: Callable[[str], None] = lambda _sentence: None,
    ) -> None:
        """Without ``threads`` it measures, when nothing else is to do, whether two are faster.

        ``on_threads`` is told. ``on_notice`` is told what a person should know: the card cannot be used, the
        texts come late.
        """
        self.on_notice = on_notice
        self._model = model
        self._on_threads = on_threads
        self._how = (str(model), language, compute_type)
        self._device = _chosen(device)
        self._threads = threads or THREADS
        self._measure = threads is None and THREADS > 1
        self._worker = Worker("voice.backends.whisper_child")
        self._running = False
        self._cost_s = 0.0
        """Of a second of sound, at most so far; of each piece one second more is counted."""
        self._told_behind = False

    async def __aenter__(self) -> Self:
        self._loading = _Pending(np.zeros(SAMPLE_RATE, np.int16))
        self._present: _Pending | None = None
        self._queue = deque([self._loading])
        self._wanted = anyio.Event()
        self._loaded_at_s = 0.0
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
            for pending in filter(None, (self._present, *self._queue)):
                pending.settle(_stopped())
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
        self._queue_up(pending) if self._running else pending.settle(_stopped())
        return pending

    def _queue_up(self, pending: _Pending) -> None:
        self._queue = deque(one for one in self._queue if not one.cancelled)
        if sum(one.seconds for one in self._queue) + pending.seconds > MOST_WAITING_S:
            pending.settle(TranscriberError("Whisper is too far behind to take in any more."))
            return
        self._queue.append(pending)
        self._wanted.set()
        self._tell_if_behind()

    def _tell_if_behind(self) -> None:
        awaited = [one for one in (self._present, *self._queue) if one is not None and not one.cancelled]
        if self._told_behind or not self._loaded_at_s or not awaited:
            return
        behind_s = time.monotonic() - max(self._loaded_at_s, awaited[0].asked_at_s)
        if behind_s >= BEHIND_S:
            self._told_behind = True
            self.on_notice(
                f"Transcription is {behind_s:.0f} s behind; nothing that you say is lost. "
                "To mend it: a smaller model, as voice calibrate finds it."
            )

    async def _tell_when_behind(self) -> None:
        while not self._told_behind:
            await anyio.sleep(_LOOK_S)
            self._tell_if_behind()

    async def _work(self) -> None:
        pauses = deque(MEASURED_AFTER_S)
        while True:
            while self._queue:
                self._present = self._queue.popleft()
                if not self._present.cancelled:
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(self._tell_when_behind)
                        await self._answer(self._present)
                        tasks.cancel_scope.cancel()
                self._present = None
            self._wanted = anyio.Event()
            with anyio.move_on_after(pauses[0] if self._measurable() and pauses else None):
                await self._wanted.wait()
            if not self._wanted.is_set() and await self._measured():
                pauses.popleft()

    def _measurable(self) -> bool:
        if not self._measure or self._present_device != "cpu":
            return False
        try:
            return (self._model / "model.bin").stat().st_size <= MEASURED_AT_MOST
        except OSError:
            return False

    async def _measured(self) -> bool:
        """Find out how many threads are fastest; false where a piece came in between."""
        try:
            answer, _ = await self._request({"do": "measure"}, b"", _ANSWER_WITHIN_S, self._wanted)
        except WorkerFailed as failure:
            return failure.kind != Unwanted.__name__
        except WorkerDied:
            return True
        if answer["threads"] is not None:
            self._threads = answer["threads"]  # so that a later child has not to measure
            self._measure = False
            self._on_threads(self._threads)
        return True

    async def _request(
        self, header: Mapping[str, object], payload: bytes, within_s: float, unwanted: anyio.Event
    ) -> Message:
        model, language, compute_type = self._how
        self._worker.arguments = (model, language, str(self._threads), compute_type, self._present_device)
        return await self._worker.request(header, payload, within_s=within_s, unwanted=unwanted)

    @property
    def _present_device(self) -> str:
        return "cpu" if WhisperTranscriber._card_failed else self._device

    async def _answer(self, pending: _Pending) -> None:
        loading = pending is self._loading
        header = {"do": "load" if loading else "text", "vocabulary": pending.vocabulary}
        sound = pending.samples.tobytes()
        within_s = SPIN_S + SPIN_TIMES * self._cost_s * pending.seconds if self._cost_s else _ANSWER_WITHIN_S
        tries_left = TRIES
        while tries_left and not pending.cancelled:
            tries_left -= 1
            try:
                answer, _ = await self._request(header, sound, within_s, pending.unwanted)
            except WorkerFailed as failure:
                if failure.kind == Unwanted.__name__:
                    return
                await self._worker.kill()  # what it could not do it may have been left unable to do
                if self._gave_up_the_card(failure.sentence):
                    tries_left = TRIES
                elif (failure.loading or loading) and failure.kind != MemoryError.__name__:
                    pending.settle(_translated(failure, self._model))
                elif not tries_left:
                    pending.settle(_exhausted(failure))
            except WorkerDied as death:
                last_line = (death.last_words.splitlines() or [""])[-1]
                why = f"{death}. {last_line}".strip()
                if (death.loading or loading or not tries_left) and self._gave_up_the_card(why):
                    tries_left = TRIES
                elif not tries_left:
                    pending.settle(TranscriberDied(f"Whisper failed {TRIES} times: {why}"))
            else:
                self._cost_s = max(self._cost_s, answer["compute_s"] / pending.seconds)
                if loading:
                    self._loaded_at_s = time.monotonic()
                self._tell_if_behind()
                pending.settle(Transcript(**answer))
            if pending.done:
                return

    def _gave_up_the_card(self, why: str) -> bool:
        if self._present_device == "cpu":
            return False
        WhisperTranscriber._card_failed = True
        self.on_notice(
            f"Whisper cannot use the graphics card ({' '.join(why.split()).rstrip('.')}); "
            "it uses the processor instead."
        )
        return True


class _Pending:
    """A `voice.ports.PendingTranscript`."""

    def __init__(self, samples: Samples, vocabulary: tuple[str, ...] = ()) -> None:
        self.samples = samples
        self.vocabulary = vocabulary
        self.asked_at_s = time.monotonic()
        self.unwanted = anyio.Event()
        self._settled = anyio.Event()
        self._outcome: Transcript | TranscriberError | None = None

    @property
    def seconds(self) -> float:
        """How long it is, and one second, which also the shortest costs."""
        return len(self.samples) / SAMPLE_RATE + 1

    @property
    def done(self) -> bool:
        return self._settled.is_set()

    @property
    def cancelled(self) -> bool:
        return self.unwanted.is_set()

    async def result(self) -> Transcript:
        await self._settled.wait()
        if isinstance(self._outcome, Transcript):
            return self._outcome
        assert self._outcome is not None
        raise self._outcome

    def cancel(self) -> None:
        self.unwanted.set()

    def settle(self, outcome: Transcript | TranscriberError) -> None:
        """Give the answer; the first one holds."""
        if not self.done:
            self._outcome = outcome
            self._settled.set()


def _chosen(device: Device) -> str:
    if device != "auto":
        return device
    return "cuda" if any(Path(card).exists() for card in _CARDS) else "cpu"


def _exhausted(failure: WorkerFailed) -> TranscriberError:
    if failure.kind == MemoryError.__name__:
        return TranscriberError(
            "There is not enough memory for Whisper.",
            mend="end other programs, or take a smaller model, for example with --model tiny.en",
        )
    why = " ".join(failure.sentence.split()).rstrip(".")
    return TranscriberError(f"Whisper failed {TRIES} times: {why}.")


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
