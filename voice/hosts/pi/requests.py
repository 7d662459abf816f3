"""The dialogs that Pi's extensions open over RPC, as questionnaires, and outcomes as Pi reads them. Pure.

Any of them may allow something: which extension asks for a permission cannot be told from its request. So a
choice that was spoken is confirmed before it counts, and nothing but an answer is ever told as one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from questionnaire import Option, Outcome, Question, Questionnaire, Status

DIALOGS = frozenset({"select", "confirm", "input", "editor"})
"""The methods that wait for a response; all others, known or not, are for information."""

QUIET = frozenset({"setStatus", "setWidget", "setTitle", "set_editor_text"})
"""The methods that decorate a screen of Pi's own, which there is none."""

_YES, _NO = "Yes", "No"


@dataclass(frozen=True)
class Request:
    """One dialog."""

    id: str
    questionnaire: Questionnaire
    values: tuple[str, ...] = ()
    """Of `select`: the options as Pi wrote them."""
    confirms: bool = False
    left_alone: str = ""
    """What an empty text stands for: in an editor, the text that was there."""
    within_s: float | None = None
    """After so long Pi waits no more, and says nothing."""

    def response(self, outcome: Outcome | None) -> dict[str, Any]:
        """The line that Pi waits for; None is an outcome that never came."""
        told: dict[str, Any] = {"type": "extension_ui_response", "id": self.id}
        if outcome is None or outcome.status is not Status.ANSWERED or not outcome.responses:
            return {**told, "cancelled": True}
        answer = outcome.responses[0].answer
        if answer is None:  # skipped: left as it was
            return {**told, "value": self.left_alone}
        if self.confirms:
            return {**told, "confirmed": answer.selected == (0,)}
        if self.values:
            return {**told, "value": self.values[answer.selected[0]]}
        return {**told, "value": answer.custom or self.left_alone}


def read_request(line: Mapping[str, Any]) -> Request | None:
    """The dialog that a line of Pi's opens; None where it is none that can be shown."""
    match line:
        case {"id": str(key), "method": "select", "title": str(title), "options": [_, *_] as options}:
            values = tuple(map(str, options))
            asked = Question(title, tuple(map(Option, values)))
            return Request(key, Questionnaire((asked,), risky=True), values, within_s=_within_s(line))
        case {"id": str(key), "method": "confirm", "title": str(title)}:
            text = "\n".join(filter(None, [title, _text(line, "message")]))
            asked = Question(text, (Option(_YES), Option(_NO)))
            return Request(key, Questionnaire((asked,), risky=True), confirms=True, within_s=_within_s(line))
        case {"id": str(key), "method": "input", "title": str(title)}:
            hint = _text(line, "placeholder")
            asked = Question(f"{title} ({hint})" if hint else title, required=False)
            return Request(key, Questionnaire((asked,)), within_s=_within_s(line))
        case {"id": str(key), "method": "editor", "title": str(title)}:
            prefill = _text(line, "prefill")
            text = f"{title}\nLeave it empty to keep what is there:\n{prefill}" if prefill else title
            return Request(key, Questionnaire((Question(text, required=False),)), left_alone=prefill)
    return None


def _text(line: Mapping[str, Any], name: str) -> str:
    value = line.get(name)
    return value if isinstance(value, str) else ""


def _within_s(line: Mapping[str, Any]) -> float | None:
    timeout = line.get("timeout")
    return timeout / 1000 if isinstance(timeout, int | float) and timeout > 0 else None
