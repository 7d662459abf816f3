"""What is drawn below the cursor, when the terminal changes its size between two drawings."""

import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.layout import FormattedTextControl, Layout, Window
from prompt_toolkit.output import DummyOutput

from questionnaire.inline import InlineApplication

pytestmark = pytest.mark.anyio


class Terminal(DummyOutput):
    """A terminal that remembers how the cursor went up, and what was erased below it."""

    def __init__(self):
        self.columns = 80
        self.did = []

    def get_size(self):
        return Size(rows=24, columns=self.columns)

    def cursor_up(self, amount):
        self.did += [f"up {amount}"] if amount else []

    def erase_down(self):
        self.did.append("erase")

    def narrowed(self):
        self.columns = 40
        self.did.clear()


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def shown(act, rows_gained=3):
    """Have something done while one row is shown; gives what became of the cursor."""
    terminal = Terminal()
    with create_pipe_input() as keys:
        app = InlineApplication(
            gained=lambda width: rows_gained if width == 40 else 0,
            layout=Layout(Window(FormattedTextControl("a row"))),
            input=keys,
            output=terminal,
            after_render=lambda _: app.create_background_task(once()) if not acted else None,
        )
        acted = []

        async def once():
            if not acted:
                acted.append(True)
                act(app, terminal)
                app.exit()

        await app.show()
    return terminal.did


async def test_what_is_drawn_before_the_signal_of_a_new_size_begins_where_the_old_rows_do():
    def drawn_twice(app, terminal):
        terminal.narrowed()
        app._redraw()
        app._on_resize()

    assert (await shown(drawn_twice))[:2] == ["up 3", "erase"]
    assert (await shown(drawn_twice)).count("up 3") == 1


async def test_rows_that_are_printed_then_stand_above():
    def printed(app, terminal):
        terminal.narrowed()
        app.print_above([FormattedText([("", "told")])])

    assert (await shown(printed))[:2] == ["up 3", "erase"]


async def test_a_new_size_while_another_program_has_the_terminal_moves_and_erases_nothing():
    def resized(app, terminal):
        with app.suspended():
            terminal.narrowed()
            app._on_resize()
            meanwhile.extend(terminal.did)

    meanwhile = []
    assert "up 3" not in await shown(resized)
    assert meanwhile == []
