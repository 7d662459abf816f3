"""What turn-taking is told, and what it has done: happenings and acts. Pure.

`voice.turn_taking` decides which acts follow from which happenings, and `voice.chat` or `voice.server`
carries them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from voice.events import DiscardReason, Event, UserMessage
from voice.ports import Delivery
from voice.reopening import CutOff, Keep
from voice.speaking.earcons import Earcon
from voice.speaking.manner import Manner

# --- What happens -----------------------------------------------------------------------------------------


class Kind(StrEnum):
    """What a narration is."""

    QUESTION = "question"
    """The agent (or a structured request) asks: what is said or typed next is its reply."""
    TEXT = "text"
    """What the agent wrote."""
    REPEAT = "repeat"
    """What was narrated before, once more: it changes nothing of who has the turn."""
    REMARK = "remark"
    """Of the session itself: it changes nothing either."""


@dataclass(frozen=True)
class Speaking:
    """A narration begins to be heard, or goes on after a pause; ``options`` is what can be chosen."""

    text: str
    kind: Kind
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Silent:
    """Our voice has fallen silent; ``unfinished`` says whether there is a rest that could go on."""

    unfinished: bool = False


@dataclass(frozen=True)
class Drafted:
    """This is what stands in the input line now."""

    text: str


@dataclass(frozen=True)
class Typed:
    """A line was sent."""

    text: str
    at_s: float = 0.0


@dataclass(frozen=True)
class Silenced:
    """The key that ends narration was pressed."""


@dataclass(frozen=True)
class Passed:
    """So much audio time has passed.

    ``busy`` says that somebody speaks, or something said is not yet a message; ``waits`` that a narration
    waits for that.
    """

    seconds: float
    busy: bool
    waits: bool = False


@dataclass(frozen=True)
class MicrophoneLost:
    """It gives no sound any more, and is being looked for."""


@dataclass(frozen=True)
class MicrophoneBack:
    """It gives sound again."""


@dataclass(frozen=True)
class Asking:
    """A structured request that is being asked by voice begins (or ends): its replies go to it."""

    on: bool
    at_s: float = 0.0
    """In audio time: who had begun to speak before that speaks to the agent."""


@dataclass(frozen=True)
class Verbatim:
    """What is said next is (or is no longer) the answer itself, in the user's own words."""

    on: bool


@dataclass(frozen=True)
class Asked:
    """The agent asks with a text that it wrote, and that has been heard as such."""

    text: str


@dataclass(frozen=True)
class Waiting:
    """So many messages wait for the agent, spoken ones among them or not."""

    messages: int
    spoken: bool


@dataclass(frozen=True)
class Accepted:
    """The agent has accepted a message, at this audio time."""

    message: UserMessage
    at_s: float


@dataclass(frozen=True)
class Answering:
    """The agent writes, narrates, or has called a tool."""


Happening = (
    Event
    | Speaking
    | Silent
    | Drafted
    | Typed
    | Silenced
    | Passed
    | MicrophoneLost
    | MicrophoneBack
    | Asking
    | Verbatim
    | Asked
    | Waiting
    | Accepted
    | Answering
)

# --- What is to be done -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Deliver:
    """Give a message to the agent, or to the request that is being asked."""

    message: UserMessage
    delivery: Delivery
    instead_of: UserMessage | None = None
    """An earlier one that it holds: its speaker went on."""


@dataclass(frozen=True)
class Drop:
    """Show that something heard (or typed) is not sent, and why."""

    reason: DiscardReason
    text: str
    utterances: tuple[str, ...] = ()
    source: Literal["voice", "keyboard"] = "voice"


@dataclass(frozen=True)
class Obeyed:
    """These utterances were controls: there is no message in them."""

    utterances: tuple[str, ...]


class Do(StrEnum):
    """Acts that need nothing more said."""

    HOLD = "hold"
    """Let the microphone's sound pass unheard."""
    RELEASE = "release"
    """Hear it again."""
    SILENCE = "silence"
    """End the narration, and what waits to be narrated."""
    PAUSE = "pause"
    """Stop narrating, to go on perhaps."""
    RESUME = "resume"
    """Go on at the word."""
    GO_ON = "go_on"
    """Narrate the rest of what was silenced."""
    REPEAT = "repeat"
    REPEAT_SLOWLY = "repeat_slowly"
    REPEAT_SHORTER = "repeat_shorter"
    TAKE_BACK = "take_back"
    """Take back the newest spoken message that waits."""
    INTERRUPT_AGENT = "interrupt_agent"
    SWITCH_OFF = "switch_off"
    SLEEP = "sleep"
    """Transcribe phrases alone."""
    WAKE = "wake"
    CLOSE_MICROPHONE = "close_microphone"
    OPEN_MICROPHONE = "open_microphone"
    LOUDER = "louder"
    QUIETER = "quieter"
    FASTER = "faster"
    SLOWER = "slower"


MANNERS: Mapping[Do, Callable[[Manner], Manner]] = {
    Do.LOUDER: Manner.louder,
    Do.QUIETER: Manner.quieter,
    Do.FASTER: Manner.faster,
    Do.SLOWER: Manner.slower,
}
"""How those that say how we speak change it."""


@dataclass(frozen=True)
class DropTurn:
    """End the turn that is open: it will be no message, for this reason."""

    reason: DiscardReason


@dataclass(frozen=True)
class Say:
    """Tell the person a sentence of our own, aloud where Voice is on, and where ``written`` in writing."""

    sentence: str
    written: bool = True


@dataclass(frozen=True)
class Play:
    """Play an earcon."""

    earcon: Earcon


@dataclass(frozen=True)
class Tell:
    """Emit an event."""

    event: Event


Act = Deliver | Drop | Obeyed | Keep | CutOff | Do | DropTurn | Say | Play | Tell
