"""Spoken controls: which whole utterance is a command. Pure."""

from __future__ import annotations

from enum import StrEnum


class Command(StrEnum):
    """What can be said to the session itself, and never reaches the agent."""

    STOP_VOICE = "stop_voice"
    PAUSE = "pause"
    WAKE = "wake"
    REPEAT = "repeat"
    REPEAT_SLOWLY = "repeat_slowly"
    STOP_TALKING = "stop_talking"
    GO_ON = "go_on"
    SCRATCH = "scratch"
    SEND = "send"
    READ_BACK = "read_back"
    LOUDER = "louder"
    QUIETER = "quieter"
    FASTER = "faster"
    SLOWER = "slower"
