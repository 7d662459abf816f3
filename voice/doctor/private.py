"""What must not stand in a text that is given to others, taken out of it. Pure.

It is the second line: what `voice.doctor.report` puts together holds our own words, versions and numbers, and
never a setting's text. But errors name paths and devices, and devices are named after people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

LEFT_OUT = "(left out)"

_ORDINARY = {
    *("admin", "audio", "debian", "fedora", "home", "host", "local", "localdomain", "localhost", "mic"),
    *("pi", "root", "ubuntu", "usb", "user", "vm"),
}
"""Names of users and machines that say nothing of anybody, and are words of ours."""

_SECRET_NAMES = re.compile("KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL|COOKIE", re.IGNORECASE)
_SHORTEST_TEXT = 4
"""Shorter ones are parts of ordinary words."""

_PATH = r"(?<![\w./])(?:~[\w.-]*)?/(?!(?:usr/)?lib(?:32|64)?/)(?=[^\s/])"
"""Where a path begins, but for those of the system's own libraries."""

_PATTERNS = (
    re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE),  # with what else stands in an address
    re.compile(r"[^\s@'\"(]+@[\w-]+(\.[\w-]+)*"),
    re.compile(r"\b[0-9a-f]{2}([:_-][0-9a-f]{2}){5}\b", re.IGNORECASE),  # of a Bluetooth device
    re.compile(r"\b\d{1,3}(\.\d{1,3}){3}\b(?!\.)"),
    re.compile(rf"{_PATH}[^\s'\";,:()]*"),
    re.compile(r"\b[A-Za-z]:\\[^\s'\"]+"),
    re.compile(r"\b(?=\w*\d\w*\d)(?=\w*[a-zA-Z])\w{12,}\b"),  # serial numbers, tokens
)

_FROM_PATH = re.compile(rf"{_PATH}.*")
"""A path may have spaces in it: where it ends nobody knows."""

_QUOTED = re.compile(r"(?<!\w)'(?:[^'\\]|\\.)*'(?!\w)|\"(?:[^\"\\]|\\.)*\"")


class Private:
    """Knows whose machine this is, and takes that out of texts."""

    def __init__(
        self,
        names: Iterable[str] = (),
        texts: Iterable[str] = (),
        environment: Mapping[str, str] | None = None,
        kinds: Mapping[str, str] | None = None,
    ) -> None:
        """``names`` are those of user and machine, ``texts`` what the user wrote, and paths.

        ``kinds`` tells what is said in place of the name of a device: people name them after themselves. Keys
        are looked for in the environment, by the names of its variables.
        """
        words = {part for name in names for part in re.split(r"[\s.,@]+", name)}
        keys = [value for name, value in (environment or {}).items() if _SECRET_NAMES.search(name)]
        self._kinds = dict(kinds or {})
        devices = "|".join(map(re.escape, _longest_first(self._kinds)))
        self._devices = re.compile(rf"(?<!\w)(?:{devices})(?!\w)") if devices else None
        self._keys = _longest_first(key for key in keys if len(key) >= _SHORTEST_TEXT)
        self._texts = _longest_first(text for text in texts if len(text) >= _SHORTEST_TEXT)
        self._names = _longest_first(
            word for word in words if len(word) > 1 and word.casefold() not in _ORDINARY
        )

    def hidden(self, text: str) -> str:
        """A text without names, addresses, paths and what looks like a key."""
        for key in self._keys:
            text = text.replace(key, LEFT_OUT)
        for known in self._texts:
            text = re.sub(rf"(?<!\w){re.escape(known)}(?!\w)", LEFT_OUT, text, flags=re.IGNORECASE)
        for pattern in _PATTERNS:
            text = pattern.sub(LEFT_OUT, text)
        for name in self._names:
            # A longer word may be made of it, "annas-laptop"; of a short one other words are.
            more = r"\w*" if len(name) >= _SHORTEST_TEXT else r"(?!\w)"
            text = re.sub(rf"(?<![^\W_]){re.escape(name)}{more}", LEFT_OUT, text, flags=re.IGNORECASE)
        return text

    def sentence(self, text: str) -> str:
        """One of our sentences, without what somebody wrote: that is quoted in them, or a path.

        A device stands there as what kind it is.
        """
        if self._devices is not None:
            text = self._devices.sub(lambda found: self._kinds[found[0]], text)
        return self.hidden(_FROM_PATH.sub(LEFT_OUT, _QUOTED.sub(LEFT_OUT, text)))


def _longest_first(texts: Iterable[str]) -> list[str]:
    return sorted(set(texts), key=lambda text: (-len(text), text))
