"""The parts of a session that was recorded, as it is played again: each does what it did then."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import numpy as np

import voice.errors
from voice import events
from voice.audio import (
    FRAME_S,
    FRAME_SAMPLES,
    SAMPLE_RATE,
    WAV_HEADER_BYTES,
    Frame,
    Samples,
    Sound,
    silent_frame,
)
from voice.backends.recording import read_recording
from voice.errors import (
    DeviceError,
    DeviceLost,
    HostDied,
    RecordingError,
    SceneError,
    SpeechEngineError,
    TranscriberError,
)
from voice.events import Emit, Event, event_name
from voice.ports import Delivery, PendingTranscript, Transcript
from voice.scenes import log
from voice.scenes.parts import RENDER_S, Due, QuietEngine, SceneSpeaker, SpokenSound
from voice.scenes.script import Scene
from voice.scenes.wording import Wording

SAME_PIECE = 0.5
"""Two pieces are the same where they share this part of what they hold together: a frame more or less does
not matter, and half of another does."""


@dataclass(frozen=True)
class Recording:
    """A recorded session, read."""

    lines: tuple[log.LogLine, ...]
    heard: Samples
    """What the microphone gave, one opening after the other."""
    announced: Samples
    """What the speaker told that it plays."""

    def of(self, *kinds: type[log.LogLine]) -> list[Any]:
        """The lines of these kinds, in order."""
        return [line for line in self.lines if isinstance(line, kinds)]


def read_recorded(scene: Scene) -> Recording | None:
    """The session that a scene plays again, None where it plays none; raises `SceneError`."""
    if scene.recorded is None:
        return None
    path = scene.path(scene.recorded.log)
    try:
        lines = tuple(log.read_log(path.read_text(encoding="utf-8").splitlines()))
    except OSError as error:
        raise SceneError(f"{scene.file}: {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise SceneError(f"{path}: {error}.") from error
    recorded = scene.recorded
    return Recording(lines, _sound(scene, recorded.microphone), _sound(scene, recorded.speaker))


def _sound(scene: Scene, name: Path) -> Samples:
    path = scene.path(name)
    try:
        if path.stat().st_size <= WAV_HEADER_BYTES:
            return np.zeros(0, np.int16)
        return read_recording(path)
    except OSError as error:
        raise SceneError(f"{scene.file}: {path} cannot be read: {error.strerror}.") from error
    except RecordingError as error:
        raise SceneError(f"{scene.file}: {error.sentence}", mend=error.mend) from error


class RecordedMicrophone:
    """Gives the frames that were heard, in the openings and at the times in which they were."""

    name = "the recorded microphone"
    live = True

    def __init__(self, recording: Recording, wording: Wording) -> None:
        self._frames = recording.heard[: len(recording.heard) // FRAME_SAMPLES * FRAME_SAMPLES].reshape(
            -1, FRAME_SAMPLES
        )
        self._left = deque(recording.of(log.MicrophoneOpened, log.MicrophoneFailed))
        self._wording = wording

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[AsyncIterator[Frame]]:
        """Open it as often as it was; raises what was raised then. After that there is silence."""
        line = self._left.popleft() if self._left else None
        if line is not None:
            await anyio.sleep_until(line.at)
        if isinstance(line, log.MicrophoneFailed):
            raise _raised(line)
        async with aclosing(self._heard(line)) as frames:
            yield frames

    async def _heard(self, opened: log.MicrophoneOpened | None) -> AsyncGenerator[Frame]:
        begun_s, count = anyio.current_time(), 0
        if opened is not None:
            begun_s = opened.at
            last = self._left[0].frame if self._left else len(self._frames)
            for number in range(opened.frame, min(last, len(self._frames))):
                count += 1
                await anyio.sleep_until(begun_s + count * FRAME_S)
                frame = self._frames[number]
                self._wording.heard(number, frame)
                yield frame
            lost = self._left[0] if self._left else None
            if isinstance(lost, log.MicrophoneFailed) and not lost.opening:
                self._left.popleft()
                await anyio.sleep_until(lost.at)
                raise _raised(lost)
        while True:
            count += 1
            await anyio.sleep_until(begun_s + count * FRAME_S)
            yield silent_frame()


def _raised(line: log.MicrophoneFailed) -> DeviceError:
    kind = getattr(voice.errors, line.error, DeviceLost)
    made = kind(line.sentence) if isinstance(kind, type) and issubclass(kind, DeviceError) else None
    return made or DeviceLost(line.sentence)


class RecordedTranscriber:
    """Gives the texts that were made, each as long after it was asked for as it took then."""

    def __init__(self, recording: Recording, wording: Wording, delay_s: float) -> None:
        self._known: list[log.Understood] = recording.of(log.Understood)
        self._wording = wording
        self._delay_s = delay_s

    def submit(self, samples: Samples, *, vocabulary: Sequence[str] = ()) -> PendingTranscript:  # noqa: ARG002
        """Take a piece; its text is that of the recorded piece that is most like it."""
        first, last = self._wording.span(samples)
        best = max(self._known, key=lambda known: _likeness(known, first, last), default=None)
        now_s = anyio.current_time()
        if best is None or _likeness(best, first, last) < SAME_PIECE:
            return Due(Transcript(""), now_s + self._delay_s)
        return Due(_made_of(best), now_s + best.after_s)


def _likeness(known: log.Understood, first: int, last: int) -> float:
    shared = min(known.last, last) - max(known.first, first) + 1
    together = max(known.last, last) - min(known.first, first) + 1
    return shared / together


def _made_of(line: log.Understood) -> Transcript | TranscriberError:
    if line.error:
        return TranscriberError(line.error)
    return Transcript(
        line.text,
        line.no_speech_probability,
        line.average_log_probability,
        line.compression_ratio,
        line.ran_on,
    )


class RecordedEngine:
    """Takes as long for each sentence as it took, and gives silence as long as it was."""

    def __init__(self, recording: Recording) -> None:
        self._made = _by_text(recording.of(log.Rendered))

    async def render(self, sentence: str, *, rate: float = 1.0) -> Sound:
        """The sound of a sentence. Raises `SpeechEngineError` where it failed then."""
        if not (made := self._made[sentence]):
            return await QuietEngine().render(sentence, rate=rate)
        line = made.popleft()
        await anyio.sleep(line.after_s or RENDER_S)
        if line.error:
            raise SpeechEngineError(line.error)
        return SpokenSound(np.zeros(round(line.seconds * SAMPLE_RATE), np.int16), SAMPLE_RATE, text=sentence)


class RecordedSpeaker(SceneSpeaker):
    """Plays each sentence for as long as it took, with the delays of the device that it was."""

    name = "the recorded speaker"

    def __init__(self, emit: Emit, recording: Recording) -> None:
        super().__init__(emit)
        self._took = _by_text(recording.of(log.PlayedBack))
        self._line: log.PlayedBack | None = None

    async def play(self, sound: Sound) -> None:
        """Play it. Raises `DeviceLost` where the device failed then."""
        took = self._took[sound.text] if isinstance(sound, SpokenSound) else None
        self._line = took.popleft() if took else None
        failure = self._line.error if self._line is not None else ""
        with anyio.move_on_after(self._line.took_s if self._line is not None and failure else None):
            await super().play(sound)
        if failure:
            raise DeviceLost(failure)

    def takes_s(self, sound: Sound) -> float:
        """As long as it took; what was broken off then is broken off again."""
        line = self._line
        return line.took_s if line is not None and line.whole else sound.duration_s


def _by_text(lines: Iterable[Any]) -> Mapping[str, deque[Any]]:
    found: dict[str, deque[Any]] = defaultdict(deque)
    for line in lines:
        found[line.text].append(line)
    return found


_EVENTS: dict[str, type[Event]] = {
    event_name(kind.__new__(kind)): kind
    for kind in (
        *(events.AgentStarted, events.AgentEnded, events.AssistantDelta, events.AssistantText),
        *(events.ToolCalled, events.HostLost),
    )
}


class RecordedAgent:
    """A `Host` that tells what its program told; a message is accepted when it was, and never earlier."""

    name = "the recorded agent"

    def __init__(self, first_messages: Sequence[str], emit: Emit) -> None:
        self.first_messages = tuple(first_messages)
        self.busy = False
        """Whether a turn goes on, or a message was accepted that begins one."""
        self._emit = emit
        self._lost = False
        self._accepts = 0
        """How many messages it accepts now that it did not."""
        self._accepted = anyio.Event()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Have it there again."""
        self._lost = False
        yield

    async def send(self, text: str, delivery: Delivery = Delivery.FOLLOW_UP) -> None:  # noqa: ARG002
        """Take a message. Raises `HostDied` where its program was lost."""
        while not self._accepts and not self._lost:
            await self._accepted.wait()
        if self._lost:
            raise HostDied("The recorded agent had ended.")
        self._accepts -= 1
        self.busy = True

    async def interrupt(self) -> None:
        """What came of it was recorded."""

    async def accept(self) -> None:
        """Accept the message that waits to be, or the next one; returns when the session knows it."""
        self._accepts += 1
        self._wake()
        for _ in range(5):
            await anyio.lowlevel.checkpoint()

    def _wake(self) -> None:
        self._accepted.set()
        self._accepted = anyio.Event()

    def tell(self, values: Mapping[str, Any]) -> None:
        """Tell an event, as it was recorded."""
        kind = _EVENTS.get(values.get("event", ""))
        if kind is None:
            return
        event = kind(**{name: value for name, value in values.items() if name != "event"})
        if isinstance(event, events.AgentStarted):
            self.busy = True
        elif isinstance(event, events.AgentEnded | events.HostLost):
            self.busy = False
            self._lost = isinstance(event, events.HostLost)
            self._wake()
        self._emit(event)
