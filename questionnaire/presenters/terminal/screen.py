"""The dialog on a real terminal: prompt_toolkit draws the rows and reads the keys, inline, below the cursor.

prompt_toolkit runs on asyncio only.
"""

import os
from collections.abc import Callable

import anyio
from prompt_toolkit.data_structures import Point
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import HSplit, Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl, UIContent, UIControl

from questionnaire.inline import InlineApplication, classes, reflows, styles, terminal_of
from questionnaire.presenters.terminal.around import Surroundings
from questionnaire.presenters.terminal.columns import Row, cells
from questionnaire.presenters.terminal.dialog import Dialog
from questionnaire.presenters.terminal.editor import edit_text
from questionnaire.presenters.terminal.keyboard import Keyboard
from questionnaire.presenters.terminal.keys import Key
from questionnaire.presenters.terminal.layout import Screen
from questionnaire.presenters.terminal.reflow import rows_gained
from questionnaire.presenters.terminal.style import STYLES

_EDITOR_S = 2.0


class TerminalScreen:
    """A dialog on the terminal behind two open file descriptors, which it does not close.

    `interrupted` is called when Ctrl-C is pressed; `around` is what stands and works beside the dialog.
    """

    def __init__(
        self,
        dialog: Dialog,
        read_fd: int,
        write_fd: int,
        interrupted: Callable[[], None],
        around: Surroundings | None = None,
    ) -> None:
        self._dialog = dialog
        self._fds = (read_fd, write_fd)
        self._interrupted = interrupted
        self._around = around
        self._app: InlineApplication | None = None
        self._editor_gone: anyio.Event | None = None

    async def run(self) -> None:
        """Show the dialog until `close`. Raises `EOFError` where the terminal hangs up.

        However it ends, the dialog is off the screen then, and the terminal's modes are as before.
        """
        around = self._around or Surroundings()
        with terminal_of(*self._fds, around.writer) as (keys, output):
            keyboard = Keyboard(self._press, lambda: self._safely(self._interrupted), around.keys)
            rows = Window(_Rows(self), wrap_lines=False, dont_extend_height=True)
            footer = Window(FormattedTextControl(self._footer), dont_extend_height=True, wrap_lines=False)
            self._app = InlineApplication(
                gained=self._gained,
                layout=Layout(HSplit([rows, footer] if self._around else [rows]), focused_element=rows),
                key_bindings=keyboard.bindings,
                style=styles({**STYLES, **around.styles}),
                input=keys,
                output=output,
                after_render=lambda _: self._safely(self._drawn),
            )
            try:
                await self._app.show()
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
            return self._dialog.screen(width, max(1, height - len(self._footer_rows(width, height))))
        except Exception as error:
            self.close(error)
            return Screen(((),), (0, 0))

    def _footer(self) -> StyleAndTextTuples:
        if self._app is None:
            return []
        size = self._app.output.get_size()
        rows = self._footer_rows(size.columns, size.rows)
        lines = [[(classes(style), text) for style, text in row] for row in rows]
        return [
            fragment
            for number, line in enumerate(lines)
            for fragment in ([("", "\n")] if number else []) + line
        ]

    def _footer_rows(self, width: int, height: int) -> tuple[Row, ...]:
        return self._around.footer(width, height) if self._around else ()

    def _gained(self, width: int) -> int:
        drawn = self._dialog.last_screen
        return rows_gained(drawn, width) if drawn is not None and reflows(os.environ) else 0

    def _drawn(self) -> None:
        if self._app is not None and not self._app.is_done and not self._app.is_behind():
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
            if self._dialog.press(key) and (self._editor_gone is None or self._editor_gone.is_set()):
                self._editor_gone = gone = anyio.Event()
                app.create_background_task(self._edit()).add_done_callback(lambda _: gone.set())

        self._safely(press)
        app.invalidate()

    async def _edit(self) -> None:
        """Open the text of the field in the user's editor, and take over what it became."""
        app = self._app
        if app is None:
            return
        try:
            with app.suspended():
                if self._around is not None and self._around.writer is not None:
                    await self._around.writer.taken()  # the editor writes past it
                if (text := self._dialog.text) is not None:
                    edited = await edit_text(text, *self._fds, self._dialog.written)
                    self._dialog.edited(edited.text, edited.notice)
            self.refresh()
        except Exception as error:
            self.close(error)


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
            return [*((classes(style), text) for style, text in screen.rows[index]), *end]

        return UIContent(
            get_line=line,
            line_count=len(screen.rows),
            cursor_position=Point(_characters(screen.rows[row], column) if screen.rows else 0, row),
            show_cursor=screen.typing,
        )


def _characters(row: Row, column: int) -> int:
    """Return how many characters of a row stand before a column: so prompt_toolkit counts."""
    used = 0
    text = "".join(text for _, text in row)
    for count, char in enumerate(text):
        if used >= column and cells(char):
            return count
        used += cells(char)
    return len(text)
