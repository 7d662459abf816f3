"""What an ACP agent asks its client, as questions, and the answers back. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from questionnaire import Option, Outcome, Question, Questionnaire, Status

_LONGEST_COMMAND, _LONGEST_INPUT = 2_000, 400
"""Characters that are shown of what a tool would get: of a command more, since its end matters as well."""

_HARMLESS = {None, "other", "think"}
"""Kinds of tool call that do nothing by themselves: agents use them to let a person choose."""

_MEANINGS = {
    "allow_once": "This once.",
    "allow_always": "Now, and without asking from now on.",
    "reject_once": "Not this time.",
    "reject_always": "Not now, and without asking from now on.",
}


@dataclass(frozen=True)
class Choice:
    """One answer that the agent offers; ``kind`` is one of the protocol's four."""

    id: str
    name: str
    kind: str


@dataclass(frozen=True)
class Permission:
    """What an agent wants to be allowed, or to have chosen."""

    title: str
    choices: Sequence[Choice]
    kind: str | None = None
    """Of the tool call: ``execute``, ``edit`` …"""
    input: Any = None
    """What the tool would be called with."""

    @property
    def risky(self) -> bool:
        """Whether it is about being allowed something; else it is a choice between equals.

        The protocol has one request for both. A choice names no way to refuse, and belongs to no tool that
        does anything.
        """
        return any(choice.kind != "allow_once" for choice in self.choices) or self.kind not in _HARMLESS

    def questionnaire(self, agent: str) -> Questionnaire:
        """The question that it comes to; there must be a choice."""
        title = _unquoted(self.title.strip()) or "Go on?"
        text = title
        if self.risky:
            text = f"{agent} asks: {title}"
            if (shown := _shown(self.input)) and not _says(title, shown):
                text += f"\n{shown}"
        options = tuple(
            Option(choice.name.strip() or choice.kind, _MEANINGS.get(choice.kind, "") if self.risky else "")
            for choice in self.choices
        )
        header = "Permission" if self.risky else ""
        return Questionnaire((Question(text, options, header=header),), risky=self.risky)

    def chosen(self, outcome: Outcome) -> str | None:
        """The id of the choice that the person made; None for every other end: none allows anything."""
        if outcome.status is not Status.ANSWERED or len(outcome.responses) != 1:
            return None
        answer = outcome.responses[0].answer
        if answer is None or len(answer.selected) != 1 or answer.custom is not None:
            return None
        (index,) = answer.selected
        return self.choices[index].id if 0 <= index < len(self.choices) else None


def _unquoted(title: str) -> str:
    """A title that is a command between backticks, without them: code is not spoken, and this has to be."""
    inner = title.strip("`")
    return inner.strip() if title[:1] == title[-1:] == "`" and "`" not in inner else title


def _says(title: str, shown: str) -> bool:
    """Whether a title says this already, in whole words: "Format files" does not show the command "at"."""
    around = rf"""(?:^|(?<=[\s`'"(\[:])){re.escape(shown)}(?=[`'")\].,:;?!]*(?:\s|$))"""
    return re.search(around, title) is not None


def _shown(given: Any) -> str:
    """A tool's input in few words: its command where it has one, else all of it."""
    if isinstance(given, Mapping):
        command = given.get("command")
        given = command if isinstance(command, str) else given
    if given is None or given == {}:
        return ""
    if isinstance(given, str):
        return _cut(given, _LONGEST_COMMAND)
    return _cut(json.dumps(given, ensure_ascii=False, default=str), _LONGEST_INPUT)


def _cut(text: str, longest: int) -> str:
    """A text without its middle where it is too long: what matters of a command can be at its end."""
    left_out = len(text) - longest
    if left_out <= 0:
        return text
    half = longest // 2
    return f"{text[:half]} … ({left_out} characters are not shown) … {text[-half:]}"
