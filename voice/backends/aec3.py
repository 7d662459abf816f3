"""Echo cancelling with WebRTC's AEC3 (``pywebrtc-audio``, the extra ``aec``)."""

from __future__ import annotations

from typing import Any

from voice.audio import FRAME_SAMPLES, SAMPLE_RATE, Frame
from voice.errors import LibraryMissing

INSTALL = "pip install 'pywebrtc-audio>=0.2', or pip install -e '.[aec]' in the project's folder"


class Aec3:
    """A `voice.ports.EchoCanceller`: 0.1 ms of work a frame, and half a second until it knows the room.

    It finds the delay between the two by itself. Raises `LibraryMissing` where the library is not installed.
    """

    def __init__(self) -> None:
        try:
            from pywebrtc_audio import EchoCanceller
        except ImportError as error:
            raise LibraryMissing(error, mend=INSTALL) from error
        self._canceller: Any = EchoCanceller(SAMPLE_RATE, 1)

    def cancel(self, near: Frame, far: Frame) -> Frame:
        """The microphone's frame without the speaker's."""
        cleaned: Frame = self._canceller.process(near, far)
        assert cleaned.shape == (FRAME_SAMPLES,)
        return cleaned
