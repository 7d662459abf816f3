"""What really takes time, in a thread with an event loop and a clock of its own: Whisper and the engine.

Their time limits are real ones, whatever the clock of a scene does. Whisper, once loaded, serves all scenes;
each run has an engine of its own.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from anyio.from_thread import BlockingPortal, start_blocking_portal

from voice.assembly import find_weights, make_engine, make_transcriber
from voice.audio import Samples, Sound
from voice.ports import SpeechEngine, Transcriber, Transcript
from voice.settings import SpeakingSettings, TranscriptionSettings


class Outside:
    """A context manager that owns them; each is started when it is asked for the first time."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._speaking = ExitStack()
        self._portal: BlockingPortal | None = None
        self._transcribers: dict[str, Transcriber] = {}
        self._engines: dict[str, SpeechEngine] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.end_engines()
        finally:
            self._stack.close()
            self._portal = None

    def transcribe(
        self, settings: TranscriptionSettings, samples: Samples, vocabulary: Sequence[str]
    ) -> concurrent.futures.Future[Transcript]:
        """What Whisper makes of a piece. Raises `TranscriberError` where there is none, or in the future."""
        portal, transcriber = self._entered(), self._transcriber(settings)

        async def transcribe() -> Transcript:
            return await transcriber.submit(samples, vocabulary=vocabulary).result()

        return portal.start_task_soon(transcribe)

    def render(
        self, settings: SpeakingSettings, sentence: str, rate: float
    ) -> concurrent.futures.Future[Sound]:
        """The sound of a sentence. `SpeechEngineError` comes in the future."""
        portal, engine = self._entered(), self._engine(settings)

        async def render() -> Sound:
            return await engine.render(sentence, rate=rate)

        return portal.start_task_soon(render)

    def load(self, settings: TranscriptionSettings) -> None:
        """Have Whisper ready. Raises `TranscriberError`."""
        self._transcriber(settings)

    def end_engines(self) -> None:
        """Have the next run begin with engines that have not spoken yet.

        What eSpeak NG makes of a sentence depends a little on what it said before: the same one was 23 ms
        longer the second time.
        """
        self._engines.clear()
        self._speaking.close()

    def _entered(self) -> BlockingPortal:
        if self._portal is None:
            self._portal = self._stack.enter_context(start_blocking_portal("asyncio"))
        return self._portal

    def _transcriber(self, settings: TranscriptionSettings) -> Transcriber:
        key = settings.model_dump_json()
        if key not in self._transcribers:
            whisper, portal = make_transcriber(settings, find_weights(settings)), self._entered()
            self._stack.enter_context(portal.wrap_async_context_manager(whisper))
            portal.call(whisper.ready)
            self._transcribers[key] = whisper
        return self._transcribers[key]

    def _engine(self, settings: SpeakingSettings) -> SpeechEngine:
        key = f"{settings.voice} {settings.language}"
        if key not in self._engines:
            engine = make_engine(settings)
            self._speaking.enter_context(self._entered().wrap_async_context_manager(engine))
            self._engines[key] = engine
        return self._engines[key]
