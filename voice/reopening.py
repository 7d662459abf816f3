"""Reopening: what was said in one breath reaches the agent as one message, or not at all. Pure.

A silence ends a turn, and may end it too early. So whoever begins to speak soon after a message, or while it
is still being transcribed, is taken to go on with it, until it is known what they said: words are added to
it, a sound that is nothing leaves it as it is, and where words are lost it is not sent either, for half a
reply may say the contrary of the whole. Meanwhile it is kept from the agent, where the agent has not got it.

Each turn is known by when it began, and is one to be told of until what became of it is told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from voice.events import UserMessage

GOES_ON_S = 5.0
"""What is said so soon after a message that still waits for the agent is added to it: longer pauses part what
may have to be taken back by itself."""


KEPT_S = 10.0
"""A message whose speaker seems to go on is kept from the agent for so long at most: a television that is
taken for speech never pauses."""


@dataclass(frozen=True)
class Keep:
    """Do not hand this message over while it waits: its speaker goes on. None: keep none back any more."""

    message: UserMessage | None


@dataclass(frozen=True)
class CutOff:
    """Take this message back, if it still waits: what its speaker went on to say is lost."""

    message: UserMessage


Acts = list[Keep | CutOff]


@dataclass
class _Turn:
    """One of which it is not known yet what was said in it."""

    began_s: float
    answers: bool
    """Whether it is for a structured request, and not for the agent."""
    goes_on: bool
    """Whether it goes on with the open message, for all that one can tell."""
    broken: bool = False
    """Whether the turn before it, with which it may have gone on, is lost."""


@dataclass(frozen=True)
class _Open:
    """A spoken message to which its speaker may still add something."""

    message: UserMessage
    steered: bool
    """Whether it goes to an agent that is at work on something else: that is not broken off."""
    sent_s: float | None = None
    """When the agent accepted it, None until then."""


class Reopening:
    """The last spoken message of a conversation, and the turns that may go on with it.

    ``within_s`` is how soon after it was sent somebody must begin for that; with 0 nothing goes on with
    anything. All that is returned are acts, to be carried out in their order.
    """

    def __init__(self, within_s: float) -> None:
        self._within_s = within_s
        self._turns: list[_Turn] = []
        self._open: _Open | None = None
        self._closed = False
        """Whether only a turn that has begun already goes on with it."""
        self._kept_s: float | None = None
        """For how long it has been kept back; None where it is not."""

    # --- Turns --------------------------------------------------------------------------------------------

    def began(self, at_s: float, *, answers: bool, waits: bool) -> Acts:
        """Somebody has begun to speak; ``waits`` says whether a spoken message waits for the agent."""
        before = self._open
        goes_on = before is not None and not (answers or self._closed) and self._is_soon(before, at_s)
        if before is not None and before.steered and not waits:
            goes_on = False  # it is on its way to an agent that is at work on something else
        self._turns.append(_Turn(at_s, answers, goes_on))
        return self._keep() if goes_on else []

    def knows(self, began_s: float) -> bool:
        """Whether it is still to be told what became of that turn."""
        return self._turn(began_s) is not None

    def answers(self, began_s: float) -> bool:
        """Whether that turn is for a structured request."""
        turn = self._turn(began_s)
        return turn is not None and turn.answers

    def broken(self, began_s: float) -> bool:
        """Whether the beginning of what was said in that turn is lost."""
        turn = self._turn(began_s)
        return turn is not None and turn.broken

    def before(self, began_s: float) -> UserMessage | None:
        """The message to which the words of that turn are added; None where they are one by themselves."""
        turn = self._turn(began_s)
        return self._open.message if turn is not None and turn.goes_on and self._open is not None else None

    def nothing_asked(self) -> None:
        """No structured request is asked any more: what was for one is for the agent."""
        for turn in self._turns:
            turn.answers = False

    def over(self, began_s: float, *, lost: bool = False, breaks: bool = False) -> Acts:
        """All is known of that turn, and its words, if it had any, are told of already.

        ``lost`` says that there were words, or may have been, and that they are not sent; ``breaks`` that who
        has gone on with them meanwhile has lost their beginning.
        """
        turn = self._turn(began_s)
        if turn is None:
            return []
        self._turns.remove(turn)
        if breaks and self._within_s:
            for later in self._turns:
                later.broken = True
        if lost and turn.goes_on:
            return self._cut_off()
        return [] if self._goes_on else self._settle()

    def silent(self) -> Acts:
        """Nobody speaks, and of all that was said it is known what became of it."""
        self._turns.clear()
        return self._settle()

    # --- Messages -----------------------------------------------------------------------------------------

    def told(self, message: UserMessage, began_s: float, *, steered: bool) -> Acts:
        """What was said in that turn is about to be sent, with what it is added to: it is the open one now.

        Whoever has begun to speak meanwhile goes on with it. ``steered`` says whether it goes to an agent
        that is at work on something else.
        """
        if self._open is not None and self.before(began_s) is not None:
            steered = self._open.steered
        self._open, self._closed = _Open(message, steered), False
        for turn in self._turns:
            turn.goes_on = bool(self._within_s) and turn.began_s > began_s and not turn.answers
        return self._keep() if self._goes_on else []

    def close(self) -> None:
        """Something else was said, typed or asked: only who has begun already goes on with the message."""
        self._closed = True
        if not self._goes_on:
            self._open = None

    def part(self) -> Acts:
        """Nothing goes on with the message any more."""
        self._forget()
        return self._release()

    def accepted(self, message: UserMessage, at_s: float) -> None:
        """The agent has accepted a message, at this audio time."""
        if self._open is None or self._open.message is not message:
            return
        self._open = replace(self._open, sent_s=at_s)
        if self._open.steered:
            self._forget()

    def answered(self) -> None:
        """The agent writes, or acts: what it has got is not said once more, unless its speaker goes on."""
        if self._open is not None and self._open.sent_s is not None:
            self.close()

    def agent_ended(self) -> None:
        """Nor is what it has done, also where its speaker goes on: that is said by itself."""
        if self._open is not None and self._open.sent_s is not None:
            self._forget()

    # --- Time ---------------------------------------------------------------------------------------------

    def passed(self, seconds: float) -> Acts:
        """So much audio time has passed."""
        if self._kept_s is None:
            return []
        self._kept_s += seconds
        return self._release() if self._kept_s >= KEPT_S else []

    def end(self) -> Acts:
        """Nothing more will be told of any turn, and audio time begins anew."""
        acts = self._cut_off() if self._goes_on else self._settle()
        self._turns.clear()
        self._open = None
        return acts

    # --- Inside -------------------------------------------------------------------------------------------

    def _turn(self, began_s: float) -> _Turn | None:
        return next((turn for turn in self._turns if turn.began_s == began_s), None)

    @property
    def _goes_on(self) -> bool:
        """Whether anybody seems to go on with the open message."""
        return any(turn.goes_on for turn in self._turns)

    def _is_soon(self, before: _Open, start_s: float) -> bool:
        if not self._within_s:
            return False
        if before.sent_s is not None:
            return start_s <= before.sent_s + self._within_s
        return start_s <= before.message.at_s + max(GOES_ON_S, self._within_s)

    def _keep(self) -> Acts:
        if self._open is None or self._open.sent_s is not None:
            return []
        self._kept_s = 0.0
        return [Keep(self._open.message)]

    def _release(self) -> Acts:
        kept, self._kept_s = self._kept_s is not None, None
        return [Keep(None)] if kept else []

    def _settle(self) -> Acts:
        """Nobody goes on with the message for now: it can go as it is."""
        if self._closed:
            self._open = None
        return self._release()

    def _cut_off(self) -> Acts:
        before = self._open
        self._forget()
        if before is None or before.sent_s is not None:
            return self._release()
        return [CutOff(before.message), *self._release()]

    def _forget(self) -> None:
        self._open = None
        for turn in self._turns:
            turn.goes_on = False
