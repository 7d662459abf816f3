"""A speaker without a device: every sound has been heard at once."""

from __future__ import annotations

import anyio.lowlevel

from voice.audio import Sound


class SkippingSpeaker:
    """Plays into nothing, in no time, and counts what it would have played.

    For a session that shows its narration instead of sounding it, and for replays in audio time.
    """

    name = "none (narration is skipped)"

    def __init__(self) -> None:
        self.sounds = 0
        """How many sounds were skipped."""
        self.total_s = 0.0
        """How long they would have lasted, in seconds."""
        self._played_s = 0.0

    @property
    def played_s(self) -> float:
        """Seconds of the last sound: all of it, or none where its playing was cancelled."""
        return self._played_s

    async def play(self, sound: Sound) -> None:
        """Skip it; never raises `DeviceError`."""
        self._played_s = 0.0
        await anyio.lowlevel.checkpoint()
        self._played_s = sound.duration_s
        self.sounds += 1
        self.total_s += sound.duration_s
