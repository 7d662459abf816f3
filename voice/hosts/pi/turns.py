"""What Pi tells of its session, as events of ours. Pure.

Pi ends a run (`agent_end`) and may begin the next by itself: a retry, what was queued meanwhile. A turn of
ours goes from the first of them until Pi has settled. What Pi thinks is nobody's to read or to hear, and
what is not known here is passed over: newer versions tell more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voice.events import AgentEnded, AgentStarted, AssistantDelta, AssistantText, Event, ToolCalled


class Turns:
    """One session of Pi's, as far as it has been told."""

    def __init__(self) -> None:
        self.busy = False
        """Whether Pi is at work."""
        self.count = 0
        """How many turns have begun."""
        self._written = ""
        self._told = False
        self._error = ""

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
                return self._whole(self._written)
            case {"type": "tool_execution_end", "toolName": str(name)}:
                return [ToolCalled(name, _text_of(event.get("result")), event.get("isError") is True)]
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

    def settled(self) -> list[Event]:
        """Pi waits for the user, or is gone, which is told by itself."""
        if not self.busy:
            return []
        self.busy = False
        return [*self._whole(self._written), AgentEnded(self._error)]

    def _delta(self, delta: str) -> list[Event]:
        self._written += delta
        if self._told:
            return [AssistantDelta(delta)]
        self._told = bool(self._written.strip())  # what is blank so far may stay so, and is then never told
        return [AssistantDelta(self._written)] if self._told else []

    def _whole(self, text: str) -> list[Event]:
        told, self._written, self._told = self._told, "", False
        return [AssistantText(text)] if told or text.strip() else []


def _text_of(result: Any) -> str:
    """The text blocks of a tool's result."""
    content = result.get("content") if isinstance(result, Mapping) else None
    blocks = content if isinstance(content, list) else []
    return "\n".join(
        block["text"] for block in blocks if isinstance(block, Mapping) and isinstance(block.get("text"), str)
    )
