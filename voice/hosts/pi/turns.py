"""What Pi tells of its session, as events of ours. Pure.

Pi ends a run (`agent_end`) and may begin the next by itself: a retry, what was queued meanwhile. A turn of
ours goes from the first of them until Pi has settled. What Pi thinks is nobody's to read or to hear, and
what is not known here is passed over: newer versions tell more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from voice.events import AgentEnded, AgentStarted, AssistantDelta, AssistantText, Event, HostLost, ToolCalled


class Turns:
    """One session of Pi's, as far as it has been told.

    ``ours`` are the names of the tools that are refused in words of ours while they are withheld. Pi itself
    says no more of such a call than that there is no such tool; the model reads what `refused` is told.
    """

    def __init__(self, ours: Collection[str] = ()) -> None:
        self.busy = False
        """Whether Pi is at work."""
        self.count = 0
        """How many turns have begun."""
        self._written = ""
        self._told = False
        self._error = ""
        self._ours = ours
        self._refusals: dict[str, str | None] = {}
        """What calls were refused with, of which Pi has not told yet; None where Pi's words stand."""
        self._unknown: dict[str, ToolCalled] = {}
        """Calls in Pi's words, until it is known what the model reads."""

    def take(self, event: Mapping[str, Any]) -> list[Event]:
        """What this event of Pi's means."""
        match event:
            case {"type": "agent_start"}:
                return self.started()
            case {
                "type": "message_update",
                "assistantMessageEvent": {"type": "text_delta", "delta": str(delta)},
            }:
                return self._delta(delta)
            case {"type": "message_update", "assistantMessageEvent": {"type": "text_end", **block}}:
                content = block.get("content")
                return self._whole(content if isinstance(content, str) else self._written)
            case {"type": "message_end", "message": {"role": "assistant", **message}}:
                failed = message.get("stopReason") == "error"
                self._error = str(message.get("errorMessage") or "It failed.") if failed else ""
                return [*self._in_pis_words(), *self._whole(self._written)]
            case {"type": "tool_execution_end", "toolName": str(name)}:
                called = ToolCalled(name, _text_of(event.get("result")), event.get("isError") is True)
                return self._called(str(event.get("toolCallId")), called)
            case {"type": "agent_settled"}:
                return self.settled()
        return []

    def started(self) -> list[Event]:
        """Pi is at work, or has accepted what it will be at work on."""
        if self.busy:
            return []
        self.busy, self._error = True, ""
        self.count += 1
        return [AgentStarted()]

    def refused(self, key: str, text: str | None) -> list[Event]:
        """The model reads this text of the call with this id; None where it reads what Pi says."""
        if (called := self._unknown.pop(key, None)) is None:
            self._refusals[key] = text
            return []
        return [called if text is None else replace(called, text=text)]

    def settled(self) -> list[Event]:
        """Pi waits for the user."""
        if not self.busy:
            return []
        self.busy = False
        self._refusals.clear()
        return [*self._in_pis_words(), *self._whole(self._written), AgentEnded(self._error)]

    def lost(self, sentence: str) -> list[Event]:
        """Pi is gone, which is told once: the end of its turn carries no sentence."""
        self._error = ""
        return [*self.settled(), HostLost(sentence)]

    def _called(self, key: str, called: ToolCalled) -> list[Event]:
        known, text = key in self._refusals, self._refusals.pop(key, None)
        unknown = called.is_error and called.name in self._ours and called.text == _unknown(called.name)
        if unknown and not known:  # it comes by another way, and may be later
            self._unknown[key] = called
            return []
        return [replace(called, text=text) if unknown and text is not None else called]

    def _in_pis_words(self) -> list[Event]:
        """The calls that nobody refused in other words."""
        calls, self._unknown = self._unknown, {}
        return list(calls.values())

    def _delta(self, delta: str) -> list[Event]:
        self._written += delta
        if self._told:
            return [AssistantDelta(delta)]
        self._told = bool(self._written.strip())  # what is blank so far may stay so, and is then never told
        return [AssistantDelta(self._written)] if self._told else []

    def _whole(self, text: str) -> list[Event]:
        told, self._written, self._told = self._told, "", False
        return [AssistantText(text)] if told or text.strip() else []


def _unknown(name: str) -> str:
    """What Pi says of a call of a tool that is not in its active set."""
    return f"Tool {name} not found"


def _text_of(result: Any) -> str:
    """The text blocks of a tool's result."""
    content = result.get("content") if isinstance(result, Mapping) else None
    blocks = content if isinstance(content, list) else []
    return "\n".join(
        block["text"] for block in blocks if isinstance(block, Mapping) and isinstance(block.get("text"), str)
    )
