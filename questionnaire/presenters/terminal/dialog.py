"""A questionnaire on a screen, without the terminal: keys go in, screens come out.

It waits for nothing and draws nothing; the time is what the given clocks say.
"""

from collections.abc import Callable
from dataclasses import replace

from questionnaire.presenters.terminal.keys import Key, Scene, press
from questionnaire.presenters.terminal.layout import Screen, layout
from questionnaire.presenters.terminal.state import Entry, Ui, arrived, opened
from questionnaire.progress import Draft, Interview, Note, Shown, Step

GUARD_S = 0.3
"""Keys that come sooner after the dialog appeared, or after somebody else turned its page, were meant for
what stood there before."""

_NOWHERE = -1


class Dialog:
    """One interview as it is shown and typed at.

    `clock` gives the times of showing and answering. `steady`, which never goes back, counts the first
    moments in which keys are not taken. Both are in seconds.
    """

    def __init__(self, interview: Interview, clock: Callable[[], float], steady: Callable[[], float]) -> None:
        self._interview = interview
        self._clock = clock
        self._steady = steady
        self._ui = opened(interview.questionnaire, interview.step)
        self._keys_from: float | None = None
        self._drawn_place: int | None = _NOWHERE
        self._led_to: int | None = _NOWHERE  # where our own keys have gone since the last drawing
        self._editing: tuple[int, Entry] | None = None
        self._screen: Screen | None = None
        self._drawn_from: tuple[Step, Ui, int, int] | None = None

    @property
    def text(self) -> str | None:
        """The text of the open field, None where none is open."""
        entry = self._ui_now().entry
        return entry.field.text if entry else None

    @property
    def last_screen(self) -> Screen | None:
        """The screen that was given last; None before the first."""
        return self._screen

    def screen(self, width: int, height: int) -> Screen:
        """Return what is to be drawn on a terminal of this size."""
        step, ui = self._interview.step, self._ui_now()
        drawn_from = (step, ui, width, height)
        before = self._drawn_from
        if (
            self._screen is None
            or before is None
            or before[2:] != (width, height)
            or (before[0] is not step or before[1] is not ui)
        ):
            self._screen = layout(self._interview.questionnaire, step, ui, width, height)
            self._drawn_from = drawn_from
        return self._screen

    def drawn(self) -> None:
        """Take note that the screen given last stands before the user, and give the receipt for its page."""
        if self._drawn_from is None:
            return
        place, led_to = self._drawn_from[0].index, self._led_to
        self._led_to = _NOWHERE
        if place == self._drawn_place:
            return
        if place != led_to:
            self._keys_from = self._steady() + GUARD_S
        self._drawn_place = place
        self._interview.send(Shown(self._clock(), place))

    def press(self, key: Key) -> bool:
        """Do what a key does, and return whether an editor is to be opened on `text`.

        A key acts on the page that the user sees: one that comes too early, or before the page on which
        the interview now stands was drawn, does nothing.
        """
        ui, step = self._ui_now(), self._interview.step
        if step.index != self._drawn_place or self._keys_from is None or self._steady() < self._keys_from:
            return False
        seen = self._screen
        scene = Scene(self._interview.questionnaire, step, self._clock())
        if seen is not None:
            scene = replace(scene, top=seen.top, page_rows=seen.page_rows, preview_top=seen.preview_top)
        pressed = press(key, ui, scene)
        self._ui = pressed.ui
        for act in pressed.acts:
            self._interview.send(act)
        self._led_to = self._interview.step.index
        if pressed.edit and step.index is not None and pressed.ui.entry is not None:
            self._editing = step.index, pressed.ui.entry
        return pressed.edit

    def written(self, text: str) -> None:
        """Keep what has become of the text in the editor so far, where it belongs.

        That is the question on which the editor was opened, wherever the interview has got to since.
        Written or not, the interview hears of it: who writes elsewhere is not idle.
        """
        if self._editing is None:
            return
        (place, entry), ui, step = self._editing, self._ui_now(), self._interview.step
        is_open = ui.place == place and ui.entry is not None and ui.entry.belongs_with(entry)
        scene = Scene(self._interview.questionnaire, replace(step, index=place), self._clock())
        there = ui if is_open else replace(ui, place=place, entry=entry, help=False)
        pressed = press(Key("edited", text), there, scene)
        self._ui = pressed.ui if is_open else replace(ui, memories=pressed.ui.memories)
        self._editing = place, pressed.ui.entry or entry
        for act in pressed.acts:
            self._interview.send(replace(act, index=place) if isinstance(act, Draft | Note) else act)

    def edited(self, text: str, notice: str = "") -> None:
        """Take over what the text has become, now that the editor is closed, and say `notice`."""
        self.written(text)
        self._editing = None
        self._ui = replace(self._ui_now(), notice=notice)

    def _ui_now(self) -> Ui:
        """Return the state, on the page to which somebody else may have gone."""
        self._ui = arrived(self._ui, self._interview.questionnaire, self._interview.step)
        return self._ui
