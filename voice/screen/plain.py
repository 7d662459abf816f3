"""`voice chat` in lines: for screen readers, logs and pipes. Nothing that was printed is ever changed.

A line that is typed is a message; `/voice`, `/stop`, `/status`, `/help` and `/quit` do what the keys do on
the other screen. While a question is asked a line is its answer, and `/help` is about it; so is `/stop`, once
nothing is narrated.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext, suppress

import anyio

from questionnaire import (
    BackgroundWriter,
    FileLines,
    Interview,
    LinearPresenter,
    Presenter,
    TerminalLost,
)
from voice.events import (
    DevicesInUse,
    Event,
    MessageQueued,
    MessageSent,
    PartialTranscript,
    Status,
    StatusChanged,
)
from voice.screen.entries import STATUS_WORDS, Entry, Kind, Story
from voice.screen.keys import ARMED_S, QUITTING, Act, Order, act_of, help_lines, message_of, order_of
from voice.screen.rows import entry_lines, status_lines
from voice.screen.state import ScreenState, after
from voice.screen.talking import HUNG_UP, INTERRUPTED, LEFT, NOBODY_HEEDS, Armed, Talk, Turns

_REST_S = 0.3
"""A conversation whose input has ended is over when it has been at rest for so long."""

_OURS_ALONE = frozenset({Act.VOICE, Act.STATUS, Act.QUIT})
"""What lines do that mean nothing to a question; with a second slash they are answers."""

_AT_REST = frozenset({Status.VOICE_OFF, Status.QUIET})


class PlainChat:
    """The conversation as lines, read from one file descriptor and written to another.

    `take` is an `Emit`; `presenter` asks questionnaires in lines. ``settings_told`` are the lines that
    `/status` adds. What is typed after an `Order` goes to what ``orders`` has for it.
    """

    help_with = "/help"
    """What is typed for help."""

    def __init__(
        self, read_fd: int, write_fd: int, *, settings_told: tuple[str, ...] = (), show_latency: bool = False
    ) -> None:
        self.orders: dict[Order, Callable[[str], None]] = {}
        self._is_terminal = os.isatty(read_fd)
        self._wraps = os.isatty(write_fd)
        # Who reads a pipe gets all, however long they pause: it is waited for.
        self._writer = BackgroundWriter(write_fd) if self._wraps else None
        self._lines = FileLines(read_fd, write_fd, self._writer)
        self._settings_told = settings_told
        self._story = Story(show_latency=show_latency)
        self._state = ScreenState()
        self._talk: Talk | None = None
        self._code: int | None = None
        self._armed = Armed(ARMED_S, lambda armed: self._say(QUITTING) if armed else None)
        self._turns = Turns()
        self._questions = LinearPresenter(_LinesOfAnswers(self._lines, self._heed_beside))
        self._reading: anyio.CancelScope | None = None
        self._gives_way = False
        self._aside, self._back = anyio.Event(), anyio.Event()

    @property
    def presenter(self) -> Presenter:
        """Asks in lines; what is typed meanwhile is its answer and no message."""
        return self

    def take(self, event: Event) -> None:
        """Print what has happened."""
        before, self._state = self._state, after(self._state, event)
        match event:
            case StatusChanged(status) if status is not before.status:
                self._remark(STATUS_WORDS[status])
            case PartialTranscript(text) if text != before.partial:
                self._remark(f"heard so far: {text}")
            case MessageQueued(text):
                self._remark(f"waits until the agent has finished: {text}")
            case MessageSent(text) if text in before.queued:
                self._remark(f"sent: {text}")
            case DevicesInUse(microphone, speaker) if microphone:
                self._remark(f"microphone: {microphone}; speaker: {speaker}")
        for entry in self._story.take(event):
            self._print(entry)

    def tell(self, *lines: str) -> None:
        """Print lines about the program itself."""
        self._say(*lines)

    def notice(self, sentence: str) -> None:
        """Print a sentence that a person should see."""
        self._print(Entry(Kind.NOTICE, sentence))

    async def run(self, talk: Talk) -> int:
        """Read lines until the user quits, the terminal hangs up, or this is cancelled; returns an exit code.

        Where input that is no terminal ends, what it asked for is still done, and Voice goes on if it is on.
        """
        self._talk = talk
        with self._writer or nullcontext():
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._armed.watch)
                    await self._read_lines()
                    tasks.cancel_scope.cancel()
            finally:
                with suppress(TerminalLost):
                    self._lines.tell_missed()
        self._aside.set()
        return LEFT if self._code is None else self._code

    async def present(self, interview: Interview) -> None:
        """Ask in lines, when nobody else is asking."""
        async with self._turns.turn(interview) as ours:
            if not ours:
                return
            self._aside, self._back = anyio.Event(), anyio.Event()
            self._gives_way = True
            try:
                if self._reading is not None:
                    self._reading.cancel()
                    await self._aside.wait()
                if self._code is None:
                    await self._questions.present(interview)
            finally:
                self._gives_way = False
                self._back.set()

    def interrupt(self) -> None:
        """Ctrl-C: have the agent and the narration stop; the second time quit."""
        if self._talk is None or self._armed.press():
            self._leave(INTERRUPTED)
            return
        self._talk.stop_narration()
        if self._state.working:
            self._talk.interrupt_agent()

    def close(self) -> None:
        """Read no more; `run` then returns."""
        self._code = LEFT if self._code is None else self._code
        self._back.set()
        if self._reading is not None:
            self._reading.cancel()

    async def _read_lines(self) -> None:
        while self._code is None:
            if self._gives_way:
                self._aside.set()
                await self._back.wait()
                continue
            line: str | None = ""
            with anyio.CancelScope() as self._reading:
                try:
                    line = await self._lines.read_line("")
                except TerminalLost:
                    self._leave(HUNG_UP)
                    return
            cancelled, self._reading = self._reading.cancelled_caught, None
            if cancelled:
                continue
            if line is None:
                if not self._is_terminal:
                    await self._until_at_rest()
                self._leave(LEFT)
                return
            self._heed(line)

    def _heed(self, line: str) -> None:
        self._armed.forget()
        if self._talk is None:
            return
        if (asked := order_of(line)) is not None:
            self._order(*asked)
            return
        match act_of(line):
            case Act.VOICE:
                self._talk.toggle_voice()
            case Act.STOP:
                self._talk.stop_narration()
            case Act.HELP:
                self._say(*help_lines(keys=False))
            case Act.STATUS:
                self._say(*status_lines(self._state), *self._settings_told)
            case Act.QUIT:
                self._leave(LEFT)
            case None:
                self._talk.draft(line)
                self._talk.send(message_of(line))

    def _order(self, order: Order, more: str) -> None:
        if order in self.orders:
            self.orders[order](more)
        else:
            self.tell(NOBODY_HEEDS[order])

    def _heed_beside(self, line: str) -> bool:
        """Do what a line asks of the conversation while a question is asked; False where it is for that."""
        if order_of(line) is not None:
            self._heed(line)
            return True
        match act_of(line):
            case act if act in _OURS_ALONE:
                self._heed(line)
                return True
            case Act.STOP:
                return self._talk is not None and self._talk.stop_narration()
        return False

    async def _until_at_rest(self) -> None:
        """Wait until what was typed has been dealt with, and while Voice is on."""
        rest_s = 0.0
        while rest_s < _REST_S and self._code is None:
            await anyio.sleep(_REST_S / 3)
            state = self._state
            busy = (
                state.working
                or state.voice_on
                or (self._talk and self._talk.waiting)
                or state.status not in _AT_REST
            )
            rest_s = 0.0 if busy else rest_s + _REST_S / 3

    def _leave(self, code: int) -> None:
        self._code = code if self._code is None else self._code
        if self._talk is not None:
            self._talk.quit()
        self.close()

    def _remark(self, text: str) -> None:
        self._print(Entry(Kind.REMARK, text))

    def _say(self, *lines: str) -> None:
        for line in lines:
            self._print(Entry(Kind.NOTICE, line))

    def _print(self, entry: Entry) -> None:
        try:
            for line in entry_lines(entry, self._lines.width if self._wraps else None):
                self._lines.write_line(line)
        except TerminalLost:
            self._leave(HUNG_UP)


class _LinesOfAnswers:
    """The terminal for whoever asks, less the lines that are for the conversation and no answers."""

    def __init__(self, lines: FileLines, heeded: Callable[[str], bool]) -> None:
        self._lines = lines
        self._heeded = heeded

    @property
    def width(self) -> int:
        return self._lines.width

    def write_line(self, line: str) -> None:
        self._lines.write_line(line)

    async def read_line(self, prompt: str) -> str | None:
        while (line := await self._lines.read_line(prompt)) is not None and self._heeded(line):
            pass
        plain = line.strip().removeprefix("/") if line is not None else ""
        if line is not None and (act_of(plain) in _OURS_ALONE or order_of(plain) is not None):
            return message_of(line)
        return line

    def discard(self) -> str:
        return self._lines.discard()
