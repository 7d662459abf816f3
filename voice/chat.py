"""One conversation of a person, by voice and keyboard, with one agent.

`Chat` owns what lives as long as the conversation: the host, the inbox, autonomous Voice, the tools. A screen
drives it with keys and shows the events that it emits; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from questionnaire import AdjustableToolset, Outcome, Presenter, Questionnaire
from voice.autonomous import Parts
from voice.events import Emit, Status
from voice.ports import Host
from voice.settings import Settings

Ask = Callable[[Questionnaire], Awaitable[Outcome]]
"""Has a request answered in its structure, on the screen and by voice; when cancelled it is off both."""

MakeHost = Callable[[AdjustableToolset, Ask, Emit], Host]
"""Makes the host, given all its tools, a way to ask the person, and where it tells what the agent does."""

OpenParts = Callable[[], AbstractAsyncContextManager[Parts]]
"""Opens what Voice hears and speaks with, anew each time that it is switched on."""


class Chat:
    """One conversation of a person, by voice and keyboard, with one agent.

    ``presenter`` shows structured questions on the screen; None where there is no screen to ask on. With
    ``questionnaire`` false the agent has no tools that ask. All methods but `run` return at once, and are to
    be called in the event loop's thread.
    """

    tools: AdjustableToolset
    """All that the agent may use: `ask_user_question`, `user_select`, `narrate`."""

    def __init__(
        self,
        make_host: MakeHost,
        open_parts: OpenParts,
        settings: Settings,
        emit: Emit,
        *,
        presenter: Presenter | None = None,
        questionnaire: bool = True,
    ) -> None:
        raise NotImplementedError

    @property
    def status(self) -> Status:
        """What goes on now; `StatusChanged` tells when it is another."""
        raise NotImplementedError

    @property
    def host_name(self) -> str:
        """What a person calls the agent."""
        raise NotImplementedError

    async def run(self, *, voice: bool = True) -> None:
        """Open the host and carry the conversation until `quit`, or until cancelled.

        Raises `HostError` where the host cannot be started at all. One that dies later is `HostLost`, and the
        next message starts it again. A Voice that cannot be switched on is a `Notice`, and the conversation
        goes on by keyboard.
        """
        raise NotImplementedError

    def quit(self) -> None:
        """End the conversation: `run` closes everything and returns."""
        raise NotImplementedError

    def draft(self, text: str) -> None:
        """Tell what stands in the input line now, after each key; "" gives the microphone back."""
        raise NotImplementedError

    def send(self, text: str) -> bool:
        """Send a typed message. Sending nothing sends what was spoken and is held for an end word.

        Returns False where there was nothing to send. The line counts as empty afterwards.
        """
        raise NotImplementedError

    def toggle_voice(self) -> None:
        """Switch Voice on, or off; while it is starting, off."""
        raise NotImplementedError

    def stop_narration(self) -> bool:
        """Silence what is spoken, and what waits to be; returns whether there was anything."""
        raise NotImplementedError

    def interrupt_agent(self) -> None:
        """Have the agent stop what it is at; its narration ends too."""
        raise NotImplementedError
