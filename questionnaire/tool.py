"""What a model may call, and what it gets back: the two values that cross the seam."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Tool:
    """A tool as a model sees it; `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ToolResult:
    """What a call gives back: `text` for the model, `details` for programs.

    `is_error` says that the call failed; a user who declines is a result, not a failure.
    """

    text: str
    details: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False
