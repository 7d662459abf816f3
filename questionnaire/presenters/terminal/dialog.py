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
what stood there before; so are those that follow them sooner than this, one upon the other."""

RUN_S = 1.0
"""Where keys were pressed on a dialog that stood there just before, what is risky takes none until nobody has
pressed one for so long: the second Enter of somebody in a hurry allows nothing."""

TOO_SOON = "That key came too soon to be meant for this. Pause for a moment, then answer."

_NOWHERE = -1


class Dialog:
    """One interview as it is shown and typed at.

    `clock` gives the times of showing and answering. `steady`, which never goes back, counts the first
    moments in which keys are not taken. Both are in seconds. `last_key_s`, in the time of `steady`, is when a
    key was last pressed on the dialog before this one.
    """

    def __init__(
        self,
        interview: Interview,
        clock: Callable[[], float],
        steady: Callable[[], float],
        last_key_s: float = float("-inf"),
    ) -> None:
        self._interview = interview
        self._clock = clock
        self._steady = steady
        self._last_key_s = last_key_s
        self._pause_s = GUARD_S
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
    def last_key_s(self) -> float:
        """When a key was last pressed, here or on the dialog before."""
        return self._last_key_s

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
            self._guard(self._steady())
        self._drawn_place = place
        self._interview.send(Shown(self._clock(), place))

    def press(self, key: Key) -> bool:
        """Do what a key does, and return whether an editor is to be opened on `text`.

        A key acts on the page that the user sees: one that comes too early, or before the page on which
        the interview now stands was drawn, does nothing. The first makes the wait begin anew, so that of a
        run of keys none is an answer.
        """
        ui, step, now_s = self._ui_now(), self._interview.step, self._steady()
        self._last_key_s = now_s
        if step.index != self._drawn_place or self._keys_from is None:
            return False
        if now_s < self._keys_from:
            self._keys_from = now_s + self._pause_s
            self._ui = replace(ui, notice=TOO_SOON)
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

    def _guard(self, now_s: float) -> None:
        """Take no keys in the first moments of what is drawn now."""
        follows = self._drawn_place == _NOWHERE and now_s < self._last_key_s + RUN_S
        self._pause_s = RUN_S if follows and self._interview.questionnaire.risky else GUARD_S
        self._keys_from = max(now_s + GUARD_S, self._last_key_s + self._pause_s)

    def _ui_now(self) -> Ui:
        """Return the state, on the page to which somebody else may have gone."""
        self._ui = arrived(self._ui, self._interview.questionnaire, self._interview.step)
        return self._ui
