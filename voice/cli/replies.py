"""A recorded person who talks with an agent: ``voice chat --replies``."""

from __future__ import annotations

from pathlib import Path

from voice.backends.cues import CuedMicrophone
from voice.backends.recording import RecordingMicrophone
from voice.errors import RecordingError
from voice.events import (
    AgentEnded,
    DevicesInUse,
    Discarded,
    Event,
    LevelMeasured,
    NarrationEnded,
    SpeechStarted,
    Status,
    StatusChanged,
    UserMessage,
)

NOBODY_S = 3.0
"""After so much silence nothing comes any more of a recording in which nobody was heard."""

_RECORDINGS = (".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a", ".webm")


class RecordedReplies:
    """Speaks the next recording of a folder, by name, whenever it is the user's turn and Voice listens.

    Raises `RecordingError` where there is none.
    """

    def __init__(self, folder: Path) -> None:
        try:
            files = sorted(path for path in folder.iterdir() if path.suffix.lower() in _RECORDINGS)
        except OSError as error:
            raise RecordingError(f"The folder {folder} cannot be read: {error.strerror}.") from error
        if not files:
            raise RecordingError(
                f"There is no recording in {folder}.", mend=f"put some there: {' '.join(_RECORDINGS)}"
            )
        self.microphone = CuedMicrophone([RecordingMicrophone(path) for path in files])
        self._listening = False
        self._speaking = False
        """Whether a recording was begun of which nothing has come yet."""
        self._heard = False
        """Whether somebody was heard since: then a message comes of it, or is told why not."""
        self._due = True

    def take(self, event: Event) -> None:
        """Hear what happens."""
        match event:
            case StatusChanged(status):
                self._listening = status is Status.LISTENING
            case AgentEnded() | NarrationEnded():
                self._due = self._due or not self._speaking
            case UserMessage(source="keyboard") | DevicesInUse(microphone=""):
                self._speaking = False
                self.microphone.hush()  # who types, or switches Voice off, does not talk on
                return
            case UserMessage() | Discarded():
                self._speaking = False
                return
            case SpeechStarted():
                self._heard = True
                return
            case LevelMeasured():
                if not self._speaking or self._heard or self.microphone.silent_s < NOBODY_S:
                    return
                self._speaking, self._due = False, True
            case _:
                return
        if self._listening and self._due:
            self._due = self._heard = False
            self._speaking = self.microphone.cue() is not None
