"""The dialog on a real terminal: prompt_toolkit draws the rows and reads the keys, inline, below the cursor.

prompt_toolkit runs on asyncio only.
"""

import os
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

import anyio
from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import Layout, Window
from prompt_toolkit.layout.controls import UIContent, UIControl
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style

from questionnaire.presenters.terminal.columns import Row, cells
from questionnaire.presenters.terminal.dialog import Dialog
from questionnaire.presenters.terminal.editor import edit_text
from questionnaire.presenters.terminal.keyboard import Keyboard
from questionnaire.presenters.terminal.keys import Key
from questionnaire.presenters.terminal.layout import Screen
from questionnaire.presenters.terminal.reflow import reflows, rows_gained
from questionnaire.presenters.terminal.style import STYLES

_LONE_ESCAPE_S = 0.05
"""So soon after Esc the rest of a key that begins with it has come, if there is a rest."""

_EDITOR_S = 2.0

# Bracketed paste off, attributes off, cursor shown, lines broken at the end: what drawing may have changed.
_MODES_BACK = b"\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?7h"


class TerminalScreen:
    """A dialog on the terminal behind two open file descriptors, which it does not close.

    `interrupted` is called when Ctrl-C is pressed.
    """

    def __init__(self, dialog: Dialog, read_fd: int, write_fd: int, interrupted: Callable[[], None]) -> None:
        self._dialog = dialog
        self._fds = (read_fd, write_fd)
        self._interrupted = interrupted
        self._app: _App | None = None
        self._editor_gone: anyio.Event | None = None

    async def run(self) -> None:
        """Show the dialog until `close`. Raises `EOFError` where the terminal hangs up.

        However it ends, the dialog is off the screen then, and the terminal's modes are as before.
        """
        read_fd, write_fd = self._fds
        with _modes_kept(read_fd, write_fd), _text_files(read_fd, write_fd) as (source, sink):
            output = _Output.from_pty(
                sink, term=os.environ.get("TERM"), default_color_depth=ColorDepth.from_env()
            )
            output.enable_cpr = False  # an answer that never comes would be waited for, and complained of
            keyboard = Keyboard(self._press, lambda: self._safely(self._interrupted))
            self._app = _App(
                gained=self._gained,
                layout=Layout(Window(_Rows(self), wrap_lines=False, dont_extend_height=True)),
                key_bindings=keyboard.bindings,
                style=Style.from_dict({f"ask.{name}": look for name, look in STYLES.items()}),
                include_default_pygments_style=False,
                erase_when_done=True,
                input=Vt100Input(source),
                output=output,
                after_render=lambda _: self._safely(self._drawn),
            )
            self._app.ttimeoutlen = self._app.timeoutlen = _LONE_ESCAPE_S
            try:
                await self._app.run_async(handle_sigint=False, set_exception_handler=False)
            finally:
                self._app = None
                if self._editor_gone is not None:  # which is being closed, and hands its text over
                    with anyio.move_on_after(_EDITOR_S, shield=True):
                        await self._editor_gone.wait()

    def refresh(self) -> None:
        """Draw anew."""
        if self._app is not None:
            self._app.invalidate()

    def draw(self) -> None:
        """Draw anew at once."""
        if self._app is not None:
            self._app._redraw()

    def close(self, error: Exception | None = None) -> None:
        """Take the dialog off the screen; `run` then returns, or raises `error`."""
        app = self._app
        if app is None or app.future is None or app.future.done():
            return
        if error is None:
            app.exit()
        else:
            app.exit(exception=error)

    def content(self, width: int) -> Screen:
        """Return what is to be drawn; a failure ends the dialog, since a broken screen helps nobody."""
        height = self._app.output.get_size().rows if self._app else 1
        try:
            return self._dialog.screen(width, height)
        except Exception as error:
            self.close(error)
            return Screen(((),), (0, 0))

    def _gained(self, width: int) -> int:
        drawn = self._dialog.last_screen
        return rows_gained(drawn, width) if drawn is not None and reflows(os.environ) else 0

    def _drawn(self) -> None:
        if self._app is not None and not self._app.is_done:
            self._dialog.drawn()

    def _safely(self, do: Callable[[], None]) -> None:
        try:
            do()
        except Exception as error:
            self.close(error)

    def _press(self, key: Key) -> None:
        app = self._app
        if app is None or app.is_done:
            return

        def press() -> None:
            if self._dialog.press(key):
                self._editor_gone = gone = anyio.Event()
                app.create_background_task(self._edit()).add_done_callback(lambda _: gone.set())

        self._safely(press)
        app.invalidate()

    async def _edit(self) -> None:
        """Open the text of the field in the user's editor, and take over what it became."""
        text, app = self._dialog.text, self._app
        if text is None or app is None:
            return
        try:
            with app.suspended():
                edited = await edit_text(text, *self._fds, self._dialog.written)
                self._dialog.edited(edited.text, edited.notice)
            self.refresh()
        except Exception as error:
            self.close(error)


class _Output(Vt100_Output):
    """prompt_toolkit's, which erases so that no terminal takes it for clearing the whole screen.

    Some move what they think is being cleared into their history, as copies of the dialog.
    """

    def erase_down(self) -> None:
        self.write_raw("\x1b7\x1b[K\x1b[B\x1b[J\x1b8")


class _App(Application[None]):
    """prompt_toolkit's, which knows how far the rows on the screen have moved when its size changes.

    `gained` is given the new width and says how many rows further down the cursor is.
    """

    def __init__(self, *, gained: Callable[[int], int], **options: Any) -> None:
        super().__init__(**options)
        self._default_bindings = KeyBindings()  # those edit a buffer, of which there is none
        self._gained = gained

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
            if not self.is_done:
                self.renderer.reset()
                self._redraw()

    def _on_resize(self) -> None:
        if up := self._gained(self.output.get_size().columns):
            self.output.cursor_up(up)
        super()._on_resize()


class _Rows(UIControl):
    """The rows of a screen as prompt_toolkit wants them."""

    def __init__(self, screen: TerminalScreen) -> None:
        self._screen = screen

    def is_focusable(self) -> bool:
        return True

    def preferred_height(
        self, width: int, max_available_height: int, wrap_lines: bool, get_line_prefix: object
    ) -> int:
        # The rows are wrapped already, and laid out for the height of the terminal alone: prompt_toolkit asks
        # again with what it was told before, and never lets a dialog shrink.
        del max_available_height, wrap_lines, get_line_prefix
        return len(self._screen.content(width).rows)

    def create_content(self, width: int, height: int | None) -> UIContent:
        del height
        screen = self._screen.content(width)
        column, row = screen.cursor

        def line(index: int) -> StyleAndTextTuples:
            end = [("", " ")] if index == row else []  # the cursor may stand behind the last letter
            return [*((_classes(style), text) for style, text in screen.rows[index]), *end]

        return UIContent(
            get_line=line,
            line_count=len(screen.rows),
            cursor_position=Point(_characters(screen.rows[row], column) if screen.rows else 0, row),
            show_cursor=screen.typing,
        )


def _classes(style: str) -> str:
    """Return a style in prompt_toolkit's terms, in a family of its own: it knows some of the names."""
    return " ".join(f"class:ask.{name}" for name in style.split())


def _characters(row: Row, column: int) -> int:
    """Return how many characters of a row stand before a column: so prompt_toolkit counts."""
    used = 0
    text = "".join(text for _, text in row)
    for count, char in enumerate(text):
        if used >= column and cells(char):
            return count
        used += cells(char)
    return len(text)


@contextmanager
def _text_files(read_fd: int, write_fd: int) -> Iterator[tuple[TextIO, TextIO]]:
    with (
        open(read_fd, encoding="utf-8", errors="surrogateescape", closefd=False) as source,
        open(write_fd, "w", encoding="utf-8", errors="replace", closefd=False) as sink,
    ):
        yield source, sink


@contextmanager
def _modes_kept(read_fd: int, write_fd: int) -> Iterator[None]:
    """Bring the terminal's modes back at the end, whatever became of what was drawn."""
    before = termios.tcgetattr(read_fd)
    try:
        yield
    finally:
        with suppress(OSError):
            os.write(write_fd, _MODES_BACK)
        with suppress(termios.error):
            termios.tcsetattr(read_fd, termios.TCSANOW, before)
