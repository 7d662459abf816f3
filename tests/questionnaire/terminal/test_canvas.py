"""The dialog on a foreign screen: the same rows and keys as in a terminal of our own."""

import re
from contextlib import asynccontextmanager

import anyio
import pytest

from questionnaire import (
    CanvasPresenter,
    ClientLost,
    Drawn,
    Interview,
    NoInterface,
    Resized,
    Status,
    Typed,
    read_questionnaire,
)
from questionnaire.presenters.terminal.columns import cells

pytestmark = pytest.mark.anyio

MERGE = {
    "question": "Merge how?",
    "options": [{"label": "Squash"}, {"label": "Rebase 日本"}],
    "allowCustom": True,
}


class ScriptedCanvas:
    """A canvas on which the test says what happens; what is drawn stands there at once."""

    def __init__(self, clock):
        self._clock = clock
        self._send, self._events = anyio.create_memory_object_stream(100)
        self.drawn = []
        self.open = False

    @asynccontextmanager
    async def __call__(self):
        self.open = True
        try:
            yield self
        finally:
            self.open = False
            self._send.close()
            self._events.close()

    def draw(self, columns, lines):
        self.drawn.append((columns, lines))
        self._send.send_nowait(Drawn())

    async def receive(self):
        event = await self._events.receive()
        if isinstance(event, Exception):
            raise event
        return event

    async def happens(self, event):
        self._send.send_nowait(event)
        for _ in range(6):
            await anyio.lowlevel.checkpoint()
        self._clock.now += 1.0

    @property
    def text(self):
        return re.sub(r"\x1b\[[\d;]*m", "", "\n".join(self.drawn[-1][1]))


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@asynccontextmanager
async def asked(arguments=MERGE):
    clock = Clock()
    canvas = ScriptedCanvas(clock)
    interview = Interview(read_questionnaire("user_select", arguments))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(CanvasPresenter(canvas, clock, clock).present, interview)
        await anyio.wait_all_tasks_blocked()
        await canvas.happens(Resized(60, 24))
        yield canvas, interview
    assert not canvas.open


async def test_it_is_drawn_for_the_size_of_the_canvas_and_keys_answer():
    async with asked() as (canvas, interview):
        columns, lines = canvas.drawn[-1]
        assert columns == 60
        assert "Merge how?" in canvas.text
        assert all(sum(map(cells, re.sub(r"\x1b\[[\d;]*m|\0", "", line))) <= 60 for line in lines)
        await canvas.happens(Resized(30, 10))
        assert canvas.drawn[-1][0] == 30
        await canvas.happens(Typed("\x1b[B"))
        await canvas.happens(Typed("\r"))
    assert interview.outcome.responses[0].answer.selected == (1,)


async def test_where_somebody_types_the_terminals_cursor_stands():
    async with asked() as (canvas, interview):
        await canvas.happens(Typed("3"))
        await canvas.happens(Typed("ab日"))
        (line,) = [line for line in canvas.drawn[-1][1] if "\0" in line]
        assert re.sub(r"\x1b\[[\d;]*m", "", line).split("\0")[0].endswith("ab日")
        await canvas.happens(Typed("\x07"))
        assert "Your editor cannot be opened" in canvas.text
        await canvas.happens(Typed("\r"))
    assert interview.outcome.responses[0].answer.custom == "ab日"


async def test_keys_that_come_at_once_answer_nothing():
    async with asked() as (canvas, interview):
        canvas._clock.now = 0.0
        await canvas.happens(Typed("\r"))
        assert interview.outcome is None
        await canvas.happens(Typed("\x03"))
    assert interview.outcome.status is Status.CANCELLED


async def test_others_that_answer_take_it_off():
    async with asked() as (canvas, interview):
        interview.end(Status.SUPERSEDED)
        await anyio.wait_all_tasks_blocked()
        assert not canvas.open


async def test_a_screen_that_goes_away_ends_it():
    async with asked() as (canvas, interview):
        await canvas.happens(ClientLost("it went away"))
    assert (interview.outcome.status, interview.outcome.reason) == (Status.CANCELLED, "it went away")


async def test_what_is_hostile_never_reaches_the_screen():
    arguments = {"question": "x\x1b[2J\x00\u202ey", "options": [{"label": "a\x07"}]}
    async with asked(arguments) as (canvas, interview):
        assert not re.search("[\x00-\x09\x0b-\x1a\x1c-\x1f\u202e]", "".join(canvas.drawn[-1][1]))
        assert "\x1b[2J" not in "".join(canvas.drawn[-1][1])
        interview.end(Status.CANCELLED)


async def test_without_a_canvas_there_is_no_interface():
    @asynccontextmanager
    async def none():
        raise NoInterface("there is none")
        yield

    with pytest.raises(NoInterface):
        await CanvasPresenter(none).present(Interview(read_questionnaire("user_select", MERGE)))
