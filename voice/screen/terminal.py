"""`voice chat` on a terminal: an input line with its state below the conversation, drawn by prompt_toolkit.

What was said goes into the terminal's own scrollback and stays there; only what is below it is drawn anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

import anyio
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.layout import BufferControl, ConditionalContainer, Dimension, HSplit, Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl

from questionnaire import BackgroundWriter, Interview, Presenter, Surroundings, TerminalPresenter
from questionnaire.inline import (
    InlineApplication,
    classes,
    markdown_rows,
    reflows,
    running_application,
    styles,
    terminal_of,
    typed_ahead,
)
from voice.events import Event
from voice.screen.entries import Entry, Kind, Story
from voice.screen.keys import ARMED_S, KEYS, Act, Order, act_of, help_lines, message_of, order_of
from voice.screen.rows import LOOKS, Row, above_rows, below_rows, entry_rows, line_rows, status_lines
from voice.screen.state import ScreenState, after
from voice.screen.talking import HUNG_UP, INTERRUPTED, LEFT, NOBODY_HEEDS, Armed, Talk, Turns

PAUSE_S = 1.0
"""A question waits until somebody who is typing has paused for so long: their keys are not meant for it. On
an empty line too: who has just sent one may begin the next, and a "1" or an Enter would allow something."""

PASTED_KEYS = 4
"""So many keys behind Enter, there at once, are more than somebody typed: the terminal pastes and does not
say so, and the line is not over."""

GUARD_S = 0.3
"""So soon after a dialog Enter sends nothing: it was meant for the dialog."""

_COLOURS = ("green", "cyan", "magenta", "yellow")


class ChatTerminal:
    """The conversation on the terminal behind two file descriptors, which are not closed.

    `take` is an `Emit`; `presenter` asks questionnaires in place of the input line. ``settings_told`` are the
    lines that `/status` adds. What is typed after an `Order` goes to what ``orders`` has for it.
    """

    help_with = "?"
    """What is typed for help."""

    def __init__(
        self, read_fd: int, write_fd: int, *, settings_told: tuple[str, ...] = (), show_latency: bool = False
    ) -> None:
        self.orders: dict[Order, Callable[[str], None]] = {}
        self._fds = (read_fd, write_fd)
        self._writer = BackgroundWriter(write_fd)
        self._settings_told = settings_told
        self._story = Story(show_latency=show_latency)
        self._state = ScreenState()
        self._drawn: object = None
        self._waiting: list[Callable[[int], list[Row]]] = []
        self._app: InlineApplication | None = None
        self._talk: Talk | None = None
        self._code: int | None = None
        self._fault: Exception | None = None
        self._over = False
        self._armed = Armed(ARMED_S, self._show_armed)
        self._turns = Turns()
        self._gives_way = False
        self._aside, self._back = anyio.Event(), anyio.Event()
        self._begun = anyio.Event()
        self._last_key_s = self._sends_from_s = float("-inf")
        self._input = Buffer(multiline=True, history=InMemoryHistory(), on_text_changed=self._typed)
        around = lambda: Surroundings(self._footer, self._keys_around(), _looks(), self._writer)  # noqa: E731
        self._dialogs = TerminalPresenter(self._terminal, around=around)

    @property
    def presenter(self) -> Presenter:
        """Asks in place of the input line, which comes back with what stood in it."""
        return self

    def take(self, event: Event) -> None:
        """Show what has happened; a fault in that ends `run`, and never what happens."""
        with self._failing():
            self._state = after(self._state, event)
            self._print(self._story.take(event))
            self._refresh()

    def tell(self, *lines: str) -> None:
        """Show lines about the program itself."""
        self._print_lines(list(lines))

    def notice(self, sentence: str) -> None:
        """Show a sentence that a person should see."""
        self._print([Entry(Kind.NOTICE, sentence)])

    async def run(self, talk: Talk) -> int:
        """Read keys until the user quits, the terminal hangs up, or this is cancelled.

        Returns an exit code; however it ends, the terminal's modes are as before, and nothing is drawn.
        """
        self._talk = talk
        with self._writer, terminal_of(*self._fds, self._writer) as (keys, output):
            above = Window(FormattedTextControl(self._above), dont_extend_height=True)
            input_line = Window(
                BufferControl(self._input),
                height=lambda: Dimension(max=max(1, output.get_size().rows // 3)),
                get_line_prefix=lambda line, wraps: [
                    (classes("prompt"), "> " if not (line or wraps) else "  ")
                ],
                wrap_lines=True,
                dont_extend_height=True,
            )
            below = Window(FormattedTextControl(self._below), dont_extend_height=True)
            has_above = Condition(lambda: bool(self._above_rows()))
            self._app = app = InlineApplication(
                gained=lambda width: app.rows_gained(width) if reflows(os.environ) else 0,
                edits=True,
                layout=Layout(
                    HSplit([ConditionalContainer(above, has_above), input_line, below]),
                    focused_element=input_line,
                ),
                key_bindings=self._bindings(),
                style=styles(_looks()),
                input=keys,
                output=output,
                before_render=self._before_drawing,
                after_render=lambda _: self._begin(),
            )
            app.key_processor.before_key_press += lambda _: self._key_pressed()
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._armed.watch)
                    tasks.start_soon(self._press, app, typed_ahead(self._fds[0]))
                    await self._read_keys(app)
                    tasks.cancel_scope.cancel()
            finally:
                self._app = None
                self._over = True
                self._code = self._code or LEFT
                for event in (self._begun, self._aside):  # nobody is asked any more
                    event.set()
                if self._input.text.strip():
                    self.notice(f"This was not sent: {self._input.text}")
        if self._fault is not None:
            raise self._fault
        return self._code

    async def present(self, interview: Interview) -> None:
        """Ask with the dialog, when the screen is free and nobody is in the middle of typing."""
        await self._begun.wait()
        async with self._turns.turn(interview) as ours:
            if not ours or not await self._paused(interview):
                return
            self._aside, self._back = anyio.Event(), anyio.Event()
            self._gives_way = True
            try:
                self._exit()
                await self._aside.wait()
                if self._code is None:
                    self._tell_draft("")  # nobody types now, so the microphone is not held either
                    await self._dialogs.present(interview)
            finally:
                self._gives_way = False
                self._tell_draft(self._input.text)
                self._sends_from_s = anyio.current_time() + GUARD_S
                self._back.set()

    async def _read_keys(self, app: InlineApplication) -> None:
        while self._code is None:
            if self._gives_way:
                self._aside.set()
                await self._back.wait()
                continue
            try:
                await app.show()
            except (EOFError, OSError):
                self._leave(HUNG_UP)

    async def _press(self, app: InlineApplication, lines: list[list[KeyPress]]) -> None:
        """Press what was typed ahead as if it were typed now: a line at a time, so that none is a paste."""
        await self._begun.wait()
        for line in lines:
            if app.is_running and not app.is_done:
                app.key_processor.feed_multiple(line)
                app.key_processor.process_keys()

    def _begin(self) -> None:
        """The input line stands there for the first time, and takes keys: print what was to be printed."""
        if self._begun.is_set():
            return
        self._begun.set()
        waiting, self._waiting = self._waiting, []
        for rows in waiting:
            self._print_rows(rows)

    async def _paused(self, interview: Interview) -> bool:
        """Wait until nobody is typing; returns whether the questions are still to be asked then."""
        told = False
        while (left := self._last_key_s + PAUSE_S - anyio.current_time()) > 0:
            if self._input.text and not told:
                self.notice("A question waits until you pause.")
                told = True
            await anyio.sleep(left)
            if interview.outcome is not None:
                return False
        return True

    @contextmanager
    def _terminal(self) -> Iterator[tuple[int, int]]:
        yield self._fds

    # --- Keys ---------------------------------------------------------------------------------------------

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()
        empty = Condition(lambda: not self._input.text)
        bindings.add("enter")(self._enter)
        bindings.add("escape", "enter")(lambda _: self._input.insert_text("\n"))
        bindings.add("c-j")(lambda _: self._input.insert_text("\n"))
        bindings.add("escape")(lambda _: self._escape())
        bindings.add("c-c")(lambda _: self.interrupt())
        bindings.add("<sigint>")(lambda _: self.interrupt())
        bindings.add("c-d", filter=empty)(lambda _: self._leave(LEFT))
        bindings.add("?", filter=empty)(lambda _: self._do(Act.HELP))
        for key, act in KEYS.items():
            bindings.add(key)(_doing(self._do, act))
        return bindings

    def _keys_around(self) -> dict[str, Callable[[], None]]:
        return {key: partial(self._do, act) for key, act in KEYS.items() if act is not Act.HELP}

    def _enter(self, event: KeyPressEvent) -> None:
        queue = event.app.key_processor.input_queue
        if len(queue) >= PASTED_KEYS and len(queue[0].key) == 1:
            self._input.insert_text("\n")
            return
        if anyio.current_time() < self._sends_from_s:
            return
        line = self._input.text
        if line.strip():
            self._input.append_to_history()
        act, asked = act_of(line), order_of(line)
        if act is None and asked is None and self._talk is not None:
            self._talk.send(message_of(line))
        self._clear()
        if act is not None:
            self._do(act)
        elif asked is not None:
            self._order(*asked)

    def _order(self, order: Order, more: str) -> None:
        self._armed.forget()
        if order in self.orders:
            self.orders[order](more)
        else:
            self.tell(NOBODY_HEEDS[order])

    def _escape(self) -> None:
        self._armed.forget()
        if self._input.text:
            self._input.append_to_history()  # so that it can be had back
            self._clear()
        elif self._talk is not None:
            self._talk.stop_narration()

    def interrupt(self) -> None:
        """Ctrl-C: have the agent and the narration stop; the second time quit."""
        if self._armed.press():
            self._leave(INTERRUPTED)
            return
        if self._talk is not None:
            self._talk.stop_narration()
            if self._state.working:
                self._talk.interrupt_agent()

    def _do(self, act: Act) -> None:
        self._armed.forget()
        if self._talk is None:
            return
        match act:
            case Act.VOICE:
                self._talk.toggle_voice()
            case Act.STOP:
                self._talk.stop_narration()
            case Act.HELP:
                self._print_lines(help_lines(keys=True))
            case Act.STATUS:
                self._print_lines([*status_lines(self._state), *self._settings_told])
            case Act.QUIT:
                self._leave(LEFT)

    def _leave(self, code: int) -> None:
        self._code = code if self._code is None else self._code
        if self._talk is not None:
            self._talk.quit()
        self.close()

    def close(self) -> None:
        """Take the input line off the screen; `run` then returns."""
        self._code = self._code or LEFT
        self._back.set()
        self._exit()

    def _exit(self) -> None:
        if self._app is not None and self._app.is_running and not self._app.is_done:
            self._app.exit()

    def _clear(self) -> None:
        self._input.reset()  # which tells nobody
        self._typed(self._input)

    def _typed(self, _: Buffer) -> None:
        self._armed.forget()
        self._tell_draft(self._input.text)

    def _tell_draft(self, text: str) -> None:
        if self._talk is not None and text != self._state.draft:
            self._talk.draft(text)
        self._state = replace(self._state, draft=text)

    def _key_pressed(self) -> None:
        self._last_key_s = anyio.current_time()

    def _show_armed(self, armed: bool) -> None:
        self._state = replace(self._state, armed=armed)
        self._refresh()

    # --- Drawing ------------------------------------------------------------------------------------------

    def _print(self, entries: list[Entry]) -> None:
        self._print_rows(
            lambda width: [row for entry in entries for row in entry_rows(entry, width, markdown_rows)]
        )

    def _print_lines(self, lines: list[str]) -> None:
        self._print_rows(lambda width: line_rows(lines, width))

    def _print_rows(self, rows: Callable[[int], list[Row]]) -> None:
        """Print rows, made for the width of the terminal, above the input line or the dialog."""
        if self._over:  # what is told while the conversation is being closed: a message that was not sent
            with suppress(OSError):
                lines = (
                    "".join(text for _, text in row)
                    for row in rows(os.get_terminal_size(self._fds[1])[0] - 1)
                )
                self._writer.write("".join(f"{line}\n" for line in lines).encode(errors="replace"))
            return
        app = running_application() or self._app
        if app is None or not self._begun.is_set():
            self._waiting.append(rows)
        else:
            app.print_above(rows(app.output.get_size().columns - 1))

    def _refresh(self) -> None:
        """Draw anew, where there is anything new to draw."""
        drawn = (self._state, self._story.unfinished)
        app = running_application()
        if app is not None and drawn != self._drawn:
            self._drawn = drawn
            app.invalidate()

    def _before_drawing(self, app: object) -> None:
        """Let the block shrink where it has fewer rows: prompt_toolkit keeps what it once took."""
        if not isinstance(app, InlineApplication):
            return
        last, size = app.renderer.last_rendered_screen, app.output.get_size()
        if (
            last is not None
            and last.height > app.layout.container.preferred_height(size.columns, size.rows).preferred
        ):
            app.renderer.erase()

    def _above_rows(self) -> tuple[Row, ...]:
        with self._failing():
            return above_rows(self._state, self._story.unfinished, *self._size())
        return ()

    def _above(self) -> StyleAndTextTuples:
        return _fragments(self._above_rows())

    def _below(self) -> StyleAndTextTuples:
        with self._failing():
            return _fragments(below_rows(self._state, *self._size()))
        return []

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Have a fault end `run`, which raises it: a screen that shows less than it should helps nobody."""
        try:
            yield
        except Exception as error:
            self._fault = self._fault or error
            self.close()

    def _footer(self, width: int, height: int) -> tuple[Row, ...]:
        return below_rows(self._state, width, 3)[:1] if height >= 5 else ()

    def _size(self) -> tuple[int, int]:
        if self._app is None:
            return 80, 24
        size = self._app.output.get_size()
        return size.columns, size.rows


def _fragments(rows: tuple[Row, ...]) -> StyleAndTextTuples:
    fragments: StyleAndTextTuples = []
    for number, row in enumerate(rows):
        fragments += [("", "\n")] if number else []
        fragments += [(classes(style), text) for style, text in row]
    return fragments


def _looks() -> dict[str, str]:
    """The looks in prompt_toolkit's terms: its plain colour names are no colours of the terminal's own."""
    return {
        name: " ".join(f"ansi{word}" if word in _COLOURS else word for word in look.split())
        for name, look in LOOKS.items()
    }


def _doing(do: Callable[[Act], None], act: Act) -> Callable[[KeyPressEvent], None]:
    return lambda _: do(act)
