"""The agents that `voice chat --agent` knows, each in a module that is loaded when it is chosen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Literal, Protocol, cast, runtime_checkable

from questionnaire import AdjustableToolset, Mirrors, Outcome, Questionnaire
from voice.errors import HostMissing, SettingsError
from voice.events import Emit
from voice.ports import Host

Ask = Callable[[Questionnaire], Awaitable[Outcome]]
"""Puts questions to the user that must be answered in their structure, on the screen and by voice; cancelling
it takes them off both."""

MakeHost = Callable[[AdjustableToolset, Ask, Emit], Host]
"""Makes a host, not yet opened, of the tools that its agent may use, of what asks for it, and of what hears
its events."""


@runtime_checkable
class Mirroring(Protocol):
    """A host whose program has others in it that watch what is asked, and answer."""

    mirrors: Mirrors | None
    """Through which they do; given before it is opened."""


@runtime_checkable
class Prompted(Protocol):
    """A host whose arguments say what its agent is to be told first."""

    first_messages: tuple[str, ...]
    """What is sent to it, in this order, when it has been opened for the first time."""


@runtime_checkable
class Awaited(Protocol):
    """A host whose program is started by somebody else: opening it waits for that program."""

    comes_by_itself: Literal[True]
    """One that was lost is waited for at once, and not only when there is a message for it."""


class HostFactory(Protocol):
    """What each module of an agent offers as ``make_host``."""

    def __call__(self, arguments: Sequence[str], *, tools: AdjustableToolset, ask: Ask, emit: Emit) -> Host:
        """The host, with what the command line says after ``--``.

        Raises `SettingsError` for arguments that cannot be used, `HostMissing` for a missing program.
        """
        ...


@dataclass(frozen=True)
class Agent:
    """One kind of agent."""

    module: str
    """Where its ``make_host`` is, a `HostFactory`."""
    about: str
    """A few words for ``--help``, what follows ``--`` among them."""
    extra: str = ""
    """Of the distribution, where the agent needs a library that it brings."""


AGENTS: Mapping[str, Agent] = {
    "demo": Agent("voice.hosts.demo_chat", "a scripted one, to try it with"),
    "acp": Agent("voice.hosts.acp.host", "any that speaks ACP: -- COMMAND …", "acp"),
    "pi": Agent("voice.hosts.pi", "Pi: -- PI ARGUMENTS"),
    "pydantic-ai": Agent(
        "voice.hosts.pydantic_ai", "one written with pydantic-ai: -- module:agent", "pydantic-ai"
    ),
}


def host_maker(name: str, arguments: Sequence[str]) -> MakeHost:
    """What makes the host of the agent of this name; its libraries are loaded now.

    Raises `SettingsError` where there is no such agent, `HostMissing` where its library is not installed.
    """
    if (agent := AGENTS.get(name)) is None:
        raise SettingsError(f"There is no agent {name}.", mend=f"--agent with one of {', '.join(AGENTS)}")
    try:
        make = cast("HostFactory", import_module(agent.module).make_host)
    except ModuleNotFoundError as error:
        if not agent.extra or (error.name or "").partition(".")[0] == "voice":
            raise
        raise HostMissing(
            f"The agent {name} needs the library {error.name}, which is not installed.",
            mend=f"pip install 'viva-voce[{agent.extra}]'",
        ) from error
    return lambda tools, ask, emit: make(arguments, tools=tools, ask=ask, emit=emit)
