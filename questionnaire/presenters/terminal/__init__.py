"""A questionnaire as a dialog in the terminal, inline: the rest of the screen stays what it was.

`presenter` opens the terminal and watches the interview; `screen` draws with prompt_toolkit and `keyboard`
reads with it. Nothing else knows of a terminal: `dialog` takes keys and gives screens, `keys` says what each
key does to the `state`, `layout` and `body` work out the rows, `columns` and `editing` know about text.
"""

from questionnaire.presenters.terminal.around import Surroundings
from questionnaire.presenters.terminal.presenter import INTERRUPTED, TerminalPresenter, load_libraries

__all__ = ["INTERRUPTED", "Surroundings", "TerminalPresenter", "load_libraries"]
