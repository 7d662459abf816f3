"""The seam: a set of tools behind two doors, one that lists and one that calls.

What is not listed is refused when it is called. A host reads `tools()` before each turn, so a set may
change between two reads.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Protocol

from questionnaire.errors import DuplicateTool
from questionnaire.tool import Tool, ToolResult

__all__ = ["CombinedToolset", "FunctionToolset", "Handler", "Tool", "ToolResult", "Toolset", "unknown_tool"]

Handler = Callable[[Mapping[str, Any]], Awaitable[ToolResult]]

_UNKNOWN = "unknown_tool"


class Toolset(Protocol):
    """A set of tools."""

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools that can be called now; no two share a name."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool. A name that is not listed gives an error result, and nothing runs."""
        ...


class FunctionToolset:
    """A tool set made of tools, each with the async function that runs it.

    Raises `DuplicateTool` where two tools share a name.
    """

    def __init__(self, *pairs: tuple[Tool, Handler]) -> None:
        self._tools = tuple(tool for tool, _ in pairs)
        self._handlers = {tool.name: handler for tool, handler in pairs}
        _refuse_duplicates(self._tools)

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools, in the order in which they were given."""
        return self._tools

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Run the function of the tool called `name`."""
        handler = self._handlers.get(name)
        return await handler(arguments) if handler else unknown_tool(name, self._tools)


class CombinedToolset:
    """One tool set from several, listed in the order in which they were given.

    Raises `DuplicateTool`, when it is made or when it is listed, where two tools share a name.
    """

    def __init__(self, *toolsets: Toolset) -> None:
        self._toolsets = toolsets
        self.tools()

    def tools(self) -> tuple[Tool, ...]:
        """Return what all the sets list now."""
        listed = tuple(tool for toolset in self._toolsets for tool in toolset.tools())
        _refuse_duplicates(listed)
        return listed

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call the tool in the set that lists it; a set that hides it refuses in its own words."""
        for toolset in self._toolsets:
            if any(tool.name == name for tool in toolset.tools()):
                return await toolset.call(name, arguments)
        # No set lists it, so no set will run it: the first one that knows more than "unknown" answers.
        for toolset in self._toolsets:
            refusal = await toolset.call(name, arguments)
            if refusal.details.get("error") != _UNKNOWN:
                return refusal
        return unknown_tool(name, self.tools())


def unknown_tool(name: str, tools: Iterable[Tool]) -> ToolResult:
    """Return the error for a call of a tool that does not exist; it names the tools there are."""
    names = ", ".join(tool.name for tool in tools) or "none"
    return ToolResult(f"There is no tool named {name!r}. Tools: {names}.", {"error": _UNKNOWN}, is_error=True)


def _refuse_duplicates(tools: Iterable[Tool]) -> None:
    seen: set[str] = set()
    for tool in tools:
        if tool.name in seen:
            raise DuplicateTool(f"two tools are named {tool.name!r}")
        seen.add(tool.name)
