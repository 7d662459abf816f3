"""PortAudio itself: how it is started, quietly, and its list of devices made anew. Each call may hang."""

from __future__ import annotations

import atexit
import ctypes
import sys
from typing import Any

from voice.errors import DeviceError, PortAudioMissing


class PortAudio:
    """The module ``sounddevice`` and the library below it; for one thread at a time."""

    def __init__(self) -> None:
        self._sounddevice: Any = None
        self._below: ctypes.CDLL | None = None

    def module(self, *, renewed: bool) -> Any:
        """The module; ``renewed``, which ends every stream, it knows the devices that are there now.

        Raises `PortAudioMissing`, and `DeviceError` where it cannot be started.
        """
        if self._sounddevice is None:
            _quieten_c()
            self._below = _initialised_beforehand()
            self._sounddevice = _imported()
        elif renewed:
            self._renew(self._sounddevice)
        return self._sounddevice

    def _renew(self, sounddevice: Any) -> None:
        # PortAudio counts how often it was initialised, and looks for devices when it begins at nought.
        try:
            while sounddevice._initialized:
                sounddevice._terminate()
            if self._below is not None:
                self._below.Pa_Terminate()
                self._below.Pa_Initialize()
            sounddevice._initialize()
        except sounddevice.PortAudioError as error:
            raise _not_started(error) from None


def _initialised_beforehand() -> ctypes.CDLL | None:
    """Initialise PortAudio before sounddevice does, which turns descriptor 2 to /dev/null for so long.

    With a hung sound server that would be for good. Afterwards its own call returns at once.
    """
    if sys.platform != "linux":
        return None
    try:
        portaudio = ctypes.CDLL("libportaudio.so.2")
    except OSError:
        return None  # sounddevice knows other names, or says that there is none
    portaudio.Pa_Initialize()
    return portaudio


def _imported() -> Any:
    try:
        import sounddevice
    except ImportError:
        raise PortAudioMissing(
            "The library sounddevice, which reaches microphones and speakers, is not installed.",
            mend="pip install sounddevice",
        ) from None
    except OSError:
        raise PortAudioMissing(
            "The library PortAudio, which reaches microphones and speakers, is not installed.",
            mend="sudo apt install libportaudio2",
        ) from None
    except Exception as error:  # its PortAudioError, out of reach when the import fails
        raise _not_started(error) from None
    # At the end of the program it would close what hangs, and hang. All else is closed by then.
    atexit.unregister(sounddevice._exit_handler)
    return sounddevice


def _quieten_c() -> None:
    """Send what C code writes to its ``stderr`` to nowhere, from now on.

    PortAudio and ALSA report there, from threads of their own and in the middle of what the terminal shows,
    whenever a device goes away. PortAudio can be given no other place, and ALSA's error handler sees only a
    part. Turning descriptor 2 to /dev/null around each call misses those moments, and silences whatever else
    is written meanwhile, for good where the call hangs. So it is the C library's variable ``stderr`` that is
    turned: Python and child processes write to the descriptor and are not touched. What is lost with it is
    the line that a failing assertion in C writes before it ends the program.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "gnu_get_libc_version"):
        return  # elsewhere the variable is a constant
    libc.fopen.restype = ctypes.c_void_p
    nowhere = libc.fopen(b"/dev/null", b"w")
    if nowhere:
        ctypes.c_void_p.in_dll(libc, "stderr").value = nowhere


def _not_started(error: Exception) -> DeviceError:
    return DeviceError(f"PortAudio cannot be started: {error}.", mend="see: voice devices")
