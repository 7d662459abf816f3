"""Drawing below the cursor, with the terminal's own scrollback above: for the dialog, and programs beside it.

Importing this loads prompt_toolkit, which runs on asyncio only, and rich.
"""

import os
import termios
import tty
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TextIO

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import get_app_session
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.renderer import print_formatted_text
from prompt_toolkit.styles import Style

from questionnaire.presenters.terminal.columns import Row
from questionnaire.presenters.terminal.markdown import preview_rows as markdown_rows
from questionnaire.presenters.terminal.reflow import reflows
from questionnaire.presenters.writer import BackgroundWriter

__all__ = [
    "InlineApplication",
    "classes",
    "markdown_rows",
    "modes_kept",
    "reflows",
    "running_application",
    "styles",
    "terminal_of",
    "typed_ahead",
]

_LONE_ESCAPE_S = 0.05
"""So soon after Esc the rest of a key that begins with it has come, if there is a rest."""

MOST_HELD_ROWS = 5_000
"""Of rows that a terminal does not take; it gets the last of them, and is told how many it missed."""

# Bracketed paste off, attributes off, cursor shown, lines broken at the end: what drawing may have changed.
_MODES_BACK = b"\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?7h"


class InlineOutput(Vt100_Output):
    """prompt_toolkit's, which erases so that no terminal takes it for clearing the whole screen.

    Some move what they think is being cleared into their history, as copies of the dialog. With a `writer`
    it waits for no terminal that takes nothing.
    """

    writer: BackgroundWriter | None = None

    def flush(self) -> None:
        """Write what was drawn."""
        if self.writer is None:
            super().flush()
            return
        drawn, self._buffer = "".join(self._buffer), []
        self.writer.write(drawn.encode(errors="replace"))

    def erase_down(self) -> None:
        """Erase from the cursor to the end of the screen."""
        self.write_raw("\x1b7\x1b[K\x1b[B\x1b[J\x1b8")


class InlineApplication(Application[None]):
    """prompt_toolkit's, which knows how far the rows on the screen have moved when its size changes.

    `gained` is given the new width and says how many rows further down the cursor is. `edits` says whether
    the usual keys that edit a buffer are bound. While the terminal takes nothing nothing is drawn; then it is
    drawn as things are by then, below all that was to be printed.
    """

    def __init__(self, *, gained: Callable[[int], int], edits: bool = False, **options: Any) -> None:
        super().__init__(include_default_pygments_style=False, erase_when_done=True, **options)
        self.ttimeoutlen = self.timeoutlen = _LONE_ESCAPE_S
        if not edits:
            self._default_bindings = KeyBindings()
        self._gained = gained
        self._held_back: deque[Row] = deque(maxlen=MOST_HELD_ROWS)
        self._missed = 0
        self._catching_up = False
        self._width: int | None = None
        """That of the terminal when something was drawn last."""

    async def show(self) -> None:
        """Show it until `exit`. Raises `EOFError` where the terminal hangs up."""
        self._width = None
        try:
            await self.run_async(handle_sigint=False, set_exception_handler=False)
        finally:
            self._catching_up = False
            with suppress(OSError):
                self.print_above(())

    def print_above(self, rows: Iterable[Row]) -> None:
        """Print rows above what is drawn; they are the terminal's from then on. Waits for nothing.

        While another program has the terminal they are kept until it gives it back, and while it takes
        nothing until it does.
        """
        for row in rows:
            self._missed += len(self._held_back) == MOST_HELD_ROWS
            self._held_back.append(row)
        shown = self._is_running and not self.is_done
        if not self._held_back or self._running_in_terminal or (shown and self.is_behind()):
            return
        if shown:
            self._follow_cursor()
            self.renderer.erase()
        missed: list[Row] = (
            [(("", f"({self._missed} rows are missing here: the terminal took nothing.)"),)]
            if self._missed
            else []
        )
        fragments: StyleAndTextTuples = [
            fragment
            for row in (*missed, *self._held_back)
            for fragment in [*((classes(style), text) for style, text in row), ("", "\r\n")]
        ]
        self._held_back.clear()
        self._missed = 0
        print_formatted_text(self.output, fragments, self._merged_style, color_depth=self.color_depth)
        if shown:
            self._redraw()

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Leave the terminal to another program meanwhile.

        prompt_toolkit's own `in_terminal` would hold up the end of the dialog until that program ends.
        """
        self.renderer.erase()
        self._running_in_terminal = True
        try:
            with self.input.detach(), self.input.cooked_mode():
                yield
        finally:
            self._running_in_terminal = False
            self._width = None  # nothing of ours stands there
            if not self.is_done:
                self.renderer.reset()
                self.print_above(())
                self._redraw()

    def rows_gained(self, width: int) -> int:
        """How many rows the cursor has gone down where the terminal breaks the rows drawn at a new width."""
        screen = self.renderer.last_rendered_screen
        if screen is None:
            return 0
        at = screen.get_cursor_position(self.layout.current_window)
        gained = at.x // width
        for number in range(at.y):
            row = screen.data_buffer[number]
            used = [column + cell.width for column, cell in row.items() if cell.char.strip()]
            gained += max(0, max(used, default=0) - 1) // width
        return gained

    def is_behind(self) -> bool:
        """Whether the terminal has not taken what was drawn; then it is drawn anew as soon as it has."""
        writer = self.output.writer if isinstance(self.output, InlineOutput) else None
        if writer is None or not writer.held:
            return False
        if not self._catching_up:
            self._catching_up = True
            self.create_background_task(self._catch_up(writer))
        return True

    async def _catch_up(self, writer: BackgroundWriter) -> None:
        await writer.taken()
        self._catching_up = False
        with suppress(OSError):  # it has hung up, which is found out where keys are waited for
            self.print_above(())
            self._redraw()

    def _redraw(self, render_as_done: bool = False) -> None:
        if not render_as_done and self._is_running and self.is_behind():
            return
        self._follow_cursor()
        super()._redraw(render_as_done)

    def _on_resize(self) -> None:
        if not self._running_in_terminal:
            self._follow_cursor()
            super()._on_resize()

    def _follow_cursor(self) -> None:
        """Go back up by as many rows as the cursor has gone down with what was drawn at another width.

        Before anything is drawn, and not only at the signal of a new size: a screen that is drawn anew ten
        times a second is often drawn between the two, and then what stood there stays. A drawing that was
        asked for just before the end comes after it, when the terminal may have been closed.
        """
        if self._running_in_terminal or not self._is_running:
            return
        before, self._width = self._width, self.output.get_size().columns
        if before not in (None, self._width) and (up := self._gained(self._width)):
            self.output.cursor_up(up)


def running_application() -> InlineApplication | None:
    """The application that has the terminal now, the dialog's for example; None where none of ours has."""
    app = get_app_session().app
    return app if isinstance(app, InlineApplication) else None


def styles(looks: dict[str, str]) -> Style:
    """The style sheet of fragments whose styles are names of `looks`."""
    return Style.from_dict({f"ask.{name}": look for name, look in looks.items()})


def classes(style: str) -> str:
    """Return a style in prompt_toolkit's terms, in a family of its own: it knows some of the names."""
    return " ".join(f"class:ask.{name}" for name in style.split())


@contextmanager
def terminal_of(
    read_fd: int, write_fd: int, writer: BackgroundWriter | None = None
) -> Iterator[tuple[Vt100Input, InlineOutput]]:
    """The terminal behind two open file descriptors as prompt_toolkit's input and output.

    They are not closed, and the terminal's modes are as before at the end. With a ``writer`` what is drawn
    goes through it.
    """
    write = partial(os.write, write_fd) if writer is None else writer.write
    with modes_kept(read_fd, write), _text_files(read_fd, write_fd) as (source, sink):
        output = InlineOutput.from_pty(
            sink, term=os.environ.get("TERM"), default_color_depth=ColorDepth.from_env()
        )
        assert isinstance(output, InlineOutput)
        output.writer = writer
        output.enable_cpr = False  # an answer that never comes would be waited for, and complained of
        yield Vt100Input(source), output


def typed_ahead(read_fd: int) -> list[list[KeyPress]]:
    """Take the keys that were pressed before this terminal was read, a list a line; Enter ends a line.

    Until now the terminal has made a line feed of Enter, which is another key to us. From now on it tells
    keys as they are, and shows none itself: within `terminal_of`, which brings its modes back.
    """
    modes = termios.tcgetattr(read_fd)
    modes[tty.IFLAG] &= ~termios.ICRNL
    modes[tty.LFLAG] &= ~(termios.ICANON | termios.ECHO)
    modes[tty.CC][termios.VMIN], modes[tty.CC][termios.VTIME] = 0, 0
    termios.tcsetattr(read_fd, termios.TCSANOW, modes)
    ahead = bytearray()
    with suppress(OSError):  # it has hung up, which is found out where keys are waited for
        while block := os.read(read_fd, 4096):
            ahead += block
    modes[tty.CC][termios.VMIN] = 1
    termios.tcsetattr(read_fd, termios.TCSANOW, modes)
    keys: list[KeyPress] = []
    parser = Vt100Parser(keys.append)
    parser.feed_and_flush(ahead.replace(b"\n", b"\r").decode(errors="surrogateescape"))
    lines: list[list[KeyPress]] = [[]]
    for key in keys:
        lines[-1].append(key)
        if key.key is Keys.ControlM:
            lines.append([])
    return lines if lines[-1] else lines[:-1]


@contextmanager
def _text_files(read_fd: int, write_fd: int) -> Iterator[tuple[TextIO, TextIO]]:
    with (
        open(read_fd, encoding="utf-8", errors="surrogateescape", closefd=False) as source,
        open(write_fd, "w", encoding="utf-8", errors="replace", closefd=False) as sink,
    ):
        yield source, sink


@contextmanager
def modes_kept(read_fd: int, write: Callable[[bytes], object]) -> Iterator[None]:
    """Bring the terminal's modes back at the end, whatever became of what was drawn."""
    before = termios.tcgetattr(read_fd)
    try:
        yield
    finally:
        with suppress(OSError):
            write(_MODES_BACK)
        with suppress(termios.error):
            termios.tcsetattr(read_fd, termios.TCSANOW, before)
