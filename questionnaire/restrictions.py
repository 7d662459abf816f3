"""Restrictions wrap a tool set, and can only narrow it.

Each guards both doors: a tool that it hides is neither listed nor run. They compose in any order; where
several hide the same tool, the outermost one speaks.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from questionnaire.tool import Tool, ToolResult
from questionnaire.toolset import Toolset

_log = logging.getLogger(__name__)

Refusal = Callable[[str, Mapping[str, Any]], ToolResult]
ToolsChanged = Callable[[tuple[Tool, ...]], object]


class Restriction(Protocol):
    """A rule that hides some tools."""

    @property
    def name(self) -> str:
        """The name under which the restriction is shown."""
        ...

    def allows(self, tool: Tool) -> bool:
        """Return whether `tool` stays. The same tool always gets the same verdict."""
        ...

    def refusal(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Return what a call of a hidden tool gets: an error that says what to do instead."""
        ...


class Withhold:
    """Hides the tools with the given names.

    `refusal` is the text of the error that a call of one gets, or a function of the call that makes it.
    """

    def __init__(self, names: Iterable[str], refusal: str | Refusal, name: str = "withhold") -> None:
        self.name = name
        self._names = frozenset(names)
        self._refusal = refusal

    def allows(self, tool: Tool) -> bool:
        """Return whether the name of `tool` is none of those withheld."""
        return tool.name not in self._names

    def refusal(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the error for a call of a withheld tool."""
        if isinstance(self._refusal, str):
            return ToolResult(self._refusal, {"error": "withheld", "restriction": self.name}, is_error=True)
        return self._refusal(name, arguments)

    def __repr__(self) -> str:
        return f"Withhold({sorted(self._names)}, name={self.name!r})"


class RestrictedToolset:
    """A tool set seen through one restriction."""

    def __init__(self, inner: Toolset, restriction: Restriction) -> None:
        self.inner = inner
        self.restriction = restriction

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools of the inner set that the restriction allows, in the inner order."""
        return tuple(tool for tool in self.inner.tools() if self.restriction.allows(tool))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Refuse the call of a tool that the restriction hides; hand any other call on."""
        tool = _find(self.inner, name)
        if tool is not None and not self.restriction.allows(tool):
            return self.restriction.refusal(name, arguments)
        return await self.inner.call(name, arguments)


class AdjustableToolset:
    """A tool set whose restrictions are added and lifted while it is in use.

    A call that is already running when a restriction is added runs on to its end.
    """

    def __init__(self, inner: Toolset) -> None:
        self.inner = inner
        self._lifts: list[Lift] = []
        self._listeners: dict[object, ToolsChanged] = {}
        self._stack = inner

    @property
    def restrictions(self) -> tuple[Restriction, ...]:
        """The restrictions in force, the outermost last."""
        return tuple(lift.restriction for lift in self._lifts)

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools of the inner set that every restriction allows, in the inner order."""
        return self._stack.tools()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool; the outermost restriction that hides it refuses."""
        return await self._stack.call(name, arguments)

    def add(self, restriction: Restriction) -> "Lift":
        """Put `restriction` in force, outermost, and return the handle that lifts it."""
        lift = Lift(self, restriction)
        self._replace([*self._lifts, lift])
        return lift

    def on_change(self, callback: ToolsChanged) -> Callable[[], None]:
        """Have `callback(tools)` called whenever adding or lifting really changed what is listed.

        A callback that raises is logged and changes nothing. Returns the function that unsubscribes.
        """
        key = object()
        self._listeners[key] = callback

        def unsubscribe() -> None:
            self._listeners.pop(key, None)

        return unsubscribe

    def _lift(self, lift: "Lift") -> None:
        if lift in self._lifts:
            self._replace([other for other in self._lifts if other is not lift])

    def _replace(self, lifts: list["Lift"]) -> None:
        before = self.tools()
        stack = self.inner
        for lift in lifts:
            stack = RestrictedToolset(stack, lift.restriction)
        self._lifts, self._stack = lifts, stack
        after = self.tools()
        if after != before:
            for callback in tuple(self._listeners.values()):
                try:
                    callback(after)
                except Exception:
                    _log.exception("a listener to changes of the tool set failed")


class Lift:
    """The handle of one restriction in force. As a context manager it lifts it on every exit."""

    def __init__(self, toolset: AdjustableToolset, restriction: Restriction) -> None:
        self.restriction = restriction
        self._toolset = toolset

    def lift(self) -> None:
        """Lift the restriction; a second time does nothing. What another one hides stays hidden."""
        self._toolset._lift(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.lift()


def _find(toolset: Toolset, name: str) -> Tool | None:
    """Return the tool called `name`, also where a restriction hides it.

    So an outer restriction can refuse what an inner one hides as well.
    """
    while isinstance(toolset, RestrictedToolset | AdjustableToolset):
        toolset = toolset.inner
    return next((tool for tool in toolset.tools() if tool.name == name), None)
