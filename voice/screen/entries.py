"""The conversation as a reader sees it: events become entries, each somebody's words or a remark. Pure.

Texts are as they came: who prints an entry makes them printable.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from voice import events
from voice.events import DiscardReason, Event, NarrationEnding, Status

STATUS_WORDS = {
    Status.VOICE_OFF: "voice off",
    Status.STARTING: "starting voice",
    Status.LISTENING: "listening",
    Status.HEARING: "hearing you",
    Status.TRANSCRIBING: "transcribing",
    Status.WORKING: "agent working",
    Status.NARRATING: "narrating",
    Status.HELD: "microphone held",
    Status.ASLEEP: "asleep",
    Status.QUIET: "waiting quietly",
    Status.MICROPHONE_LOST: "microphone lost",
}
"""What goes on, in words that need no colour."""

_NOT_SENT = {
    DiscardReason.PHANTOM: "heard, but the sound does not bear the words out; not sent",
    DiscardReason.NOT_TRANSCRIBED: "not all of it could be transcribed; not sent",
    DiscardReason.TALKED_OVER: "talked over by the narration; not sent",
    DiscardReason.CUT_OFF: "cut off before you had finished; not sent",
    DiscardReason.TOO_EARLY: "no answer to what is asked now; not sent",
    DiscardReason.UNCONFIRMED: "the agent ended before it showed that it has it; not sent again",
    DiscardReason.ECHO: "our own voice was heard; not sent",
    DiscardReason.TYPED_INSTEAD: "you typed instead; not sent",
    DiscardReason.TAKEN_BACK: "taken back",
}
"""Why something is not sent. What is missing is not told each time: of a sound without words the session says
something itself, a control is told as one, and what is heard while it is asleep is nobody's business."""

_OUR_TOOLS = frozenset({"narrate", "ask_user_question", "user_select"})
"""They are seen and heard themselves."""

_LONGEST_RESULT = 200
"""Characters of what a tool gave back: the agent reads all of it, a person glances at it."""


class Kind(StrEnum):
    """What an entry is, for its looks."""

    AGENT = "agent"
    """The agent's words, Markdown."""
    NARRATED = "narrated"
    """The same, spoken; they are written as one speaks."""
    SPOKEN = "spoken"
    """The user's, by voice."""
    TYPED = "typed"
    STATE = "state"
    """What the session does."""
    TOOLS = "tools"
    REFUSED = "refused"
    """What the agent is told when a tool fails; its name comes first."""
    REMARK = "remark"
    """A word about what was just shown."""
    NOTICE = "notice"
    """What a person should know."""


@dataclass(frozen=True)
class Entry:
    """One thing to print; its name is left out where it goes on with the one before."""

    kind: Kind
    text: str
    goes_on: bool = False


class Story:
    """Makes entries of events, and never tells the same words twice.

    What the agent is still writing is told by the block: `unfinished` is the rest. ``detailed`` adds how long
    things took, and each change of the tools; ``show_latency`` how long each spoken message took until the
    agent had it.
    """

    def __init__(self, *, detailed: bool = False, show_latency: bool = False) -> None:
        self._detailed = detailed
        self._shows_latency = show_latency
        self._writing = Writing()
        self._last_text = ""
        self._explained = ""

    @property
    def unfinished(self) -> str:
        """What the agent has written of a block that is not over."""
        return self._writing.rest

    def take(self, event: Event) -> list[Entry]:
        """What the event means to the reader; mostly nothing or one entry."""
        match event:
            case events.AssistantDelta(text):
                return list(self._writing.more(text))
            case events.AssistantText(text):
                self._last_text = text
                return list(self._writing.whole(text))
            case events.AgentEnded(error):
                return [*self._writing.cut_short(), *([Entry(Kind.NOTICE, error)] if error else [])]
            case events.HostLost(sentence):
                return [*self._writing.cut_short(), Entry(Kind.NOTICE, sentence)]
            case events.ToolCalled(name, text, is_error):
                return self._tool(name, text, is_error=is_error)
            case events.NarrationStarted(text):
                # Spoken of itself what was just written is known already.
                known = look(text) in look(self._last_text + self._writing.text) and bool(look(text))
                return [] if known else [Entry(Kind.NARRATED, text)]
            case events.NarrationEnded():
                return self._narrated(event)
            case events.UserMessage(text=text, source="voice", latency=latency):
                return [Entry(Kind.SPOKEN, text), *(self._took(latency) if latency else [])]
            case events.UserMessage(text=text):
                return [Entry(Kind.TYPED, text)]
            case events.MessageReopened():
                return [Entry(Kind.REMARK, "you went on; both are sent as one message")]
            case events.MessageDelivered() if self._shows_latency:
                return [Entry(Kind.REMARK, _parts(event))]
            case events.Discarded(reason, text) if reason in _NOT_SENT:
                return [
                    Entry(Kind.REMARK, f"{_NOT_SENT[reason]}: {text}" if text else f"{_NOT_SENT[reason]}.")
                ]
            case events.Discarded(DiscardReason.NO_WORDS) if self._detailed:
                return [Entry(Kind.REMARK, "a sound without words; not sent")]
            case events.CommandHeard(phrase=phrase):
                return [Entry(Kind.REMARK, f"heard: {phrase}")]
            case events.VoiceStateChanged(state) if self._detailed:
                return [Entry(Kind.STATE, state)]
            case events.ToolsChanged(names) if self._detailed:
                return [Entry(Kind.TOOLS, " · ".join(names) or "none")]
            case events.Notice(sentence):
                return [Entry(Kind.NOTICE, sentence)]
        return []

    def _tool(self, name: str, text: str, *, is_error: bool) -> list[Entry]:
        if is_error:
            return [Entry(Kind.REFUSED, f"{name}: {text}")]
        if name in _OUR_TOOLS:
            return []
        first = next((line for line in text.splitlines() if line.strip()), "")
        cut = first if len(first) <= _LONGEST_RESULT else f"{first[:_LONGEST_RESULT]}…"
        return [Entry(Kind.REMARK, f"{name}: {cut}" if cut else name)]

    def _narrated(self, ended: events.NarrationEnded) -> list[Entry]:
        match ended.ending:
            case NarrationEnding.COMPLETED:
                told = f"{ended.played_s:.1f} s of speech" if self._detailed else ""
            case NarrationEnding.FAILED:
                # One explanation is enough: the session goes on in text.
                told = f"not spoken: {ended.notice}" if ended.notice != self._explained else "not spoken"
                self._explained = ended.notice
            case NarrationEnding.SUPERSEDED if not self._detailed:
                told = ""
            case ending:
                told = f"narration {ending}"
        return [Entry(Kind.REMARK, told)] if told else []

    def _took(self, latency: events.Latency) -> list[Entry]:
        if not self._detailed:
            return []
        return [
            Entry(
                Kind.REMARK,
                f"{latency.total_s:.2f} s after your last sound"
                f" ({latency.endpoint_s:.2f} of silence, {latency.transcribe_s:.2f} more for Whisper)",
            )
        ]


def _parts(told: events.MessageDelivered) -> str:
    deliver = "waiting for the agent" if told.waited else "to the agent"
    latency = told.latency
    return (
        f"{told.total_s:.2f} s: {latency.endpoint_s:.2f} of silence, {latency.transcribe_s:.2f} for Whisper,"
        f" {told.deliver_s:.2f} {deliver}"
    )


class Writing:
    """A text that is still being written, told by the block: a paragraph, a list, a fence with its code."""

    def __init__(self) -> None:
        self.text = ""
        """All of it so far."""
        self._told = 0
        self._lines_seen = 0
        self._fence = ""

    @property
    def rest(self) -> str:
        """What is not told yet."""
        return self.text[self._told :]

    def more(self, delta: str) -> Iterable[Entry]:
        """Take the next part; give the blocks that are over."""
        self.text += delta
        while (end := self.text.find("\n", self._lines_seen)) >= 0:
            line = self.text[self._lines_seen : end].strip()
            self._lines_seen = end + 1
            if self._fence:
                if line.startswith(self._fence) and not line.strip(self._fence[0]):
                    self._fence = ""
            elif line.startswith(("```", "~~~")):
                self._fence = line[: len(line) - len(line.lstrip(line[0]))]
            elif not line:
                yield from self._tell(self._lines_seen)

    def whole(self, text: str) -> Iterable[Entry]:
        """The text is over, and this is it; give what is not told yet of it."""
        if text.startswith(self.text[: self._told]):
            self.text = text
            yield from self._tell(len(text))
        elif text.strip():  # it became another text than it seemed to
            yield Entry(Kind.AGENT, text.strip("\n"))
        self._begin_anew()

    def cut_short(self) -> Iterable[Entry]:
        """Nothing more comes of it; give what is not told yet."""
        yield from self._tell(len(self.text))
        self._begin_anew()

    def _tell(self, end: int) -> Iterable[Entry]:
        block = self.text[self._told : end].strip("\n")
        goes_on = bool(self.text[: self._told].strip())
        self._told = end
        if block.strip():
            yield replace(Entry(Kind.AGENT, block), goes_on=goes_on)

    def _begin_anew(self) -> None:
        self.text, self._told, self._lines_seen, self._fence = "", 0, 0, ""


def look(text: str) -> str:
    """A text without what spacing and case make of it."""
    return " ".join(text.split()).casefold()
