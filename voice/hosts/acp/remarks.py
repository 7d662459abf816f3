"""What adapters write about themselves in the agent's name, told from what the agent writes. Pure.

The protocol has no place for a banner or for "retrying", so adapters put them among the agent's text, each as
a chunk of its own. They are not the agent's words, and are not spoken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_REMARKS = re.compile(
    "|".join(
        (
            # pi-acp 0.0.34
            r"Queued message \(position \d+\)\.",
            r"Cleared queued prompts\.",
            r"Starting queued message\. \(\d+ remaining\)",
            r"Retrying(\.\.\.| \(attempt \d+/\d+, waiting \d+s\)\.\.\.)",
            r"Retry finished, resuming\.",
            r"Context nearing limit, running automatic compaction\.\.\.",
            r"Automatic compaction finished; context was summarized to continue the session\.",
            r"Pi (input|editor) UI request is not supported in ACP yet; cancelling it\.",
            # claude-agent-acp 0.16
            r"Compacting\.\.\.",
            r"\s*Compacting completed\.\s*",
        )
    )
)


class Remarks:
    """Tells the remarks of one session's adapter; ``meta`` is what came with the new session."""

    def __init__(self, meta: Mapping[str, Any] | None) -> None:
        self._banners = {text.strip() for text in _texts(meta) if "\n" in text.strip()}

    def is_banner(self, text: str) -> bool:
        """Whether a chunk is what the adapter says of itself at the beginning: worth nobody's while."""
        return bool(self._banners) and text.strip() in self._banners

    def is_remark(self, text: str, meta: Mapping[str, Any] | None) -> bool:
        """Whether a chunk is a word of the adapter's: marked as a notification, or known by its text."""
        marked = any("notify" in mark or mark.get("kind") == "informational" for mark in _marks(meta))
        return marked or _REMARKS.fullmatch(text) is not None


def is_of_subagent(meta: Mapping[str, Any] | None) -> bool:
    """Whether a chunk was written by an agent of the agent's: it is for that one to say what comes of it."""
    return any(mark.get("parentToolUseId") for mark in _marks(meta))


def _marks(meta: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
    """What each vendor has marked a chunk with."""
    return (mark for mark in (meta or {}).values() if isinstance(mark, Mapping))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
