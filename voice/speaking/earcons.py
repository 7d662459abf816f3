"""Earcons: short sounds that say what has happened. Pure."""

from __future__ import annotations

from enum import StrEnum


class Earcon(StrEnum):
    """What a short sound says."""

    LISTENING = "listening"
    HEARD = "heard"
    SENT = "sent"
    NOT_SENT = "not_sent"
    OFF = "off"
