import contextlib
import json
import os
import termios
from functools import partial

import anyio
import pyte
import pytest

from questionnaire.display import look, printable
from questionnaire.errors import ClientLost, NoInterface, TerminalLost
from questionnaire.model import Answer, Input, Provenance, Status
from questionnaire.presenters.dialogs import DialogsPresenter
from questionnaire.presenters.linear import LinearPresenter
from questionnaire.presenters.lines import GUARD_S, FileLines
from questionnaire.presenters.rpc import LineSplitter, RpcDialogs
from questionnaire.presenters.terminal import TerminalPresenter
from questionnaire.progress import Give, GoTo, Note, Shown, Skip, Stop, Submit
from questionnaire.testing import BY, Abilities, HeldPresenter, check_presenter

pytestmark = pytest.mark.anyio


# Plain lines, in memory.


class Typed:
    """A `LineTerminal` on which a hand types while it is read."""

    width = 80

    def __init__(self):
        self.written = []
        self.lost = False
        self._send, self._receive = anyio.create_memory_object_stream(10)

    def write_line(self, line):
        if self.lost:
            raise TerminalLost("unplugged")
        self.written.append(line)

    async def read_line(self, prompt):
        try:
            return await self._receive.receive()
        except anyio.EndOfStream:
            raise TerminalLost("unplugged") from None

    async def type(self, line):
        await self._send.send(line)

    async def lose(self):
        self.lost = True
        self._send.close()

    def seen(self):
        return "\n".join(self.written)

    def close(self):
        self._send.close()
        self._receive.close()


class LineHand:
    """Types the lines that the linear presenter takes."""

    can = Abilities("linear")

    def __init__(self, terminal):
        self._terminal = terminal
        self.words = terminal.type
        self.lose = terminal.lose
        self.seen = terminal.seen

    async def pick(self, row):
        await self.words(f"{row + 1}.")

    async def tick(self, rows, words=""):
        await self.words(", ".join([*(str(row + 1) for row in rows), *([words] if words else [])]))

    async def skip(self):
        await self.words("")

    async def stop(self):
        await self.words("/stop")

    async def note(self, text):
        await self.words(f"/note {text}")

    async def change(self, index):
        await self.words(str(index + 1))

    async def send(self):
        await self.words("send")


@contextlib.asynccontextmanager
async def typed_lines():
    with contextlib.closing(Typed()) as terminal:
        yield LinearPresenter(terminal), LineHand(terminal)


# A pseudo-terminal, for plain lines and for the dialog.


class Pty:
    """A pseudo-terminal of 80 by 24 cells, with the keyboard and the eyes before it."""

    def __init__(self):
        self._ours, self.theirs = os.openpty()
        termios.tcsetwinsize(self.theirs, (24, 80))
        os.set_blocking(self._ours, False)
        self.screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self.screen)
        self._raw = b""
        self._looks = []
        self._lost = False

    @contextlib.contextmanager
    def open(self):
        yield self.theirs, self.theirs

    async def look(self):
        """Look at the screen, all the time."""
        while not self._lost:
            with contextlib.suppress(BlockingIOError):
                came = os.read(self._ours, 100_000)
                self._raw += came
                self._stream.feed(came)
                self._looks.append("\n".join(self.screen.display))
            await anyio.sleep(0.002)

    async def press(self, keys):
        os.write(self._ours, keys.encode())

    async def type(self, line):
        await anyio.sleep(2 * GUARD_S)  # lines of the first moments are not taken
        await self.press(line + "\n")

    async def lose(self):
        if not self._lost:
            self._lost = True
            os.close(self._ours)

    def seen(self):
        return "\n".join([self._raw.decode(errors="replace").replace("\r\n", "\n"), *self._looks])


@contextlib.asynccontextmanager
async def meanwhile(*doings):
    """Do this during the block, whose error is not wrapped."""
    failure = None
    async with anyio.create_task_group() as tasks:
        for do in doings:
            tasks.start_soon(do)
        try:
            yield
        except Exception as error:
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


@contextlib.asynccontextmanager
async def pseudo_terminal():
    pty = Pty()
    try:
        async with meanwhile(pty.look):
            yield pty
    finally:
        await pty.lose()
        os.close(pty.theirs)


@contextlib.asynccontextmanager
async def real_lines():
    async with pseudo_terminal() as pty:
        yield LinearPresenter(FileLines(pty.theirs, pty.theirs)), LineHand(pty)


class KeyHand:
    """Presses the keys of the terminal's dialog."""

    can = Abilities("terminal")
    _END, _UP, _ENTER, _ESC = "\x1b[F", "\x1b[A", "\r", "\x1b"

    def __init__(self, pty):
        self._pty = pty
        self._press = pty.press
        self.lose = pty.lose
        self.seen = pty.seen

    async def pick(self, row):
        await self._press(str(row + 1))

    async def tick(self, rows, words=""):
        own = f"{self._END}{self._UP}{words}{self._ENTER}" if words else ""
        await self._press("".join(str(row + 1) for row in rows) + own + self._END + self._ENTER)

    async def words(self, text):
        # Enter opens the field of the custom row, which the field of a question for text is already.
        await self._press(self._END + (text or self._ENTER) + self._ENTER)

    async def skip(self):
        await self._press(self._END + self._ENTER)

    async def stop(self):
        """Press Esc until the dialog is gone: it leaves a field first, and may ask whether one means it."""
        for _ in range(3):
            await self._press(self._ESC)
            await anyio.sleep(0.15)
            if not any(line.strip() for line in self._pty.screen.display):
                break

    async def note(self, text):
        await self._press(f"N{text}{self._ENTER}")

    async def change(self, index):
        await self._press(str(index + 1))

    async def send(self):
        await self._press(self._ENTER)


class Seconds:
    """A clock that passes a second whenever it is read, so that no key comes too soon."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


@contextlib.asynccontextmanager
async def dialog():
    async with pseudo_terminal() as pty:
        yield TerminalPresenter(pty.open, Seconds(), Seconds()), KeyHand(pty)


# A session client, in memory and at the other end of Pi's lines.


class Client:
    """A `DialogClient` whose open dialog a hand answers."""

    def __init__(self):
        self.said = []
        self.lost = False
        self._closed = None
        self._opened = anyio.Event()

    async def select(self, title, options):
        return await self._show(title, options)

    async def input(self, title, placeholder):
        return await self._show(title, [], placeholder)

    async def _show(self, title, rows, placeholder=""):
        if self.lost:
            raise NoInterface("the client is gone")
        assert not self._opened.is_set(), "two dialogs are open"
        self.said += [title, *rows, placeholder]
        self._rows, self._reply, self._closed = rows, None, anyio.Event()
        self._opened.set()
        try:
            await self._closed.wait()
        except anyio.get_cancelled_exc_class():
            self._opened = anyio.Event()
            raise
        if self.lost:
            raise ClientLost("the client went away")
        return self._reply

    async def rows_of(self):
        """Wait for a dialog, and return its rows: none where it asks for words."""
        await self._opened.wait()
        return self._rows

    def reply(self, reply):
        self._reply, self._opened = reply, anyio.Event()
        self._closed.set()

    async def lose(self):
        self.lost = True
        if self._closed is not None:
            self._closed.set()

    def seen(self):
        return "\n".join(self.said)


class DialogHand:
    """Answers dialogs."""

    def __init__(self, client, lose=None, by=Input.KEY):
        self.can = Abilities("dialogs", by, review=False, notes=False)
        self._client = client
        self.lose = lose or client.lose
        self.seen = client.seen

    async def pick(self, row):
        rows = await self._client.rows_of()
        self._client.reply(rows[row])

    async def tick(self, rows, words=""):
        for row in rows:
            await self.pick(row)
        if words:
            await self.pick(-2)
            await self.words(words)
        await self.pick(-1)

    async def words(self, text):
        if await self._client.rows_of():
            await self.pick(-1)
            assert await self._client.rows_of() == []
        self._client.reply(text)

    async def skip(self):
        await self.words("")

    async def stop(self):
        await self._client.rows_of()
        self._client.reply(None)


@contextlib.asynccontextmanager
async def dialogs():
    client = Client()
    yield DialogsPresenter(client), DialogHand(client)


@contextlib.asynccontextmanager
async def remote_dialogs():
    client = Client()
    yield DialogsPresenter(client, remote_id="browser"), DialogHand(client, by=Input.REMOTE)


async def host(client, receive, send):
    """Show what comes as Pi's lines on `client`, and write back what is answered there."""
    open_dialogs = {}

    async def show(said):
        with anyio.CancelScope() as open_dialogs[said["id"]]:
            if said["method"] == "select":
                reply = await client.select(said["title"], said["options"])
            else:
                reply = await client.input(said["title"], said["placeholder"])
            answer = {"cancelled": True} if reply is None else {"value": reply}
            line = json.dumps({"type": "extension_ui_response", "id": said["id"], **answer})
            await send.send(line.encode() + b"\n")

    splitter = LineSplitter()
    async with anyio.create_task_group() as shown:
        async for data in receive:
            for line in splitter.feed(data):
                said = json.loads(line)
                if said["type"] == "extension_ui_cancel":
                    open_dialogs[said["id"]].cancel()
                    await anyio.lowlevel.checkpoint()
                else:
                    shown.start_soon(show, said)


@contextlib.asynccontextmanager
async def rpc():
    client = Client()
    to_us, from_host = anyio.create_memory_object_stream(10)
    to_host, from_us = anyio.create_memory_object_stream(10)
    asking = RpcDialogs(from_host, to_host)

    async def lose():
        to_us.close()
        await anyio.wait_all_tasks_blocked()

    with to_us, from_host, to_host, from_us:
        async with meanwhile(asking.listen, partial(host, client, from_us, to_us)):
            yield DialogsPresenter(asking), DialogHand(client, lose)


# The double whose user is a test.


class HeldHand:
    """Acts on the interview that a held presenter has open, as a test does."""

    can = Abilities(BY.surface, loss=False)

    def __init__(self, presenter):
        self._presenter = presenter

    async def _do(self, act):
        self._presenter.open.send(act)

    async def pick(self, row):
        await self._do(Give(Answer((row,)), BY))

    async def tick(self, rows, words=""):
        await self._do(Give(Answer(tuple(rows), words or None), BY))

    async def words(self, text):
        await self._do(Give(Answer(custom=text), BY))

    async def skip(self):
        await self._do(Skip(BY))

    async def stop(self):
        await self._do(Stop())

    async def note(self, text):
        await self._do(Note(text))

    async def change(self, index):
        await self._do(GoTo(index))

    async def send(self):
        await self._do(Submit())

    def seen(self):
        """What somebody would have seen: the questions that came up."""
        seen = self._presenter.asked[-1].questions if self._presenter.asked else ()
        return printable(" ".join(question.text for question in seen[: self._presenter.furthest + 1]))


class Held(HeldPresenter):
    """One that knows how far it has come."""

    furthest = -1

    async def present(self, interview):
        def follow(act):
            if isinstance(act, Shown) and act.index is not None:
                self.furthest = max(self.furthest, act.index)

        self.furthest = -1
        with interview.watch(follow):
            await super().present(interview)


@contextlib.asynccontextmanager
async def held():
    presenter = Held()
    yield presenter, HeldHand(presenter)


@pytest.mark.parametrize("make", [typed_lines, real_lines, dialogs, remote_dialogs, rpc, held])
async def test_a_presenter_keeps_its_promises(make):
    await check_presenter(make)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_terminal_keeps_them(anyio_backend):
    await check_presenter(dialog)


# Presenters that break a promise each, made from one that keeps them all.


class Desk:
    """A presenter in memory: `papers` is what was laid on it, `acts` what is done at it."""

    surface = "desk"

    def __init__(self):
        self.papers = []
        self.gone = False
        self.acts, self.taken = anyio.create_memory_object_stream(10)

    async def present(self, interview):
        if self.gone:
            raise NoInterface("there is no desk")
        while interview.outcome is None:
            index = interview.step.index
            if index is not None:
                self.draw(interview.questionnaire.questions[index])
            self.receipt(interview, index)
            await self.turn(interview, index)

    def draw(self, question):
        for text in (question.text, *(option.label for option in question.options)):
            self.papers.append(printable(text))

    def receipt(self, interview, index):
        interview.send(Shown(1.0, index))

    async def turn(self, interview, index):
        """Do what is done next, or leave it where others were quicker."""

        def moved(_=None):
            if interview.outcome is not None or interview.step.index != index:
                waiting.cancel()

        with anyio.CancelScope() as waiting, interview.watch(moved):
            moved()
            await self.act(interview, await self.taken.receive())

    async def act(self, interview, act):
        if act is None:
            self.lost(interview)
        elif isinstance(act, Give):
            question = interview.questionnaire.questions[interview.step.index]
            interview.send(Give(self.read(question, act.answer), Provenance(self.surface, Input.KEY, 2.0)))
        else:
            interview.send(act)

    def read(self, question, answer):
        return answer

    def lost(self, interview):
        interview.end(Status.CANCELLED, "the desk is gone")


class DeskHand(HeldHand):
    can = Abilities("desk")

    def __init__(self, desk):
        self._desk = desk

    async def _do(self, act):
        await self._desk.acts.send(act)

    async def skip(self):
        await self._do(Skip(Provenance(self._desk.surface, Input.KEY, 2.0)))

    async def lose(self):
        self._desk.gone = True
        await self._do(None)

    def seen(self):
        return "\n".join(self._desk.papers)


class ByLabel(Desk):
    """Finds the option again by its label."""

    def read(self, question, answer):
        looks = [look(option.label) for option in question.options]
        return Answer(tuple(looks.index(looks[row]) for row in answer.selected), answer.custom)


class Tidy(Desk):
    """Tidies up what a person wrote."""

    def read(self, question, answer):
        return Answer(answer.selected, answer.custom and answer.custom.title())


class Deaf(Desk):
    """Hears nothing but its own hand."""

    async def turn(self, interview, index):
        await self.act(interview, await self.taken.receive())


class HalfDeaf(Desk):
    """Listens to others only once it has given its receipt, and so misses what they do on it."""

    async def turn(self, interview, index):
        def moved(_):
            if interview.outcome is not None or interview.step.index != index:
                waiting.cancel()

        with anyio.CancelScope() as waiting, interview.watch(moved):
            await self.act(interview, await self.taken.receive())


class Unreceipted(Desk):
    """Gives no receipt."""

    def receipt(self, interview, index):
        pass


class Hasty(Desk):
    """Gives the receipts of all questions with the first."""

    def receipt(self, interview, index):
        for every in reversed(range(len(interview.questionnaire.questions))):
            super().receipt(interview, every)
        super().receipt(interview, index)


class Unstoppable(Desk):
    """Swallows that it is cancelled."""

    async def present(self, interview):
        with contextlib.suppress(anyio.get_cancelled_exc_class()):
            await super().present(interview)


class Final(Desk):
    """Takes the end of the call for the end of the questions."""

    async def present(self, interview):
        try:
            await super().present(interview)
        finally:
            interview.end(Status.CANCELLED)


class OnceOnly(Desk):
    """Is of no use any more once somebody else has ended what lay on it."""

    async def present(self, interview):
        await super().present(interview)
        self.gone = interview.outcome.reason == "enough"


class Raw(Desk):
    """Draws what it is given."""

    def draw(self, question):
        self.papers += [question.text, *(option.label for option in question.options)]


class Nameless(Desk):
    """Does not say where an answer came from."""

    surface = ""


class Abrupt(Desk):
    """Says that nobody can be asked, though somebody was."""

    def lost(self, interview):
        raise NoInterface("the desk is gone")


class Polite(Desk):
    """Takes the absence of a person for their no."""

    async def present(self, interview):
        if self.gone:
            interview.end(Status.CANCELLED)
        else:
            await super().present(interview)


def at(kind):
    @contextlib.asynccontextmanager
    async def make():
        desk = kind()
        with desk.acts, desk.taken:
            yield desk, DeskHand(desk)

    return make


async def test_a_presenter_in_memory_keeps_them():
    await check_presenter(at(Desk))


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (ByLabel, r"A pick gives the option by its index.*should be .*\(1,\)"),
        (Tidy, "own words are the value"),
        (Deaf, "An answer from elsewhere moves the surface on.*no receipt came for question 2"),
        (HalfDeaf, "An answer from elsewhere moves the surface on.*no receipt came for question 2"),
        (Unreceipted, "no receipt came for question 1"),
        (Hasty, "the receipts should be"),
        (Unstoppable, "present swallowed that it was cancelled"),
        (Final, "cancelling the call ended the questions as cancelled"),
        (OnceOnly, "after an end as cancelled the surface is not usable"),
        (Raw, "came to the surface as it is"),
        (Nameless, "the surface and its input should be"),
        (Abrupt, r"goes away underway.*present raised NoInterface"),
        (Polite, "the surface is gone, and no NoInterface came"),
    ],
)
@pytest.mark.parametrize("anyio_backend", ["virtual"], indirect=True)
async def test_the_suite_finds_what_a_presenter_breaks(kind, fault):
    with pytest.raises(AssertionError, match=fault):
        await check_presenter(at(kind), within_s=5)


async def test_the_suite_names_what_a_presenter_raised():
    class Broken(Desk):
        def draw(self, question):
            raise ZeroDivisionError

    with pytest.raises(AssertionError, match="present had raised ZeroDivisionError"):
        await check_presenter(at(Broken))


@pytest.mark.parametrize("anyio_backend", ["virtual"], indirect=True)
async def test_a_hand_does_not_wait_for_ever():
    class Patient(DeskHand):
        async def pick(self, row):
            await anyio.sleep_forever()

    @contextlib.asynccontextmanager
    async def make():
        async with at(Desk)() as (desk, _):
            yield desk, Patient(desk)

    with pytest.raises(AssertionError, match="a hand waited in vain"):
        await check_presenter(make, within_s=5)
