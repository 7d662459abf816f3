"""What a model may call, and what it gets back: the two values that cross the seam."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

tool_call_id: ContextVar[str] = ContextVar("tool_call_id", default="")
"""The host's own name of the call that runs, for the events that tell of it. A host sets it, or need not."""


@dataclass(frozen=True)
class Tool:
    """A tool as a model sees it; `parameters` is the JSON Schema of its arguments.

    `needs_person` tells a host that only a person can complete a call: that the call was approved, by a
    rule or by a click, is no answer, and where nobody can be asked the tool is of no use.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    needs_person: bool = False


@dataclass(frozen=True)
class ToolResult:
    """What a call gives back: `text` for the model, `details` for programs.

    `is_error` says that the call failed; a user who declines is a result, not a failure.
    """

    text: str
    details: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False
