"""The agents that `voice chat --agent` and MCP clients reach, and the canceller of echo: what each needs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from voice.doctor.findings import Finding, fault, works
from voice.doctor.libraries import version_of
from voice.errors import LibraryMissing, VoiceError

if TYPE_CHECKING:
    from voice.settings import Settings

EXTRAS = {
    "acp": ("agent acp", "agent-client-protocol"),
    "pydantic-ai": ("agent pydantic-ai", "pydantic-ai-slim"),
    "mcp": ("MCP servers", "mcp"),
}
"""By the extra that brings it: the part, and the distribution. They are not loaded: that takes seconds."""


def libraries_of_agents() -> Iterator[Finding]:
    """Each extra: its version, or the command that installs it. Nobody needs them all."""
    for extra, (part, distribution) in EXTRAS.items():
        try:
            told, mend = f"{distribution} {version(distribution)}", None
        except PackageNotFoundError:
            told, mend = "not installed; only who uses it needs it", f"pip install 'viva-voce[{extra}]'"
        yield Finding(part, ok=mend is None, detail=told, mend=mend, needed=False, public=told)


def pi() -> Finding:
    """The Pi on the PATH, and whether the Node there can run it."""
    from voice.hosts.pi.program import find_pi

    try:
        found = find_pi(os.environ)
    except VoiceError as error:
        return fault("agent pi", error, needed=False)
    told = f"Pi {'.'.join(map(str, found.version))}"
    return works("agent pi", told, private=f", {found.path}", needed=False)


def echo_canceller(settings: Settings) -> Finding | None:
    """What `hearing.duplex = "cancelled"` needs; None where it is not asked for."""
    from voice.floor import Duplex

    if settings.hearing.duplex is not Duplex.CANCELLED:
        return None
    from voice.backends.aec3 import Aec3

    try:
        Aec3()
    except LibraryMissing as error:
        return fault("echo canceller", error)
    return works("echo canceller", f"pywebrtc-audio {version_of('pywebrtc-audio')}")
