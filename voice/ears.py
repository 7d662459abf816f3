"""The ears: what the microphone hears, less what is our own voice.

They wrap the `Hearing` of one microphone and know what is being narrated, so that nothing we said ourselves
becomes a message, in any `Duplex` mode.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from voice.audio import Frame
from voice.events import DiscardReason, Event
from voice.floor import Duplex, Floor
from voice.loop import Hearing
from voice.ports import EchoCanceller


class Ears:
    """One microphone's hearing, through every narration.

    In `Duplex.CANCELLED` a ``canceller`` is needed, and the speaker's tap must lead to `on_played`. The
    narrator's hook for the sentence that is being heard leads to `on_sentence`.
    """

    def __init__(
        self, hearing: Hearing, *, duplex: Duplex = Duplex.HALF, canceller: EchoCanceller | None = None
    ) -> None:
        if duplex is Duplex.CANCELLED and canceller is None:
            raise ValueError("the mode cancelled needs an echo canceller")
        self.hearing = hearing
        self._duplex = duplex
        self._canceller = canceller
        self._floor = Floor()
        self._held = False

    @property
    def duplex(self) -> Duplex:
        """The mode in force: after two echoes it is `Duplex.HALF`, whatever was asked for."""
        return self._duplex

    @property
    def now_s(self) -> float:
        """Audio time: how much sound there has been."""
        return self.hearing.now_s

    @property
    def busy(self) -> bool:
        """Whether somebody is speaking or perhaps begins to, or something said is not yet a message."""
        return self.hearing.busy

    @property
    def speaking(self) -> bool:
        """Whether a turn is open: somebody speaks, or pauses."""
        return self.hearing.speaking

    @property
    def held(self) -> bool:
        """Whether the keyboard holds the microphone."""
        return self._held

    async def push(self, frame: Frame) -> list[Event]:
        """Take the next frame of the microphone; return what happened."""
        theirs = self._floor.hears_next_frame() or self._duplex is not Duplex.HALF
        if self._held:
            return await self.hearing.skip(keep=theirs)
        return await (self.hearing.push(frame) if theirs else self.hearing.skip())

    def input_ended(self) -> list[Event]:
        """End an open turn: its source gives no more sound. Its message comes with later frames."""
        return self.hearing.input_ended()

    def hold(self) -> None:
        """Let frames pass unheard, for the keyboard; an open turn waits, one that has ended is delivered."""
        self._held = True

    def release(self) -> None:
        """Hear again; a turn that was open goes on."""
        self._held = False

    def drop_turn(self, reason: DiscardReason) -> list[Event]:
        """End the open turn, if there is one: its words come later, as `Discarded` for this reason."""
        return self.hearing.drop(reason)

    @contextmanager
    def narration(self) -> Iterator[None]:
        """To be held while a text is narrated, and until the speaker has really fallen silent."""
        with self._floor.narration():
            yield

    def on_sentence(self, sentence: str | None) -> None:
        """The narrator's hook: this sentence begins to be heard; None when nothing is any more."""
        self._floor.says(sentence)
