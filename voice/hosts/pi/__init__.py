"""Pi: run by us over RPC, or with a terminal of its own and our bridge in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from questionnaire import AdjustableToolset
    from voice.events import Emit
    from voice.hosts.catalog import Ask
    from voice.ports import Host


def make_host(arguments: Sequence[str], *, tools: AdjustableToolset, ask: Ask, emit: Emit) -> Host:
    """A `voice.hosts.pi.host.PiHost`, with the arguments for Pi itself."""
    from voice.hosts.pi.host import PiHost

    return PiHost(arguments, tools=tools, ask=ask, emit=emit)
