"""A conversation as lines that a person enjoys reading: who said what, with which tools, how fast."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from voice import events
from voice.events import Event

_NAME_CELLS = 7
"""Room for the name of who speaks."""

_LEAST_CELLS = 20
"""No narrower than this, also where the terminal says that it is."""


class Conversation:
    """Prints events as they come. Text from a model or a person is never taken for markup."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        self._explained = ""

    @property
    def plain_width(self) -> int:
        """Cells that a line of `plain` may have."""
        return max(_LEAST_CELLS, self._console.width - _NAME_CELLS - 1)

    def title(self, about: str) -> None:
        """Print what this is."""
        self._console.print(f"[bold]Viva Voce[/] · [dim]{escape(about)}[/]\n")

    def show(self, event: Event) -> None:
        """Print what the event means to the reader, if it means anything."""
        match event:
            case events.AssistantText(text):
                self.line("agent", escape(text))
            case events.ToolCalled(name, text, is_error=True):
                self.line("agent", f"[dim]tries {escape(name)}, and is told:[/] {escape(text)}")
            case events.ToolsChanged(names):
                self.tools(names)
            case events.NarrationStarted(text):
                self.line("agent", f"[bold]♪[/] {escape(text)}")
            case events.NarrationEnded(ending=events.NarrationEnding.COMPLETED, played_s=played_s):
                self.remark(f"{played_s:.1f} s of speech")
            case events.NarrationEnded(ending=events.NarrationEnding.FAILED, notice=notice):
                # One explanation is enough: the session goes on in text.
                self.remark(f"not spoken: {notice}" if notice != self._explained else "not spoken")
                self._explained = notice
            case events.NarrationEnded(ending=ending):
                self.remark(f"narration {ending}")
            case events.UserMessage(text=text, source="voice", latency=latency):
                self.line("you", f"[bold green]●[/] {escape(text)}")
                if latency is not None:
                    self.remark(
                        f"{latency.total_s:.2f} s after your last sound"
                        f" ({latency.endpoint_s:.2f} of silence, {latency.transcribe_s:.2f} more for Whisper)"
                    )
            case events.UserMessage(text=text):
                self.line("you", escape(text))
            case events.Discarded(reason, text):
                self.remark(f"heard, and not sent ({reason}) {text!r}")
            case events.VoiceStateChanged(state):
                self.line("voice", f"[cyan]{state}[/]")
            case events.UtteranceNearCap(remaining_s=remaining_s):
                self.remark(f"{remaining_s:.0f} s left before your message is cut into two")
            case events.Notice(sentence):
                self.remark(sentence, style="yellow")

    def tools(self, names: tuple[str, ...]) -> None:
        """Print the set of tools that the agent has."""
        self.line("tools", f"[magenta]{escape(' · '.join(names) or 'none')}[/]")

    def line(self, who: str, markup: str, indent: int = 0) -> None:
        """Print what somebody says, wrapped beside their name."""
        room = max(_LEAST_CELLS, self.plain_width - indent)
        for part in Text.from_markup(markup).wrap(self._console, room):
            part.rstrip()
            name = f"{who:<{_NAME_CELLS}} {'':{indent}}"
            self._console.print(Text.assemble((name, "dim"), part), soft_wrap=True)
            who = ""

    def remark(self, text: str, style: str = "dim") -> None:
        """Print a word about what was just shown."""
        self.line("", f"[{style}]{escape(text)}[/]", indent=2)

    def plain(self, line: str) -> None:
        """Print a line of a questionnaire as it is."""
        self._console.print(f"{'':{_NAME_CELLS + 1}}{line}".rstrip(), markup=False, soft_wrap=True)
