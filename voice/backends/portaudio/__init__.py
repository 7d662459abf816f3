"""Microphones and speakers through PortAudio (``sounddevice``), which is imported when it is used.

Three habits of PortAudio shape this room. Its calls hang when the sound server does, so each runs in a daemon
thread with a time limit and is left behind when the limit has passed: neither the event loop nor the end of
the program waits for it. Its list of devices is as old as its initialisation, so that is done anew at every
opening while no stream is open, and devices are found by name, never by number. And it writes to C's standard
error whenever it likes, which is put out of reach of the terminal.

Streams hand over to the event loop with ``call_soon_threadsafe``: this runs on asyncio only, not on trio.
"""

from voice.backends.portaudio.microphone import PortAudioMicrophone
from voice.backends.portaudio.opening import find_output, list_devices
from voice.backends.portaudio.speaker import PortAudioSpeaker

__all__ = ["PortAudioMicrophone", "PortAudioSpeaker", "find_output", "list_devices"]
