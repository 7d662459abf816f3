"""How things stand, folded from the events: what the rows around the input line show. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from voice import events
from voice.events import DiscardReason, Event, Status, VoiceState
from voice.screen.entries import STATUS_WORDS


@dataclass(frozen=True)
class ScreenState:
    """What is true now."""

    status: Status = Status.VOICE_OFF
    voice_on: bool = False
    """Whether Voice is on, or about to be."""
    working: bool = False
    """Whether the agent is at work on a turn, whatever else goes on."""
    level_dbfs: float | None = None
    """How loud the microphone is; None while nothing is heard."""
    microphone: str = ""
    speaker: str = ""
    lost_frames: int = 0
    """How much sound the microphone gave that was not taken, since the beginning."""
    partial: str = ""
    """The words so far of what is being said."""
    queued: tuple[str, ...] = ()
    """Messages that wait until the agent has finished, oldest first."""
    armed: bool = False
    """Whether Ctrl-C quits now."""
    draft: str = ""
    """What stands in the input line."""

    @property
    def words(self) -> str:
        """What goes on, in words; and whether the agent works, and Voice is off, beside it."""
        told = [STATUS_WORDS[self.status]]
        if not self.voice_on and self.status is Status.WORKING:
            told.insert(0, STATUS_WORDS[Status.VOICE_OFF])
        elif self.working and self.status is not Status.WORKING:
            told.append(STATUS_WORDS[Status.WORKING])
        return ", ".join(told)


def after(state: ScreenState, event: Event) -> ScreenState:
    """How things stand when this has happened."""
    match event:
        case events.StatusChanged(status):
            return replace(state, status=status)
        case events.VoiceStateChanged(VoiceState.STARTING | VoiceState.ACTIVE):
            return replace(state, voice_on=True)
        case events.VoiceStateChanged(voice_state):
            over = voice_state is not VoiceState.DRAINING  # until then what was said is still on its way
            return replace(state, voice_on=False, level_dbfs=None, partial="" if over else state.partial)
        case events.LevelMeasured(level_dbfs):
            return replace(state, level_dbfs=level_dbfs)
        case events.DevicesInUse(microphone, speaker):
            level = state.level_dbfs if microphone else None
            return replace(state, microphone=microphone, speaker=speaker, level_dbfs=level)
        case events.FramesLost(frames):
            return replace(state, lost_frames=state.lost_frames + frames)
        case events.PartialTranscript(text):
            return replace(state, partial=text)
        case events.Discarded(reason=DiscardReason.TAKEN_BACK | DiscardReason.UNCONFIRMED, text=text):
            return _taken(state, text)
        case events.SpeechStarted() | events.UserMessage(source="voice") | events.Discarded():
            return replace(state, partial="")
        case events.MessageQueued(text):
            return replace(state, queued=(*state.queued, text))
        case events.MessageSent(text) | events.MessageReopened(text):
            return _taken(state, text)
        case events.AgentStarted():
            return replace(state, working=True)
        case events.AgentEnded() | events.HostLost():
            return replace(state, working=False)
    return state


def _taken(state: ScreenState, text: str) -> ScreenState:
    """The state without the oldest waiting message of this text."""
    if text not in state.queued:
        return state
    at = state.queued.index(text)
    return replace(state, queued=state.queued[:at] + state.queued[at + 1 :])
