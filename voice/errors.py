"""Everything that can go wrong, as one tree.

::

    VoiceError
    ├── LibraryMissing          a library that is not installed, or cannot be loaded
    ├── SettingsError           a setting that cannot be used
    ├── SceneError              a scene that cannot be used
    ├── TextError               a text that cannot be spoken
    ├── JournalError            what is kept cannot be used
    ├── StreamClosed            a standard stream that a conversation needs
    ├── AudioInputError
    │   ├── RecordingError      a recording that cannot be heard whole
    │   └── DeviceError         a microphone or speaker that cannot be used
    │       ├── PortAudioMissing
    │       ├── DeviceLost      it worked, and then it did not
    │       └── DeviceChanged   another one is meant now
    ├── TranscriberError
    │   ├── ModelNotFound       no Whisper weights in any of the places
    │   ├── ModelBroken         weights are there and cannot be loaded
    │   └── TranscriberDied     the child process ended, again and again
    ├── SpeechEngineError
    │   ├── SpeechEngineMissing
    │   └── SpeechEngineDied
    └── HostError               an agent's program that cannot be used
        ├── HostMissing         it is not installed, or too old
        └── HostDied            it worked, and then it ended, hung or broke its protocol

Each error is a sentence for a person, and where a command mends it, that command. The errors of an outside
library are translated in the one file of ``voice.backends`` that uses the library.
"""

INSTALL = "pip install -e '.[offline]' in the project's folder, or make demo there"
"""What brings the libraries, and brings them back."""


class VoiceError(Exception):
    """The base of every error of this package.

    ``sentence`` says what is wrong, in words for the person who uses the program; ``mend``, where there is
    one, is the command (or the act) that mends it. ``exit_code`` is what the commands exit with: 2 for input
    that cannot be used, 3 for a missing or broken part of the loop, 1 for anything else.
    """

    exit_code = 1

    def __init__(self, sentence: str, *, mend: str | None = None) -> None:
        super().__init__(sentence if mend is None else f"{sentence} To mend it: {mend}")
        self.sentence = sentence
        self.mend = mend


class LibraryMissing(VoiceError):
    """A library that is not installed, or one below it that cannot be loaded."""

    exit_code = 3

    def __init__(self, error: ImportError, *, mend: str = INSTALL) -> None:
        why = " ".join(str(error).split())
        super().__init__(f"The library {_blamed(error)} cannot be loaded: {why}.", mend=mend)


def _blamed(error: ImportError) -> str:
    """The library that an import failed in: it is told, or else it is the one that raised."""
    name, trace = error.name, error.__traceback__
    while name is None and trace is not None:
        name = None if trace.tb_next else trace.tb_frame.f_globals["__name__"]
        trace = trace.tb_next
    return (name or "that is needed").partition(".")[0]


class SettingsError(VoiceError):
    """A setting that cannot be used."""

    exit_code = 2


class SceneError(VoiceError):
    """A scene that cannot be read or played: its file, a field in it, or a recording that it names."""

    exit_code = 2


class TextError(VoiceError):
    """A text that cannot be spoken: there is nothing in it to say, or it cannot be read."""

    exit_code = 2


class JournalError(VoiceError):
    """What is kept cannot be used: there is no such entry, or its folder is not one that can be trusted."""

    exit_code = 2


class StreamClosed(VoiceError):
    """A standard stream that a conversation needs is closed."""

    exit_code = 2

    def __init__(self, name: str) -> None:
        mend = "start it in a terminal, or with </dev/null and Voice alone" if name == "input" else None
        super().__init__(f"Standard {name} is closed, and a conversation needs it.", mend=mend)


class AudioInputError(VoiceError):
    """Sound that cannot be read."""

    exit_code = 2


class RecordingError(AudioInputError):
    """A recording that is missing, is not audio, or does not hold what its header promises."""


class DeviceError(AudioInputError):
    """A microphone or a speaker that is not there or cannot be opened."""

    exit_code = 3


class PortAudioMissing(DeviceError):
    """The system library that reaches the devices is not installed."""


class DeviceLost(DeviceError):
    """A device that worked, and then stopped: pulled out, or its sound server died or hangs."""


class DeviceChanged(DeviceError):
    """Another device is meant now than the one that is open: opened anew, it is that one."""


class TranscriberError(VoiceError):
    """Speech that cannot be turned into text."""

    exit_code = 3


class ModelNotFound(TranscriberError):
    """No Whisper weights in any of the places looked at."""


class ModelBroken(TranscriberError):
    """Whisper weights that are incomplete or cannot be loaded."""


class TranscriberDied(TranscriberError):
    """The transcribing child process ended before it had answered, more often than is worth trying."""


class SpeechEngineError(VoiceError):
    """Text that cannot be turned into speech."""

    exit_code = 3


class SpeechEngineMissing(SpeechEngineError):
    """The speech engine or a library below it is not installed."""


class SpeechEngineDied(SpeechEngineError):
    """The speaking child process ended, hung or gave no sound, more often than is worth trying."""


class HostError(VoiceError):
    """An agent's program that cannot be started or does not accept a message."""

    exit_code = 3


class HostMissing(HostError):
    """An agent's program that is not installed, or too old."""


class HostDied(HostError):
    """An agent's program that worked, and then ended, hung or broke its protocol."""
