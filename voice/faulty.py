"""Parts that fail when they are told to: each wraps any implementation of its port, and shows a `Fault`.

A fault looks as it does at the port, when the real part below has done what it can: a child that is killed
once is started again and nobody hears of it; what comes out is that it cannot be had at all. `strike` begins
a fault and `mend` ends it; ``met`` counts how often it showed, so that a test can tell a fault that was borne
from one that nobody met. Limits and delays are seconds of the event loop's clock, which may be a virtual one.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from enum import StrEnum
from typing import Generic, TypeVar

import anyio

from voice.audio import Frame, Samples, Sound
from voice.backends.portaudio.heartbeat import LOST_AFTER_S
from voice.errors import (
    DeviceError,
    DeviceLost,
    HostDied,
    HostError,
    SpeechEngineDied,
    SpeechEngineError,
    TranscriberDied,
    TranscriberError,
)
from voice.events import DiscardReason, Emit, Event, HostLost
from voice.ports import (
    Delivery,
    Host,
    Journal,
    Microphone,
    PendingTranscript,
    Speaker,
    SpeechEngine,
    Transcriber,
    Transcript,
)

SLOW_S = 3.0
"""What a slow part takes longer, each time."""

BURST_S = LOST_AFTER_S - 0.1
"""A slow microphone gives so much sound at a time, just before it would count as lost."""

OPEN_LIMIT_S = 5.0
"""A device that has not opened by then does not open: as `voice.backends.portaudio` has it."""

WRITTEN_LIMIT_S = 0.5
"""So long at most a conversation waits until what was said is on the disk: `voice.ports.Journal`."""

NOT_KEPT = (
    "What you say and type cannot be kept until the agent has it: {why} The conversation goes on, and it is"
    " tried again."
)
NOT_WAITED_FOR = "The disk does not answer, so what you say is not waited for until it is kept."
"""What `voice.journal` tells of a disk that fails, and of one that hangs. Not every system has
its locks, so this is not taken from there; the tests hold both together."""

_LOOK_S = 0.05
"""How often what waits for a part that hangs looks whether it still does."""


class Fault(StrEnum):
    """What is wrong with a part."""

    KILLED = "killed"
    """It has ended, and cannot be had again until it is mended."""
    HANGS = "hangs"
    """It gives no answer and no error."""
    ERRORS = "errors"
    """It answers with an error; a device once, and then it can be had again."""
    SLOW = "slow"
    """It does all that it should, and late."""


class Faulty:
    """What all parts with a fault have in common."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        """The present one."""
        self.met = 0
        """How often it showed."""
        self._changed = anyio.Event()

    def strike(self, fault: Fault) -> None:
        """Have this fault from now on."""
        self.fault = fault
        self._tell_changed()

    def mend(self) -> None:
        """Be sound again."""
        self.fault = None
        self._tell_changed()

    def _tell_changed(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _meets(self, *faults: Fault) -> bool:
        """Whether one of these shows now; it is counted."""
        if self.fault not in faults:
            return False
        self.met += 1
        return True

    async def _sound_again(self) -> None:
        """Wait until it is mended."""
        while self.fault is not None:
            await self._changed.wait()

    async def _borne(self) -> None:
        """Wait as long as somebody does who asks a part that hangs, or is slow."""
        if self._meets(Fault.HANGS):
            await self._sound_again()
        elif self._meets(Fault.SLOW):
            await anyio.sleep(SLOW_S)


_Device = TypeVar("_Device", bound=Microphone | Speaker)


class _FaultyDevice(Faulty, Generic[_Device]):
    """What a microphone and a speaker have in common."""

    def __init__(self, inner: _Device) -> None:
        super().__init__()
        self._inner = inner
        self._broken = False
        """Whether the one error is still to come."""

    @property
    def name(self) -> str:
        """That of the real one."""
        return self._inner.name

    def strike(self, fault: Fault) -> None:
        """Have this fault."""
        super().strike(fault)
        self._broken = fault is Fault.ERRORS

    async def _found(self, noun: str) -> None:
        """Wait as long as it takes to open; raises `DeviceError` where it does not."""
        if self._meets(Fault.KILLED):
            raise DeviceError(f"There is no {noun}.")
        if self._meets(Fault.HANGS):
            with anyio.move_on_after(OPEN_LIMIT_S) as opening:
                await self._sound_again()
            if opening.cancelled_caught:
                raise DeviceError("The sound server does not answer.")
        if self._meets(Fault.SLOW):
            await anyio.sleep(SLOW_S)

    def _breaks_off(self) -> bool:
        """Whether it is lost now that it is open; by an error only once."""
        if not (self._broken or self.fault is Fault.KILLED):
            return False
        self.met += 1
        self._broken = False
        return True

    def _lost(self) -> DeviceLost:
        return DeviceLost(f"{self.name} is gone.")


# --- Listening --------------------------------------------------------------------------------------------


class FaultyTranscriber(Faulty):
    """A `Transcriber`: killed or with errors what has no text yet fails, and so does what it is given."""

    def __init__(self, inner: Transcriber) -> None:
        super().__init__()
        self._inner = inner
        self._unanswered: list[_FaultyTranscript] = []

    def strike(self, fault: Fault) -> None:
        """Have this fault, also for what was asked before and has no text yet."""
        super().strike(fault)
        self._unanswered = [pending for pending in self._unanswered if not pending.answered]
        for pending in self._unanswered:
            self._afflict(pending)

    def mend(self) -> None:
        """Be sound again: what hangs goes on."""
        super().mend()
        for pending in self._unanswered:
            pending.hangs = False

    def submit(self, samples: Samples, *, vocabulary: Sequence[str] = ()) -> PendingTranscript:
        """Take a piece."""
        pending = _FaultyTranscript(self._inner.submit(samples, vocabulary=vocabulary))
        self._unanswered.append(pending)
        self._afflict(pending)
        return pending

    def _afflict(self, pending: _FaultyTranscript) -> None:
        if self._meets(Fault.KILLED):
            pending.failure = TranscriberDied("Whisper failed 3 times: the child process ended.")
        elif self._meets(Fault.ERRORS):
            pending.failure = TranscriberError("Whisper cannot use its model.")
        elif self._meets(Fault.SLOW):
            pending.not_before_s = anyio.current_time() + SLOW_S
        elif self._meets(Fault.HANGS):
            pending.hangs = True


class _FaultyTranscript:
    def __init__(self, inner: PendingTranscript) -> None:
        self.failure: TranscriberError | None = None
        self.hangs = False
        self.not_before_s = -math.inf
        self._inner = inner

    @property
    def answered(self) -> bool:
        """Whether its text, or its error, cannot be taken from it any more."""
        return self.failure is not None or self.done

    @property
    def done(self) -> bool:
        if self.failure is not None:
            return True
        return not self.hangs and self._inner.done and anyio.current_time() >= self.not_before_s

    async def result(self) -> Transcript:
        while not self.done:  # noqa: ASYNC110 — the port tells nobody when it is
            await anyio.sleep(_LOOK_S)
        if self.failure is not None:
            raise self.failure
        return await self._inner.result()

    def cancel(self) -> None:
        self._inner.cancel()


class FaultyMicrophone(_FaultyDevice[Microphone]):
    """A `Microphone` that is pulled out, hangs with its sound server, breaks off, or comes in bursts."""

    @property
    def live(self) -> bool:
        """As the real one."""
        return self._inner.live

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[AsyncIterator[Frame]]:
        """Open it, where it lets itself be opened."""
        await self._found("microphone")
        async with self._inner.open() as frames, aclosing(self._heard(frames)) as faulty:
            yield faulty

    async def _heard(self, frames: AsyncIterator[Frame]) -> AsyncGenerator[Frame]:
        burst: list[Frame] = []
        burst_at_s = math.inf
        async for frame in frames:
            if self._breaks_off():
                raise self._lost()
            if self._meets(Fault.HANGS):
                with anyio.move_on_after(LOST_AFTER_S):
                    await self._sound_again()
                    continue
                raise self._lost()
            burst.append(frame)
            if self.fault is Fault.SLOW and burst_at_s == math.inf:
                self.met += 1
                burst_at_s = anyio.current_time() + BURST_S
            if self.fault is not Fault.SLOW or anyio.current_time() >= burst_at_s:
                arrived, burst, burst_at_s = burst, [], math.inf
                for late in arrived:
                    yield late


# --- Speaking ---------------------------------------------------------------------------------------------


class FaultyEngine(Faulty):
    """A `SpeechEngine`."""

    def __init__(self, inner: SpeechEngine) -> None:
        super().__init__()
        self._inner = inner

    async def render(self, sentence: str, *, rate: float = 1.0) -> Sound:
        """The sound of a sentence, where it makes one; a fault that comes meanwhile shows too."""
        await self._borne()
        sound = await self._inner.render(sentence, rate=rate)
        await self._borne()
        if self._meets(Fault.KILLED):
            raise SpeechEngineDied("The speech engine does not speak (the child process ended).")
        if self._meets(Fault.ERRORS):
            raise SpeechEngineError("The speech engine has no such voice.")
        return sound


class FaultySpeaker(_FaultyDevice[Speaker]):
    """A `Speaker` that is pulled out, hangs with its sound server, breaks off, or begins late."""

    @property
    def played_s(self) -> float:
        """Seconds of the present (or else the last) sound that have been heard."""
        return self._inner.played_s

    async def play(self, sound: Sound) -> None:
        """Play as much of it as can be heard."""
        await self._found("speaker")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._break_off, tasks.cancel_scope)
            await self._inner.play(sound)
            tasks.cancel_scope.cancel()
            return
        if self._meets(Fault.HANGS):
            await anyio.sleep(LOST_AFTER_S)
        raise self._lost()

    async def _break_off(self, playing: anyio.CancelScope) -> None:
        while not (self._breaks_off() or self.fault is Fault.HANGS):
            await self._changed.wait()
        playing.cancel()


# --- The journal ------------------------------------------------------------------------------------------


class FaultyJournal(Faulty):
    """A `Journal` on a disk that is pulled out, hangs, is full, or takes its time.

    On one that is full nothing more can be kept, and what is kept can be forgotten. What one that hangs was
    given meanwhile is done when it goes on. ``on_notice`` is told the first time that something is not kept.
    """

    def __init__(self, inner: Journal, on_notice: Callable[[str], None]) -> None:
        super().__init__()
        self._inner = inner
        self._on_notice = on_notice
        self._later: list[Callable[[], None]] = []
        self._unkept = 0
        self._told = False

    def strike(self, fault: Fault) -> None:
        """Have this fault; it is told anew."""
        super().strike(fault)
        self._told = False

    def mend(self) -> None:
        """Be sound again, and do what was to be done."""
        super().mend()
        later, self._later = self._later, []
        for act in later:
            act()

    def begin(self, samples: Samples) -> str:
        """Begin an utterance, whether it can be kept or not."""
        return self._unkept_id() if self._cannot_keep() else self._inner.begin(samples)

    def typed(self, text: str) -> str:
        """Keep a typed message, where it can be kept."""
        return self._unkept_id() if self._cannot_keep() else self._inner.typed(text)

    def append(self, utterance: str, samples: Samples) -> None:
        """Keep more of an utterance, where it can be kept."""
        if not (utterance.startswith(_UNKEPT) or self._cannot_keep()):
            self._inner.append(utterance, samples)

    async def written(self) -> None:
        """Wait, not for ever."""
        if self._meets(Fault.SLOW):
            await anyio.sleep(WRITTEN_LIMIT_S / 2)
        elif self.fault is Fault.HANGS and not self._told:
            await anyio.sleep(WRITTEN_LIMIT_S)
            self._tell()
        elif self.fault is None:
            await self._inner.written()

    @property
    def fails(self) -> bool:
        """Whether nothing can be kept now."""
        return self.fault not in (None, Fault.SLOW) or self._inner.fails

    def decided(self, utterances: Sequence[str], text: str, reason: DiscardReason | None = None) -> None:
        """Take note of what became of them, now or later."""
        kept = _kept(utterances)
        self._do(lambda: self._inner.decided(kept, text, reason))

    def accepted(self, utterances: Sequence[str]) -> None:
        """Forget them, now or later."""
        kept = _kept(utterances)
        self._do(lambda: self._inner.accepted(kept))

    def _do(self, act: Callable[[], None]) -> None:
        if self._meets(Fault.KILLED, Fault.HANGS, Fault.SLOW) and self.fault is not Fault.SLOW:
            self._later.append(act)
        else:
            act()

    def _cannot_keep(self) -> bool:
        if not self._meets(Fault.KILLED, Fault.ERRORS, Fault.HANGS):
            return False
        if self.fault is not Fault.HANGS:
            self._tell()
        return True

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            if self.fault is Fault.HANGS:
                self._on_notice(NOT_WAITED_FOR)
            else:
                why = os.strerror(errno.EIO if self.fault is Fault.KILLED else errno.ENOSPC)
                self._on_notice(NOT_KEPT.format(why=f"{why}."))

    def _unkept_id(self) -> str:
        self._unkept += 1
        return f"{_UNKEPT}{self._unkept}"


_UNKEPT = "unkept-"


def _kept(utterances: Sequence[str]) -> tuple[str, ...]:
    return tuple(utterance for utterance in utterances if not utterance.startswith(_UNKEPT))


# --- The agent --------------------------------------------------------------------------------------------


class FaultyHost(Faulty):
    """A `Host` whose program ends, hangs, refuses every message, or takes its time.

    ``make`` makes the real one, given where it tells its events; ``emit`` is where they go. While it hangs
    nothing of it is told, and what it has done meanwhile comes afterwards.
    """

    def __init__(self, make: Callable[[Emit], Host], emit: Emit) -> None:
        super().__init__()
        self._emit = emit
        self.inner = make(self._tells)
        """The real one."""
        self.dead = False
        """Whether it has ended, and was not opened again."""
        self._open = False
        self._untold: list[Event] = []

    @property
    def name(self) -> str:
        """That of the real one."""
        return self.inner.name

    @property
    def busy(self) -> bool:
        """Whether the agent is at work on a turn."""
        return self.inner.busy and not self.dead

    def strike(self, fault: Fault) -> None:
        """Have this fault; killed, it tells so at once."""
        super().strike(fault)
        if fault is Fault.KILLED and self._open:
            self.met += 1
            self.dead = True
            self._emit(HostLost("The agent has ended. Your next message starts it again."))

    def mend(self) -> None:
        """Be sound again, and tell what was not told."""
        super().mend()
        untold, self._untold = self._untold, []
        for event in untold:
            self._emit(event)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Start it, where it can be started."""
        if self._meets(Fault.KILLED):
            raise HostError("The agent cannot be started.")
        await self._borne()
        async with self.inner.open():
            self._open, self.dead = True, False
            try:
                yield
            finally:
                self._open = False

    async def send(self, text: str, delivery: Delivery = Delivery.FOLLOW_UP) -> None:
        """Hand over a message."""
        await self._borne()
        self._refuse()
        await self.inner.send(text, delivery)

    async def interrupt(self) -> None:
        """Have it stop what it is at."""
        await self._borne()
        self._refuse()
        await self.inner.interrupt()

    def _refuse(self) -> None:
        if self.dead:
            self.met += 1
            raise HostDied("The agent has ended.")
        if self._meets(Fault.ERRORS):
            raise HostError("The agent does not take the message.")

    def _tells(self, event: Event) -> None:
        if self.dead:
            return
        if self._meets(Fault.HANGS):
            self._untold.append(event)
        else:
            self._emit(event)
