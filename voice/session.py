"""Where keyboard, voice and host meet: messages in, in their order; ordinary text out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import anyio

from voice.events import Emit, MessageQueued, MessageReopened, MessageSent, MessageTakenBack, UserMessage
from voice.ports import Confirming, Delivery, Host, Journal, Unconfirmed


@dataclass(frozen=True)
class Taken:
    """A message that was taken out of the inbox."""

    message: UserMessage
    unsent: UserMessage
    """The same without what the host has got of it: where only an addition to an earlier one was taken."""


@dataclass(frozen=True)
class _Waiting:
    message: UserMessage
    delivery: Delivery
    instead_of: UserMessage | None = None
    """What it replaces of what the host has got."""


class Session:
    """The inbox of one conversation. The host sees text, and never whether it was spoken or typed.

    What is to follow up waits here, where it can be taken back, until the host is idle; what steers or
    interrupts goes at once, and overtakes it. A message leaves the inbox when the host has accepted it. So
    long it is in the ``journal``, where there is one, and with a host that is `Confirming` until the agent
    has shown that it has it.
    """

    def __init__(self, emit: Emit, journal: Journal | None = None) -> None:
        self._emit = emit
        self._journal = journal
        self._inbox: list[_Waiting] = []
        self._sending: _Waiting | None = None
        self._failed: _Waiting | None = None
        """The one whose handing over was broken off last: it is in the inbox."""
        self._unconfirmed: list[UserMessage] = []
        """Those that the host has accepted, and of which the agent has shown no sign, in that order."""
        self._kept: UserMessage | None = None
        self._host: Host | None = None
        self._changed = anyio.Event()
        self._sent: list[UserMessage] = []

    @property
    def transcript(self) -> tuple[UserMessage, ...]:
        """The messages that the host has accepted, without those that its agent may not have."""
        return tuple(self._sent)

    @property
    def waiting(self) -> tuple[UserMessage, ...]:
        """The messages that it has not, in the order in which they came."""
        return tuple(waiting.message for waiting in self._inbox)

    @property
    def unconfirmed(self) -> tuple[UserMessage, ...]:
        """Those that it has accepted, where it is not known whether the agent has them."""
        return tuple(self._unconfirmed)

    @property
    def sending(self) -> UserMessage | None:
        """The one of them that is being handed over: the host may have it by now."""
        return self._sending.message if self._sending is not None else None

    @property
    def can_take_back(self) -> bool:
        """Whether a spoken message waits that is not being handed over at this moment."""
        return self._newest_spoken() is not None

    def put(
        self,
        message: UserMessage,
        delivery: Delivery = Delivery.FOLLOW_UP,
        *,
        told: bool = False,
        instead_of: UserMessage | None = None,
    ) -> bool:
        """Take a message for the host; False for one of white space alone, which is never sent.

        ``told`` is for one that was emitted before. ``instead_of`` is an earlier one that this one holds:
        where it still waits this one takes its place; where the host has it, or is getting it, the host is
        interrupted by this one.
        """
        if not message.text.strip():
            return False
        if self._journal is not None and message.source == "keyboard" and not message.utterances:
            message = replace(message, utterances=(self._journal.typed(message.text),))
        waiting = self._put(message, delivery, instead_of)
        if not told:
            self._emit(message)
        if self._next() is not waiting:
            self._emit(MessageQueued(message.text))
        self.look()
        return True

    def _put(self, message: UserMessage, delivery: Delivery, instead_of: UserMessage | None) -> _Waiting:
        before = next((one for one in self._inbox if one.message is instead_of), None)
        if instead_of is None or (before is None and instead_of not in self._sent):
            waiting = _Waiting(message, delivery)
            self._inbox.append(waiting)
        elif before is not None and before is not self._sending:
            waiting = _Waiting(message, before.delivery, before.instead_of)
            self._inbox[self._inbox.index(before)] = waiting
            self._emit(MessageReopened(instead_of.text, sent=False))
        else:
            waiting = _Waiting(message, Delivery.INTERRUPT, instead_of)
            self._inbox.append(waiting)
            self._emit(MessageReopened(instead_of.text, sent=True))
        return waiting

    def keep(self, message: UserMessage | None) -> None:
        """Do not hand this one over while it waits; what comes later overtakes it. None: keep none back."""
        self._kept = message
        self.look()

    def take_back(self, message: UserMessage | None = None) -> Taken | None:
        """Take a message out again, else the newest spoken one; None where it cannot be taken back."""
        waiting = self._newest_spoken() if message is None else self._that_waits(message)
        if waiting is None:
            return None
        self._inbox.remove(waiting)
        self._emit(MessageTakenBack(waiting.message.text, added=waiting.instead_of is not None))
        self.look()
        return Taken(waiting.message, _without(waiting.message, waiting.instead_of))

    def look(self) -> None:
        """Look again whether the next message can go: to be called when the host has become idle."""
        self._changed.set()
        self._changed = anyio.Event()

    def confirm(self, host: Host) -> None:
        """Look which messages the agent has shown that it has: to be called at each event of the host's."""
        if not self._unconfirmed:
            return
        without = Counter(one.text for one in _unconfirmed(host))
        still: list[UserMessage] = []
        for message in reversed(self._unconfirmed):  # of two with the same words the older has been read
            without[message.text] -= 1
            if without[message.text] >= 0:
                still.insert(0, message)
            elif self._journal is not None and message.utterances:
                self._journal.accepted(message.utterances)
        if len(still) < len(self._unconfirmed):
            self._unconfirmed = still
            self.look()

    def written(self, host: Host) -> tuple[UserMessage, ...]:
        """Those without a sign that the agent's program was given: it may have them."""
        texts = _written(host)
        return tuple(message for message in self._unconfirmed if texts[message.text])

    async def confirmed(self, host: Host) -> None:
        """Wait until the agent has shown that it has all that its program was given."""
        while self.written(host):
            await self._changed.wait()

    def take_doubtful(self, host: Host) -> tuple[UserMessage, ...]:
        """Take out what a program that was lost was given, and showed no sign of: it may have it or not."""
        self.confirm(host)
        written = _written(host)
        held_by_later = {id(waiting.instead_of) for waiting in self._inbox}
        doubtful: list[UserMessage] = []
        still: list[UserMessage] = []
        for message in self._unconfirmed:
            if written[message.text] <= 0:
                still.append(message)
            elif id(message) not in held_by_later:  # else it goes, whole, with that one
                doubtful.append(message)
            written[message.text] -= 1
        self._unconfirmed = still
        failed = self._failed
        if failed is not None and failed in self._inbox and written[failed.message.text] > 0:
            self._inbox.remove(failed)
            doubtful.append(failed.message)
        self._sent = [sent for sent in self._sent if not any(sent is one for one in doubtful)]
        return tuple(doubtful)

    async def run(self, host: Host) -> None:
        """Hand messages over, one after another, until cancelled.

        What the host raises comes out here, and the message is still the first that the next run hands over.
        """
        self._host = host
        try:
            while True:
                while (waiting := self._next()) is not None:
                    await self._hand_over(waiting, host)
                await self._changed.wait()
        finally:
            self._host = None

    async def handed_over(self) -> None:
        """Wait until nothing is being handed over, nor could be now: what waits for the host is left."""
        while self._sending is not None or self._next() is not None:
            await self._changed.wait()

    async def settled(self) -> None:
        """Wait until the host has accepted all that was put."""
        while self._inbox:
            await self._changed.wait()

    async def _hand_over(self, waiting: _Waiting, host: Host) -> None:
        self._sending, self._failed = waiting, None
        try:
            await host.send(waiting.message.text, waiting.delivery)
        except BaseException:
            self._failed = waiting
            if any(later.instead_of is waiting.message for later in self._inbox):
                self._inbox.remove(waiting)  # the later one holds it
            raise
        finally:
            self._sending = None
            self.look()
        self._inbox.remove(waiting)
        for holding in (self._sent, self._unconfirmed):  # what this one holds is settled with it
            holding[:] = [one for one in holding if one is not waiting.instead_of]
        self._sent.append(waiting.message)
        self._unconfirmed.append(waiting.message)
        self.confirm(host)
        self._emit(MessageSent(waiting.message.text))
        self.look()

    def _next(self) -> _Waiting | None:
        """What can go now: while the host is busy (or away) only what need not wait for it."""
        if self._host is None:
            return None
        free = [waiting for waiting in self._inbox if waiting.message is not self._kept]
        if not self._host.busy:
            return next(iter(free), None)
        return next((waiting for waiting in free if waiting.delivery is not Delivery.FOLLOW_UP), None)

    def _that_waits(self, message: UserMessage) -> _Waiting | None:
        waiting = (one for one in self._inbox if one.message is message and one is not self._sending)
        return next(waiting, None)

    def _newest_spoken(self) -> _Waiting | None:
        spoken = (
            waiting
            for waiting in reversed(self._inbox)
            if waiting.message.source == "voice" and waiting is not self._sending
        )
        return next(spoken, None)


def _unconfirmed(host: Host) -> tuple[Unconfirmed, ...]:
    return host.unconfirmed if isinstance(host, Confirming) else ()


def _written(host: Host) -> Counter[str]:
    """The texts of those that went to the agent's program, each as often as it did."""
    return Counter(one.text for one in _unconfirmed(host) if one.written)


def _without(message: UserMessage, sent: UserMessage | None) -> UserMessage:
    """What a message adds to an earlier one; all of it where that is not how it begins."""
    if sent is None or not message.text.startswith(sent.text):
        return message
    added = message.text.removeprefix(sent.text).lstrip()
    new = tuple(one for one in message.utterances if one not in sent.utterances)
    return replace(message, text=added, utterances=new)
