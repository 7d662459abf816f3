"""webrtcvad: the cheap gate, 6 µs a frame.

It calls nearly everything loud speech (keys, music, hiss), so it never decides anything alone: it only says
when the dearer detector should look.
"""

from __future__ import annotations

from voice.audio import SAMPLE_RATE, Frame

MODE = 0
"""The most permissive of its four: a gate may open for nothing, and must not stay shut for a quiet talker."""


class WebRtcGate:
    """Says of each frame whether there might be speech in it."""

    def __init__(self, mode: int = MODE) -> None:
        import webrtcvad

        self._vad = webrtcvad.Vad(mode)

    def __call__(self, frame: Frame) -> bool:
        """Whether the next frame might hold speech."""
        return bool(self._vad.is_speech(frame.tobytes(), SAMPLE_RATE))
