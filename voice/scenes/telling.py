"""What happened in a scene, a line each, for a person. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from voice import events
from voice.events import Event
from voice.scenes.expecting import Happened, Verdict
from voice.scenes.sentences import SentenceBegun, SentenceHeard


def timeline(happened: Iterable[Happened]) -> Iterator[str]:
    """A line for each event that a person would notice, with its time."""
    for one in happened:
        if told := _told(one.event):
            who, what = told
            yield f"{one.clock_s:8.2f} s  {who:<8} {' '.join(what.split())}"


def in_words(verdict: Verdict) -> str:
    """A verdict in a line."""
    return (
        f"  met      {verdict.expected}"
        if verdict.met
        else f"  NOT MET  {verdict.expected}: {verdict.failure}"
    )


def _told(event: Event) -> tuple[str, str] | None:
    match event:
        case events.SpeechStarted():
            return "person", "begins to speak"
        case events.SpeechEnded(at_s, decided_at_s, reason):
            return "person", f"has finished ({reason}, decided {decided_at_s - at_s:.2f} s later)"
        case events.PartialTranscript(text):
            return "heard", f"so far: {text}"
        case events.UserMessage(text=text, source=source, latency=latency):
            after = f", {latency.total_s:.2f} s after the last sound" if latency else ""
            return "message", f"{text}  ({source}{after})"
        case events.Discarded(reason, text):
            return "dropped", f"{text!r} ({reason})"
        case events.CommandHeard(command, phrase):
            return "obeyed", f"{command} ({phrase!r})"
        case events.MessageSent(text):
            return "agent", f"has got: {text}"
        case events.MessageQueued(text):
            return "waits", text
        case events.MessageReopened(text):
            return "reopened", text
        case events.AgentEnded(error) if error:
            return "agent", f"fails: {error}"
        case events.AssistantText(text):
            return "agent", f"writes: {text}"
        case events.ToolCalled(name, text, is_error):
            return "tool", f"{name} → {'error: ' if is_error else ''}{text}"
        case events.ToolsChanged(names):
            return "tools", ", ".join(names) or "none"
        case events.HostLost(sentence):
            return "agent", f"is lost: {sentence}"
        case SentenceBegun(text):
            return "we say", text
        case SentenceHeard(text, played_s, False):
            return "we stop", f"after {played_s:.2f} s of: {text}"
        case events.StatusChanged(status):
            return "status", status
        case events.Notice(sentence):
            return "notice", sentence
        case _:
            return None
