"""The keys as prompt_toolkit reads them, in the names under which `keys` knows them."""

from collections.abc import Callable, Mapping

from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from questionnaire.presenters.terminal.keys import Key

_NAMES: Mapping[Keys | str, str] = {
    Keys.Up: "up",
    Keys.Down: "down",
    Keys.ControlP: "up",
    Keys.ControlN: "down",
    Keys.Left: "left",
    Keys.Right: "right",
    Keys.Home: "home",
    Keys.End: "end",
    Keys.ControlA: "home",
    Keys.ControlE: "end",
    Keys.PageUp: "page-up",
    Keys.PageDown: "page-down",
    Keys.ShiftUp: "preview-up",
    Keys.ShiftDown: "preview-down",
    Keys.ControlLeft: "word-left",
    Keys.ControlRight: "word-right",
    Keys.Enter: "enter",
    Keys.ControlJ: "newline",
    Keys.Tab: "tab",
    Keys.BackTab: "back-tab",
    Keys.Escape: "escape",
    Keys.Backspace: "backspace",
    Keys.Delete: "delete",
    Keys.ControlD: "delete",
    Keys.ControlW: "erase-word",
    Keys.ControlU: "erase-line",
    Keys.ControlK: "erase-rest",
    Keys.ControlZ: "undo",
    Keys.ControlUnderscore: "undo",
    Keys.ControlG: "editor",
}
_WITH_ALT: Mapping[Keys | str, str] = {
    Keys.Enter: "newline",
    Keys.ControlJ: "newline",
    Keys.Backspace: "erase-word",
    "b": "word-left",
    "f": "word-right",
    "n": "note",
}
_INTERRUPTS = (Keys.ControlC, Keys.SIGINT)


class Keyboard:
    """Hands each key to `press`, and Ctrl-C, whatever came before it, to `interrupt`.

    `others`, by prompt_toolkit's names, are keys of the program around the dialog.
    """

    def __init__(
        self,
        press: Callable[[Key], None],
        interrupt: Callable[[], None],
        others: Mapping[str, Callable[[], None]] | None = None,
    ) -> None:
        self._press = press
        self._interrupt = interrupt
        self._others = {key: act for key, act in (others or {}).items() if key not in _NAMES}
        self._in_sequence = False
        self.bindings = KeyBindings()
        self.bindings.add(Keys.Any)(self._one)
        self.bindings.add(Keys.Escape, Keys.Any)(self._two)

    def _one(self, event: KeyPressEvent) -> None:
        self._take(event.key_sequence[0].key, event.key_sequence[0].data)

    def _two(self, event: KeyPressEvent) -> None:
        """Tell Esc and a key after it from one key that begins with Esc: Alt, or one that nobody knows.

        The rest of an unknown key must not be taken for typed, least of all its digits.
        """
        key, data = event.key_sequence[1].key, event.key_sequence[1].data
        if key in _WITH_ALT:
            self._press(Key(_WITH_ALT[key]))
        elif isinstance(key, Keys):
            if key not in _INTERRUPTS:  # which must not come too late
                self._take(Keys.Escape, "")
            self._take(key, data)
        else:
            self._in_sequence = data in ("[", "O")
            self._press(Key("other"))

    def _take(self, key: Keys | str, data: str) -> None:
        if key in _INTERRUPTS:
            self._interrupt()
        elif key in self._others:
            self._others[key]()
        elif key is Keys.BracketedPaste:
            self._press(Key("paste", data))
        elif isinstance(key, Keys):
            self._press(Key(_NAMES.get(key, "other")))
        elif self._in_sequence:
            self._in_sequence = not "@" <= data <= "~"
        else:
            self._press(Key("text", data))
