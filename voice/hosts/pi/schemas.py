"""The tools as Pi is to register them. Pure.

Pi holds arguments against the schema before anybody sees them, and refuses what is a letter too long. The
contracts read more than their schemas say, on purpose; so Pi's copy says the limits in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from questionnaire import Tool

_LIMITS = {
    "minLength": "At least {} characters.",
    "maxLength": "At most {} characters.",
    "minItems": "At least {}.",
    "maxItems": "At most {}.",
}


def described(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """The tools as the bridge registers them; ``asks`` says that only a person can complete a call."""
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": loosened(tool.parameters),
            "asks": tool.needs_person,
        }
        for tool in tools
    ]


def loosened(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON Schema without limits of size, which its descriptions tell instead."""
    kept: dict[str, Any] = {
        name: _inside(name, value) for name, value in schema.items() if name not in _LIMITS
    }
    limits = [sentence.format(schema[name]) for name, sentence in _LIMITS.items() if name in schema]
    if limits:
        kept["description"] = " ".join([*filter(None, [schema.get("description")]), *limits])
    return kept


def _inside(name: str, value: Any) -> Any:
    if name == "properties":
        return {key: loosened(schema) for key, schema in value.items()}
    return loosened(value) if name == "items" else value
