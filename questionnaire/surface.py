"""Carries the active set of tools to a host that keeps one of its own: Pi, a client of an MCP server.

Such a host is told names, and may change its set for reasons of its own: a new session makes everything
active again, its user switches a tool off. A surface pushes only what really is another set, brings back
only what it hid itself, and hides anew what a reset has brought back.
"""

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

from questionnaire.restrictions import AdjustableToolset

Push = Callable[[tuple[str, ...]], object]

_TRIES = 3
"""So often a host is told what it does not do; then it is left alone, for it might be told without end."""


class ToolSurface:
    """The tools of one set on one host.

    `push(names)` tells the host its new active set; it must not wait for anything, and is not called before
    `seen` has told what the host's set is. Names that are not in the tool set are the host's own business.
    """

    def __init__(self, tools: AdjustableToolset, push: Push) -> None:
        self._tools = tools
        self._push = push
        self._active: tuple[str, ...] | None = None
        self._hidden: dict[str, None] = {}
        self._told: tuple[str, ...] | None = None
        self._in_vain = 0
        self._closed = False
        self._unsubscribe = tools.on_change(lambda _: self._carry())

    @property
    def hidden(self) -> tuple[str, ...]:
        """The tools that are out of the host's set because of this surface."""
        return tuple(self._hidden)

    @property
    def withheld(self) -> tuple[str, ...]:
        """The tools that restrictions hide now, whether the host had them active or not."""
        listed = {tool.name for tool in self._tools.tools()}
        return tuple(tool.name for tool in self._tools.inner.tools() if tool.name not in listed)

    def seen(self, active: Iterable[str], hidden: Iterable[str] | None = None) -> None:
        """Take note of the set that the host has now, whoever made it, and repair it if need be.

        `hidden` is for a host that knows what was taken out of its set for our sake: also by an earlier
        surface whose process died, and not by a push that came too late to be obeyed.
        """
        if self._closed:
            return
        self._active = tuple(active)
        if self._active == self._told:
            self._in_vain = 0
        self._hidden = {
            name: None for name in (self._hidden if hidden is None else hidden) if name not in self._active
        }
        self._carry()

    def lost(self) -> None:
        """Take note that the host is gone, and its set with it: nothing is pushed before `seen`."""
        self._active, self._hidden, self._told = None, {}, None

    def close(self) -> None:
        """Bring back what was hidden, and carry no more."""
        self._unsubscribe()
        self._closed = True
        self._bring(())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _carry(self) -> None:
        self._bring(self.withheld)

    def _bring(self, withheld: Iterable[str]) -> None:
        """Make the host's set what it must be while these tools are withheld."""
        if (active := self._active) is None:
            return
        out = set(withheld)
        back = [name for name in self._hidden if name not in out]
        names = (*(name for name in active if name not in out), *back)
        if names == active:
            return
        self._in_vain = self._in_vain + 1 if names == self._told else 1
        if self._in_vain > _TRIES:
            return
        for name in back:
            del self._hidden[name]
        self._hidden |= dict.fromkeys(name for name in active if name in out)
        self._active = self._told = names
        self._push(names)
