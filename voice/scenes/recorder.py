"""A session is recorded, so that it can be played again: ``voice chat --record``.

It listens in at the ports and at the conversation's own doors, and changes nothing: what passes is noted with
the session's clock, which counts frames while the microphone is open. What it notes is `voice.scenes.log`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from questionnaire import AdjustableToolset, Lift, Outcome, Questionnaire, Restriction, Tool, ToolResult
from voice.audio import FRAME_S, Frame, Samples, Sound
from voice.chat import Chat
from voice.ears import Ears
from voice.errors import DeviceError, VoiceError
from voice.events import Emit, Event, LevelMeasured, MessageSent, UserMessage, as_json
from voice.hosts.catalog import Ask, MakeHost, Prompted
from voice.ports import Host, Microphone, PendingTranscript, Speaker, SpeechEngine, Transcriber, Transcript
from voice.scenes import log
from voice.scenes.folder import EVENTS, LOG, MICROPHONE, SPEAKER, RecordingFolder
from voice.scenes.parts import SpokenSound
from voice.scenes.screen import questionnaire_values
from voice.scenes.wording import Wording
from voice.settings import Settings
from voice.spoken_presenter.talk import SURFACE
from voice.tools import NARRATE


class Recorder:
    """Notes one session in a folder. `close` it at the end; without that it can be replayed all the same."""

    def __init__(
        self, folder: Path, settings: Settings, names: Sequence[str], notice: Callable[[str], None]
    ) -> None:
        """Raises `RecordingError` where nothing can be recorded there.

        ``notice`` is told when recording has to stop.
        """
        self._folder = RecordingFolder(folder)
        self._notice = notice
        self._told = False
        self._settings = settings
        self._names = tuple(names)
        self._frames = self._announced = self._calls = 0
        self._open = False
        self._begun_s: float | None = None
        self._listening_since_s = 0.0
        self._first_frame = 0
        self._wording = Wording()
        self._messages: list[str] = []
        self._prompts: tuple[str, ...] = ()
        self._speaker_tells = False
        self._write_scene()

    def close(self) -> None:
        """The session is over: write what is expected of it."""
        self._write_scene(messages=self._messages)
        self._folder.close()

    @property
    def now_s(self) -> float:
        """The session's clock."""
        if self._begun_s is None:
            self._begun_s = anyio.current_time()
        if self._open:
            # Half a frame later: what comes after a frame was heard comes after it when it is played again.
            return self._listening_since_s + (self._frames - self._first_frame + 0.5) * FRAME_S
        return max(anyio.current_time() - self._begun_s, 0.0)

    def note(self, kind: type[log.LogLine], *, at: float | None = None, **values: Any) -> None:
        """Write a line of the log, with the time it is now."""
        self._tell_failure()
        line = kind(at=round(self.now_s if at is None else at, 4), **values)
        self._folder.line(LOG, line.model_dump(mode="json"))

    def take(self, event: Event) -> None:
        """Note what happened."""
        if isinstance(event, LevelMeasured):
            return
        self._folder.line(EVENTS, {"clock_s": round(self.now_s, 3), **as_json(event)})
        if isinstance(event, MessageSent):
            self.note(log.Accepted, text=event.text)
            self._messages.append(event.text)

    def _tell_failure(self) -> None:
        if self._folder.failure and not self._told:
            self._told = True
            self._notice(self._folder.failure)

    # --- The agent -----------------------------------------------------------------------------------------

    def host(self, make: MakeHost) -> MakeHost:
        """What makes the host, overheard."""

        def made(tools: AdjustableToolset, ask: Ask, emit: Emit) -> Host:
            def told(event: Event) -> None:
                self.note(log.HostTold, event=as_json(event))
                emit(event)

            async def asked(questionnaire: Questionnaire) -> Outcome:
                values = questionnaire_values(questionnaire)
                number = self._begin_call(log.Asked, questionnaire=values)
                outcome: Outcome | None = None
                try:
                    outcome = await ask(questionnaire)
                    return outcome
                finally:
                    by_voice = outcome is not None and any(
                        response.by is not None and response.by.surface == SURFACE
                        for response in outcome.responses
                    )
                    told = outcome.status if outcome else "given up"
                    self.note(log.Returned, id=number, by_voice=by_voice, text=told)

            host = make(_OverheardTools(tools, self._call), asked, told)
            if isinstance(host, Prompted):
                self._prompts = tuple(host.first_messages)
                self._write_scene()
            return host

        return made

    async def _call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        call: Callable[[str, Mapping[str, Any]], Awaitable[ToolResult]],
    ) -> ToolResult:
        number = self._begin_call(log.ToolCall, name=name, arguments=dict(arguments))
        result: ToolResult | None = None
        try:
            result = await call(name, arguments)
            return result
        finally:
            self.note(
                log.Returned,
                id=number,
                by_voice=result is not None and name == NARRATE.name,
                text=result.text if result else "given up",
                is_error=result is None or result.is_error,
            )

    def _begin_call(self, kind: type[log.LogLine], **values: Any) -> int:
        self._calls += 1
        self.note(kind, id=self._calls, **values)
        return self._calls

    # --- The parts -----------------------------------------------------------------------------------------

    def overhear_devices(self, microphone: Microphone, speaker: Speaker) -> None:
        """Listen in at both for as long as there are any."""
        _pass_by(microphone, "open", self._opening)
        _pass_by(speaker, "play", self._playing)

    def overhear(self, transcriber: Transcriber, engine: SpeechEngine, ears: Ears) -> None:
        """Listen in at what is new each time that Voice is switched on."""
        _pass_by(transcriber, "submit", self._submitting)
        _pass_by(engine, "render", self._rendering)
        _pass_by(ears, "on_played", self._announcing)
        _pass_by(ears, "plays_nothing", self._told_of_no_sound)
        self._write_scene()

    def _opening(
        self, inner: Callable[[], AbstractAsyncContextManager[AsyncIterator[Frame]]]
    ) -> Callable[[], AbstractAsyncContextManager[AsyncIterator[Frame]]]:
        @asynccontextmanager
        async def opened() -> AsyncGenerator[AsyncIterator[Frame]]:
            opening = True
            try:
                async with inner() as frames:
                    opening = False
                    self._begin_to_listen()
                    try:
                        async with aclosing(self._heard(frames)) as heard:
                            yield heard
                    finally:
                        self._end_listening()
            except DeviceError as error:
                kind = type(error).__name__
                self.note(
                    log.MicrophoneFailed,
                    frame=self._frames,
                    error=kind,
                    sentence=error.sentence,
                    opening=opening,
                )
                raise

        return opened

    def _begin_to_listen(self) -> None:
        self._listening_since_s = self.now_s
        self._first_frame = self._frames
        self.note(log.MicrophoneOpened, frame=self._frames)
        self._open = True

    def _end_listening(self) -> None:
        now_s = self.now_s
        self._open = False
        self._begun_s = anyio.current_time() - now_s

    async def _heard(self, frames: AsyncIterator[Frame]) -> AsyncGenerator[Frame]:
        async for frame in frames:
            self._tell_failure()
            self._folder.sound(MICROPHONE, frame)
            self._wording.heard(self._frames, frame)
            self._frames += 1
            yield frame

    def _submitting(self, inner: Callable[..., PendingTranscript]) -> Callable[..., PendingTranscript]:
        def submit(samples: Samples, *, vocabulary: Sequence[str] = ()) -> PendingTranscript:
            pending = inner(samples, vocabulary=vocabulary)
            first, last = self._wording.span(samples)
            return _Overheard(pending, self, self.now_s, first, last)

        return submit

    def _rendering(self, inner: Callable[..., Awaitable[Sound]]) -> Callable[..., Awaitable[Sound]]:
        async def render(sentence: str, *, rate: float = 1.0) -> Sound:
            asked_s, error, seconds = self.now_s, "", 0.0
            try:
                sound = await inner(sentence, rate=rate)
                seconds = sound.duration_s
            except VoiceError as failure:
                error = failure.sentence
                raise
            finally:
                after_s = max(0.0, self.now_s - asked_s)
                if seconds or error:
                    self.note(
                        log.Rendered, at=asked_s, text=sentence, seconds=seconds, after_s=after_s, error=error
                    )
            return SpokenSound(sound.samples, sound.rate, sound.words, text=sentence)

        return render

    def _playing(self, inner: Callable[[Sound], Awaitable[None]]) -> Callable[[Sound], Awaitable[None]]:
        async def play(sound: Sound) -> None:
            begun_s, error, whole = self.now_s, "", False
            try:
                await inner(sound)
                whole = True
            except VoiceError as failure:
                error = failure.sentence
                raise
            finally:
                took_s = max(0.0, self.now_s - begun_s)
                if isinstance(sound, SpokenSound):
                    self.note(
                        log.PlayedBack, at=begun_s, text=sound.text, took_s=took_s, whole=whole, error=error
                    )

        return play

    def _announcing(self, inner: Callable[[Samples, float], None]) -> Callable[[Samples, float], None]:
        def on_played(samples: Samples, in_s: float) -> None:
            self._folder.sound(SPEAKER, samples)
            self.note(log.Announced, first=self._announced, count=len(samples), in_s=round(in_s, 4))
            self._announced += len(samples)
            inner(samples, in_s)

        self._speaker_tells = True
        return on_played

    def _told_of_no_sound(self, inner: Callable[[], None]) -> Callable[[], None]:
        def plays_nothing() -> None:
            self._speaker_tells = False
            self._write_scene()
            inner()

        return plays_nothing

    # --- The scene -----------------------------------------------------------------------------------------

    def _write_scene(self, messages: Sequence[str] | None = None) -> None:
        import yaml

        settings = self._settings.model_dump(mode="json", exclude_defaults=True)
        for group in settings.values():  # sets have no order of their own
            for name, value in group.items():
                group[name] = sorted(value) if isinstance(value, set | frozenset) else value
        scene: dict[str, Any] = {
            "title": "A recorded session",
            "settings": settings,
            "names": list(self._names),
            "words": "recorded",
            "engine": "recorded",
            "voice": False,
            "recorded": {"speaker_tells": self._speaker_tells, "first_messages": list(self._prompts)},
        }
        if messages is not None:
            scene["expect"] = {"messages": list(messages)}
        self._folder.scene(yaml.safe_dump(scene, sort_keys=False, allow_unicode=True, width=100))


def _pass_by(part: Any, name: str, overheard: Callable[[Any], Any]) -> None:
    """Have the calls of one method of this one object pass by here, once; whatever else it is, it stays."""
    if name not in vars(part):
        setattr(part, name, overheard(getattr(part, name)))


@dataclass
class _Overheard:
    """A transcript on its way."""

    inner: PendingTranscript
    recorder: Recorder
    asked_s: float
    first: int
    last: int
    done_s: float | None = None
    noted: bool = False

    @property
    def done(self) -> bool:
        done = self.inner.done
        if done and self.done_s is None:
            self.done_s = self.recorder.now_s
        return done

    async def result(self) -> Transcript:
        try:
            transcript = await self.inner.result()
        except VoiceError as error:
            self._note(error=error.sentence)
            raise
        self._note(
            text=transcript.text,
            no_speech_probability=transcript.no_speech_probability,
            average_log_probability=transcript.average_log_probability,
            compression_ratio=transcript.compression_ratio,
            ran_on=transcript.ran_on,
        )
        return transcript

    def cancel(self) -> None:
        self.inner.cancel()

    def _note(self, **values: Any) -> None:
        if not self.noted:
            self.noted = True
            done_s = self.recorder.now_s if self.done_s is None else self.done_s
            after_s = max(0.0, done_s - self.asked_s)
            self.recorder.note(
                log.Understood, at=self.asked_s, first=self.first, last=self.last, after_s=after_s, **values
            )


class _OverheardTools(AdjustableToolset):
    """The tools as they are, but for who hears of their calls."""

    def __init__(self, tools: AdjustableToolset, call: Callable[..., Awaitable[ToolResult]]) -> None:
        super().__init__(tools)
        self._tools = tools
        self._call = call

    @property
    def restrictions(self) -> tuple[Restriction, ...]:
        return self._tools.restrictions

    def tools(self) -> tuple[Tool, ...]:
        return self._tools.tools()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        return await self._call(name, arguments, self._tools.call)

    def add(self, restriction: Restriction) -> Lift:
        return self._tools.add(restriction)

    def on_change(self, callback: Callable[[tuple[Tool, ...]], object]) -> Callable[[], None]:
        return self._tools.on_change(callback)


class RecordedChat(Chat):
    """A conversation whose keys are noted; ``recorder`` is to be given before it runs."""

    recorder: Recorder
    _within = False
    """Whether it is one of our own calls that calls another."""

    def draft(self, text: str) -> None:
        """Tell what stands in the input line now."""
        self.recorder.note(log.Drafted, text=text)
        super().draft(text)

    def send(self, text: str) -> bool:
        """Send a typed message."""
        self.recorder.note(log.LineSent, text=text)
        return super().send(text)

    def send_kept(self, message: UserMessage) -> None:
        """Send what was not delivered before."""
        self.recorder.note(log.LineSent, text=message.text)
        super().send_kept(message)

    def toggle_voice(self) -> None:
        """Switch Voice on, or off."""
        self.recorder.note(log.Pressed, key="toggle_voice")
        super().toggle_voice()

    def stop_narration(self) -> bool:
        """Silence what is spoken."""
        if not self._within:
            self.recorder.note(log.Pressed, key="stop_narration")
        return super().stop_narration()

    def interrupt_agent(self) -> None:
        """Have the agent stop what it is at."""
        self.recorder.note(log.Pressed, key="interrupt_agent")
        self._within = True
        try:
            super().interrupt_agent()
        finally:
            self._within = False

    def quit(self) -> None:
        """End the conversation."""
        self.recorder.note(log.Pressed, key="quit")
        super().quit()
