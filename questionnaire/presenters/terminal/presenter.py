"""The terminal presenter: an interview conducted with keys on the controlling terminal."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from anyio import current_time

from questionnaire.errors import NoInterface, TerminalLost
from questionnaire.model import Status
from questionnaire.presenters.terminal.around import Surroundings
from questionnaire.progress import Interview

INTERRUPTED = "interrupted with Ctrl-C"
"""The reason of an outcome that the key Ctrl-C brought about."""

Descriptors = tuple[int, int]
"""The file descriptors from which a terminal is read and to which it is written."""


class TerminalPresenter:
    """Asks with a dialog below the cursor, which is gone when it is over.

    `open_terminal` opens the terminal for the time of one interview; without it that is the controlling
    one. It raises `NoInterface` where there is none. `clock` gives the times of showing and answering, and
    `steady`, which must never go back, counts the first moments in which keys are not taken; without them
    both are the event loop's. `around` gives what a program keeps on the screen beside the dialog. Runs on
    asyncio only, as prompt_toolkit does: elsewhere `present` raises `NoInterface`.

    Esc declines, the second time where something was answered or drafted. Ctrl-C ends the interview as
    cancelled, with the reason `INTERRUPTED`.
    """

    def __init__(
        self,
        open_terminal: Callable[[], AbstractContextManager[Descriptors]] | None = None,
        clock: Callable[[], float] = current_time,
        steady: Callable[[], float] = current_time,
        around: Callable[[], Surroundings] | None = None,
    ) -> None:
        self._open_terminal = open_terminal or controlling_descriptors
        self._clock = clock
        self._steady = steady
        self._around = around
        self._last_key_s = float("-inf")

    async def present(self, interview: Interview) -> None:
        """Show the dialog until there is an outcome."""
        # Here, so that importing this module loads no event loop, prompt_toolkit or rich.
        import asyncio

        try:
            asyncio.get_running_loop()
        except RuntimeError as error:
            raise NoInterface("the terminal dialog runs on asyncio only") from error
        from questionnaire.presenters.terminal.dialog import Dialog
        from questionnaire.presenters.terminal.screen import TerminalScreen

        def interrupted() -> None:
            interview.end(Status.CANCELLED, INTERRUPTED)

        def changed(_: object) -> None:
            if interview.outcome is None:
                screen.refresh()
            else:
                screen.close()

        with self._open_terminal() as (read_fd, write_fd):
            if not (os.isatty(read_fd) and os.isatty(write_fd)):
                raise NoInterface("what was opened to ask on is no terminal")
            dialog = Dialog(interview, self._clock, self._steady, self._last_key_s)
            around = self._around() if self._around else None
            screen = TerminalScreen(dialog, read_fd, write_fd, interrupted, around)
            with interview.watch(changed), _terminated(screen.close) as pass_on:
                if interview.outcome is not None:
                    return
                try:
                    await screen.run()
                except (EOFError, OSError, TerminalLost) as error:
                    interview.end(Status.CANCELLED, f"the terminal was lost: {error or 'it hung up'}")
                finally:
                    self._last_key_s = dialog.last_key_s
        pass_on()


def load_libraries() -> None:
    """Load now what `TerminalPresenter.present` would load when it is first called."""
    import questionnaire.presenters.terminal.screen  # noqa: F401


@contextmanager
def controlling_descriptors() -> Iterator[Descriptors]:
    """Open the controlling terminal of the process, whatever its standard streams are.

    Raises `NoInterface` where the process has none.
    """
    try:
        read_fd = os.open("/dev/tty", os.O_RDONLY)
    except OSError as error:
        raise NoInterface(f"there is no terminal to ask on: {error.strerror}") from error
    try:
        write_fd = os.open("/dev/tty", os.O_WRONLY)
        try:
            yield read_fd, write_fd
        finally:
            os.close(write_fd)
    finally:
        os.close(read_fd)


@contextmanager
def _terminated(close: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Have SIGTERM take the dialog off the screen first, where nobody else has a use for that signal.

    Gives a function that then passes the signal on, so that the process ends as it would have.
    """
    came = False

    def on_signal() -> None:
        nonlocal came
        came = True
        close()

    def pass_on() -> None:
        if came:
            os.kill(os.getpid(), signal.SIGTERM)

    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield pass_on
        return
    import asyncio

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, on_signal)
    try:
        yield pass_on
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
