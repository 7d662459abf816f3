"""What stands on Pi's command line, for a Pi that is talked with over RPC. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from voice.errors import SettingsError

OWN_OPTIONS = frozenset(
    {"--mode", "-p", "--print", "-h", "--help", "-v", "--version", "--list-models", "--export"}
)
"""Options of Pi's with which it is none that can be talked with: it does one thing, and ends."""

CHOOSING = frozenset({"-r", "--resume"})
"""Options with which it asks which session it is, on a screen of its own."""

ALONE = frozenset(
    {
        "--continue",
        "-c",
        "--no-session",
        "--no-tools",
        "-nt",
        "--no-builtin-tools",
        "-nbt",
        "--no-extensions",
        "-ne",
        "--no-mcp",
        "--no-skills",
        "-ns",
        "--no-prompt-templates",
        "-np",
        "--no-themes",
        "--no-context-files",
        "-nc",
        "--verbose",
        "--approve",
        "-a",
        "--no-approve",
        "-na",
        "--offline",
    }
)
"""Options that take no value, by Pi 0.74.2 and 1.6.0."""

WITH_ANY_VALUE = frozenset(
    {
        "--provider",
        "--model",
        "--api-key",
        "--system-prompt",
        "--append-system-prompt",
        "--name",
        "-n",
        "--session",
        "--session-id",
        "--fork",
        "--session-dir",
        "--models",
        "--tools",
        "-t",
        "--exclude-tools",
        "-xt",
        "--thinking",
        "--extension",
        "-e",
        "--skill",
        "--prompt-template",
        "--theme",
    }
)
"""Options whose value may begin with a dash."""


def read_arguments(arguments: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Pi's options, and the messages that stand between them, which Pi does not read over RPC.

    An option that is not known is an extension's: as Pi reads it, the word behind it is its value. Raises
    `SettingsError` for options with which Pi would not talk, or would have to ask on a screen.
    """
    options: list[str] = []
    messages: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        name = argument.partition("=")[0]
        if name in OWN_OPTIONS:
            raise SettingsError(
                f"Pi cannot be talked with when it is started with {name}.", mend="leave it out"
            )
        if name in CHOOSING:
            raise SettingsError(
                f"Pi cannot ask here which session {name} is to go on with.",
                mend="--continue for the last one, or --session with its id",
            )
        if argument == "--":
            messages += [word for word in rest if not word.startswith("@")]
            options += [word for word in rest if word.startswith("@")]
            break
        if not argument.startswith(("-", "@")):
            messages.append(argument)
            continue
        options.append(argument)
        if rest and _takes(argument, rest[0]):
            options.append(rest.pop(0))
    return tuple(options), tuple(messages)


def _takes(option: str, word: str) -> bool:
    """Whether the word behind an option is its value."""
    if option in WITH_ANY_VALUE:
        return True
    extensions = option.startswith("--") and "=" not in option and option not in ALONE
    return extensions and not word.startswith(("-", "@"))
