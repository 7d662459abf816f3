"""When something was said, for a person."""

from __future__ import annotations

from datetime import datetime


def when(at: float, now: float) -> str:
    """The time of day here, with the date where that is another one; both in seconds since 1970."""
    then, today = datetime.fromtimestamp(at).astimezone(), datetime.fromtimestamp(now).astimezone()
    return f"{then:%H:%M}" if then.date() == today.date() else f"{then:%Y-%m-%d %H:%M}"
