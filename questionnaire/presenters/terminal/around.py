"""What a program keeps on the screen around the dialog while that is open."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from questionnaire.presenters.terminal.columns import Row
from questionnaire.presenters.writer import BackgroundWriter


def _no_rows(_width: int, _height: int) -> tuple[Row, ...]:
    return ()


@dataclass(frozen=True)
class Surroundings:
    """Rows below the dialog, keys that work meanwhile, and what writes to the terminal.

    `footer` gives the rows for a width and a height of the terminal in cells; the dialog has the others.
    `keys` are named as prompt_toolkit names them ("f2"); those of the dialog go before. `styles` are those of
    the rows, in prompt_toolkit's terms. Through `writer` goes all that the program writes to the terminal.
    """

    footer: Callable[[int, int], tuple[Row, ...]] = _no_rows
    keys: Mapping[str, Callable[[], None]] = field(default_factory=dict)
    styles: Mapping[str, str] = field(default_factory=dict)
    writer: BackgroundWriter | None = None
