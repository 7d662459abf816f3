"""The same dialog on a screen that is somebody else's: rows go out as lines with colours, keys come in."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from anyio import CancelScope, current_time

from questionnaire.errors import ClientLost
from questionnaire.model import Status
from questionnaire.presenters.terminal.presenter import INTERRUPTED
from questionnaire.progress import Interview

NO_EDITOR = "Your editor cannot be opened on this screen."

ROWS_LEFT = 4
"""So many rows of a foreign screen are left to what is there: what the agent wrote, a status line."""


@dataclass(frozen=True, slots=True)
class Resized:
    """The canvas has this many columns and rows; said before anything is drawn."""

    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn last stands before the user."""


@dataclass(frozen=True, slots=True)
class Typed:
    """The user pressed keys; `data` is what the terminal sent."""

    data: str


class Canvas(Protocol):
    """Lines on a screen, for the time of one interview."""

    def draw(self, columns: int, lines: list[str]) -> None:
        """Show these lines, made for so many columns; returns at once.

        A zero character stands in a line where the terminal's own cursor belongs, nowhere else.
        """
        ...

    async def receive(self) -> Resized | Drawn | Typed:
        """Return what happens next. Raises `ClientLost` where the screen is gone."""
        ...


class CanvasPresenter:
    """Asks on a canvas. `open_canvas` opens one, and raises `NoInterface` where none can be had.

    `clock` and `steady` are those of `TerminalPresenter`, and so are the keys.
    """

    def __init__(
        self,
        open_canvas: Callable[[], AbstractAsyncContextManager[Canvas]],
        clock: Callable[[], float] = current_time,
        steady: Callable[[], float] = current_time,
    ) -> None:
        self._open_canvas = open_canvas
        self._clock = clock
        self._steady = steady

    async def present(self, interview: Interview) -> None:
        """Show the dialog until there is an outcome."""
        # Here, so that importing this module does not load what counts cells.
        from questionnaire.presenters.terminal.dialog import Dialog
        from questionnaire.presenters.terminal.keycodes import INTERRUPT, decoded
        from questionnaire.presenters.terminal.painting import painted

        dialog, size = Dialog(interview, self._clock, self._steady), None

        def draw() -> None:
            if size is not None:
                screen = dialog.screen(size.columns, max(1, size.rows - ROWS_LEFT))
                canvas.draw(size.columns, painted(screen))

        def changed(_: object) -> None:
            if interview.outcome is not None:
                showing.cancel()
            else:
                draw()

        async with self._open_canvas() as canvas:
            with CancelScope() as showing, interview.watch(changed):
                while interview.outcome is None:
                    try:
                        event = await canvas.receive()
                    except ClientLost as lost:
                        interview.end(Status.CANCELLED, str(lost))
                        break
                    match event:
                        case Resized():
                            size = event
                        case Drawn():
                            dialog.drawn()
                            continue
                        case Typed(data):
                            for key in decoded(data):
                                if key.name == INTERRUPT:
                                    interview.end(Status.CANCELLED, INTERRUPTED)
                                elif dialog.press(key):
                                    dialog.edited(dialog.text or "", NO_EDITOR)
                    draw()
