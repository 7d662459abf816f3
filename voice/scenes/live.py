"""A session that is led step by step from a program that is not asynchronous, such as a test.

It runs in virtual time in a thread of its own. Each step is carried out there until nothing goes on any more;
between two steps its clock stands, for as long as the program takes.
"""

from __future__ import annotations

import concurrent.futures
import contextvars
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from pydantic import ValidationError

from voice.audio import Resampler, Samples, to_float
from voice.backends.recording import read_recording
from voice.errors import SceneError, VoiceError
from voice.events import (
    AgentEnded,
    CommandHeard,
    Discarded,
    DiscardReason,
    Event,
    HostLost,
    Status,
    StatusChanged,
    UserMessage,
)
from voice.hosts.own import host_maker_of
from voice.scenes.clock import virtual_loop
from voice.scenes.expecting import Happened
from voice.scenes.outside import Outside
from voice.scenes.played import Played
from voice.scenes.playing import LONGEST_S, Play, perform
from voice.scenes.reading import no_field
from voice.scenes.script import EventPattern, Happening, Scene
from voice.scenes.telling import timeline
from voice.settings import SpeakingSettings
from voice.wording import words

ENDS_WITHIN_S = 60.0
"""Real seconds in which a session has ended; one whose agent hangs is left behind."""

_Step = Callable[[Play], Awaitable[None]]


@dataclass(frozen=True)
class _Asked:
    """A step that is to be carried out, and what becomes of it; None: the session is to end."""

    step: _Step | None
    done: concurrent.futures.Future[None]


@dataclass(frozen=True)
class _Spoken:
    """Something that a person said."""

    text: str
    since: int
    """How many events there were before."""
    at_s: float


class Voices:
    """Speech for texts that nobody has recorded, by the speech engine; each is made once.

    ``outside`` is its alone: each text is made by an engine that has not spoken before, so that it sounds the
    same whatever else was said in a run of tests.
    """

    def __init__(self, outside: Outside) -> None:
        self._outside = outside
        self._made: dict[tuple[str, str], Samples] = {}

    def speak(self, text: str, settings: SpeakingSettings) -> Samples:
        """The sound of a text, at SAMPLE_RATE. Raises `SpeechEngineError`."""
        key = (settings.language, text)
        if key not in self._made:
            self._outside.end_engines()
            sound = self._outside.render(settings, text, 1.0).result()
            resampler = Resampler(sound.rate)
            self._made[key] = np.concatenate([*resampler.push(to_float(sound.samples)), *resampler.flush()])
        return self._made[key]


class LiveSession:
    """A session with an agent of the caller's own; a context manager that begins it and ends it.

    ``agent`` is what `voice.hosts.own.host_maker_of` takes. ``fields`` are those of a `Scene`, such as
    ``settings`` (as in settings.toml), ``voice``, ``screen``, ``room``. Recordings are looked for in
    ``folder``. With ``whisper`` that understands what is said; else each text is understood as it is given.

    The methods block until what they do has been carried out, and no agent's turn and no narration goes on
    any more (with ``wait`` false: until it is done); an agent that does not finish is waited for 120 s of the
    session. They raise what the agent raised, where that is a function.

    Raises `SceneError` for fields that are not usable, `SettingsError` for what is no agent, and `VoiceError`
    where Voice cannot be switched on.
    """

    def __init__(
        self,
        agent: Any,
        *,
        folder: Path,
        outside: Outside,
        voices: Voices,
        whisper: bool = False,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        self._scene = _model(
            Scene,
            {"words": "whisper" if whisper else "scripted", **(fields or {}), "file": folder / "the session"},
        )
        self._make_host = host_maker_of(agent, self._agent_failed)
        self._outside, self._voices = outside, voices
        self._next: concurrent.futures.Future[_Asked] = concurrent.futures.Future()
        self._over: concurrent.futures.Future[Played] = concurrent.futures.Future()
        self._play: Play | None = None
        self._stop: Callable[[], object] = lambda: None
        self._spoken: list[_Spoken] = []
        self._sounds = False
        self._failed: Exception | None = None
        self._given_up: list[int] = []
        """How many events there were each time when an agent at work was waited for no longer."""
        self._endless = False
        self._forgiven: set[str] = set()

    def __enter__(self) -> LiveSession:
        """Begin: Voice is on, unless it is to be off."""
        context = contextvars.copy_context()  # with what the caller overrides in an agent
        context.run(_forget_the_loop)
        threading.Thread(
            target=context.run, args=(self._perform,), name="a session in virtual time", daemon=True
        ).start()
        self._carry_out(_nothing)
        return self

    def __exit__(self, *_: object) -> None:
        """End it; what goes on is broken off."""
        self.end()

    # --- What a person does -------------------------------------------------------------------------------

    def say(self, text: str = "", *, recording: str | Path | None = None, wait: bool = True) -> None:
        """Say something, in the words of a recording, or else with the voice of the speech engine.

        ``text`` is what will be understood, where that is not left to Whisper; ``…`` in it stands for a pause
        of the recording. Raises `RecordingError` where that cannot be used.
        """
        __tracebackhide__ = True
        if not text and (recording is None or self._scene.words == "scripted"):
            raise SceneError("Nothing is given that could be understood.", mend='say("The words.")')
        fields: dict[str, Any] = {"say": recording or "speech"}
        if text and self._scene.words == "scripted":
            fields["text"] = text
        try:
            if recording is not None:
                samples = read_recording(self._scene.path(Path(recording)))
            else:
                samples = self._voices.speak(text, self._scene.settings.speaking)
        except VoiceError as error:
            raise _plain(error) from None
        self._spoken.append(_Spoken(text, len(self._so_far.happened), self._now_s))
        self._do(fields, samples, wait=wait)

    def send(self, text: str, *, wait: bool = True) -> None:
        """Type a line and send it."""
        __tracebackhide__ = True
        self._do({"send": text}, wait=wait)

    def answer(self, reply: str, *, wait: bool = True) -> None:
        """Answer the question that stands on the screen. Raises `AssertionError` where none does."""
        __tracebackhide__ = True
        self._do({"answer": reply}, wait=wait)

    def do(self, *, wait: bool = True, **happening: Any) -> None:
        """Have anything happen that can in a scene: ``do(key="F2")``, ``do(fault={…})``."""
        __tracebackhide__ = True
        self._do(happening, wait=wait)

    def until(self, event: str, *, within_s: float = 60.0, **fields: Any) -> None:
        """Let time pass until an event comes, if it has not come since what was done last began.

        Events are named as in a scene. Raises `AssertionError` where it does not come.
        """
        __tracebackhide__ = True
        pattern = _model(EventPattern, {"event": event, **fields})

        async def wait(play: Play) -> None:
            if not await play.came(pattern, within_s):
                raise AssertionError(f"{pattern} did not come within {within_s:g} s of the session.")

        self._carry_out(wait)

    def settle(self) -> None:
        """Let time pass until nothing goes on any more, or nothing but that an answer is waited for."""
        __tracebackhide__ = True
        self._carry_out(self._settle)

    def end(self) -> None:
        """End the session, whatever goes on. What came of it can still be read."""
        if self._over.done():
            return
        self._endless = self._never_finished()
        if not self._next.done():  # between two steps
            self._next.set_result(_Asked(None, concurrent.futures.Future()))
        else:
            with suppress(RuntimeError):  # it has just ended
                self._stop()
        concurrent.futures.wait([self._over], ENDS_WITHIN_S)

    # --- What came of it ----------------------------------------------------------------------------------

    @property
    def messages(self) -> list[str]:
        """What the agent accepted, in order."""
        return list(self._so_far.messages)

    @property
    def said(self) -> list[str]:
        """The sentences that were spoken to their end."""
        return list(self._so_far.said)

    @property
    def discarded(self) -> list[tuple[str, str]]:
        """What was heard and not delivered: each time the reason and the words."""
        return list(self._so_far.discarded)

    @property
    def notices(self) -> list[str]:
        """What the person was told in writing."""
        return list(self._so_far.notices)

    @property
    def tools(self) -> list[str]:
        """The tools of the session that the agent has now."""
        return list(self._so_far.tools[-1][1])

    @property
    def tools_over_time(self) -> list[tuple[float, tuple[str, ...]]]:
        """All that it had, each time with when that began, in seconds of the session."""
        return list(self._so_far.tools)

    @property
    def events(self) -> list[Event]:
        """All that happened (`voice.events`)."""
        return list(self._so_far.events)

    @property
    def timeline(self) -> str:
        """The same in words, a line each, with the times."""
        return "\n".join(timeline(self._so_far.happened))

    @property
    def complaints(self) -> list[str]:
        """What a test should not pass over, in sentences: what was said in vain, an agent that failed."""
        return [complaint for complaint in self._found() if complaint not in self._forgiven]

    def forgive(self, part: str) -> None:
        """Expect a complaint: those that hold this text are none. Raises `AssertionError` where none does."""
        __tracebackhide__ = True
        expected = {complaint for complaint in self.complaints if part in complaint}
        if not expected:
            raise AssertionError(f"No complaint holds {part!r}; there are: {self.complaints}")
        self._forgiven |= expected

    def _found(self) -> list[str]:
        played = self._so_far
        found = [
            *played.complaints,
            *self._said_in_vain(played.happened),
            *self._asked_in_vain(played.happened),
        ]
        for event in played.events:
            if isinstance(event, AgentEnded) and event.error:
                found.append(f"A turn of the agent ended by an error: {event.error}")
            elif isinstance(event, HostLost):
                found.append(f"The agent was lost: {event.sentence}")
        found += [f"The agent never accepted {text!r}." for text in played.waiting]
        if self._endless or self._never_finished():
            found.append(f"The agent did not finish its turn: it was waited for {LONGEST_S:g} s.")
        if self._next.done() and not self._over.done():
            found.append(f"The session did not end within {ENDS_WITHIN_S:g} s: its agent hangs.")
        return found

    def _said_in_vain(self, happened: tuple[Happened, ...]) -> list[str]:
        found = []
        for spoken in self._spoken:
            outcomes = [told for one in happened[spoken.since :] if (told := _outcome(one.event)) is not None]
            wanted = set(words(spoken.text)) if self._scene.words == "scripted" else set()
            if not any(not wanted or wanted & set(words(told)) for told in outcomes):
                what = repr(spoken.text) if spoken.text else "A recording"
                status = _status(happened[: spoken.since])
                found.append(
                    f"{what} was said at {spoken.at_s:.2f} s, and nobody heard it (status then: {status})."
                )
        return found

    def _never_finished(self) -> bool:
        """Whether the agent is still in a turn that was waited for; not once the session has ended."""
        if not self._given_up or self._over.done():
            return False
        since = self._so_far.events[self._given_up[-1] :]
        return not any(isinstance(event, AgentEnded | HostLost) for event in since)

    def _asked_in_vain(self, happened: tuple[Happened, ...]) -> list[str]:
        """What the transcriber was asked for though nobody spoke."""
        if self._scene.words != "scripted" or self._sounds or self._scene.room.noise_dbfs is not None:
            return []
        return [
            f"The transcriber was asked at {one.clock_s:.2f} s for a sound in which no words are."
            for one in happened
            if isinstance(one.event, Discarded) and one.event.reason is DiscardReason.NO_WORDS
        ]

    # --- Its thread ---------------------------------------------------------------------------------------

    @property
    def _so_far(self) -> Played:
        if self._over.done() and self._over.exception() is None:
            return self._over.result()
        if self._play is None:
            raise RuntimeError("The session has not begun: with LiveSession(…) as session.")
        return self._play.so_far

    @property
    def _now_s(self) -> float:
        happened = self._so_far.happened
        return happened[-1].clock_s if happened else 0.0

    def _do(self, fields: Mapping[str, Any], samples: Samples | None = None, *, wait: bool = True) -> None:
        __tracebackhide__ = True
        happening = _model(Happening, fields)
        self._sounds = self._sounds or happening.sound is not None

        async def do(play: Play) -> None:
            before = len(play.so_far.complaints)
            await play.do(happening, samples)
            if wrong := play.so_far.complaints[before:]:
                raise AssertionError(" ".join(wrong).partition(": ")[2])
            if wait:
                await self._settle(play)

        self._carry_out(do)

    async def _settle(self, play: Play) -> None:
        if not await play.settle():
            self._given_up.append(len(play.so_far.events))

    def _carry_out(self, step: _Step) -> None:
        """Have the session's thread take a step; raises what comes of it, which is no complaint then."""
        __tracebackhide__ = True
        before = self._forgiven.union([] if self._play is None else self._found())
        wrong = self._ended() or self._taken(step)
        if self._play is not None and wrong is not None:
            self._forgiven.update(set(self._found()) - before)
        if wrong is not None:
            raise wrong

    def _taken(self, step: _Step) -> BaseException | None:
        """Have a step taken; returns what is wrong with it."""
        asked = _Asked(step, concurrent.futures.Future())
        self._next.set_result(asked)
        either: list[concurrent.futures.Future[Any]] = [asked.done, self._over]
        concurrent.futures.wait(either, return_when=concurrent.futures.FIRST_COMPLETED)
        failed, self._failed = self._failed, None
        if not asked.done.done():
            return self._ended()
        wrong = asked.done.exception()
        return failed or (wrong and _plain(wrong))

    def _ended(self) -> BaseException | None:
        """Why no further step can be taken; None where one can."""
        return (self._over.exception() or SceneError("The session has ended.")) if self._over.done() else None

    def _agent_failed(self, error: Exception) -> None:
        self._failed = error

    def _perform(self) -> None:
        try:
            played = perform(self._scene, make_host=self._make_host, outside=self._outside, lead=self._lead)
        except BaseException as error:
            self._over.set_exception(error)
        else:
            self._over.set_result(played)

    async def _lead(self, play: Play) -> None:
        loop = virtual_loop()
        self._play = play
        with anyio.CancelScope() as scope:
            self._stop = lambda: loop.call_soon_threadsafe(scope.cancel)
            await self._follow(play)
        loop.stands_still_s = 0.0  # what the agent waits for is for nobody now

    async def _follow(self, play: Play) -> None:
        """Take one step after the other until there is none."""
        loop = virtual_loop()
        while True:
            asked = await loop.stop_until(self._next)
            if asked.step is None:
                return
            try:
                await asked.step(play)
            except Exception as error:
                self._next = concurrent.futures.Future()
                asked.done.set_exception(error)
            else:
                self._next = concurrent.futures.Future()
                asked.done.set_result(None)


def _plain(error: BaseException) -> BaseException:
    """An error without where it comes from in here: who is told what is wrong has no use for that."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def _status(happened: tuple[Happened, ...]) -> Status:
    """What went on at the end of that."""
    changes = (one.event.status for one in reversed(happened) if isinstance(one.event, StatusChanged))
    return next(changes, Status.VOICE_OFF)


def _outcome(event: Event) -> str | None:
    """The words of an event that says what became of something that was said."""
    match event:
        case UserMessage(text=text, source="voice"):
            return text
        case Discarded(text=text):
            return text
        case CommandHeard(phrase=phrase):
            return phrase
        case _:
            return None


async def _nothing(_: Play) -> None:
    pass


def _forget_the_loop() -> None:
    """Have nothing in this context say that an event loop runs here: that is so in the caller's thread."""
    try:
        import sniffio
    except ModuleNotFoundError:
        return
    sniffio.current_async_library_cvar.set(None)


def _model(kind: Any, fields: Mapping[str, Any]) -> Any:
    """Fields as a model of a scene. Raises `SceneError` for the first that cannot be used."""
    __tracebackhide__ = True
    try:
        return kind.model_validate(dict(fields))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        name = " ".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            raise SceneError(no_field(problem["loc"], kind)) from None
        raise SceneError(f"{name}: {message}".removeprefix(": ")) from None
